"""Chapter 12: what each cheaper attention can still find, and a student of a teacher's maps.

    python -m experiments.dependencies             # what is missing in ch12-dependencies.json
    python -m experiments.dependencies recall      # one part
    python -m experiments.dependencies --again     # everything anew, about ten minutes on one core

``recall``    six mechanisms on three tasks, three seeds; the models of the first seed are kept
``features``  linear attention on the far task with 8 to 64 features a head, full as control
``longer``    two mechanisms of several layers on the far task, four times as many steps
``distil``    two students of the kept full model, with and without its maps, and without
            for four times as many steps, three seeds

Task, models and training are those of the chapter itself. Every run is written as soon as it is
done, so that an interrupted part goes on where it stopped.
"""

import json
import sys
from functools import partial
from itertools import product
from pathlib import Path

import safetensors.torch
import torch
from tqdm import tqdm

from attnkit.training import fit
from experiments.from_chapter import definitions

DATA = Path(__file__).parents[1] / "attnkit" / "data"
TABLE, MODELS = DATA / "ch12-dependencies.json", DATA / "ch12-dependencies.safetensors"
chapter = definitions(
    "12-cheaper-attention",
    "deal one_card TASKS Layer Recall fused window stride MECHANISMS draw train judge maps "
    "taught distillation_loss".split(),
)
SEEDS, STEPS, EVERY = 3, 300, 25
STUDENTS = {"linear": (chapter.MECHANISMS["linear"], 64), "small": (chapter.MECHANISMS["full"], 32)}
SETTINGS = {"steps": STEPS, "every": EVERY, "lr": 6e-3, "rows": 16, "test_rows": 256}


def measured(model: torch.nn.Module, task: str) -> dict:
    """Share of right answers; questions and right answers by distance and by place."""
    right, back, place = chapter.judge(model, task)
    found: dict = {"right": round(right.float().mean().item(), 4)}
    for name, where in (("back", back), ("place", place)):
        counts = torch.bincount(where, minlength=64)
        hits = torch.bincount(where[right], minlength=64)
        found[name] = torch.stack([counts, hits]).tolist()
    return found


def recall(name: str, task: str, seed: int) -> tuple[dict, torch.nn.Module]:
    """One run of one mechanism on one task."""
    torch.manual_seed(seed)
    model = chapter.Recall(chapter.MECHANISMS[name])
    history = chapter.train(model, task, seed, STEPS)
    loss = [
        round(sum(r.loss for r in history[i : i + EVERY]) / EVERY, 4)
        for i in range(0, STEPS, EVERY)
    ]
    return {"loss": loss, **measured(model, task)}, model


def features(name: str, size: int, seed: int) -> dict:
    """One run on the far task with heads of this size, 64 in all."""
    torch.manual_seed(seed)
    model = chapter.Recall(chapter.MECHANISMS[name], heads=64 // size)
    chapter.train(model, "far", seed, STEPS)
    return measured(model, "far")


def longer(name: str, seed: int) -> dict:
    """One run on the far task with four times as many steps."""
    torch.manual_seed(seed)
    model = chapter.Recall(chapter.MECHANISMS[name])
    chapter.train(model, "far", seed, 4 * STEPS)
    return measured(model, "far")


def distil(student: str, how: str, seed: int) -> dict:
    """One student; right answers every so many steps."""
    teacher = kept(MODELS, "full", "far")
    mechanisms, d = STUDENTS[student]
    torch.manual_seed(100 + seed)
    model = chapter.Recall(mechanisms, d)
    loss_of_maps = chapter.distillation_loss if how == "maps" else None
    times = 4 if how == "longer" else 1
    curve = []

    def watch(model):
        curve.append(measured(model, "far")["right"])
        return curve[-1]

    fit(
        model,
        lambda step: chapter.draw("far", 16, 10_000 * (101 + seed) + step),
        loss=partial(chapter.taught, teacher, loss_of_maps),
        steps=times * STEPS,
        lr=SETTINGS["lr"],
        seed=seed,
        validate=watch,
        every=times * EVERY,
    )
    return {"curve": curve, **measured(model, "far")}


def kept(path: Path, name: str, task: str) -> torch.nn.Module:
    """A model of the first seed, from half precision."""
    model = chapter.Recall(chapter.MECHANISMS[name])
    states = safetensors.torch.load_file(path)
    start = f"{name}/{task}/"
    own = {k.removeprefix(start): x.float() for k, x in states.items() if k.startswith(start)}
    model.load_state_dict(own)
    return model


def write(table: dict) -> None:
    """Replace the file in one move."""
    half = TABLE.with_suffix(".half")
    half.write_text(json.dumps(table) + "\n")
    half.replace(TABLE)


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    parts = [arg for arg in sys.argv[1:] if arg[:1] != "-"] or [
        "recall",
        "features",
        "longer",
        "distil",
    ]
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    if "--again" in sys.argv or table.get("settings") != SETTINGS:
        made = {"made_by": "python -m experiments.dependencies", "torch": torch.__version__}
        table = {
            **made,
            "settings": SETTINGS,
            "recall": {},
            "features": {},
            "longer": {},
            "distil": {},
        }
    states = safetensors.torch.load_file(MODELS) if table["recall"] else {}
    runs = product(range(SEEDS), chapter.TASKS, chapter.MECHANISMS) if "recall" in parts else ()
    for seed, task, name in tqdm(list(runs), desc="recall"):
        rows = table["recall"].setdefault(f"{name}/{task}", [])
        if len(rows) > seed:
            continue
        row, model = recall(name, task, seed)
        if seed == 0:
            own = model.state_dict().items()
            states |= {f"{name}/{task}/{key}": x.half().contiguous() for key, x in own}
            safetensors.torch.save_file(states, MODELS)
        rows.append(row)
        write(table)
    sizes = [("linear", size) for size in (8, 16, 32, 64)] + [("full", 8), ("full", 64)]
    runs = product(range(SEEDS), sizes) if "features" in parts else ()
    for seed, (name, size) in tqdm(list(runs), desc="features"):
        rows = table.setdefault("features", {}).setdefault(f"{name}/{size}", [])
        if len(rows) <= seed:
            rows.append(features(name, size, seed))
            write(table)
    names = ("windowed, four layers", "windowed, then strided")
    for seed, name in tqdm(
        list(product(range(SEEDS), names if "longer" in parts else ())), desc="longer"
    ):
        rows = table.setdefault("longer", {}).setdefault(name, [])
        if len(rows) <= seed:
            rows.append(longer(name, seed))
            write(table)
    ways = ("alone", "maps", "longer")
    runs = product(range(SEEDS), STUDENTS, ways) if "distil" in parts else ()
    for seed, student, how in tqdm(list(runs), desc="distil"):
        rows = table["distil"].setdefault(f"{student}/{how}", [])
        if len(rows) <= seed:
            rows.append(distil(student, how, seed))
            write(table)


if __name__ == "__main__":
    main()
