"""Deleting the most attended character, right and wrong in every way that has a name.

The arguments are always (predict, names, weights). Results are numbers without axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Reader:
    """A model for the checks: one rule for the label of a name, and what it says."""

    rule: Callable[[str], str]
    text: str

    def __call__(self, names: Sequence[str]) -> list[str]:
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise TypeError("predict takes a list of names, such as ['Peru', 'Oman'].")
        return [self.rule(name) for name in names]

    def __str__(self) -> str:
        return self.text


def place(name: str, row: np.ndarray) -> int:
    """Where the largest weight is, the first of several."""
    return int(np.argmax(row[: len(name)]))


def without(name: str, k: int) -> str:
    return name[:k] + name[k + 1 :]


def changed(edit: Callable[[str, np.ndarray], str], share: Callable | None = None) -> Callable:
    """The share that flips when edit(name, row of weights) takes the place of the name."""

    def flips(predict, names, weights):
        edited = [edit(name, row) for name, row in zip(names, weights, strict=True)]
        return np.array((share or mean)(predict(names), predict(edited), names))

    return flips


def mean(before: Sequence[str], after: Sequence[str], names: Sequence[str]) -> float:
    return differing(before, after) / len(before)


def differing(before: Sequence[str], after: Sequence[str]) -> int:
    return sum(a != b for a, b in zip(before, after, strict=True))


def at_place(edit: Callable[[str, int], str]) -> Callable:
    """edit(name, place of the largest weight)."""
    return changed(lambda name, row: edit(name, place(name, row)))


def counted(share: Callable) -> Callable:
    """Something else of the two lists of labels: share(before, after, names)."""
    return changed(lambda name, row: without(name, place(name, row)), share)


right = at_place(without)


def at_one_place(choose: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """The same place in all names: that of the largest number of choose(weights)."""

    def flips(predict, names, weights):
        k = int(np.argmax(choose(weights)))
        return np.array(mean(predict(names), predict([without(n, k) for n in names]), names))

    return flips


def every_place_tried(share: Callable[[list[bool]], float]) -> Callable:
    """The mean over the names of share(does the label change without character 0, 1, …)."""

    def flips(predict, names, weights):
        changes = [
            [label != predict([name])[0] for label in predict([without(name, k) for k in places])]
            for name, places in ((name, range(len(name))) for name in names)
        ]
        return np.array(np.mean([share(change) for change in changes]))

    return flips


def last_of_the_tied(name: str, row: np.ndarray) -> str:
    row = row[: len(name)]
    return without(name, int(np.flatnonzero(row == row.max())[-1]))


def all_of_the_tied(name: str, row: np.ndarray) -> str:
    top = row[: len(name)].max()
    return "".join(letter for letter, weight in zip(name, row, strict=False) if weight < top)


def by_label(before: Sequence[str], after: Sequence[str], names: Sequence[str]) -> float:
    """The mean of one share for each label."""
    pairs = list(zip(before, after, strict=True))
    shares = [np.mean([a != b for a, b in pairs if a == label]) for label in set(before)]
    return float(np.mean(shares))
