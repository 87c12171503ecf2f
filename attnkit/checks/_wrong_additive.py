"""Additive attention in NumPy, right and wrong in every way that has a name.

The arguments are always (query, key, value, W_q, W_k, v). The wrong ones are the references that
recorded answers are compared with.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks._wrong_attention import softmax


def projected(query, key, w_query, w_key) -> tuple[np.ndarray, np.ndarray]:
    """Query and key in the hidden layer, with the axes for all pairs."""
    return (query @ w_query.T)[..., :, None, :], (key @ w_key.T)[..., None, :, :]


def scores_of(query, key, w_query, w_key, v) -> np.ndarray:
    q, k = projected(query, key, w_query, w_key)
    return np.tanh(q + k) @ v


def right(query, key, value, w_query, w_key, v) -> tuple[np.ndarray, np.ndarray]:
    weights = softmax(scores_of(query, key, w_query, w_key, v))
    return weights @ value, weights


def with_pairs(score: Callable) -> Callable:
    """Something else of every pair: score(q, k, v) of the projected ones, (T_q, T_k, d_hidden)."""

    def wrong(query, key, value, w_query, w_key, v):
        q, k = projected(query, key, w_query, w_key)
        weights = softmax(score(q, k, v))
        return weights @ value, weights

    return wrong


def with_projections(change: Callable) -> Callable:
    """Other projections: change(query, key, W_q, W_k) gives both hidden layers, (T, d_hidden)."""

    def wrong(query, key, value, w_query, w_key, v):
        q, k = change(query, key, w_query, w_key)
        weights = softmax(np.tanh(q[:, None] + k[None]) @ v)
        return weights @ value, weights

    return wrong


def with_weights(make: Callable) -> Callable:
    """Something else in place of the softmax."""

    def wrong(query, key, value, w_query, w_key, v):
        weights = make(scores_of(query, key, w_query, w_key, v))
        return weights @ value, weights

    return wrong


def with_scale(scale: Callable) -> Callable:
    """The scores multiplied by scale(query, key, value, v)."""

    def wrong(query, key, value, w_query, w_key, v):
        scores = scores_of(query, key, w_query, w_key, v) * scale(query, key, value, v)
        weights = softmax(scores)
        return weights @ value, weights

    return wrong


def with_results(change: Callable) -> Callable:
    """Right weights, but something else is made of them: change(weights, scores, *arguments)."""

    def wrong(*arguments):
        scores = scores_of(*arguments[:2], *arguments[3:])
        return change(softmax(scores), scores, *arguments)

    return wrong


def without_keepdims(max_kept: bool, sum_kept: bool) -> Callable:
    def make(scores):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=max_kept))
        return powers / powers.sum(axis=-1, keepdims=sum_kept)

    return with_weights(make)


def without_new_axis(query, key, value, w_query, w_key, v):
    """Query i meets key i only, or one query all keys; other sizes do not fit."""
    weights = softmax(np.tanh(query @ w_query.T + key @ w_key.T) @ v)
    return weights @ value, weights


def swapped_roles(back: bool) -> Callable:
    """The softmax of the table with a row for each key."""

    def wrong(query, key, value, w_query, w_key, v):
        weights = softmax(scores_of(query, key, w_query, w_key, v).T)
        return (weights.T if back else weights) @ value, weights

    return wrong
