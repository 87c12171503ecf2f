"""All metrics of all heads of a model at once, over a batch of inputs."""

from __future__ import annotations

import warnings
from typing import Any

import torch
from torch import Tensor

from attnkit import expect
from attnkit.patterns import definitions
from attnkit.patterns.definitions import Definition
from attnkit.patterns.kinds import Thresholds
from attnkit.patterns.reading import Maps, read_maps
from attnkit.patterns.rows import Rows
from attnkit.patterns.sight import Sight
from attnkit.patterns.table import MEASURES, HeadTable, Sums, read_thresholds

#: The measures of a head that need no period.
DEFINITIONS: dict[str, Definition] = {
    "entropy": definitions.ENTROPY,
    "normalized_entropy": definitions.NORMALIZED_ENTROPY,
    "effective_keys": definitions.EFFECTIVE_KEYS,
    "concentration": definitions.CONCENTRATION,
    "previous": definitions.diagonal(-1),
    "same": definitions.diagonal(0),
    "next": definitions.diagonal(1),
    "local_focus": definitions.local(3),
    "mean_distance": definitions.MEAN_DISTANCE,
    "sink": definitions.SINK,
}


def describe_heads(
    weights: Any,
    mask: Any = None,
    query_mask: Any = None,
    *,
    period: int | None = None,
    thresholds: Thresholds = Thresholds(),  # noqa: B008
    first_query: int | None = None,
) -> HeadTable:
    """Measure every head of a model over a batch of inputs, and say of which kind it is.

    Each metric is computed for each input, then averaged over the inputs: a long sentence counts
    as much as a short one, and the standard deviation is that between inputs. Beside it stands the
    same of the uniform head under the same masks. Batches of different lengths are described one
    by one and added: ``sum(describe_heads(w, m, q) for w, m, q in batches)``.

    >>> weights = torch.zeros(1, 2, 4, 4)  # 1 layer, 2 heads, 4 tokens
    >>> weights[0, 0] = torch.ones(4, 4).tril() / torch.arange(1, 5)[:, None]
    >>> weights[0, 1, [0, 1, 2, 3], [0, 0, 1, 2]] = 1
    >>> table = describe_heads(weights, attnkit.causal_mask(4), thresholds=Thresholds(queries=4))
    >>> table[0, 1].previous
    Measure(mean=1.0, sd=nan, baseline=0.36111111...)
    >>> table.kinds
    {(0, 0): 'broad', (0, 1): 'previous'}

    Args:
        weights: ``(layers, batch, heads, T_q, T_k)``, ``(layers, heads, T_q, T_k)``, or a list of
            one ``(batch, heads, T_q, T_k)`` for each layer, which is not copied. Rows that are all
            zeros are queries that may see nothing; they do not count.
        mask: Boolean, True = may attend, broadcastable to the weights: a causal mask, a padding
            mask, or both. What is padded or causal needs it.
        query_mask: Boolean, True = this query counts: padding queries do not. The
            ``(batch, 1, 1, T)`` of :func:`attnkit.masks.padding_mask` is taken.
        period: For repeated sequences, the length of a copy: see :func:`induction_score`.
        thresholds: From where on a head is of a kind.
        first_query: Position of the first query among the keys, see :func:`diagonal_strength`.

    Raises:
        TypeError: No weights, a mask that is not boolean, thresholds that are none.
        ValueError: As the metrics do; or weights with other axes.

    Warns:
        UserWarning: A causal mask is missing, or padding queries count.
    """
    thresholds = read_thresholds(thresholds)
    maps = _five_axes(read_maps(weights), mask)
    sight = Sight(maps.shape, mask, query_mask, first_query)
    measured = dict(DEFINITIONS)
    if period is not None:
        measured["induction"] = definitions.induction(expect.integer("period", period, at_least=1))
    rows = Rows(maps, sight, list(measured.values()))
    _warn(maps, rows)
    heads = (maps.shape[0], maps.shape[2])
    empty = [torch.zeros(heads, dtype=torch.float64)] * 4
    measures = [
        _over_inputs(rows, measured[name]) if name in measured else empty for name in MEASURES
    ]
    inputs, queries = (
        count.expand(maps.shape[:3]).sum(1)
        for count in (rows.counted.any(-1), rows.counted.sum(-1))
    )
    return HeadTable(
        Sums(inputs, queries, *map(torch.stack, zip(*measures, strict=True))), thresholds
    )


def _five_axes(maps: Maps, mask: Any) -> Maps:
    """The weights with the axes of a table, those of size 1 that are missing added."""
    axes, shape = "(layers, batch, heads, queries, keys)", maps.shape
    if len(shape) > 5:
        raise ValueError(
            f"{maps.name} must have the axes {axes}, got the shape {shape}. Steps of a training "
            "run are described one by one."
        )
    if len(shape) == 5:
        return maps
    if len(shape) == 4 and len(getattr(mask, "shape", ())) == 4 and mask.shape[0] > 1:
        raise ValueError(
            f"the mask has a row for each of {mask.shape[0]} sequences, and {maps.name} of the "
            f"shape {shape} are read as (layers, heads, queries, keys). For a batch in one layer: "
            f"{maps.name}[None]."
        )
    lead = (1,) * (4 - len(shape)) + shape[: len(shape) - 2]
    new = (lead[0], 1, lead[1], *shape[-2:])
    if len(maps.pieces) > 1:
        return maps._replace(pieces=[piece[None] for piece in maps.pieces], shape=new)
    return maps._replace(pieces=[maps.pieces[0].reshape(new)], shape=new)


def _over_inputs(rows: Rows, definition: Definition) -> list[Tensor]:
    """Count, mean, squares and baseline of a measure over the inputs, each ``(layers, heads)``."""
    defined = rows.defined(definition)
    number = defined.sum(-1)
    shape = rows.sight.shape[:3]
    has = (number > 0).expand(shape)
    even = torch.where(defined, definition.even(rows.sight), 0.0).sum(-1) / number.clamp_min(1)
    values = rows.values(definition)
    if not defined.all():
        values = torch.where(defined, values, 0.0)
    values = values.sum(-1, dtype=torch.float64)
    values /= number.clamp_min(1)
    count = has.sum(1).double()
    mean = values.sum(1) / count.clamp_min(1)
    squares = torch.where(has, (values - mean[:, None]) ** 2, 0.0).sum(1)
    baseline = even.expand(shape).sum(1) / count.clamp_min(1)
    return [count, mean, squares, baseline]


def _warn(maps: Maps, rows: Rows) -> None:
    """Of masks that seem to be missing."""
    sight = rows.sight
    if sight.given_first is not None or not rows.counted.any():
        return
    if _looks_causal(maps, sight):
        warnings.warn(
            "no head attends to a later key, and the mask allows it: a causal model without its "
            "mask? The baselines are wrong then. Give it: mask=attnkit.causal_mask(T), with "
            "padding causal_mask(T) & padding_mask(lengths).",
            UserWarning,
            stacklevel=3,
        )
    if sight.cells is not None:
        dead = ~sight.cells.any(-2)[..., sight.positions]
        if (dead & rows.counted).any():
            warnings.warn(
                "queries count whose own key nobody may see: padding? Leave them out: "
                "query_mask=attnkit.padding_mask(lengths). (If these are no padding: "
                "first_query=0 says that queries and keys are different tokens.)",
                UserWarning,
                stacklevel=3,
            )


def _looks_causal(maps: Maps, sight: Sight) -> bool:
    """Is every weight on a later key exactly 0, though some of them may be seen?"""
    found = False
    for rows in sight.in_parts():
        later = sight.offsets(rows) > 0
        if sight.cells is not None:
            later = (later & sight.cells[..., rows, :]).flatten(0, -3).any(0)
        for i in later.any(-1).nonzero()[:, 0].tolist():
            if any(piece[..., rows.start + i, later[i]].any() for piece in maps.pieces):
                return False
            found = True
    return found
