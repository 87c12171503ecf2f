"""Multi-head attention whose heads share keys and values, so that less has to be kept of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import Tensor, nn

from attnkit import expect
from attnkit.attention import MultiHeadAttention

if TYPE_CHECKING:
    from attnkit.shapes import Float


class GroupedQueryAttention(MultiHeadAttention):
    """Multi-head attention in which groups of query heads share one head of keys and values.

    .. math:: A_i = \\operatorname{softmax}\\!\\left(
              \\frac{Q_i K_{g(i)}^\\top}{\\sqrt{d_{head}}}\\right), \\qquad
              g(i) = \\left\\lfloor \\frac{i\\, h_{kv}}{h} \\right\\rfloor

    With :math:`h_{kv} = h` it is :class:`~attnkit.attention.MultiHeadAttention`, with
    :math:`h_{kv} = 1` multi-query attention. What it saves is memory where keys and values are
    kept: a :class:`~attnkit.key_value_cache.KeyValueCache` holds :math:`h_{kv}/h` of the numbers.
    The scores are as many as ever.

    >>> import torch
    >>> from attnkit.key_value_cache import KeyValueCache
    >>> attention, cache = GroupedQueryAttention(12, 6, num_key_value_heads=2), KeyValueCache()
    >>> output, weights = attention(torch.randn(1, 5, 12), cache=cache)
    >>> weights.shape, cache.keys.shape
    (torch.Size([1, 6, 5, 5]), torch.Size([1, 2, 5, 2]))

    It is called as :class:`~attnkit.attention.MultiHeadAttention` is, and takes its place in a
    layer: ``layer.attention = GroupedQueryAttention(...)``, in a decoder layer
    ``layer.self_attention`` and ``layer.cross_attention``. ``key_proj`` and ``value_proj`` give
    ``num_key_value_heads * d_head`` numbers.

    Args:
        d_model: Size of the inputs and of the output.
        num_heads: Number of query heads; divides ``d_model``.
        num_key_value_heads: Number of heads of keys and values; divides ``num_heads``.
        dropout: Share of the weights set to zero in training; the rest grow by 1/(1 − dropout).
        bias: Whether the four projections add a bias.

    Raises:
        TypeError: A size is not an integer, or the dropout not a number.
        ValueError: A size is less than 1, ``d_model`` is not a multiple of ``num_heads`` or
            ``num_heads`` not of ``num_key_value_heads``, or the dropout is not in [0, 1).

    Ainslie et al., 2023; one head for all queries: Shazeer, 2019.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        num_key_value_heads: int,
        *,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__(d_model, num_heads, dropout=dropout, bias=bias)
        groups = expect.integer("num_key_value_heads", num_key_value_heads, at_least=1)
        if self.num_heads % groups:
            raise ValueError(
                f"num_heads must be a multiple of num_key_value_heads, got num_heads="
                f"{self.num_heads} and num_key_value_heads={groups}: each head of keys and values "
                "serves as many query heads."
            )
        self.num_key_value_heads = groups
        self.key_proj = nn.Linear(self.d_model, groups * self.d_head, bias=bias)
        self.value_proj = nn.Linear(self.d_model, groups * self.d_head, bias=bias)
        self.reset_parameters()

    def split_heads(self, projected: Float[Tensor, "*batch n width"]) -> Tensor:
        """Turn ``(..., T, heads · d_head)`` into ``(..., heads, T, d_head)``, for either number."""
        return projected.unflatten(-1, (-1, self.d_head)).transpose(-3, -2)

    def to_query_heads(self, keys_or_values: Tensor) -> Tensor:
        """Repeat each head of keys or values for the query heads of its group."""
        return keys_or_values.repeat_interleave(self.num_heads // self.num_key_value_heads, dim=-3)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, num_key_value_heads={self.num_key_value_heads}"
