"""Which modules of a model attend in a way that lets heads be taken out."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from torch import nn

from attnkit import expect
from attnkit.attention import MultiHeadAttention

#: What a module is usually called that attends.
USUAL = {"attention", "attn", "self_attention", "self_attn", "cross_attention", "multihead_attn"}
WANTED = (
    "What is wanted: attnkit.MultiHeadAttention, a subclass, or a module of your own with the "
    "methods split_heads(projected) and combine_heads(weights, value), the attribute num_heads, "
    "and a forward with a parameter mask that calls self.combine_heads."
)


def attention_modules(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """The modules whose heads can be taken out, each with its name.

    Their places in the list are the layers that :func:`ablate` counts. The order is that of
    ``model.named_modules()``, in which the model *has* them, which need not be the order in which
    it runs them. A module that stands in several places is one.

    >>> from attnkit import MultiHeadAttention
    >>> model = nn.ModuleDict({"first": MultiHeadAttention(6, 2), "next": MultiHeadAttention(6, 3)})
    >>> [(name, module.num_heads) for name, module in attention_modules(model)]
    [('first', 2), ('next', 3)]

    Counted are :class:`~attnkit.attention.MultiHeadAttention`, its subclasses, and modules of
    another class that have its methods ``split_heads`` and ``combine_heads`` and its attribute
    ``num_heads``.

    Raises:
        TypeError: The model is no module, has no such module, or has besides another attention,
            such as ``nn.MultiheadAttention``, which would be left out of the count.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}.")
    fitting = {id(module) for module in model.modules() if _fits(module)}
    found = [(name, m) for name, m in model.named_modules() if id(m) in fitting]
    strangers = [
        f"{name or type(model).__name__!r} ({type(m).__module__}.{type(m).__qualname__})"
        for name, m in model.named_modules()
        if _attends(name, m) and not any(id(part) in fitting for part in m.modules())
        if not any(name.startswith(f"{outer}." if outer else "") for outer, _ in found)
    ]
    if strangers:
        raise TypeError(
            f"heads of {strangers[0]} cannot be taken out, and without it the layers would be "
            f"counted wrongly. {WANTED} nn.MultiheadAttention has no place between weights and "
            "values: copy its weights into attnkit.MultiHeadAttention."
        )
    if not found:
        raise TypeError(
            f"{type(model).__name__} has no attention whose heads can be taken out. {WANTED}"
        )
    return found


def resolved(
    modules: list[tuple[str, nn.Module]], model: nn.Module, layer: object, head: object
) -> tuple[int, int]:
    """Layer and head as numbers, from a number or name of a module and the number of a head."""
    if isinstance(layer, str):
        names = dict(model.named_modules(remove_duplicate=False))
        places = {id(module): place for place, (_, module) in enumerate(modules)}
        place = places.get(id(names.get(layer)))
        if place is None:
            known = [name for name, _ in modules]
            near = get_close_matches(layer, known, n=3) or known[:3]
            raise ValueError(
                f"{layer!r} names no attention of the model; near to it: "
                f"{', '.join(map(repr, near))}. All: attention_modules(model)."
            )
    else:
        place = expect.integer("layer", layer)
        if place >= len(modules):
            raise ValueError(
                f"layer must be below {len(modules)}, got {place}: layers are counted from 0. "
                "All: attention_modules(model)."
            )
    name, module = modules[place]
    number, heads = expect.integer("head", head), head_count(module)
    if number >= heads:
        raise ValueError(
            f"head must be below {heads} in layer {place} ({name!r}), got {number}: "
            "heads are counted from 0."
        )
    return place, number


def head_count(module: Any) -> int:
    """How many heads one of the :func:`attention_modules` has."""
    return module.num_heads


def _fits(module: nn.Module) -> bool:
    if isinstance(module, MultiHeadAttention):
        return True
    # A wrapper, as torch.compile makes one, hands on the attributes of what is in it.
    return _alike(module) and not any(
        _alike(part) for part in module.modules() if part is not module
    )


def _alike(module: nn.Module) -> bool:
    methods = callable(getattr(module, "split_heads", None)) and callable(
        getattr(module, "combine_heads", None)
    )
    return methods and isinstance(getattr(module, "num_heads", None), int)


def _attends(name: str, module: nn.Module) -> bool:
    """Does it look like an attention of several heads?"""
    if type(module).__module__.startswith("attnkit."):
        return False
    usual = name.rpartition(".")[2] in USUAL
    return usual or isinstance(module, nn.MultiheadAttention) or hasattr(module, "num_heads")
