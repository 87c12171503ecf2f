"""Models whose heads are taken out, and the reference: one head at a time, in float64."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from attnkit import AttentionOutput, MultiHeadAttention, causal_mask, padding_mask

BATCH, T, T_K, D_MODEL, HEADS, LAYERS = 2, 5, 7, 12, 3, 2
D_HEAD = D_MODEL // HEADS


def by_hand(module, query, key=None, value=None, mask=None, kinds=None, *, means=None, frozen=None):
    """Output and computed weights of one attention whose heads are treated as ``kinds`` says."""
    key = query if key is None else key
    value = key if value is None else value
    kinds, heads, computed = kinds or {}, [], []
    q, k, v = (
        F.linear(x, projection.weight, projection.bias)
        for x, projection in (
            (query, module.query_proj),
            (key, module.key_proj),
            (value, module.value_proj),
        )
    )
    shape = (*query.shape[:-1], key.shape[-2])
    for head in range(module.num_heads):
        part = slice(head * module.d_head, (head + 1) * module.d_head)
        allowed = torch.ones(shape, dtype=torch.bool)
        if mask is not None:
            four = torch.broadcast_to(mask, (*shape[:-2], module.num_heads, *shape[-2:]))
            allowed = four.select(-3, head)
        scores = q[..., part] @ k[..., part].mT / math.sqrt(module.d_head)
        share = torch.exp(scores) * allowed
        total = share.sum(-1, keepdim=True)
        weights = torch.where(total > 0, share / total, 0.0)
        computed.append(weights)
        kind = kinds.get(head, 1.0)
        used = weights if frozen is None else frozen.select(-3, head)
        if kind == "uniform":
            even = allowed.to(scores.dtype)
            used = torch.where(total > 0, even / even.sum(-1, keepdim=True), 0.0)
        out = used @ v[..., part]
        if kind == "zero":
            out = torch.zeros_like(out)
        elif kind == "mean":
            out = torch.where(total > 0, means[head], torch.zeros_like(out))
        elif not isinstance(kind, str):
            out = kind * out
        heads.append(out)
    joined = torch.cat(heads, -1)
    return F.linear(joined, module.output_proj.weight, module.output_proj.bias), torch.stack(
        computed, -3
    )


def attention(**options):
    module = MultiHeadAttention(D_MODEL, HEADS, **options).double()
    for projection in (module.query_proj, module.value_proj, module.output_proj):
        nn.init.normal_(projection.bias)
    return module


class Stack(nn.Module):
    """Two attentions with a residual stream."""

    def __init__(self, layers=LAYERS, **options):
        super().__init__()
        self.layers = nn.ModuleList(attention(**options) for _ in range(layers))

    def forward(self, x, mask=None, need_weights=True):
        weights = []
        for layer in self.layers:
            output = layer(x, mask=mask, need_weights=need_weights)
            x = x + output.output
            weights.append(output.weights)
        return x, weights


def stack_by_hand(model, x, mask, heads, *, means=None, frozen=None):
    weights = []
    for i, layer in enumerate(model.layers):
        kinds = {head: kind for (place, head), kind in heads.items() if place == i}
        out, computed = by_hand(
            layer,
            x,
            mask=mask,
            kinds=kinds,
            means=None if means is None else means[i],
            frozen=None if frozen is None else frozen[i],
        )
        x = x + out
        weights.append(computed)
    return x, weights


def inputs(*shape):
    return torch.randn(*(shape or (BATCH, T, D_MODEL)), dtype=torch.float64)


def close(got, want, tolerance=1e-12):
    torch.testing.assert_close(got, want, rtol=0, atol=tolerance)


NOTHING_SEEN = causal_mask(T).clone()
NOTHING_SEEN[2] = False
MASKS = {
    "none": None,
    "causal": causal_mask(T),
    "padding": padding_mask(torch.tensor([5, 3])),
    "both": causal_mask(T) & padding_mask(torch.tensor([2, 4]), T),
    "per head": torch.rand(HEADS, T, T, generator=torch.Generator().manual_seed(3)) < 0.6,
    "a query that sees nothing": NOTHING_SEEN,
}


class Own(nn.Module):
    """What a reader writes in place of ``layer.attention``, without anything of attnkit."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, f"{name}_proj", nn.Linear(d_model, d_model).double())

    def split_heads(self, x):
        return x.reshape(*x.shape[:-1], self.num_heads, self.d_head).swapaxes(-2, -3)

    def combine_heads(self, weights, value):
        heads = torch.einsum("bhqk,bhkd->bqhd", weights, value)
        return heads.reshape(*heads.shape[:2], -1)

    def forward(self, query, key=None, value=None, mask=None, *, need_weights=True):
        key = query if key is None else key
        value = key if value is None else value
        q, k, v = (
            self.split_heads(projection(x))
            for projection, x in (
                (self.query_proj, query),
                (self.key_proj, key),
                (self.value_proj, value),
            )
        )
        scores = q @ k.transpose(-1, -2) / self.d_head**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        output = self.output_proj(self.combine_heads(weights, v))
        return AttentionOutput(output, weights if need_weights else None)
