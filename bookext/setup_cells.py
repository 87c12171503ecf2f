"""What a learner's notebook keeps of the book's hidden cells: the set-up, as ordinary code.

The asserts of hidden cells guard the numbers in the book's text and would stop a learner who has
changed something; ``glue`` only feeds that text. Both go, statement by statement, and with them the
imports that nothing uses any more. What is left of a cell stays exactly as it was written.
"""

import ast
import re

BOOK_ONLY = {"glue", "pytest"}
STAND_IN = 'def glue(*args, **kwargs):\n    """In the book, this puts a value into the text."""'


def set_up(source: str, *, hidden: bool) -> str:
    """The cell without glue and, for a hidden cell, without asserts; '' when nothing is left."""
    try:
        tree = parsed(source)
    except SyntaxError:  # a cell magic: leave it as it is
        return source
    lines = source.splitlines()
    doomed = [node for node in tree.body if _only_for_the_book(node, hidden)]
    starts = {node.lineno for node in tree.body if node not in doomed}
    for node in reversed(doomed):
        if node.lineno not in starts:
            lines[node.lineno - 1 : node.end_lineno] = []
    left = "\n".join(lines)
    return _without_book_imports(re.sub(r"\n{3,}", "\n\n", left).strip("\n"))


def parsed(source: str) -> ast.Module:
    """The syntax tree, with ``pass`` in place of each line magic."""
    return ast.parse(re.sub(r"^([ \t]*)[%!](?!%).*$", r"\1pass", source, flags=re.M))


def _only_for_the_book(node: ast.stmt, hidden: bool) -> bool:
    """Whether a statement, or all that a block holds, is glue (or an assert of a hidden cell)."""
    if isinstance(node, ast.Assert):
        return hidden
    if isinstance(node, ast.Expr):
        if not isinstance(node.value, ast.Call):
            return False
        name = _called(node.value)
        return name == "glue" or (hidden and name.lstrip("_").startswith("assert"))
    if isinstance(node, (ast.For, ast.If, ast.With)):
        if isinstance(node, ast.With) and any(_expects(item) for item in node.items):
            return hidden
        if isinstance(node, ast.With) and any(item.optional_vars for item in node.items):
            return False  # what it opens has a name, and later cells may read it
        blocks = [*node.body, *getattr(node, "orelse", [])]
        return all(_only_for_the_book(child, hidden) for child in blocks)
    return False


def _expects(item: ast.withitem) -> bool:
    """Whether an error or a warning is asked for, by pytest."""
    call = item.context_expr
    return isinstance(call, ast.Call) and _called(call) in ("raises", "warns")


def _called(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def _names(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {alias.asname or alias.name for alias in node.names}


def _without_book_imports(source: str) -> str:
    """Drop the imports of glue and pytest that nothing uses; a glue that is used gets a stand-in,
    because myst-nb is not installed where the notebook runs."""
    tree = parsed(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lines = source.splitlines()
    for node in reversed(tree.body):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        names = _names(node)
        if not names & BOOK_ONLY:
            continue
        kept = [a for a in node.names if (a.asname or a.name) not in BOOK_ONLY - used]
        new: list[str] = []
        if "glue" in names and getattr(node, "module", "") == "myst_nb":
            new = STAND_IN.splitlines() if "glue" in used else []
        elif kept:
            new = [ast.unparse(type(node)(**{**vars(node), "names": kept}))]
        lines[node.lineno - 1 : node.end_lineno] = new
    text = "\n".join(lines).strip("\n")
    said = [line for line in text.splitlines() if line.strip() and line.strip()[0] != "#"]
    return text if said else ""
