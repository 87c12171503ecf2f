"""Normalised entropy of heads, right and wrong in every way that has a name.

The arguments are always (weights, mask): (..., heads, T_q, T_k) and (T_q, T_k), True = may attend.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def entropies(weights: np.ndarray, axis: int = -1) -> np.ndarray:
    """−Σ w ln w, with 0 for a weight of 0."""
    return -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=axis)


def keys_of(mask: np.ndarray) -> np.ndarray:
    return mask.sum(axis=-1)


def largest(count: np.ndarray) -> np.ndarray:
    """ln n, and ln 2 where n is less than 2: such rows are left out, or have an entropy of 0."""
    return np.log(np.maximum(count, 2))


def mean_where(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Mean over the last axis of the counted ones; nan when there is none."""
    total, number = np.where(counted, values, 0).sum(axis=-1), counted.sum()
    return total / number if number else np.full(total.shape, np.nan)


def per_row(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """The mean of change(entropy, visible keys) over the rows with two keys or more."""

    def wrong(weights, mask):
        count = keys_of(mask)
        return mean_where(change(entropies(weights), count), count >= 2)

    return wrong


right = per_row(lambda entropy, count: entropy / largest(count))


def over_all_rows(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """The mean of change(entropy, visible keys) over every row."""
    return lambda weights, mask: change(entropies(weights), keys_of(mask)).mean(axis=-1)


def divided(measure: Callable[[np.ndarray], int], *, every_row: bool) -> Callable:
    """By the logarithm of one number for all rows: measure(mask)."""

    def wrong(weights, mask):
        average = over_all_rows if every_row else per_row
        number = measure(mask)
        return average(lambda entropy, count: entropy / np.log(max(number, 2)))(weights, mask)

    return wrong


def counted_by(count: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """count(weights, mask) in place of the number of visible keys, (heads, T_q)."""

    def wrong(weights, mask):
        number = np.broadcast_to(count(weights, mask), weights.shape[:-1])
        shares = entropies(weights) / largest(number)
        means = [
            mean_where(share, n >= 2)
            for share, n in zip(
                shares.reshape(-1, shares.shape[-1]),
                number.reshape(-1, shares.shape[-1]),
                strict=True,
            )
        ]
        return np.array(means).reshape(shares.shape[:-1])

    return wrong


def one_key_rows_as(number: float) -> Callable:
    """Rows with one key take part in the mean with this number."""
    return over_all_rows(
        lambda entropy, count: np.where(count < 2, number, entropy / largest(count))
    )


def of_totals(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """One quotient: the mean entropy by the mean of ln n."""
    return entropies(weights).sum(axis=-1) / np.log(np.maximum(keys_of(mask), 1)).sum()


def by_log_of_the_mean(*, every_row: bool) -> Callable:
    def wrong(weights, mask):
        entropy, count = entropies(weights), keys_of(mask)
        rows = count >= (0 if every_row else 2)
        return mean_where(entropy, rows) / np.log(mean_where(count, rows))

    return wrong


def by_mean_of_logarithms(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The mean entropy of all rows by the mean of ln n over the rows with a choice."""
    count = keys_of(mask)
    return entropies(weights).mean(axis=-1) / np.log(count[count >= 2]).mean()


def as_if_causal(count: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """The first row left out, and count(mask) keys for the others, whatever the mask says."""

    def wrong(weights, mask):
        shares = entropies(weights)[..., 1:] / largest(count(mask)[1:])
        return shares.mean(axis=-1)

    return wrong


def over_queries(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """As if each key shared out a sum of 1 among the queries that see it."""
    return right(weights.swapaxes(-1, -2), mask.T)


def over_queries_by_keys(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Entropies of the columns by the numbers of the rows: fits square maps only."""
    count = keys_of(mask)
    return mean_where(entropies(weights, axis=-2) / largest(count), count >= 2)


def averaged_first(*, visible: bool) -> Callable:
    """The entropy of one row: the mean of all."""

    def wrong(weights, mask):
        rows = keys_of(mask) >= (2 if visible else 0)
        mean = weights[..., rows, :].sum(axis=-2) / max(rows.sum(), 1)
        return entropies(mean) / np.log(mask.shape[1])

    return wrong


def whole_map(cells: Callable[[np.ndarray], int], *, shared: bool) -> Callable:
    """One entropy for all cells together, perhaps after they were made to sum to 1."""

    def wrong(weights, mask):
        flat = weights.reshape(*weights.shape[:-2], -1)
        flat = flat / flat.sum(axis=-1, keepdims=True) if shared else flat
        return entropies(flat) / np.log(cells(mask))

    return wrong


def by_its_own_largest(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    entropy = entropies(weights)
    return per_row(lambda e, count: e / entropy.max(axis=-1, keepdims=True))(weights, mask)
