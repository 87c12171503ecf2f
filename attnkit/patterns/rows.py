"""One pass over the weights: every row is checked, and gives what the metrics need of it.

A block that fits into the cache is read once from memory and used for everything. Apart from the
entropy and the maximum all metrics are sums over the keys with fixed factors, and those are one
matrix product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

from attnkit.patterns.definitions import Definition
from attnkit.patterns.reading import Maps, axes_of
from attnkit.patterns.sight import Linear, Sight
from attnkit.weight_faults import LEAST, check_blocked, check_values

#: Weights in a block: 512 kB of float32.
BLOCK = 1 << 17


class Rows:
    """What was found in the rows of maps: quantities of the shape ``(..., T_q)``.

    Raises:
        ValueError: NaN, infinity, negative numbers, rows that do not sum to 1, or weight on a
            blocked key.
    """

    def __init__(self, maps: Maps, sight: Sight, definitions: Sequence[Definition]) -> None:
        self.sight = sight
        self._maps = maps
        first = sight.first_key_of_all
        #: The sum that takes the first key, if that is the same in all maps.
        self._first: Linear | None = None if first is None else lambda query, key: key == first
        kinds = {self._first if d.of == "first" else d.of for d in definitions}
        self._linear: list[Linear] = [kind for kind in kinds if callable(kind)]
        self._quantities = self._read(kinds)
        self._check()
        #: The rows that count: those of the sight that do not hold zeros alone.
        self.counted = sight.counted
        nothing = self._quantities["sum"] == 0
        if (nothing & sight.counted).any():
            self.counted = sight.counted & ~nothing

    def values(self, definition: Definition) -> Tensor:
        """The metric of each row; of a row that does not have it, anything."""
        of = self._first if definition.of == "first" else definition.of
        if of is None:
            return definition.value(_first_weights(self._maps, self.sight), self.sight)
        return definition.value(self._quantities[of], self.sight)

    def defined(self, definition: Definition) -> Tensor:
        """Which rows have the metric and count; a leading axis is 1 if it is the same for all."""
        return definition.defined(self.sight) & self.counted

    def _read(self, kinds: Iterable[object]) -> dict[object, Tensor]:
        maps = self._maps
        n_queries, n_keys = maps.shape[-2:]
        pieces = list(_flat(maps))
        total = sum(len(piece) for piece in pieces)
        empty = {"dtype": maps.dtype, "device": "cpu"}
        sums = torch.empty(len(self._linear) + 2, total, n_queries, **empty)
        largest = torch.empty(total, n_queries, **empty) if "largest" in kinds else None
        entropy = torch.empty(total, n_queries, **empty) if "entropy" in kinds else None
        self._least = 0.0
        most = max(len(piece) for piece in pieces)
        step = max(1, min(n_queries, BLOCK // (most * n_keys)))
        room = torch.empty(most * step * n_keys, **empty)
        for start in range(0, n_queries, step):
            here = slice(start, start + step)
            factors = self._factors(here)
            at = 0
            for piece in pieces:
                block = piece[:, here].to(maps.dtype)
                place = (slice(at, at + len(piece)), here)
                sums[:, *place] = torch.bmm(block.transpose(0, 1), factors).permute(2, 1, 0)
                self._least = min(self._least, block.min().item())
                if largest is not None:
                    torch.amax(block, -1, out=largest[place])
                if entropy is not None:
                    entropy[place] = entropy_of(block, room)
                at += len(piece)
        names = ("sum", "blocked", *self._linear, "largest", "entropy")
        found = zip(names, (*sums, largest, entropy), strict=True)
        return {name: q.reshape(maps.shape[:-1]) for name, q in found if q is not None}

    def _factors(self, here: slice) -> Tensor:
        """Factors of the keys for each sum, ``(rows, T_k, sums)``: ones, blocked keys, metrics."""
        sight, n_keys = self.sight, self._maps.shape[-1]
        keys, n_rows = torch.arange(n_keys), len(range(*here.indices(self._maps.shape[-2])))
        factors = torch.zeros(len(self._linear) + 2, n_rows, n_keys, dtype=self._maps.dtype)
        factors[0] = 1
        if sight.shared_mask is not None:
            factors[1] = ~sight.shared_mask[here]
        for place, linear in zip(factors[2:], self._linear, strict=True):
            place[:] = linear(sight.positions[here, None], keys)
        return factors.permute(1, 2, 0)

    def _check(self) -> None:
        """Look closely, and say what is wrong, where something may be."""
        maps, mask = self._maps, self.sight.mask
        wrong = ~((self._quantities["sum"] - 1).abs() <= maps.tolerance)
        wrong &= self._quantities["sum"] != 0
        listed = len(maps.pieces) > 1
        names = [f"{maps.name}[{i}]" if listed else maps.name for i in range(len(maps.pieces))]
        if self._least < 0 or wrong.any():
            for piece, name in zip(maps.pieces, names, strict=True):
                check_values(piece.to(maps.dtype), axes_of(piece.shape), maps.tolerance, name)
        if mask is None:
            return
        if self.sight.shared_mask is not None and not (self._quantities["blocked"] > LEAST).any():
            return
        for i, (piece, name) in enumerate(zip(maps.pieces, names, strict=True)):
            own = mask[min(i, len(mask) - 1)] if listed else mask
            if _weight_on_blocked(piece, own):
                check_blocked(piece, own.expand(piece.shape), axes_of(piece.shape), name)


def _first_weights(maps: Maps, sight: Sight) -> Tensor:
    """The weight of each query on the first key of its map, which padding has moved."""
    index = sight.first_key[..., None, None].expand(*maps.shape[:-1], 1)
    if len(maps.pieces) == 1:
        return maps.pieces[0].gather(-1, index)[..., 0].to(maps.dtype)
    parts = [piece.gather(-1, own)[..., 0] for piece, own in zip(maps.pieces, index, strict=True)]
    return torch.stack(parts).to(maps.dtype)


def _flat(maps: Maps) -> Iterator[Tensor]:
    """The pieces as ``(n, T_q, T_k)`` of which one row of each is a block at most."""
    n_queries, n_keys = maps.shape[-2:]
    for piece in maps.pieces:
        yield from piece.reshape(-1, n_queries, n_keys).split(max(1, BLOCK // n_keys))


def entropy_of(block: Tensor, room: Tensor | None = None) -> Tensor:
    """The entropy of each row in nats; ``room`` is memory for as many numbers, or more."""
    logs = torch.empty_like(block) if room is None else room[: block.numel()].view(block.shape)
    tiny = torch.finfo(block.dtype).tiny  # 0 · ln 0 = 0
    return torch.clamp_min(block, tiny, out=logs).log_().mul_(block).sum(-1).neg_()


def _weight_on_blocked(piece: Tensor, mask: Tensor) -> bool:
    if piece.dim() > 3:
        own = mask.expand(len(piece), *mask.shape[1:])
        return any(_weight_on_blocked(p, m) for p, m in zip(piece, own, strict=True))
    return bool(((piece > LEAST) & ~mask).any())
