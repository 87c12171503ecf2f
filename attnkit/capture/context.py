"""The context manager."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches

import torch
from torch import nn

from attnkit.capture.maps import Captured
from attnkit.capture.readers import OWN, Reader
from attnkit.capture.watch import Watch


@contextmanager
def capture_attention(
    model: nn.Module,
    *,
    only: str | Iterable[str] | None = None,
    readers: Mapping[type, Reader] | None = None,
) -> Iterator[Captured]:
    """Record the attention weights of every head while the model runs.

    >>> model = nn.MultiheadAttention(12, 3, batch_first=True)
    >>> x = torch.randn(2, 5, 12)
    >>> with capture_attention(model) as captured:
    ...     output, weights = model(x, x, x)
    >>> weights.shape  # what the caller asked for: the average of the heads
    torch.Size([2, 5, 5])
    >>> captured.maps
    [AttentionMap(name='', call=0, kind='self', weights=(2, 3, 5, 5))]

    Seen are ``torch.nn.MultiheadAttention`` and all that is built on it, every call of
    ``F.scaled_dot_product_attention`` inside the model, attnkit's own modules, and what ``readers``
    names. *Not* seen is a softmax that a model writes out by hand, nor attention in other threads
    than the one that entered the context.

    The model computes what it computes without the context, gradients and random numbers included.
    The one exception is PyTorch's fast path for ``nn.TransformerEncoder`` and
    ``nn.MultiheadAttention`` in eval mode without gradients: it is not taken, so that outputs
    differ by rounding (about 1e-7), and are computed at padding positions, where it gives zeros.
    Compiled models run uncompiled meanwhile.

    Each map is computed from the inputs of the attention and proved: times the values it must give
    the weighted sum that PyTorch computed. Maps are those *before* dropout; where the model itself
    applied dropout, a warning at the end says so.

    Args:
        model: Any module; only attention that runs inside it counts.
        only: Names of modules, as in ``model.named_modules()``: maps are kept of them and of what
            is in them. A map takes as much memory as heads · T_q · T_k numbers.
        readers: For classes that write the softmax by hand: ``reader(module, args, kwargs,
            output)`` returns an :class:`Attended`. See the appendix "Capture internals".

    Yields:
        A :class:`Captured`, whose ``maps`` grow with each call.

    Raises:
        TypeError: The model is no module, or ``only`` no names.
        ValueError: ``only`` names a module that the model does not have.
        RuntimeError: At the end, when the model was not called or no attention was seen; within a
            call, when a map does not give the output. A capture whose body raises adds nothing to
            that error.
    """
    watch = Watch(model, _chosen(model, only), {**OWN, **(readers or {})})
    with ExitStack() as stack:
        if "torch._dynamo" in sys.modules:  # compiled code would pass the watch by
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        for module in watch.modules_to_read():
            stack.callback(watch.hook(module).remove)
        stack.enter_context(watch)
        try:
            yield watch.captured
        except AssertionError as error:
            if "NestedTensor outside of its fast path" in str(error):
                error.add_note(
                    "capture_attention turns the fast path off. Pad the sequences "
                    "(to_padded_tensor) and pass key_padding_mask instead."
                )
            raise
    watch.conclude()


def _chosen(model: nn.Module, only: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}.")
    if only is None:
        return None
    if not isinstance(only, Iterable):
        raise TypeError(f"only must hold names of modules, got {only!r}.")
    chosen = (only,) if isinstance(only, str) else tuple(only)
    if not chosen:
        raise ValueError("only holds no name; leave it out to keep the maps of all modules.")
    names = dict(model.named_modules(remove_duplicate=False))
    for name in chosen:
        if not isinstance(name, str):
            raise TypeError(f"only must hold names of modules, got {name!r}.")
        if name not in names:
            close = get_close_matches(name, names, n=3) or list(names)[1:4]
            raise ValueError(
                f"only names {name!r}, which the model does not have; near to it: "
                f"{', '.join(map(repr, close))}. All names: dict(model.named_modules())."
            )
    return chosen
