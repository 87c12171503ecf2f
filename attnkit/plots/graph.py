"""Attention as a graph: queries at the left, keys at the right, a line for every weight."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D

from attnkit.fonts import drawable
from attnkit.plots.map_cells import LABEL_COLUMNS, literal, tick_labels
from attnkit.plots.map_data import LONGEST, read_maps
from attnkit.plots.map_words import words_of_graph
from attnkit.plots.maps import inches_of, layout
from attnkit.plots.style import COLOURS, INK
from attnkit.plots.told import tell

#: Inches of a figure of our own: its width, a row of tokens, and around them.
ACROSS, ROW, AROUND = 5.0, 0.27, 1.0
#: Points: the line of weight 1, and of a label.
WIDEST, SIZE = 5.5, 10.0


def attention_graph(
    weights: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    mask: Any = None,
    at_least: float = 0.1,
    ax: Axes | None = None,
) -> Axes:
    """Draw a line from each query to the keys that it gives a weight of ``at_least`` or more.

    Lines are as wide as their weight is large, and darker. Every position is a node of its own, so
    that a token that stands twice is there twice. How many weights the threshold leaves out, and
    how much they sum to, is said below.

    Args:
        weights: ``(queries, keys)``, as for :func:`heatmap`.
        query_tokens: The tokens at the left; numbers from 0 if left out.
        key_tokens: The tokens at the right; left out, those of the queries if the map is square.
        mask: Boolean, True = may attend: weight where it blocks is refused.
        at_least: The smallest weight that is drawn, above 0.
        ax: Where to draw, and nowhere else. None makes a new pyplot figure.

    Returns:
        The axes; its first collection holds the lines, its texts the tokens.

    Raises:
        TypeError: As for :func:`heatmap`.
        ValueError: As for :func:`heatmap`, a threshold that is not in (0, 1], or more than 128
            tokens on a side.
    """
    number = isinstance(at_least, Real) and not isinstance(at_least, bool)
    if not number or not 0 < at_least <= 1:
        raise ValueError(f"at_least must be a weight above 0 and at most 1, got {at_least!r}.")
    _, (drawn,) = read_maps(weights, query_tokens, key_tokens, mask, ("queries", "keys"))
    n_queries, n_keys = drawn.weights.shape
    most = max(n_queries, n_keys)
    if most > LONGEST:
        some = ", or some of the queries: weights[..., :20, :]" if n_keys <= LONGEST else ""
        raise ValueError(
            f"a graph shows at most {LONGEST} tokens on a side, got {n_queries} queries and "
            f"{n_keys} keys. Draw plots.heatmap{some}."
        )
    if ax is None:
        from matplotlib import pyplot

        high = min(12.0, ROW * max(most, 4) + AROUND)
        ax = pyplot.figure(figsize=(ACROSS, high), layout=layout()).add_subplot()
    _, inches = inches_of(ax)

    i, j = np.nonzero(drawn.weights >= at_least)
    strength = drawn.weights[i, j]
    order = np.argsort(strength, kind="stable")  # the strong ones lie on top
    i, j, strength = i[order], j[order], strength[order]
    rows, columns = _heights(n_queries, most), _heights(n_keys, most)
    lines = LineCollection(
        [_curve(rows[a], columns[b]) for a, b in zip(i, j, strict=True)],
        linewidths=np.maximum(WIDEST * strength, 0.6),
        colors=[(*to_rgb(COLOURS[0]), 0.35 + 0.6 * float(s)) for s in strength],
        capstyle="round",
    )
    ax.add_collection(lines, autolim=False)
    for tokens, heights, x, side in (
        (drawn.queries, rows, -0.03, "right"),
        (drawn.keys, columns, 1.03, "left"),
    ):
        _tokens(ax, tokens, heights, x, side, inches)
    ax.set(xlim=(-0.03, 1.03), ylim=(-most - 0.1, 0.1), xticks=[], yticks=[])
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.text(-0.03, 0.35, "query", ha="right", va="bottom", fontsize=SIZE, fontweight="bold")
    ax.text(1.03, 0.35, "key", ha="left", va="bottom", fontsize=SIZE, fontweight="bold")
    literal(ax.set_xlabel(_left_out(drawn.weights, at_least), fontsize=9))
    _legend(ax, at_least)
    tell(lines, lambda: words_of_graph(drawn, at_least))
    return ax


def _heights(n: int, most: int) -> np.ndarray:
    """Places of n tokens from the top, the shorter side in the middle of the longer one."""
    return -(np.arange(n) + 0.5 + (most - n) / 2)


def _curve(start: Any, end: Any) -> np.ndarray:
    """From left to right, level where it leaves and where it arrives."""
    x = np.linspace(0, 1, 33)
    return np.column_stack([x, start + (end - start) * (x * x * (3 - 2 * x))])


def _tokens(
    ax: Axes, tokens: list[str], heights: np.ndarray, x: float, side: str, inches: float
) -> None:
    places, _ = tick_labels([str(n) for n in range(len(tokens))], inches * 0.93)
    shown = drawable(tokens, LABEL_COLUMNS + 4, warn=True)
    for place in places:
        text = ax.text(x, heights[place], shown[place], ha=side, va="center", fontsize=SIZE)
        literal(text)


def _left_out(weights: np.ndarray, at_least: float) -> str:
    drawn = weights >= at_least
    share = weights[drawn].sum() / weights.sum() if weights.any() else 1.0
    left = int(((weights > 0) & ~drawn).sum())
    return (
        f"weights of at least {at_least:g}: {100 * share:.0f} % of all attention; "
        f"{left} smaller not drawn"
    )


def _legend(ax: Axes, at_least: float) -> None:
    """Lines of three weights: what a width stands for."""
    values = sorted({round(float(at_least), 3), 0.5, 1.0} if at_least < 0.5 else {at_least, 1.0})
    handles = [
        Line2D([], [], color=(*to_rgb(COLOURS[0]), 0.35 + 0.6 * v), linewidth=max(WIDEST * v, 0.6),
               label=f"{v:g}")
        for v in values
    ]  # fmt: skip
    legend = ax.legend(
        handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(handles),
        frameon=False, fontsize=9, handlelength=1.6, columnspacing=1.4, borderaxespad=0.1,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_color(INK)
