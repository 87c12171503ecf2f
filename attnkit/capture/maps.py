"""What a capture hands back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from torch import Tensor

_ROOT = "(the model)"


class AttentionMap(NamedTuple):
    """The weights of one call of one attention, all heads.

    A row (one query) sums to 1. For a query that may attend to no key it is what the model used:
    zeros, or NaN where ``nn.MultiheadAttention`` was asked for its weights.
    """

    #: Dotted name of the module that attended, for ``model.get_submodule(name)``; "" is the model.
    name: str
    #: 0 for the first call of that module inside the context, then 1, 2, …
    call: int
    #: "self" where queries and keys come from the same tensor, "cross" where they do not, "unknown"
    #: where only projected queries and keys were seen: ``F.scaled_dot_product_attention``.
    kind: str
    #: ``(batch, heads, T_q, T_k)``, before dropout, without gradient, on the model's device.
    weights: Tensor

    def __repr__(self) -> str:
        return (
            f"AttentionMap(name={self.name!r}, call={self.call}, kind={self.kind!r}, "
            f"weights={tuple(self.weights.shape)})"
        )


class Captured:
    """The maps of a capture in the order in which the model made them.

    ``for name, call, kind, weights in captured`` goes through them, ``captured[name]`` is the list
    of one module's maps, one for each call.
    """

    def __init__(self) -> None:
        self.maps: list[AttentionMap] = []

    def of(self, kind: str) -> list[AttentionMap]:
        """The maps of one kind, such as ``captured.of("cross")``.

        Raises:
            ValueError: No map is of that kind.
        """
        found = [map_ for map_ in self.maps if map_.kind == kind]
        if not found:
            kinds = ", ".join(sorted({repr(map_.kind) for map_ in self.maps})) or "none"
            raise ValueError(f"no map is of the kind {kind!r}; there are: {kinds}.")
        return found

    def __getitem__(self, name: str) -> list[AttentionMap]:
        if not isinstance(name, str):
            raise TypeError(
                f"captured[...] takes the name of a module, got {name!r}. "
                "By number: captured.maps[0]."
            )
        found = [map_ for map_ in self.maps if map_.name == name]
        if not found:
            names = ", ".join(dict.fromkeys(repr(map_.name) for map_ in self.maps)) or "none"
            raise KeyError(f"no map of {name!r}; there are: {names}")
        return found

    def __iter__(self) -> Iterator[AttentionMap]:
        return iter(self.maps)

    def __len__(self) -> int:
        return len(self.maps)

    def __repr__(self) -> str:
        lines = [f"{len(self.maps)} attention maps (batch, heads, queries, keys)"]
        width = max((len(map_.name or _ROOT) for map_ in self.maps), default=0)
        lines += [
            f"  {(map_.name or _ROOT).ljust(width)}  call {map_.call}  {map_.kind:7}  "
            f"{tuple(map_.weights.shape)}"
            for map_ in self.maps
        ]
        return "\n".join(lines)

    def add(self, name: str, kind: str, weights: Tensor) -> None:
        """Append a map; the call number follows from the maps that are there."""
        call = sum(map_.name == name for map_ in self.maps)
        self.maps.append(AttentionMap(name, call, kind, weights))
