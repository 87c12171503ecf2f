"""The arithmetic under the formulas: nothing overflows, and padding may hold what it likes.

The formulas of :mod:`attnkit.functional` in the order of one attention: make unreachable places
harmless, scores, mask, softmax. The arguments are taken as checked.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def dot_product_weights(
    query: Tensor,
    key: Tensor,
    mask: Tensor | None,
    scale: float | None = None,
    temperature: float = 1.0,
    *,
    careful: bool = True,
) -> Tensor:
    """The weights of :func:`scaled_dot_product_attention`, for arguments already checked.

    The query is scaled and not the scores: that is less work, and in float16 the products stay
    √d_key times further from overflow. Unless ``careful``, the mask is added to the scores in
    place, which is several times faster than choosing, and right as long as no score is infinite
    or NaN; the rows that may see nothing are left alone and zeroed after.
    """
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1] or 1)
    scores = (query * scale) @ key.mT
    if mask is None:
        return _softmax(scores, temperature)
    alive = _any(mask, -1)
    if careful:
        blocked = torch.where(alive, -math.inf, 0.0).to(scores.dtype)
        scores = torch.where(mask, scores, blocked)
    else:
        bias = torch.where(mask | ~alive, 0.0, -math.inf).to(scores.dtype)
        try:
            scores += bias
        except RuntimeError:  # the mask has axes that the scores lack: those of value, or vmap's
            scores = scores + bias
    weights = _softmax(scores, temperature)
    del scores  # the product below needs its room
    return weights * alive.to(weights.dtype)


def without_unreachable(
    mask: Tensor, query: Tensor, key: Tensor, value: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Zero the queries that may attend to no key, the keys and values that no query may attend to.

    Padding may hold NaN, and 0 · NaN is NaN: a weight of zero is not enough.
    """
    reachable = _any(mask, -2).mT if mask.ndim > 1 else mask.unsqueeze(-1)
    query = torch.where(_any(mask, -1), query, 0.0)
    return query, torch.where(reachable, key, 0.0), torch.where(reachable, value, 0.0)


def surely_bounded(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether all are finite and so small that no product of them can overflow.

    False, without asking, where asking would wait (GPU) or fail (vmap), and in float16, in which
    ordinary numbers overflow. A norm is the fastest question; |q·k| is at most |q|·|k|.
    """
    if query.dtype == torch.float16 or not query.is_cpu or torch.compiler.is_compiling():
        return False
    most = torch.finfo(query.dtype).max ** 0.25
    try:
        if not torch.linalg.vector_norm(query.detach()) < most:
            return False
        if key is not query and not torch.linalg.vector_norm(key.detach()) < most:
            return False
        return value is key or bool(torch.linalg.vector_norm(value.detach()) < most)
    except RuntimeError:
        return False


def _softmax(scores: Tensor, temperature: float) -> Tensor:
    return (scores if temperature == 1.0 else divided(scores, temperature)).softmax(-1)


def divided(scores: Tensor, temperature: float) -> Tensor:
    """The scores less the row's greatest, over the temperature: so nothing can overflow."""
    if not scores.shape[-1]:
        return scores
    # What PyTorch divides by is at least a float32; outside of its range 0/0 would come out.
    range_ = torch.finfo(torch.promote_types(scores.dtype, torch.float32))
    temperature = min(max(temperature, range_.tiny), range_.max)
    return (scores - scores.detach().amax(-1, keepdim=True)) / temperature


def _any(mask: Tensor, axis: int) -> Tensor:
    return mask.any(axis, keepdim=True) if mask.ndim else mask
