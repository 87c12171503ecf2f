"""Chapter 5: name both neighbours with 1 to 32 heads, over ten seeds.

    python -m experiments.heads             # what is missing in attnkit/data/ch5-heads.json
    python -m experiments.heads --again     # everything anew, about five minutes on one core

Task, model and training are those of the chapter itself. Every run is written as soon as it is
done, so that an interrupted run goes on where it stopped. The models of the first three seeds go
to ch5-heads.safetensors, from which the chapter draws its maps.
"""

import json
import sys
from pathlib import Path

import safetensors.torch
import torch
import torch.nn.functional as F
from tqdm import tqdm

from experiments.from_chapter import definitions

DATA = Path(__file__).parents[1] / "attnkit" / "data"
TARGET, MODELS = DATA / "ch5-heads.json", DATA / "ch5-heads.safetensors"
chapter = definitions(
    "05-multi-head",
    ["N_CARDS", "N_PLACES", "D_MODEL", "deal", "Neighbours", "right", "mlp", "Untransposed"],
)
HEADS = (1, 2, 4, 8, 16, 32)
KEPT, KEPT_SEEDS = {f"heads {h}" for h in HEADS}, 3


def condition(num_heads: int, seeds: int, steps=600, every=50, mlp=False, transpose=True):
    """Settings of one condition; accuracies are taken every so many steps."""
    return {
        "num_heads": num_heads,
        "seeds": seeds,
        "steps": list(range(every, steps + 1, every)),
        "read_out": "mlp" if mlp else "linear",
        "transpose": transpose,
        "lr": 3e-3,
        "batch": 64,
        "test_tables": 1000,
        "optimizer": "Adam",
    }


def conditions() -> dict[str, dict]:
    """Every condition by name."""
    found = {f"heads {h}": condition(h, 10) for h in HEADS}
    for h in (1, 32):
        found[f"heads {h}, longer"] = condition(h, 3, steps=2400, every=600)
    for h in (1, 2):
        found[f"heads {h}, mlp"] = condition(h, 10, mlp=True)
    found["heads 2, no transpose"] = condition(2, 5, transpose=False)
    return found


def run(settings: dict, seed: int) -> tuple[dict, dict[str, torch.Tensor]]:
    """Accuracies of one run along its steps, and its weights at the end."""
    torch.manual_seed(seed)
    model = chapter.Neighbours(settings["num_heads"])
    if settings["read_out"] == "mlp":
        model.read_out = chapter.mlp()
    if not settings["transpose"]:
        model.attention = chapter.Untransposed(chapter.D_MODEL, settings["num_heads"])
    rng = torch.Generator().manual_seed(1000 + seed)
    adam = torch.optim.Adam(model.parameters(), lr=settings["lr"], fused=True)
    found: dict[str, list] = {"both": [], "each": []}
    for step in range(1, settings["steps"][-1] + 1):
        cards, answer = chapter.deal(settings["batch"], rng)
        loss = F.cross_entropy(model(cards)[0].flatten(0, 2), answer.flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
        if step in settings["steps"]:
            right = chapter.right(model, settings["test_tables"])
            found["both"].append(round(right.all(-1).float().mean().item(), 4))
            found["each"].append([round(x, 4) for x in right.float().mean((0, 1)).tolist()])
    return found, model.state_dict()


def write(runs: dict, models: dict[str, torch.Tensor]) -> None:
    """Write both files, each whole or not at all."""
    made = {"made_by": "python -m experiments.heads", "torch": torch.__version__}
    contents = {
        MODELS: safetensors.torch.save(models, metadata=made),
        TARGET: (json.dumps({**made, "runs": runs}) + "\n").encode(),
    }
    for path, content in contents.items():
        half = path.with_name(path.name + ".half")
        half.write_bytes(content)
        half.replace(path)


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    fresh = "--again" in sys.argv[1:] or not (TARGET.exists() and MODELS.exists())
    done = {} if fresh else json.loads(TARGET.read_text())["runs"]
    models = {} if fresh else safetensors.torch.load_file(MODELS)
    wanted = conditions()
    runs = {k: v for k, v in done.items() if v["settings"] == wanted.get(k)}
    models = {k: v for k, v in models.items() if k.split("/")[0] in KEPT & runs.keys()}
    for name, settings in wanted.items():
        rows = runs.setdefault(name, {"settings": settings, "seeds": []})["seeds"]
        for seed in tqdm(range(len(rows), settings["seeds"]), desc=name):
            row, state = run(settings, seed)
            rows.append(row)
            if seed < KEPT_SEEDS and name in KEPT:
                models |= {f"{name}/{seed}/{key}": x.contiguous() for key, x in state.items()}
            write(runs, models)


if __name__ == "__main__":
    main()
