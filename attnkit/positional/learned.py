"""Positions as learned vectors, one for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from attnkit import expect

if TYPE_CHECKING:
    from attnkit.shapes import Float


class LearnedEncoding(nn.Module):
    """Add a vector of its own, a row of ``table``, to each position of a sequence.

    The table starts from a normal distribution of mean 0 and standard deviation 0.02, small beside
    embeddings of standard deviation 1. A row is learned from the sequences that reach its position;
    for positions beyond the table there is none, so a longer sequence is refused.

    >>> learned = LearnedEncoding(7, 4)
    >>> learned(torch.zeros(2, 5, 4)).shape
    torch.Size([2, 5, 4])

    Args:
        n_positions: Number of positions: the greatest length.
        d_model: Size of the vectors.

    Raises:
        TypeError: A size is not an integer.
        ValueError: A size is less than 1.

    Gehring et al., 2017, section 3.1; compared with sinusoids by Vaswani et al., 2017, table 3 (E).
    """

    def __init__(self, n_positions: int, d_model: int) -> None:
        super().__init__()
        self.n_positions = expect.integer("n_positions", n_positions, at_least=1)
        self.d_model = expect.integer("d_model", d_model, at_least=1)
        self.table = nn.Parameter(torch.empty(self.n_positions, self.d_model))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew: mean 0, standard deviation 0.02."""
        nn.init.normal_(self.table, std=0.02)

    def forward(
        self, embedding: Float[Tensor, "*batch n_positions d_model"]
    ) -> Float[Tensor, "*batch n_positions d_model"]:
        """Return ``embedding`` plus the first T rows of the table.

        Args:
            embedding: Shape ``(..., T, d_model)``: positions are the last axis but one.

        Returns:
            A new tensor of the same shape and dtype.

        Raises:
            TypeError: The embedding is not floating point, or of another dtype than the table.
            ValueError: It has fewer than two axes, its last is not ``d_model``, or T is greater
                than the number of positions.
        """
        expect.floats(**{"the module's table": self.table}, embedding=embedding)
        if embedding.ndim < 2:
            raise ValueError(
                "embedding must have the axes (..., T, d_model), got the shape "
                f"{tuple(embedding.shape)}."
            )
        expect.size("embedding", embedding, -1, self.d_model, "d_model of the module")
        n_positions = embedding.shape[-2]
        if n_positions > self.n_positions:
            raise ValueError(
                f"embedding must have at most {self.n_positions} positions (n_positions of the "
                f"module), got {n_positions}: position {self.n_positions} has no row. Cut the "
                f"sequence, or train a LearnedEncoding({n_positions}, {self.d_model})."
            )
        return embedding + self.table[:n_positions]

    def extra_repr(self) -> str:
        return f"n_positions={self.n_positions}, d_model={self.d_model}"
