"""Losses of a student's maps, right and wrong in every way that has a name.

The arguments are always (student, teacher, mask): maps (…, T_q, T_k), and a mask that broadcasts to
them, True = may attend.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_masked as wm


def spread(teacher: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.broadcast_to(mask, teacher.shape)


def terms(student: np.ndarray, teacher: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """t ln (t / s) where it counts, and 0 elsewhere."""
    counts = cells & (teacher > 0)
    with np.errstate(all="ignore"):
        return np.where(counts, teacher * np.log(teacher / student), 0.0)


def divergences(student: np.ndarray, teacher: np.ndarray, cells: np.ndarray) -> np.ndarray:
    return terms(student, teacher, cells).sum(axis=-1)


def of_cells(
    term: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] = terms,
    finish: Callable[[np.ndarray, np.ndarray], object] | None = None,
) -> Callable:
    """term(student, teacher, mask) of each cell, finished by finish(cells, mask)."""

    def loss(student, teacher, mask):
        mask = spread(teacher, mask)
        with np.errstate(all="ignore"):
            return np.array((finish or mean_of_queries)(term(student, teacher, mask), mask))

    return loss


def mean_of_queries(cells: np.ndarray, mask: np.ndarray) -> np.ndarray:
    real = mask.any(axis=-1)
    return np.where(real, cells.sum(axis=-1), 0.0).sum() / real.sum()


right = of_cells()


def where(mask: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    return np.where(mask, numbers, 0.0)


def with_maps(change: Callable[[np.ndarray, np.ndarray], np.ndarray], *, both: bool) -> Callable:
    """change(weights, mask) of the student's map, or of both."""

    def term(student, teacher, mask):
        student = change(student, mask)
        return terms(student, change(teacher, mask) if both else teacher, mask)

    return of_cells(term)


def softmax_of_weights(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return wm.right(weights, mask)


def softmax_of_everything(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return wm.right(weights, np.ones_like(mask))


def jensen_shannon(student: np.ndarray, teacher: np.ndarray, mask: np.ndarray) -> np.ndarray:
    middle = (student + teacher) / 2
    return (terms(middle, teacher, mask) + terms(middle, student, mask)) / 2


def mean_of_means(cells: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """A mean for each head of each sentence, and the mean of these."""
    real = mask.any(axis=-1)
    sums = np.where(real, cells.sum(axis=-1), 0.0).sum(axis=-1)
    return (sums / real.sum(axis=-1)).mean()


def naive(student: np.ndarray, teacher: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """0 · ln 0 as the computer has it, times the mask."""
    return teacher * (np.log(teacher) - np.log(student)) * mask
