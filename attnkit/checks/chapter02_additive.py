"""Exercise ch2-additive: additive attention in NumPy."""

from __future__ import annotations

import numpy as np

from attnkit.checks import _wrong_additive as ad
from attnkit.checks._additive_scores import SCORES
from attnkit.checks._additive_weights import WEIGHTS
from attnkit.checks._engine import FunctionExercise, Trial
from attnkit.checks.chapter02_temperature import SECTIONS


def _trial(name: str, n_q: int, n_k: int, d_q: int, d_k: int, d_v: int, d_h: int, *batch: int):
    draw = np.random.default_rng(4).normal
    shapes = {
        "query": (*batch, n_q, d_q), "key": (*batch, n_k, d_k), "value": (*batch, n_k, d_v),
        "W_q": (d_h, d_q), "W_k": (d_h, d_k), "v": (d_h,),
    }  # fmt: skip
    inputs = {key: draw(0, 1.2, shape).round(1) for key, shape in shapes.items()}
    return Trial(name, inputs, required=not batch)


def _large(name: str, query: list[float], key: list[float]) -> Trial:
    inputs = {
        "query": np.array(query)[:, None],
        "key": np.array(key)[:, None],
        "value": np.array([10.0, 20.0, 30.0][: len(key)])[:, None],
        "W_q": np.eye(1), "W_k": np.eye(1), "v": np.array([3000.0]),
    }  # fmt: skip
    return Trial(name, inputs, compared=False)


TRIALS = (
    _trial("two queries, two keys, one number each", 2, 2, 1, 1, 1, 1),
    _trial("one query, two keys", 1, 2, 1, 2, 1, 2),
    _trial("queries as long as keys", 2, 3, 2, 2, 1, 2),
    _trial("as many keys as value columns", 2, 3, 2, 1, 3, 2),
    _trial("values as long as keys", 2, 3, 1, 2, 2, 3),
    _trial("all sizes differ", 3, 5, 2, 7, 11, 13),
    _large("large scores", [0.5, -2.0], [0.2, 0.2003]),
    # Here only the row's own maximum helps, not its mean, its least or its first score.
    _large("large scores far apart", [0.0], [-50.0, 0.5, 0.5002]),
    _trial("extra axes", 3, 5, 2, 7, 11, 13, 2, 3),
)

EXERCISES = (
    FunctionExercise(
        id="ch2-additive",
        title="Additive attention in NumPy",
        link="ch2-module",
        call="additive_attention(query, key, value, W_q, W_k, v)",
        trials=TRIALS,
        right=ad.right,
        results=("output", "weights"),
        misconceptions=(*WEIGHTS[:1], *SCORES, *WEIGHTS[1:]),
        sections=SECTIONS,
    ),
)
