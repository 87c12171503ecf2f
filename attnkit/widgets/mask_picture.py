"""The static picture of a mask: the weights of each query, blocked cells hatched."""

from typing import TYPE_CHECKING, Any

from attnkit.widgets import drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLOCKED, HATCH = "#eceff2", "#8a939d"


def mask_picture(
    weights: list[list[float]], mask: list[list[bool]], tokens: list[str], title: str
) -> "Figure":
    """A square grid, query i in row i; the weight of each allowed key in percent."""
    n = len(tokens)
    side = max(3.4, 1.3 + 0.5 * n)
    figure = drawing.new_figure(side + 0.9, side)
    axes = figure.subplots()
    for i, (row, allowed) in enumerate(zip(weights, mask, strict=True)):
        for j, (weight, may) in enumerate(zip(row, allowed, strict=True)):
            cell(axes, i, j, weight, may)
        if not any(allowed):
            box = {"facecolor": drawing.CARD, "edgecolor": HATCH, "boxstyle": "round,pad=0.25"}
            axes.text(
                (n - 1) / 2, i, "sees nothing", ha="center", va="center", fontsize=8, bbox=box
            )
    axes.set_xlim(-0.5, n - 0.5)
    axes.set_ylim(n - 0.5, -0.5)
    axes.set_aspect("equal")
    drawing.clean_axes(axes, title)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    shown = drawing.drawable(tokens, longest=10)
    axes.set_yticks(range(n), shown, parse_math=False)
    upright = all(len(label) <= 2 for label in shown)
    axes.set_xticks(range(n), shown, parse_math=False, rotation=0 if upright else 45)
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        label.set(fontfamily=drawing.font_families(), color=drawing.INK, fontsize=9.5)
    options = {"color": drawing.MUTED, "fontsize": 9}
    axes.set_xlabel("key: who is looked at (weights in %; hatched: blocked)", **options)
    axes.set_ylabel("query: who looks", **options)
    return figure


def cell(axes: Any, row: int, column: int, weight: float, allowed: bool) -> None:
    """One cell: its weight on the colour scale of weights, or a hatch."""
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    place = {"xy": (column - 0.5, row - 0.5), "width": 1, "height": 1, "linewidth": 1}
    if not allowed:
        options = {"facecolor": BLOCKED, "edgecolor": HATCH, "hatch": "////", "linewidth": 0.5}
        axes.add_patch(Rectangle(**place | options))
        return
    colour = colormaps["cividis"](weight)
    axes.add_patch(Rectangle(**place, facecolor=colour, edgecolor=drawing.CARD))
    text = "<1" if 0 < weight < 0.005 else ">99" if 0.995 <= weight < 1 else f"{100 * weight:.0f}"
    options = {"ha": "center", "va": "center", "fontsize": 9, "color": ink_on(colour)}
    axes.text(column, row, text, **options)


def ink_on(colour: tuple[float, ...]) -> str:
    """Black or white, whichever reads on the colour: at least 4.5 : 1 (core.js has the same)."""
    light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    bright = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
    return "#000000" if bright > 0.179 else "#ffffff"
