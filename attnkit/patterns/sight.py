"""What each query may see, and where it stands: everything about maps but their weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from attnkit import expect
from attnkit.patterns.reading import read_query_mask, read_sight

#: A factor for each key, from its position minus that of the query, ``(T_q, T_k)``.
Linear = Callable[[Tensor], Tensor]
#: Cells of the tables that a sight makes: beside many tokens they would be larger than the weights.
PART = 1 << 18


class Sight:
    """Masks and positions of weights ``(..., T_q, T_k)``.

    What is computed per query has the shape ``(..., T_q)``, where a leading axis is 1 if the masks
    say the same for all of it.
    """

    def __init__(
        self, shape: Sequence[int], mask: Any, query_mask: Any, first_query: Any = None
    ) -> None:
        self.shape = tuple(shape)
        self.mask = read_sight(mask, shape)
        self.query_mask = read_query_mask(query_mask, shape)
        self.given_first = first_query
        if first_query is not None:
            self.given_first = expect.integer("first_query", first_query)

    @cached_property
    def positions(self) -> Tensor:
        """The position of each query among the keys, ``(T_q,)``."""
        n_queries, n_keys = self.shape[-2:]
        first = self.given_first
        if first is None:
            first = n_keys - n_queries
        if first < 0:
            raise ValueError(
                f"the queries cannot be the last of the keys: {n_queries} queries, {n_keys} keys. "
                "Cross-attention? first_query=0 counts queries and keys from 0, each on their own."
            )
        return torch.arange(first, first + n_queries)

    @cached_property
    def cells(self) -> Tensor | None:
        """The mask with all queries and keys, ``(..., T_q, T_k)``."""
        if self.mask is None:
            return None
        return self.mask.expand(*self.mask.shape[:-2], *self.shape[-2:])

    @cached_property
    def n(self) -> Tensor:
        """How many keys each query may see."""
        if self.cells is None:
            lead = (1,) * (len(self.shape) - 2)
            return torch.full((*lead, self.shape[-2]), self.shape[-1])
        return torch.cat([self.cells[..., rows, :].sum(-1) for rows in self.in_parts()], -1)

    @cached_property
    def counted(self) -> Tensor:
        """Which queries count: those of the query mask that may see a key."""
        counted = self.n > 0
        return counted if self.query_mask is None else counted & self.query_mask

    @cached_property
    def first_key(self) -> Tensor:
        """The first key that a counted query may see, ``(...,)``: 0 but for padding on the left."""
        if self.cells is None:
            return torch.zeros((1,) * (len(self.shape) - 2), dtype=torch.long)
        return (self.cells & self.counted[..., None]).any(-2).int().argmax(-1)

    @cached_property
    def first_key_of_all(self) -> int | None:
        """The first key, if it is the same in all maps."""
        keys = self.first_key.unique()
        return int(keys[0]) if len(keys) == 1 else None

    @cached_property
    def shared_mask(self) -> Tensor | None:
        """The mask as ``(T_q, T_k)``, if it is the same for all maps."""
        if self.cells is None or self.cells.shape[:-2].numel() > 1:
            return None
        return self.cells.reshape(self.shape[-2:])

    def reach(self, rows: slice) -> int:
        """How many keys from the first on hold all that some of the queries may see; at least 1."""
        if self.shared_mask is None:
            return self.shape[-1]
        seen = self.shared_mask[rows].any(0).nonzero()
        return int(seen[-1]) + 1 if len(seen) else 1

    def sees(self, key: Tensor) -> Tensor:
        """Whether each query may see its key of ``key``: positions, broadcast to ``(..., T_q)``."""
        exists = (key >= 0) & (key < self.shape[-1])
        if self.cells is None:
            return exists.reshape((1,) * (len(self.shape) - 1 - exists.dim()) + exists.shape)
        lead = torch.broadcast_shapes(self.cells.shape[:-2], key.shape[:-1])
        key = key.clamp(0, self.shape[-1] - 1).expand(*lead, self.shape[-2])[..., None]
        return self.cells.expand(*lead, *self.shape[-2:]).gather(-1, key)[..., 0] & exists

    def offsets(self, rows: slice) -> Tensor:
        """The position of each key minus that of the query, for some of the queries."""
        keys = torch.arange(self.shape[-1], dtype=torch.int32)
        return keys - self.positions[rows, None].int()

    def even(self, linear: Linear) -> Tensor:
        """What the uniform head has of a weighted sum over the keys: the mean over visible keys."""
        totals = []
        for rows in self.in_parts():
            of_key = linear(self.offsets(rows)).double()
            if self.cells is not None:
                of_key = self.cells[..., rows, :] * of_key
            totals.append(of_key.sum(-1))
        return torch.cat(totals, -1) / self.n

    def in_parts(self) -> Iterator[slice]:
        """The queries, so many at once that a table of them and all keys is not large."""
        lead = 1 if self.cells is None else self.cells.shape[:-2].numel()
        step = max(1, PART // (lead * self.shape[-1]))
        return (slice(start, start + step) for start in range(0, self.shape[-2], step))
