"""One attention map drawn into axes: colours, hatching, numbers where they can be read, labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.image import AxesImage
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text

from attnkit.fonts import drawable, families
from attnkit.labels import width
from attnkit.plots.map_data import SMALL, Cells, Map

#: Perceptually uniform, the same for readers who do not tell red from green.
COLOURS_OF_WEIGHTS = "cividis"
BLOCKED, HATCH = "#e3e5e8", "#8b929b"
NOTHING = "may see nothing"
#: Columns of a token's label; the whole token is in the alternative text.
LABEL_COLUMNS = 14
#: Points: the smallest number in a cell, tick labels, and inches from one tick label to the next.
SMALLEST_NUMBER, TICK_SIZE, TICK_SPACE = 7.5, 9.0, 0.155
#: Inches per column of text and point of size.
COLUMN = 0.62 / 72


@cache
def weight_colours() -> Colormap:
    """The colour map of every weight: blocked cells show the hatching below them."""
    return colormaps[COLOURS_OF_WEIGHTS].with_extremes(bad=(0, 0, 0, 0))


def ink_on(colour: tuple[float, ...]) -> str:
    """Black or white, whichever stands out more from a colour (contrast of WCAG 2: 4.5 or more).

    >>> ink_on((1.0, 0.9, 0.3)), ink_on((0.0, 0.1, 0.3))
    ('black', 'white')
    """
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in colour[:3]]
    light = float(np.dot(linear, [0.2126, 0.7152, 0.0722])) + 0.05
    return "black" if light / 0.05 >= 1.05 / light else "white"


def draw_map(
    ax: Axes, cells: Cells, vmax: float, size: tuple[float, float], *, numbers: bool = True
) -> AxesImage:
    """Draw the cells into axes of about this size in inches. The image keeps the one scale."""
    rows, columns = cells.values.shape
    by, bx = cells.block
    edges = (-0.5, columns * bx - 0.5, rows * by - 0.5, -0.5)
    image = ax.imshow(
        cells.values,
        cmap=weight_colours(),
        vmin=0,
        vmax=vmax,
        aspect="auto",
        origin="upper",  # whatever rcParams say
        interpolation="nearest",
        extent=edges,
        zorder=1,
    )
    ax.grid(False)
    ax.spines[:].set_visible(False)
    hatch(ax, np.ma.getmaskarray(cells.values), cells.block)
    if numbers:
        _numbers(ax, cells, image, size)
    _say_nothing(ax, cells, size)
    return image


def hatch(ax: Axes, blocked: np.ndarray, block: tuple[int, int] = (1, 1)) -> None:
    """Grey hatching over cells, one artist for all of them, below the image."""
    if not blocked.any():
        return
    by, bx = block
    vertices: list[tuple[float, float]] = []
    for i, row in enumerate(blocked):
        steps = np.flatnonzero(np.diff(np.concatenate(([False], row, [False])).astype(int)))
        for start, end in steps.reshape(-1, 2):
            left, right = start * bx - 0.5, end * bx - 0.5
            top, bottom = i * by - 0.5, (i + 1) * by - 0.5
            vertices += [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
    path = Path(vertices, codes * (len(vertices) // 5))
    patch = PathPatch(
        path, facecolor=BLOCKED, edgecolor=HATCH, hatch="////", linewidth=0, zorder=0.9
    )
    patch.set_label("_blocked")
    ax.add_patch(patch)


def _numbers(ax: Axes, cells: Cells, image: AxesImage, size: tuple[float, float]) -> None:
    rows, columns = cells.values.shape
    # Four characters fill most of the width of a cell, one line half of its height.
    points = min(10.0, 27.5 * size[0] / columns, 45 * size[1] / rows)
    if points < SMALLEST_NUMBER or cells.block != (1, 1):
        return
    colours = image.to_rgba(cells.values.data)
    for i, j in zip(*np.nonzero(~np.ma.getmaskarray(cells.values)), strict=True):
        value = float(cells.values.data[i, j])
        ax.text(
            j,
            i,
            _two_places(value),
            ha="center",
            va="center",
            fontsize=points,
            color=ink_on(tuple(colours[i, j])),
            clip_on=True,
        )


def _two_places(value: float) -> str:
    """0 and 1 alone where the weight is exactly that: 0.00 is small, 0 is nothing."""
    return f"{abs(value):.0f}" if value in (0, 1) else f"{value:.2f}"


def _say_nothing(ax: Axes, cells: Cells, size: tuple[float, float]) -> None:
    rows, columns = cells.values.shape
    points = min(9.0, 50 * size[1] / rows, size[0] / (len(NOTHING) * COLUMN))
    if points < 6.5:
        return
    middle = (columns * cells.block[1] - 1) / 2
    paper = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
    for i in np.flatnonzero(cells.nothing):
        at = (i + 0.5) * cells.block[0] - 0.5
        label = ax.text(middle, at, NOTHING, ha="center", va="center", fontsize=points, bbox=paper)
        label.set_color("#22262b")


# --- labels ---------------------------------------------------------------------------------------


def label_axes(
    ax: Axes,
    drawn: Map,
    cells: Cells,
    vmax: float,
    size: tuple[float, float],
    notes: list[str] | None = None,
) -> None:
    """Tokens at the ticks, as many as can be read; what is thinned, in blocks or small is said."""
    for_keys = tick_labels(drawn.keys, size[0], across=True)
    for_queries = tick_labels(drawn.queries, size[1])
    set_ticks(ax, "x", *for_keys, size[0] / len(drawn.keys))
    set_ticks(ax, "y", *for_queries, size[1] / len(drawn.queries))
    notes = list(_notes(drawn, cells, vmax)) if notes is None else notes
    ax.set_xlabel("\n".join([f"key{_every(*for_keys)}", *notes]))
    ax.set_ylabel(f"query{_every(*for_queries)}")


def _every(places: list[int], labels: list[str]) -> str:
    step = places[1] - places[0] if len(places) > 1 else 1
    if step == 1 or labels == [str(i) for i in places]:
        return ""
    return f" (every {step}{'nd' if step == 2 else 'th'} labelled)"


def _notes(drawn: Map, cells: Cells, vmax: float) -> Iterator[str]:
    yield from note_of_blocks(cells)
    largest = float(drawn.weights.max()) if cells.block == (1, 1) else float(cells.values.max())
    if vmax < 1:
        over = "; larger ones look the same" if largest > vmax else ""
        yield f"colours from 0 to {vmax:g} only{over}"
    elif 0 < largest <= SMALL:
        yield f"largest {'weight' if cells.block == (1, 1) else 'share'} {largest:.2g}"


def note_of_blocks(cells: Cells) -> list[str]:
    """What a cell of a map in blocks stands for."""
    by, bx = cells.block
    if cells.block == (1, 1):
        return []
    keys = f"share given to {bx} key{'s' * (bx > 1)}"
    return [f"blocks of {by} × {bx}: {keys}, mean of {by} quer{'ies' if by > 1 else 'y'}"]


def tick_labels(
    tokens: list[str], inches: float, *, across: bool = False
) -> tuple[list[int], list[str]]:
    """Places and labels of as many tokens as fit: all, or every 2nd, 5th, 10th, …

    Numbers stay level where they stand ``across``: there fewer of them fit than tokens, which turn.
    """
    numbered = tokens == [str(i) for i in range(len(tokens))]
    space = TICK_SPACE
    if numbered and across:
        space = max(space, (len(tokens[-1]) + 0.8) * TICK_SIZE * COLUMN)
    fit = max(1, int(inches / space))
    steps = (m * 10**k for k in range(9) for m in (1, 2, 5))
    step = next(s for s in steps if len(tokens) <= fit * s)
    places = list(range(0, len(tokens), step))
    shown = tokens if numbered else drawable(tokens, LABEL_COLUMNS, warn=True)
    return places, [shown[i] for i in places]


def set_ticks(ax: Axes, which: str, places: list[int], labels: list[str], cell: float) -> None:
    """Set tick labels that are drawn as they are, turned where they would run into each other."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(places, labels)
    axis.set_tick_params(length=0 if len(places) < 2 or places[1] == 1 else 3, labelsize=TICK_SIZE)
    family = families(labels)
    space = cell * (places[1] - places[0] if len(places) > 1 else 1)
    widest = max(map(width, labels)) * TICK_SIZE * COLUMN
    for label in axis.get_ticklabels():
        literal(label, family)
        if which == "x" and widest > 0.95 * space:
            steep = space < 0.22
            label.set(rotation=90 if steep else 45, rotation_mode="anchor")
            label.set(ha="right", va="center" if steep else "top")


def literal(text: Text, family: list[str] | None = None) -> Text:
    """Draw a text as it is: no mathtext, no TeX, in fonts that have its characters."""
    text.set_parse_math(False)
    text.set_usetex(False)
    text.set_fontfamily(families([text.get_text()]) if family is None else family)
    return text


def label_inches(tokens: list[str]) -> float:
    """About how wide the labels of these tokens are."""
    widest = max(width(token) or len("(empty)") for token in tokens)
    return min(widest, LABEL_COLUMNS) * TICK_SIZE * COLUMN
