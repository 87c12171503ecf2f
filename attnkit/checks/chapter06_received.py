"""Exercise ch6-received: how much attention a key gets from those who may look at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Seen, Trial
from attnkit.checks.chapter06_claims import SECTIONS


def _right(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    total, count = np.where(mask, weights, 0).sum(axis=0), mask.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _divided(count: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """The column sums divided by count(weights, mask)."""
    return lambda weights, mask: weights.sum(axis=0) / count(weights, mask)


def _uniform(mask: np.ndarray) -> np.ndarray:
    return mask / mask.sum(axis=1, keepdims=True)


def _others(mask: np.ndarray) -> np.ndarray:
    """Without the cell in which a query meets its own position."""
    n_queries, n_keys = mask.shape
    return mask & ~np.eye(n_queries, n_keys, n_keys - n_queries, dtype=bool)


def _filled_in(trials: Sequence[Seen]) -> bool:
    """Right for every key that is seen, and a number for one that is not."""

    def filled(seen: Seen) -> bool:
        if not seen.shaped:
            return False
        expected = seen.expected["received"]
        got = seen.got["received"].reshape(expected.shape).astype(np.float64)
        known = ~np.isnan(expected)
        near = np.allclose(got[known], expected[known], 1e-2, 1e-2)
        return near and bool(np.isfinite(got).all())

    return all(seen.right or filled(seen) for seen in trials) and not all(
        seen.right for seen in trials
    )


def _trial(name: str, weights: list, mask: list[str], compared: bool = True) -> Trial:
    allowed = np.array([[letter == "x" for letter in row] for row in mask])
    return Trial(name, {"weights": np.array(weights), "mask": allowed}, compared)


_TRIALS = (
    _trial("two tokens, causal", [[1.0, 0.0], [0.25, 0.75]], ["x.", "xx"]),
    _trial(
        "a key that no query may attend to",
        [[0.7, 0.3, 0.0], [0.4, 0.6, 0.0]],
        ["xx.", "xx."],
        compared=False,
    ),
    _trial("two queries, three keys", [[0.5, 0.5, 0.0], [0.2, 0.7, 0.1]], ["xx.", "xxx"]),
    _trial(
        "a weight of 0 that is allowed",
        [[1.0, 0.0, 0.0], [0.6, 0.4, 0.0], [0.0, 0.1, 0.9]],
        ["x..", "xx.", "xxx"],
    ),
    _trial(
        "four queries, three keys",
        [[0.3, 0.7, 0.0], [0.0, 0.4, 0.6], [0.15, 0.05, 0.8], [0.9, 0.0, 0.1]],
        ["xx.", ".xx", "xxx", "xxx"],
    ),
    _trial(
        "five keys, a window",
        [
            [0.55, 0.45, 0.0, 0.0, 0.0],
            [0.1, 0.6, 0.3, 0.0, 0.0],
            [0.0, 0.25, 0.05, 0.7, 0.0],
            [0.0, 0.0, 0.85, 0.0, 0.15],
        ],
        ["xx...", "xxx..", ".xxx.", "..xxx"],
    ),
)

MISCONCEPTIONS = (
    Misconception(
        "column-sum",
        "This is the sum of each column. Under a causal mask an early key is seen by more queries, "
        "and its sum grows with their number: divide by how many may attend to it.",
        "ch6-received",
        (lambda w, m: w.sum(axis=0),),
    ),
    Misconception(
        "mean-over-all-queries",
        "The sum is divided by the number of all queries. Those that may not attend to the key "
        "pull its mean down: count the allowed ones of each column.",
        "ch6-received",
        (lambda w, m: w.mean(axis=0),),
    ),
    Misconception(
        "row-mean",
        "This is a mean along the row. A row sums to 1 whatever the head does, so its mean says "
        "how many keys there are; what a key receives stands in its column.",
        "ch6-received",
        (
            lambda w, m: w.mean(axis=1),
            lambda w, m: w.sum(axis=1) / m.sum(axis=1),
            lambda w, m: w.sum(axis=1),
        ),
    ),
    Misconception(
        "zero-weights-not-counted",
        "Queries whose weight is 0 are left out of the mean. They were allowed to look and did "
        "not: count with the mask, not with weights > 0.",
        "ch6-blocked",
        (
            _divided(lambda w, m: (w > 0).sum(axis=0)),
            lambda w, m: np.nanmean(np.where(w > 0, w, np.nan), axis=0),
        ),
    ),
    Misconception(
        "polarity-flipped",
        "The queries that may not attend to the key are counted, or added up. True = may attend.",
        "ch6-blocked",
        (
            _divided(lambda w, m: (~m).sum(axis=0)),
            lambda w, m: (w * ~m).sum(axis=0),
            lambda w, m: (w * ~m).sum(axis=0) / (~m).sum(axis=0),
            lambda w, m: _right(w, ~m),
        ),
    ),
    Misconception(
        "divided-by-the-keys",
        "The sum of a column is divided by a number of keys. It adds up queries, so that queries "
        "have to be counted.",
        "ch6-axes",
        (
            _divided(lambda w, m: m.sum(axis=1)),
            _divided(lambda w, m: np.array(w.shape[1])),
        ),
    ),
    Misconception(
        "largest-weight",
        "This is the largest weight that any query gives. One look of one query is not what the "
        "key receives on average.",
        "ch6-received",
        (lambda w, m: w.max(axis=0),),
    ),
    Misconception(
        "normalised",
        "The results were divided by their sum. Each is a mean weight by itself, and together "
        "they need not make 1.",
        "ch6-received",
        (
            lambda w, m: _right(w, m) / np.nansum(_right(w, m)),
            lambda w, m: _right(w, m) / np.nanmax(_right(w, m)),
        ),
    ),
    Misconception(
        "own-token-left-out",
        "The weight that a token gives to itself is left out. It may attend to itself, so it "
        "counts like the others.",
        "ch6-received",
        (
            lambda w, m: _right(w, _others(m)),
            lambda w, m: np.nan_to_num(_right(w, _others(m))),
            lambda w, m: (w * _others(m)).sum(axis=0) / m.sum(axis=0),
        ),
    ),
    Misconception(
        "compared-with-uniform",
        "This is what the key receives in units of a head that attends uniformly. A good baseline, "
        "and not the mean weight that is asked for.",
        "ch6-received",
        (
            _divided(lambda w, m: _uniform(m).sum(axis=0)),
            lambda w, m: (w * m.sum(axis=1, keepdims=True)).sum(axis=0) / m.sum(axis=0),
        ),
    ),
    Misconception(
        "mask-for-weights",
        "This comes from the mask alone: it says who may look, not who does.",
        "ch6-received",
        (
            lambda w, m: m.sum(axis=0),
            lambda w, m: m.mean(axis=0),
            lambda w, m: 1 / m.sum(axis=0),
            lambda w, m: _uniform(m).sum(axis=0),
            lambda w, m: _uniform(m).mean(axis=0),
        ),
    ),
    Misconception(
        "one-number",
        "This is one number for the whole map. Each key has its own: keep the axis of the keys.",
        "ch6-axes",
        (
            lambda w, m: w.sum() / m.sum(),
            lambda w, m: w[m].mean(),
            lambda w, m: w.mean(),
            lambda w, m: np.nanmean(_right(w, m)),
        ),
    ),
    Misconception(
        "a-number-for-unseen-keys",
        "Right for every key that some query may attend to. For a key that none may see there is "
        "no mean: 0 would say that nobody wanted to look. Return nan.",
        "ch6-blocked",
        (
            lambda w, m: np.nan_to_num(_right(w, m)),
            lambda w, m: np.where(m, w, 0).sum(axis=0) / np.maximum(m.sum(axis=0), 1),
            lambda w, m: w.sum(axis=0) / (m.sum(axis=0) + 1e-9),
        ),
        when=_filled_in,
    ),
)

RECEIVED = FunctionExercise(
    id="ch6-received",
    title="Attention received",
    link="ch6-received",
    call="attention_received(weights, mask)",
    results=("received",),
    sections=SECTIONS,
    right=_right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
)

EXERCISES = (RECEIVED,)
