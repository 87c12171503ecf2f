"""The alternative text that a figure carries when it is shown."""

import sys
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from attnkit.plots.description import describe
from attnkit.plots.words import LONGEST

Drawn = TypeVar("Drawn", bound="Axes | Figure | SubFigure")
_texts: "WeakKeyDictionary[Figure, str]" = WeakKeyDictionary()


def alt(fig_or_ax: Drawn, text: str) -> Drawn:
    """Give a figure its alternative text, and return what was given.

    Without it, a figure that is shown is described by :func:`describe`.

    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> alt(figure, "The variance grows from 1 to 1024.") is figure
    True

    Raises:
        TypeError: not a figure or its axes, or a text that is not a string.
        ValueError: an empty text, or one of more than 800 characters.
    """
    if not isinstance(fig_or_ax, Axes | Figure | SubFigure):
        raise TypeError(
            f"alt wants a matplotlib Figure or Axes, got {type(fig_or_ax).__name__}. "
            "For an array of axes give one of them or their figure: alt(axes[0], text)."
        )
    if not isinstance(text, str):
        raise TypeError(
            f"The alternative text must be a str, got {type(text).__name__}. "
            'Say in one or two sentences what the figure shows: alt(ax, "The loss falls to 0.1.").'
        )
    words = " ".join(text.split())
    if not words:
        raise ValueError(
            "The alternative text is empty. Say in one or two sentences what the figure shows, "
            "or leave alt out: describe() then makes a text from what is drawn."
        )
    if len(words) > LONGEST:
        raise ValueError(
            f"The alternative text has {len(words)} characters, at most {LONGEST} are read well "
            "aloud. Keep the finding, move the rest into the prose."
        )
    _texts[_figure(fig_or_ax)] = words
    return fig_or_ax


def text_of(figure: Figure) -> str:
    """What was given to :func:`alt`, or else what :func:`describe` makes of the figure."""
    return _texts.get(figure) or describe(figure)


def _figure(drawn: Axes | Figure | SubFigure) -> Figure:
    figure = drawn
    while not isinstance(figure, Figure):
        parent = figure.figure
        if parent is None:
            raise ValueError("These axes belong to no figure any more. Draw them again first.")
        figure = parent
    return figure


def _metadata(figure: Figure) -> tuple[dict[str, Any], dict[str, Any]]:
    return {}, {"image/png": {"alt": text_of(figure)}}


def register() -> None:
    """Inside IPython, let every figure shown carry its text in the metadata of the output.

    It is registered as a mime bundle that holds metadata only: the picture itself still comes from
    the formatter that the backend puts in place, and takes out again whenever it is chosen anew.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        shell.display_formatter.mimebundle_formatter.for_type(Figure, _metadata)
