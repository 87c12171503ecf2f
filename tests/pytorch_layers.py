"""Our weights, and their gradients, under the names that PyTorch's transformer gives them."""

import torch
from torch import nn

#: Our attentions and what PyTorch calls them, then the other parts.
ENCODER = ({"attention": "self_attn"}, {"attention_norm": "norm1", "feed_forward_norm": "norm2"})
DECODER = (
    {"self_attention": "self_attn", "cross_attention": "multihead_attn"},
    {"self_attention_norm": "norm1", "cross_attention_norm": "norm2", "feed_forward_norm": "norm3"},
)
FEED_FORWARD = {"up_proj": "linear1", "down_proj": "linear2"}


def by_their_names(tensors, kind):
    """Of one layer; ``kind`` is ENCODER or DECODER."""
    attentions, norms = kind
    theirs = {}
    for end in ("weight", "bias"):
        parts = norms | FEED_FORWARD
        for a, b in attentions.items():
            three = [f"{a}.{name}_proj.{end}" for name in ("query", "key", "value")]
            if three[0] in tensors:
                theirs[f"{b}.in_proj_{end}"] = torch.cat([tensors[name] for name in three])
            parts[f"{a}.output_proj"] = f"{b}.out_proj"
        theirs |= {f"{b}.{end}": tensors[f"{a}.{end}"]
                   for a, b in parts.items() if f"{a}.{end}" in tensors}  # fmt: skip
    return theirs


def stack_by_their_names(tensors, prefix, kind, n_layers):
    """Of a stack: the layers ``prefix.0``, ``prefix.1`` … and the norm ``prefix_norm``."""
    theirs = {}
    for i in range(n_layers):
        start = f"{prefix}.{i}."
        own = {n.removeprefix(start): t for n, t in tensors.items() if n.startswith(start)}
        theirs |= {f"layers.{i}.{n}": t for n, t in by_their_names(own, kind).items()}
    for end in ("weight", "bias"):
        if f"{prefix}_norm.{end}" in tensors:
            theirs[f"norm.{end}"] = tensors[f"{prefix}_norm.{end}"]
    return theirs


def decoder_layer(ours, d_model, heads, d_hidden, **options):
    """PyTorch's decoder layer with our weights."""
    options = {"dropout": 0.0, "batch_first": True} | options
    if "eps" in options:
        options["layer_norm_eps"] = options.pop("eps")
    theirs = nn.TransformerDecoderLayer(d_model, heads, d_hidden, **options)
    theirs.to(ours.up_proj.weight.dtype)
    theirs.load_state_dict(by_their_names(dict(ours.named_parameters()), DECODER))
    return theirs
