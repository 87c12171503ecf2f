"""How alike heads are, and how much the loss depends on each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attnkit.patterns.definitions import ENTROPY
from attnkit.patterns.reading import read_maps, read_query_mask
from attnkit.patterns.rows import BLOCK, Rows, entropy_of
from attnkit.patterns.sight import Sight

if TYPE_CHECKING:
    from attnkit.shapes import Float


def head_similarity(
    weights: Float[Tensor, "*lead heads n_queries n_keys"], mask: Any = None, query_mask: Any = None
) -> Float[Tensor, "*lead heads heads"]:
    """How alike the maps of heads are: 1 less the Jensen–Shannon divergence, as a share of ln 2.

    .. math::
        1 - \\operatorname{mean}_i \\frac{1}{\\ln 2}
        \\Bigl[H\\bigl(\\tfrac12 (A_i + B_i)\\bigr) - \\tfrac12 H(A_i) - \\tfrac12 H(B_i)\\Bigr]

    over the queries that count in both heads: 1 for equal maps, 0 for heads that never attend to
    the same key (Clark et al., 2019, compare heads by this divergence). Two even heads are alike,
    whatever they do with what they read. Time grows with the square of the number of heads.

    >>> left, right = [[1.0, 0.0], [1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]]
    >>> head_similarity([left, right])  # alike in one query of two
    tensor([[1.0000, 0.5000],
            [0.5000, 1.0000]])

    Args:
        weights: ``(..., heads, T_q, T_k)``. Heads of all layers are compared as one axis:
            ``torch.cat(layers, dim=-3)``.

    The other arguments and errors are those of :func:`entropy`; a ValueError also without an axis
    of heads. nan where no query counts in both.
    """
    maps = read_maps(weights)
    if len(maps.shape) < 3:
        raise ValueError(
            f"weights must have the axes (..., heads, queries, keys), got the shape {maps.shape}. "
            "Two maps are compared as two heads: torch.stack([a, b])."
        )
    rows = Rows(maps, Sight(maps.shape, mask, query_mask), [ENTROPY])
    *lead, heads, n_queries, n_keys = maps.shape
    entropy = rows.values(ENTROPY).reshape(-1, heads, n_queries)
    counted = rows.defined(ENTROPY).expand(maps.shape[:-1]).reshape(entropy.shape)
    stacked = maps.pieces[0] if len(maps.pieces) == 1 else torch.stack(maps.pieces)
    groups = stacked.reshape(-1, heads, n_queries, n_keys)
    found = torch.stack(
        [
            _similarity(group.to(maps.dtype), own, may)
            for group, own, may in zip(groups, entropy, counted, strict=True)
        ]
    )
    return found.reshape(*lead, heads, heads).to(maps.dtype)


def gradient_importance(
    head_outputs: Float[Tensor, "batch heads n_queries d_head"],
    gradients: Float[Tensor, "batch heads n_queries d_head"],
    query_mask: Any = None,
) -> Float[Tensor, " heads"]:
    """How much the loss would change with each head, to first order (Michel et al., 2019).

    .. math:: \\mathbb{E}_x \\Bigl|\\sum_{i,c} o_{ic}\\,
        \\frac{\\partial L(x)}{\\partial o_{ic}}\\Bigr|
        = \\mathbb{E}_x \\Bigl|\\frac{\\partial L(x)}{\\partial \\xi_h}\\Bigr|

    where a gate :math:`\\xi_h = 1` multiplies the output of head h. The loss must be the *sum* over
    the examples of a batch: the mean makes all values smaller by the size of the batch.

    >>> outputs = torch.tensor([[[[1.0, 2.0]], [[3.0, 0.0]]]])  # 1 example, 2 heads, 1 query
    >>> gradient_importance(outputs, torch.tensor([[[[0.5, -1.0]], [[1.0, 7.0]]]]))
    tensor([1.5000, 3.0000])

    Args:
        head_outputs: What each head hands on, ``(batch, heads, T_q, d_head)``; the batch axis may
            be missing.
        gradients: The gradient of the loss with respect to it, of the same shape.
        query_mask: Boolean, True = this query counts, broadcastable to ``(batch, heads, T_q)``.

    Returns:
        ``(heads,)``, 0 or more, in units of the loss; examples without a query that counts are
        left out, and nan stands where there is no other.

    Raises:
        TypeError: Gradients that are None, or no floating-point numbers.
        ValueError: Other axes, different shapes, or numbers that are not finite.
    """
    outputs, slopes = _numbers("head_outputs", head_outputs), _numbers("gradients", gradients)
    if outputs.shape != slopes.shape or outputs.dim() not in (3, 4):
        raise ValueError(
            "head_outputs and gradients must both be (batch, heads, queries, d_head), got the "
            f"shapes {tuple(outputs.shape)} and {tuple(slopes.shape)}."
        )
    dtype = torch.promote_types(torch.promote_types(outputs.dtype, slopes.dtype), torch.float32)
    if outputs.dim() == 3:
        outputs, slopes = outputs[None], slopes[None]
    change = (outputs.double() * slopes.double()).sum(-1)
    counts = read_query_mask(query_mask, (*change.shape, 1))
    if counts is None:
        counts = torch.ones_like(change, dtype=torch.bool)
    change = torch.where(counts, change, 0.0).sum(-1).abs()
    if not change.isfinite().all():
        raise ValueError(
            "head_outputs and gradients must be finite where queries count, got NaN or infinity. "
            "Padding is left out by query_mask."
        )
    some = counts.any(-1).expand(change.shape)
    return (torch.where(some, change, 0.0).sum(0) / some.sum(0)).to(dtype)


def _similarity(maps: Tensor, entropy: Tensor, counted: Tensor) -> Tensor:
    """Of ``(heads, T_q, T_k)``: the similarity of each pair, ``(heads, heads)`` in float64."""
    heads, n_queries, n_keys = maps.shape
    total = torch.zeros(heads, heads, dtype=torch.float64)
    step = max(1, BLOCK // (heads * n_keys))
    for start in range(0, n_queries, step):
        here = slice(start, start + step)
        block, own, may = maps[:, here].contiguous(), entropy[:, here], counted[:, here]
        for head in range(heads - 1):
            others = slice(head + 1, heads)
            mixed = entropy_of((block[others] + block[head]).div_(2))
            apart = mixed - (own[others] + own[head]) / 2
            apart = apart.double().clamp(0, math.log(2))
            total[head, others] += apart.where(may[others] & may[head], 0.0).sum(-1)
    number = counted.double() @ counted.double().T
    number.masked_fill_(number == 0, math.nan)
    return 1 - (total + total.T) / (math.log(2) * number)


def _numbers(name: str, values: Any) -> Tensor:
    if values is None:
        cure = " Compute them: torch.autograd.grad(loss, head_outputs)."
        raise TypeError(f"{name} must be a tensor, got None.{cure if name == 'gradients' else ''}")
    tensor = torch.as_tensor(values).detach().cpu()
    if not tensor.is_floating_point():
        raise TypeError(f"{name} must be floating point, got {tensor.dtype}.")
    return tensor
