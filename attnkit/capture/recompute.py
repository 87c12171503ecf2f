"""Weights from what an attention was given, and the proof that they are the right ones.

Everything here runs without gradients, on detached tensors, and draws no random numbers.
"""

from __future__ import annotations

import inspect
import math
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import torch
import torch.nn.functional as F
from torch import Tensor

if TYPE_CHECKING:  # it loads torch's compiler, which takes as long as torch itself
    from torch.nn.attention.bias import CausalBias

_SIGNATURE = inspect.signature(F.multi_head_attention_forward)


class Watched(NamedTuple):
    """One attention: its weights, its values, and their weighted sum as PyTorch computed it."""

    weights: Tensor  # (batch, heads, T_q, T_k)
    value: Tensor  # (batch, heads, T_k, d_value)
    output: Tensor  # (batch, heads, T_q, d_value), without dropout, before any projection
    dropout: float  # what the model itself applied after the weights
    reach: float = 0.0  # no recomputed score is greater in absolute value


class FusedCall(NamedTuple):
    """The arguments of ``F.scaled_dot_product_attention``, which has no signature to ask for."""

    query: Tensor
    key: Tensor
    value: Tensor
    attn_mask: Tensor | None = None
    dropout_p: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False


def fused(call: FusedCall, output: Tensor) -> Watched:
    """The attention inside one ``F.scaled_dot_product_attention``; ``output`` is its result."""
    if _is_triangle(call.attn_mask):
        call = call._replace(attn_mask=_lower_triangle(call.attn_mask, call.query.device))
    call = FusedCall(*(detached(argument) for argument in call))
    if call.query.is_nested:
        raise NotImplementedError(
            "capture_attention cannot read nested tensors: the maps of a batch would differ in "
            "size. Pad the sequences and pass a mask."
        )
    if call.dropout_p > 0:
        output = F.scaled_dot_product_attention(**call._replace(dropout_p=0.0)._asdict())
    query, key, value = call.query, call.key, call.value
    if call.enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    mask = top_left(query, key) if call.is_causal else call.attn_mask
    weights = softmax_weights(query, key, mask, call.scale)
    weights = weights.expand(*output.shape[:-1], weights.shape[-1])
    reach = _reach(query, key, call.scale)
    value = value.expand(*output.shape[:-2], *value.shape[-2:])
    weights, value, output = (four_axes(tensor) for tensor in (weights, value, output.detach()))
    return Watched(weights, value, output, call.dropout_p, reach)


def multi_head(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Watched:
    """The attention inside one ``F.multi_head_attention_forward``.

    PyTorch's own function is asked again, without dropout and with the identity as its output
    projection: what comes back is the weighted sum itself, and the weights where it makes them.
    """
    bound = _SIGNATURE.bind(*args, **kwargs)
    bound.apply_defaults()
    given = {name: detached(value) for name, value in bound.arguments.items()}
    width, weight = given["embed_dim_to_check"], given["out_proj_weight"]
    summed, weights = F.multi_head_attention_forward(
        **given
        | {
            "out_proj_weight": torch.eye(width, dtype=weight.dtype, device=weight.device),
            "out_proj_bias": None,
            "training": False,
            "average_attn_weights": False,
        }
    )
    query, key, value, mask = _projected(given)
    reach = 0.0
    if weights is None:
        if given["is_causal"] and given["key_padding_mask"] is None:
            mask = top_left(query, key)  # what PyTorch takes in place of attn_mask
        weights = softmax_weights(query, key, mask)
        reach = _reach(query, key)
    weights = weights if weights.ndim == 4 else weights[None]
    summed = summed.unflatten(-1, (given["num_heads"], -1))  # (T_q, batch, heads, d_head)
    summed = summed.permute(1, 2, 0, 3) if summed.ndim == 4 else summed.transpose(0, 1)[None]
    dropout = given["dropout_p"] if given["training"] else 0.0
    return Watched(weights, value, summed, dropout, reach)


def softmax_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, scale: float | None = None
) -> Tensor:
    """softmax(scale · QKᵀ + mask), in float32 at least; zeros in a row that may see nothing.

    The mask is PyTorch's: boolean, True = may attend, or a float that is added.
    """
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    dtype = torch.promote_types(query.dtype, torch.float32)
    with _no_autocast(query.device.type):
        scores = (query.to(dtype) * scale) @ key.to(dtype).mT
        if mask is None:
            return scores.softmax(-1)
        if mask.dtype == torch.bool:
            scores = scores.masked_fill(~mask, -math.inf)
        else:
            scores = scores + mask.to(dtype)
        empty = (scores == -math.inf).all(-1, keepdim=True)
        return scores.softmax(-1).masked_fill_(empty, 0.0)


def difference(watched: Watched) -> tuple[float, float]:
    """How far A·V is from the output at most, and how far rounding may take it.

    Compared where the output is finite. Rounding grows with the size of the scores and the values.
    """
    weights, value, output = watched.weights, watched.value, watched.output
    if not output.numel() or output.is_meta:
        return 0.0, 0.0
    coarsest = max((weights.dtype, value.dtype, output.dtype), key=lambda d: torch.finfo(d).eps)
    precise = torch.promote_types(value.dtype, torch.float32)
    with _no_autocast(value.device.type):
        summed = weights.to(precise) @ value.to(precise)
    apart = (summed - output).abs().where(output.isfinite(), 0.0).amax()
    rounding = 4 * torch.finfo(coarsest).eps + torch.finfo(precise).eps * watched.reach
    allowed = 16 * rounding * _largest(value)
    return float(apart), max(allowed, torch.finfo(coarsest).tiny)


def top_left(query: Tensor, key: Tensor) -> Tensor:
    """PyTorch's ``is_causal``: query i sees keys 0 … i, whichever of the two are more."""
    sizes = query.shape[-2], key.shape[-2]
    return torch.ones(sizes, dtype=torch.bool, device=query.device).tril()


def four_axes(tensor: Tensor) -> Tensor:
    """``(batch, heads, …, …)``: missing axes are added, more than one batch axis are joined.

    Of three axes the first is the batch.
    """
    if tensor.ndim == 2:
        return tensor[None, None]
    if tensor.ndim == 3:
        return tensor[:, None]
    return tensor.flatten(0, -4)


def detached(argument: Any) -> Any:
    """The argument without its history, if it is a tensor."""
    return argument.detach() if isinstance(argument, Tensor) else argument


def _is_triangle(mask: Any) -> TypeGuard[CausalBias]:
    """Whether a mask is of ``torch.nn.attention.bias``: who made one has imported that module."""
    module = sys.modules.get("torch.nn.attention.bias")
    return module is not None and isinstance(mask, module.CausalBias)


def _lower_triangle(mask: CausalBias, device: torch.device) -> Tensor:
    """The mask that a ``torch.nn.attention.bias`` stands for."""
    sizes = mask.seq_len_q, mask.seq_len_kv
    lower_right = mask.variant.name == "LOWER_RIGHT"
    offset = sizes[1] - sizes[0] if lower_right else 0
    return torch.ones(sizes, dtype=torch.bool, device=device).tril(offset)


def _projected(given: dict[str, Any]) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Queries, keys and values of each head, ``(batch, heads, T, d_head)``, and the added mask."""
    inputs = [given[name] for name in ("query", "key", "value")]  # (T, batch, width)
    batched = inputs[0].ndim == 3
    if not batched:
        inputs = [tensor.unsqueeze(1) for tensor in inputs]
    batch, heads = inputs[0].shape[1], given["num_heads"]
    if given["use_separate_proj_weight"]:
        weights = [given[f"{letter}_proj_weight"] for letter in "qkv"]
    else:
        weights = given["in_proj_weight"].chunk(3)
    bias = given["in_proj_bias"]
    biases = (None, None, None) if bias is None else bias.chunk(3)
    query, key, value = map(F.linear, inputs, weights, biases)
    extra = 0
    if given["bias_k"] is not None:
        key = torch.cat([key, given["bias_k"].expand(1, batch, -1)])
        value = torch.cat([value, given["bias_v"].expand(1, batch, -1)])
        extra += 1
    query, key, value = (_split(tensor, heads) for tensor in (query, key, value))
    if given["static_k"] is not None:
        key = given["static_k"].unflatten(0, (batch, heads))
    if given["static_v"] is not None:
        value = given["static_v"].unflatten(0, (batch, heads))
    if given["add_zero_attn"]:
        key, value = F.pad(key, (0, 0, 0, 1)), F.pad(value, (0, 0, 0, 1))
        extra += 1
    mask = None
    if given["attn_mask"] is not None:
        mask = _added(given["attn_mask"])
        mask = mask.unflatten(0, (batch, heads)) if mask.ndim == 3 else mask
    if given["key_padding_mask"] is not None:
        padding = _added(given["key_padding_mask"]).view(batch, 1, 1, -1)
        mask = padding if mask is None else mask + padding
    if mask is not None and extra:
        mask = F.pad(mask, (0, extra))
    return query, key, value, mask


def _split(tensor: Tensor, heads: int) -> Tensor:
    return tensor.unflatten(-1, (heads, -1)).permute(1, 2, 0, 3)


def _added(mask: Tensor) -> Tensor:
    """A mask of ``nn.MultiheadAttention``, where True is blocked, as numbers to be added."""
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, device=mask.device).masked_fill_(mask, -math.inf)


def _no_autocast(device: str) -> AbstractContextManager[object]:
    if torch.amp.is_autocast_available(device):
        return torch.autocast(device, enabled=False)
    return nullcontext()


def _reach(query: Tensor, key: Tensor, scale: float | None = None) -> float:
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else abs(scale)
    if not query.numel() or not key.numel() or query.is_meta:
        return 0.0
    norms = [torch.linalg.vector_norm(t.float(), dim=-1) for t in (query, key)]
    return scale * math.prod(_largest(norm) for norm in norms)


def _largest(tensor: Tensor) -> float:
    if not tensor.numel():
        return 0.0
    return float(tensor.abs().nan_to_num(0.0, 0.0, 0.0).amax())
