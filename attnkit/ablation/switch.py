"""The place where heads are changed: between a module's weights and their weighted sums."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from attnkit.ablation.found import head_count
from attnkit.attention import MultiHeadAttention


class Call(NamedTuple):
    """One call of a module, as its changes see it."""

    number: int  # of the module's calls inside the context, from 0 on
    mask: Tensor | None  # as the caller gave it


class Change(Protocol):
    """What is done to the heads of one module."""

    def patterns(self, weights: Tensor, call: Call) -> Tensor:
        """The weights that the heads use; the argument itself where all use their own."""
        ...

    def outputs(self, weights: Tensor, value: Tensor, call: Call) -> tuple[Tensor, Tensor]:
        """Weights and values whose products are the outputs of the heads."""
        ...


class Acting:
    """A change that acts on a module, in the thread that asked for it."""

    def __init__(self, name: str, module: nn.Module, change: Change) -> None:
        self.name, self.module, self.change = name, module, change
        self.thread = threading.get_ident()
        self.calls = 0


@contextmanager
def acting(changes: Iterable[tuple[str, nn.Module, Change]]) -> Iterator[list[Acting]]:
    """Let changes act on modules; those of an outer context come first."""
    entered: list[tuple[Switch, Acting]] = []
    try:
        for name, module, change in changes:
            entry = Acting(name, module, change)
            entered.append((_switch(module, entry), entry))
        with _uncompiled():
            yield [entry for _, entry in entered]
    finally:
        for switch, entry in entered:
            switch.remove(entry)


def takes_mask(module: nn.Module) -> bool:
    """Whether the mask of a call can be told from its arguments."""
    return "mask" in _signature(module).parameters


def used_weights(module: nn.Module, weights: Tensor, mask: Tensor | None) -> Tensor:
    """The weights that the heads of a module used in its last call, from those it computed."""
    switch = _present(module)
    if switch is not None:
        for entry in switch.here():
            weights = entry.change.patterns(weights, Call(entry.calls - 1, mask))
    return weights


_lock = threading.RLock()


def _signature(module: nn.Module) -> inspect.Signature:
    signature = inspect.signature(module.forward)
    if "mask" not in signature.parameters:  # somebody's forward(*args, **kwargs) around the class's
        signature = inspect.signature(type(module).forward.__get__(module))
    return signature


def _present(module: nn.Module) -> Switch | None:
    stand_in = module.__dict__.get("forward")
    if isinstance(stand_in, _StandIn) and stand_in.switch.module is module:
        return stand_in.switch
    return None


def _switch(module: nn.Module, entry: Acting) -> Switch:
    with _lock:
        switch = _present(module) or Switch(module)
        switch.entries.append(entry)
        return switch


class Switch:
    """Stands in for ``forward`` and ``combine_heads`` of a module while changes act on it."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.entries: list[Acting] = []
        self.running = threading.local()
        self.own = all(  # then heads go together in one way, asked for weights or not
            getattr(type(module), name, None) is getattr(MultiHeadAttention, name)
            for name in ("forward", "combine_heads")
        )
        self.signature = _signature(module)
        self.instead = {name: getattr(module, name) for name in ("forward", "combine_heads")}
        self.before = {name: module.__dict__.get(name) for name in self.instead}
        self.stand_ins = {name: _StandIn(self, name) for name in self.instead}
        module.__dict__.update(self.stand_ins)

    def remove(self, entry: Acting) -> None:
        """End a change; with the last one the module gets its methods back."""
        with _lock:
            self.entries.remove(entry)
            if self.entries:
                return
            for name, method in self.before.items():
                if self.module.__dict__.get(name) is not self.stand_ins[name]:
                    continue  # somebody else's, put there meanwhile
                del self.module.__dict__[name]
                if method is not None:
                    self.module.__dict__[name] = method

    def here(self) -> list[Acting]:
        """The changes of this thread."""
        return [entry for entry in self.entries if entry.thread == threading.get_ident()]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        entries = self.here()
        if not entries:
            return self.instead["forward"](*args, **kwargs)
        try:
            given = self.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return self.instead["forward"](*args, **kwargs)  # which says what is wrong with them
        # The fused kernel has no place between weights and values.
        fused = self.own and not given.get("need_weights", True)
        if fused:
            kwargs["need_weights"] = True
        calls = [(entry, Call(entry.calls, given.get("mask"))) for entry in entries]
        for entry in entries:
            entry.calls += 1
        outer = getattr(self.running, "calls", None)
        self.running.calls, self.running.combined = calls, False
        try:
            result = self.instead["forward"](*args, **kwargs)
            if not self.running.combined:
                raise RuntimeError(
                    f"{type(self.module).__name__}.forward ran without self.combine_heads(weights, "
                    f"value), where the heads of {entries[0].name!r} are to be changed. A fused "
                    "kernel has no such place: call with need_weights=True."
                )
        finally:
            self.running.calls = outer
        if fused:
            return result._replace(weights=None)
        return _with_used(result, calls, head_count(self.module))

    def combine_heads(self, weights: Tensor, value: Tensor) -> Tensor:
        calls = getattr(self.running, "calls", None)
        if calls is not None:
            self.running.combined = True
            heads = head_count(self.module)
            if weights.ndim < 3 or not weights.shape[-3] == value.shape[-3] == heads:
                raise ValueError(
                    f"combine_heads must get weights (..., {heads}, T_q, T_k) and value (..., "
                    f"{heads}, T_k, d_head), got {tuple(weights.shape)} and {tuple(value.shape)}."
                )
            for entry, call in calls:
                weights = entry.change.patterns(weights, call)
                weights, value = entry.change.outputs(weights, value, call)
        return self.instead["combine_heads"](weights, value)


class _StandIn:
    """A method of a switch, in place of the module's; a copy of the module gets its own again."""

    def __init__(self, switch: Switch, name: str) -> None:
        self.switch, self.name = switch, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.switch, self.name)(*args, **kwargs)

    def __reduce__(self) -> tuple[Any, tuple[nn.Module, str]]:
        return getattr, (self.switch.module, self.name)


def _with_used(result: Any, calls: list[tuple[Acting, Call]], heads: int) -> Any:
    """What a module returned, with the weights that its heads used."""
    if not isinstance(result, tuple) or len(result) < 2 or not isinstance(result[1], Tensor):
        return result
    weights = computed = result[1]
    if weights.ndim < 3 or weights.shape[-3] != heads:
        return result
    for entry, call in calls:
        weights = entry.change.patterns(weights, call)
    if weights is computed:
        return result
    parts = (result[0], weights, *result[2:])
    make = getattr(type(result), "_make", tuple)  # of a NamedTuple
    return make(parts)


class _Uncompiled:
    """How many contexts keep compiled models from running compiled: that passes switches by."""

    def __init__(self) -> None:
        self.contexts = 0
        self.stance: Any = None

    def enter(self) -> None:
        with _lock:
            self.contexts += 1
            if self.stance is None and "torch._dynamo" in sys.modules:
                self.stance = torch.compiler.set_stance("force_eager")
                self.stance.__enter__()

    def leave(self) -> None:
        with _lock:
            self.contexts -= 1
            if self.stance is not None and not self.contexts:
                self.stance.__exit__(None, None, None)
                self.stance = None


_contexts = _Uncompiled()


@contextmanager
def _uncompiled() -> Iterator[None]:
    _contexts.enter()
    try:
        yield
    finally:
        _contexts.leave()
