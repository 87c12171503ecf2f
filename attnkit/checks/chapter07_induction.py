"""Exercise ch7-induction: does a head find what came next last time?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_diagonal as wd
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks._head_maps import causal, maps
from attnkit.checks.chapter07_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable, link: str = "ch7-induction") -> Misconception:
    return Misconception(name, message, link, wrong)


def _second_copy(key: Callable[[int], int]) -> Callable:
    """Mean over the queries of the second copy of the weight key(period) places back."""
    return lambda weights, period: wd.mean(wd.looks_back(weights, key(period), period + 1))


_right = _second_copy(lambda period: period - 1)


def _rows(first: Callable[[int], int], last: Callable[[int], int]) -> Callable:
    """The right keys for the queries from first(period) up to last(period)."""
    return lambda weights, period: wd.mean(
        wd.looks_back(weights, period - 1, first(period), last(period))
    )


def _diagonal(offset: Callable[[int], int]) -> Callable:
    return lambda weights, period: wd.mean(wd.diagonal(weights, offset(period)))


def _shared_by(queries: Callable[[int], int]) -> Callable:
    """The sum over the second copy, divided by some number of queries."""

    def wrong(weights, period):
        found = wd.looks_back(weights, period - 1, period + 1)
        return found.sum(axis=-1) / queries(period)

    return wrong


def _exchanged(weights: np.ndarray, period: int) -> np.ndarray:
    return _right(weights.swapaxes(-1, -2), period)


def _largest_of(first: Callable[[int], int]) -> Callable:
    return lambda weights, period: wd.mean(weights.max(axis=-1)[..., first(period) :])


def _first_copy(begin: int) -> Callable:
    """All the weight that the second copy gives to the first."""

    def wrong(weights, period):
        return wd.mean(weights[..., period + 1 :, begin : period + 1].sum(axis=-1))

    return wrong


def _baseline(period: int) -> float:
    return float(np.mean(1 / np.arange(period + 2, 2 * period + 2)))


def _trial(heads: int, period: int, seed: int) -> Trial:
    weights = maps(heads, causal(1 + 2 * period), seed=seed)
    name = f"period {period}, {heads} {'head' if heads == 1 else 'heads'}"
    return Trial(name, {"weights": weights, "period": period})


_HAND = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0],
        [0.2, 0.8, 0.0, 0.0, 0.0],
        [0.45, 0.25, 0.3, 0.0, 0.0],
        [0.1, 0.15, 0.6, 0.15, 0.0],
        [0.05, 0.2, 0.1, 0.3, 0.35],
    ]
)
_TRIALS = (
    Trial("period 2, one head", {"weights": _HAND[None], "period": 2}),
    _trial(1, 2, 0),
    _trial(1, 3, 1),
    _trial(2, 3, 2),
    _trial(2, 5, 4),
    _trial(3, 4, 3),
    Trial(
        "a batch of two",
        {"weights": np.stack([maps(2, causal(7), seed=s) for s in (5, 6)]), "period": 3},
        compared=False,
        required=False,
    ),
)

MISCONCEPTIONS = (
    _wrong(
        "same-token",
        "Key i − period holds the same token as query i. An induction head looks one further, at "
        "the token that followed it: i − (period − 1).",
        _second_copy(lambda period: period),
        _diagonal(lambda period: -period),
    ),
    _wrong(
        "token-before-it",
        "Key i − period − 1 is what stood before the token in the first copy. What followed it is "
        "wanted, one key to the right of the same token: i − (period − 1).",
        _second_copy(lambda period: period + 1),
    ),
    _wrong(
        "two-after-it",
        "The key lies one too far to the right: i − period holds the same token, and the next one, "
        "i − (period − 1), followed it.",
        _second_copy(lambda period: period - 2),
    ),
    _wrong(
        "first-copy-included",
        "The whole diagonal is averaged, with queries of the first copy. They cannot have seen "
        "what follows: begin with the second copy.",
        _diagonal(lambda period: 1 - period),
        lambda w, p: wd.diagonal(w, 1 - p).sum(axis=-1) / w.shape[-1],
    ),
    _wrong(
        "bos-forgotten",
        "The second copy is taken to begin at position period. Position 0 is the begin "
        "sign, so that all tokens stand one further to the right: it begins at period + 1.",
        _rows(lambda period: period, lambda period: 2 * period),
        _rows(lambda period: period, lambda period: 2 * period + 1),
    ),
    _wrong(
        "copy-cut-short",
        "One query of the second copy is left out. All of them have met their token before: period "
        "queries, from the first to the last.",
        _rows(lambda period: period + 2, lambda period: 2 * period + 1),
        _rows(lambda period: period + 1, lambda period: 2 * period),
    ),
    _wrong(
        "divided-by-all-queries",
        "The sum runs over the second copy and is divided by more queries than that. Divide by "
        "period.",
        _shared_by(lambda period: 2 * period + 1),
        _shared_by(lambda period: 2 * period),
        _shared_by(lambda period: period + 1),
        _shared_by(lambda period: period + 2),
    ),
    _wrong(
        "rows-and-columns-exchanged",
        "The index of the query stands where that of the key belongs. Rows are queries: A[i, i − "
        "(period − 1)]; the other triangle of a causal map is 0.",
        _exchanged,
        _diagonal(lambda period: period - 1),
        link="ch7-metrics",
    ),
    _wrong(
        "previous-token",
        "This is the weight on the token just before, which repeats nothing. Look for the token of "
        "the first copy.",
        _diagonal(lambda period: -1),
        _second_copy(lambda period: 1),
    ),
    _wrong(
        "own-token",
        "This is the weight that tokens give to themselves. Look for the token of the first copy.",
        _diagonal(lambda period: 0),
        _second_copy(lambda period: 0),
    ),
    _wrong(
        "largest-counted",
        "Queries whose largest weight lies on that key are counted, and it does not matter how "
        "large it is. The score is the mean weight itself.",
        lambda w, p: wd.mean(wd.largest_at(w, p - 1, p + 1)),
        lambda w, p: wd.mean(wd.largest_at(w, p - 1, 0)),
    ),
    _wrong(
        "largest-weight",
        "This is the mean of the largest weights, wherever they lie. Each query has one key that "
        "counts: what followed its token in the first copy.",
        _largest_of(lambda period: period + 1),
        _largest_of(lambda period: 0),
    ),
    _wrong(
        "best-query",
        "This is the largest of the weights that count: one query speaks for all. Average over the "
        "second copy.",
        lambda w, p: wd.looks_back(w, p - 1, p + 1).max(axis=-1),
    ),
    _wrong(
        "whole-first-copy",
        "All the weight that goes back to the first copy is added up. One key of it counts, the "
        "one that followed the token.",
        _first_copy(1),
        _first_copy(0),
    ),
    _wrong(
        "compared-with-uniform",
        "What a head that prefers nothing would score has been taken off already, or has divided "
        "the result. A good comparison, and a second step: return the score.",
        lambda w, p: _right(w, p) - _baseline(p),
        lambda w, p: _right(w, p) / _baseline(p),
        link="ch7-baseline",
    ),
    _wrong(
        "heads-taken-for-queries",
        "The diagonal runs through heads and queries: without names for the axes, diagonal takes "
        "the first two. Name the last two.",
        lambda w, p: wd.first_axes(w, 1 - p),
        lambda w, p: wd.first_axes(w, -p),
        lambda w, p: wd.first_axes(w[:, p + 1 :], 1 - p),
        lambda w, p: wd.first_axes(w[:, p + 1 :], 0),
        lambda w, p: wd.first_axes(w[:, p + 1 :], 2),
        link="ch7-metrics",
    ),
    _wrong(
        "queries-added-up",
        "The weights are added up, so that the score grows with the period. Divide by the number "
        "of queries.",
        lambda w, p: wd.looks_back(w, p - 1, p + 1).sum(axis=-1),
    ),
    _wrong(
        "queries-not-averaged",
        "There is still one number for each query. Average over the second copy.",
        lambda w, p: wd.looks_back(w, p - 1, p + 1),
        lambda w, p: wd.diagonal(w, 1 - p),
    ),
    _wrong(
        "one-number",
        "This is one number for all heads together. Each head has its own: keep the first axis.",
        lambda w, p: _right(w, p).mean(),
    ),
)

INDUCTION = FunctionExercise(
    id="ch7-induction",
    title="The induction score",
    link="ch7-induction",
    call="induction(weights, period)",
    results=("score",),
    sections=SECTIONS,
    right=_right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (INDUCTION,)
