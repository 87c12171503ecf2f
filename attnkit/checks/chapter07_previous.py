"""Exercise ch7-previous: how much a head looks at the token before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_diagonal as wd
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks._head_maps import causal, maps
from attnkit.checks.chapter07_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable, link: str = "ch7-metrics") -> Misconception:
    return Misconception(name, message, link, wrong)


def _right(weights: np.ndarray) -> np.ndarray:
    return wd.mean(wd.diagonal(weights, -1))


def _over_all(values: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """A sum divided by T, the number of all queries."""
    return lambda weights: values(weights).sum(axis=-1) / weights.shape[-1]


def _with_first(key: int) -> Callable:
    """The first query takes part, with its weight on this key."""

    def wrong(weights):
        before = wd.diagonal(weights, -1).sum(axis=-1)
        return (before + weights[..., 0, key]) / weights.shape[-1]

    return wrong


def _baseline(weights: np.ndarray, *, masked: bool) -> float:
    length = weights.shape[-1]
    return float(np.mean(1 / np.arange(2, length + 1))) if masked else 1 / length


def _trial(name: str, heads: int, mask: np.ndarray, seed: int) -> Trial:
    return Trial(name, {"weights": maps(heads, mask, seed=seed)})


_TRIALS = (
    Trial("two tokens, causal", {"weights": np.array([[[1.0, 0.0], [0.7, 0.3]]])}),
    Trial(
        "three tokens, no mask",
        {"weights": np.array([[[0.5, 0.2, 0.3], [0.6, 0.3, 0.1], [0.15, 0.4, 0.45]]])},
    ),
    Trial(
        "two heads, three tokens, causal",
        {
            "weights": np.array(
                [
                    [[1.0, 0.0, 0.0], [0.8, 0.2, 0.0], [0.25, 0.45, 0.3]],
                    [[1.0, 0.0, 0.0], [0.35, 0.65, 0.0], [0.1, 0.05, 0.85]],
                ]
            )
        },
    ),
    _trial("two heads, four tokens, no mask", 2, np.ones((4, 4), bool), 2),
    _trial("three heads, five tokens, causal", 3, causal(5), 1),
    _trial("two heads, seven tokens, no mask", 2, np.ones((7, 7), bool), 3),
    Trial(
        "a batch of two",
        {"weights": np.stack([maps(2, causal(4), seed=seed) for seed in (4, 5)])},
        compared=False,
        required=False,
    ),
)

MISCONCEPTIONS = (
    _wrong(
        "divided-by-all-queries",
        "The sum is divided by more queries than have a token before them: the first has none. A "
        "head that always looks one back would not reach 1: divide by T − 1.",
        _over_all(lambda w: wd.diagonal(w, -1)),
        lambda w: wd.diagonal(w, -1).sum(axis=-1) / w.shape[-1] ** 2,
    ),
    _wrong(
        "first-row-wraps-around",
        "The first query is paired with the last key: roll, and an index of −1, go round in a "
        "circle. It has no previous token: begin with the second query.",
        _with_first(-1),
        lambda w: wd.rolled(w, 1),
    ),
    _wrong(
        "first-row-counted",
        "The first query takes part with its weight on itself, for want of a token before it. "
        "Leave it out: begin with the second query.",
        _with_first(0),
    ),
    _wrong(
        "next-token",
        "This is A[i, i + 1], what a query gives to the token after it; under a causal mask it is "
        "0. Rows are queries, and the key before query i is i − 1: offset −1.",
        lambda w: wd.mean(wd.diagonal(w, 1)),
        _over_all(lambda w: wd.diagonal(w, 1)),
        lambda w: wd.rolled(w, -1),
    ),
    _wrong(
        "own-token",
        "This is the main diagonal: what each token gives to itself. The token before lies one "
        "key to the left.",
        lambda w: wd.mean(wd.diagonal(w, 0)),
        lambda w: wd.mean(wd.diagonal(w, 0)[..., 1:]),
    ),
    _wrong(
        "two-back",
        "This is the token before the previous one: the offset is −1.",
        lambda w: wd.mean(wd.diagonal(w, -2)),
        _over_all(lambda w: wd.diagonal(w, -2)),
    ),
    _wrong(
        "query-left-out",
        "One query too many is left out. All but the first have a token before them: T − 1 "
        "queries.",
        lambda w: wd.mean(wd.diagonal(w, -1)[..., 1:]),
        lambda w: wd.mean(wd.diagonal(w, -1)[..., :-1]),
    ),
    _wrong(
        "largest-counted",
        "Queries whose largest weight lies one back are counted, and it does not matter how large "
        "it is. The score is the mean weight itself.",
        lambda w: wd.mean(wd.largest_at(w, 1, 1)),
        _over_all(lambda w: wd.largest_at(w, 1, 1)),
        lambda w: wd.mean(wd.diagonal(w, -1) > 0.5),
    ),
    _wrong(
        "largest-weight",
        "This is the mean of the largest weight of each row, wherever it lies. The score asks how "
        "much goes to one place, the key before.",
        lambda w: wd.mean(w.max(axis=-1)),
        lambda w: wd.mean(w.max(axis=-1)[..., 1:]),
    ),
    _wrong(
        "best-query",
        "This is the largest weight on the diagonal: one query speaks for all. Average over the "
        "queries.",
        lambda w: wd.diagonal(w, -1).max(axis=-1),
    ),
    _wrong(
        "neighbours-added",
        "The weights of several keys around the query are added up. That is local focus, which a "
        "head on short sequences has anyway: take the key before, and it alone.",
        wd.mass(lambda back: np.abs(back) <= 1, 0),
        wd.mass(lambda back: np.abs(back) <= 1, 1),
        wd.mass(lambda back: (back >= 0) & (back <= 1), 0),
        wd.mass(lambda back: (back >= 0) & (back <= 1), 1),
        wd.mass(lambda back: np.abs(back) == 1, 0),
        wd.mass(lambda back: np.abs(back) == 1, 1),
        link="ch7-rule",
    ),
    _wrong(
        "all-earlier-tokens",
        "The weights of all earlier keys are added up. Only the one just before counts.",
        wd.mass(lambda back: back >= 1, 0),
        wd.mass(lambda back: back >= 1, 1),
    ),
    _wrong(
        "compared-with-uniform",
        "What a head that prefers nothing would score has been taken off already, or has divided "
        "the result. A good comparison, and a second step: return the score.",
        lambda w: _right(w) - _baseline(w, masked=True),
        lambda w: _right(w) - _baseline(w, masked=False),
        lambda w: _right(w) / _baseline(w, masked=True),
        lambda w: _right(w) / _baseline(w, masked=False),
        link="ch7-baseline",
    ),
    _wrong(
        "heads-taken-for-queries",
        "The diagonal runs through heads and queries: without names for the axes, diagonal takes "
        "the first two. Name the last two.",
        lambda w: wd.first_axes(w, -1),
        lambda w: wd.first_axes(w, 1),
    ),
    _wrong(
        "queries-added-up",
        "The weights are added up, so that the score grows with the length. Divide by the number "
        "of queries that have a token before them.",
        lambda w: wd.diagonal(w, -1).sum(axis=-1),
    ),
    _wrong(
        "queries-not-averaged",
        "There is still one number for each query. Average over the queries of a head.",
        lambda w: wd.diagonal(w, -1),
    ),
    _wrong(
        "one-number",
        "This is one number for all heads together. Each head has its own: keep the first axis.",
        lambda w: _right(w).mean(),
        lambda w: w.mean(),
    ),
)

PREVIOUS = FunctionExercise(
    id="ch7-previous",
    title="The previous-token score",
    link="ch7-metrics",
    call="previous_token(weights)",
    results=("score",),
    sections=SECTIONS,
    right=_right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (PREVIOUS,)
