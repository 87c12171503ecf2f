"""Attention as functions: scores, weights, weighted sum.

A *score* is what a query and a key have before the softmax, a *weight* what they have after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from attnkit import expect
from attnkit.numerics import (
    divided,
    dot_product_weights,
    surely_bounded,
    without_unreachable,
)

if TYPE_CHECKING:
    from attnkit.shapes import Bool, Float


class AttentionOutput(NamedTuple):
    """What every attention function and module returns.

    >>> result = AttentionOutput(torch.ones(2, 3), torch.eye(2))
    >>> output, weights = result
    >>> output is result.output
    True
    """

    #: The weighted sums of the values, ``(..., T_q, d_value)``.
    output: Tensor
    #: The weights, ``(..., T_q, T_k)``; None when they were not asked for.
    weights: Tensor | None


def masked_softmax(
    scores: Float[Tensor, "... n_k"],
    mask: Bool[Tensor, "*mask"] | None = None,
    *,
    temperature: float = 1.0,
) -> Float[Tensor, "... n_k"]:
    """Turn scores into weights that are positive and sum to 1 over the allowed keys.

    .. math:: a_j = \\frac{m_j \\exp(s_j / \\tau)}{\\sum_k m_k \\exp(s_k / \\tau)}

    A row with no allowed key gives zeros, and its gradient is zero, in every precision. A score of
    −inf, or of the dtype's least number, counts as blocked. The arguments are not changed.

    >>> scores = torch.tensor([[0.0, 0.0, 9.0], [0.0, 0.0, 9.0]])
    >>> masked_softmax(scores, torch.tensor([[True, True, False], [False, False, False]]))
    tensor([[0.5000, 0.5000, 0.0000],
            [0.0000, 0.0000, 0.0000]])

    Args:
        scores: Floating point, keys on the last axis.
        mask: Boolean, True = allowed; broadcasts to the scores.
        temperature: τ > 0. Below 1 the weights are sharper, above 1 they are flatter.

    Returns:
        Weights of the shape and dtype of ``scores``.

    Raises:
        TypeError: The scores are not floating point, the mask is not boolean, or the temperature
            is not a number.
        ValueError: The mask does not broadcast to the scores or would enlarge them, is on another
            device, or the temperature is not greater than 0.
    """
    expect.floats(scores=scores)
    if scores.ndim == 0:
        raise ValueError(
            "scores must have at least one axis, that of the keys, got a single number."
        )
    temperature = expect.temperature(temperature)
    lowest = torch.finfo(scores.dtype).min
    allowed = ~(scores <= lowest)  # not `scores > lowest`: NaN must stay visible
    if mask is not None:
        expect.mask(mask, scores.shape, scores.device)
        allowed = allowed & mask
    # The least number and not −inf: a row of −inf has the softmax NaN, which would vanish from the
    # result but not from the backward pass.
    scores = torch.where(allowed, scores, lowest)
    if temperature != 1.0:  # divided by a great one, even the least number would have a share
        scores = torch.where(allowed, divided(scores, temperature), lowest)
    return scores.softmax(-1) * allowed.to(scores.dtype)


def scaled_dot_product_attention(
    query: Float[Tensor, "... n_q d_key"],
    key: Float[Tensor, "... n_k d_key"],
    value: Float[Tensor, "... n_k d_value"],
    mask: Bool[Tensor, "*mask"] | None = None,
    *,
    scale: float | None = None,
    temperature: float = 1.0,
) -> AttentionOutput:
    """Average the values, each weighted by how well its key fits the query.

    .. math:: A = \\operatorname{softmax}\\!\\left(\\frac{Q K^\\top}{\\sqrt{d_k}}\\right),
              \\qquad O = A V

    >>> query = torch.tensor([[2.0, 0.0]])
    >>> key = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> value = torch.tensor([[10.0], [20.0]])
    >>> output, weights = scaled_dot_product_attention(query, key, value)
    >>> weights  # softmax of 2/√2 and 0
    tensor([[0.8044, 0.1956]])
    >>> output
    tensor([[11.9557]])

    A key that no query may attend to cannot change anything, even when it or its value is NaN or
    infinite: it is read as zero, and so is a query that may attend to no key. Where only *some*
    queries are blocked from such a value, NaN spreads to them too (0 · NaN is NaN), as it does in
    PyTorch.

    Args:
        query: Shape ``(..., T_q, d_key)``. Leading axes broadcast, as in a matrix product.
        key: Shape ``(..., T_k, d_key)``.
        value: Shape ``(..., T_k, d_value)``.
        mask: Boolean, True = this query may attend to this key; broadcasts to the scores
            ``(..., T_q, T_k)``. A query with no allowed key gets zeros.
        scale: Factor of the scores; 1/√d_key when left out. ``scale=1.0`` leaves them unscaled.
        temperature: τ > 0, divides the scaled scores.

    Returns:
        The output ``(..., T_q, d_value)`` and the weights ``(..., T_q, T_k)``.

    Raises:
        TypeError: A tensor is not floating point or the dtypes differ, the mask is not boolean, or
            scale or temperature is not a number.
        ValueError: Sizes do not fit, devices differ, or the temperature is not greater than 0.

    Vaswani et al., 2017, section 3.2.1.
    """
    return attend(query, key, value, mask, scale=scale, temperature=temperature)


def additive_scores(
    query: Float[Tensor, "... n_q d_hidden"],
    key: Float[Tensor, "... n_k d_hidden"],
    score_vector: Float[Tensor, " d_hidden"],
) -> Float[Tensor, "... n_q n_k"]:
    """Score a projected query against a projected key with a small network instead of a product.

    .. math:: s_{ij} = v^\\top \\tanh(q_i + k_j)

    >>> query = torch.tensor([[0.0, 0.0]])
    >>> key = torch.tensor([[0.0, 0.0], [0.5, -9.0]])
    >>> additive_scores(query, key, torch.tensor([1.0, 2.0]))  # tanh(.5) − 2
    tensor([[ 0.0000, -1.5379]])

    Args:
        query: Shape ``(..., T_q, d_hidden)``, already projected. Leading axes broadcast.
        key: Shape ``(..., T_k, d_hidden)``, already projected.
        score_vector: v, of shape ``(d_hidden,)``.

    Returns:
        Scores of shape ``(..., T_q, T_k)``. ``T_q · T_k · d_hidden`` numbers are held meanwhile.

    Raises:
        TypeError: A tensor is not floating point, or the dtypes differ.
        ValueError: Sizes do not fit, or devices differ.

    Bahdanau et al., 2015, appendix A.1.2.
    """
    expect.floats(query=query, key=key, score_vector=score_vector)
    if score_vector.ndim != 1:
        raise ValueError(
            f"score_vector must have one axis, (d_hidden,), got {tuple(score_vector.shape)}. "
            "The weight of a Linear(d_hidden, 1) is a row: weight.squeeze(0)."
        )
    _two_axes("query", query, "T_q", "d_hidden")
    _two_axes("key", key, "T_k", "d_hidden")
    expect.size("key", key, -1, query.shape[-1], "d_hidden, as in query")
    expect.size("score_vector", score_vector, -1, query.shape[-1], "d_hidden, as in query")
    _leading_axes(query=query, key=key)
    return torch.tanh(query.unsqueeze(-2) + key.unsqueeze(-3)) @ score_vector


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    *,
    scale: float | None = None,
    temperature: float = 1.0,
    dropout: float = 0.0,
) -> AttentionOutput:
    """:func:`scaled_dot_product_attention` with dropout between the weights and the values."""
    expect.floats(query=query, key=key, value=value)
    shape = scores_shape(query, key, value)
    if scale is not None:
        scale = expect.number("scale", scale)
    temperature = expect.temperature(temperature)
    careful = False
    if mask is not None:
        expect.mask(mask, shape, query.device)
        careful = not surely_bounded(query, key, value)
        if careful:
            query, key, value = without_unreachable(mask, query, key, value)
    weights = dot_product_weights(query, key, mask, scale, temperature, careful=careful)
    dropped = F.dropout(weights, dropout) if dropout else weights
    return AttentionOutput(dropped @ value, weights)


def scores_shape(query: Tensor, key: Tensor, value: Tensor) -> tuple[int, ...]:
    """Check that the sizes fit and return the shape of the scores."""
    _two_axes("query", query, "T_q", "d_key")
    _two_axes("key", key, "T_k", "d_key")
    _two_axes("value", value, "T_k", "d_value")
    expect.size("key", key, -1, query.shape[-1], "d_key, as in query")
    expect.size("value", value, -2, key.shape[-2], "T_k, as in key")
    return (*_leading_axes(query=query, key=key, value=value), query.shape[-2], key.shape[-2])


def _two_axes(name: str, tensor: Tensor, *axes: str) -> None:
    if tensor.ndim < 2:
        raise ValueError(
            f"{name} must have at least the two axes (..., {', '.join(axes)}), got the shape "
            f"{tuple(tensor.shape)}. One vector is a sequence of length 1: {name}[None, :]."
        )


def _leading_axes(**tensors: Tensor) -> tuple[int, ...]:
    """The common leading axes, those before the last two, as a matrix product broadcasts them."""
    leading = {name: tuple(tensor.shape[:-2]) for name, tensor in tensors.items()}
    if len(set(leading.values())) == 1:
        return next(iter(leading.values()))
    try:
        return tuple(torch.broadcast_shapes(*leading.values()))
    except RuntimeError:
        got = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(
            f"the axes before the last two must be equal or 1, as in a matrix product, got {got}."
        ) from None
