"""Words of a picture that its artists alone do not give: full tokens, what is blocked, and why."""

from collections.abc import Callable
from weakref import WeakKeyDictionary

from matplotlib.artist import Artist
from matplotlib.axes import Axes

_words: "WeakKeyDictionary[Artist, Callable[[], str]]" = WeakKeyDictionary()


def tell(artist: Artist, words: Callable[[], str]) -> None:
    """Let :func:`describe` say this of an artist; nothing is put into words before it is asked."""
    _words[artist] = words


def told(ax: Axes) -> str:
    """What was said of the artists of these axes, or "" where they speak for themselves."""
    artists = (*ax.images, *ax.collections)
    return " ".join(_words[a]() for a in artists if a in _words and a.get_visible())


def told_of(artist: Artist) -> str:
    return _words[artist]() if artist in _words else ""
