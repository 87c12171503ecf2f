"""Notebooks of an assignment: the student's copy of an instructor's, byte for byte the same
whenever and wherever it is made."""

from __future__ import annotations

import copy

import nbformat
from nbformat import NotebookNode

from bookext.instructor import METADATA
from bookext.public import strip_cell
from classroom.questions import is_answer, is_test, nbgrader

#: What stands in place of a hidden test. nbgrader puts its own copy there when it grades.
LOCKED = "# What is tested here is not shown."
NOTE = """\
> **What is read when this is handed in.** Only the answer cells of the exercises below, those that
> say `YOUR CODE HERE` or `YOUR ANSWER HERE`, and each exercise by itself. What an answer needs
> stands in its own cells or above the exercises: a helper function in a cell of your own further
> down is not there when the answer is run. Leave the cells where they are; do not copy, split or
> delete them. Cells of your own are welcome, and are not read. Pictures and outputs are not read
> either: you need not run anything before you hand in."""


def read(path) -> NotebookNode:
    return nbformat.reads(path.read_text("utf-8"), as_version=4)


def text(notebook: NotebookNode) -> str:
    """A notebook as it stands in a file."""
    return nbformat.writes(notebook) + "\n"


def student_copy(notebook: NotebookNode, *, assignment: str, file: str) -> NotebookNode:
    """Stubs for solutions, locked empty cells for hidden tests, a note before the exercises."""
    new = copy.deepcopy(notebook)
    exercises = new.metadata.pop(METADATA)["exercises"]
    new.cells = [_shown(cell) for cell in new.cells]
    first = next(id for exercise in exercises for id in exercise["cells"])
    place = next(n for n, cell in enumerate(new.cells) if cell.id == first)
    new.cells.insert(place, nbformat.v4.new_markdown_cell(NOTE, id="what-is-read"))
    new.metadata[METADATA] = {"assignment": assignment, "notebook": file, "student": ""}
    nbformat.validate(new)
    return new


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
