"""What a reader of an answer would like to know: notes for the instructor, never a penalty.

They come from reading the answer's syntax tree; nothing is run. An answer that wants to hide
something can, so a missing note proves nothing.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache

CHECKS = "attnkit.checks"
#: What a chapter itself imports from attnkit.checks.
PUBLIC = {"check", "probe", "diagnose"}
#: Modules with which one looks around in, or out of, one's own process.
AROUND = {"ctypes", "gc", "importlib", "inspect", "marshal", "multiprocessing", "os", "pickle",
          "shutil", "signal", "socket", "subprocess", "sys", "threading", "urllib"}  # fmt: skip
DEEP = re.compile(r"__(builtins|globals|subclasses|code|closure|loader|import|mro)__|^_getframe$")


def notes(
    sources: tuple[str, ...], setup: tuple[str, ...], solutions: tuple[str, ...]
) -> list[str]:
    """What stands out in the answer cells; what the chapter's own solution does too, does not."""
    own = _seen(setup, solutions)
    return [note for note in _seen(setup, sources) if note not in own]


@lru_cache(maxsize=1024)
def _seen(setup: tuple[str, ...], sources: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_notes(_names_of_attnkit(setup), sources)))


@lru_cache(maxsize=8)
def _names_of_attnkit(setup: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for source in setup for name in _imported_from_attnkit(source))


def _notes(ours: frozenset[str], sources: Iterable[str]) -> Iterator[str]:
    for source in sources:
        for node in _walk(source):
            yield from _of_import(node)
            yield from _of_use(node, ours)


def parsed(source: str) -> ast.Module | None:
    """The syntax tree, or None for what is none; warnings about a student's code are not ours."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _walk(source: str) -> Iterator[ast.AST]:
    tree = parsed(source)
    return ast.walk(tree) if tree else iter(())


def _imported_from_attnkit(source: str) -> Iterator[str]:
    """The names that the set-up takes from attnkit's modules; not those of pictures and data."""
    for node in _walk(source):
        if isinstance(node, ast.ImportFrom) and _is_part(node.module, "attnkit"):
            if not re.match(r"attnkit\.(checks|plots|tasks|widgets|training)", node.module or ""):
                yield from (alias.asname or alias.name for alias in node.names)


def _is_part(module: str | None, package: str) -> bool:
    return module == package or (module or "").startswith(package + ".")


def _of_import(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        modules = [(alias.name, "") for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        modules = [(node.module or "", alias.name) for alias in node.names]
    else:
        return
    for module, name in modules:
        if module == CHECKS and name in PUBLIC:
            continue
        if _is_part(module, CHECKS) or (module == "attnkit" and name == "checks"):
            yield "mentions attnkit.checks internals"
        elif _is_part(module, "attnkit"):
            yield f"imports attnkit's own {name or module}"
        elif module.partition(".")[0] in AROUND:
            yield f"imports {module.partition('.')[0]}"


def _of_use(node: ast.AST, ours: frozenset[str]) -> Iterator[str]:
    """Names of attnkit that the set-up has imported, and ways to look around in the process."""
    if isinstance(node, ast.Name) and node.id in ours and isinstance(node.ctx, ast.Load):
        yield f"uses attnkit's own {node.id}"
    text = {ast.Attribute: "attr", ast.Name: "id", ast.Constant: "value"}.get(type(node))
    value = getattr(node, text) if text else None
    if isinstance(value, str) and len(value) < 1000:
        if CHECKS in value:
            yield "mentions attnkit.checks internals"
        elif found := DEEP.search(value):
            yield f"mentions {found[0]}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in ("open", "exec", "eval", "compile", "__import__"):
            yield f"calls {node.func.id}"
