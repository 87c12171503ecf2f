"""One attention map on a scale from 0 to 1."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from numbers import Real
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.layout_engine import ConstrainedLayoutEngine

from attnkit.fonts import spelled
from attnkit.plots.map_cells import draw_map, label_axes, label_inches, literal
from attnkit.plots.map_data import Map, cells_of, read_maps
from attnkit.plots.map_words import words_of_map
from attnkit.plots.told import tell

#: Inches: of a figure of our own at most, of a cell at most, of a small map at least.
WIDE, TALL, CELL, SMALL_MAP = 5.0, 5.6, 0.55, 1.5
#: Inches around a map: the label of an axis, the colour bar, a line of a title or note.
AXIS_LABEL, BAR, LINE = 0.42, 0.85, 0.2


def heatmap(
    weights: Any,
    query_tokens: Sequence[str] | None = None,
    key_tokens: Sequence[str] | None = None,
    *,
    mask: Any = None,
    ax: Axes | None = None,
    title: str | None = None,
    vmax: float = 1.0,
) -> Axes:
    """Draw one attention map: a row per query, a column per key, colours from 0 to 1.

    Cells that the mask blocks are hatched grey, and a query that may see nothing is named. Each
    cell holds its weight where that can be read. A map of more than 128 queries or keys is drawn in
    blocks: a cell is then the share that the queries of a block give to a block of keys (the mean
    over the queries, the sum over the keys), so that rows still sum to 1; the label of the keys
    says so. Tokens are drawn literally, never as mathtext.

    Args:
        weights: ``(queries, keys)``, with any leading axes of size 1: a tensor, an array or nested
            lists (:func:`attnkit.weights.read_weights`).
        query_tokens: The tokens of the rows; numbers from 0 if left out.
        key_tokens: The tokens of the columns; left out, those of the rows if the map is square.
        mask: Boolean, True = may attend.
        ax: Where to draw, and nowhere else: it gets no colour bar. None makes a new pyplot figure
            with one.
        title: A title, drawn literally.
        vmax: The weight of the brightest colour, if it must not be 1. The picture says so.

    Returns:
        The axes. ``ax.images[0]`` is what ``figure.colorbar`` wants.

    Raises:
        TypeError: ``weights`` or the mask are of a wrong kind, tokens are no strings.
        ValueError: The weights are scores, or after dropout, or of several maps; the mask or the
            tokens do not fit; ``vmax`` is not in (0, 1].
    """
    vmax = scale_of(vmax)
    _, (drawn,) = read_maps(weights, query_tokens, key_tokens, mask, ("queries", "keys"))
    check_title(title)
    if ax is not None:
        _one(ax, drawn, title, vmax, inches_of(ax))
        return ax
    from matplotlib import pyplot

    across, high, size = figure_size(drawn, title)
    figure = pyplot.figure(figsize=(across, high), layout=layout())
    ax = figure.add_subplot()
    colour_bar(figure, _one(ax, drawn, title, vmax, size), ax, size[1])
    return ax


def _one(
    ax: Axes, drawn: Map, title: str | None, vmax: float, size: tuple[float, float]
) -> AxesImage:
    cells = cells_of(drawn)
    image = draw_map(ax, cells, vmax, size)
    label_axes(ax, drawn, cells, vmax, size)
    if title is not None:
        literal(ax.set_title(title_lines(title, size[0])))
    tell(image, lambda: words_of_map(drawn, vmax))
    return image


def figure_size(
    drawn: Map, title: str | None, bar: float = BAR
) -> tuple[float, float, tuple[float, float]]:
    """Inches of a figure for one map, and of the map in it: cells are about square."""
    rows, columns = drawn.weights.shape
    sides = AXIS_LABEL + label_inches(drawn.queries) + bar
    cell = min((WIDE - sides) / columns, max(CELL, SMALL_MAP / max(rows, columns)))
    across = min(WIDE, max(cell * columns + sides, 3.4))
    map_width = across - sides
    map_height = min(TALL, max(cell * rows, 0.35))
    turned = label_inches(drawn.keys) > 0.92 * map_width / columns
    below = AXIS_LABEL + (label_inches(drawn.keys) * 0.8 if turned else 0.1)
    lines = 0 if title is None else 1 + title_lines(title, map_width).count("\n")
    return across, map_height + below + LINE * (lines + 0.5), (map_width, map_height)


def layout(gap: float = 0.04) -> ConstrainedLayoutEngine:
    """Room around everything, and a gap in inches between panels."""
    return ConstrainedLayoutEngine(
        w_pad=max(gap, 0.02), h_pad=max(gap, 0.02), rect=(0.008, 0.008, 0.984, 0.984)
    )


def inches_of(ax: Axes) -> tuple[float, float]:
    """Width and height of axes that were given, which must be flat and in a figure."""
    if not isinstance(ax, Axes):
        raise TypeError(
            f"ax must be matplotlib Axes, got {type(ax).__name__}. Of an array of axes take one: "
            "axes[0]; of a figure make some: figure.add_subplot()."
        )
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("ax was removed from its figure. Make new axes: figure.add_subplot().")
    if ax.name != "rectilinear":
        raise ValueError(
            f"ax must have straight axes, got the projection {ax.name!r}. Leave it out."
        )
    return ax.bbox.width / figure.dpi, ax.bbox.height / figure.dpi


def check_title(title: object) -> None:
    """Refuse a title that is no string, before anything is drawn."""
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a string, got {title!r}. Convert it: str(...).")


def title_lines(title: str, inches: float) -> str:
    """A title in as many lines as it needs at this width."""
    return "\n".join(textwrap.wrap(spelled(title), max(12, int(inches / 0.098)))) or title


def colour_bar(
    figure: Figure, image: AxesImage, ax: Any, inches: float, cax: Axes | None = None
) -> None:
    """The one colour bar of a figure: beside these axes, or in the axes ``cax``."""
    vmax = float(image.get_clim()[1] or 1)
    ticks = [0, vmax / 2, vmax] if inches > 0.7 else [0, vmax]
    if inches > 1.5:
        ticks = [vmax * i / 4 for i in range(5)]
    largest = image.get_array()
    above = vmax < 1 and largest is not None and largest.max() > vmax
    place: dict[str, Any] = {"cax": cax} if cax is not None else {
        "ax": ax, "fraction": 0.06, "pad": 0.03, "aspect": max(6.0, inches / 0.13)
    }  # fmt: skip
    extend = "max" if above else "neither"
    bar = figure.colorbar(image, label="weight", ticks=ticks, extend=extend, **place)
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    bar.ax.tick_params(labelsize=9)


def scale_of(vmax: float) -> float:
    """Check the weight of the brightest colour."""
    number = isinstance(vmax, Real) and not isinstance(vmax, bool)
    if not number or not 0 < vmax <= 1:
        cure = " Of a tensor take the number: vmax.item()." if hasattr(vmax, "item") else ""
        raise ValueError(
            f"vmax must be above 0 and at most 1, the largest weight there can be, got {vmax!r}."
            f"{cure if not number else ''}"
        )
    return float(vmax)
