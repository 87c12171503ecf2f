"""The keys and values of one attention, kept from one decoding step to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnkit import expect

if TYPE_CHECKING:
    from attnkit.shapes import Float


class KeyValueCache:
    """What one attention has projected so far, so that a new query finds it and projects nothing.

    A decoder writes one word after the other. Under a causal mask what a position is turned into
    does not depend on later ones: its key and value, once computed, stay right. The mask of the new
    queries is ``causal_mask(n_new, n_all)``: they are the *last* positions of the keys.

    >>> cache = KeyValueCache()
    >>> keys, values = cache.append(torch.zeros(2, 3, 4, 5), torch.ones(2, 3, 4, 5))
    >>> keys, values = cache.append(torch.zeros(2, 3, 1, 5), torch.ones(2, 3, 1, 5))
    >>> keys.shape, len(cache)
    (torch.Size([2, 3, 5, 5]), 5)
    >>> cache.n_bytes  # 2 tensors · 2 sequences · 3 heads · 5 positions · 5 numbers · 4 bytes
    1200

    With ``grows=False`` the first call of an attention fills the cache, and later ones read it and
    project nothing: cross-attention, whose keys are the same at every step.

    One cache belongs to one attention and to one batch: a new batch begins with a new cache.

    Args:
        grows: Whether each call adds the positions that it brings.
    """

    def __init__(self, *, grows: bool = True) -> None:
        self.grows = grows
        #: ``(batch, heads, T, d_head)``, or ``(heads, T, d_head)`` without a batch; None at first.
        self.keys: Tensor | None = None
        #: Of the same shape.
        self.values: Tensor | None = None
        self._user: int | None = None

    def append(
        self,
        keys: Float[Tensor, "*batch heads n d_head"],
        values: Float[Tensor, "*batch heads n d_head"],
    ) -> tuple[Tensor, Tensor]:
        """Add the keys and values of new positions, and return all of them, old and new.

        Args:
            keys: Shape ``(batch, heads, T_new, d_head)``.
            values: The same shape.

        Returns:
            Keys and values of shape ``(batch, heads, T, d_head)``.

        Raises:
            TypeError: They are not floating point, or of another dtype than what is in the cache.
            ValueError: Their shapes differ from each other, or from what is in the cache in another
                axis than that of the positions; or the cache does not grow and is filled.
        """
        expect.floats(keys=keys, values=values)
        if keys.ndim < 3 or keys.shape != values.shape:
            raise ValueError(
                "keys and values must have one shape, (batch, heads, T, d_head) or, without a "
                f"batch, (heads, T, d_head), got {tuple(keys.shape)} and {tuple(values.shape)}."
            )
        if self.keys is None or self.values is None:
            self.keys, self.values = keys, values
            return keys, values
        if not self.grows:
            raise ValueError(
                f"a cache with grows=False is filled once, and holds {len(self)} positions. For "
                "other keys and values make a new one: KeyValueCache(grows=False)."
            )
        expect.floats(**{"what is in the cache": self.keys}, keys=keys)
        old, new = tuple(self.keys.shape), tuple(keys.shape)
        if (*old[:-2], old[-1]) != (*new[:-2], new[-1]):
            raise ValueError(
                f"keys must have the axes of what is in the cache, {old}, but for the positions, "
                f"got {new}. One cache is for one attention and one batch: for another one make "
                "a new KeyValueCache()."
            )
        self.keys = torch.cat([self.keys, keys], dim=-2)
        self.values = torch.cat([self.values, values], dim=-2)
        return self.keys, self.values

    def used_by(self, attention: object) -> None:
        """Refuse a second attention: it would find the keys of the first.

        Raises:
            ValueError: Another attention has used the cache.
        """
        if self._user is None:
            self._user = id(attention)
        elif self._user != id(attention):
            raise ValueError(
                "a cache belongs to one attention, got a second one. Make one for each: "
                "[KeyValueCache() for layer in layers]."
            )

    def count_with(self, n_new: int) -> int:
        """How many positions an attention finds that brings ``n_new`` of them."""
        return len(self) + n_new if self.grows else len(self) or n_new

    def __len__(self) -> int:
        """The number of positions in it."""
        return 0 if self.keys is None else self.keys.shape[-2]

    def __bool__(self) -> bool:
        """An empty cache is one all the same."""
        return True

    @property
    def n_bytes(self) -> int:
        """What keys and values take in memory."""
        tensors = (self.keys, self.values)
        return sum(t.numel() * t.element_size() for t in tensors if t is not None)

    def __repr__(self) -> str:
        shape = None if self.keys is None else tuple(self.keys.shape)
        return f"KeyValueCache(grows={self.grows}, keys={shape}, n_bytes={self.n_bytes})"
