"""Attention as modules: the functions with their projections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.nn.functional as F
from torch import Tensor, nn

from attnkit import expect
from attnkit.functional import AttentionOutput, additive_scores, attend, masked_softmax
from attnkit.key_value_cache import KeyValueCache
from attnkit.numerics import dot_product_weights, surely_bounded, without_unreachable

if TYPE_CHECKING:
    from attnkit.shapes import Bool, Float


class AdditiveAttention(nn.Module):
    """Attention whose score is a small network; query and key may have different sizes.

    .. math:: s_{ij} = v^\\top \\tanh(W_q q_i + W_k k_j)

    No bias, as in the paper's formula: ``query_proj``, ``key_proj`` and ``score_proj`` are
    :math:`W_q`, :math:`W_k` and :math:`v^\\top`.

    >>> import torch
    >>> attention = AdditiveAttention(d_query=5, d_key=3, d_hidden=7)
    >>> decoder_state, encoder_states = torch.randn(2, 5), torch.randn(2, 11, 3)
    >>> output, weights = attention(decoder_state, encoder_states)
    >>> output.shape, weights.shape
    (torch.Size([2, 3]), torch.Size([2, 11]))

    Args:
        d_query: Size of a query.
        d_key: Size of a key.
        d_hidden: Size of the space in which the two meet.

    Raises:
        TypeError: A size is not an integer.
        ValueError: A size is less than 1.

    Bahdanau et al., 2015, appendix A.1.2.
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int) -> None:
        super().__init__()
        self.d_query = expect.integer("d_query", d_query, at_least=1)
        self.d_key = expect.integer("d_key", d_key, at_least=1)
        self.d_hidden = expect.integer("d_hidden", d_hidden, at_least=1)
        self.query_proj = nn.Linear(self.d_query, self.d_hidden, bias=False)
        self.key_proj = nn.Linear(self.d_key, self.d_hidden, bias=False)
        self.score_proj = nn.Linear(self.d_hidden, 1, bias=False)

    def forward(
        self,
        query: Float[Tensor, "*batch d_query"],
        key: Float[Tensor, "*batch n_k d_key"],
        value: Float[Tensor, "*batch n_k d_value"] | None = None,
        mask: Bool[Tensor, "*mask"] | None = None,
    ) -> AttentionOutput:
        """Attend with many queries, or with the one query of a decoder step.

        Args:
            query: Shape ``(batch, T_q, d_query)``, or ``(batch, d_query)`` for one decoder step.
                Without the batch axis in query, key and value: ``(T_q, d_query)``, ``(d_query,)``.
            key: Shape ``(batch, T_k, d_key)``.
            value: Shape ``(batch, T_k, d_value)``; the keys when left out.
            mask: Boolean, True = this query may attend to this key; broadcasts to the weights. A
                padding mask ``(batch, 1, 1, T_k)`` is accepted: its axis of heads is dropped.

        Returns:
            The output ``(batch, T_q, d_value)`` and the weights ``(batch, T_q, T_k)``; for one
            decoder step ``(batch, d_value)`` and ``(batch, T_k)``.

        Raises:
            TypeError: A tensor is not floating point or the dtypes differ, or the mask is not
                boolean.
            ValueError: Sizes or devices do not fit.
        """
        value = key if value is None else value
        expect.floats(**{"the module's weight": self.score_proj.weight}, query=query, key=key)
        expect.floats(key=key, value=value)
        _check_additive(query, key, value, self.d_query, self.d_key)
        one_step = query.ndim == key.ndim - 1
        if one_step:
            query = query.unsqueeze(-2)
        if mask is not None:
            mask = _without_head_axis(mask, key.ndim, one_step)
            expect.mask(mask, (*query.shape[:-1], key.shape[-2]), query.device)
            if not surely_bounded(query, key, value):
                query, key, value = without_unreachable(mask, query, key, value)
        scores = additive_scores(
            self.query_proj(query), self.key_proj(key), self.score_proj.weight.squeeze(0)
        )
        weights = masked_softmax(scores, mask)
        output = weights @ value
        if one_step:
            output, weights = output.squeeze(-2), weights.squeeze(-2)
        return AttentionOutput(output, weights)


class ScaledDotProductAttention(nn.Module):
    """The module of :func:`~attnkit.functional.scaled_dot_product_attention`, with dropout.

    >>> import torch
    >>> attention = ScaledDotProductAttention()
    >>> output, weights = attention(torch.randn(2, 3), torch.randn(5, 3), torch.randn(5, 7))
    >>> output.shape, weights.shape
    (torch.Size([2, 7]), torch.Size([2, 5]))

    Args:
        scale: Factor of the scores; 1/√d_key when left out. ``scale=1.0`` leaves them unscaled.
        dropout: Share of the weights set to zero in training; the rest grow by 1/(1 − dropout).

    Raises:
        TypeError: An argument is not a number.
        ValueError: The scale is not finite, or the dropout not in [0, 1).
    """

    def __init__(self, *, scale: float | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        self.scale = None if scale is None else expect.number("scale", scale)
        self.dropout = expect.probability("dropout", dropout)

    def forward(
        self,
        query: Float[Tensor, "... n_q d_key"],
        key: Float[Tensor, "... n_k d_key"],
        value: Float[Tensor, "... n_k d_value"],
        mask: Bool[Tensor, "*mask"] | None = None,
    ) -> AttentionOutput:
        """Attend as the function does; the weights returned are those before dropout."""
        dropout = self.dropout if self.training else 0.0
        return attend(query, key, value, mask, scale=self.scale, dropout=dropout)

    def extra_repr(self) -> str:
        return f"scale={self.scale}, dropout={self.dropout}"


class MultiHeadAttention(nn.Module):
    """Several attentions side by side: project, split into heads, attend, join, project.

    .. math:: O = \\operatorname{Concat}(A_1 V_1, \\dots, A_h V_h)\\, W_O, \\qquad
              A_i = \\operatorname{softmax}\\!\\left(\\frac{Q_i K_i^\\top}{\\sqrt{d_{head}}}\\right)

    Each head sees the *whole* input through its own rows of ``query_proj``, ``key_proj`` and
    ``value_proj``; the number of parameters does not depend on the number of heads.

    >>> import torch
    >>> attention = MultiHeadAttention(d_model=12, num_heads=3)
    >>> output, weights = attention(torch.randn(2, 5, 12), torch.randn(2, 7, 12))
    >>> output.shape, weights.shape
    (torch.Size([2, 5, 12]), torch.Size([2, 3, 5, 7]))

    The weights start from Xavier's uniform distribution, the biases from zero.

    Args:
        d_model: Size of the inputs and of the output.
        num_heads: Number of heads; divides ``d_model``.
        dropout: Share of the weights set to zero in training; the rest grow by 1/(1 − dropout).
        bias: Whether the four projections add a bias.

    Raises:
        TypeError: A size is not an integer, or the dropout not a number.
        ValueError: A size is less than 1, ``d_model`` is not a multiple of ``num_heads``, or the
            dropout is not in [0, 1).

    Vaswani et al., 2017, section 3.2.2.
    """

    def __init__(
        self, d_model: int, num_heads: int, *, dropout: float = 0.0, bias: bool = True
    ) -> None:
        super().__init__()
        self.d_model = expect.integer("d_model", d_model, at_least=1)
        self.num_heads = expect.integer("num_heads", num_heads, at_least=1)
        if self.d_model % self.num_heads:
            raise ValueError(
                f"d_model must be a multiple of num_heads, got d_model={self.d_model} and "
                f"num_heads={self.num_heads}: each head gets d_model / num_heads dimensions."
            )
        self.d_head = self.d_model // self.num_heads
        self.dropout = expect.probability("dropout", dropout)
        self.query_proj = nn.Linear(self.d_model, self.d_model, bias=bias)
        self.key_proj = nn.Linear(self.d_model, self.d_model, bias=bias)
        self.value_proj = nn.Linear(self.d_model, self.d_model, bias=bias)
        self.output_proj = nn.Linear(self.d_model, self.d_model, bias=bias)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew from Xavier's uniform distribution and set the biases to zero."""
        for projection in (self.query_proj, self.key_proj, self.value_proj, self.output_proj):
            nn.init.xavier_uniform_(projection.weight)
            if projection.bias is not None:
                nn.init.zeros_(projection.bias)

    def forward(
        self,
        query: Float[Tensor, "*batch n_q d_model"],
        key: Float[Tensor, "*batch n_k d_model"] | None = None,
        value: Float[Tensor, "*batch n_k d_model"] | None = None,
        mask: Bool[Tensor, "*mask"] | None = None,
        *,
        need_weights: bool = True,
        cache: KeyValueCache | None = None,
    ) -> AttentionOutput:
        """Attend from the query to the key; with the query alone, from a sequence to itself.

        Args:
            query: Shape ``(batch, T_q, d_model)``, or ``(T_q, d_model)`` without a batch.
            key: Shape ``(batch, T_k, d_model)``; the query when left out.
            value: Shape ``(batch, T_k, d_model)``; the key when left out.
            mask: Boolean, True = this query may attend to this key; broadcasts to
                ``(batch, heads, T_q, T_k)``. A query with no allowed key has zero weights, so
                that the bias of ``output_proj`` alone is its output.
            need_weights: Whether to return the weights. Without them PyTorch's fused kernel gives
                the same output, faster and without holding the ``T_q · T_k`` weights.
            cache: The keys and values of earlier calls: key and value are then the *new* positions,
                ``T_k`` counts old and new ones, and they are added to the cache. With a cache that
                does not grow they are projected at its first call, and not looked at again. A call
                that is refused leaves the cache as it was.

        Returns:
            The output ``(batch, T_q, d_model)`` and the weights of each head *before* dropout,
            ``(batch, heads, T_q, T_k)`` (or None); no batch axis when the query has none.

        Raises:
            TypeError: A tensor is not floating point, the dtypes differ, or the mask is not
                boolean.
            ValueError: Sizes or devices do not fit.
        """
        key = query if key is None else key
        value = key if value is None else value
        self._check(query, key, value, cache)
        careful = False
        if mask is not None:
            mask = self._mask(mask, query, key, cache)
            careful = cache is None and not surely_bounded(query, key, value)
            if careful:
                query, key, value = without_unreachable(_for_some_head(mask), query, key, value)
        q = self.split_heads(self.query_proj(query))
        k, v = map(self.to_query_heads, self._keys_and_values(key, value, cache))
        if mask is not None and cache is not None and not surely_bounded(q, k, v):
            # What is kept stays as it is: a later query may see what these may not.
            careful = True
            q, k, v = without_unreachable(mask, q, k, v)
        dropout = self.dropout if self.training else 0.0
        if need_weights:
            weights = dot_product_weights(q, k, mask, careful=careful)
            heads = self.combine_heads(F.dropout(weights, dropout) if dropout else weights, v)
        else:
            weights = None
            heads = self._join(F.scaled_dot_product_attention(q, k, v, mask, dropout))
        return AttentionOutput(self.output_proj(heads), weights)

    def split_heads(self, projected: Float[Tensor, "*batch n d_model"]) -> Tensor:
        """Turn ``(..., T, d_model)`` into ``(..., heads, T, d_head)``: view, then transpose."""
        return projected.unflatten(-1, (self.num_heads, self.d_head)).transpose(-3, -2)

    def to_query_heads(self, keys_or_values: Tensor) -> Tensor:
        """Give each query head its keys or values ``(..., heads, T, d_head)``: here it has its own.

        Where several heads share them, as in
        :class:`~attnkit.grouped_query.GroupedQueryAttention`, they are repeated.
        """
        return keys_or_values

    def combine_heads(
        self,
        weights: Float[Tensor, "*batch heads n_q n_k"],
        value: Float[Tensor, "*batch heads n_k d_head"],
    ) -> Float[Tensor, "*batch n_q d_model"]:
        """Weigh each head's values and lay the heads side by side, before ``output_proj``."""
        return self._join(weights @ value)

    def extra_repr(self) -> str:
        return f"d_model={self.d_model}, num_heads={self.num_heads}, dropout={self.dropout}"

    def _join(self, heads: Tensor) -> Tensor:
        return heads.transpose(-3, -2).flatten(-2)

    def _check(
        self, query: Tensor, key: Tensor, value: Tensor, cache: KeyValueCache | None
    ) -> None:
        expect.floats(**{"the module's weight": self.query_proj.weight}, query=query)
        if query.ndim not in (2, 3):
            raise ValueError(
                "query must have the shape (batch, T_q, d_model) or, without a batch, "
                f"(T_q, d_model), got {tuple(query.shape)}."
            )
        expect.size("query", query, -1, self.d_model, "d_model of the module")
        if cache is not None:
            _check_cache(cache, key)
        if key is query and value is query:
            return
        expect.floats(query=query, key=key, value=value)
        for name, tensor in (("key", key), ("value", value)):
            if tensor.ndim != query.ndim or tensor.shape[:-2] != query.shape[:-2]:
                raise ValueError(
                    f"{name} must have the axes of query, {tuple(query.shape)}, and its batch, "
                    f"got {tuple(tensor.shape)}.{_batch_cure(name, tensor, query)}"
                )
            expect.size(name, tensor, -1, self.d_model, "d_model of the module")
        expect.size("value", value, -2, key.shape[-2], "T_k, as in key")

    def _keys_and_values(
        self, key: Tensor, value: Tensor, cache: KeyValueCache | None
    ) -> tuple[Tensor, Tensor]:
        """Keys and values of each head, those in the cache first."""
        if cache is not None:
            cache.used_by(self)
            if cache.keys is not None and cache.values is not None and not cache.grows:
                return cache.keys, cache.values
        k = self.split_heads(self.key_proj(key))
        v = self.split_heads(self.value_proj(value))
        return (k, v) if cache is None else cache.append(k, v)

    def _mask(
        self, mask: Tensor, query: Tensor, key: Tensor, cache: KeyValueCache | None
    ) -> Tensor:
        """Check the mask and give it the axes of the scores."""
        n_keys = key.shape[-2] if cache is None else cache.count_with(key.shape[-2])
        scores_shape = (*query.shape[:-2], self.num_heads, query.shape[-2], n_keys)
        if query.ndim == 2 and isinstance(mask, Tensor) and mask.ndim == 4 and len(mask) == 1:
            mask = mask[0]  # padding_mask of a single sequence
        expect.mask(mask, scores_shape, query.device)
        # PyTorch's fused kernel wants a mask of two or four axes; others take a slow route.
        return mask if mask.ndim in (2, 4) else mask[(None,) * (len(scores_shape) - mask.ndim)]


def _check_cache(cache: KeyValueCache, key: Tensor) -> None:
    if not isinstance(cache, KeyValueCache):
        raise TypeError(
            f"cache must be a KeyValueCache, got {type(cache).__name__}. Of a decoder layer it is "
            "one of the two of layer.new_cache()."
        )
    if cache.keys is None:
        return
    if cache.keys.shape[:-3] != key.shape[:-2]:
        raise ValueError(
            f"cache holds keys (batch, heads, T, d_head) of the shape {tuple(cache.keys.shape)}, "
            f"and key has the shape {tuple(key.shape)}. A new batch begins with a new cache."
        )
    if not cache.grows:
        expect.size("key", key, -2, len(cache), "as in the cache, which does not grow")


def _batch_cure(name: str, tensor: Tensor, query: Tensor) -> str:
    if query.ndim == 3 and (tensor.ndim == 2 or (tensor.ndim == 3 and len(tensor) == 1)):
        return f" One {name} for the whole batch: {name}.expand({len(query)}, -1, -1)."
    if tensor.ndim == 3 and (query.ndim == 2 or len(query) == 1):
        return f" One query for the whole batch: query.expand({len(tensor)}, -1, -1)."
    return " The batch is the first axis."


def _for_some_head(mask: Tensor) -> Tensor:
    return mask.any(-3) if mask.ndim > 2 else mask


def _without_head_axis(mask: Tensor, ndim: int, one_step: bool) -> Tensor:
    """Fit a mask to scores of ``ndim`` axes, none of which is that of heads."""
    if isinstance(mask, Tensor):
        if mask.ndim == 4 and mask.shape[1] == 1:
            mask = mask.squeeze(1)
        if mask.ndim == 3 and ndim == 2 and len(mask) == 1:
            mask = mask.squeeze(0)
        if one_step and mask.ndim == ndim - 1:
            mask = mask.unsqueeze(-2)
    return mask


def _check_additive(query: Tensor, key: Tensor, value: Tensor, d_query: int, d_key: int) -> None:
    if key.ndim not in (2, 3) or query.ndim not in (key.ndim, key.ndim - 1):
        raise ValueError(
            "query and key must have the shapes (batch, T_q, d_query) or, for one decoder step, "
            "(batch, d_query), and (batch, T_k, d_key); the batch may be missing in both; got "
            f"{tuple(query.shape)} and {tuple(key.shape)}."
        )
    expect.size("query", query, -1, d_query, "d_query of the module")
    expect.size("key", key, -1, d_key, "d_key of the module")
    if value.ndim != key.ndim or value.shape[:-1] != key.shape[:-1]:
        raise ValueError(
            f"value must have the axes of key but the last, {tuple(key.shape[:-1])}, got the shape "
            f"{tuple(value.shape)}."
        )
    if key.ndim == 3 and len(query) != len(key):
        raise ValueError(
            f"query and key must have the same batch, got {len(query)} and {len(key)}."
        )
