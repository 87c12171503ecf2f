"""Maps made smaller block by block, right and wrong in every way that has a name.

The arguments are always (weights, block), the last block of an axis may be smaller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def _starts(length: int, block: int) -> range:
    return range(0, length, block)


def by_block(cell: Callable[[np.ndarray], object]) -> Callable:
    """One number for each block: cell(block of the map)."""

    def shrink(weights, block):
        rows, columns = (_starts(length, block) for length in weights.shape)
        cells = [[cell(weights[i : i + block, j : j + block]) for j in columns] for i in rows]
        return np.array(cells, dtype=np.float64)

    return shrink


right = by_block(lambda part: part.sum(axis=1).mean())
mean_of_both = by_block(np.mean)
sum_of_both = by_block(np.sum)
largest = by_block(np.max)


def renormalised(shrink: Callable) -> Callable:
    """Divided by the sums of the rows afterwards."""

    def wrong(weights, block):
        small = shrink(weights, block)
        return small / small.sum(axis=1, keepdims=True)

    return wrong


def share_of_everything(weights: np.ndarray, block: int) -> np.ndarray:
    return sum_of_both(weights, block) / weights.sum()


def whole_blocks(shrink: Callable, *, rows: bool = True, columns: bool = True) -> Callable:
    """Without what is left over at the end of an axis."""

    def wrong(weights, block):
        n_rows, n_columns = (length - length % block for length in weights.shape)
        cut = weights[: n_rows if rows else None, : n_columns if columns else None]
        return shrink(cut, block)

    return wrong


def padded(mode: str, **rest: object) -> Callable:
    """Filled up to whole blocks first."""

    def wrong(weights, block):
        more = [(0, -length % block) for length in weights.shape]
        return right(np.pad(weights, more, mode=mode, **rest), block)  # type: ignore

    return wrong


def reshaped(weights: np.ndarray, block: int) -> np.ndarray:
    """Blocks out of the order of memory; sizes that are no multiples do not fit."""
    n_rows, n_columns = (length // block for length in weights.shape)
    blocks = weights.reshape(n_rows, n_columns, block, block)
    return blocks.sum(axis=3).mean(axis=2)


def even_blocks(weights: np.ndarray, block: int) -> np.ndarray:
    """As many blocks as right, but all of nearly the same size."""
    n_rows, n_columns = (-(-length // block) for length in weights.shape)
    return split_into(weights, n_rows, n_columns)


def split_into(weights: np.ndarray, n_rows: int, n_columns: int) -> np.ndarray:
    strips = [np.array_split(strip, n_columns, axis=1) for strip in np.array_split(weights, n_rows)]
    cells = [[part.sum(axis=1).mean() if part.size else 0.0 for part in row] for row in strips]
    return np.array(cells)


def moving(weights: np.ndarray, block: int) -> np.ndarray:
    """A window that moves on by one cell."""
    windows = np.lib.stride_tricks.sliding_window_view(weights, (block, block))
    return windows.sum(axis=-1).mean(axis=-1)


def square_only(weights: np.ndarray, block: int) -> np.ndarray:
    """The blocks of the queries used for the keys too."""
    starts = _starts(len(weights), block)
    parts = [[weights[i : i + block, j : j + block] for j in starts] for i in starts]
    return np.array([[part.sum(axis=1).mean() for part in row] for row in parts])
