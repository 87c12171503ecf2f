"""Data of their own for every student: from the id alone, so that it can be made again at any time.

What can vary says the exercise (:func:`attnkit.checks.exercise` with a variation): the order and
the letters of options, the values given in an exercise by hand, the seeds of an experiment.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from nbformat import NotebookNode

from attnkit import checks
from bookext.setup_cells import parsed
from classroom.assignment import ClassroomError

_ITEM = re.compile(r"^- \*\*([A-Z])\*\*(?=\s)")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,62}[a-z0-9]|[a-z0-9]")
_CODED = re.compile(r"-[0-9a-f]{10}$")
#: Names that Windows keeps for itself.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


def code_of(student: str) -> str:
    """The variation of a student: ten hexadecimal digits that depend on the id alone.

    >>> code_of("ada")
    '32c0a7ef4f'
    """
    return hashlib.sha256(f"attention-measured/{student}".encode()).hexdigest()[:10]


def folder_of(student: str) -> str:
    """A folder name for an id, whatever is in it: short, safe everywhere, no two ids the same.

    Plain ids in lower case stay as they are; others keep what can be kept, and get their code.

    >>> folder_of("s1234567"), folder_of("../Ada 中"), folder_of("Ada")
    ('s1234567', 'Ada-73b1e3b92f', 'Ada-4f5ea1e1a5')
    """
    if _PLAIN.fullmatch(student) and not (_CODED.search(student) or _RESERVED.fullmatch(student)):
        return student
    kept = re.sub(r"[^A-Za-z0-9]+", "-", student).strip("-")[:40].rstrip("-") or "student"
    return f"{kept}-{code_of(student)}"


def variations(students: Iterable[str]) -> dict[str, str]:
    """Student id → code.

    Raises:
        ClassroomError: for an empty id, one that comes twice, or one that is no proper text.
    """
    found: dict[str, str] = {}
    for student in students:
        if not student.strip():
            raise ClassroomError("--seed-from: an empty student id; give each student a text")
        if student in found:
            raise ClassroomError(f"--seed-from: the student id {student!r} comes twice")
        try:
            found[student] = code_of(student)
        except UnicodeEncodeError:
            raise ClassroomError(f"--seed-from: the id {student!r} is not text in UTF-8") from None
    if len(set(found.values())) < len(found):  # one chance in 10^12 for each pair
        raise ClassroomError("--seed-from: two ids have the same code; change one of them a little")
    return found


def given_source(check: str, code: str) -> str:
    """Python lines that give the given values of a variation their names; '' when there are none.

    A student's answer must be run behind them: the set-up cells hold the book's values.
    """
    if not code:
        return ""
    given = checks.exercise(check, code).given
    return "\n".join(f"{name} = {value!r}" for name, value in given.items())


def vary(cells: list[NotebookNode], exercise: Any, code: str, where: str) -> None:
    """Change the cells of one exercise in a student's notebook: options, given values, check calls.

    ``exercise`` is the book's own of :mod:`attnkit.checks`.

    Raises:
        ClassroomError: when the text of the exercise does not fit its check; names ``where``.
    """
    copy = exercise.varied(code)
    if copy is exercise:
        return
    letters = getattr(copy, "letters", {})
    if letters and sum(_reletter(cell, letters) for cell in cells) != 1:
        raise ClassroomError(
            f"{where}: expected one list '- **A** …' with the options {', '.join(letters)} of "
            f"{exercise.id!r}, in this order"
        )
    code_cells = [c for c in cells if c.cell_type == "code" and not c.metadata.get("nbgrader")]
    found = [name for cell in code_cells for name in _give(cell, copy.given)]
    by_hand = isinstance(exercise, checks.NumbersExercise)
    if sorted(found) != sorted(copy.given) and (by_hand or found):
        raise ClassroomError(
            f"{where}: each given value of {exercise.id!r} ({', '.join(copy.given)}) must be set "
            f"in the exercise once, as 'name = value'; found: {', '.join(found) or 'none'}"
        )
    for cell in code_cells:
        _name_variation(cell, exercise.id, code)


def _reletter(cell: NotebookNode, letters: Mapping[str, str]) -> bool:
    """Write the list of options in the order and with the letters of a variation."""
    lines = cell.source.split("\n")
    starts = [n for n, line in enumerate(lines) if _ITEM.match(line)]
    if cell.cell_type != "markdown" or [_ITEM.match(lines[n])[1] for n in starts] != list(letters):  # type: ignore[index]
        return False
    end = starts[-1] + 1
    while end < len(lines) and (lines[end].startswith("  ") or not lines[end].strip()):
        end += 1
    items = {}
    for first, last in zip(starts, [*starts[1:], end], strict=True):
        old = _ITEM.match(lines[first])[1]  # type: ignore[index]
        new = letters[old]
        text = "\n".join(lines[first:last]).rstrip()
        items[new] = text.replace(f"**{old}**", f"**{new}**", 1)
    loose = any(not line.strip() for line in lines[starts[0] : starts[-1]])
    block = ("\n\n" if loose else "\n").join(items[letter] for letter in sorted(items))
    rest = lines[end:]
    cell.source = "\n".join([*lines[: starts[0]], block, *([""] if rest else []), *rest])
    return True


def _give(cell: NotebookNode, given: Mapping[str, object]) -> list[str]:
    """Set given values; return the names that the cell sets."""
    found, edits = [], []
    for node in _tree(cell).body:
        if not isinstance(node, ast.Assign):
            continue
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id in given:
            found.append(target.id)
            edits.append((_span(cell.source, node.value), repr(given[target.id])))
    cell.source = _edited(cell.source, edits)
    return found


def _name_variation(cell: NotebookNode, check: str, code: str) -> None:
    edits = []
    for node in ast.walk(_tree(cell)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check" and node.args:
            if getattr(node.args[0], "value", None) == check:
                end = _span(cell.source, node)[1] - 1
                edits.append(((end, end), f', variation="{code}"'))
    cell.source = _edited(cell.source, edits)


def _tree(cell: NotebookNode) -> ast.Module:
    try:
        return parsed(cell.source)
    except SyntaxError:  # a cell magic
        return ast.Module([], [])


def _span(source: str, node: ast.expr) -> tuple[int, int]:
    """Where a node stands in the UTF-8 bytes of the source."""
    starts = [0]
    for line in source.encode().split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    first, last = starts[node.lineno - 1], starts[(node.end_lineno or node.lineno) - 1]
    return first + node.col_offset, last + (node.end_col_offset or 0)


def _edited(source: str, edits: list[tuple[tuple[int, int], str]]) -> str:
    data = source.encode()
    for (first, last), new in sorted(edits, reverse=True):
        data = data[:first] + new.encode() + data[last:]
    return data.decode()
