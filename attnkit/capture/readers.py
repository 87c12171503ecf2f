"""How the weights of a module are read that does not call PyTorch's attention.

attnkit's own modules return their weights; a reader finds them in what a call returned, together
with the values and the weighted sum that prove them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from attnkit.ablation.switch import used_weights
from attnkit.attention import AdditiveAttention, MultiHeadAttention, ScaledDotProductAttention
from attnkit.capture.recompute import FusedCall, Watched, four_axes, fused
from attnkit.functional import AttentionOutput, attend
from attnkit.seq2seq import AdditiveContext, DotContext


class Attended(NamedTuple):
    """What a reader finds in one call of a module: weights, values, and their weighted sum.

    ``weights @ value`` must be ``output``, up to rounding. The axes are ``(batch, heads, T, …)``;
    of three axes the first is the batch.
    """

    #: ``(batch, heads, T_q, T_k)``, before dropout.
    weights: Tensor
    #: ``(batch, heads, T_k, d_value)``.
    value: Tensor
    #: ``(batch, heads, T_q, d_value)``, without dropout, before any projection.
    output: Tensor
    #: "self", "cross" or "unknown".
    kind: str = "unknown"
    #: What the module itself applied to the weights.
    dropout: float = 0.0


#: ``reader(module, args, kwargs, output)`` is called after the module, without gradients.
Reader = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], Attended]


def reader_for(module: nn.Module, readers: Mapping[type, Reader]) -> Reader | None:
    """The reader of the module's class, or of the nearest class it inherits from."""
    return next((readers[base] for base in type(module).__mro__ if base in readers), None)


def watched(read: Attended) -> Watched:
    """What was read, with all four axes; padding that no query looks at may hold NaN."""
    weights = read.weights.expand(*read.output.shape[:-1], read.weights.shape[-1]).clone()
    value = read.value.expand(*read.output.shape[:-2], *read.value.shape[-2:])
    weights, value, output = (four_axes(tensor) for tensor in (weights, value, read.output))
    if not value.isfinite().all():
        value = value.where((weights > 0).any(-2).unsqueeze(-1), 0.0)
    return Watched(weights, value, output, read.dropout)


def _additive(module: AdditiveAttention, args, kwargs, output: AttentionOutput) -> Attended:
    query, key, value, _ = _inputs(*args, **kwargs)
    summed, weights = output
    assert weights is not None
    if query.ndim < key.ndim:  # one decoder step
        weights, summed = weights.unsqueeze(-2), summed.unsqueeze(-2)
    return Attended(weights, value, summed, _kind(query, key))


def _dot_product(module: ScaledDotProductAttention, args, kwargs, output) -> Attended:
    query, key, value, mask = _inputs(*args, **kwargs)
    dropout = module.dropout if module.training else 0.0
    summed = output.output
    if dropout:
        summed = attend(query, key, value, mask, scale=module.scale).output
    return Attended(output.weights, value, summed, _kind(query, key), dropout)


def _multi_head(module: MultiHeadAttention, args, kwargs, output) -> Attended:
    query, key, value, mask = _inputs(*args, **kwargs)
    kind, dropout = _kind(query, key), module.dropout if module.training else 0.0
    q = _split(module, module.query_proj, query)
    cache = kwargs.get("cache")
    if cache is None:
        kept = _split(module, module.key_proj, key), _split(module, module.value_proj, value)
    else:  # in which the call has put its own
        kept = (t if t.ndim == 4 else t[None] for t in (cache.keys, cache.values))
    k, v = map(module.to_query_heads, kept)
    if output.weights is None:  # PyTorch's kernel has done it, and shall confirm it
        call = FusedCall(q, k, v, mask)
        again = fused(call, F.scaled_dot_product_attention(q, k, v, mask))
        used = used_weights(module, again.weights, mask)
        weights, summed = used, again.output if used is again.weights else used @ v
        return Attended(weights, v, summed, kind, dropout)
    weights = output.weights if output.weights.ndim == 4 else output.weights[None]
    summed, computed = attend(q, k, v, mask)
    assert computed is not None
    used = used_weights(module, computed, mask)  # not these where heads are ablated
    return Attended(weights, v, summed if used is computed else used @ v, kind, dropout)


def _split(module: MultiHeadAttention, projection: nn.Linear, tensor: Tensor) -> Tensor:
    # forward, and not a call: hooks on the projections are not for what capture does
    return module.split_heads(projection.forward(tensor if tensor.ndim == 3 else tensor[None]))


def _decoder_step(module: AdditiveContext | DotContext, args, kwargs, output) -> Attended:
    def memory(state, memory, prepared):
        return memory.states

    context, weights = output
    return Attended(weights[:, None], memory(*args, **kwargs), context[:, None], "cross")


def _inputs(query, key=None, value=None, mask=None, *, need_weights=True, cache=None):
    """The arguments of our modules: key defaults to query, value to key."""
    key = query if key is None else key
    return query, key, key if value is None else value, mask


def _kind(query: Tensor, key: Tensor) -> str:
    return "self" if query is key else "cross"


OWN: Mapping[type, Reader] = {
    AdditiveAttention: _additive,
    ScaledDotProductAttention: _dot_product,
    MultiHeadAttention: _multi_head,
    AdditiveContext: _decoder_step,
    DotContext: _decoder_step,
}
