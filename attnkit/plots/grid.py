"""The maps of all heads on one scale from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from attnkit import expect
from attnkit.fonts import spelled
from attnkit.labels import visible
from attnkit.plots.map_cells import draw_map, label_inches, literal, set_ticks, tick_labels
from attnkit.plots.map_data import Map, cells_of, read_maps
from attnkit.plots.map_words import words_of_grid
from attnkit.plots.maps import AXIS_LABEL, BAR, LINE, colour_bar, layout, scale_of
from attnkit.plots.told import tell

#: Inches: of the figure at most, of a panel at most, of a panel that still has tick labels.
WIDE, PANEL, LABELLED_PANEL = 6.6, 2.1, 1.1


def head_grid(
    weights: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    mask: Any = None,
    names: Sequence[str] | None = None,
    columns: int | None = None,
    vmax: float = 1.0,
) -> Figure:
    """Draw the map of every head on one scale from 0 to 1, with one colour bar.

    Args:
        weights: ``(heads, queries, keys)``, or ``(layers, heads, queries, keys)`` or a list of one
            tensor per layer: then a row of the grid is a layer.
        query_tokens: The tokens of the rows of each map.
        key_tokens: The tokens of the columns; left out, those of the rows if the maps are square.
        mask: Boolean, True = may attend, broadcastable to the weights.
        names: A name for each head, or for each layer if there are several; "head 0", … or
            "layer 0", … if left out.
        columns: Panels in a row; about as many as rows if left out. Of several layers a row is a
            layer, and this cannot be chosen.
        vmax: As for :func:`heatmap`.

    Returns:
        A new pyplot figure, an axes for each head in ``figure.axes`` and the colour bar last.

    Raises:
        TypeError: As for :func:`heatmap`.
        ValueError: As for :func:`heatmap`, or a wrong number of names or columns.
    """
    from matplotlib import pyplot

    axes = ("layers", "heads", "queries", "keys")
    array, maps = read_maps(weights, query_tokens, key_tokens, mask, axes)
    layers, heads = array.shape[:2]
    across = _columns(columns, layers, heads)
    titles, row_names = _names(names, layers, heads)
    figure, _ = draw_grid(maps, titles, row_names, across, scale_of(vmax), pyplot.figure)
    masked = mask is not None
    tell(figure, lambda: words_of_grid(array, maps[0], titles, row_names, masked))
    return figure


def draw_grid(
    maps: list[Map],
    titles: list[str],
    row_names: list[str],
    across: int,
    vmax: float,
    new_figure: Callable[..., Figure],
) -> tuple[Figure, list[AxesImage]]:
    """Draw maps of one size in rows of ``across`` panels; rows with names have one heading."""
    first, rows = maps[0], math.ceil(len(maps) / across)
    sides = AXIS_LABEL + BAR
    panel = min((WIDE - sides - label_inches(first.queries)) / across, PANEL)
    labelled = panel >= LABELLED_PANEL
    if not labelled:
        panel = min((WIDE - sides - 0.5 * bool(row_names)) / across, PANEL)
    tall = panel * max(0.4, min(len(first.queries) / len(first.keys), 1.6))
    heading = 0.06 if row_names else LINE * 1.3
    below = AXIS_LABEL + (label_inches(first.keys) if labelled else 0.0)
    beside = AXIS_LABEL + (label_inches(first.queries) if labelled else 0.5 * bool(row_names))
    above = LINE * 1.2 * bool(row_names)
    wide, high = beside + panel * across + BAR, rows * (tall + heading) + below + above
    figure = new_figure(
        figsize=(min(WIDE, max(3.2, wide)), high), layout=layout(0.02) if labelled else "none"
    )
    size = (panel * 0.92, tall * 0.92)
    images = []
    for i, drawn in enumerate(maps):
        row, column = divmod(i, across)
        if labelled:
            ax = figure.add_subplot(rows, across, i + 1)
        else:  # without tick labels all places are known: laying 144 panels out takes seconds
            low = below + (rows - 1 - row) * (tall + heading)
            place = (beside + column * panel, low, panel * 0.94, tall)
            ax = figure.add_axes(tuple(np.divide(place, (wide, high, wide, high))))
        images.append(draw_map(ax, cells_of(drawn), vmax, size, numbers=False))
        _edges(ax, drawn, size, labelled, (column == 0, row == rows - 1))
        if not row_names or row == 0:
            text = literal(
                ax.set_title(spelled(visible(titles[i])), fontsize=9.5, loc="center", pad=3)
            )
            text.set_fontweight("normal")
        if row_names and column == 0:
            text = literal(ax.set_ylabel(spelled(visible(row_names[row])), fontsize=9))
            text.set(rotation=0, ha="right", va="center")
    if row_names and not labelled:
        at = ((beside - 0.1) / wide, 1 - above / high + 0.04 / high)
        figure.text(*at, "head", ha="right", va="bottom", fontsize=9.5)
    figure.supxlabel("key", fontsize=10.5)
    figure.supylabel("query", fontsize=10.5)
    panels, cax = figure.axes[:], None
    if not labelled:
        place = (beside + panel * across + 0.1, below, 0.15, rows * (tall + heading) - heading)
        cax = figure.add_axes(tuple(np.divide(place, (wide, high, wide, high))))
        cax.set_label("<colorbar>")
    colour_bar(figure, images[0], panels, rows * tall, cax)
    return figure, images


def _edges(
    ax: Axes, drawn: Map, size: tuple[float, float], labelled: bool, outside: tuple[bool, bool]
) -> None:
    """Tick labels left of a grid and below it, where its panels are large enough for them."""
    for which, tokens, inches, there in (
        ("y", drawn.queries, size[1], outside[0]),
        ("x", drawn.keys, size[0], outside[1]),
    ):
        if labelled and there:
            places, labels = tick_labels(tokens, inches, across=which == "x")
            set_ticks(ax, which, places, labels, inches / len(tokens))
        else:
            (ax.xaxis if which == "x" else ax.yaxis).set_ticks([])


def _columns(columns: int | None, layers: int, heads: int) -> int:
    if layers > 1:
        if columns not in (None, heads):
            raise ValueError(
                f"columns cannot be chosen for {layers} layers: a row of the grid is a layer, with "
                f"its {heads} heads. Draw one layer: weights[0]."
            )
        return heads
    if columns is None:
        return heads if heads <= 4 else math.ceil(math.sqrt(heads))
    return min(expect.integer("columns", columns, at_least=1), heads)


def _names(names: Sequence[str] | None, layers: int, heads: int) -> tuple[list[str], list[str]]:
    """A title for each panel, and the names of the rows if these are layers."""
    numbered = [f"head {i}" for i in range(heads)] if heads <= 8 or layers == 1 else [
        str(i) for i in range(heads)
    ]  # fmt: skip
    if names is None:
        return numbered * layers, [f"layer {i}" for i in range(layers)] if layers > 1 else []
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"names must be a sequence of strings, got {names!r}.")
    listed = [str(name) for name in names]
    wanted, what = (layers, "layers") if layers > 1 else (heads, "heads")
    if len(listed) != wanted:
        raise ValueError(f"names has {len(listed)} names, there are {wanted} {what} to name.")
    return (numbered * layers, listed) if layers > 1 else (listed, [])
