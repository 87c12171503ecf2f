"""The form for open answers: ``rubric.csv``, a row for each student, open question and criterion.

A person fills in ``points`` and ``comment``. Both are read again at every run and written back as
they stand, in whatever order the rows were, whoever has come or gone meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from classroom.assignment import Criterion, Question
from classroom.planning import Graded
from classroom.tables import Table, number, read_table, safe, write_table

COLUMNS = ("question", "student", "criterion", "for", "max", "points", "comment", "answer")
#: What must be there to know which row is whose.
NEEDED = ("question", "student", "for", "points", "comment")
#: What is ours to write; the rest is the instructor's.
OURS = ("question", "student", "criterion", "for", "max", "answer")
Key = tuple[str, str, str, int]


@dataclass(frozen=True)
class Mark:
    """One criterion for one answer; ``points`` is None while nobody has given any."""

    criterion: Criterion
    points: float | None = None
    comment: str = ""


@dataclass
class Form:
    """All marks by (student, question id); where each answer's rows begin in the file; and what
    in the file cannot be used."""

    marks: dict[tuple[str, str], list[Mark]] = field(default_factory=dict)
    lines: dict[tuple[str, str], int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def criteria(question: Question) -> tuple[Criterion, ...]:
    """The criteria of an open question; one for everything when it has none."""
    return question.rubric or (Criterion(question.points, "The answer as a whole"),)


def fill(path: Path, graded: Sequence[Graded]) -> Form:
    """Read the form where there is one, add the rows that it lacks, write it back.

    Raises:
        ClassroomError: when the file is no form; it is then left as it is.
    """
    table = read_table(path, NEEDED, "grade") if path.exists() else Table([], COLUMNS)
    form = Form()
    filled = _by_key(table.rows, form)
    rows: list[Mapping[str, object]] = []
    answers = [one for one in graded if one.question.kind == "open"]
    order = {question.id: place for place, question in enumerate(_questions(answers))}
    for one in sorted(answers, key=lambda one: order[one.question.id]):
        place = one.student, one.question.id
        form.lines[place] = len(rows) + 2
        form.marks[place] = []
        for index, (key, criterion) in enumerate(_keys(one)):
            line, old = filled.pop(key, (0, {}))
            points = _points(old.get("points", ""), criterion, line, form)
            comment = old.get("comment", "").strip()
            form.marks[place].append(Mark(criterion, points, comment))
            rows.append({**old, **_row(one, index, criterion)})
    left = [row for line, row in filled.values() if row["points"].strip() or row["comment"].strip()]
    if left:
        form.problems.append(
            f"rubric.csv: {len(left)} filled rows belong to no answer here (first: "
            f"{left[0]['student']}, {left[0]['question']}); they are kept at the end, not counted"
        )
    columns = [*COLUMNS, *(c for c in table.columns if c not in COLUMNS)]
    typed = [column for column in columns if column not in OURS]
    write_table(path, columns, [*rows, *left], delimiter=table.delimiter, as_it_is=typed)
    return form


def _questions(graded: Iterable[Graded]) -> list[Question]:
    return list({one.question.id: one.question for one in graded}.values())


def _keys(one: Graded) -> Iterator[tuple[Key, Criterion]]:
    """The key of each criterion's row: by its words, and counted where the words are the same."""
    seen: dict[str, int] = {}
    for criterion in criteria(one.question):
        words = _words(criterion.text)
        seen[words] = seen.get(words, 0) + 1
        yield (_id(one.student), _words(one.question.id), words, seen[words]), criterion


def _by_key(rows: Iterable[Mapping[str, str]], form: Form) -> dict[Key, tuple[int, dict]]:
    found: dict[Key, tuple[int, dict]] = {}
    counts: dict[tuple[str, str, str], int] = {}
    for line, row in enumerate(rows, start=2):
        of = _id(row["student"]), _words(row["question"]), _words(row["for"])
        if any(of):
            counts[of] = counts.get(of, 0) + 1
            found[(*of, counts[of])] = (line, {"points": "", "comment": "", **row})
    return found


def _words(text: str) -> str:
    """What stays of a text when it has been through a spreadsheet."""
    return " ".join(safe(text).lstrip("'").split())


def _id(student: str) -> str:
    """A student's id; a spreadsheet takes 007 for a number and saves 7."""
    words = _words(student)
    return words.lstrip("0") if words.isdigit() else words


def _row(one: Graded, index: int, criterion: Criterion) -> dict[str, object]:
    state = "to read" if one.diagnosis == "not-read-yet" else one.diagnosis
    return {
        "question": one.question.id, "student": one.student, "criterion": index + 1,
        "for": criterion.text, "max": criterion.points, "answer": state,
    }  # fmt: skip


def _points(text: str, criterion: Criterion, line: int, form: Form) -> float | None:
    """The number that a person wrote, with a decimal point or comma; None for none."""
    text = text.strip().lstrip("'")
    if not text:
        return None
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = math.nan
    if 0 <= points <= criterion.points:
        return points
    form.problems.append(
        f"rubric.csv, row {line}: points {text!r} for {criterion.text[:60]!r}: a number from 0 to "
        f"{number(criterion.points)} is expected; not counted"
    )
    return None


def read_by_a_person(graded: Iterable[Graded], form: Form) -> list[Graded]:
    """The results with the points of the form. An answer without any text has 0 until somebody
    gives it more; the others have none until every criterion has a number."""
    return [_read(one, form) if one.question.kind == "open" else one for one in graded]


def _read(one: Graded, form: Form) -> Graded:
    marks = form.marks[one.student, one.question.id]
    given = [mark.points for mark in marks if mark.points is not None]
    if len(given) < len(marks):
        return one
    most = sum(mark.criterion.points for mark in marks)
    points = one.question.points * sum(given) / most if most else 0.0
    return replace(one, points=points, diagnosis="read", message="A person has read it.")
