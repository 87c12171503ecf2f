"""Take functions and classes out of a chapter, so that a long run uses the code on the page."""

import ast
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace

from bookext.source import read_page

CHAPTERS = Path(__file__).parents[1] / "chapters"


def definitions(chapter: str, names: Iterable[str]) -> SimpleNamespace:
    """Execute the chapter's imports and the definitions of ``names``, and nothing else.

    >>> definitions("03-scaled-dot-product", ["N_PAIRS"]).N_PAIRS
    8

    Raises:
        KeyError: The chapter does not define one of the names at the top level of a cell.
    """
    wanted, path = set(names), CHAPTERS / f"{chapter}.md"
    namespace: dict[str, object] = {"__name__": f"chapters.{chapter}"}
    for cell in read_page(path).cells:
        if cell.kind != "code":
            continue
        tree = ast.parse("\n".join(x for x in cell.source.splitlines() if x[:1] not in "%!"))
        tree.body = [node for node in tree.body if _is_wanted(node, wanted)]
        exec(compile(tree, f"{path.name}:{cell.line}", "exec"), namespace)
    if missing := sorted(wanted - namespace.keys()):
        raise KeyError(f"{path.name} defines no {', '.join(missing)} at the top level of a cell")
    return SimpleNamespace(**{name: namespace[name] for name in wanted})


def _is_wanted(node: ast.stmt, wanted: set[str]) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name in wanted
    if isinstance(node, ast.Assign):
        return bool(_assigned(node.targets) & wanted)
    return False


def _assigned(targets: list[ast.expr]) -> set[str]:
    flat = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return {e.id for e in flat if isinstance(e, ast.Name)}
