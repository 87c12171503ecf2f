"""What a function wants of its arguments: each check names what was expected, what came, the cure.

Every check is a few comparisons of types and sizes. None of them reads a tensor's values, so that
nothing waits for a GPU and nothing is paid per element.
"""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Sequence

import torch
from torch import Tensor


def integer(name: str, value: object, *, at_least: int | None = 0) -> int:
    """Return ``value`` as an int: NumPy's and PyTorch's integers pass, booleans do not."""
    try:
        if isinstance(value, bool) or getattr(value, "dtype", None) is torch.bool:
            raise TypeError
        result = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(
            f"{name} must be an integer, got {_show(value)}. Round it first: {name}=int(...)."
        ) from None
    if at_least is not None and result < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {result}.")
    return result


def span(name: str, value: object, *, at_most: int | None = None) -> tuple[int, int]:
    """Return a pair (fewest, most) of integers from 1 on, the first not above the second."""
    try:
        low, high = value  # type: ignore[misc]
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be a pair (fewest, most), got {value!r}. One length n is {name}=(n, n)."
        ) from None
    low = integer(f"the first of {name}", low, at_least=1)
    high = integer(f"the second of {name}", high, at_least=1)
    if not low <= high or (at_most is not None and high > at_most):
        end = "" if at_most is None else f" and end at {at_most} at most"
        raise ValueError(f"{name} must ascend{end}, got ({low}, {high}).")
    return low, high


def number(name: str, value: object, *, instead: str = "") -> float:
    """Return ``value`` as a finite float: any real number passes, booleans and tensors do not."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, got {_show(value)}.{instead and ' ' + instead}")
    result = float(value)
    if not math.isfinite(result):
        raise ValueError(f"{name} must be finite, got {result}.")
    return result


def temperature(value: object) -> float:
    """Return a temperature, which must be a positive number."""
    if value == 1.0 and isinstance(value, float):
        return value
    result = number("temperature", value, instead="A learned one divides the scores beforehand.")
    if result <= 0:
        raise ValueError(
            f"temperature must be greater than 0, got {result}. The limit 0 is hard selection: "
            "scores.argmax(-1)."
        )
    return result


def probability(name: str, value: object) -> float:
    """Return a dropout probability, 0 ≤ p < 1."""
    result = number(name, value)
    if not 0 <= result < 1:
        raise ValueError(
            f"{name} is the share that is dropped: it must be at least 0 and below 1, got {result}."
        )
    return result


def floats(**tensors: object) -> None:
    """Check that all are floating-point tensors of one dtype on one device.

    Under ``torch.autocast`` the dtypes may differ: PyTorch casts them itself.
    """
    first_name, first = "", None
    for name, tensor in tensors.items():
        if tensor is first:
            continue
        tensor = _float_tensor(name, tensor)
        if first is None:
            first_name, first = name, tensor
            continue
        if tensor.dtype != first.dtype and not torch.is_autocast_enabled(first.device.type):
            raise TypeError(
                f"{name} must have the dtype of {first_name}, {first.dtype}, got {tensor.dtype}. "
                f"Convert it: {name}.to({first.dtype})."
            )
        if tensor.device != first.device:
            raise ValueError(
                f"{name} must be on the device of {first_name}, {first.device}, got "
                f"{tensor.device}. Move it: {name}.to({str(first.device)!r})."
            )


def size(name: str, tensor: Tensor, axis: int, expected: int, reason: str) -> None:
    """Check one size of a tensor; ``reason`` says where the expectation comes from."""
    if tensor.shape[axis] != expected:
        axis_name = {-1: "last axis", -2: "last axis but one"}.get(axis, f"axis {axis}")
        raise ValueError(
            f"the {axis_name} of {name} must be {expected} ({reason}), got {tensor.shape[axis]}: "
            f"{name} has the shape {tuple(tensor.shape)}."
        )


def mask(mask: object, scores_shape: Sequence[int], device: torch.device) -> None:
    """Check that a mask is boolean, on the device, and broadcasts to the scores."""
    if not isinstance(mask, Tensor):
        raise TypeError(
            f"mask must be a boolean torch.Tensor, got {_show(mask)}. "
            "Convert it: torch.as_tensor(mask)."
        )
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean, True = this query may attend to this key; got {mask.dtype}. "
            "If 1 marks a blocked key: attnkit.from_blocked(mask). If 1 marks an allowed key: "
            "mask == 1. If it is added to the scores (0 and -inf): mask == 0."
        )
    if mask.device != device:
        raise ValueError(
            f"mask must be on the device of the scores, {device}, got {mask.device}. "
            f"Move it: mask.to({str(device)!r})."
        )
    shape = mask.shape
    extra = len(shape) - len(scores_shape)
    if extra > 0 or any(
        got not in (1, want)
        for got, want in zip(reversed(shape), reversed(scores_shape), strict=False)
    ):
        raise ValueError(_mask_shape_message(tuple(shape), tuple(scores_shape)))


def _mask_shape_message(shape: tuple[int, ...], scores: tuple[int, ...]) -> str:
    """Say why a mask does not fit the scores, and which axis to insert or drop."""
    pairs = list(zip(reversed(shape), reversed(scores), strict=False))
    enlarges = len(shape) > len(scores) or any(want == 1 != got for got, want in pairs)
    fits = enlarges and all(got == want or 1 in (got, want) for got, want in pairs)
    what = "would enlarge the scores" if fits else "does not broadcast to the scores"
    message = (
        f"mask {what}: expected a shape that broadcasts to {scores} (queries are the last axis but "
        f"one, keys the last), got {shape}."
    )
    n_queries, n_keys = (1, *scores)[-2:]
    if len(shape) > len(scores) and set(shape[: len(shape) - len(scores)]) == {1}:
        return (
            f"{message} Drop the leading axes: mask[{', '.join('0' * (len(shape) - len(scores)))}]."
        )
    if len(scores) == 4 and shape == (scores[0], n_keys):
        return f"{message} A row per sequence, for its keys, is mask[:, None, None, :]."
    if len(scores) == 4 and shape in ((scores[0], n_queries, n_keys), (scores[0], 1, n_keys)):
        return f"{message} A mask per sequence lacks the axis of the heads: mask[:, None]."
    if len(scores) == 3 and shape == (scores[0], n_keys):
        return f"{message} A row per sequence, for its keys, is mask[:, None, :]."
    if n_queries != n_keys and shape[-2:] == (n_keys, n_queries):
        return f"{message} It has the queries last: mask.mT."
    return f"{message} An axis of size 1 stands for 'the same for all'."


def _float_tensor(name: str, tensor: object) -> Tensor:
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"{name} must be a torch.Tensor, got {_show(tensor)}. "
            f"Convert it: torch.as_tensor({name})."
        )
    if not tensor.is_floating_point():
        raise TypeError(
            f"{name} must be floating point, got {tensor.dtype}. "
            f"Convert it: {name}.to(torch.get_default_dtype()); token ids need an embedding first."
        )
    return tensor


def _show(value: object) -> str:
    """Type and, where it is short, value of something that should not have come."""
    if isinstance(value, Tensor):
        return f"a tensor of {value.dtype} and shape {tuple(value.shape)}"
    text = repr(value)
    return f"{text} ({type(value).__name__})" if len(text) <= 40 else type(value).__name__
