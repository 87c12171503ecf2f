"""Positions that act on the scores: by the distance of a query and a key, not by their places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnkit import expect

if TYPE_CHECKING:
    from attnkit.shapes import Float, Shaped


def rotary(
    x: Float[Tensor, "*batch n_positions d"],
    positions: Shaped[Tensor, "*positions"] | Sequence[float] | None = None,
    *,
    base: float = 10_000.0,
) -> Float[Tensor, "*batch n_positions d"]:
    """Turn each pair of dimensions by an angle that grows with the position.

    .. math:: \\begin{pmatrix} x'_{2i} \\\\ x'_{2i+1} \\end{pmatrix} =
              \\begin{pmatrix} \\cos p\\,\\omega_i & -\\sin p\\,\\omega_i \\\\
              \\sin p\\,\\omega_i & \\cos p\\,\\omega_i \\end{pmatrix}
              \\begin{pmatrix} x_{2i} \\\\ x_{2i+1} \\end{pmatrix},
              \\qquad \\omega_i = \\text{base}^{-2i/d}

    Applied to queries and keys (not to values), it makes their dot product depend on the difference
    of their positions: turned by p and by q, two vectors meet at the angle of p − q.

    >>> x = torch.tensor([[1.0, 0.0]]).expand(3, 2)
    >>> rotary(x)  # by 0, 1 and 2 radians
    tensor([[ 1.0000,  0.0000],
            [ 0.5403,  0.8415],
            [-0.4161,  0.9093]])

    The pairs are neighbours, as in the paper. Some libraries pair dimension i with i + d/2 instead:
    the same up to a permutation of the dimensions, but weights do not carry over unpermuted.

    Args:
        x: Queries or keys, ``(..., T, d)``, split into heads; d is even.
        positions: Where each vector stands, integers or floats that broadcast to ``(..., T)``;
            0, 1, … T − 1 when left out. A decoder that keeps its keys gives the new token's own.
        base: The slowest pair turns by almost 1/base in a step, the fastest by 1.

    Returns:
        A new tensor of the shape and dtype of ``x``. The angles are computed in float64.

    Raises:
        TypeError: ``x`` is not floating point, a position not a number, or ``base`` not a number.
        ValueError: ``x`` has fewer than two axes, d is odd or 0, the positions do not broadcast to
            ``(..., T)``, or ``base`` is not greater than 0.

    Su et al., 2021, section 3.2.2.
    """
    expect.floats(x=x)
    if x.ndim < 2:
        raise ValueError(f"x must have the axes (..., T, d), got the shape {tuple(x.shape)}.")
    d = x.shape[-1]
    if d % 2 or d == 0:
        raise ValueError(
            f"the last axis of x must be even, got {d}: the dimensions are turned in pairs. Split "
            "the heads first, and give each an even number of dimensions."
        )
    if (base := expect.number("base", base)) <= 0:
        raise ValueError(f"base must be greater than 0, got {base}.")
    place = _places(positions, x)
    exponent = torch.arange(0, d, 2, dtype=torch.float64, device=place.device) / d
    angle = place[..., None] * torch.exp(-math.log(base) * exponent)
    wide = torch.promote_types(x.dtype, torch.float32)  # half precision is rounded once, at the end
    cos, sin = angle.cos().to(x.device, wide), angle.sin().to(x.device, wide)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)


def alibi_bias(
    num_heads: int, n_queries: int, n_keys: int | None = None
) -> Float[Tensor, "heads n_queries n_keys"]:
    """Make the bias that is added to the scores and grows with the distance, for each head.

    .. math:: B_{hij} = -m_h \\, |i - j|, \\qquad m_h = 2^{-8h/H}, \\quad h = 1, \\dots, H

    where i is the query's position and j the key's. The queries are the *last* ``n_queries`` of the
    ``n_keys`` positions, as in :func:`attnkit.masks.causal_mask`.

    >>> alibi_bias(2, 3)[0]  # the slopes of two heads are 1/16 and 1/256
    tensor([[ 0.0000, -0.0625, -0.1250],
            [-0.0625,  0.0000, -0.0625],
            [-0.1250, -0.0625,  0.0000]])

    It is added to the scores after they are divided by √d_key, and says nothing about who may be
    seen: the mask stays boolean beside it,
    ``masked_softmax(query @ key.mT / d_key**0.5 + bias, mask)``.

    When H is no power of two, the slopes are those of the greatest power of two below it, and then
    every second one of twice that number, until there are H.

    Args:
        num_heads: H, the number of heads.
        n_queries: Number of queries.
        n_keys: Number of keys; as many as queries when left out.

    Returns:
        A tensor of shape ``(num_heads, n_queries, n_keys)`` in the default dtype.

    Raises:
        TypeError: A number is not an integer.
        ValueError: There is no head, a size is negative, or there are more queries than keys.

    Press et al., 2022, section 3, whose models are causal; the rule for other H is that of their
    code.
    """
    num_heads = expect.integer("num_heads", num_heads, at_least=1)
    n_queries = expect.integer("n_queries", n_queries)
    n_keys = n_queries if n_keys is None else expect.integer("n_keys", n_keys)
    if n_queries > n_keys:
        raise ValueError(
            f"n_queries must be at most n_keys={n_keys}, got {n_queries}: the queries are the last "
            "positions. Are the two arguments swapped?"
        )
    position = torch.arange(n_keys)
    distance = (position[n_keys - n_queries :, None] - position).abs()
    slopes = torch.tensor(_slopes(num_heads), dtype=torch.float64)
    return (slopes[:, None, None] * -distance).to(torch.get_default_dtype())


def _slopes(num_heads: int) -> list[float]:
    """The slope of each head."""
    power = 2 ** (num_heads.bit_length() - 1)
    slopes = [2 ** (-8 * h / power) for h in range(1, power + 1)]
    return slopes + [2 ** (-4 * h / power) for h in range(1, 2 * (num_heads - power), 2)]


def _places(positions: object, x: Tensor) -> Tensor:
    """The positions in float64, checked against the axes (..., T) of ``x``."""
    if positions is None:
        return torch.arange(x.shape[-2], dtype=torch.float64)
    cure = "rotary wants a number for each vector, such as torch.arange(T) or [5]"
    try:
        place = torch.as_tensor(positions)  # type: ignore[arg-type]
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"positions must be numbers, got {positions!r}: {cure}.") from error
    if place.dtype == torch.bool or place.is_complex():
        raise TypeError(f"positions must be integers or floats, got {place.dtype}: {cure}.")
    wanted = x.shape[:-1]
    pairs = zip(reversed(place.shape), reversed(wanted), strict=False)
    if place.ndim > len(wanted) or any(got not in (1, want) for got, want in pairs):
        raise ValueError(
            f"positions must broadcast to {tuple(wanted)}, the axes of x but its last, got "
            f"{tuple(place.shape)}. Positions of each sequence, for all its heads, are "
            "positions[:, None]."
        )
    return place.to(torch.float64)
