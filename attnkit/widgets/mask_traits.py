"""Traits that hold a square table: scores, and a mask."""

from typing import Any

import torch
import traitlets

from attnkit.widgets.traits import PlainList, is_number, refuse


class ScoreTable(PlainList):
    """n rows of n finite numbers, n = the number of tokens of the widget; a tensor is copied."""

    def __init__(self) -> None:
        super().__init__(traitlets.List())

    def validate(self, obj: Any, value: Any) -> list[list[float]]:
        n = obj.n_tokens
        expected = f"{n} rows of {n} finite numbers, a score of each query and key"
        rows = _rows(value)
        if rows is None or len(rows) != n or any(len(row) != n for row in rows):
            cure = f"Give as many rows and columns as there are tokens, {n}; {_got(value)}."
            refuse(self, obj, expected, value, cure)
        for i, row in enumerate(rows):
            for j, score in enumerate(row):
                if not is_number(score) or not abs(score) < float("inf"):
                    cure = f"The score in row {i}, column {j} is {score!r}."
                    if score == -float("inf"):
                        cure += " To block a key use the mask."
                    refuse(self, obj, expected, value, cure)
        return [[float(score) for score in row] for row in rows]


class MaskTable(PlainList):
    """n rows of n bools, True = may attend; a tensor or array that broadcasts to them is copied."""

    def __init__(self) -> None:
        super().__init__(traitlets.List())

    def validate(self, obj: Any, value: Any) -> list[list[bool]]:
        n = obj.n_tokens
        expected = f"a boolean mask of {n} queries × {n} keys, True = may attend"
        rows = value if isinstance(value, (list, tuple)) else _broadcast(value, n)
        rows = _rows(rows)
        if rows is None or len(rows) != n or any(len(row) != n for row in rows):
            cure = f"Make it for as many queries and keys as there are tokens, {n}; {_got(value)}."
            refuse(self, obj, expected, value, cure)
        if any(not isinstance(allowed, bool) for row in rows for allowed in row):
            cure = (
                "It holds other things than True and False. Of numbers in which 1 marks a blocked "
                "key, attnkit.from_blocked makes a mask; of 1 = may attend, mask == 1 does."
            )
            refuse(self, obj, expected, value, cure)
        return [list(row) for row in rows]


def _broadcast(value: Any, n: int) -> Any:
    """A tensor or array of (1, 1, n or 1, n) as (n, n); anything else as it came."""
    if not hasattr(value, "tolist"):
        return value
    tensor = torch.as_tensor(value)
    while tensor.ndim > 2 and tensor.shape[0] == 1:
        tensor = tensor[0]
    one_row = tensor.ndim == 2 and tensor.shape == (1, n)
    return tensor.expand(n, n) if one_row else tensor


def _rows(value: Any) -> list[list[Any]] | None:
    """The value as a list of lists, or None where it is none."""
    items = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(items, (list, tuple)):
        return None
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in items]
    if any(not isinstance(row, (list, tuple)) for row in rows):
        return None
    return [list(row) for row in rows]


def _got(value: Any) -> str:
    if hasattr(value, "shape"):
        return f"this one has the shape {tuple(value.shape)}"
    rows = _rows(value)
    if rows is None:
        return "this is no list of rows"
    counts = sorted({len(row) for row in rows})
    return f"this one has {len(rows)} rows of {' or '.join(map(str, counts))}"
