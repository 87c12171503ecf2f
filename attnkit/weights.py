"""Attention weights, tokens and masks as people hold them, read into one form, or refused.

What is drawn, browsed or measured is read here first, so that a picture of scores, of weights after
dropout or of one sequence taken for a batch is not drawn at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import torch
from torch import Tensor

from attnkit import expect
from attnkit.weight_faults import BFLOAT16, check_blocked, check_values, cure_of, hides_entries

#: How far the sum of a row may be from 1. Low precision rounds each weight of a row.
TOLERANCE = {
    torch.float16: 5e-3,
    torch.bfloat16: BFLOAT16,
    torch.float8_e4m3fn: 7e-2,
    torch.float8_e5m2: 0.13,
}
TOLERANCE_ELSE = 1e-3


def read_weights(
    weights: Any,
    *,
    axes: Sequence[str] = ("queries", "keys"),
    mask: Any = None,
    name: str = "weights",
) -> Tensor:
    """Read attention weights into a new tensor that has exactly the ``axes`` asked for.

    Each row must be 0 or more and sum to 1, or be all zeros: a query that may see nothing.

    >>> read_weights([[[0.25, 0.75], [0.0, 0.0]]])
    tensor([[0.2500, 0.7500],
            [0.0000, 0.0000]])
    >>> read_weights([[0.25, 0.75]], axes=("layers", "heads", "queries", "keys")).shape
    torch.Size([1, 1, 1, 2])

    Args:
        weights: A tensor of any floating dtype, device and autograd state, a NumPy array, nested
            lists, or a list of one tensor per layer (or head, or step: the first of the axes).
            Leading axes of size 1 too many are dropped, also a batch axis of size 1 behind the
            layers or steps. Leading axes that are missing are added with size 1: ``(queries,
            keys)`` is one head, ``(heads, queries, keys)`` one layer. Of steps the missing axis is
            that of the heads: ``(steps, queries, keys)`` are snapshots of one head.
        axes: The names of the axes wanted, ending in "queries" and "keys".
        mask: Boolean, True = may attend, broadcastable to the result: a weight where it blocks
            is refused.
        name: What the messages call the weights.

    Returns:
        A new tensor on the CPU without gradient, float32, or float64 if that came.

    Raises:
        TypeError: No weights at all, a mask, integers, complex numbers.
        ValueError: A batch of several, a wrong number of axes, emptiness, NaN or infinity, rows
            that are no weights (scores, weights after dropout, softmax over the queries), or
            weight on a blocked key.
    """
    axes = tuple(axes)
    tensor, tolerance = _tensor(weights, axes, name)
    if tensor.numel() == 0:
        raise ValueError(f"{name} must have at least one query and one key, {_shaped(tensor)}.")
    tensor = _with_axes(tensor, axes, name)
    check_values(tensor, axes, tolerance, name)
    if mask is not None:
        check_blocked(tensor, read_mask(mask, tensor.shape), axes, name)
    return tensor


def float_weights(weights: Any, *, name: str = "weights") -> tuple[Tensor, float]:
    """Weights of any axes as one tensor on the CPU, and how far the sum of a row may be from 1.

    Where they are a tensor already, it is their own memory and keeps its dtype: what computes over
    all of them needs no copy, and must change nothing. The values are not looked at.
    """
    if not isinstance(weights, Tensor) or weights.layout != torch.strided:
        return _tensor(weights, ("queries", "keys"), name)
    if not weights.is_floating_point() or weights.element_size() == 1:
        return _tensor(weights, ("queries", "keys"), name)
    return weights.detach().cpu(), TOLERANCE.get(weights.dtype, TOLERANCE_ELSE)


def read_tokens(tokens: Any, n: int, *, name: str = "tokens") -> list[str]:
    """Read the ``n`` tokens of an axis; None counts them from "0".

    >>> read_tokens(None, 3), read_tokens(("我", "爱"), 2)
    (['0', '1', '2'], ['我', '爱'])

    Raises:
        TypeError: One string, ids, anything that is not a sequence of strings.
        ValueError: More or fewer tokens than the axis has places.
    """
    if tokens is None:
        return [str(i) for i in range(n)]
    if isinstance(tokens, str | bytes):
        raise TypeError(
            f"{name} must be a sequence of strings, got one string, {_short(tokens)}: a string is "
            f"not a list of tokens. One token per character is list(...), one per word .split()."
        )
    one = getattr(tokens, "ndim", 1) == 0
    if isinstance(tokens, Set | Mapping) or not hasattr(tokens, "__iter__") or one:
        raise TypeError(
            f"{name} must be a sequence of strings in the order of the axis, got "
            f"{type(tokens).__name__}. Make it a list."
        )
    listed = list(tokens)
    for i, token in enumerate(listed):
        if isinstance(token, str):
            continue
        cure = f"Convert it: {name} = [str(t) for t in {name}]."
        if isinstance(token, bytes):
            cure = f"Decode them: {name} = [t.decode() for t in {name}]."
        elif isinstance(token, list | tuple) or getattr(token, "ndim", 0):
            cure = f"For a batch of one sequence: {name}[0]."
        elif hasattr(token, "__index__") and not isinstance(token, bool):
            cure = "Token ids are decoded first: tokenizer.convert_ids_to_tokens(ids)."
        raise TypeError(
            f"{name} must hold strings only, got {_short(token)} ({type(token).__name__}) at "
            f"place {i}. {cure}"
        )
    if len(listed) != n:
        axis = "queries (rows)" if "quer" in name else "keys (columns)" if "key" in name else ""
        raise ValueError(
            f"{name} has {len(listed)} tokens, the map has {n} {axis or 'places'}. Every one needs "
            "its token, special ones ([CLS], <s>, padding) included; a map from other tokens to "
            "these (cross-attention) takes query_tokens and key_tokens."
        )
    return [str(token) for token in listed]


def read_mask(mask: Any, shape: Sequence[int], *, name: str = "mask") -> Tensor:
    """Read a mask, True = this query may attend to this key, and broadcast it to ``shape``.

    >>> read_mask([[True, False]], (2, 2)).tolist()
    [[True, False], [True, False]]

    Args:
        mask: A boolean tensor, NumPy array or nested list. Leading axes of size 1 too many are
            dropped.
        shape: The shape of the weights, ending in queries and keys.
        name: What the messages call the mask.

    Raises:
        TypeError: It is not boolean.
        ValueError: It does not broadcast to the shape.
    """
    tensor = mask_tensor(mask, name=name)
    while tensor.dim() > len(shape) and tensor.shape[0] == 1:
        tensor = tensor[0]
    expect.mask(tensor, tuple(shape), tensor.device)
    return tensor.broadcast_to(tuple(shape)).clone()


def mask_tensor(mask: Any, *, name: str = "mask") -> Tensor:
    """A mask as a new tensor on the CPU, of whatever dtype and shape it has."""
    try:
        if isinstance(mask, list | tuple) and mask and all(map(_is_array, mask)):
            return torch.stack([_plain(row) for row in mask])
        return _plain(mask)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(
            f"{name} must be boolean (tensor, NumPy array or nested lists), True = this query may "
            f"attend to this key, got {type(mask).__name__} that is no array of them."
        ) from None


def _tensor(weights: Any, axes: tuple[str, ...], name: str) -> tuple[Tensor, float]:
    """The weights as one new tensor, and how far its rows may be from a sum of 1."""
    if weights is None:
        raise TypeError(
            f"{name} must be attention weights, got None. A module gives them when it is asked: "
            "need_weights=True."
        )
    if hasattr(weights, "_fields") and hasattr(weights, "weights"):
        raise TypeError(
            f"{name} must be attention weights, got {type(weights).__name__}. Take its field: "
            ".weights."
        )
    if isinstance(weights, list | tuple) and any(w is None or _is_array(w) for w in weights):
        return _stacked(weights, axes, name)
    if hides_entries(weights):
        raise TypeError(
            f"{name} must have a value everywhere, got a masked array with masked entries. If these"
            f" are blocked keys: {name}.filled(0), with mask=~{name}.mask."
        )
    try:
        tensor = _plain(weights)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(
            f"{name} must be a tensor, an array or nested lists of numbers with rows of one length,"
            f" got {type(weights).__name__} that is none of these.{cure_of(weights, name)}"
        ) from None
    if tensor.dtype == torch.bool:
        raise TypeError(
            f"{name} must be floating point, got booleans. A mask? plots.mask_diagram draws masks."
        )
    if not tensor.is_floating_point():
        cure = "Attention weights are real numbers."
        if not tensor.is_complex():
            cure = (
                "If these are weights that happen to be whole numbers, convert them with .float(); "
                "token ids are not weights."
            )
        raise TypeError(f"{name} must be floating point, got {tensor.dtype}. {cure}")
    dtype = torch.float64 if tensor.dtype == torch.float64 else torch.float32
    return tensor.to(dtype), TOLERANCE.get(tensor.dtype, TOLERANCE_ELSE)


def _plain(values: Any) -> Tensor:
    """A new dense tensor on the CPU that knows no gradient."""
    with torch.inference_mode(False), torch.no_grad():
        if isinstance(values, Tensor):
            dense = values.detach() if values.layout == torch.strided else values.to_dense()
            return dense.cpu().clone()
        if not hasattr(values, "__array__"):
            return torch.tensor(values)
        array = values.__array__()
        # PyTorch has neither long double nor the bfloat16 that other libraries add to NumPy.
        kind = {"longdouble": "float64", "float128": "float64", "bfloat16": "float32"}
        native = array.dtype.newbyteorder("=")
        return torch.tensor(array.astype(kind.get(array.dtype.name, native)))


def _stacked(layers: Sequence[Any], axes: tuple[str, ...], name: str) -> tuple[Tensor, float]:
    """One tensor per layer (or step, or head): stacked along the first of the axes."""
    if len(axes) == 2 and len(layers) == 1:
        return _tensor(layers[0], axes, name)
    rest = axes[1:] if len(axes) > 2 else axes
    read = [_tensor(layer, rest, f"{name}[{i}]") for i, layer in enumerate(layers)]
    if len(axes) > 2:
        read = [
            (_with_axes(layer, rest, f"{name}[{i}]"), tolerance)
            for i, (layer, tolerance) in enumerate(read)
        ]
    shapes = [tuple(layer.shape) for layer, _ in read]
    if len(set(shapes)) > 1:
        raise ValueError(
            f"{name} must be tensors of one shape, got {', '.join(map(str, dict.fromkeys(shapes)))}"
            f". For the pair (output, weights) that a module returns, take the second: {name}[1]. "
            "Maps of different sizes are drawn one by one."
        )
    return torch.stack([layer for layer, _ in read]), max(tolerance for _, tolerance in read)


def _with_axes(tensor: Tensor, axes: tuple[str, ...], name: str) -> Tensor:
    given, wanted = tensor, f"({', '.join(axes)})"
    if tensor.dim() < 2:
        cure = f" For the row of one query: {name}[None]." if tensor.dim() else ""
        raise ValueError(f"{name} must have the axes {wanted}, {_shaped(given)}.{cure}")
    while tensor.dim() > len(axes):
        if tensor.shape[0] == 1:
            tensor = tensor[0]
        elif axes[0] in ("layers", "steps") and tensor.shape[1] == 1:
            tensor = tensor[:, 0]
        else:
            raise ValueError(_too_many(given, tensor, axes, name))
    while tensor.dim() < len(axes):
        one_head = axes[0] == "steps" and tensor.dim() == 3
        tensor = tensor.unsqueeze(1 if one_head else 0)
    return tensor.contiguous()


def _too_many(given: Tensor, left: Tensor, axes: tuple[str, ...], name: str) -> str:
    surplus = left.shape[: left.dim() - len(axes)]
    where = axes[0] in ("layers", "steps")
    what = f"a batch of {left.shape[1] if where else surplus[0]}"
    index = "[:, 0]" if where else "[" + ", ".join("0" for _ in surplus) + "]"
    message = f"{name} must have the axes ({', '.join(axes)}), {_shaped(given)}"
    if len(axes) > 2:
        return f"{message}: {what}? Choose one sequence: {name}{index}."
    heads = f"all heads are drawn by plots.head_grid, their mean is {name}.mean(-3)"
    return f"{message}: {what}, or several heads? Choose one map: {name}{index}; {heads}."


def _is_array(value: Any) -> bool:
    return isinstance(value, Tensor) or hasattr(value, "__array__")


def _shaped(tensor: Tensor) -> str:
    return f"got the shape {tuple(tensor.shape)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
