"""Masks whose cells are right and whose kind is not: numbers in place of booleans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._compare import all_close, trimmed
from attnkit.checks._engine import Misconception, Seen


def additive(allowed: np.ndarray, blocked: float = -np.inf) -> np.ndarray:
    """The mask that is added to the scores: 0 where allowed."""
    return np.where(allowed, 0.0, blocked)


def _is_additive(trials: Sequence[Seen]) -> bool:
    """0 where allowed, and −∞ or a number far below 0 where blocked, in some or all masks."""
    return all(
        seen.shaped
        and any(_adds(*cells) for cells in _cells(seen))
        and all(_adds(*cells) or np.array_equal(*cells) for cells in _cells(seen))
        for seen in trials
    )


def _is_numbers(trials: Sequence[Seen]) -> bool:
    """The right cells; that they are not all booleans is what is wrong."""
    return all(seen.shaped and all_close(seen.got, seen.expected) for seen in trials)


def _cells(seen: Seen) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(trimmed(seen.got[name], e.ndim), e) for name, e in seen.expected.items()]


def _adds(got: np.ndarray, expected: np.ndarray) -> bool:
    return bool((got[expected] == 0).all() and (got[~expected] < -100).all())


def of_the_wrong_kind(right: Callable, link: str) -> tuple[Misconception, ...]:
    """Names for right masks in numbers: one that is added, and one of 1 and 0."""

    def made(change: Callable[[np.ndarray], np.ndarray]) -> Callable:
        def wrong(*given):
            masks = right(*given)
            return tuple(map(change, masks)) if isinstance(masks, tuple) else change(masks)

        return wrong

    return (
        Misconception(
            "additive-mask",
            "This is a mask that is added to the scores: 0 where allowed, far below 0 where "
            "blocked. Asked for is the boolean one, True = may attend: here it is mask == 0.",
            link,
            (
                made(additive),
                made(lambda mask: additive(mask, -1e9)),
                made(lambda mask: additive(mask, -1e4)),
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
                made(lambda mask: mask.astype(np.int64)),
                made(lambda mask: mask.astype(np.float64)),
            ),
            when=_is_numbers,
        ),
    )
