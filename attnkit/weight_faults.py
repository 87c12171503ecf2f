"""What is wrong with things that are meant to be attention weights, and the likeliest cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor

#: A blocked key may have this weight: e to the power of a mask that is added as a finite number.
LEAST = 1e-6
#: How far a row of bfloat16 may be from a sum of 1.
BFLOAT16 = 3e-2


def hides_entries(values: Any) -> bool:
    """Is it one of NumPy's masked arrays, with something masked?"""
    return hasattr(values, "filled") and bool(values.mask.any())


def cure_of(weights: Any, name: str) -> str:
    """What to do with things that hold weights in another way, if it is known."""
    if isinstance(weights, Tensor | Mapping) or not isinstance(weights, Iterable):
        return ""
    if hasattr(weights, "__array__"):
        return f" Convert it: {name}.astype(float)." if hasattr(weights, "astype") else ""
    first = next(iter(weights), None)
    if hasattr(first, "_fields") and hasattr(first, "weights"):
        return f" Take the field of each: [one.weights for one in {name}]."
    if isinstance(first, list | tuple) and any(hasattr(inner, "__array__") for inner in first):
        return f" Stack the inner ones: [torch.stack(inner) for inner in {name}]."
    return ""


def check_values(tensor: Tensor, axes: tuple[str, ...], tolerance: float, name: str) -> None:
    """Refuse what softmax cannot have given: NaN, negative numbers, rows that do not sum to 1."""
    finite = tensor.isfinite()
    if not finite.all():
        at = (~finite).nonzero()[0]
        value = tensor[tuple(at)].item()
        cure = "Infinite values are masked scores: apply scores.softmax(-1) first."
        if value != value:
            cure = (
                "A softmax over a row whose scores are all −inf gives NaN: "
                "attnkit.masked_softmax(scores, mask) gives zeros for a query that may see nothing."
            )
        raise ValueError(f"{name} must be finite, got {value} at {_place(at, axes)}. {cure}")
    if tensor.min() < 0:
        at = (tensor < 0).nonzero()[0]
        raise ValueError(
            f"{name} must be 0 or more, got {tensor[tuple(at)].item():.3g} at {_place(at, axes)}. "
            "It looks like scores: apply scores.softmax(-1) first."
        )
    sums = tensor.sum(-1)
    wrong = ((sums - 1).abs() > tolerance) & (sums != 0)
    if wrong.any() and tolerance < BFLOAT16 and (tensor.bfloat16() == tensor).all():
        # NumPy has no bfloat16: such weights come as .float(), rounded all the same.
        wrong &= (sums - 1).abs() > BFLOAT16
    if wrong.any():
        at = wrong.nonzero()[0]
        raise ValueError(
            f"each row of {name} must sum to 1, got a sum of {sums[tuple(at)].item():.4g} at "
            f"{_place(at, axes)}. {_why_no_sum(tensor, sums, tolerance)}"
        )


def _why_no_sum(tensor: Tensor, sums: Tensor, tolerance: float) -> str:
    """The likeliest of the ways to get rows that do not sum to 1."""
    columns = tensor.sum(-2)
    if tensor.shape[-2] > 1 and ((columns - 1).abs() <= tolerance).all():
        return "The columns do: softmax over the queries? Use softmax(-1), or transpose: .mT."
    whole = sums.mean().round()
    if whole > 1 and ((sums - whole).abs() <= tolerance * whole).all():
        return (
            f"All rows sum to {whole:g}: maps added up over heads, layers or sequences? Their "
            "mean has rows that sum to 1."
        )
    if sums.max() <= 1 + tolerance:
        return (
            "No row sums to more: rows cut out of a larger map keep only a part of their weight, "
            "draw the whole map. Or weights after dropout: call model.eval() first."
        )
    return (
        "It looks like scores (apply scores.softmax(-1)) or like weights after dropout (call "
        "model.eval() first)."
    )


def check_blocked(tensor: Tensor, mask: Tensor, axes: tuple[str, ...], name: str) -> None:
    """Refuse weight on a key that the mask blocks."""
    wrong = ~mask & (tensor > LEAST)
    if not wrong.any():
        return
    at = wrong.nonzero()[0]
    flipped = not (mask & (tensor > LEAST)).any()
    nothing = not mask[tuple(at[:-1])].any()
    cure = "Is the mask's polarity flipped (True = may attend), or is it another model's mask?"
    if flipped:
        cure = "The mask's polarity is flipped: ~mask fits. True = may attend."
    elif nothing:
        cure = (
            "This query may see nothing, and its weights must be zeros: a mask added as −10⁹ "
            "spreads them evenly, attnkit.masked_softmax(scores, mask) gives zeros."
        )
    raise ValueError(
        f"{name} must be 0 where the mask blocks, got {tensor[tuple(at)].item():.3g} at "
        f"{_place(at, axes)}. {cure}"
    )


def _place(at: Tensor, axes: tuple[str, ...]) -> str:
    """ "head 1, query 2, key 0": an index in words."""
    one = {"queries": "query"}
    return ", ".join(
        f"{one.get(axis, axis.removesuffix('s'))} {i}"
        for axis, i in zip(axes, at.tolist(), strict=False)
    )
