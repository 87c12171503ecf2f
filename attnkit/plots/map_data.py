"""What an attention map shows: weights, what is blocked, and blocks where it is long."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from attnkit.weights import read_mask, read_tokens, read_weights

#: A map of more queries or keys than this is drawn in blocks.
LONGEST = 128
#: Where no weight is larger than this, the picture says how large the largest is.
SMALL = 0.25


class Map(NamedTuple):
    """One attention map as it was given: NumPy arrays ``(queries, keys)`` and its tokens."""

    weights: np.ndarray
    #: True = may attend, or None.
    mask: np.ndarray | None
    queries: list[str]
    keys: list[str]


class Cells(NamedTuple):
    """What is drawn of a map: a value for each cell, blocked cells masked."""

    values: np.ma.MaskedArray
    #: Rows, of those drawn, whose queries may all see nothing.
    nothing: np.ndarray
    #: Queries and keys per cell; ``(1, 1)`` where each weight is drawn.
    block: tuple[int, int]


def read_maps(
    weights: Any, query_tokens: Any, key_tokens: Any, mask: Any, axes: tuple[str, ...]
) -> tuple[np.ndarray, list[Map]]:
    """All maps of the weights, the last leading axis fastest, and the weights with ``axes``."""
    read = read_weights(weights, axes=axes, mask=mask)
    n_queries, n_keys = read.shape[-2:]
    queries = read_tokens(query_tokens, n_queries, name="query_tokens")
    if key_tokens is None and n_queries == n_keys:
        key_tokens = queries
    keys = read_tokens(key_tokens, n_keys, name="key_tokens")
    array = read.numpy()
    flat = array.reshape(-1, n_queries, n_keys)
    masks: list[np.ndarray | None] = [None] * len(flat)
    if mask is not None:
        masks = list(read_mask(mask, read.shape).numpy().reshape(flat.shape))
    return array, [Map(w, m, queries, keys) for w, m in zip(flat, masks, strict=True)]


def cells_of(drawn: Map) -> Cells:
    """Each weight, or of a long map the share that the queries of a block give to a block of keys.

    That is the mean over the queries and the sum over the keys: the rows still sum to 1, and the
    colour still says which share of its attention a query gives. A mean over the keys would make
    the lines of a long map fade, the largest weight would make a scattered map look full.
    """
    weights, mask = drawn.weights, drawn.mask
    may = np.ones_like(weights, dtype=bool) if mask is None else mask
    sees: np.ndarray = np.asarray((weights if mask is None else mask).any(-1))
    block = (math.ceil(weights.shape[0] / LONGEST), math.ceil(weights.shape[1] / LONGEST))
    if block != (1, 1):
        count = np.maximum(_sum(sees.astype(float), block[0], 0), 1)
        weights = _sum(_sum(weights.astype(float), block[1], 1), block[0], 0) / count[:, None]
        may = _sum(_sum((may & sees[:, None]).astype(float), block[1], 1), block[0], 0) > 0
        sees = _sum(sees.astype(float), block[0], 0) > 0
    blocked = ~(may & sees[:, None])
    return Cells(np.ma.masked_array(weights, blocked), ~sees, block)


def mean_of_blocks(values: np.ndarray, block: tuple[int, int]) -> np.ndarray:
    """The mean of each block, the last ones of what there is."""
    whole = np.ones_like(values, dtype=float)
    sums, counts = (_sum(_sum(v, block[1], 1), block[0], 0) for v in (values.astype(float), whole))
    return sums / counts


def _sum(values: np.ndarray, block: int, axis: int) -> np.ndarray:
    return np.add.reduceat(values, np.arange(0, values.shape[axis], block), axis=axis)
