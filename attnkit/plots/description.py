"""A figure put into words, with its numbers, from what is drawn in it."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import (
    Collection,
    LineCollection,
    PathCollection,
    PolyCollection,
    QuadMesh,
)
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure, SubFigure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle, StepPatch

from attnkit.plots.told import told, told_of
from attnkit.plots.words import (
    cut,
    label_of,
    namer,
    number,
    numbers,
    plain,
    sentence,
    words_of,
)

#: Of more series, bars, rows or panels than these, the rest is counted and not read out.
MOST = {"series": 6, "bars": 8, "rows": 8, "panels": 4, "labels": 12}


def describe(ax: Axes | Figure | SubFigure) -> str:
    """Say what a plot shows, numbers included: the alternative text of a figure without one.

    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot(xlabel="d", ylabel="variance")
    >>> _ = ax.plot([1, 4, 16], [1, 4.1, 15.9], label="measured")
    >>> describe(ax)
    'Plot of variance against d. Line "measured": from 1 at 1 to 15.9 at 16.'

    Raises:
        TypeError: neither Axes nor a figure.
    """
    if isinstance(ax, Axes):
        return cut(_panel(_twins(ax)))
    if not isinstance(ax, Figure | SubFigure):
        raise TypeError(
            f"describe wants matplotlib Axes or a Figure, got {type(ax).__name__}. "
            "For an array of axes give their figure: describe(axes[0].figure)."
        )
    panels: list[list[Axes]] = []
    for axes in ax.axes:
        if axes.get_visible() and not _is_colorbar(axes) and not any(axes in p for p in panels):
            panels.append(_twins(axes))
    shared = getattr(ax, "_suptitle", None)
    title = sentence(words_of(shared)) if shared is not None else ""
    if whole := told_of(ax):
        return cut(f"{title} {whole}".strip())
    if len(panels) <= 1:
        return cut(
            " ".join([title, *(_panel(panel) for panel in panels)]).strip() or "Empty figure."
        )
    parts = [title, f"{len(panels)} panels."] if title else [f"Figure with {len(panels)} panels."]
    parts += [f"Panel {i}: {_panel(p)}" for i, p in enumerate(panels[: MOST["panels"]], start=1)]
    parts += [f"And {n} more." for n in [len(panels) - MOST["panels"]] if n > 0]
    return cut(" ".join(parts))


def _twins(ax: Axes) -> list[Axes]:
    """The axes themselves, and those that share one of their scales and their place (twinx)."""
    shared = [*ax.get_shared_x_axes().get_siblings(ax), *ax.get_shared_y_axes().get_siblings(ax)]
    place = ax.get_position(original=True).bounds
    figure = ax.figure.axes if ax.figure is not None else [ax]
    return [
        axes
        for axes in figure
        if axes is ax
        or (
            (axes in shared and axes.get_visible())
            and axes.get_position(original=True).bounds == place
        )
    ]


def _panel(twins: list[Axes]) -> str:
    return " ".join(_axes(ax) for ax in twins)


def _axes(ax: Axes) -> str:
    titles = (ax.title, ax._left_title, ax._right_title)  # pyright: ignore[reportAttributeAccessIssue]
    title = next((words_of(t) for t in titles if t.get_text()), "")
    if known := told(ax):
        return f"{sentence(title)} {known}".strip()
    drawn = []
    if ax.name != "3d":  # there what was drawn holds its place on the paper, not its numbers
        drawn = [*_bars(ax), *_lines(ax), *_images(ax), *_collections(ax), *_patches(ax)]
    drawn = drawn or _labels(ax) or _extent(ax)
    return " ".join([sentence(title), *_kind(ax), *drawn]).strip() or "Empty axes."


def _kind(ax: Axes) -> list[str]:
    x, y = plain(ax.get_xlabel()), plain(ax.get_ylabel())
    x += " (logarithmic)" if x and ax.get_xscale() == "log" else ""
    y += " (logarithmic)" if y and ax.get_yscale() == "log" else ""
    if ax.images or any(isinstance(c, QuadMesh) for c in ax.collections):
        named = " and ".join(
            s for s in (f"rows: {y}" if y else "", f"columns: {x}" if x else "") if s
        )
        return [f"Heatmap, {named}." if named else "Heatmap."]
    if x and y:
        return [f"Plot of {y} against {x}."]
    return [f"Horizontal axis: {x}."] if x else [f"Vertical axis: {y}."] if y else []


# --- series ---------------------------------------------------------------------------------------


def _lines(ax: Axes) -> list[str]:
    labels = {
        c.lines[0]: c.get_label()
        for c in ax.containers
        if isinstance(c, ErrorbarContainer) and c.lines[0]
    }
    series, rules = [], []
    for line in ax.lines:
        if not line.get_visible():
            continue
        label = label_of(labels.get(line, line.get_label()))
        x, y = (np.asarray(v, dtype=object) for v in line.get_data(orig=True))
        if line.get_transform() != ax.transData:
            rules += _rule(ax, line, label)
            continue
        x, y = numbers(line.get_xdata(orig=False)), numbers(line.get_ydata(orig=False))
        if x.shape != y.shape or x.size == 0:
            continue
        keep = np.isfinite(x) & np.isfinite(y)
        if keep.any():
            dots = line.get_linestyle() in ("None", "none", "", " ")
            name = "Points" if dots else "Line"
            series.append((f'{name} "{label}"' if label else name, x[keep], y[keep], ax))
    many = len(series) > MOST["series"]
    said = [f"{name}: {_course(x, y, a)}." for name, x, y, a in series[: MOST["series"]]]
    if many:
        low, high = min(y.min() for _, _, y, _ in series), max(y.max() for _, _, y, _ in series)
        rest = len(series) - MOST["series"]
        said.append(f"And {rest} more; all lie between {number(low)} and {number(high)}.")
    return said + rules


def _course(x: np.ndarray, y: np.ndarray, ax: Axes) -> str:
    """From where to where, and where it turned in between."""
    at = namer(ax.xaxis, x)
    if x.size == 1:
        return f"{number(y[0])} at {at(x[0])}"
    said = f"from {number(y[0])} at {at(x[0])} to {number(y[-1])} at {at(x[-1])}"
    span = y.max() - y.min()
    if span == 0:
        return f"{number(y[0])} from {at(x[0])} to {at(x[-1])}"
    low, high = int(y.argmin()), int(y.argmax())
    if y[low] < min(y[0], y[-1]) - 0.01 * span:
        said += f", lowest {number(y[low])} at {at(x[low])}"
    if y[high] > max(y[0], y[-1]) + 0.01 * span:
        said += f", highest {number(y[high])} at {at(x[high])}"
    return said


def _rule(ax: Axes, line: Line2D, label: str) -> list[str]:
    """A line across the whole plot: axhline, axvline."""
    named = f' "{label}"' if label else ""
    x, y = numbers(line.get_xdata(orig=False)), numbers(line.get_ydata(orig=False))
    if line.get_transform() == ax.get_yaxis_transform(which="grid") and y.size:
        return [f"Horizontal line{named} at {number(y[0])}."]
    if line.get_transform() == ax.get_xaxis_transform(which="grid") and x.size:
        return [f"Vertical line{named} at {number(x[0])}."]
    return []


# --- bars and histograms --------------------------------------------------------------------------


def _bars(ax: Axes) -> list[str]:
    said = []
    for container in ax.containers:
        if not isinstance(container, BarContainer):
            continue
        bars = [b for b in container.patches if isinstance(b, Rectangle)]
        if not bars:
            continue
        upright = container.orientation != "horizontal"
        start, width = (numbers([_side(b, upright)[i] for b in bars]) for i in (0, 1))
        size = numbers([b.get_height() if upright else b.get_width() for b in bars])
        label = label_of(container.get_label()) or label_of(bars[0].get_label())
        touching = len(bars) > 2 and np.allclose(start[:-1] + width[:-1], start[1:])
        if touching:
            said.append(_histogram(np.append(start, start[-1] + width[-1]), size, label))
        else:
            name = namer(ax.xaxis if upright else ax.yaxis, start + width / 2)
            said.append(_bar_list([name(c) for c in start + width / 2], size, label))
    return said


def _side(bar: Rectangle, upright: bool) -> tuple[float, float]:
    return (bar.get_x(), bar.get_width()) if upright else (bar.get_y(), bar.get_height())


def _bar_list(names: Sequence[str], size: np.ndarray, label: str) -> str:
    head = f'Bars "{label}"' if label else "Bars"
    if len(names) <= MOST["bars"]:
        return (
            f"{head}: "
            + ", ".join(f"{n} {number(s)}" for n, s in zip(names, size, strict=True))
            + "."
        )
    if np.isnan(size).all():
        return f"{head}: {len(names)} of them, none with a number."
    low, high = int(np.nanargmin(size)), int(np.nanargmax(size))
    return (
        f"{head}: {len(names)} of them, highest {number(size[high])} at {names[high]}, "
        f"lowest {number(size[low])} at {names[low]}."
    )


def _histogram(edges: np.ndarray, size: np.ndarray, label: str) -> str:
    head = f'Histogram "{label}"' if label else "Histogram"
    filled = np.flatnonzero(np.nan_to_num(size))
    if not filled.size:
        return f"{head}: empty, from {number(edges[0])} to {number(edges[-1])}."
    peak = int(np.nanargmax(size))
    return (
        f"{head}: values from {number(edges[filled[0]])} to {number(edges[filled[-1] + 1])}, "
        f"most ({number(size[peak])}) between {number(edges[peak])} and {number(edges[peak + 1])}."
    )


def _patches(ax: Axes) -> list[str]:
    said = []
    for patch in ax.patches:
        label = label_of(patch.get_label())
        if isinstance(patch, StepPatch):
            values, edges, _ = patch.get_data()
            said.append(_histogram(numbers(edges), numbers(values), label))
        elif isinstance(patch, Polygon) and label:
            x, y = numbers(patch.get_xy()).T
            at = namer(ax.xaxis, x)
            said.append(
                f'Outline "{label}": from {at(x.min())} to {at(x.max())}, '
                f"highest {number(y.max())} at {at(x[y.argmax()])}."
            )
    return said


# --- heatmaps, scatter and the rest ---------------------------------------------------------------


def _images(ax: Axes) -> list[str]:
    said = []
    for image in ax.images:
        values = image.get_array()
        if isinstance(image, AxesImage) and values is not None:
            if values.ndim == 3:
                said.append(f"Picture of {values.shape[1]} by {values.shape[0]} pixels.")
            else:
                said.append(_grid(ax, np.ma.asarray(values), 0.0))
    for mesh in ax.collections:
        values = mesh.get_array()
        if isinstance(mesh, QuadMesh) and values is not None:
            said.append(_grid(ax, np.ma.atleast_2d(values), 0.5))
    return said


def _grid(ax: Axes, values: np.ma.MaskedArray, offset: float) -> str:
    n_rows, n_columns = values.shape
    cells = np.ma.masked_invalid(values.astype(float))
    said = f"{n_rows} by {n_columns} cells"
    blocked = int(np.ma.count_masked(cells))
    said += f", {blocked} of them blank" if blocked else ""
    if cells.count() == 0:
        return said + "."
    said += f", from {number(cells.min())} to {number(cells.max())}."
    row = namer(ax.yaxis, np.arange(n_rows) + offset)
    column = namer(ax.xaxis, np.arange(n_columns) + offset)
    if n_rows <= MOST["rows"]:
        peaks = [
            f"{row(i + offset)}: {number(line.max())} at {column(int(line.argmax()) + offset)}"
            for i, line in enumerate(cells)
            if line.count()
        ]
        return f"{said} Highest in each row: {'; '.join(peaks)}."
    i, j = np.unravel_index(int(cells.argmax()), cells.shape)
    return f"{said} Highest at row {row(int(i) + offset)}, column {column(int(j) + offset)}."


def _collections(ax: Axes) -> list[str]:
    said = []
    members = {id(part) for c in ax.containers for part in _parts(c)}
    for drawn in ax.collections:
        if id(drawn) in members or not drawn.get_visible():
            continue
        label = label_of(drawn.get_label())
        named = f' "{label}"' if label else ""
        if isinstance(drawn, PathCollection):
            points = numbers(drawn.get_offsets())
            points = points[np.isfinite(points).all(axis=-1)] if points.size else points
            if len(points):
                (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
                count = f"{len(points)} points" if len(points) > 1 else "1 point"
                said.append(
                    f"{count}{named}: horizontally from {number(x0)} to {number(x1)}, "
                    f"vertically from {number(y0)} to {number(y1)}."
                )
        elif isinstance(drawn, PolyCollection) and drawn.get_paths():
            if drawn.get_transform() != ax.transData or numbers(drawn.get_offsets()).any():
                continue  # arrows, hexagons: one shape, set down in many places
            y = np.concatenate([numbers(p.vertices)[:, 1] for p in drawn.get_paths()])
            said.append(f"Band{named} between {number(y.min())} and {number(y.max())}.")
        elif isinstance(drawn, LineCollection) and label:
            said.append(f"{len(drawn.get_segments())} lines{named}.")
    return said


def _parts(container: Any) -> Iterable[Collection]:
    for part in container:
        yield from part if isinstance(part, tuple) else (part,)


def _labels(ax: Axes) -> list[str]:
    words = [w for w in map(words_of, ax.texts) if w]
    if not words:
        return []
    more = len(words) - MOST["labels"]
    listed = ", ".join(words[: MOST["labels"]]) + (f" and {more} more" if more > 0 else "")
    return [f"Diagram with the labels {listed}."]


def _extent(ax: Axes) -> list[str]:
    """What can be said of contours, arrows, surfaces and the like: how far the axes reach."""
    if not any(a.get_visible() for a in (*ax.collections, *ax.patches, *ax.lines, *ax.tables)):
        return []
    x, y = sorted(ax.get_xlim()), sorted(ax.get_ylim())
    return [
        f"Drawing: horizontal axis from {number(x[0])} to {number(x[1])}, vertical axis from "
        f"{number(y[0])} to {number(y[1])}."
    ]


def _is_colorbar(ax: Axes) -> bool:
    return ax.get_label() == "<colorbar>"
