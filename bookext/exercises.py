"""The exercises of a page: where each begins and ends, and what its cells say."""

import ast
import re
from dataclasses import dataclass, field

from bookext.source import Cell, Page

_FENCE = re.compile(r"^\s*(`{3,}|:{3,})\s*\{exercise-(start|end)\}\s*(.*?)\s*$")
_LABEL = re.compile(r"^\s*:?label:\s*(\S+)")
_RUBRIC = re.compile(r"^\s*(?:#+|<!--)\s*rubric\s+(\d+(?:\.\d+)?):\s*(.*?)\s*(?:-->)?\s*$")
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")


@dataclass
class Exercise:
    """``first`` and ``last`` are the lines, from 1, of the two directives; ``cells`` the indices of
    the cells between them in the page."""

    title: str
    label: str
    first: int
    last: int
    cells: list[int] = field(default_factory=list)

    def holds(self, line: int) -> bool:
        return self.first <= line <= self.last


def exercises(page: Page) -> list[Exercise]:
    """Every gated exercise of a page; one that is never closed goes on to the end."""
    found: list[Exercise] = []
    opened: Exercise | None = None
    for number, text in enumerate(page.lines, 1):
        if not (match := _FENCE.match(text)):
            continue
        _, gate, title = match.groups()
        if gate == "start":
            labels = map(_LABEL.match, page.lines[number : number + 4])
            label = next((label.group(1) for label in labels if label), "")
            opened = Exercise(title, label, number, len(page.lines))
            found.append(opened)
        elif opened:
            opened.last, opened = number, None
    for exercise in found:
        inside = enumerate(page.cells)
        exercise.cells = [i for i, cell in inside if exercise.holds(cell.line) and _asks(cell)]
    return found


def _asks(cell: Cell) -> bool:
    return cell.kind == "code" or bool(cell.nbgrader)


def hidden_test(source: str) -> tuple[str, str] | None:
    """The id and the expression of a hidden test, which is ``check("id", expression).require()``
    and nothing else; None for any other cell."""
    lines = source.strip().splitlines()
    if len(lines) < 3 or (lines[0], lines[-1]) != HIDDEN:
        return None
    try:
        (statement,) = ast.parse("\n".join(lines[1:-1])).body
    except (SyntaxError, ValueError):
        return None
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    checked = next((c for c in calls if getattr(c.func, "id", "") == "check"), None)
    if checked is None or len(checked.args) != 2 or not isinstance(checked.args[0], ast.Constant):
        return None
    name, expression = map(ast.unparse, checked.args)
    if ast.unparse(statement) != f"check({name}, {expression}).require()":
        return None
    return str(checked.args[0].value), expression


def rubric_line(line: str) -> tuple[float, str] | None:
    """Points and words of ``# rubric 2: what they are for``; None for any other line."""
    found = _RUBRIC.match(line)
    return (float(found[1]), found[2]) if found else None


def check_of(grade_id: str, checks: list[str]) -> str:
    """The check that an answer belongs to: the longest whose id its own is or begins with."""
    own = (check for check in checks if grade_id == check or grade_id.startswith(f"{check}-"))
    return max(own, key=len, default="")
