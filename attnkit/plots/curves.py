"""Curves of a training run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from attnkit.plots.style import COLOURS, INK

#: A run of fewer steps is drawn as it is; of a longer one also the mean of so many parts.
PARTS = 25
#: Inches from which on the legend stands in one row.
WIDE = 3.0


def history(h: Iterable[Any], ax: Axes | None = None) -> Axes:
    """Draw a training run: the loss of each step on the left axis, validations on the right one.

    The loss of single batches jumps about; of 50 steps and more its running mean is drawn over it,
    each point in the middle of the steps it is the mean of. Validations between 0 and 1 are drawn
    on an axis from 0 to 1.

    Args:
        h: What :func:`attnkit.training.fit` returns.
        ax: Where to draw; None makes a new pyplot figure.

    Returns:
        The axes with the loss. Those of the validation are the last ones of its figure.

    Raises:
        TypeError: ``h`` is not a History.
        ValueError: It has no steps.
    """
    step, loss, validation = _columns(h)
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure().add_subplot()
    parts = len(step) // PARTS
    mean = np.convolve(loss, np.full(parts, 1 / parts), "valid") if parts > 1 else None
    (line,) = ax.plot(step, loss, color=COLOURS[0], label="loss")
    line.set_marker("o" if len(step) == 1 else "")
    lines = [line]
    if mean is not None:
        line.set(linewidth=0.8, alpha=0.4, label="loss of each step")
        middle = step[: len(mean)] + (parts - 1) / 2
        lines += ax.plot(middle, mean, color=COLOURS[0], label=f"mean of {parts} steps")
    ax.set(xlabel="step", ylabel="loss")
    if loss.min() >= 0:
        ax.set_ylim(bottom=0)
    measured = np.isfinite(validation)
    if measured.any():
        right = ax.twinx()
        lines += right.plot(
            step[measured], validation[measured], "o-", color=COLOURS[1], label="validation"
        )
        # The label of the x axis that both share is read out and not drawn again.
        right.set(xlabel="step", ylabel="validation")
        right.spines["right"].set(visible=True, color=INK)
        right.grid(False)
        if 0 <= np.nanmin(validation) and np.nanmax(validation) <= 1:
            right.set_ylim(-0.03, 1.03)
    if len(lines) > 1:
        _legend_below(ax, lines)
    return ax


def _legend_below(ax: Axes, lines: list[Line2D]) -> None:
    """Under the label of the x axis, where it hides no curve; in one column where it is narrow."""
    figure = ax.get_figure(root=True)
    assert figure is not None, "it has drawn on these axes"
    down = ScaledTranslation(0, -3.4 * rcParams["font.size"] / 72, figure.dpi_scale_trans)
    wide = ax.bbox.width >= WIDE * figure.dpi
    ax.legend(
        handles=lines,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=ax.transAxes + down,
        borderaxespad=0,
        ncols=len(lines) if wide else 1,
        fontsize="small",
        handlelength=1.5,
        columnspacing=1.5,
    )


def _columns(h: Iterable[Any]) -> tuple[np.ndarray, ...]:
    try:
        rows = np.array([(row.step, row.loss, row.validation) for row in h], dtype=float)
    except (TypeError, AttributeError):
        raise TypeError(
            f"history wants the History that fit returns, got {type(h).__name__}. "
            "Keep it when you train: h = fit(...)."
        ) from None
    if not len(rows):
        raise ValueError(
            "This History has no steps to draw. Train at least one: fit(..., steps=1)."
        )
    return tuple(rows.T)
