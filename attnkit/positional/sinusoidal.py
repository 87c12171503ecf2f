"""Positions as vectors of sines and cosines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from attnkit import expect

if TYPE_CHECKING:
    from attnkit.shapes import Float


def sinusoidal_encoding(n_positions: int, d_model: int) -> Float[Tensor, "n_positions d_model"]:
    """Encode the positions 0, 1, 2 … as points on circles that turn at falling speeds.

    .. math:: P_{p,2i} = \\sin(p\\,\\omega_i), \\qquad P_{p,2i+1} = \\cos(p\\,\\omega_i), \\qquad
              \\omega_i = 10000^{-2i/d_{model}}, \\qquad i = 0, \\dots, d_{model}/2 - 1

    Sine and cosine alternate, as in the paper. The angles are computed in float64.

    >>> sinusoidal_encoding(3, 4)
    tensor([[ 0.0000,  1.0000,  0.0000,  1.0000],
            [ 0.8415,  0.5403,  0.0100,  0.9999],
            [ 0.9093, -0.4161,  0.0200,  0.9998]])

    Args:
        n_positions: Number of positions.
        d_model: Size of the vectors; even, because each frequency has a sine and a cosine.

    Returns:
        A tensor of shape ``(n_positions, d_model)`` in the default dtype; no batch axis.

    Raises:
        TypeError: A size is not an integer.
        ValueError: A size is negative, or ``d_model`` is odd or 0.

    Vaswani et al., 2017, section 3.5.
    """
    n_positions = expect.integer("n_positions", n_positions)
    return _sinusoids(n_positions, _even(d_model)).to(torch.get_default_dtype())


def _sinusoids(n_positions: int, d_model: int) -> Tensor:
    """The encoding in float64."""
    position = torch.arange(n_positions, dtype=torch.float64)
    exponent = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model
    angle = position[:, None] * torch.exp(-math.log(10_000) * exponent)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)


class SinusoidalEncoding(nn.Module):
    """Add the sinusoidal encoding of its position to each vector of a sequence.

    It has no parameters, nothing in the state dict, and no greatest length: the table grows with
    the longest sequence seen.

    >>> import torch
    >>> SinusoidalEncoding(4)(torch.zeros(2, 3, 4))[1, 2]
    tensor([ 0.9093, -0.4161,  0.0200,  0.9998])

    Args:
        d_model: Size of the vectors; even.

    Raises:
        TypeError: ``d_model`` is not an integer.
        ValueError: ``d_model`` is odd or less than 2.

    Vaswani et al., 2017, section 3.5.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = _even(d_model)
        # Not a buffer: module.half() would round the table for good.
        self._table = torch.empty(0, self.d_model)

    def forward(
        self, embedding: Float[Tensor, "*batch n_positions d_model"]
    ) -> Float[Tensor, "*batch n_positions d_model"]:
        """Return ``embedding`` plus the encoding of positions 0 … T − 1, in its dtype.

        Args:
            embedding: Shape ``(..., T, d_model)``: positions are the last axis but one.

        Returns:
            A new tensor of the same shape and dtype.

        Raises:
            TypeError: The embedding is not floating point.
            ValueError: It has fewer than two axes, or its last is not ``d_model``.
        """
        expect.floats(embedding=embedding)
        if embedding.ndim < 2:
            raise ValueError(
                "embedding must have the axes (..., T, d_model), got the shape "
                f"{tuple(embedding.shape)}."
            )
        expect.size("embedding", embedding, -1, self.d_model, "d_model of the module")
        n_positions = embedding.shape[-2]
        table = self._table
        fits = table.dtype == embedding.dtype and table.device == embedding.device
        if not fits or n_positions > len(table):
            # From the formula, not from the old table: that may be coarser, or hold no numbers.
            longest = max(n_positions, len(table))
            table = self._table = _sinusoids(longest, self.d_model).to(
                embedding.device, embedding.dtype
            )
        return embedding + table[:n_positions]

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}"


def _even(d_model: int) -> int:
    d_model = expect.integer("d_model", d_model, at_least=2)
    if d_model % 2:
        raise ValueError(
            f"d_model must be even, got {d_model}: each frequency has a sine and a cosine. "
            f"Use {d_model + 1} and drop the last column if you need an odd size."
        )
    return d_model
