"""Chapter 4, the longer runs: a language model with masks right and wrong, and with windows.

    python -m experiments.masks [PART ...] [--again]

fills in what is missing in attnkit/data/ch4-masks.json. The parts:

``floors``   the exact floors of a reader who sees only the last few characters: 2 minutes
``masks``    400 steps with the causal mask, one key too far (5 seeds, models kept), one too few (3)
``windows``  400 steps with windows of 1 to 16 keys: 3 seeds
``longer``   1,600 steps with a window of 2 and with the causal mask: 3 seeds
``padding``  a reader of whole texts, trained with and without a padding mask: 3 seeds; models kept

Every run is written as soon as it is done, so that an interrupted part goes on where it stopped.
On one core the parts take about 25 minutes together.
"""

import json
import sys
from pathlib import Path

import torch
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from attnkit import causal_mask, padding_mask, sliding_window_mask
from attnkit.tasks import context_floor
from attnkit.training import fit, save
from experiments.from_chapter import definitions

DATA = Path(__file__).parents[1] / "attnkit" / "data"
TARGET = DATA / "ch4-masks.json"
chapter = definitions("04-masks", ["task", "Layer", "TextModel", "leaky_mask", "loss_of", "write"])
task = chapter.task
FRESH, WRITTEN = 4000, 500
SMOOTH = 20  # the curve holds means of so many steps
MASKS = {
    "causal": causal_mask,
    "leaky": chapter.leaky_mask,
    "strict": lambda n: causal_mask(n) & ~torch.eye(n).bool(),
}


def conditions() -> dict[str, dict]:
    """Settings of every condition by name, the parts in the order of the text above."""
    found: dict[str, dict] = {}
    for mask in MASKS:
        found[f"masks: {mask}"] = {
            "mask": mask,
            "steps": 400,
            "seeds": 3 if mask == "strict" else 5,
        }
        found[f"masks: {mask}"]["kept"] = mask != "strict"
    for window in (1, 2, 4, 8, 16):
        found[f"windows: {window}"] = {"mask": window, "steps": 400, "seeds": 3}
    for mask in (2, "causal"):
        found[f"longer: {mask}"] = {"mask": mask, "steps": 1600, "seeds": 3}
    for masked in (True, False):
        name = "masked" if masked else "unmasked"
        found[f"padding: {name}"] = {"masked": masked, "steps": 300, "seeds": 3, "kept": True}
    return found


def mask_of(mask: str | int):
    """The function from a length to the mask."""
    if isinstance(mask, int):
        return lambda n: sliding_window_mask(n, window=mask)
    return MASKS[mask]


def new_model(seed: int):
    torch.manual_seed(seed)
    return chapter.TextModel(len(task.vocabulary), task.longest + 1)


def language_model(settings: dict, seed: int):
    """A trained model and what was measured of it."""
    model, mask = new_model(seed), mask_of(settings["mask"])
    history = fit(
        model,
        lambda step: task.training_batch(step, 32, seed=seed),
        steps=settings["steps"],
        loss=lambda model, batch: chapter.loss_of(model, batch, mask),
    )
    model.eval()
    losses = torch.tensor([row.loss for row in history])
    fresh = task.draw(FRESH, seed=99)
    nats = count = 0.0
    with torch.no_grad():
        for start in range(0, FRESH, 500):
            batch = task.batch(fresh[start : start + 500])
            characters = int((batch.lengths - 1).sum())
            nats += chapter.loss_of(model, batch, mask).item() * characters
            count += characters
    texts = chapter.write(model, mask, WRITTEN, seed=seed)
    return model, {
        "loss": round(nats / count, 5),
        "curve": [round(x, 4) for x in losses.view(-1, SMOOTH).mean(1).tolist()],
        "parsed": sum(map(task.parses, texts)),
        "texts": texts[:4],
    }


def digit_loss(model, tokens, lengths, digits, masked):
    """How many digits? The answer is read at the first token."""
    mask = padding_mask(lengths).squeeze(1) if masked else None
    return cross_entropy(model(tokens, mask)[:, 0], digits)


def padded_reader(settings: dict, seed: int):
    """A model that tells the number of digits, and its accuracy: alone and padded, mask or not."""
    model, masked = new_model(seed), settings["masked"]

    def batch_at(step):
        numbers = task.draw(32, seed=1000 * seed + step)
        return (*task.batch(numbers), torch.tensor([len(str(n)) for n in numbers]))

    history = fit(
        model,
        batch_at,
        steps=settings["steps"],
        loss=lambda model, batch: digit_loss(model, *batch, masked=masked),
    )
    model.eval()
    numbers = task.draw(1000, seed=99_999)
    digits = torch.tensor([len(str(n)) for n in numbers])
    tokens, lengths = task.batch(numbers)
    padded = torch.zeros(len(tokens), task.longest + 1, dtype=torch.int64)
    padded[:, : tokens.shape[1]] = tokens
    mask = padding_mask(lengths, padded.shape[1]).squeeze(1)
    with torch.no_grad():
        alone = [model(row[None, :n])[0, 0] for row, n in zip(tokens, lengths, strict=True)]
        answers = {
            "alone": torch.stack(alone),
            "padded, mask": model(padded, mask)[:, 0],
            "padded, no mask": model(padded)[:, 0],
        }
    right = {name: (x.argmax(-1) == digits).float().mean().item() for name, x in answers.items()}
    right = {name: round(share, 4) for name, share in right.items()}
    return model, {"loss": round(history[-1].loss, 5), "right": right}


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    parts = [arg for arg in sys.argv[1:] if arg[:1] != "-"]
    again = "--again" in sys.argv[1:]
    table = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    runs, floors = table.get("runs", {}), table.get("floors", {})

    def keep() -> None:
        made = {"made_by": "python -m experiments.masks", "torch": torch.__version__}
        counts = {"fresh": FRESH, "written": WRITTEN, "smooth": SMOOTH, "floor": task.floor}
        half = TARGET.with_suffix(".half")
        half.write_text(json.dumps({**made, **counts, "floors": floors, "runs": runs}) + "\n")
        half.replace(TARGET)

    for name, settings in conditions().items():
        part = name.split(":")[0]
        if parts and part not in parts:
            continue
        if again or runs.get(name, {}).get("settings") != settings:
            runs[name] = {"settings": settings, "seeds": []}
        done = runs[name]["seeds"]
        for seed in tqdm(range(len(done), settings["seeds"]), desc=name):
            measure = padded_reader if part == "padding" else language_model
            model, found = measure(settings, seed)
            if settings.get("kept") and seed == 0:
                save(model, DATA / f"ch4-{name.replace(': ', '-')}.safetensors")
            done.append(found)
            keep()
    if not parts or "floors" in parts:
        for characters in tqdm((1, 2, 3, 7, 15), desc="floors"):
            if again or str(characters) not in floors:
                floors[str(characters)] = round(context_floor(task, characters), 6)
                keep()


if __name__ == "__main__":
    main()
