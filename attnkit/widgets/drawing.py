"""Matplotlib pieces of the static pictures; matplotlib is imported when one is drawn."""

import math
import textwrap
from typing import TYPE_CHECKING, Any

from attnkit.fonts import drawable as drawable
from attnkit.fonts import installed
from attnkit.labels import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours of the static pictures (those of shared.css in light): on a light card of their own,
# so that they read the same on a light and on a dark page.
CARD, INK, MUTED, LINE = "#ffffff", "#1b1f24", "#57606a", "#d0d7de"
WEIGHT, TOP, THEORY, GUESS = "#5b8db8", "#0b5394", "#b45309", "#a3195b"
#: Models keep their colour and dashes in every widget; core.js has the same.
MODELS = ("#b45309", "#0b5394", "#00734f", "#7b3fa0")
MODEL_DASHES: tuple[Any, ...] = ((0, (5, 2)), "-", (0, (1.5, 2)), (0, (6, 1.5, 1, 1.5)))

#: Curves are told apart by colour and by dashes; core.js has the same order.
SERIES_COLOURS = tuple(MODELS[i] for i in (1, 0, 2, 3))
SERIES_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (6, 1.5, 1, 1.5)))


def series(index: int) -> tuple[str, Any]:
    """Colour and matplotlib line style of curve `index`: twelve that all differ."""
    colours = len(SERIES_COLOURS)
    dashes = (index + index // colours) % len(SERIES_DASHES)
    return SERIES_COLOURS[index % colours], SERIES_DASHES[dashes]


def new_figure(width: float, height: float) -> "Figure":
    """A figure that pyplot does not keep: a hundred displays leave nothing behind."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1)  # inches around everything
    return Figure(figsize=(width, height), facecolor=CARD, layout=layout)


def headline(axes: Any, text: str) -> None:
    """The title of a panel, drawn literally."""
    options = {"fontsize": 10.5, "color": INK, "fontweight": "bold", "parse_math": False}
    axes.set_title(text, loc="left", **options)


def clean_axes(axes: Any, title: str) -> None:
    """The course's plain axes: a title at the left, two spines, muted ticks."""
    headline(axes, title)
    axes.set_facecolor(CARD)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(MUTED)
    axes.tick_params(colors=MUTED, labelsize=9)


def font_families() -> list[str]:
    """Families for text in any script: DejaVu Sans first, then the Chinese fonts found."""
    return installed()


def sentence(words: list[str], width: int) -> str:
    """Words in lines of at most `width` characters, white space inside them made visible.

    >>> sentence(["one", "hundred", "and", "five"], 12)
    'one hundred\\nand five'
    """
    return "\n".join(textwrap.wrap(" ".join(map(visible, words)), width))


def rows(number: int, inner: float, size: float, gap: float, height: float) -> float:
    """Height of `number` boxes of one size that wrap inside `inner`, a gap below each row.

    >>> rows(5, 10.0, 3.0, 0.5, 2.0)
    5.0
    """
    columns = max(1, math.floor((inner + gap) / (size + gap)))
    return math.ceil(number / columns) * (height + gap)
