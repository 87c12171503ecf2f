"""Inputs on which every wrong way to attend shows, and what they show by shape or by nan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnkit.checks._engine import Seen, Trial


def results_swapped(trials: Sequence[Seen]) -> bool:
    swapped = all(
        seen.returned
        and seen.got["output"].shape == seen.expected["weights"].shape
        and seen.got["weights"].shape == seen.expected["output"].shape
        for seen in trials
    )
    return swapped and not all(seen.shaped for seen in trials)


def breaks_only_on_large(trials: Sequence[Seen]) -> bool:
    """Right on ordinary scores; on large ones right too, or not finite, or it raises."""
    large = _large(trials)
    return (
        all(seen.right for seen in trials if seen.trial.compared)
        and all(seen.right or not seen.returned or _not_finite(seen).any() for seen in large)
        and not all(seen.right for seen in large)
    )


def one_maximum(trials: Sequence[Seen]) -> bool:
    """Large scores break some rows and not others, and a single row never."""
    rows = [_not_finite(seen) for seen in _large(trials) if seen.shaped]
    single = [row.any() for row in rows if len(row) == 1]
    return (
        breaks_only_on_large(trials)
        and any(row.any() and not row.all() for row in rows)
        and not any(single)
    )


def finite_but_wrong_on_large(trials: Sequence[Seen]) -> bool:
    """Right on ordinary scores; on large ones numbers come out, but not the weights."""
    return all(seen.right for seen in trials if seen.trial.compared) and any(
        seen.shaped and not seen.right and not _not_finite(seen).any() for seen in _large(trials)
    )


def _large(trials: Sequence[Seen]) -> list[Seen]:
    return [seen for seen in trials if not seen.trial.compared]


def _not_finite(seen: Seen) -> np.ndarray:
    """For each row of the weights, whether something in it is not finite."""
    finite = np.isfinite(seen.got.get("weights", np.zeros((1, 1))))
    return ~np.asarray(finite.all(axis=-1))


def _trial(name: str, n_q: int, n_k: int, d_key: int, d_value: int, *batch: int) -> Trial:
    draw = np.random.default_rng(10).normal
    shapes = {"query": (n_q, d_key), "key": (n_k, d_key), "value": (n_k, d_value)}
    inputs = {key: draw(0, 1.2, batch + shape).round(1) for key, shape in shapes.items()}
    return Trial(name, inputs, required=not batch)


TRIALS = (
    _trial("two queries, two keys, one number each", 2, 2, 1, 1),
    Trial(
        "one query, two keys",
        {
            "query": np.array([[2.0, 0.0, 1.0, 0.0]]),
            "key": np.array([[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0]]),
            "value": np.array([[10.0], [20.0]]),
        },
    ),
    _trial("as many keys as value columns", 2, 3, 5, 3),
    _trial("values as long as keys", 3, 2, 5, 5),
    _trial("all sizes differ", 2, 3, 5, 7),
    Trial(
        "large scores",
        {
            "query": np.array([[40.0], [-40.0]]),
            "key": np.array([[50.0], [50.05]]),
            "value": np.array([[10.0], [20.0]]),
        },
        compared=False,
    ),
    # Here only the row's own maximum helps, not its mean, its least or its first score.
    Trial(
        "large scores far apart",
        {
            "query": np.array([[40.0]]),
            "key": np.array([[-50.0], [50.0], [49.95]]),
            "value": np.array([[10.0], [20.0], [30.0]]),
        },
        compared=False,
    ),
    _trial("extra axes", 3, 5, 2, 7, 2, 3),
)
