"""Maps, masks and query masks as they come, checked for their shapes; no weight is copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnkit import expect
from attnkit.weights import float_weights, mask_tensor

#: What the leading axes are called in messages, the last ones of these.
AXES = ("layers", "sequences", "heads", "queries", "keys")


class Maps(NamedTuple):
    """Weights of one shape, in one piece or in one for each place of the first axis."""

    #: One of the shape ``shape``, or several of ``shape[1:]``.
    pieces: list[Tensor]
    shape: tuple[int, ...]
    #: How far the sum of a row may be from 1.
    tolerance: float
    name: str

    @property
    def dtype(self) -> torch.dtype:
        """What is computed in: float64 where some weights came in it, else float32."""
        double = any(piece.dtype == torch.float64 for piece in self.pieces)
        return torch.float64 if double else torch.float32


def read_maps(weights: Any, *, name: str = "weights") -> Maps:
    """Weights ``(..., T_q, T_k)``, or a list or tuple of such of one shape, one for each layer.

    Raises:
        TypeError: No weights at all, a mask, integers, complex numbers.
        ValueError: Fewer than two axes, an axis of size 0, or layers of several shapes.
    """
    listed = isinstance(weights, list | tuple) and not hasattr(weights, "_fields")
    if listed and weights and min(getattr(w, "ndim", 0) for w in weights) >= 2:
        read = [float_weights(w, name=f"{name}[{i}]") for i, w in enumerate(weights)]
        shapes = dict.fromkeys(tuple(tensor.shape) for tensor, _ in read)
        if len(shapes) > 1:
            raise ValueError(
                f"{name} must be maps of one shape, got {', '.join(map(str, shapes))}. Sequences of"
                " different lengths are padded, or described one by one and added: "
                "describe_heads(a) + describe_heads(b). Of a pair (output, weights) take the "
                f"second: {name}[1]."
            )
        pieces = [tensor for tensor, _ in read]
        shape = (len(pieces), *pieces[0].shape)
        if len(pieces) == 1:
            pieces = [pieces[0][None]]
        tolerance = max(tolerance for _, tolerance in read)
    else:
        tensor, tolerance = float_weights(weights, name=name)
        pieces, shape = [tensor], tuple(tensor.shape)
    if len(shape) < 2:
        cure = f" For the row of one query: {name}[None]." if len(shape) else ""
        raise ValueError(f"{name} must have the axes (..., queries, keys), got {shape}.{cure}")
    if 0 in shape:
        raise ValueError(f"{name} must have at least one query and one key, got the shape {shape}.")
    return Maps(pieces, shape, tolerance, name)


def axes_of(shape: Sequence[int]) -> tuple[str, ...]:
    """Names for the axes of a shape, so that a message can say where something is."""
    more = len(shape) - len(AXES)
    return (*(f"axis {i} index" for i in range(more)), *AXES[max(0, -more) :])


def read_sight(mask: Any, shape: Sequence[int]) -> Tensor | None:
    """The mask with as many axes as the weights, each 1 or as long as theirs.

    Raises:
        TypeError: It is not boolean.
        ValueError: It does not broadcast to the weights.
    """
    if mask is None:
        return None
    tensor = mask_tensor(mask)
    while tensor.dim() > len(shape) and tensor.shape[0] == 1:
        tensor = tensor[0]
    expect.mask(tensor, tuple(shape), tensor.device)
    return tensor.reshape((1,) * (len(shape) - tensor.dim()) + tuple(tensor.shape))


def read_query_mask(query_mask: Any, shape: Sequence[int]) -> Tensor | None:
    """The query mask with one axis less than the weights, each 1 or as long as theirs.

    Raises:
        TypeError: It is not boolean.
        ValueError: It does not broadcast to ``(..., queries)``, or two of its axes could be
            sequences or heads.
    """
    if query_mask is None:
        return None
    tensor = mask_tensor(query_mask, name="query_mask")
    rows, given = tuple(shape[:-1]), tuple(tensor.shape)
    if tensor.dtype != torch.bool:
        raise TypeError(
            f"query_mask must be boolean, True = this query counts; got {tensor.dtype}. If 1 marks "
            "a query that counts: query_mask == 1. If 1 marks padding: query_mask == 0."
        )
    if tensor.dim() == 4 and given[1:3] == (1, 1):
        tensor = tensor[:, 0]  # a padding mask: its last axis holds the queries
    while tensor.dim() > len(rows) and tensor.shape[0] == 1:
        tensor = tensor[0]
    per_sequence = "A row per sequence is query_mask[:, None]"
    if tensor.dim() == 2 and tensor.shape[0] > 1 and len(rows) > 2:
        raise ValueError(
            f"query_mask of the shape {given} could be a row per sequence or per head of weights "
            f"of the shape {tuple(shape)}. {per_sequence}; attnkit.padding_mask is taken as it is."
        )
    fits = tensor.dim() <= len(rows) and all(
        own in (1, size) for own, size in zip(reversed(tensor.shape), reversed(rows), strict=False)
    )
    if not fits:
        raise ValueError(
            f"query_mask must broadcast to the weights without their last axis, {rows} (the "
            f"queries are the last), got the shape {given}. {per_sequence}, with sequences and "
            "heads as the first axes of the weights."
        )
    return tensor.reshape((1,) * (len(rows) - tensor.dim()) + tuple(tensor.shape))
