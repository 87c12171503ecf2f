"""The questions of an instructor's notebook: what is asked, what it is worth, who reads it."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from nbformat import NotebookNode

from attnkit import checks
from bookext.instructor import METADATA, names
from bookext.public import regions, strip_cell
from classroom.assignment import ClassroomError, Criterion, Question

HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
_RUBRIC = re.compile(r"^\s*(?:#+|<!--)\s*rubric\s+([\d.]+):\s*(.*?)\s*(?:-->)?\s*$")


def nbgrader(cell: NotebookNode) -> dict:
    return cell.metadata.get("nbgrader", {})


def is_answer(cell: NotebookNode) -> bool:
    """Whether a student writes in this cell and it is read."""
    return bool(nbgrader(cell).get("solution"))


def is_test(cell: NotebookNode) -> bool:
    return bool(nbgrader(cell).get("grade")) and not is_answer(cell)


def questions(notebook: NotebookNode, file: str) -> list[Question]:
    """Every graded cell of an instructor's notebook as a question, in order.

    Raises:
        ClassroomError: when a test is not what the exercises' format says.
    """
    by_id = {cell.id: cell for cell in notebook.cells}
    found = []
    for exercise in notebook.metadata[METADATA]["exercises"]:
        cells = [by_id[id] for id in exercise["cells"]]
        found += _Exercise(exercise, cells, file).questions()
    return found


def hidden_test(cell: NotebookNode, file: str) -> tuple[str, str]:
    """The exercise and the expression of ``check("X", expression).require()``."""
    lines = cell.source.strip().splitlines()
    try:
        inside = "\n".join(lines[1:-1])
        call = ast.parse(inside).body
        checked = call[0].value.func.value  # type: ignore[attr-defined]
        name, expression = (ast.unparse(argument) for argument in checked.args)
        exact = f"check({name}, {expression}).require()"
        if len(call) == 1 and ast.unparse(call[0]) == exact and (lines[0], lines[-1]) == HIDDEN:
            return ast.literal_eval(name), expression
    except (SyntaxError, AttributeError, ValueError, IndexError):
        pass
    raise ClassroomError(
        f"{file}, cell {nbgrader(cell).get('grade_id')}: a hidden test is one line, "
        f'check("id", answer).require(), between {HIDDEN[0]!r} and {HIDDEN[1]!r}; this is\n'
        f"{cell.source}"
    )


class _Exercise:
    def __init__(self, exercise: dict, cells: Sequence[NotebookNode], file: str):
        self.title, self.label, self.file = exercise["title"], exercise["label"], file
        self.cells = cells
        self.answers = [cell for cell in cells if is_answer(cell)]
        self.tests = {}
        for cell in filter(is_test, cells):
            if 'check("' in cell.source:  # until the experiments of every chapter have a check
                self.tests[_id(cell)] = hidden_test(cell, file)
        self.checks = [check for check, _ in self.tests.values()]

    def questions(self) -> list[Question]:
        graded = (
            cell
            for cell in self.cells
            if nbgrader(cell).get("grade") and (is_answer(cell) or _id(cell) in self.tests)
        )
        return [self.checked(c) if is_test(c) else self.open(c) for c in graded]

    def check_of(self, answer: NotebookNode) -> str:
        """The check that an answer belongs to: the longest one whose id its own begins with."""
        name = _id(answer)
        own = (x for x in self.checks if name == x or name.startswith(f"{x}-"))
        return max(own, key=len, default="")

    def checked(self, cell: NotebookNode) -> Question:
        check, expression = self.tests[_id(cell)]
        if check not in checks.exercise_ids():
            raise ClassroomError(
                f"{self.file}, cell {_id(cell)}: no exercise of attnkit.checks is called {check!r}"
            )
        answers = self.needed([c for c in self.answers if self.check_of(c) == check], expression)
        return self.question(cell, answers, "checked", check, expression)

    def needed(self, own: list[NotebookNode], expression: str) -> list[NotebookNode]:
        """A check's answers, and those before it in the exercise whose names they take."""
        wanted = names(expression)[1]
        kept = []
        for cell in reversed(self.answers):
            given, used = names(solution(cell))
            if any(cell is c for c in own) or given & wanted:
                kept.insert(0, cell)
                wanted |= used
        return kept

    def open(self, cell: NotebookNode) -> Question:
        rubric = tuple(
            Criterion(float(found.group(1)), found.group(2))
            for found in map(_RUBRIC.match, cell.source.splitlines())
            if found
        )
        points = float(nbgrader(cell)["points"])
        if rubric and sum(c.points for c in rubric) != points:
            raise ClassroomError(
                f"{self.file}, cell {_id(cell)}: its rubric lines add up to "
                f"{sum(c.points for c in rubric):g} points, the cell has {points:g}"
            )
        prefix = self.check_of(cell) or self.label.removeprefix("ex-")
        part = _id(cell).removeprefix(f"{prefix}-")
        return self.question(cell, [cell], "open", part=part, rubric=rubric)

    def question(self, cell, answers, kind, check="", expression="", part="", rubric=()):
        return Question(
            id=_id(cell),
            notebook=self.file,
            exercise=self.label,
            title=f"{self.title} ({part})" if part else self.title,
            kind=kind,
            points=float(nbgrader(cell)["points"]),
            answers=tuple(map(_id, answers)),
            check=check,
            expression=expression,
            link=_exercise(check).link if check else self.label,
            stubs=tuple(map(stub, answers)),
            solutions=tuple(map(solution, answers)),
            rubric=rubric,
        )


def _exercise(check: str):
    find = getattr(checks, "exercise", checks._exercise)  # until it is public
    return find(check)


def _id(cell: NotebookNode) -> str:
    return nbgrader(cell)["grade_id"]


def stub(cell: NotebookNode) -> str:
    """What the student finds in an answer cell."""
    return strip_cell(cell.source, nbgrader(cell), cell.cell_type) or ""


def solution(cell: NotebookNode) -> str:
    """A cell as it is with its solution, without markers and rubric."""
    lines = cell.source.splitlines()
    doomed = {
        n for _, first, last, _ in regions(cell.source, nbgrader(cell)) for n in (first, last)
    }
    return "\n".join(
        line for n, line in enumerate(lines) if n not in doomed and not _RUBRIC.match(line)
    )
