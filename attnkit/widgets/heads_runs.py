"""What the heads widget is given: models that differ in their number of heads."""

import math
import numbers
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

from attnkit.weights import read_weights
from attnkit.widgets import measures, pairs

MOST_HEADS, MOST_RUNS, MOST_SEEDS, LONGEST = 64, 12, 50, 64
ENOUGH = 0.95  # a number of heads is enough when the median of its seeds reaches this
NAME = "HeadsWidget"


class HeadsRun(NamedTuple):
    """A model trained with some number of heads, and how well such models did."""

    weights: Any  # (heads, queries, keys), of one trained model
    accuracy: Sequence[float]  # one share for each seed
    d_head: int  # features of each head


class Checked(NamedTuple):
    """A checked run."""

    weights: torch.Tensor  # (heads, queries, keys)
    accuracy: tuple[float, ...]
    d_head: int

    @property
    def median(self) -> float:
        """Median accuracy of the seeds."""
        return statistics.median(self.accuracy)

    def spread(self) -> str:
        """Median and range in words: "median 98 %, from 97 % to 99 % over 3 seeds"."""
        median, low, high = map(
            measures.percent, (self.median, min(self.accuracy), max(self.accuracy))
        )
        n = len(self.accuracy)
        over = f"from {low} to {high} over {n} seeds"
        if low == high:
            over = "one seed" if n == 1 else f"the same with all {n} seeds"
        return f"median {median}, {over}"


def checked(runs: Any) -> dict[int, Checked]:
    """Number of heads → run, in rising order, all with maps of one shape.

    Raises:
        TypeError, ValueError: no runs, a number of heads that is not that of its weights, weights
            that `read_weights` refuses, maps of different shapes, or accuracies that are none.
    """
    name = f"{NAME}.runs"
    expected = f"a dict of 1 to {MOST_RUNS} numbers of heads with their HeadsRun"
    if not isinstance(runs, Mapping):
        cure = "For example {1: HeadsRun(weights, (0.2, 0.1), 32), 2: …}."
        pairs.refuse(TypeError, name, expected, runs, cure)
    if not 1 <= len(runs) <= MOST_RUNS:
        pairs.refuse(ValueError, name, expected, f"{len(runs)} of them", "Choose fewer.")
    found = {}
    for heads, run in runs.items():
        whole = isinstance(heads, numbers.Integral) and not isinstance(heads, bool)
        if not whole or not 1 <= int(heads) <= MOST_HEADS:
            expected = f"whole numbers of heads from 1 to {MOST_HEADS} as keys"
            pairs.refuse(ValueError, name, expected, heads, "Use the num_heads of each model.")
        found[int(heads)] = _run(f"{name}[{heads}]", int(heads), run)
    found = dict(sorted(found.items()))
    shapes = {heads: tuple(run.weights.shape[1:]) for heads, run in found.items()}
    if len(set(shapes.values())) > 1:
        got = ", ".join(f"{h} heads: {q} × {k}" for h, (q, k) in shapes.items())
        cure = "Give every model the same input."
        pairs.refuse(ValueError, name, "maps of one shape in all runs", got, cure)
    return found


def _run(name: str, heads: int, run: Any) -> Checked:
    if not isinstance(run, HeadsRun):
        pairs.refuse(TypeError, name, "a HeadsRun", run, "HeadsRun(weights, accuracy, d_head).")
    weights = read_weights(run.weights, axes=("heads", "queries", "keys"), name=f"{name}: weights")
    if len(weights) != heads:
        cure = "The key of a run is the number of heads of its model."
        pairs.refuse(ValueError, f"{name}.weights", f"{heads} maps", f"{len(weights)} maps", cure)
    if max(weights.shape[1:]) > LONGEST:
        expected = f"at most {LONGEST} queries and {LONGEST} keys"
        got = " × ".join(map(str, weights.shape[1:]))
        pairs.refuse(ValueError, f"{name}.weights", expected, got, "Show a shorter input.")
    return Checked(weights, _accuracy(f"{name}.accuracy", run.accuracy), _d_head(name, run.d_head))


def _accuracy(name: str, value: Any) -> tuple[float, ...]:
    items = value.tolist() if hasattr(value, "tolist") else value
    expected = f"a tuple of 1 to {MOST_SEEDS} shares from 0 to 1, one for each seed"
    if not isinstance(items, (tuple, list)) or not 1 <= len(items) <= MOST_SEEDS:
        pairs.refuse(ValueError, name, expected, value, "A single one is (0.98,).")
    for item in items:
        number = isinstance(item, numbers.Real) and not isinstance(item, bool)
        if not number or not math.isfinite(item) or not 0 <= float(item) <= 1:
            pairs.refuse(ValueError, name, expected, item, "Shares of right answers, not percent.")
    return tuple(float(item) for item in items)


def _d_head(name: str, value: Any) -> int:
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not whole or int(value) < 1:
        cure = "It is d_model divided by the number of heads."
        pairs.refuse(ValueError, f"{name}.d_head", "a whole number from 1", value, cure)
    return int(value)


def enough(runs: Mapping[int, Checked]) -> int:
    """The smallest number of heads whose median reaches 95 %; 0 where none does."""
    return next((heads for heads, run in runs.items() if run.median >= ENOUGH), 0)


def question(runs: Mapping[int, Checked]) -> str:
    """What the reader is asked before anything is shown."""
    first, last = list(map(str, runs))[:-1], str(max(runs))
    numbers = f"{', '.join(first)} or {last}" if first else last
    seeds = {len(run.accuracy) for run in runs.values()}
    one = len(seeds) == 1 and seeds != {1}
    over = f"median of {max(seeds)} seeds" if one else "median of the seeds"
    return (
        f"The same model, trained on the same task with {numbers} head{'s' * (last != '1')}. What "
        f"is the smallest number that gives {measures.whole_percent(ENOUGH)} of right answers "
        f"({over})?"
    )


def table_of(heads: int) -> tuple[int, int]:
    """Rows and columns of the table of thumbnails: at most 8 columns where that is even.

    >>> [table_of(n) for n in (1, 2, 8, 12, 16, 32, 11)]
    [(1, 1), (1, 2), (1, 8), (2, 6), (2, 8), (4, 8), (1, 11)]
    """
    columns = next((c for c in (8, 7, 6, 5, 4) if heads % c == 0), heads) if heads > 8 else heads
    return heads // columns, columns


def row_names(heads: int) -> list[str]:
    """Names of the rows of thumbnails: what to add to the number above the column."""
    rows, columns = table_of(heads)
    return ["head"] if rows == 1 else [f"{i * columns} +" for i in range(rows)]
