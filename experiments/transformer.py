"""Chapter 9: a Transformer on the numerals, beside GRU and attention.

    python -m experiments.transformer            # what is missing in attnkit/data
    python -m experiments.transformer main       # one part: main, rates, norms or steps
    python -m experiments.transformer --again    # everything anew

``main``    Transformer and GRU with attention, three seeds; the models of the first are kept
``rates``   the Transformer with half and with twice the learning rate, one seed
``norms``   the Transformer with its norms after the sums, one seed
``steps``   the Transformer, three times as long, one seed

All see the same numbers, step by step. Every run is written as soon as it is done, so that an
interrupted part goes on where it stopped. A run takes about a minute on one core, the last one
three.
"""

import json
import sys
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn
from tqdm import tqdm

from attnkit.seq2seq import Seq2Seq, exact_match
from attnkit.training import fit, save
from attnkit.transformer import Transformer
from experiments.from_chapter import definitions

DATA = Path(__file__).parents[1] / "attnkit" / "data"
TABLE = DATA / "ch9-transformer.json"
chapter = definitions("09-transformer", ["task", "test_numbers", "SIZES"])
STEPS, BATCH, FRESH, AVERAGED = 1000, 64, 300, 50
RATES = {"transformer": 2e-3, "gru": 6e-3}


class Condition(NamedTuple):
    """One row of the table; its seeds are trained one after the other."""

    part: str
    model: str
    lr: float
    seeds: int = 1
    norm_first: bool = True
    steps: int = STEPS
    batch: int = BATCH

    @property
    def name(self) -> str:
        changed = "" if self.norm_first else ", norms after the sums"
        return f"{self.part}: {self.model}{changed}, rate {self.lr}, {self.steps} steps"


def conditions() -> list[Condition]:
    """Every condition, those that the chapter needs most first."""
    rate = RATES["transformer"]
    return [
        *(Condition("main", model, lr, seeds=3) for model, lr in RATES.items()),
        *(Condition("rates", "transformer", lr) for lr in (rate / 2, 2 * rate)),
        Condition("norms", "transformer", rate, norm_first=False),
        Condition("steps", "transformer", rate, steps=3 * STEPS),
    ]


def new_model(condition: Condition, seed: int) -> nn.Module:
    """An untrained model."""
    vocabularies = chapter.task.source_vocabulary, chapter.task.target_vocabulary
    torch.manual_seed(seed)
    if condition.model == "gru":
        return Seq2Seq(*vocabularies, "additive")
    return Transformer(*vocabularies, **chapter.SIZES, norm_first=condition.norm_first)


def run(condition: Condition, seed: int) -> dict:
    """Train one model and measure it; the first of ``main`` is kept."""
    task, model = chapter.task, new_model(condition, seed)
    history = fit(
        model,
        lambda step: task.training_batch(step, condition.batch, seed=seed),
        steps=condition.steps,
        lr=condition.lr,
    )
    model.eval()
    if (condition.part, seed) == ("main", 0):
        save(model, DATA / f"ch9-{condition.model}.safetensors", history)
    exact = {}
    for digits in range(1, 13):
        batch = task.batch(chapter.test_numbers(digits, FRESH, seed=1000 + seed))
        right = exact_match(model, batch).float().mean().item()
        exact[digits] = [round(right, 4), len(batch.source)]
    losses = torch.tensor([row.loss for row in history]).unfold(0, AVERAGED, AVERAGED)
    return {
        "seed": seed,
        "parameters": sum(p.numel() for p in model.parameters()),
        "losses": [round(x, 5) for x in losses.mean(-1).tolist()],
        "exact": exact,
    }


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    parts = [arg for arg in sys.argv[1:] if arg[:1] != "-"]
    runs = json.loads(TABLE.read_text())["runs"] if TABLE.exists() else {}
    todo = [c for c in conditions() if not parts or c.part in parts]
    for condition in tqdm(todo, desc="conditions"):
        settings = condition._asdict()
        row = runs.get(condition.name, {})
        if "--again" in sys.argv or row.get("settings") != settings:
            row = runs[condition.name] = {"settings": settings, "seeds": []}
        for seed in range(len(row["seeds"]), condition.seeds):
            row["seeds"].append(run(condition, seed))
            made = {"made_by": "python -m experiments.transformer", "torch": torch.__version__}
            made |= {"task": repr(chapter.task), "sizes": chapter.SIZES, "fresh": FRESH}
            half = TABLE.with_suffix(".half")
            half.write_text(json.dumps({**made, "averaged": AVERAGED, "runs": runs}) + "\n")
            half.replace(TABLE)


if __name__ == "__main__":
    main()
