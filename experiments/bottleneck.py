"""Chapters 1 and 2, the longer runs: what one vector costs, by steps, width and length.

    python -m experiments.bottleneck                 # what is missing in attnkit/data
    python -m experiments.bottleneck grid            # one part: hook, translator, longer or grid
    python -m experiments.bottleneck --again         # everything anew

``hook``        fixed vector and attention on 1 to 12 digits, 500 steps; models kept
``translator``  trained twice as long, round numbers included; attention; models kept
``longer``      trained on numerals of at most 9 characters, tested on longer ones; models kept
``grid``        1 to 9 digits: training steps times hidden size, fixed vector and attention

Every run is written as soon as it is done, so that an interrupted part goes on where it stopped.
On two cores each part stays under 90 minutes.
"""

import json
import sys
from itertools import product
from pathlib import Path
from typing import NamedTuple

import torch
from tqdm import tqdm

from attnkit.seq2seq import Seq2Seq, exact_match
from attnkit.tasks import ChineseNumerals
from attnkit.training import fit, save
from experiments.from_chapter import definitions

DATA = Path(__file__).parents[1] / "attnkit" / "data"
TABLE = DATA / "ch1-bottleneck.json"
reach = definitions("01-rnn-bottleneck", ["reach"]).reach
FRESH = 500  # numbers for each length and seed
BUCKETS = [(7, 9), (10, 11), (12, 13), (14, 15), (16, 17)]  # characters


class Condition(NamedTuple):
    """One row of the table; its seeds are trained one after the other."""

    part: str
    context: str
    d_hidden: int
    steps: int
    digits: int  # trained on 1 to so many
    sparse: float = 0.0
    characters: int | None = None  # trained on at most so many
    seeds: int = 3
    kept: int = 0  # models of so many seeds go to attnkit/data
    reach: bool = False  # whether to measure how far back a gradient reaches
    batch: int = 64
    lr: float = 6e-3

    @property
    def name(self) -> str:
        return f"{self.part}: {self.context}, hidden {self.d_hidden}, {self.steps} steps"

    @property
    def task(self) -> ChineseNumerals:
        characters = None if self.characters is None else (1, self.characters)
        return ChineseNumerals((1, self.digits), sparse=self.sparse, characters=characters)

    def tests(self) -> dict[str, ChineseNumerals]:
        """What the models are tested on: every number of digits and one more, or the buckets."""
        if self.characters is None:
            return {str(n): ChineseNumerals((n, n)) for n in range(1, self.digits + 2)}
        return {
            f"{low}–{high}": ChineseNumerals((1, self.digits), sparse=1.0, characters=(low, high))
            for low, high in BUCKETS
        }


def conditions() -> list[Condition]:
    """Every condition, the quick parts first."""
    both = ("fixed", "additive")
    found = [Condition("hook", c, 96, 500, 12, kept=1) for c in both]
    for c, seeds in [("additive", 3), ("dot", 1)]:
        found.append(Condition("translator", c, 96, 1000, 12, sparse=0.5, seeds=seeds, kept=seeds))
    for c in both:
        found.append(Condition("longer", c, 96, 1000, 12, sparse=1.0, characters=9, kept=1))
    for steps, context in product((300, 1000, 3000), both):
        for d_hidden in (16, 32, 96):
            live = (steps, d_hidden) == (300, 96)  # as trained in the chapter
            found.append(Condition("grid", context, d_hidden, steps, 9, reach=live))
    return found


def train(condition: Condition, seed: int) -> tuple[Seq2Seq, float]:
    """A trained model, and its mean loss over the last 50 steps."""
    task = condition.task
    torch.manual_seed(seed)
    model = Seq2Seq(
        task.source_vocabulary,
        task.target_vocabulary,
        condition.context,
        d_hidden=condition.d_hidden,
    )
    history = fit(
        model,
        lambda step: task.training_batch(step, condition.batch, seed=seed),
        steps=condition.steps,
        lr=condition.lr,
    )
    losses = [row.loss for row in history]
    return model, sum(losses[-50:]) / len(losses[-50:])


def measure(condition: Condition, model: Seq2Seq, seed: int) -> dict[str, list[float]]:
    """Share of exact translations of fresh numbers, and how many there were, by length."""
    found = {}
    for length, task in condition.tests().items():
        numbers = task.numbers(FRESH, "test", seed=1000 + seed)
        right = exact_match(model, task.batch(numbers))
        found[length] = [round(right.float().mean().item(), 4), len(numbers)]
    return found


def reached(model: Seq2Seq, seed: int) -> list[float]:
    """Gradient at each distance, for test numbers of nine digits and seventeen characters."""
    task = ChineseNumerals((9, 9))
    batch = task.batch(task.numbers(FRESH, "test", seed=1000 + seed))
    source = batch.source[batch.source_lengths == 17]
    return [round(x, 6) for x in reach(model, source).tolist()]


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    wanted = [arg for arg in sys.argv[1:] if arg[:1] != "-"] or [
        "hook",
        "translator",
        "longer",
        "grid",
    ]
    runs = json.loads(TABLE.read_text("utf-8"))["runs"] if TABLE.exists() else {}
    todo = [c for c in conditions() if c.part in wanted]
    for condition in tqdm(todo, desc="conditions"):
        settings = condition._asdict()
        row = runs.get(condition.name, {})
        if "--again" in sys.argv or row.get("settings") != settings:
            row = runs[condition.name] = {"settings": settings, "seeds": []}
        for seed in range(len(row["seeds"]), condition.seeds):
            model, loss = train(condition, seed)
            if seed < condition.kept:
                save(model, DATA / f"ch1-{condition.part}-{condition.context}-{seed}.safetensors")
            exact = measure(condition, model, seed)
            row["seeds"].append({"loss": round(loss, 5), "exact": exact})
            if condition.reach:
                row["seeds"][-1]["reach"] = reached(model, seed)
            made = {"made_by": "python -m experiments.bottleneck", "torch": torch.__version__}
            half = TABLE.with_suffix(".half")
            half.write_text(
                json.dumps({**made, "fresh": FRESH, "runs": runs}, ensure_ascii=False) + "\n",
                "utf-8",
            )
            half.replace(TABLE)


if __name__ == "__main__":
    main()
