"""Names for what can go wrong on the way to the scores of additive attention."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_additive as ad
from attnkit.checks._engine import Misconception


def _wrong(name: str, link: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, link, wrong)


SCORES = (
    _wrong(
        "no-tanh",
        "ch2-module",
        "The tanh around the sum is missing. Then the score is a part for the query plus one for "
        "the key; the query's part cancels in the softmax, and all queries attend alike.",
        ad.with_pairs(lambda q, k, v: (q + k) @ v),
        ad.with_pairs(lambda q, k, v: (np.tanh(q) + k) @ v),
    ),
    _wrong(
        "tanh-after-v",
        "ch2-module",
        "The tanh comes after the product with v: the score is tanh(v·(…)), and no score can leave "
        "(−1, 1). The tanh belongs to each hidden component, before v adds them up.",
        ad.with_pairs(lambda q, k, v: np.tanh((q + k) @ v)),
    ),
    _wrong(
        "v-inside-tanh",
        "ch2-module",
        "v is multiplied in before the tanh. It weighs what comes out of it: v·tanh(…).",
        ad.with_pairs(lambda q, k, v: np.tanh((q + k) * v).sum(axis=-1)),
    ),
    _wrong(
        "tanh-before-the-sum",
        "ch2-module",
        "The tanh sees the key without the query. Then the query's part, if there is one, cancels "
        "in the softmax, and all queries attend alike: add first, then take the tanh.",
        ad.with_pairs(lambda q, k, v: (np.tanh(q) + np.tanh(k)) @ v),
        ad.with_pairs(lambda q, k, v: np.tanh(k + 0 * q) @ v),
    ),
    _wrong(
        "another-nonlinearity",
        "ch2-module",
        "Something bends the hidden layer, but it is not the tanh.",
        ad.with_pairs(lambda q, k, v: np.maximum(q + k, 0) @ v),
        ad.with_pairs(lambda q, k, v: (1 / (1 + np.exp(-(q + k)))) @ v),
    ),
    _wrong(
        "product-for-sum",
        "ch2-module",
        "Projected query and key are multiplied. In additive attention they are added, and the "
        "tanh lets them interact.",
        ad.with_pairs(lambda q, k, v: np.tanh(q * k) @ v),
        ad.with_pairs(lambda q, k, v: (q * k) @ v),
    ),
    _wrong(
        "dot-product-for-additive",
        "ch2-module",
        "The score is a dot product of projected query and key. The additive one adds them, takes "
        "the tanh and multiplies by v.",
        ad.with_pairs(lambda q, k, v: (q * k).sum(axis=-1)),
        ad.with_pairs(lambda q, k, v: (q * k).sum(axis=-1) / np.sqrt(len(v))),
    ),
    _wrong(
        "difference-for-sum",
        "ch2-module",
        "The key is subtracted from the query, or the other way round. They are added.",
        ad.with_pairs(lambda q, k, v: np.tanh(q - k) @ v),
        ad.with_pairs(lambda q, k, v: np.tanh(k - q) @ v),
    ),
    _wrong(
        "v-missing",
        "ch2-module",
        "The hidden components are summed or averaged, all alike. v weighs them: tanh(…) @ v.",
        ad.with_pairs(lambda q, k, v: np.tanh(q + k).sum(axis=-1)),
        ad.with_pairs(lambda q, k, v: np.tanh(q + k).mean(axis=-1)),
    ),
    _wrong(
        "projections-swapped",
        "ch2-module",
        "W_q and W_k have changed places. As soon as queries and keys differ in length, the sizes "
        "do not even fit.",
        ad.with_projections(lambda query, key, w_q, w_k: (query @ w_k.T, key @ w_q.T)),
    ),
    _wrong(
        "one-projection-for-both",
        "ch2-module",
        "One projection serves both. Queries and keys are different things, here even of different "
        "length: each has its own.",
        ad.with_projections(lambda query, key, w_q, w_k: (query @ w_q.T, key @ w_q.T)),
        ad.with_projections(lambda query, key, w_q, w_k: (query @ w_k.T, key @ w_k.T)),
    ),
    _wrong(
        "projection-not-transposed",
        "ch2-module",
        "W_q and W_k have one row for each hidden component, as nn.Linear stores them: query @ "
        "W_q.T. Untransposed they fit only where the sizes happen to be equal.",
        ad.with_projections(lambda query, key, w_q, w_k: (query @ w_q, key @ w_k)),
        ad.with_projections(lambda query, key, w_q, w_k: (query @ w_q, key @ w_k.T)),
        ad.with_projections(lambda query, key, w_q, w_k: (query @ w_q.T, key @ w_k)),
    ),
    _wrong(
        "new-axis-missing",
        "ch2-module",
        "Query i is added to key i only. Every query meets every key: query[:, None] + key[None] "
        "gives (T_q, T_k, d_hidden).",
        ad.without_new_axis,
    ),
    _wrong(
        "scaled",
        "ch2-scores",
        "The scores are scaled. Additive attention has no scale: the tanh keeps every component "
        "within ±1, and v learns the size.",
        ad.with_scale(lambda query, key, value, v: 1 / np.sqrt(len(v))),
        ad.with_scale(lambda query, key, value, v: 1 / len(v)),
        ad.with_scale(lambda query, key, value, v: 1 / np.sqrt(key.shape[1])),
        ad.with_scale(lambda query, key, value, v: 1 / np.sqrt(query.shape[1])),
    ),
)
