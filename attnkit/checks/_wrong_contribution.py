"""‖α v W_O‖, right and wrong in every way that has a name.

The arguments are always (weights, value, output_weight): (heads, T_q, T_k), (heads, T_k, d_head)
and (d_model, heads · d_head), as nn.Linear stores it. Results are (heads, T_q, T_k).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def length(vectors: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors, axis=-1)


def columns(output_weight: np.ndarray, heads: int) -> np.ndarray:
    """The block of each head, (heads, d_head, d_model): its columns, turned over."""
    return output_weight.T.reshape(heads, -1, len(output_weight))


def interleaved(output_weight: np.ndarray, heads: int) -> np.ndarray:
    """Every so-many-th column."""
    return np.stack([output_weight[:, head::heads].T for head in range(heads)])


def rows(output_weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows in place of columns, as they stand."""
    d_head = output_weight.shape[1] // heads
    return np.stack([output_weight[h * d_head :][:d_head] for h in range(heads)])


def in_memory_order(output_weight: np.ndarray, heads: int) -> np.ndarray:
    """Reshaped into the right shape without being turned over."""
    return output_weight.reshape(heads, -1, len(output_weight))


def in_memory_order_turned(output_weight: np.ndarray, heads: int) -> np.ndarray:
    return output_weight.reshape(heads, len(output_weight), -1).swapaxes(1, 2)


def reversed_heads(output_weight: np.ndarray, heads: int) -> np.ndarray:
    return columns(output_weight, heads)[::-1]


def first_head(output_weight: np.ndarray, heads: int) -> np.ndarray:
    return np.repeat(columns(output_weight, heads)[:1], heads, axis=0)


def written(value: np.ndarray, output_weight: np.ndarray, cut: Callable = columns) -> np.ndarray:
    """v W_O of each head and key, (heads, T_k, d_model)."""
    return value @ cut(output_weight, len(value))


def with_blocks(cut: Callable) -> Callable:
    """Other blocks of W_O than the columns of the head."""

    def contributions(weights, value, output_weight):
        return weights * length(written(value, output_weight, cut))[:, None]

    return contributions


right = with_blocks(columns)


def measured(size: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """Another size than the length: size(α v W_O)."""

    def wrong(weights, value, output_weight):
        return size(weights[..., None] * written(value, output_weight)[:, None])

    return wrong


def value_only(size: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """α times the length of v alone, times size(blocks, values)."""

    def wrong(weights, value, output_weight):
        blocks = columns(output_weight, len(value))
        return weights * (length(value) * size(blocks, value))[:, None]

    return wrong


def every_head_the_whole(weights: np.ndarray, value: np.ndarray, output_weight: np.ndarray):
    """The values of a head, once for each block of the whole of W_O."""
    repeated = np.tile(value, len(value))
    return weights * length(repeated @ output_weight.T)[:, None]


def joined(value: np.ndarray, output_weight: np.ndarray) -> np.ndarray:
    """The values of all heads side by side, through the whole of W_O: (T_k, d_model)."""
    return np.concatenate(list(value), axis=1) @ output_weight.T


def of_the_query(weights: np.ndarray, value: np.ndarray, output_weight: np.ndarray) -> np.ndarray:
    """The value of the query in place of that of the key: fits square maps only."""
    return weights * length(written(value, output_weight))[..., None]
