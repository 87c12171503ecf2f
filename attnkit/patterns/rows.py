"""One pass over the weights: every row is checked, and gives what the metrics need of it.

A block that fits into the cache is read once from memory and used for everything. Apart from the
entropy and the maximum all metrics are sums over the keys with fixed factors, and those are one
matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from attnkit.patterns.definitions import Definition
from attnkit.patterns.reading import Maps, axes_of
from attnkit.patterns.sight import Linear, Sight
from attnkit.weight_faults import LEAST, check_blocked, check_values

#: Weights in a block: 256 kB of float32. Several threads wait for each other after each step over a
#: block, so their blocks are larger than their number asks for.
BLOCK = 1 << 16
#: Queries of one map in it, where there are enough maps: they lie close in memory.
ROWS = 16
_TINY = {dtype: torch.finfo(dtype).tiny for dtype in (torch.float32, torch.float64)}


class Rows:
    """What was found in the rows of maps: quantities of the shape ``(..., T_q)``.

    Raises:
        ValueError: NaN, infinity, negative numbers, rows that do not sum to 1, or weight on a
            blocked key.
    """

    def __init__(self, maps: Maps, sight: Sight, definitions: Sequence[Definition]) -> None:
        self.sight = sight
        self._maps = maps
        kinds = list(dict.fromkeys(definition.of for definition in definitions))
        self._linear: list[Linear] = [kind for kind in kinds if callable(kind)]
        with torch.autocast("cpu", enabled=False):  # it would round what is summed
            self._quantities, self._least = self._read(kinds)
        self._check()
        #: The rows that count: those of the sight that do not hold zeros alone.
        self.counted = sight.counted
        nothing = self._quantities["sum"] == 0
        if (nothing & sight.counted).any():
            self.counted = sight.counted & ~nothing

    def values(self, definition: Definition) -> Tensor:
        """The metric of each row; of a row that does not have it, anything."""
        if definition.of == "first" and self.sight.first_key_of_all is None:
            return definition.value(_first_weights(self._maps, self.sight), self.sight)
        return definition.value(self._quantities[definition.of], self.sight)

    def defined(self, definition: Definition) -> Tensor:
        """Which rows have the metric and count; a leading axis is 1 if it is the same for all."""
        return definition.defined(self.sight) & self.counted

    def _read(self, kinds: Sequence[object]) -> tuple[dict[object, Tensor], float]:
        """All quantities, and the least of all weights where no entropy would tell."""
        maps = self._maps
        n_queries, n_keys = maps.shape[-2:]
        step, many = _block_size(maps)
        pieces = [part for piece in maps.pieces for part in _flat(piece).split(many)]
        room = torch.empty(many * step * n_keys, dtype=maps.dtype)
        sums, largest, entropy = [], [], []
        least = 0.0
        for start in range(0, n_queries, step):
            rows = slice(start, min(start + step, n_queries))
            factors = self._factors(rows)
            reach = self.sight.reach(rows)
            found: dict[str, list[Tensor]] = {"sums": [], "largest": [], "entropy": []}
            logs = room[:0]
            for piece in pieces:
                block = piece[:, rows]
                if block.dtype != maps.dtype:
                    block = block.to(maps.dtype)
                found["sums"].append(torch.bmm(block.transpose(0, 1), factors))
                if reach < n_keys:
                    block = block[..., :reach]
                if "largest" in kinds:
                    found["largest"].append(block.amax(-1))
                if "entropy" in kinds:
                    if logs.shape != block.shape:
                        logs = room[: block.numel()].view(block.shape)
                    found["entropy"].append(_minus_entropy(block, logs).sum(-1))
                else:
                    least = min(least, block.min().item())
            sums.append(torch.cat(found["sums"], 1).permute(2, 1, 0))
            if "largest" in kinds:
                largest.append(torch.cat(found["largest"]))
            if "entropy" in kinds:
                entropy.append(torch.cat(found["entropy"]))
        shape = maps.shape[:-1]
        names = ("sum", "blocked", "first", *self._linear)
        all_sums = torch.cat(sums, -1).reshape(-1, *shape)
        quantities: dict[object, Tensor] = dict(zip(names, all_sums, strict=True))
        if largest:
            quantities["largest"] = torch.cat(largest, -1).reshape(shape)
        if entropy:
            quantities["entropy"] = _entropy(torch.cat(entropy, -1)).reshape(shape)
        return quantities, least

    def _factors(self, rows: slice) -> Tensor:
        """Factors of the keys for each sum, ``(rows, T_k, sums)``: ones, blocked keys, metrics."""
        sight, n_keys = self.sight, self._maps.shape[-1]
        shape = (3 + len(self._linear), rows.stop - rows.start, n_keys)
        factors = torch.zeros(shape, dtype=self._maps.dtype)
        factors[0] = 1
        if sight.shared_mask is not None:
            factors[1] = ~sight.shared_mask[rows]
        factors[2, :, sight.first_key_of_all or 0] = 1
        if self._linear:
            offsets = sight.offsets(rows)
            for place, linear in zip(factors[3:], self._linear, strict=True):
                place[:] = linear(offsets)
        return factors.permute(1, 2, 0)

    def _check(self) -> None:
        """Look closely, and say what is wrong, where something may be."""
        maps, sight = self._maps, self.sight
        sums = self._quantities["sum"]
        wrong = ~((sums - 1).abs() <= maps.tolerance) & (sums != 0)
        if "entropy" in self._quantities:  # that of a negative number is nan
            wrong |= self._quantities["entropy"].isnan()
        if sight.query_mask is not None:
            wrong &= sight.query_mask
        if self._least < 0 or wrong.any():
            for piece, at, name in self._whole():
                piece = piece.to(maps.dtype)
                if sight.query_mask is not None:
                    piece = piece.masked_fill(~_at(sight.query_mask, at)[..., None], 0.0)
                check_values(piece, axes_of(piece.shape), maps.tolerance, name)
        if sight.mask is None:
            return
        if sight.shared_mask is not None and not (self._quantities["blocked"].abs() > LEAST).any():
            return
        for piece, at, name in self._whole():
            mask = _at(sight.mask, at)
            if sight.query_mask is not None:
                mask = mask | ~_at(sight.query_mask, at)[..., None]
            if _weight_on_blocked(piece, mask):
                mask = mask.expand(piece.shape)
                check_blocked(piece, mask, axes_of(piece.shape), name)

    def _whole(self) -> Iterator[tuple[Tensor, int | None, str]]:
        """The pieces as they came, with what they are called."""
        maps = self._maps
        if len(maps.pieces) == 1:
            yield maps.pieces[0], None, maps.name
            return
        for i, piece in enumerate(maps.pieces):
            yield piece, i, f"{maps.name}[{i}]"


def _at(mask: Tensor, piece: int | None) -> Tensor:
    """The part of a mask that is of one piece, if there are several."""
    return mask if piece is None else mask[min(piece, len(mask) - 1)]


def _first_weights(maps: Maps, sight: Sight) -> Tensor:
    """The weight of each query on the first key of its map, which padding has moved."""
    index = sight.first_key[..., None, None].expand(*maps.shape[:-1], 1)
    if len(maps.pieces) == 1:
        return maps.pieces[0].gather(-1, index)[..., 0].to(maps.dtype)
    parts = [piece.gather(-1, own)[..., 0] for piece, own in zip(maps.pieces, index, strict=True)]
    return torch.stack(parts).to(maps.dtype)


def _flat(piece: Tensor) -> Tensor:
    return piece.reshape(-1, *piece.shape[-2:])


def _block_size(maps: Maps) -> tuple[int, int]:
    """How many queries of how many maps are a block."""
    threads = torch.get_num_threads()
    size = BLOCK if threads == 1 else 4 * threads * BLOCK
    n_maps = max(_flat(piece).shape[0] for piece in maps.pieces)
    n_queries, n_keys = maps.shape[-2:]
    many = max(1, min(n_maps, size // (min(n_queries, ROWS) * n_keys)))
    return max(1, min(n_queries, size // (many * n_keys))), many


def entropy_of(block: Tensor) -> Tensor:
    """The entropy of each row in nats."""
    return _entropy(_minus_entropy(block, torch.empty_like(block)).sum(-1))


def _minus_entropy(block: Tensor, room: Tensor) -> Tensor:
    """w · ln w of each weight, in ``room``, a tensor of the same shape."""
    # The smallest number makes 0 · ln 0 = 0 and changes nothing else.
    return torch.add(block, _TINY[block.dtype], out=room).log_().mul_(block)


def _entropy(sums: Tensor) -> Tensor:
    """Without the rounding errors below 0."""
    return sums.neg_().clamp_min_(0)


def _weight_on_blocked(piece: Tensor, mask: Tensor) -> bool:
    if piece.dim() > 3:
        own = mask.expand(len(piece), *mask.shape[1:])
        return any(_weight_on_blocked(p, m) for p, m in zip(piece, own, strict=True))
    return bool(((piece > LEAST) & ~mask).any())
