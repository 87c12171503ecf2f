"""The questions of an instructor's notebook: what is asked, what it is worth, who reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nbformat import NotebookNode

from bookext.exercises import HIDDEN, check_of, hidden_test, rubric_line
from bookext.instructor import METADATA, names
from bookext.public import regions, strip_cell
from classroom.assignment import ClassroomError, Criterion, Question


def nbgrader(cell: NotebookNode) -> dict:
    return cell.metadata.get("nbgrader", {})


def is_answer(cell: NotebookNode) -> bool:
    """Whether a student writes in this cell and it is read."""
    return bool(nbgrader(cell).get("solution"))


def is_test(cell: NotebookNode) -> bool:
    return bool(nbgrader(cell).get("grade")) and not is_answer(cell)


def questions(notebook: NotebookNode, file: str, known: Mapping[str, Any]) -> list[Question]:
    """Every graded cell of an instructor's notebook as a question, in order.

    ``known`` are the exercises of :mod:`attnkit.checks`, and of a bank, by id.

    Raises:
        ClassroomError: when a test is not what the exercises' format says.
    """
    by_id = {cell.id: cell for cell in notebook.cells}
    found = []
    for exercise in notebook.metadata[METADATA]["exercises"]:
        cells = [by_id[id] for id in exercise["cells"]]
        found += _Exercise(exercise, cells, file, known).questions()
    return found


class _Exercise:
    def __init__(
        self, exercise: dict, cells: Sequence[NotebookNode], file: str, known: Mapping[str, Any]
    ):
        self.title, self.label, self.file = exercise["title"], exercise["label"], file
        self.cells, self.known = cells, known
        self.answers = [cell for cell in cells if is_answer(cell)]
        self.tests = {_id(cell): self.test(cell) for cell in cells if is_test(cell)}
        self.checks = [check for check, _ in self.tests.values()]

    def test(self, cell: NotebookNode) -> tuple[str, str]:
        """The check that a test asks for and what it is given."""
        found = hidden_test(cell.source)
        if found is None:
            begin, end = HIDDEN
            raise self.wrong(
                cell,
                f'a hidden test is the line check("id", answer).require() between {begin!r} and '
                f"{end!r}; this is\n{cell.source}",
            )
        if found[0] not in self.known:
            raise self.wrong(cell, f"no exercise of attnkit.checks has the id {found[0]!r}")
        return found

    def wrong(self, cell: NotebookNode, what: str) -> ClassroomError:
        return ClassroomError(f"{self.file}, cell {_id(cell)}: {what}")

    def questions(self) -> list[Question]:
        graded = (c for c in self.cells if nbgrader(c).get("grade"))
        return [self.checked(c) if is_test(c) else self.open(c) for c in graded]

    def checked(self, cell: NotebookNode) -> Question:
        check, expression = self.tests[_id(cell)]
        own = [c for c in self.answers if check_of(_id(c), self.checks) == check]
        answers = self.needed(own, expression)
        return self.question(cell, answers, "checked", check, expression)

    def needed(self, own: list[NotebookNode], expression: str) -> list[NotebookNode]:
        """A check's answers, and those before it in the exercise whose names they take."""
        wanted = set(names(expression)[1])
        kept: list[NotebookNode] = []
        for cell in reversed([c for c in self.answers if c.cell_type == "code"]):
            given, used = names(solution(cell))
            if any(cell is c for c in own) or given & wanted:
                kept.insert(0, cell)
                wanted |= used
        return kept

    def open(self, cell: NotebookNode) -> Question:
        lines = filter(None, map(rubric_line, cell.source.splitlines()))
        rubric = tuple(Criterion(points, text) for points, text in lines)
        points = float(nbgrader(cell)["points"])
        if rubric and sum(c.points for c in rubric) != points:
            total = sum(c.points for c in rubric)
            raise self.wrong(
                cell, f"its rubric lines add up to {total:g} points, the cell has {points:g}"
            )
        prefix = check_of(_id(cell), self.checks) or self.label.removeprefix("ex-")
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
            link=self.known[check].link if check else self.label,
            stubs=tuple(map(stub, answers)),
            solutions=tuple(map(solution, answers)),
            rubric=rubric,
        )


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
        line for n, line in enumerate(lines) if n not in doomed and not rubric_line(line)
    )
