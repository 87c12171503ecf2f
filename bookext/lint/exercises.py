"""Graded exercises: every answer has its check, and the checks and the points say the same."""

import ast
import re
from collections.abc import Collection, Iterator

from bookext.exercises import Exercise, check_of, exercises, hidden_test, rubric_line
from bookext.lint.walk import Finding
from bookext.source import Cell, Page

_POINTS = re.compile(r"^Points for a class: (.+?)\.\s*$")
RULE = "exercise-cells"
FORM = (
    'a hidden test is the one line check("id", answer).require() between '
    "'### BEGIN HIDDEN TESTS' and '### END HIDDEN TESTS'"
)


def exercise_cells(page: Page, known: Collection[str] | None = None) -> Iterator[Finding]:
    """Every answer has its check, and the checks and the points say the same.

    ``known`` are the ids that attnkit.checks has, and those of a bank; by default the former.
    """
    found = exercises(page)
    inside = {index for exercise in found for index in exercise.cells}
    if not found or not any(isinstance(cell.nbgrader, dict) for cell in page.cells):
        return
    if known is None:
        from attnkit.checks import exercise_ids

        known = exercise_ids()
    for index, cell in enumerate(page.cells):
        if isinstance(cell.nbgrader, dict) and index not in inside:
            yield (
                cell.line,
                RULE,
                "an nbgrader cell outside of any exercise; put it between '{exercise-start}' and "
                "'{exercise-end}'",
            )
    for exercise in found:
        yield from _Cells(page, exercise).findings(known)
    yield from _points(page, found)


class _Cells:
    def __init__(self, page: Page, exercise: Exercise):
        cells = [page.cells[index] for index in exercise.cells]
        marked = [cell for cell in cells if isinstance(cell.nbgrader, dict)]
        self.plain = [cell for cell in cells if cell not in marked]
        self.answers = [cell for cell in marked if _says(cell, "solution")]
        self.tests = [c for c in marked if _says(c, "grade") and not _says(c, "solution")]
        self.exercise = exercise

    def findings(self, known: Collection[str]) -> Iterator[Finding]:
        if not self.exercise.label and (self.answers or self.tests):
            yield self.exercise.first, RULE, "a graded exercise needs a label: ':label: ex-name'"
        checked: dict[str, str] = {}
        for cell in self.tests:
            test = hidden_test(cell.source)
            if test is None:
                yield cell.line, RULE, FORM
                continue
            check, expression = test
            checked[check] = expression
            if check not in known:
                yield cell.line, RULE, f"no exercise of attnkit.checks has the id {check!r}"
            if _id(cell) != f"{check}-test":
                yield (
                    cell.line,
                    RULE,
                    f"the test of {check!r} has the grade_id {_id(cell)!r}; call it '{check}-test'",
                )
        yield from self._visible(checked)
        for cell in self.answers:
            yield from self._answer(cell, list(checked))
        for check in checked:
            if not any(check_of(_id(cell), list(checked)) == check for cell in self.answers):
                yield (
                    self.exercise.first,
                    RULE,
                    f"no answer cell of this exercise is called {check!r} or '{check}-…'",
                )

    def _visible(self, checked: dict[str, str]) -> Iterator[Finding]:
        """The check that a learner runs asks for the same as the hidden one."""
        for check, expression in checked.items():
            calls = [c for cell in self.plain for c in _checks(cell) if c[0] == check]
            if calls != [(check, expression)]:
                yield (
                    self.exercise.first,
                    RULE,
                    f"expected one visible cell check({check!r}, {expression}) as in the hidden "
                    f"test, found {len(calls)} calls of it",
                )

    def _answer(self, cell: Cell, checked: list[str]) -> Iterator[Finding]:
        graded = _says(cell, "grade")
        if not check_of(_id(cell), checked) and not (graded and not self.tests):
            yield (
                cell.line,
                RULE,
                f"the answer {_id(cell)!r} belongs to no check: it is called as a check of this "
                "exercise, or that and '-' and more, and the check has a hidden test below",
            )
        if not graded:
            return
        points = cell.nbgrader.get("points") if cell.nbgrader else None
        rubric = [line for line in map(rubric_line, cell.source.splitlines()) if line]
        if sum(worth for worth, _ in rubric) != points:
            yield (
                cell.line,
                RULE,
                f"the rubric of {_id(cell)!r} adds up to {sum(p for p, _ in rubric):g} points, the "
                f"cell has {points}; begin the solution with lines '# rubric 2: what they are for'",
            )


def _points(page: Page, found: list[Exercise]) -> Iterator[Finding]:
    """``Points for a class: 2, 2 + 1 and 9.``: one entry for each exercise, in order."""
    worth = [
        (exercise, sum(float(page.cells[i].nbgrader.get("points") or 0) for i in exercise.cells
                       if _says(page.cells[i], "grade")))
        for exercise in found
    ]  # fmt: skip
    wanted = [points for _, points in worth if points]
    for number, line in enumerate(page.lines, 1):
        if match := _POINTS.match(line):
            entries = re.split(r",\s*|\s+and\s+", match[1])
            try:
                said = [sum(float(part) for part in entry.split("+")) for entry in entries]
            except ValueError:
                said = []
            if said != wanted:
                told = ", ".join(f"{points:g}" for points in wanted)
                yield number, RULE, f"the exercises below have the points {told}; this says others"
            return
    if wanted and any(line.startswith("## Exercises") for line in page.lines):
        told = ", ".join(f"{points:g}" for points in wanted)
        yield found[0].first, RULE, f"no line 'Points for a class: {told}.' above the exercises"


def _says(cell: Cell, key: str) -> bool:
    return isinstance(cell.nbgrader, dict) and bool(cell.nbgrader.get(key))


def _id(cell: Cell) -> str:
    return str((cell.nbgrader or {}).get("grade_id"))


def _checks(cell: Cell) -> list[tuple[str, str]]:
    """(id, expression) of every ``check`` call of a cell."""
    try:
        tree = ast.parse(cell.source)
    except SyntaxError:
        return []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [
        (str(call.args[0].value), ast.unparse(call.args[1]))
        for call in calls
        if getattr(call.func, "id", "") == "check" and len(call.args) == 2
        if isinstance(call.args[0], ast.Constant)
    ]
