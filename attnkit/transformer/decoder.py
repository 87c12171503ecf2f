"""The layer of a decoder that reads what an encoder has made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from torch import Tensor, nn

from attnkit import expect
from attnkit.attention import MultiHeadAttention
from attnkit.key_value_cache import KeyValueCache
from attnkit.transformer.layer import Layer

if TYPE_CHECKING:
    from attnkit.shapes import Bool, Float


class DecoderOutput(NamedTuple):
    """What a decoder layer returns."""

    #: ``(batch, T, d_model)``.
    output: Tensor
    #: Of the self-attention, ``(batch, heads, T, T)``; None when they were not asked for.
    self_weights: Tensor | None
    #: Of the cross-attention, ``(batch, heads, T, T_memory)``; None likewise.
    cross_weights: Tensor | None


class DecoderCache(NamedTuple):
    """The two caches of one decoder layer: of what is written, which grows, and of the memory."""

    self_attention: KeyValueCache
    cross_attention: KeyValueCache

    @property
    def n_bytes(self) -> int:
        """What both take in memory."""
        return self.self_attention.n_bytes + self.cross_attention.n_bytes


class DecoderLayer(Layer):
    """Self-attention, attention to a memory, then a feed-forward network, each added to its input.

    .. math:: y = N_1(x + \\operatorname{Attention}(x, x)), \\qquad
              z = N_2(y + \\operatorname{Attention}(y, m)), \\qquad
              o = N_3(z + W_{down}\\, \\phi(W_{up}\\, z))

    The queries of both attentions come from the decoder's side; keys and values from x in the
    first, from the memory m, what the encoder has made, in the second. With ``norm_first`` the
    layer normalisations stand before the three blocks instead of after the sums:
    :math:`y = x + \\operatorname{Attention}(N_1(x), N_1(x))`, and so on; the memory is not
    normalised here.

    The parts are ``self_attention``, ``self_attention_norm`` (:math:`N_1`), ``cross_attention``,
    ``cross_attention_norm`` (:math:`N_2`), ``up_proj``, ``down_proj`` and ``feed_forward_norm``
    (:math:`N_3`). Either attention may be replaced by any module that takes
    ``(query, key, value, mask)`` and returns output and weights; ``need_weights=False`` and
    ``cache`` are passed on to it only when asked for.

    Nothing in it is causal by itself: the caller gives the mask.

    >>> import torch
    >>> from attnkit import causal_mask
    >>> layer = DecoderLayer(d_model=12, num_heads=3, d_hidden=20)
    >>> x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    >>> output, self_weights, cross_weights = layer(x, memory, causal_mask(5))
    >>> output.shape, self_weights.shape, cross_weights.shape
    (torch.Size([2, 5, 12]), torch.Size([2, 3, 5, 5]), torch.Size([2, 3, 5, 7]))

    The defaults are those of ``torch.nn.TransformerDecoderLayer``, whose outputs this layer has
    with its weights.

    Args:
        d_model: Size of the inputs, of the memory and of the output.
        num_heads: Number of heads of either attention; divides ``d_model``.
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
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout, bias=bias)
        d_model, dropout = self.self_attention.d_model, self.self_attention.dropout
        d_hidden, eps = self._settle(dropout, activation, norm_first, d_hidden, eps)
        self.self_attention_norm = nn.LayerNorm(d_model, eps=eps, bias=bias)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout=dropout, bias=bias)
        self.cross_attention_norm = nn.LayerNorm(d_model, eps=eps, bias=bias)
        self._add_feed_forward(d_model, d_hidden, eps, bias)

    def forward(
        self,
        x: Float[Tensor, "*batch n d_model"],
        memory: Float[Tensor, "*batch n_memory d_model"],
        mask: Bool[Tensor, "*mask"] | None = None,
        memory_mask: Bool[Tensor, "*memory_mask"] | None = None,
        *,
        need_weights: bool = True,
        cache: DecoderCache | None = None,
    ) -> DecoderOutput:
        """Let each position look at the others, then at the memory, then work on what it found.

        Args:
            x: Shape ``(batch, T, d_model)``, or ``(T, d_model)`` without a batch.
            memory: Shape ``(batch, T_memory, d_model)``; no batch axis when ``x`` has none.
            mask: Boolean, True = this query may attend to this key; broadcasts to
                ``(batch, heads, T, T)``. Of a decoder it is :func:`attnkit.masks.causal_mask`.
            memory_mask: The same for the memory: broadcasts to ``(batch, heads, T, T_memory)``.
            need_weights: Whether to return the weights.
            cache: From :meth:`new_cache`: ``x`` is then the continuation of what was given with it
                before, the mask is ``(batch, heads, T, T_all)``, and the memory is projected at
                the first call and not looked at again.

        Returns:
            The output, of the shape of ``x``, and the weights of each head of either attention
            before dropout, ``(batch, heads, T, T)`` and ``(batch, heads, T, T_memory)`` (or None);
            no batch axis when ``x`` has none.

        Raises:
            TypeError: ``x`` or the memory is not floating point or of another dtype than the
                layer, or a mask is not boolean.
            ValueError: Sizes or devices do not fit.
        """
        self._expect(x=x, memory=memory)
        if memory.ndim != x.ndim or memory.shape[:-2] != x.shape[:-2]:
            one = x.ndim == 3 and (memory.ndim == 2 or len(memory) == 1)
            cure = f"One memory for the whole batch: memory.expand({len(x)}, -1, -1)."
            raise ValueError(
                f"memory must have the axes of x, {tuple(x.shape)}, and its batch, got "
                f"{tuple(memory.shape)}. {cure if one else 'The batch is the first axis.'}"
            )
        own, other = (None, None) if cache is None else _both(cache)
        if other is not None and len(other):
            # before the self-attention adds to its cache: a call that is refused changes nothing
            expect.size("memory", memory, -2, len(other), "as in the cache, which is filled")
        if self.norm_first:
            seen = self.self_attention_norm(x)
            found, self_weights = self._attend(
                self.self_attention, seen, seen, mask, need_weights, own
            )
            x = x + found
            seen = self.cross_attention_norm(x)
            found, cross_weights = self._attend(
                self.cross_attention, seen, memory, memory_mask, need_weights, other
            )
            x = x + found
            x = x + self._feed_forward(self.feed_forward_norm(x))
            return DecoderOutput(x, self_weights, cross_weights)
        found, self_weights = self._attend(self.self_attention, x, x, mask, need_weights, own)
        x = self.self_attention_norm(x + found)
        found, cross_weights = self._attend(
            self.cross_attention, x, memory, memory_mask, need_weights, other
        )
        x = self.cross_attention_norm(x + found)
        x = self.feed_forward_norm(x + self._feed_forward(x))
        return DecoderOutput(x, self_weights, cross_weights)

    def new_cache(self) -> DecoderCache:
        """Empty caches for one batch: give them to each call of :meth:`forward` in turn."""
        return DecoderCache(KeyValueCache(), KeyValueCache(grows=False))


def _both(cache: DecoderCache) -> DecoderCache:
    """Refuse what is no pair of caches, the first of which alone grows."""
    kinds = [getattr(one, "grows", None) for one in cache] if isinstance(cache, tuple) else []
    if kinds != [True, False]:
        raise TypeError(
            "cache must be a DecoderCache, of a KeyValueCache() and a KeyValueCache(grows=False), "
            f"got {cache!r}. Make it: layer.new_cache()."
        )
    return cache
