"""What runs of a model tell about its heads: mean outputs, and gradients with respect to gates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from attnkit.ablation.found import attention_modules, head_count
from attnkit.ablation.switch import Call, acting


def head_importance(
    model: nn.Module,
    batches: Iterable[Any],
    losses: Callable[[Any, Any], Tensor],
    *,
    normalize: bool = False,
) -> Tensor:
    """How far each head's gate would move the loss: the mean size of the gradient.

    .. math:: I_h = \\mathbb{E}_x \\left|\\frac{\\partial L(x)}{\\partial \\xi_h}\\right|

    where the output of head h is multiplied by a gate :math:`\\xi_h = 1`. One backward pass a batch
    gives all heads and all examples, each example with gates of its own. The absolute value is
    taken for each example: with one gate for a batch, examples of opposite sign would cancel.

    It is what the first bit of turning down costs, not what taking the head out does: compare with
    :func:`ablate`.

    >>> import torch
    >>> from attnkit import MultiHeadAttention
    >>> model = MultiHeadAttention(d_model=6, num_heads=3)
    >>> batches = [torch.randn(4, 5, 6) for _ in range(2)]
    >>> def losses(model, batch):  # one number for each of the four sequences
    ...     return model(batch).output.square().mean((1, 2))
    >>> head_importance(model, batches, losses).shape
    torch.Size([1, 3])

    The model runs in eval mode and gets its mode back; gradients in ``.grad`` are left alone.

    Args:
        model: As for :func:`ablate`.
        batches: What ``losses`` gets, one after the other.
        losses: ``losses(model, batch)``: one number for each sequence, shape ``(batch,)``; a single
            number where the batch is one sequence.
        normalize: Divide each layer by the square root of its sum of squares, as the paper does: it
            compares heads of one layer, and no layers.

    Returns:
        Shape ``(layers, heads)``, in the units of the loss. A module with fewer heads than another
        has nan in the places that it lacks; a head on which no loss depends has 0.

    Raises:
        TypeError: The model has no heads that can be gated, or ``losses`` gives no tensor.
        ValueError: There are no batches, or ``losses`` gives not one number for each sequence.

    Michel et al., 2019, section 4.1.
    """
    modules = attention_modules(model)
    gates = [_Gates(head_count(module)) for _, module in modules]
    changes = [(name, m, gate) for (name, m), gate in zip(modules, gates, strict=True)]
    examples, dtype = 0, torch.get_default_dtype()
    with torch.inference_mode(False), torch.enable_grad(), _evaluated(model), acting(changes):
        for batch in batches:
            for gate in gates:
                gate.xi = None
            loss = losses(model, batch)
            examples, dtype = examples + _count(loss, gates), loss.dtype
            xis = [gate.xi for gate in gates if gate.xi is not None]
            slopes = iter(torch.autograd.grad(loss.sum(), xis, allow_unused=True))
            for gate in gates:
                if gate.xi is not None and (slope := next(slopes)) is not None:
                    gate.add(slope)
    if not examples:
        raise ValueError("batches must hold at least one batch, got none.")
    most = max(gate.heads for gate in gates)
    result = gates[0].total.new_full((len(gates), most), torch.nan)
    for row, gate in zip(result, gates, strict=True):
        row[: gate.heads] = gate.total / examples
    if normalize:
        result = result / result.square().nansum(-1, keepdim=True).sqrt().clamp(min=1e-30)
    return result.to(dtype)


def mean_outputs(
    model: nn.Module,
    batches: Iterable[Any],
    run: Callable[[Any, Any], Any] | None = None,
    *,
    counted: Callable[[Any], Tensor] | None = None,
) -> list[Tensor]:
    """The mean output of each head, before ``output_proj``: what ``"mean"`` puts in its place.

    .. math:: \\bar o_h = \\frac{1}{|C|} \\sum_{i \\in C} (A_h V_h)_i

    over the set C of all counted queries of all batches. A query that may see nothing is not
    counted. The model runs in eval mode without gradients.

    >>> import torch
    >>> from attnkit import MultiHeadAttention, padding_mask
    >>> model = MultiHeadAttention(d_model=6, num_heads=3)
    >>> x, lengths = torch.randn(4, 5, 6), torch.tensor([5, 2, 3, 4])
    >>> means = mean_outputs(
    ...     model,
    ...     [padding_mask(lengths)],
    ...     lambda model, mask: model(x, mask=mask),
    ...     counted=lambda mask: mask,
    ... )
    >>> [mean.shape for mean in means]
    [torch.Size([3, 2])]

    Args:
        model: As for :func:`ablate`.
        batches: The reference inputs, one after the other.
        run: ``run(model, batch)``; ``model(batch)`` when left out.
        counted: ``counted(batch)``: boolean, True = this query counts, shape ``(batch, T_q)``; the
            ``(batch, 1, 1, T_q)`` of :func:`attnkit.masks.padding_mask` is taken as well. All when
            left out: then the queries of padding count too.

    Returns:
        A tensor ``(heads, d_head)`` for each of :func:`attention_modules`.

    Raises:
        TypeError: The model has no heads that can be taken out, or ``counted`` gives no boolean
            tensor.
        ValueError: No query was counted in a module; ``counted`` does not fit.
    """
    modules = attention_modules(model)
    means = [_Means() for _ in modules]
    changes = [(name, m, mean) for (name, m), mean in zip(modules, means, strict=True)]
    with torch.inference_mode(False), torch.no_grad(), _evaluated(model), acting(changes):
        for batch in batches:
            chosen = None if counted is None else counted(batch)
            if chosen is not None and not (
                isinstance(chosen, Tensor) and chosen.dtype == torch.bool
            ):
                raise TypeError(
                    "counted must give a boolean tensor (batch, T_q), True = this query counts, "
                    f"got {getattr(chosen, 'dtype', type(chosen).__name__)}."
                )
            for mean in means:
                mean.chosen = chosen
            model(batch) if run is None else run(model, batch)
    for (name, _), mean in zip(modules, means, strict=True):
        if not mean.count.any():
            raise ValueError(
                f"no query was counted in {name or type(model).__name__!r}: are there batches, "
                "does it run, and does counted keep a query?"
            )
    return [mean.mean() for mean in means]


class _Gates:
    """Gates of 1, for each example and head; what they are multiplied with is left as it is."""

    def __init__(self, heads: int) -> None:
        self.heads = heads
        self.xi: Tensor | None = None
        self.total = torch.zeros(heads, dtype=torch.float64)  # low precision would lose small ones

    def add(self, slope: Tensor) -> None:
        """Add the sizes of the slopes of all examples."""
        sizes = slope.double().abs().reshape(-1, self.heads)
        self.total = self.total.to(slope.device) + sizes.sum(0)

    def patterns(self, weights: Tensor, call: Call) -> Tensor:
        return weights

    def outputs(self, weights: Tensor, value: Tensor, call: Call) -> tuple[Tensor, Tensor]:
        shape = (*value.shape[:-2], 1, 1)
        if self.xi is None:
            self.xi = value.new_ones(shape, requires_grad=True)
        if self.xi.shape != shape:
            raise ValueError(
                "an attention that runs several times must get the same batch each time, got "
                f"{tuple(self.xi.shape[:-3])} and {tuple(shape[:-3])}."
            )
        return weights, value * self.xi


class _Means:
    """Sums the outputs of the heads over the counted queries."""

    def __init__(self) -> None:
        self.chosen: Tensor | None = None
        self.sum, self.count = torch.zeros(()), torch.zeros(())
        self.dtype = torch.get_default_dtype()

    def patterns(self, weights: Tensor, call: Call) -> Tensor:
        return weights

    def outputs(self, weights: Tensor, value: Tensor, call: Call) -> tuple[Tensor, Tensor]:
        counts = (weights != 0).any(-1)  # (..., heads, T_q)
        if self.chosen is not None:
            chosen = self.chosen
            if chosen.ndim == 4 and chosen.shape[1:3] == (1, 1):
                chosen = chosen[:, 0, 0]  # a padding mask
            if chosen.ndim == counts.ndim and len(chosen) == 1:
                chosen = chosen[0]
            if chosen.shape != (*counts.shape[:-2], counts.shape[-1]):
                raise ValueError(
                    "counted must have the shape (batch, T_q) of the queries, "
                    f"{(*counts.shape[:-2], counts.shape[-1])}, got {tuple(chosen.shape)}."
                )
            counts = counts & chosen.unsqueeze(-2)
        kept = torch.where(counts.unsqueeze(-1), (weights @ value).double(), 0.0)
        axes = (*range(kept.ndim - 3), -2)
        self.sum = self.sum + kept.sum(axes)
        self.count = self.count + counts.unsqueeze(-1).sum(axes)
        self.dtype = value.dtype
        return weights, value

    def mean(self) -> Tensor:
        return (self.sum / self.count).to(self.dtype)


@contextmanager
def _evaluated(model: nn.Module) -> Iterator[None]:
    """In eval mode; each module gets the mode back that it came in."""
    modes = [(part, part.training) for part in model.modules()]
    try:
        model.eval()
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def _count(loss: Any, gates: list[_Gates]) -> int:
    """Check that there is one loss for each sequence, and return how many sequences there are."""
    if not isinstance(loss, Tensor):
        raise TypeError(f"losses must give a tensor, got {type(loss).__name__}.")
    batches = {tuple(gate.xi.shape[:-3]) for gate in gates if gate.xi is not None}
    if not batches or not loss.requires_grad:
        raise ValueError(
            "losses must be computed by the model, with gradients: no attention of it ran, or the "
            "result was detached."
        )
    if len(batches) > 1:
        raise ValueError(f"attentions of the model ran with different batches: {sorted(batches)}.")
    (batch,) = batches
    if loss.shape != batch and not (loss.ndim == 0 and batch in ((), (1,))):
        raise ValueError(
            f"losses must give one number for each sequence, shape {batch}, got "
            f"{tuple(loss.shape)}. In a mean over the batch sequences of opposite sign would "
            'cancel: F.cross_entropy(..., reduction="none"), then the mean over the tokens.'
        )
    return batch[0] if batch else 1
