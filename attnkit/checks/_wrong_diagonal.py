"""Weights on a diagonal, averaged in ways that have a name: (…, heads, T, T) → (…, heads)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def diagonal(weights: np.ndarray, offset: int) -> np.ndarray:
    """A[i, i + offset] for all i that have such a key."""
    return np.diagonal(weights, offset, -2, -1)


def mean(values: np.ndarray) -> np.ndarray:
    """Mean over the last axis; nan when it is empty, as NumPy and PyTorch have it."""
    length = values.shape[-1]
    return values.sum(axis=-1) / length if length else np.full(values.shape[:-1], np.nan)


def looks_back(weights: np.ndarray, places: int, first: int, last: int | None = None) -> np.ndarray:
    """A[i, i − places] for i from first up to last, or to the end."""
    rows = np.arange(first, weights.shape[-1] if last is None else last)
    return weights[..., rows, rows - places]


def largest_at(weights: np.ndarray, places: int, first: int) -> np.ndarray:
    """1 for each row from first on whose largest weight lies that many places back."""
    rows = np.arange(first, weights.shape[-1])
    return weights[..., first:, :].argmax(axis=-1) == rows - places


def distance(length: int) -> np.ndarray:
    """How far key j lies before query i, (T, T)."""
    places = np.arange(length)
    return places[:, None] - places


def rolled(weights: np.ndarray, places: int) -> np.ndarray:
    """The main diagonal after the keys were moved round in a circle."""
    return mean(diagonal(np.roll(weights, places, axis=-1), 0))


def mass(where: Callable[[np.ndarray], np.ndarray], first: int) -> Callable:
    """The weight of all keys whose distance is wanted, averaged over the rows from first on."""

    def wrong(weights):
        wanted = np.where(where(distance(weights.shape[-1])), weights, 0)
        return mean(wanted.sum(axis=-1)[..., first:])

    return wrong


def first_axes(weights: np.ndarray, offset: int) -> np.ndarray:
    """The diagonal of heads × queries: what diagonal(offset) takes when no axes are named."""
    return mean(np.diagonal(weights, offset))
