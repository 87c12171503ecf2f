"""What the layers of encoder and decoder share: the feed-forward network, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from attnkit import expect
from attnkit.key_value_cache import KeyValueCache

#: The activations that have a name. "gelu" is the exact one, with the error function.
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


class Layer(nn.Module):
    """Attentions, of which those who inherit this know, then a feed-forward network."""

    dropout: float
    activation: Callable[[Tensor], Tensor]
    norm_first: bool

    def extra_repr(self) -> str:
        name = getattr(self.activation, "__name__", type(self.activation).__name__)
        return f"activation={name}, norm_first={self.norm_first}, dropout={self.dropout}"

    def _settle(
        self,
        dropout: float,
        activation: str | Callable[[Tensor], Tensor],
        norm_first: bool,
        d_hidden: int,
        eps: float,
    ) -> tuple[int, float]:
        """Keep the options, and return the two numbers that are only checked."""
        self.dropout = dropout
        self.activation = _activation(activation)
        self.norm_first = norm_first
        if (eps := expect.number("eps", eps)) < 0:
            raise ValueError(f"eps is added to a variance: it must be at least 0, got {eps}.")
        return expect.integer("d_hidden", d_hidden, at_least=1), eps

    def _add_feed_forward(self, d_model: int, d_hidden: int, eps: float, bias: bool) -> None:
        # after the attentions and their norms: parameters have an order, and so has their start
        self.up_proj = nn.Linear(d_model, d_hidden, bias=bias)
        self.down_proj = nn.Linear(d_hidden, d_model, bias=bias)
        self.feed_forward_norm = nn.LayerNorm(d_model, eps=eps, bias=bias)

    def _attend(
        self,
        attention: nn.Module,
        query: Tensor,
        key: Tensor,
        mask: Tensor | None,
        need_weights: bool,
        cache: KeyValueCache | None,
    ) -> tuple[Tensor, Tensor | None]:
        options: dict[str, Any] = {} if need_weights else {"need_weights": False}
        if cache is not None:
            options["cache"] = cache
        output, weights = attention(query, key, key, mask, **options)
        return self._dropped(output), weights

    def _feed_forward(self, x: Tensor) -> Tensor:
        hidden = self._dropped(self.activation(self.up_proj(x)))
        return self._dropped(self.down_proj(hidden))

    def _dropped(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)

    def _expect(self, **sequences: Tensor) -> None:
        """Refuse what is no sequence of vectors of the layer's size, or no batch of them."""
        expect.floats(**{"the layer's weight": self.up_proj.weight}, **sequences)
        for name, tensor in sequences.items():
            if tensor.ndim not in (2, 3):
                raise ValueError(
                    f"{name} must have the shape (batch, T, d_model) or, without a batch, "
                    f"(T, d_model), got {tuple(tensor.shape)}."
                )
            expect.size(name, tensor, -1, self.up_proj.in_features, "d_model of the layer")


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
