"""nbgrader metadata that nbgrader and the public edition understand."""

import ast
import re
from collections.abc import Iterator

from bookext.lint.walk import Finding
from bookext.public import MarkerError, regions, strip_cell
from bookext.source import Page

NBGRADER_KEYS = {"grade", "grade_id", "locked", "schema_version", "solution"}
NBGRADER_ALL = NBGRADER_KEYS | {"task", "points", "cell_type", "checksum"}


def nbgrader(page: Page) -> Iterator[Finding]:
    """nbgrader metadata that nbgrader and the public edition understand."""
    seen: dict[str, int] = {}
    for cell in page.cells:
        meta = cell.nbgrader
        try:
            regions(cell.source, meta if isinstance(meta, dict) else None)
        except MarkerError as error:
            yield cell.body + error.offset + 1, "nbgrader", error.message
        if "nbgrader" not in cell.metadata:
            continue
        if not isinstance(meta, dict):
            yield cell.line, "nbgrader", "'nbgrader' must be a mapping"
            continue
        if missing := sorted(NBGRADER_KEYS - meta.keys()):
            yield cell.line, "nbgrader", f"nbgrader metadata lacks {', '.join(missing)}"
        if unknown := sorted(meta.keys() - NBGRADER_ALL):
            yield cell.line, "nbgrader", f"unknown nbgrader keys: {', '.join(unknown)}"
        if meta.get("schema_version", 3) != 3:
            yield cell.line, "nbgrader", "nbgrader's schema_version must be 3"
        for key in ("grade", "solution", "locked", "task"):
            if not isinstance(meta.get(key, False), bool):
                yield cell.line, "nbgrader", f"'{key}' must be true or false, not {meta[key]!r}"
        name = meta.get("grade_id")
        if name is not None and not re.fullmatch(r"[A-Za-z0-9_\-]+", str(name)):
            yield cell.line, "nbgrader", f"grade_id {name!r}: letters, digits, - and _ only"
        if name in seen:
            yield cell.line, "nbgrader", f"grade_id {name!r} is already used in line {seen[name]}"
        seen.setdefault(name, cell.line)
        points = meta.get("points")
        if meta.get("grade") or meta.get("task"):
            if isinstance(points, bool) or not isinstance(points, (int, float)) or points < 0:
                yield cell.line, "nbgrader", "a graded cell needs 'points', a number from 0"
        if meta.get("grade") and not meta.get("solution") and not meta.get("locked"):
            yield cell.line, "nbgrader", "a check cell must be 'locked: true'"
        if meta.get("solution") and meta.get("locked"):
            yield cell.line, "nbgrader", "a solution cell must be 'locked: false'"
        yield from _stub(cell, meta)


def _stub(cell, meta) -> Iterator[Finding]:
    """The stub must be Python still: a solution alone in a function's body is fine."""
    if cell.kind != "code" or not meta.get("solution"):
        return
    try:
        ast.parse(strip_cell(cell.source, meta) or "")
    except MarkerError:
        return
    except SyntaxError as error:
        line = cell.body + (error.lineno or 1)
        yield line, "nbgrader", f"with the solution taken out the cell is no Python: {error.msg}"
