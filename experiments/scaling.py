"""Chapter 3, the longer runs: key-value recall with and without the scale, over 20 seeds.

    python -m experiments.scaling             # what is missing in attnkit/data/ch3-scaling.json
    python -m experiments.scaling --again     # everything anew, about 20 minutes on one core

Task, model and training step are those of the chapter itself. Every condition is written as soon as
it is done, so that an interrupted run goes on where it stopped.
"""

import json
import sys
from functools import partial
from pathlib import Path

import torch
from tqdm import tqdm

from attnkit import scaled_dot_product_attention
from experiments.from_chapter import definitions

TARGET = Path(__file__).parents[1] / "attnkit" / "data" / "ch3-scaling.json"
chapter = definitions(
    "03-scaled-dot-product",
    ["N_SYMBOLS", "N_PAIRS", "D_MODEL", "draw", "projection", "Recall", "accuracy"],
)
CURVE = [20, 40, 60, 80, 100, 150, 200, 300, 400, 500, 600]


def condition(d_key, scaled, seeds, steps=(100,), lr=1e-3, weight=1.0, rate=1.0):
    """Settings of one condition; the last two divide start and rate of the query projection."""
    return {
        "d_key": d_key,
        "scaled": scaled,
        "seeds": seeds,
        "steps": list(steps),
        "lr": lr,
        "query_weight_divided_by": weight,
        "query_rate_divided_by": rate,
        "batch": 64,
        "test_questions": 1000,
        "optimizer": "Adam",
    }


def conditions() -> dict[str, dict]:
    """Every condition by name."""
    root = 512**0.5
    found = {
        "scaled d_k 512": condition(512, True, 20, CURVE),
        "unscaled d_k 512": condition(512, False, 20, CURVE),
        "unscaled d_k 512, only the weight divided": condition(512, False, 20, weight=root),
        "unscaled d_k 512, only the rate divided": condition(512, False, 20, rate=root),
    }
    for lr in (3e-4, 1e-3, 3e-3, 1e-2, 2e-2, 3e-2):
        found[f"unscaled d_k 512, rate {lr:g}"] = condition(512, False, 5, lr=lr)
    return found


def accuracies(settings: dict, seed: int) -> list[float]:
    """Accuracy of one run after each number of steps."""
    d_key, lr = settings["d_key"], settings["lr"]
    attend = partial(scaled_dot_product_attention, scale=None if settings["scaled"] else 1.0)
    model = chapter.Recall(d_key, seed, attend)
    with torch.no_grad():
        model.query_proj.weight /= settings["query_weight_divided_by"]
    first, *rest = model.parameters()
    if first is not model.query_proj.weight:
        raise RuntimeError("the first parameter of Recall must be the query projection")
    query = {"params": [first], "lr": lr / settings["query_rate_divided_by"]}
    optimizer = torch.optim.Adam([query, {"params": rest}], lr=lr)
    generator, found = torch.Generator().manual_seed(1000 + seed), []
    for step in range(1, settings["steps"][-1] + 1):
        *question, answer = chapter.draw(settings["batch"], generator)
        loss = torch.nn.functional.cross_entropy(model(*question), answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step in settings["steps"]:
            found.append(round(chapter.accuracy(model, settings["test_questions"]), 4))
    return found


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    again = "--again" in sys.argv[1:]
    done = {} if again or not TARGET.exists() else json.loads(TARGET.read_text())["runs"]
    wanted = conditions()
    runs = {k: v for k, v in done.items() if v["settings"] == wanted.get(k)}
    for name, settings in wanted.items():
        if name in runs:
            continue
        rows = [accuracies(settings, seed) for seed in tqdm(range(settings["seeds"]), desc=name)]
        runs[name] = {"settings": settings, "steps": settings["steps"], "accuracy": rows}
        made = {"made_by": "python -m experiments.scaling", "torch": torch.__version__}
        half = TARGET.with_suffix(".half")
        half.write_text(json.dumps({**made, "runs": runs}) + "\n")
        half.replace(TARGET)


if __name__ == "__main__":
    main()
