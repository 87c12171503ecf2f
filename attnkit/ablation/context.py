"""The context manager."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from attnkit.ablation.found import attention_modules, resolved
from attnkit.ablation.kinds import Kind, Replaced, kind_of, means_of, recorded_of
from attnkit.ablation.switch import acting, takes_mask


@contextmanager
def ablate(
    model: nn.Module,
    heads: Mapping[tuple[int | str, int], Kind],
    *,
    means: Sequence[Tensor] | None = None,
    frozen: Any = None,
) -> Iterator[None]:
    """Take heads out of a model, or turn them down, while the model runs.

    >>> import torch
    >>> from attnkit import MultiHeadAttention
    >>> model = MultiHeadAttention(d_model=6, num_heads=2)
    >>> x = torch.randn(1, 3, 6)
    >>> with ablate(model, {(0, 0): "zero", (0, 1): "zero"}):
    ...     model(x).output.abs().max().item()  # what is left is the bias of output_proj, here 0
    0.0
    >>> with ablate(model, {(0, 1): "uniform"}):
    ...     model(x).weights[0, 1].detach()  # head 1 looks at every key alike
    tensor([[0.3333, 0.3333, 0.3333],
            [0.3333, 0.3333, 0.3333],
            [0.3333, 0.3333, 0.3333]])

    Four different things are called ablation, and the kind names which. With :math:`A_h V_h` for
    what head h puts out, before ``output_proj``:

    - ``"zero"``: :math:`A_h V_h` becomes 0 (Michel et al., 2019);
    - a *gate* g, a number from 0 to 1 or a tensor of one, through which gradients flow:
      :math:`A_h V_h` becomes :math:`g A_h V_h` (Voita et al., 2019);
    - ``"uniform"``: each row of :math:`A_h` becomes even over the keys that the mask lets the query
      see, so that the head still hands on their mean value (Kovaleva et al., 2019);
    - with ``frozen`` all heads of all layers use the recorded weights, so that what is taken out
      reaches later layers through the values alone, and not through what these look at (with
      ``"zero"``, Olsson et al., 2022).

    The last one needs a run of the same inputs: ``with capture_attention(model) as captured``, then
    ``frozen=captured``. And ``"mean"`` puts the head's mean output in the place of
    :math:`A_h V_h`, from ``means=mean_outputs(model, batches)``: it takes away what the head says
    about *this* input, and nothing else. A query that may see nothing keeps the output 0.

    Returned weights are those that the head computed from its input, which an ablated head before
    it may have changed; but for ``"uniform"`` and ``frozen``, where they are those it used. What
    takes the place of weights is not subject to dropout. With ``need_weights=False`` the weights
    are computed all the same, for the time, and the output is that of the fused kernel up to
    rounding. Compiled models run uncompiled. A backward pass that computes again what
    ``torch.utils.checkpoint`` has thrown away belongs inside the context.

    Contexts nest, the outer ones act first: two gates multiply. Attention in other threads is left
    alone. Nothing stays behind, whatever is raised; a copy that is made of the model inside is an
    ordinary one.

    Args:
        model: Any module with :class:`~attnkit.attention.MultiHeadAttention` in it, or with what
            :func:`attention_modules` takes for it.
        heads: ``{(layer, head): kind}``. A layer is a place in :func:`attention_modules`, or the
            name of a module; both count from 0. No heads, no change.
        means: For ``"mean"``: a tensor (heads, d_head) for each layer.
        frozen: A :class:`attnkit.capture.Captured`, or the recorded weights of each layer,
            ``(batch, heads, T_q, T_k)``. A module that is called several times takes its recorded
            calls in turn.

    Raises:
        TypeError: The model has no attention whose heads can be taken out; a layer, head or kind
            is none.
        ValueError: There is no such layer or head, or a head is named twice; a kind is unknown, or
            a gate not from 0 to 1; means or weights are missing or do not fit.
        RuntimeError: At the end, when an attention that was to be changed did not run; in a call,
            when it never came to ``combine_heads``.
    """
    modules = attention_modules(model)
    if not isinstance(heads, Mapping):
        raise TypeError(
            f"heads must be a dict {{(layer, head): kind}}, got {type(heads).__name__}. One is "
            '{(0, 1): "zero"}; several alike: dict.fromkeys([(0, 1), (0, 2)], "zero").'
        )
    kinds: list[dict[int, Kind]] = [{} for _ in modules]
    for key, kind in heads.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise TypeError(f"heads must have keys (layer, head), got {key!r}.")
        layer, head = resolved(modules, model, *key)
        if head in kinds[layer]:
            raise ValueError(
                f"head {head} of layer {layer} ({modules[layer][0]!r}) is named twice in heads. "
                "Two things in turn are two contexts."
            )
        kinds[layer][head] = kind_of(key, kind, means)
        name, module = modules[layer]
        if isinstance(kind, str) and kind != "zero" and not takes_mask(module):
            raise TypeError(
                f"the forward of {name!r}, {type(module).__name__}, must have a parameter mask "
                f"(boolean, True = may attend; None = all): {kind!r} needs to know which keys a "
                "query may see."
            )
    shares = means_of(means, modules)
    recorded = recorded_of(frozen, modules)
    changes = [
        (name, module, Replaced(kinds[i], shares[i], recorded[i]))
        for i, (name, module) in enumerate(modules)
        if kinds[i] or recorded[i]
    ]
    with acting(changes) as entries:
        yield
    idle = [repr(entry.name or type(model).__name__) for entry in entries if not entry.calls]
    if idle:
        raise RuntimeError(
            f"{', '.join(idle)} did not run inside the context, in the thread that entered it, and "
            "nothing was changed: with ablate(model, ...): model(...). Is it a copy of the model "
            "that ran, or a traced one?"
        )
