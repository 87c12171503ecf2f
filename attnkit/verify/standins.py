"""What the hidden cells import and a reader need not have: ``myst_nb.glue`` and ``pytest``.

The stand-ins are used everywhere, also where the real ones are installed, so that a chapter does
the same on every machine.
"""

import re
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Number
from typing import Any


@contextmanager
def raises(expected: type[BaseException], match: str = "") -> Iterator[types.SimpleNamespace]:
    """Hold that the block raises ``expected``, with words that ``match`` finds."""
    info = types.SimpleNamespace(value=None, type=expected)
    try:
        yield info
    except expected as error:
        info.value = error
        if not re.search(match, str(error)):
            raise AssertionError(f"it raised {error!r}, without the words {match!r}") from None
    else:
        raise AssertionError(f"it raised no {expected.__name__}")


@contextmanager
def warns(expected: type[Warning], match: str = "") -> Iterator[list]:
    """Hold that the block warns of ``expected``, with words that ``match`` finds."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        yield told
    said = [w for w in told if issubclass(w.category, expected)]
    if not any(re.search(match, str(w.message)) for w in said):
        raise AssertionError(f"no {expected.__name__} with the words {match!r}")


class approx:
    """Equal within ``rel`` of the expected number, or ``abs`` where that is more."""

    __array_ufunc__ = None  # a NumPy number on the left leaves the comparison to us

    def __init__(self, expected: Any, rel: float | None = None, abs: float | None = None):
        self.expected, self.rel, self.abs = expected, rel, abs

    def __eq__(self, found: Any) -> bool:
        if isinstance(self.expected, Number):
            return self._near(found, self.expected)
        pairs = list(zip(found, self.expected, strict=True))
        return all(self._near(a, b) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"approx({self.expected!r})"

    def _near(self, found: Any, expected: Any) -> bool:
        absolute = 1e-12 if self.abs is None else self.abs
        relative = (1e-6 if self.abs is None else 0.0) if self.rel is None else self.rel
        return found == expected or abs(found - expected) <= max(relative * abs(expected), absolute)


def install(glue: Callable[..., None]) -> None:
    """Put the stand-ins where the chapters import them from; ``glue`` receives what they glue."""
    book = types.ModuleType("myst_nb")
    book.glue = glue  # type: ignore[attr-defined]
    pytest = types.ModuleType("pytest")
    for tool in (raises, warns, approx):
        setattr(pytest, tool.__name__, tool)
    sys.modules |= {"myst_nb": book, "pytest": pytest}
