"""The layers of a transformer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import torch.nn.functional as F
from torch import Tensor, nn

from attnkit import expect
from attnkit.attention import MultiHeadAttention
from attnkit.functional import AttentionOutput

if TYPE_CHECKING:
    from jaxtyping import Bool, Float

#: The activations that have a name. "gelu" is the exact one, with the error function.
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network at each position, each added to its input.

    .. math:: y = N_1(x + \\operatorname{Attention}(x)), \\qquad
              z = N_2(y + W_{down}\\, \\phi(W_{up}\\, y))

    With ``norm_first`` the layer normalisations stand before the two blocks instead of after the
    sums: :math:`y = x + \\operatorname{Attention}(N_1(x))`, and so on.

    The parts are ``attention``, ``attention_norm`` (:math:`N_1`), ``up_proj``, ``down_proj`` and
    ``feed_forward_norm`` (:math:`N_2`). ``attention`` may be replaced by any module that takes
    ``(query, key, value, mask)`` and returns output and weights; ``need_weights=False`` is passed
    on to it only when asked for.

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
        d_hidden = expect.integer("d_hidden", d_hidden, at_least=1)
        if (eps := expect.number("eps", eps)) < 0:
            raise ValueError(f"eps is added to a variance: it must be at least 0, got {eps}.")
        self.dropout = self.attention.dropout
        self.activation = _activation(activation)
        self.norm_first = norm_first
        self.attention_norm = nn.LayerNorm(d_model, eps=eps, bias=bias)
        self.up_proj = nn.Linear(d_model, d_hidden, bias=bias)
        self.down_proj = nn.Linear(d_hidden, d_model, bias=bias)
        self.feed_forward_norm = nn.LayerNorm(d_model, eps=eps, bias=bias)

    def forward(
        self,
        x: Float[Tensor, "*batch n d_model"],
        mask: Bool[Tensor, "*mask"] | None = None,
        *,
        need_weights: bool = True,
    ) -> AttentionOutput:
        """Let each position look at the others, then work on what it has found.

        Args:
            x: Shape ``(batch, T, d_model)``, or ``(T, d_model)`` without a batch.
            mask: Boolean, True = this query may attend to this key; broadcasts to
                ``(batch, heads, T, T)``.
            need_weights: Whether to return the weights.

        Returns:
            The output, of the shape of ``x``, and the weights of each head before dropout,
            ``(batch, heads, T, T)`` (or None); no batch axis when ``x`` has none.

        Raises:
            TypeError: ``x`` is not floating point or of another dtype than the layer, or the mask
                is not boolean.
            ValueError: Sizes or devices do not fit.
        """
        expect.floats(**{"the layer's weight": self.up_proj.weight}, x=x)
        if x.ndim not in (2, 3):
            raise ValueError(
                "x must have the shape (batch, T, d_model) or, without a batch, (T, d_model), got "
                f"{tuple(x.shape)}."
            )
        expect.size("x", x, -1, self.up_proj.in_features, "d_model of the layer")
        if self.norm_first:
            attended, weights = self._attend(self.attention_norm(x), mask, need_weights)
            x = x + attended
            return AttentionOutput(x + self._feed_forward(self.feed_forward_norm(x)), weights)
        attended, weights = self._attend(x, mask, need_weights)
        x = self.attention_norm(x + attended)
        return AttentionOutput(self.feed_forward_norm(x + self._feed_forward(x)), weights)

    def extra_repr(self) -> str:
        name = getattr(self.activation, "__name__", type(self.activation).__name__)
        return f"activation={name}, norm_first={self.norm_first}, dropout={self.dropout}"

    def _attend(
        self, x: Tensor, mask: Tensor | None, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        options = {} if need_weights else {"need_weights": False}
        output, weights = self.attention(x, x, x, mask, **options)
        return self._dropped(output), weights

    def _feed_forward(self, x: Tensor) -> Tensor:
        hidden = self._dropped(self.activation(self.up_proj(x)))
        return self._dropped(self.down_proj(hidden))

    def _dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)


def _activation(activation: str | Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    if callable(activation) and not isinstance(activation, type):
        return activation
    known = ", ".join(map(repr, ACTIVATIONS))
    if isinstance(activation, type):
        raise TypeError(
            f"activation must be one of {known} or a function of a tensor, got the class "
            f"{activation.__name__}. Make one: {activation.__name__}()."
        )
    if not isinstance(activation, str):
        raise TypeError(
            f"activation must be one of {known} or a function of a tensor, got "
            f"{type(activation).__name__}."
        )
    if activation not in ACTIVATIONS:
        raise ValueError(
            f"activation must be one of {known} or a function of a tensor, got {activation!r}."
        )
    return ACTIVATIONS[activation]
