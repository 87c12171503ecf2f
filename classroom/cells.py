"""Cells of a notebook as plain code: magics do nothing, line numbers stay.

The set-up cells are the course's own; an answer's are a student's.
"""

from __future__ import annotations

import linecache
import re
import types

from IPython.core.inputtransformer2 import TransformerManager

#: Cell magics that run the rest of the cell; any other cell magic means another language.
_RUN_THE_REST = {"capture", "prun", "time", "timeit"}


class Shell:
    """What code finds where it looks for IPython: every magic does nothing."""

    def __getattr__(self, name: str) -> object:
        return lambda *args, **kwargs: None


def shown(*args: object, **kwargs: object) -> None:
    """In a notebook, ``display`` shows something; here nobody looks, and ``glue`` feeds no text."""


def stand_ins() -> dict[str, object]:
    """Names that a notebook has besides Python's own."""
    return {"get_ipython": Shell, "display": shown}


def no_book() -> None:
    """Give ``from myst_nb import glue`` something to import: it feeds the book's text alone."""
    import sys

    module = types.ModuleType("myst_nb")
    module.glue = shown  # type: ignore[attr-defined]
    sys.modules["myst_nb"] = module


def plain(source: str) -> str:
    """The cell as Python, line by line.

    Raises:
        SyntaxError: when IPython itself cannot read it.
    """
    lines = source.splitlines(keepends=True)
    empty = next((n for n, line in enumerate(lines) if line.strip()), 0)
    magic = re.match(r"\s*%%(\w*)", lines[empty]) if lines else None
    if magic:
        if magic[1] not in _RUN_THE_REST:
            return ""
        lines[empty] = "\n"
        return plain("".join(lines))
    return "\n" * empty + TransformerManager().transform_cell("".join(lines[empty:]))


def compiled(source: str, name: str) -> types.CodeType:
    """The code of a cell; its lines show in error messages and for ``inspect.getsource``.

    Raises:
        SyntaxError, ValueError: when it is no Python.
    """
    try:
        return _compiled(source, name)
    except SyntaxError:  # with magics, or indented as a whole, or no Python at all
        return _compiled(plain(source), name)


def _compiled(text: str, name: str) -> types.CodeType:
    code = compile(text, name, "exec", dont_inherit=True)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    return code
