"""Attention that does less work than n × n: in a window, in strides, and without softmax.

Queries, keys and values belong to the same n positions, and every query attends to its own position
and to earlier ones, as under :func:`attnkit.masks.causal_mask`;
:func:`attnkit.efficient.linear_attention` can also look at everything. No function
here makes a tensor of n × n numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from attnkit import expect
from attnkit.functional import scaled_dot_product_attention, scores_shape
from attnkit.masks import causal_mask, sliding_window_mask

if TYPE_CHECKING:
    from attnkit.shapes import Float

#: Fewest queries of one block of a window: a smaller block is mostly overhead.
BLOCK = 128
#: Positions of one chunk of linear attention; inside of a chunk all pairs are computed.
CHUNK = 64


def windowed_attention(
    query: Float[Tensor, "... n d_key"],
    key: Float[Tensor, "... n d_key"],
    value: Float[Tensor, "... n d_value"],
    window: int,
) -> Float[Tensor, "... n d_value"]:
    """Attend to the own key and the ``window - 1`` keys before it, block after block.

    The output is that of :func:`attnkit.functional.scaled_dot_product_attention` with
    :func:`attnkit.masks.sliding_window_mask`. The queries are cut into blocks of b; together the b
    queries of a block see at most b + w − 1 keys, so that n (b + w − 1) scores are computed in
    place of n². b is the window, or 128 where the window is smaller.

    >>> x = torch.tensor([[1.0], [2.0], [4.0]])
    >>> windowed_attention(torch.zeros(3, 1), x, x, window=2)  # means of two neighbours
    tensor([[1.0000],
            [1.5000],
            [3.0000]])

    Args:
        query: Shape ``(..., n, d_key)``. Leading axes broadcast, as in a matrix product.
        key: Shape ``(..., n, d_key)``.
        value: Shape ``(..., n, d_value)``.
        window: w, the number of keys that a query sees, its own included; at least 1.

    Raises:
        TypeError: A tensor is not floating point, the dtypes differ, or the window is no integer.
        ValueError: Sizes do not fit, devices differ, or the window is empty.

    Beltagy et al., 2020, section 3.1.
    """
    window = expect.integer("window", window, at_least=1)
    _positions(query, key, value)
    block = max(window, BLOCK)
    outputs, former = [], None
    # split, and not one slice for each block: the gradient of a slice is as long as the whole
    blocks = zip(*(x.split(block, dim=-2) for x in (query, key, value)), strict=True)
    for queries, *now in blocks:
        pairs = zip(former or now, now, strict=True)
        seen = [torch.cat(pair, dim=-2) for pair in pairs] if former else now
        size = queries.shape[-2]
        n_keys = min(seen[0].shape[-2], size + window - 1)
        keys, values = (x[..., x.shape[-2] - n_keys :, :] for x in seen)
        mask = sliding_window_mask(size, window, n_keys).to(query.device)
        outputs.append(scaled_dot_product_attention(queries, keys, values, mask).output)
        former = now
    return torch.cat(outputs, dim=-2)


def strided_attention(
    query: Float[Tensor, "... n d_key"],
    key: Float[Tensor, "... n d_key"],
    value: Float[Tensor, "... n d_value"],
    stride: int,
) -> Float[Tensor, "... n d_value"]:
    """Attend to the own key and to those ``stride``, ``2 * stride``, … positions before it.

    The output is that of :func:`attnkit.functional.scaled_dot_product_attention` with
    :func:`attnkit.masks.strided_mask`. Positions that see each other have the same remainder of
    i / s; each of the s classes is a sequence of its own with causal attention. That makes s (n/s)²
    scores, n² / s, and half of them are masked.

    >>> x = torch.tensor([[1.0], [2.0], [4.0]])
    >>> strided_attention(torch.zeros(3, 1), x, x, stride=2)  # the last one also sees the first
    tensor([[1.0000],
            [2.0000],
            [2.5000]])

    Args:
        query: Shape ``(..., n, d_key)``. Leading axes broadcast, as in a matrix product.
        key: Shape ``(..., n, d_key)``.
        value: Shape ``(..., n, d_value)``.
        stride: s, at least 1; with 1 a query sees all keys up to its own.

    Raises:
        TypeError: A tensor is not floating point, the dtypes differ, or the stride is no integer.
        ValueError: Sizes do not fit, devices differ, or the stride is less than 1.

    After the strided pattern of Child et al., 2019, section 4.2.
    """
    stride = expect.integer("stride", stride, at_least=1)
    n = _positions(query, key, value)
    stride = max(1, min(stride, n))  # from n on every query sees itself alone
    length = math.ceil(n / stride)

    def by_class(x: Tensor) -> Tensor:  # (..., n, d) → (..., stride, length, d)
        x = F.pad(x, (0, 0, 0, length * stride - n))  # behind the last query, which looks back
        return x.unflatten(-2, (length, stride)).transpose(-2, -3)

    mask = causal_mask(length).to(query.device)
    output = scaled_dot_product_attention(
        by_class(query), by_class(key), by_class(value), mask
    ).output
    return output.transpose(-2, -3).flatten(-3, -2)[..., :n, :]


def linear_attention(
    query: Float[Tensor, "... n d_key"],
    key: Float[Tensor, "... n d_key"],
    value: Float[Tensor, "... n d_value"],
    *,
    causal: bool = True,
) -> Float[Tensor, "... n d_value"]:
    """Average the values with weights that are products of features, not a softmax of scores.

    .. math:: o_i = \\frac{\\sum_j (\\phi(q_i) \\cdot \\phi(k_j))\\, v_j}
                         {\\sum_j \\phi(q_i) \\cdot \\phi(k_j)}
                  = \\frac{\\phi(q_i)^\\top \\sum_j \\phi(k_j)\\, v_j^\\top}
                         {\\phi(q_i)^\\top \\sum_j \\phi(k_j)},
              \\qquad \\phi(x) = \\operatorname{elu}(x) + 1

    The sums on the right do not depend on i: d_key · (d_value + 1) numbers, whatever n. With
    ``causal`` j runs from the first position to i, and the sums are kept at the begin of each chunk
    of 64 positions. It is another function than softmax attention and not an approximation of it;
    the scores are not scaled.

    >>> x = torch.tensor([[1.0], [2.0], [4.0]])
    >>> linear_attention(torch.zeros(3, 1), torch.zeros(3, 1), x)  # equal features: running means
    tensor([[1.0000],
            [1.5000],
            [2.3333]])

    Sums are in float32 where the inputs are float16 or bfloat16. The features of keys have a least
    value, e⁻⁶¹ in float32, so that no denominator is zero.

    Args:
        query: Shape ``(..., n, d_key)``. Leading axes broadcast, as in a matrix product.
        key: Shape ``(..., n, d_key)``.
        value: Shape ``(..., n, d_value)``.
        causal: Whether query i sees the keys up to its own only.

    Raises:
        TypeError: A tensor is not floating point, the dtypes differ, or ``causal`` is no bool.
        ValueError: Sizes do not fit, or devices differ.

    Katharopoulos et al., 2020, sections 3.2 to 3.4.
    """
    _positions(query, key, value)
    if not isinstance(causal, bool):
        raise TypeError(f"causal must be True or False, got {causal!r}.")
    dtype = value.dtype
    if torch.finfo(dtype).bits < 32:
        query, key, value = query.float(), key.float(), value.float()
    with torch.autocast(query.device.type, enabled=False):
        return _linear(query, key, value, causal).to(dtype)


def _linear(query: Tensor, key: Tensor, value: Tensor, causal: bool) -> Tensor:
    n = query.shape[-2]
    # The factor of a query cancels out: its greatest feature becomes 1, and none of them 0/0.
    log_query = query.clamp(max=0) + query.relu().log1p()
    query = (log_query - log_query.detach().amax(-1, keepdim=True)).exp()
    least = 0.7 * math.log(torch.finfo(key.dtype).tiny)
    key = key.clamp(least, 0).exp() + key.relu()
    value = torch.cat([value, torch.ones_like(value[..., :1])], dim=-1)  # the denominator's column
    if causal:
        sums = _causal_sums(query, key, value)[..., :n, :]
    else:
        sums = query @ (key.mT @ value)
    return sums[..., :-1] / sums[..., -1:]


def _causal_sums(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Σ_{j ≤ i} (q_i · k_j) v_j for every i, chunk by chunk; behind the end there is more."""
    n = query.shape[-2]
    length = max(1, math.ceil(n / CHUNK))

    def chunks(x: Tensor) -> Tensor:  # (..., n, d) → (..., chunks, CHUNK, d)
        return F.pad(x, (0, 0, 0, length * CHUNK - n)).unflatten(-2, (length, CHUNK))

    query, key, value = chunks(query), chunks(key), chunks(value)
    inside = (query @ key.mT).tril() @ value
    states = (key.mT @ value).cumsum(-3)
    before = F.pad(states[..., :-1, :, :], (0, 0, 0, 0, 1, 0))  # nothing before the first chunk
    return (inside + query @ before).flatten(-3, -2)


def _positions(query: Tensor, key: Tensor, value: Tensor) -> int:
    """Check that three tensors have the same positions, and return how many."""
    expect.floats(query=query, key=key, value=value)
    n_queries, n_keys = scores_shape(query, key, value)[-2:]
    if n_queries != n_keys:
        raise ValueError(
            f"query and key must belong to the same n positions, got {n_queries} queries and "
            f"{n_keys} keys. For the last queries of a longer sequence give all of them and take "
            f"output[..., -{n_queries}:, :]."
        )
    return n_queries
