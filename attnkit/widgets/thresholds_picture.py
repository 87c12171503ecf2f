"""The static picture of ThresholdWidget, and the height of the live one."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attnkit.widgets import drawing, map_picture, maps
from attnkit.widgets.thresholds_data import Drawn
from attnkit.widgets.thresholds_rule import LOOKS, RULES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Rem of thresholds.css: frame, margins and one toggle; one more toggle; the row of the rules; what
# stands below the grid; the button below the sliders, and one slider; what stands around the
# table of measures, a line more, and the table; what stands around the map, and its legend's
# second line.
FRAME, TOGGLE, RULE, COUNTS, RESET, SLIDER = 9.4, 3.0, 2.75, 4.3, 2.75, 4.0
CHOSEN, LINE, TABLE, SMALL_TABLE, MAP, LEGEND, GAP = 5.22, 1.45, 20.31, 19.26, 7.87, 1.375, 1.0
NARROW_TABLE = 8.0  # most names of measures take a second line on the narrowest phone


def thresholds_picture(
    kinds: Mapping[tuple[int, int], str],
    counts: Mapping[str, int],
    chosen: tuple[int, int],
    drawn: Drawn | None,
    query: int,
) -> "Figure":
    """The grid of classes with its counts as a legend; the map of the chosen head where given."""
    layers, heads = (1 + max(place[axis] for place in kinds) for axis in (0, 1))
    ratios = [max(2.0, min(5.0, 0.7 + 2.8 * heads / layers)), 1.6, 3.2]
    figure = drawing.new_figure(sum(ratios[: 2 + (drawn is not None)]) + 1.2, 4.0)
    panels = figure.subplots(
        1, 2 + (drawn is not None), width_ratios=ratios[: 2 + (drawn is not None)]
    )
    _grid(panels[0], kinds, layers, heads, chosen)
    _counts(panels[1], counts)
    if drawn is not None:
        blocked = None if drawn.blocked is None else drawn.blocked[chosen]
        map_picture.draw_map(panels[2], drawn.weights[chosen], blocked, drawn.queries, drawn.keys)
        map_picture.frame_row(panels[2], query, len(drawn.keys))
        drawing.headline(panels[2], f"Layer {chosen[0]}, head {chosen[1]} (0 to 100 %)")
    return figure


def _grid(
    axes: "Axes", kinds: Mapping[tuple[int, int], str], layers: int, heads: int, chosen: Any
) -> None:
    from matplotlib.colors import to_rgb

    colours = [[to_rgb(LOOKS[kinds[i, j]].ground) for j in range(heads)] for i in range(layers)]
    axes.imshow(colours, interpolation="nearest", aspect="equal")
    axes.set_anchor("NW")
    for (i, j), kind in kinds.items():
        look = LOOKS[kind]
        options = {"ha": "center", "va": "center", "fontsize": 10, "fontweight": "bold"}
        axes.text(j, i, look.mark, color=look.ink, parse_math=False, **options)
    axes.set_xticks(range(heads))
    axes.set_yticks(range(layers), [f"layer {i}" for i in range(layers)])
    axes.set_xticks([j - 0.5 for j in range(heads + 1)], minor=True)
    axes.set_yticks([i - 0.5 for i in range(layers + 1)], minor=True)
    axes.grid(which="minor", color=drawing.CARD, linewidth=2)
    axes.xaxis.tick_top()
    axes.tick_params(which="both", length=0, labelsize=8, colors=drawing.INK)
    axes.spines[:].set_visible(False)
    map_picture.frame_cell(axes, *chosen)
    drawing.headline(axes, "Class of each head")


def _counts(axes: "Axes", counts: Mapping[str, int]) -> None:
    names = [f"{LOOKS[kind].mark}  {LOOKS[kind].name}" for kind in counts]
    places = range(len(counts))
    grounds = [LOOKS[kind].ground for kind in counts]
    axes.barh(places, list(counts.values()), color=grounds, edgecolor=drawing.MUTED, linewidth=0.8)
    for place, count in zip(places, counts.values(), strict=True):
        axes.text(count, place, f" {count}", va="center", fontsize=9, color=drawing.INK)
    drawing.clean_axes(axes, "Heads of each class")
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0, colors=drawing.INK)
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.set_xlim(0, 1.25 * max(counts.values()))


def height(
    width: float, rows: Mapping[str, list[list[Any]]], model: str, rule: str, drawn: Drawn | None
) -> float:
    """Height in rem of the live widget on a page of `width` rem."""
    inner = max(width + 0.5 * (width == 42), 18) - 2.125  # two columns from 42.1 rem on
    wide = inner >= 40  # `WIDTHS` ends below 52 rem, where the chosen head has two columns too
    column = (inner - 1.5) * 1.75 / 2.75 if wide else inner
    head = RULE if inner >= 19.5 else 2 * RULE
    menu = 7.5 + 0.55 * max(map(len, rows))
    head += RULE if len(rows) > 1 and inner < menu + 20 else 0.0
    layers, heads = len(rows[model]), len(rows[model][0])
    names = [f"layer {i}" for i in range(layers)]
    grid = maps.thumbnails_height(column, names, heads, (1, 1), 1.5, 3.0, 0.25)
    grid += COUNTS + 1.75 * math.ceil(len(RULES[rule]) / 2)
    limits = RESET + SLIDER * (6 if rule == "corrected" else 5)
    limits += LINE if (inner - column - 1.5 if wide else inner) < 16.5 else 0.0
    top = max(grid, limits) if wide else grid + GAP + limits
    chosen = CHOSEN if wide else CHOSEN + 2 * LINE
    chosen += (TABLE if inner >= 24 else SMALL_TABLE) + (1.0 if rule == "simple" else 0.0)
    chosen += NARROW_TABLE if inner < 17.5 else 0.0
    if drawn is None:
        return FRAME + head + top + chosen
    room = min(26.0, inner)
    large = MAP + maps.map_height(room, drawn.queries, drawn.keys)
    large += LEGEND if drawn.blocked is not None and room < 22 else 0.0
    return FRAME + TOGGLE + head + top + chosen + GAP + large
