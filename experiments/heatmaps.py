"""Chapter 6: a translator made of PyTorch's own Transformer, and its maps while it learns.

    python -m experiments.heatmaps             # what is missing in attnkit/data/ch6-training.json
    python -m experiments.heatmaps --again     # everything anew, about eight minutes on one core

Three seeds. Of the first the trained model is kept, and all its maps of one numeral at every
snapshot. A seed is written as soon as it is done; an interrupted one starts anew.
"""

import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tqdm import tqdm

from attnkit.numerals import WORD_KINDS
from attnkit.seq2seq import shifted_right
from attnkit.tasks import Vocabulary
from attnkit.training import fit, save
from experiments.from_chapter import definitions

DATA = Path(__file__).parents[1] / "attnkit" / "data"
TABLE = DATA / "ch6-training.json"
chapter = definitions(
    "06-heatmaps",
    "task read Translator translate exact watch look head_values remix hits strong_looks cosines "
    "LAYERS".split(),
)
SEEDS, KEPT = 3, 0
STEPS, BATCH, RATE, EVERY = 1500, 64, 2e-3, 25
EARLY = (0, 50, 100, 125, 150, 175, 200, 225, 250, 275, 300, 350, 400, 450, 500)
SNAPSHOTS = (*EARLY, 600, 700, 800, 1000, 1250, 1500)
NUMERAL = 630707  # 六十三万零七百零七, of the test part
FRESH, FEW = 500, 100  # numbers for the final accuracy, and for each snapshot


def new_model(seed: int) -> torch.nn.Module:
    """An untrained translator, in eval mode."""
    torch.manual_seed(seed)
    task = chapter.task
    sizes = {"n_source": len(task.source_vocabulary), "n_target": len(task.target_vocabulary)}
    model = chapter.Translator(**sizes).eval()
    model.settings = sizes
    return model


def loss(model, batch):
    """Mean cross-entropy of a target token, in nats; padding is left out."""
    scores = model(batch.source, shifted_right(batch.target), batch.source == Vocabulary.pad)
    return F.cross_entropy(scores.mT, batch.target, ignore_index=Vocabulary.pad)


def has_digit_words(number: int) -> bool:
    """Whether it is known of some digit word which character it comes from."""
    pair = chapter.task.pair(number)
    kinds = [WORD_KINDS[word] for word in pair.words]
    return any(kind == "digit" and own for kind, own in zip(kinds, pair.sources, strict=True))


def snapshot(model, numbers) -> dict:
    """Of fresh numbers: loss, exact translations, and what each cross-attention head hits.

    ``hits`` is the share of digit words, ``aligned`` that of the numbers whose digit words all hit;
    the right words before are given for both, and for ``exact`` the model writes alone.
    """
    with torch.enable_grad():  # PyTorch warns of its fast path for padded batches
        fresh = loss(model, chapter.task.batch(numbers)).item()
    found = {"loss": fresh, "exact": chapter.exact(model, numbers)}
    found["hits"] = chapter.hits(model, numbers).tolist()
    whole = torch.stack([chapter.hits(model, [n]) for n in numbers if has_digit_words(n)]) == 1
    found["aligned"] = whole.float().mean(dim=0).tolist()
    return found


def afterwards(model, numbers) -> dict:
    """What the average of the heads hides, and how alike the input and output of a part are."""
    maps = [chapter.look(model, number)[1] for number in numbers]
    strong = {
        kind: sum(chapter.strong_looks(x[kind]) for x in maps).tolist()
        for kind in ("encoder", "cross")
    }
    seen = [
        chapter.cosines(model, number) | chapter.cosines(model, number, chapter.LAYERS)
        for number in numbers
    ]
    return {
        "exact": chapter.exact(model, numbers),
        "strong": strong,
        "average_error": average_error(model, NUMERAL),
        "cosine": {name: torch.cat([x[name] for x in seen]).mean().item() for name in seen[0]},
    }


@torch.no_grad()
def average_error(model, number) -> dict[str, float]:
    """How far the output of each attention moves, if all heads use their common average."""
    found = {}
    _, maps = chapter.look(model, number)
    with torch.enable_grad():
        seen = chapter.watch(model, torch.nn.MultiheadAttention, number)
    for name, (given, (output, _)) in seen.items():
        side = "encoder" if "encoder" in name else "decoder"
        kind = "cross" if "multihead_attn" in name else side
        weights = maps[kind][int(name.split(".")[3])]
        average = weights.mean(dim=0, keepdim=True).expand_as(weights)
        moved = chapter.remix(model.get_submodule(name), given[2], average) - output
        found[name] = (moved.norm() / output.norm()).item()
    return found


def train(seed: int) -> dict:
    """One row of the table; the kept model and its maps are written beside it."""
    task, model = chapter.task, new_model(seed)
    numbers = task.numbers(FEW, "test", seed=2000 + seed)
    rows, kept = [], []

    def look(model) -> float:
        step = EVERY * look.calls
        look.calls += 1
        if step in SNAPSHOTS:
            rows.append({"step": step, **snapshot(model, numbers)})
            kept.append(chapter.look(model, NUMERAL)[1])
        return rows[-1]["exact"]

    look.calls = 0
    look(model)
    history = fit(
        model,
        lambda step: task.training_batch(step, BATCH, seed=seed),
        loss=loss,
        steps=STEPS,
        lr=RATE,
        validate=look,
        every=EVERY,
        seed=seed,
    )
    if seed == KEPT:
        save(model, DATA / "ch6-translator.safetensors", history)
        maps = {kind: torch.stack([x[kind] for x in kept]).half() for kind in kept[0]}
        save_file(maps, DATA / "ch6-training.safetensors", {"steps": json.dumps(SNAPSHOTS)})
    return {"snapshots": rows, **afterwards(model, task.numbers(FRESH, "test", seed=3000 + seed))}


def rounded(x):
    """The same table with five decimals."""
    if isinstance(x, dict):
        return {name: rounded(value) for name, value in x.items()}
    if isinstance(x, list):
        return [rounded(value) for value in x]
    return round(x, 5) if isinstance(x, float) else x


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    settings = {
        "task": repr(chapter.task),
        "steps": STEPS,
        "batch": BATCH,
        "lr": RATE,
        "dropout": 0.1,
        "snapshots": list(SNAPSHOTS),
        "numeral": NUMERAL,
        "fresh": FRESH,
        "few": FEW,
    }
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    if "--again" in sys.argv or table.get("settings") != settings:
        made = {"made_by": "python -m experiments.heatmaps", "torch": torch.__version__}
        table = {**made, "settings": settings, "seeds": []}
    for seed in tqdm(range(len(table["seeds"]), SEEDS), desc="seeds"):
        table["seeds"].append(rounded(train(seed)))
        half = TABLE.with_suffix(".half")
        half.write_text(json.dumps(table) + "\n")
        half.replace(TABLE)


if __name__ == "__main__":
    main()
