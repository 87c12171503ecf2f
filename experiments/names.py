"""Chapter 11: whose name is this? Ten models, what deletions do to them, and a planted character.

    python -m experiments.names               # what is missing in attnkit/data/ch11-names.json
    python -m experiments.names --again       # everything anew, about six minutes on one core

``models``   attention pooling and mean pooling, five seeds each; kept in ch11-names.safetensors
``planted``  a mark written into the names: convolutions of width 1 and 3, and the mean; the
             functions are those of the chapter

Every run is written as soon as it is done, so that an interrupted part goes on where it stopped.
"""

import json
import sys
from pathlib import Path

import safetensors.torch
import torch
from tqdm import tqdm

from attnkit.classifier import SequenceClassifier
from attnkit.tasks import CLDRNames
from attnkit.training import fit
from experiments.from_chapter import definitions

DATA = Path(__file__).parents[1] / "attnkit" / "data"
TABLE, MODELS = DATA / "ch11-names.json", DATA / "ch11-names.safetensors"
SEEDS, STEPS, BATCH, RATE = 5, 2000, 64, 1e-2
POOLINGS = ("attention", "mean")
PLANTED = {  # options, seeds
    "width 3": ({"width": 3}, 5),
    "width 1": ({"width": 1}, 3),
    "width 3, mean": ({"width": 3, "pooling": "mean"}, 3),
}
chapter = definitions(
    "11-attention-at-work",
    "task names answers deletions gradient_times_input highest flips_in_pool MARKS plant marked "
    "number encode_marked marked_batch train_marked inspect".split(),
)


def model_of(task: CLDRNames, pooling: str, seed: int) -> SequenceClassifier:
    """An untrained model; both poolings of a seed begin with the same numbers."""
    torch.manual_seed(seed)
    return SequenceClassifier(task.vocabulary, len(task.languages), pooling=pooling)


def train(task: CLDRNames, pooling: str, seed: int) -> tuple[SequenceClassifier, float]:
    """A trained model, and its mean loss over the last hundred steps."""
    model = model_of(task, pooling, seed)
    history = fit(
        model,
        lambda step: task.training_batch(step, BATCH, seed=seed),
        steps=STEPS,
        lr=RATE,
    )
    losses = [row.loss for row in history][-100:]
    return model.eval(), round(sum(losses) / len(losses), 4)


@torch.no_grad()
def accuracy(task: CLDRNames, model: SequenceClassifier, names: list[tuple[str, str]]) -> float:
    """Share of the names that get their language."""
    batch = task.batch(names)
    answers = model(batch.characters, batch.lengths, need_weights=False).logits.argmax(-1)
    return round((answers == batch.languages).float().mean().item(), 4)


def models(task: CLDRNames, table: dict, kept: dict[str, torch.Tensor]) -> None:
    """Train what is missing."""
    runs = table.setdefault("models", {})
    for seed in tqdm(range(SEEDS), desc="models"):
        for pooling in POOLINGS:
            if (name := f"{pooling}/{seed}") in runs:
                continue
            model, loss = train(task, pooling, seed)
            seen = accuracy(task, model, task.train[: len(task.test)])
            runs[name] = {"loss": loss, "train": seen, "test": accuracy(task, model, task.test)}
            kept |= {f"{name}/{key}": x.contiguous() for key, x in model.state_dict().items()}
            write(table, kept)


def planted(table: dict, kept: dict[str, torch.Tensor]) -> None:
    """Train and inspect what is missing; where no weight lies elsewhere there is no share of it."""
    runs = table.setdefault("planted", {})
    for name, (options, seeds) in PLANTED.items():
        rows = runs.setdefault(name, [])
        for seed in tqdm(range(len(rows), seeds), desc=name):
            found = chapter.inspect(chapter.train_marked(seed, **options))
            rows.append({k: round(x, 4) if x == x else None for k, x in found.items()})
            write(table, kept)


def write(table: dict, kept: dict[str, torch.Tensor]) -> None:
    """Write both files, each whole or not at all."""
    made = {"made_by": "python -m experiments.names", "torch": torch.__version__}
    contents = {
        MODELS: safetensors.torch.save(kept, metadata=made),
        TABLE: (json.dumps({**made, **table}, ensure_ascii=False) + "\n").encode(),
    }
    for path, content in contents.items():
        half = path.with_name(path.name + ".half")
        half.write_bytes(content)
        half.replace(path)


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    task = chapter.task
    settings = {"steps": STEPS, "batch": BATCH, "lr": RATE, "task": repr(task), "from": task.source}
    fresh = "--again" in sys.argv[1:] or not (TABLE.exists() and MODELS.exists())
    table = {} if fresh else json.loads(TABLE.read_text())
    if table.get("settings") != settings:
        table = {"settings": settings}
    kept = safetensors.torch.load_file(MODELS) if "models" in table else {}
    models(task, table, kept)
    planted(table, kept)


if __name__ == "__main__":
    main()
