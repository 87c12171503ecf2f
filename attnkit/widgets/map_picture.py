"""Weight maps in the static pictures of the widgets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from attnkit.widgets import drawing, maps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HATCH_GROUND, HATCH_LINE = "#c3c8ce", "#6a727b"  # as in maps.js
MOST_HATCHED = 40_000  # smaller cells than so many show no hatching


def colours(weights: torch.Tensor, blocked: torch.Tensor | None, top: float = 1.0) -> Any:
    """(…, 4) RGBA of weights on the course's scale; blocked cells are grey."""
    import matplotlib
    from matplotlib.colors import to_rgba

    shown = matplotlib.colormaps["cividis"]((weights / max(top, 1e-12)).clamp(0, 1).numpy())
    if blocked is not None:
        shown[blocked.numpy()] = to_rgba(HATCH_GROUND)
    return shown


def draw_map(
    axes: "Axes",
    weights: torch.Tensor,
    blocked: torch.Tensor | None,
    queries: Sequence[str],
    keys: Sequence[str],
    top: float = 1.0,
) -> None:
    """One map with token labels; blocked cells hatched."""
    n_queries, n_keys = weights.shape
    axes.grid(visible=False)  # plots.style() draws one
    axes.imshow(colours(weights, blocked, top), interpolation="nearest", aspect="auto")
    if blocked is not None:
        hatch(axes, blocked)
    axes.xaxis.tick_top()
    axes.tick_params(axis="x", rotation=90)
    axes.tick_params(length=0, colors=drawing.INK)
    for axis, labels, n in ((axes.yaxis, queries, n_queries), (axes.xaxis, keys, n_keys)):
        step = -(-n // 24)
        shown = drawing.drawable(list(labels), maps.LABEL)[::step]
        axis.set_ticks(range(0, n, step), shown, parse_math=False, fontsize=8)
        for label in axis.get_ticklabels():
            label.set_fontfamily(drawing.font_families())
    axes.spines[:].set_color(drawing.MUTED)


def hatch(axes: "Axes", blocked: torch.Tensor) -> None:
    """Hatch the cells of an image that are blocked; its cells are 1 wide, the first at 0."""
    import numpy as np

    if not bool(blocked.any()):
        return
    # Four points near the corners of each cell: the contours follow the cells' edges.
    across, down = (
        np.repeat(np.arange(n), 2) + np.tile([-0.499, 0.499], n) for n in blocked.shape[::-1]
    )
    values = blocked.double().repeat_interleave(2, 0).repeat_interleave(2, 1).numpy()
    options = {"colors": "none", "hatches": ["", "////"], "levels": [-0.5, 0.5, 1.5]}
    drawn = axes.contourf(across, down, values, **options)
    drawn.set_edgecolor(HATCH_LINE)
    drawn.set_linewidth(0.0)


def draw_thumbnails(
    axes: "Axes",
    weights: torch.Tensor,
    blocked: torch.Tensor | None,
    names: Sequence[str],
    chosen: tuple[int, int],
    own: bool,
) -> None:
    """(rows, columns, queries, keys): a table of small maps, the chosen one framed.

    With `own` each map has a scale of its own, up to its largest weight.
    """
    import numpy as np

    rows, columns, n_queries, n_keys = weights.shape
    gap = max(1, max(n_queries, n_keys) // 10)
    high, wide = n_queries + gap, n_keys + gap
    cover = torch.zeros(rows * high - gap, columns * wide - gap, dtype=torch.bool)
    montage = np.ones((*cover.shape, 4))
    for i in range(rows):
        for j in range(columns):
            hidden = None if blocked is None else blocked[i, j]
            top = maps.largest(weights[i, j], hidden) if own else 1.0
            place = (slice(i * high, i * high + n_queries), slice(j * wide, j * wide + n_keys))
            montage[place] = colours(weights[i, j], hidden, top)
            if hidden is not None:
                cover[place] = hidden
    axes.imshow(montage, interpolation="nearest", aspect="auto")
    if cover.numel() <= MOST_HATCHED:
        hatch(axes, cover)
    axes.set_xticks([j * wide + (n_keys - 1) / 2 for j in range(columns)], map(str, range(columns)))
    places = [i * high + (n_queries - 1) / 2 for i in range(rows)]
    axes.set_yticks(places, drawing.drawable(list(names), maps.LABEL), parse_math=False)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=8, colors=drawing.INK)
    for label in axes.get_yticklabels():
        label.set_fontfamily(drawing.font_families())
    axes.spines[:].set_visible(False)
    corner = (chosen[1] * wide - 0.5 - gap / 4, chosen[0] * high - 0.5 - gap / 4)
    _frame(axes, corner, n_keys + gap / 2, n_queries + gap / 2, drawing.TOP, 2.0)


def frame_row(axes: "Axes", row: int, n_keys: int) -> None:
    """Frame a row of a map."""
    _frame(axes, (-0.5, row - 0.5), n_keys, 1, "white", 1.5)


def frame_cell(axes: "Axes", row: int, column: int) -> None:
    """Frame a cell of a table whose cells are 1 wide, the first at 0."""
    _frame(axes, (column - 0.5, row - 0.5), 1, 1, drawing.TOP, 3.0)
    axes.patches[-1].set_zorder(3)  # above the lines between the cells


def _frame(
    axes: "Axes", corner: tuple[float, float], width: float, height: float, colour: str, line: float
) -> None:
    from matplotlib.patches import Rectangle

    frame = Rectangle(
        corner, width, height, fill=False, edgecolor=colour, linewidth=line, clip_on=False
    )
    axes.add_patch(frame)
