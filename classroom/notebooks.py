"""Notebooks of an assignment: the student's copy of an instructor's, byte for byte the same
whenever and wherever it is made."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from bookext.instructor import METADATA
from bookext.public import strip_cell
from classroom.assignment import Question
from classroom.questions import is_answer, is_test, nbgrader
from classroom.variation import vary

#: What stands in place of a hidden test. nbgrader puts its own copy there when it grades.
LOCKED = "# What is tested here is not shown."
NOTE = """\
> **What is read when this is handed in.** Only the answer cells of the exercises below, those that
> say `YOUR CODE HERE` or `YOUR ANSWER HERE`, and each exercise by itself. What an answer needs
> stands in its own cells or above the exercises: a helper function in a cell of your own further
> down is not there when the answer is run. Leave the cells where they are; do not copy, split or
> delete them. Cells of your own are welcome, and are not read. Pictures and outputs are not read
> either: you need not run anything before you hand in."""
PRIVATE = """
>
> These questions have no check that runs in the notebook."""
VARIED = """
>
> The numbers and the letters of some exercises are this copy's own: hand in this copy, and compare
> ways, not results."""


def read(path: Path) -> NotebookNode:
    return nbformat.reads(path.read_text("utf-8"), as_version=4)


def text(notebook: NotebookNode) -> str:
    """A notebook as it stands in a file."""
    return nbformat.writes(notebook) + "\n"


def student_copy(
    notebook: NotebookNode,
    questions: Sequence[Question],
    known: Mapping[str, Any],
    *,
    assignment: str,
    private: Collection[str] = (),
    student: str = "",
    code: str = "",
) -> NotebookNode:
    """Stubs for solutions, locked empty cells for hidden tests, a note before the exercises.

    ``private`` are the ids of checks that students do not have: their visible calls go.
    ``code`` is the variation of this student's data.

    Raises:
        ClassroomError: when the text of an exercise cannot be varied.
    """
    new = copy.deepcopy(notebook)
    exercises = new.metadata.pop(METADATA)["exercises"]
    file = questions[0].notebook
    new.cells = [_shown(cell) for cell in new.cells if not _calls(cell, private)]
    by_id = {cell.id: cell for cell in new.cells}
    for exercise in exercises if code else ():
        cells = [by_id[id] for id in exercise["cells"] if id in by_id]
        for check in [q.check for q in questions if q.exercise == exercise["label"] and q.check]:
            vary(cells, known[check], code, f"{file}, exercise {exercise['title']!r}")
    first = next(id for exercise in exercises for id in exercise["cells"])
    place = next(n for n, cell in enumerate(new.cells) if cell.id == first)
    note = NOTE + (PRIVATE if private else "") + (VARIED if code else "")
    new.cells.insert(place, nbformat.v4.new_markdown_cell(note, id="what-is-read"))
    new.metadata[METADATA] = {"assignment": assignment, "notebook": file, "student": student}
    nbformat.validate(new)
    return new


def _calls(cell: NotebookNode, private: Collection[str]) -> bool:
    """Whether a cell is the visible call of one of these checks."""
    if cell.cell_type != "code" or nbgrader(cell):
        return False
    return any(f'check("{id}",' in cell.source for id in private)


def _shown(cell: NotebookNode) -> NotebookNode:
    if is_test(cell):
        cell.source = LOCKED
        cell.metadata.editable = cell.metadata.deletable = False
    elif is_answer(cell):
        cell.source = strip_cell(cell.source, nbgrader(cell), cell.cell_type) or ""
        cell.metadata.deletable = False
        if cell.cell_type == "code":  # "run all" goes on behind a question that is not answered
            cell.metadata.tags = ["raises-exception"]
    return cell
