"""One look for every figure of the course.

A figure is drawn on opaque white paper, in light and in dark mode alike: its colours are then the
ones that were checked, wherever it is shown. In dark mode the page shows it as a card with rounded
corners (``bookext/assets/book.css``).
"""

from cycler import cycler
from matplotlib import font_manager, rcParams

from attnkit.fonts import CHINESE_FONTS

#: Distinct for colour-blind readers, and each at least 3 : 1 against the paper (WCAG 1.4.11).
COLOURS = ("#0072b2", "#c85200", "#007d5d", "#a8508b", "#222222", "#8a6d00", "#5b5bd6")
PAPER = "#ffffff"
INK = "#22262b"
GRID = "#d9dde2"
#: Pixels per inch: one and a half per CSS pixel, so that figures stay sharp on dense screens.
DPI = 144


def style() -> None:
    """Set matplotlib's defaults (rcParams) to the look of the course.

    Fonts are those that every matplotlib carries, and the file written holds no date, so that the
    same figure gives the same bytes.

    >>> style()
    >>> rcParams["savefig.facecolor"]
    '#ffffff'
    """
    installed = set(font_manager.fontManager.get_font_names())
    chinese = next((name for name in CHINESE_FONTS if name in installed), None)
    rcParams.update(
        {
            "figure.figsize": (6.4, 3.6),
            "figure.dpi": DPI,
            "figure.facecolor": PAPER,
            "figure.constrained_layout.use": True,
            "savefig.dpi": DPI,
            "savefig.facecolor": PAPER,
            "savefig.transparent": False,
            "font.family": ["DejaVu Sans", *([chinese] if chinese else [])],
            "font.size": 10.5,
            "mathtext.fontset": "cm",
            "text.color": INK,
            "axes.facecolor": PAPER,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "axes.titlesize": 11.5,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.linewidth": 0.8,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.prop_cycle": cycler(color=COLOURS),
            "grid.color": GRID,
            "grid.linewidth": 0.7,
            "xtick.color": INK,
            "ytick.color": INK,
            "lines.linewidth": 2.0,
            "lines.markersize": 5.0,
            "patch.facecolor": COLOURS[0],
            "hatch.linewidth": 0.6,
            "legend.frameon": False,
            "image.cmap": "viridis",
            "image.interpolation": "nearest",
            "svg.hashsalt": "attnkit",
        }
    )
