"""The kinds of ablation, and what each does to the weights and values of a head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from attnkit import expect
from attnkit.ablation.found import head_count
from attnkit.ablation.switch import Call
from attnkit.weight_faults import LEAST
from attnkit.weights import read_weights

KINDS = ("zero", "uniform", "mean")
Kind: TypeAlias = str | float | Tensor


class Replaced:
    """The change that ``ablate`` makes to the heads of one module."""

    def __init__(
        self, kinds: Mapping[int, Kind], means: Tensor | None, recorded: Sequence[Tensor]
    ) -> None:
        self.gates = {head: kind for head, kind in kinds.items() if not isinstance(kind, str)}
        self.zero, self.uniform, self.mean = (
            [head for head, kind in kinds.items() if isinstance(kind, str) and kind == name]
            for name in KINDS
        )
        self.means, self.recorded = means, recorded

    def patterns(self, weights: Tensor, call: Call) -> Tensor:
        """The weights with the recorded ones in their place, and even rows where asked for."""
        if self.recorded:
            recorded = self.recorded[call.number % len(self.recorded)]
            weights = _recorded(recorded, weights, call.mask)
        return _even_rows(weights, self.uniform, call.mask)

    def outputs(self, weights: Tensor, value: Tensor, call: Call) -> tuple[Tensor, Tensor]:
        """Values turned down, or to nothing, or to a mean."""
        weights = _even_rows(weights, self.mean, call.mask)
        if self.zero:  # both: 0 times what is not finite is not 0
            which = torch.zeros(weights.shape[-3], 1, 1, dtype=torch.bool, device=weights.device)
            which[self.zero] = True
            weights, value = weights.masked_fill(which, 0.0), value.masked_fill(which, 0.0)
        if self.gates or self.mean:
            heads = list(value.unbind(-3))
            for head, gate in self.gates.items():
                heads[head] = heads[head] * gate
            for head in self.mean:
                assert self.means is not None
                if self.means.shape[-1] != value.shape[-1]:
                    raise ValueError(
                        f"means must have {value.shape[-1]} numbers a head, as the values, got "
                        f"{self.means.shape[-1]}: those of another model?"
                    )
                heads[head] = self.means[head].to(value).expand_as(heads[head])
            value = torch.stack(heads, -3)
        return weights, value


def kind_of(key: tuple[Any, Any], kind: Kind, means: object) -> Kind:
    """Check the kind of one head."""
    where = f"the kind of head {key}"
    if isinstance(kind, str):
        if kind not in KINDS:
            near = get_close_matches(kind, KINDS, n=1)
            meant = f" Is {near[0]!r} meant?" if near else ""
            raise ValueError(
                f"{where} must be one of {', '.join(map(repr, KINDS))} or a gate from 0 to 1, got "
                f"{kind!r}.{meant}"
            )
        if kind == "mean" and means is None:
            raise ValueError(
                f"{where} is 'mean', and there are no means. Measure them on inputs of your "
                "choice: ablate(..., means=mean_outputs(model, batches))."
            )
        return kind
    if isinstance(kind, Tensor):
        if kind.numel() != 1 or not kind.is_floating_point():
            raise TypeError(
                f"{where} must be one number from 0 to 1, got a tensor of {kind.dtype} and shape "
                f"{tuple(kind.shape)}."
            )
        gate, kind = kind.item(), kind.reshape(())
    else:
        gate = kind = expect.number(where, kind, instead=f"The named kinds: {KINDS}.")
    if not 0 <= gate <= 1:
        raise ValueError(
            f"{where} is a gate, which must be from 0 to 1, got {gate}: 0 closes the head, 1 "
            "leaves it as it is."
        )
    return kind


def means_of(means: Any, modules: Sequence[tuple[str, nn.Module]]) -> Sequence[Tensor | None]:
    """The mean outputs of each layer, or nothing for each."""
    if means is None:
        return [None] * len(modules)
    if not isinstance(means, Sequence | Tensor) or not all(isinstance(m, Tensor) for m in means):
        raise TypeError(
            f"means must be a tensor (heads, d_head) for each layer, got {type(means).__name__}. "
            "They come from mean_outputs(model, batches)."
        )
    _one_each("means", means, modules)
    for i, (mean, (name, module)) in enumerate(zip(means, modules, strict=True)):
        if mean.ndim != 2 or len(mean) != head_count(module):
            raise ValueError(
                f"means[{i}] must have the shape ({head_count(module)}, d_head) for the layer "
                f"{name!r}, got {tuple(mean.shape)}."
            )
    return list(means)


def recorded_of(frozen: Any, modules: Sequence[tuple[str, nn.Module]]) -> list[list[Tensor]]:
    """The recorded weights of each call of each layer; none where nothing is frozen."""
    if frozen is None:
        return [[] for _ in modules]
    axes = ("batch", "heads", "queries", "keys")
    maps = getattr(frozen, "maps", None)
    if maps is not None:
        calls = [[m.weights for m in maps if m.name == name] for name, _ in modules]
        for (name, _), found in zip(modules, calls, strict=True):
            if not found:
                seen = ", ".join(dict.fromkeys(repr(m.name) for m in maps)) or "none"
                raise ValueError(
                    f"frozen holds no weights of {name!r}, but of {seen}: capture the whole model."
                )
    elif isinstance(frozen, Sequence | Tensor) and not isinstance(frozen, str):
        _one_each("frozen", frozen, modules)
        calls = [[weights] for weights in frozen]
    else:
        raise TypeError(
            "frozen must be what capture_attention recorded, or the recorded weights of each "
            f"layer, got {type(frozen).__name__}."
        )
    return [
        [read_weights(weights, axes=axes, name=f"frozen[{i}]") for weights in found]
        for i, found in enumerate(calls)
    ]


def _one_each(
    what: str, given: Sequence[Any] | Tensor, modules: Sequence[tuple[str, nn.Module]]
) -> None:
    if len(given) != len(modules):
        raise ValueError(
            f"{what} must have one entry for each of the {len(modules)} layers of "
            f"attention_modules(model), got {len(given)}."
        )


def _recorded(recorded: Tensor, weights: Tensor, mask: Tensor | None) -> Tensor:
    """Recorded weights in the place of computed ones, if they can be those of the same inputs."""
    if weights.ndim == 3 and len(recorded) == 1:
        recorded = recorded[0]
    if recorded.shape != weights.shape:
        raise ValueError(
            "frozen weights must have the shape of those that the model computes, "
            f"{tuple(weights.shape)}, got {tuple(recorded.shape)}: record them with the inputs "
            "that the model then gets."
        )
    recorded = recorded.to(weights)
    if mask is not None and recorded.masked_fill(_seen(weights, mask), 0.0).max() > LEAST:
        raise ValueError(
            "frozen weights must be 0 where the mask of the call blocks, and they are not: they "
            "come from other inputs, or from these in another order. Record the very call that is "
            "then ablated."
        )
    return recorded


def _seen(weights: Tensor, mask: Tensor | None) -> Tensor:
    """Which key each query may see, in the shape of the weights."""
    seen = torch.ones_like(weights, dtype=torch.bool)
    if mask is None:
        return seen
    if mask.dtype != torch.bool:
        raise TypeError(
            f"mask must be boolean, True = may attend, to be understood here; got {mask.dtype}."
        )
    # The mask of a single sequence may have the axis of the batch that its weights lack.
    return seen & (mask[0] if mask.ndim > weights.ndim else mask)


def _even_rows(weights: Tensor, heads: list[int], mask: Tensor | None) -> Tensor:
    """Make the rows of some heads even over the keys that the mask lets the query see."""
    if not heads:
        return weights
    rows, seen = list(weights.unbind(-3)), _seen(weights, mask).unbind(-3)
    for head in heads:
        rows[head] = seen[head] / seen[head].sum(-1, keepdim=True).clamp(min=1).to(weights.dtype)
    return torch.stack(rows, -3)
