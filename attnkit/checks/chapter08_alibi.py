"""Exercise ch8-alibi: what is added to the scores so that far keys count for less."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter08_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch8-alibi", wrong)


def _offsets(n: int) -> np.ndarray:
    """i − j, (queries, keys)."""
    return np.arange(n)[:, None] - np.arange(n)


def _of_offsets(size: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """−m_h times size(i − j)."""
    return lambda slopes, n: -slopes[:, None, None] * size(_offsets(n))


right = _of_offsets(np.abs)


def _with_slopes(change: Callable[[np.ndarray], np.ndarray]) -> Callable:
    return lambda slopes, n: right(change(slopes), n)


def _over_the_future(number: float) -> Callable:
    """Something else for the keys behind the query."""
    return lambda slopes, n: np.where(_offsets(n) < 0, number, right(slopes, n))


def _from_the_number_of_heads(slopes: np.ndarray) -> np.ndarray:
    return 2.0 ** (-8 * np.arange(1, len(slopes) + 1) / len(slopes))


def _along(axes: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """Slopes on the wrong axis; numpy refuses them where the sizes do not fit."""
    return lambda slopes, n: -axes(slopes) * np.abs(_offsets(n))


MISCONCEPTIONS = (
    _wrong(
        "far-keys-favoured",
        "The minus is missing: a far key gets more weight than a near one.",
        _of_offsets(lambda o: -np.abs(o)),
    ),
    _wrong(
        "distance-with-a-sign",
        "i − j is below 0 for the keys behind the query, so that they are favoured the more the "
        "farther they are. A distance has no sign: |i − j|.",
        _of_offsets(lambda o: o),
        _of_offsets(lambda o: -o),
    ),
    _wrong(
        "no-distance-to-later-keys",
        "Keys behind the query get no bias, those before it do. What is added knows nothing of the "
        "causal mask: |i − j| on both sides.",
        _of_offsets(lambda o: o.clip(min=0)),
        _of_offsets(lambda o: (-o).clip(min=0)),
    ),
    _wrong(
        "causal-mask-built-in",
        "Keys behind the query are blocked here as well. The mask is another argument of "
        "attention: the bias says how far, the mask says who may.",
        _over_the_future(-np.inf),
        _over_the_future(-1e9),
        _over_the_future(-1e4),
    ),
    _wrong(
        "place-of-the-key-only",
        "The number depends on the key alone. Under a causal mask that gives the same weights, as "
        "the softmax sees differences only; without one it does not. Asked for is −m·|i − j|.",
        lambda slopes, n: slopes[:, None, None] * np.ones((n, 1)) * np.arange(n),
        lambda slopes, n: slopes[:, None, None] * np.ones((n, 1)) * (np.arange(n) - (n - 1)),
    ),
    _wrong(
        "one-row-for-all-queries",
        "There is one row, and the queries stand at different places: each has its own distances, "
        "(heads, n, n).",
        lambda slopes, n: -slopes[:, None] * np.arange(n),
        lambda slopes, n: -slopes[:, None] * np.arange(n)[::-1],
        lambda slopes, n: -slopes[:, None, None] * np.arange(n),
        lambda slopes, n: slopes[:, None, None] * np.arange(n),
    ),
    _wrong(
        "factor-instead-of-bias",
        "This is exp(−m·|i − j|), a number to multiply weights with. A bias is added to the "
        "scores, before the softmax takes the exp.",
        lambda slopes, n: np.exp(right(slopes, n)),
    ),
    _wrong(
        "divided-by-the-slope",
        "The distance is divided by the slope, so that the head with the smallest slope looks "
        "least far. Multiply: a small slope is a wide view.",
        _with_slopes(lambda slopes: 1 / slopes),
    ),
    _wrong(
        "slopes-not-used",
        "The slopes are computed from the number of heads. The formula of the paper gives such "
        "numbers, but here they are an argument: use those.",
        _with_slopes(_from_the_number_of_heads),
        _with_slopes(np.ones_like),
    ),
    _wrong(
        "one-bias-for-all-heads",
        "All heads have got the same bias. Each has a slope of its own, so that some look near and "
        "some far.",
        lambda slopes, n: right(slopes, n).mean(axis=0),
        lambda slopes, n: right(slopes, n).sum(axis=0),
        lambda slopes, n: right(slopes, n)[0],
        _with_slopes(lambda slopes: np.full_like(slopes, slopes.mean())),
        _with_slopes(lambda slopes: np.full_like(slopes, slopes[0])),
    ),
    _wrong(
        "slopes-along-another-axis",
        "The slopes lie along the queries or the keys. They belong to the heads, the first axis: "
        "slopes[:, None, None].",
        _along(lambda slopes: slopes),
        _along(lambda slopes: slopes[:, None]),
    ),
    _wrong(
        "heads-last",
        "The heads are the last axis. In scores they stand in front: (heads, queries, keys).",
        lambda slopes, n: right(slopes, n).transpose(1, 2, 0),
    ),
    _wrong(
        "distance-divided-by-the-length",
        "The distance is divided by the length, so that a neighbour is nearer in a long sentence "
        "than in a short one. One step is one step: |i − j|.",
        lambda slopes, n: right(slopes, n) / n,
        lambda slopes, n: right(slopes, n) / (n - 1),
    ),
    _wrong(
        "distance-squared",
        "The distance is squared, or its root is taken. It falls in a straight line: each step "
        "costs m.",
        _of_offsets(lambda o: o**2),
        _of_offsets(lambda o: np.sqrt(np.abs(o))),
    ),
    _wrong(
        "distance-off-by-one",
        "The distances are one too large or one too small. The query's own key is at distance 0, "
        "its neighbour at 1.",
        _of_offsets(lambda o: np.abs(o) + 1),
        _of_offsets(lambda o: (np.abs(o) - 1).clip(min=0)),
        _of_offsets(lambda o: np.abs(o) - 1),
    ),
)

ALIBI = FunctionExercise(
    id="ch8-alibi",
    title="A bias for the distance",
    link="ch8-alibi",
    call="alibi(slopes, n)",
    results=("bias",),
    sections=SECTIONS,
    right=right,
    trials=tuple(
        Trial(f"{len(slopes)} heads, {n} tokens", {"slopes": np.array(slopes), "n": n})
        for slopes, n in [
            ([0.9], 3),
            ([0.5, 0.25], 2),
            ([0.6, 0.1], 3),
            ([0.9, 0.2], 4),
            ([0.8, 0.3, 0.05], 3),
            ([0.4, 0.15, 0.7], 5),
        ]
    ),
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (ALIBI,)
