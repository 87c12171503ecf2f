"""Attention during a training run, snapshot by snapshot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from matplotlib.animation import FuncAnimation
from matplotlib.figure import Figure

from attnkit.fonts import families, spelled
from attnkit.labels import visible
from attnkit.plots.grid import draw_grid
from attnkit.plots.map_cells import draw_map, label_axes, literal, note_of_blocks
from attnkit.plots.map_data import Map, cells_of, read_maps
from attnkit.plots.map_words import count, two, words_of_largest
from attnkit.plots.maps import colour_bar, figure_size, layout
from attnkit.plots.told import tell


def animate(
    snapshots: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    mask: Any = None,
    names: Sequence[str] | None = None,
    interval: float = 200,
) -> FuncAnimation:
    """Animate attention maps over the snapshots of a training run, on one scale from 0 to 1.

    The figure belongs to the animation alone, pyplot does not keep it. ``to_jshtml()`` makes a
    player for a notebook, ``save("run.gif", writer="pillow")`` a file.

    Args:
        snapshots: ``(steps, queries, keys)``, or with the heads behind the steps; a list of one
            tensor per step.
        query_tokens: The tokens of the rows.
        key_tokens: The tokens of the columns; left out, those of the rows if the maps are square.
        mask: Boolean, True = may attend, broadcastable to the snapshots.
        names: What stands above each snapshot; "snapshot 0", … if left out.
        interval: Milliseconds from one snapshot to the next.

    Returns:
        The animation. Keep it as long as it is shown, as with every animation of matplotlib.

    Raises:
        TypeError: As for :func:`heatmap`.
        ValueError: As for :func:`heatmap`, a wrong number of names, or an interval that is not
            positive.
    """
    number = isinstance(interval, Real) and not isinstance(interval, bool)
    if not number or not 0 < interval < math.inf:
        raise ValueError(f"interval must be a number of milliseconds above 0, got {interval!r}.")
    axes = ("steps", "heads", "queries", "keys")
    array, maps = read_maps(snapshots, query_tokens, key_tokens, mask, axes)
    steps, heads = array.shape[:2]
    titles = _titles(names, steps)
    headings = [spelled(visible(title)) for title in titles]
    if heads == 1:
        across, high, size = figure_size(maps[0], titles[0])
        figure = Figure(figsize=(across, high), layout=layout())
        ax, cells = figure.add_subplot(), cells_of(maps[0])
        images = [draw_map(ax, cells, 1.0, size, numbers=False)]
        label_axes(ax, maps[0], cells, 1.0, size, note_of_blocks(cells))
        colour_bar(figure, images[0], ax, size[1])
        heading = ax.set_title(headings[0])
    else:
        across = heads if heads <= 4 else math.ceil(math.sqrt(heads))
        panels = [f"head {h}" for h in range(heads)]
        figure, images = draw_grid(maps[:heads], panels, [], across, 1.0, Figure)
        heading = figure.suptitle(headings[0])
    literal(heading, families(headings))

    def show(step: int) -> list[Any]:
        for image, drawn in zip(images, maps[step * heads : (step + 1) * heads], strict=True):
            image.set_data(cells_of(drawn).values)
        heading.set_text(headings[step])
        return [*images, heading]

    tell(figure, lambda: _words(array, maps[0], titles))
    return FuncAnimation(figure, show, frames=steps, interval=max(1, round(interval)), blit=False)


def _titles(names: Sequence[str] | None, steps: int) -> list[str]:
    if names is None:
        return [f"snapshot {i}" for i in range(steps)]
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"names must be a sequence of strings, got {names!r}.")
    titles = [str(name) for name in names]
    if len(titles) != steps:
        raise ValueError(f"names has {len(titles)} names, there are {steps} snapshots to name.")
    return titles


def _words(array: np.ndarray, first: Map, titles: list[str]) -> str:
    steps, heads, n_queries, n_keys = array.shape
    tops = [float(array[i].max(-1).mean()) for i in (0, -1)]
    ends = [
        max(
            (words_of_largest(first._replace(weights=array[i, h])) for h in range(heads)),
            key=lambda said: said[0],
        )[1]
        for i in (0, -1)
    ]
    of = f"{heads} heads, " if heads > 1 else ""
    return (
        f"Animation of attention weights over {count(steps, 'snapshot', 'snapshots')}, {of}"
        f"{count(n_queries, 'query', 'queries')} (rows) by {count(n_keys, 'key', 'keys')} "
        "(columns), one scale from 0 to 1. Mean of the largest weight of each query: "
        f"{two(tops[0])} at {titles[0]}, {two(tops[1])} at {titles[-1]}. "
        f"Largest weight: {ends[0]} first, {ends[1]} last."
    )
