"""The layer of an encoder, or of a decoder that reads nothing but itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torch import Tensor, nn

from attnkit.attention import MultiHeadAttention
from attnkit.functional import AttentionOutput
from attnkit.key_value_cache import KeyValueCache
from attnkit.transformer.layer import Layer

if TYPE_CHECKING:
    from attnkit.shapes import Bool, Float


class EncoderLayer(Layer):
    """Self-attention, then a feed-forward network at each position, each added to its input.

    .. math:: y = N_1(x + \\operatorname{Attention}(x)), \\qquad
              z = N_2(y + W_{down}\\, \\phi(W_{up}\\, y))

    With ``norm_first`` the layer normalisations stand before the two blocks instead of after the
    sums: :math:`y = x + \\operatorname{Attention}(N_1(x))`, and so on.

    The parts are ``attention``, ``attention_norm`` (:math:`N_1`), ``up_proj``, ``down_proj`` and
    ``feed_forward_norm`` (:math:`N_2`). ``attention`` may be replaced by any module that takes
    ``(query, key, value, mask)`` and returns output and weights; ``need_weights=False`` and
    ``cache`` are passed on to it only when asked for.

    >>> import torch
    >>> layer = EncoderLayer(d_model=12, num_heads=3, d_hidden=20)
    >>> output, weights = layer(torch.randn(2, 5, 12))
    >>> output.shape, weights.shape
    (torch.Size([2, 5, 12]), torch.Size([2, 3, 5, 5]))

    The defaults are those of ``torch.nn.TransformerEncoderLayer``, whose outputs this layer has
    with its weights.

    Args:
        d_model: Size of the inputs and of the output.
        num_heads: Number of heads; divides ``d_model``.
        d_hidden: Size between the two linear maps of the feed-forward network.
        dropout: Share set to zero in training, of the weights, of what is added to the input and
            within the feed-forward network.
        activation: "relu", "gelu" or a function; :math:`\\phi`.
        norm_first: Whether to normalise before the blocks and not after the sums.
        eps: What the layer normalisations add to the variance.
        bias: Whether linear maps and layer normalisations add a bias.

    Raises:
        TypeError: A size is not an integer, dropout or eps not a number, or the activation neither
            a name nor a function.
        ValueError: A size is less than 1, ``d_model`` is not a multiple of ``num_heads``, the
            dropout is not in [0, 1), eps is negative, or no activation has that name.

    Vaswani et al., 2017, section 3.1; norms before the blocks: Xiong et al., 2020.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_hidden: int = 2048,
        *,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = "relu",
        norm_first: bool = False,
        eps: float = 1e-5,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(d_model, num_heads, dropout=dropout, bias=bias)
        d_model = self.attention.d_model
        dropout = self.attention.dropout
        d_hidden, eps = self._settle(dropout, activation, norm_first, d_hidden, eps)
        self.attention_norm = nn.LayerNorm(d_model, eps=eps, bias=bias)
        self._add_feed_forward(d_model, d_hidden, eps, bias)

    def forward(
        self,
        x: Float[Tensor, "*batch n d_model"],
        mask: Bool[Tensor, "*mask"] | None = None,
        *,
        need_weights: bool = True,
        cache: KeyValueCache | None = None,
    ) -> AttentionOutput:
        """Let each position look at the others, then work on what it has found.

        Args:
            x: Shape ``(batch, T, d_model)``, or ``(T, d_model)`` without a batch.
            mask: Boolean, True = this query may attend to this key; broadcasts to
                ``(batch, heads, T, T)``.
            need_weights: Whether to return the weights.
            cache: Of the keys and values of earlier positions, of which ``x`` is the continuation;
                those of ``x`` are added to it. The mask is then ``(batch, heads, T, T_all)``.

        Returns:
            The output, of the shape of ``x``, and the weights of each head before dropout,
            ``(batch, heads, T, T)`` (or None); no batch axis when ``x`` has none.

        Raises:
            TypeError: ``x`` is not floating point or of another dtype than the layer, or the mask
                is not boolean.
            ValueError: Sizes or devices do not fit.
        """
        self._expect(x=x)
        if self.norm_first:
            seen = self.attention_norm(x)
            attended, weights = self._attend(self.attention, seen, seen, mask, need_weights, cache)
            x = x + attended
            return AttentionOutput(x + self._feed_forward(self.feed_forward_norm(x)), weights)
        attended, weights = self._attend(self.attention, x, x, mask, need_weights, cache)
        x = self.attention_norm(x + attended)
        return AttentionOutput(self.feed_forward_norm(x + self._feed_forward(x)), weights)
