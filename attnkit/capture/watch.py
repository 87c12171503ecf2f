"""The watch that a capture keeps on PyTorch's attention functions."""

from __future__ import annotations

import sys
import threading
import warnings
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode, has_torch_function
from torch.utils.hooks import RemovableHandle

from attnkit.capture import recompute
from attnkit.capture.maps import Captured
from attnkit.capture.readers import Reader, reader_for, watched

_SOME_TENSOR = torch.empty(0)
_busy = threading.local()  # set while a capture computes: what it calls is not the model's


def _in_backward() -> bool:
    """Whether a backward pass is under way: a module that is run again in it is no second call.

    Newer versions of PyTorch switch modes off meanwhile; 2.6 to 2.10 do not in all of them."""
    return torch._C._current_graph_task_id() != -1


class Watch(TorchFunctionMode):
    """Sees every PyTorch function that is called in its thread; acts on the two of attention."""

    def __init__(
        self, model: nn.Module, chosen: tuple[str, ...] | None, readers: Mapping[type, Reader]
    ) -> None:
        super().__init__()
        self.captured = Captured()
        self.chosen = chosen
        self.inside = {
            id(module) for name in chosen or () for module in model.get_submodule(name).modules()
        }
        self.model_class = type(model).__name__
        self.modules = {id(module): (name, module) for name, module in model.named_modules()}
        self.readers = {
            key: reader_for(module, readers) for key, (_, module) in self.modules.items()
        }
        self.thread = threading.get_ident()
        self.called = False
        self.passed_over: list[str] = []
        self.dropped: dict[str, tuple[float, bool]] = {}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if _in_backward():
            return result
        if func is F.scaled_dot_product_attention or func is F.multi_head_attention_forward:
            key = self._running()
            self.called = self.called or key is not None
            if key is not None and self.readers[key] is None and self._wanted(key):
                with _aside():
                    if func is F.multi_head_attention_forward:
                        kind = "self" if _same_input(*args, **kwargs) else "cross"
                        self._keep(key, kind, recompute.multi_head(args, kwargs))
                    else:
                        call = recompute.FusedCall(*args, **kwargs)
                        self._keep(key, "unknown", recompute.fused(call, result))
        elif not self.called:
            self.called = self._running() is not None
        return result

    def modules_to_read(self) -> list[nn.Module]:
        """The modules that have a reader."""
        return [module for key, (_, module) in self.modules.items() if self.readers[key]]

    def hook(self, module: nn.Module) -> RemovableHandle:
        """Have the module tell what it returned, before other hooks change that."""
        return module.register_forward_hook(_Tell(self), prepend=True, with_kwargs=True)

    def read(self, module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
        """Take the map from what a module returned that has a reader."""
        reader = self.readers.get(id(module))
        if reader is None or threading.get_ident() != self.thread:
            return
        if _in_backward() or not has_torch_function((_SOME_TENSOR,)):  # or no mode is active
            return
        self.called = True
        if self._wanted(id(module)):
            with _aside():
                try:
                    read = reader(module, args, kwargs, output)
                except (AttributeError, TypeError, ValueError) as error:
                    name, kind = self.modules[id(module)][0], type(module).__name__
                    raise RuntimeError(
                        f"the reader of {name or self.model_class!r} does not fit its class, "
                        f"{kind}: {error}. Give one that does: "
                        f"capture_attention(model, readers={{{kind}: ...}})."
                    ) from error
                self._keep(id(module), read.kind, watched(read))

    def conclude(self) -> None:
        """Say what could not be done, and where dropout was applied after the weights."""
        if not self.captured.maps:
            raise RuntimeError(self._why_nothing())
        if self.dropped:
            name, (dropout, training) = next(iter(self.dropped.items()))
            more = len(self.dropped) - 1
            others = f" and {more} other module{'s'[: more - 1]}" if more else ""
            cure = (
                "model.eval() turns it off"
                if training
                else "it stays on in eval unless the module passes dropout_p=0.0 then"
            )
            warnings.warn(
                f"dropout {dropout:g} was applied to the weights of {name!r}{others}: the maps are "
                f"the weights before it, not those that made the output; {cure}.",
                stacklevel=4,
            )

    def _running(self) -> int | None:
        """The innermost module of the model that is running, found in the frames of the stack.

        Frames need no clearing up after an exception, and see modules whose methods other than
        ``forward`` were called.
        """
        frame = sys._getframe(2)
        while frame is not None:
            # Before Python 3.13 f_locals is a copy that keeps all locals of a caller alive.
            if "self" in frame.f_code.co_varnames or "self" in frame.f_code.co_freevars:
                key = id(frame.f_locals.get("self"))
                if key in self.modules:
                    return key
            frame = frame.f_back
        return None

    def _wanted(self, key: int) -> bool:
        if getattr(_busy, "on", False):
            return False
        name = self.modules[key][0]
        if self.chosen is None or key in self.inside:
            return True
        self.passed_over.append(name)
        return False

    def _keep(self, key: int, kind: str, seen: recompute.Watched) -> None:
        name, module = self.modules[key]
        apart, allowed = recompute.difference(seen)
        if not apart <= allowed:
            raise RuntimeError(
                f"the map of {name or self.model_class!r} is not proved: its weights times the "
                f"values differ by {apart:.2g} from the output of the attention, where rounding "
                f"explains {allowed:.2g}. Does a reader return weights after dropout, or other "
                "values than the module used? Is F.scaled_dot_product_attention patched?"
            )
        if seen.dropout:
            self.dropped.setdefault(name or self.model_class, (seen.dropout, module.training))
        self.captured.add(name, kind, seen.weights.detach())

    def _why_nothing(self) -> str:
        if self.passed_over:
            names = ", ".join(map(repr, dict.fromkeys(self.passed_over)))
            chosen = ", ".join(map(repr, self.chosen or ()))
            return f"no attention ran in {chosen}, but it did in {names}: name these in only."
        if self.called:
            return (
                f"{self.model_class} ran, but no attention was seen.\n"
                "Seen are nn.MultiheadAttention, F.scaled_dot_product_attention and attnkit's\n"
                "modules (called as module(...), not module.forward(...)); not a softmax written\n"
                "out by hand, nor other kernels.\n"
                "Write F.scaled_dot_product_attention in its place, or say how to read it:\n"
                "capture_attention(model, readers={ItsClass: ...}). A Hugging Face model returns\n"
                'its weights itself: from_pretrained(..., attn_implementation="eager"), then\n'
                "model(..., output_attentions=True).attentions."
            )
        return (
            f"{self.model_class} was not called inside the context, in the thread that entered it: "
            "with capture_attention(model) as captured: model(...). A scripted or traced module "
            "cannot be watched; capture the module that it was made from."
        )


class _Tell:
    """A forward hook; in a copy of the module that is left or stored it tells nobody."""

    def __init__(self, watch: Watch | None = None) -> None:
        self.watch = None if watch is None else weakref.ref(watch)

    def __call__(self, module: nn.Module, args: Any, *rest: Any) -> None:
        watch = None if self.watch is None else self.watch()
        if watch is not None and len(rest) == 2:  # PyTorch forgets the keywords where a capture in
            watch.read(module, args, *rest)  # another thread puts this in place or takes it off

    def __reduce__(self) -> tuple[type[_Tell], tuple[()]]:
        return _Tell, ()


@contextmanager
def _aside() -> Iterator[None]:
    """Compute without leaving a trace: no gradients, and no capture, this one or an outer one."""
    before = getattr(_busy, "on", False)
    _busy.on = True
    try:
        with torch.inference_mode(False), torch.no_grad():
            yield
    except RuntimeError as error:
        if "vmap" in str(error):
            error.add_note("capture_attention cannot look into vmap: give the model a batch.")
        raise
    finally:
        _busy.on = before


def _same_input(query, key, *args, **kwargs) -> bool:
    # With batch_first each gets a transposed view of its own, where the values are another tensor.
    return query is key or (not query.is_meta and query.is_set_to(key))
