"""Write an assignment folder: into a new or empty one, or over the same assignment."""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from attnkit import checks
from classroom.assignment import QUESTIONS, Assignment, ClassroomError, Question, load
from classroom.bank import Bank
from classroom.handout import handout
from classroom.notebooks import student_copy, text
from classroom.variation import folder_of

#: Where the checks of a bank lie in the folder, so that grading needs nothing from elsewhere.
BANK = "bank"
COLUMNS = ("student", "folder", "variation", "notebook", "question", "data", "answer")


@dataclass(frozen=True)
class Sources:
    """What an assignment is made from: instructor's notebooks by name, and exercises by id."""

    notebooks: Mapping[str, NotebookNode]
    known: Mapping[str, Any]
    bank: Bank


def may_write(made: Assignment, root: Path) -> Assignment:
    """The assignment as it is to be written, with what was changed by hand in an earlier one.

    Raises:
        ClassroomError: unless the folder is new, empty, or holds the same assignment.
    """
    folder = made.folder
    if (root / "_build" / "html").resolve() in [folder.resolve(), *folder.resolve().parents]:
        raise ClassroomError(f"{folder} is published with the book, and solutions would be too")
    if folder.exists() and not folder.is_dir():
        raise ClassroomError(f"{folder} is a file; name a folder")
    if not folder.exists() or not any(folder.iterdir()):
        return made
    if not (folder / QUESTIONS).is_file():
        raise ClassroomError(f"{folder} holds other things; name a new or an empty folder")
    old = load(folder)
    if old.name != made.name:
        raise ClassroomError(
            f"{folder} is the assignment {old.name!r}, not {made.name!r}; name another folder"
        )
    if bool(old.variations) != bool(made.variations):
        ways = ("one copy for all", "a copy for each student (--seed-from)")
        raise ClassroomError(
            f"{folder} was made with {ways[bool(old.variations)]}, this would be with "
            f"{ways[bool(made.variations)]}; name another folder"
        )
    before = {question.id: question for question in old.questions}
    asked = tuple(_with_points(question, before.get(question.id)) for question in made.questions)
    return replace(made, questions=asked, variations={**old.variations, **made.variations})


def _with_points(new: Question, old: Question | None) -> Question:
    """A question with the points that stand in questions.json, if it is still the same."""
    if old is None or (old.kind, old.check) != (new.kind, new.check):
        return new
    return replace(new, points=old.points, rubric=old.rubric)


def write(made: Assignment, sources: Sources) -> None:
    """Write everything. questions.json comes first: a run that was cut off can be made again.

    Raises:
        ClassroomError: when the text of an exercise cannot be varied, or the disk says no.
    """
    students: dict[str, str] = made.variations or {"": ""}
    for code in list(students.values())[:1]:  # before anything is written
        list(_copies(made, sources, "", code))
    try:
        made.folder.mkdir(parents=True, exist_ok=True)
        made.save()
        for name, notebook in sources.notebooks.items():
            _put(made.folder / "instructor" / f"{name}.ipynb", text(notebook))
        for student, code in students.items():
            place = made.folder / "student" / (folder_of(student) if student else "")
            for file, notebook in _copies(made, sources, student, code):
                _put(place / file, text(notebook))
        _put(made.folder / "handout.html", handout(made, sources.notebooks, sources.known))
        if made.variations:
            _put(made.folder / "answers.csv", _answers(made, sources))
        if made.bank:
            _copy_checks(sources.bank, made.folder / made.bank)
    except OSError as error:
        raise ClassroomError(f"{made.folder} cannot be written: {error}") from None


def _copies(
    made: Assignment, sources: Sources, student: str, code: str
) -> Iterator[tuple[str, NotebookNode]]:
    for name, notebook in sources.notebooks.items():
        private = sources.bank.exercises if name in sources.bank.notebooks else ()
        asked = list(made.of(f"{name}.ipynb"))
        yield (
            f"{name}.ipynb",
            student_copy(
                notebook, asked, sources.known,
                assignment=made.name, private=private, student=student, code=code,
            ),
        )  # fmt: skip


def _copy_checks(bank: Bank, to: Path) -> None:
    to.mkdir(parents=True, exist_ok=True)
    for path in to.glob("*.py"):
        path.unlink()
    for path in sorted(bank.folder.glob("*.py")):
        shutil.copyfile(path, to / path.name)


def _answers(made: Assignment, sources: Sources) -> str:
    """A line for each student and each question whose data vary: what they got, and the answer."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for student, code in made.variations.items():
        for question in made.questions:
            exercise = sources.known.get(question.check)
            copy = exercise.varied(code) if exercise else None
            if copy is None or copy is exercise:
                continue
            row = (student, folder_of(student), code, question.notebook, question.id, *_key(copy))
            table.writerow(map(_cell, row))
    return out.getvalue()


def _key(exercise: Any) -> tuple[str, str]:
    """The data of a copy and its answer, in words."""
    if isinstance(exercise, checks.ChoiceExercise):
        data = " ".join(f"{old}→{new}" for old, new in exercise.letters.items())
        return data, " ".join(sorted(exercise.key))
    data = ", ".join(f"{name} = {value!r}" for name, value in exercise.given.items())
    if isinstance(exercise, checks.NumbersExercise):
        return data, _rounded(exercise.right(**exercise.given))
    return data, ""


def _rounded(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_rounded(one)}" for name, one in value.items())
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0):
        return "(" + ", ".join(map(_rounded, value)) + ")"
    return f"{float(value):.8g}"  # 15002 and not 1.5e+04


def _cell(value: str) -> str:
    """Text that a spreadsheet takes for no formula; a negative number is none."""
    formula = value[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{value}" if formula and not re.fullmatch(r"-\d+(\.\d+)?", value) else value


def _put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", newline="\n")
