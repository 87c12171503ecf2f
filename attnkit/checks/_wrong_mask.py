"""Masks whose cells are right and whose kind is not: numbers in place of booleans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._compare import trimmed
from attnkit.checks._engine import Misconception, Seen


def additive(allowed: np.ndarray, blocked: float = -np.inf) -> np.ndarray:
    """The mask that is added to the scores: 0 where allowed."""
    return np.where(allowed, 0.0, blocked)


def _is_additive(trials: Sequence[Seen]) -> bool:
    """0 where allowed, and −∞ or a number far below 0 where blocked."""
    return all(seen.shaped and _adds(*_cells(seen)) for seen in trials)


def _cells(seen: Seen) -> tuple[np.ndarray, np.ndarray]:
    (expected,) = seen.expected.values()
    (got,) = seen.got.values()
    return trimmed(got, expected.ndim), expected


def _adds(got: np.ndarray, expected: np.ndarray) -> bool:
    return bool((got[expected] == 0).all() and (got[~expected] < -100).all())


def of_the_wrong_kind(right: Callable, link: str) -> tuple[Misconception, ...]:
    """Names for a right mask in numbers: one that is added, and one of 1 and 0."""
    return (
        Misconception(
            "additive-mask",
            "This is a mask that is added to the scores: 0 where allowed, far below 0 where "
            "blocked. Asked for is the boolean one, True = may attend: here it is mask == 0.",
            link,
            (
                lambda *given: additive(right(*given)),
                lambda *given: additive(right(*given), -1e9),
                lambda *given: additive(right(*given), -1e4),
            ),
            when=_is_additive,
        ),
        Misconception(
            "numbers-for-booleans",
            "The cells are right, but they are numbers. attnkit refuses such a mask: other "
            "libraries add it to the scores, where a 1 blocks nothing. Return booleans, as a "
            "comparison gives them.",
            link,
            (
                lambda *given: right(*given).astype(np.int64),
                lambda *given: right(*given).astype(np.float64),
            ),
        ),
    )
