"""Attention in NumPy, right and wrong in every way that has a name.

The wrong ones are the references that recorded answers are compared with.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def softmax(scores: np.ndarray, axis: int | None = -1) -> np.ndarray:
    """Softmax over one axis, or over everything."""
    powers = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def scores_of(query: np.ndarray, key: np.ndarray) -> np.ndarray:
    return query @ key.swapaxes(-2, -1)


def scaled(query: np.ndarray, key: np.ndarray) -> np.ndarray:
    return scores_of(query, key) / np.sqrt(query.shape[-1])


def right(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    weights = softmax(scaled(query, key))
    return weights @ value, weights


def with_scale(scale: Callable) -> Callable:
    """Attention with another factor in front of the scores."""

    def wrong(query, key, value):
        weights = softmax(scores_of(query, key) * scale(query, key, value))
        return weights @ value, weights

    return wrong


def with_weights(make: Callable, scores: Callable = scaled) -> Callable:
    """Attention with something else in place of the softmax."""

    def wrong(query, key, value):
        weights = make(scores(query, key))
        return weights @ value, weights

    return wrong


def with_results(change: Callable) -> Callable:
    """Right weights, but something else is made of them: change(weights, query, key, value)."""
    return lambda q, k, v: change(softmax(scaled(q, k)), q, k, v)


def without_keepdims(max_kept: bool, sum_kept: bool) -> Callable:
    def make(scores):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=max_kept))
        return powers / powers.sum(axis=-1, keepdims=sum_kept)

    return with_weights(make)


def softmax_with(max_axis: int | None, sum_axis: int | None) -> Callable:
    """The maximum taken over one axis (None: over everything), the sum over another."""

    def make(scores):
        powers = np.exp(scores - scores.max(axis=max_axis, keepdims=True))
        return powers / powers.sum(axis=sum_axis, keepdims=True)

    return with_weights(make)


def causal(offset: Callable) -> Callable:
    def make(scores):
        visible = np.tril(np.ones(scores.shape, bool), offset(*scores.shape))
        return softmax(np.where(visible, scores, -1e9))

    return with_weights(make)


def cosine(query, key):
    norms = np.linalg.norm(query, axis=-1)[:, None] * np.linalg.norm(key, axis=-1)
    return scores_of(query, key) / norms


def after_softmax(query, key, value):
    weights = softmax(scores_of(query, key)) / np.sqrt(query.shape[-1])
    return weights @ value, weights


def output_scaled(query, key, value):
    weights = softmax(scores_of(query, key))
    return weights @ value / np.sqrt(query.shape[-1]), weights


def swapped_roles(back: bool) -> Callable:
    def wrong(query, key, value):
        weights = softmax(scaled(key, query))
        return (weights.T if back else weights) @ value, weights

    return wrong
