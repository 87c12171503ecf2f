"""What a class got right and which misconceptions it has, counted from the tables of grade.

No name of a student goes into a :class:`Report`.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnkit import checks
from classroom.assignment import ClassroomError
from classroom.protection import FAILURES
from classroom.reading import TROUBLES
from classroom.scores import QUESTION_COLUMNS, STUDENT_COLUMNS, questions_path
from classroom.tables import read_table

Row = dict[str, str]
#: What is worth a part of the next class: so many students at least, and such a share of them.
ENOUGH, SHARE = 2, 0.1
SMALL_CLASS = 10
NOTHING = {"not-written-yet", *TROUBLES}


@dataclass(frozen=True)
class Mistake:
    """A diagnosis and how many have it; ``named`` when it is a misconception."""

    name: str
    count: int
    message: str
    section: str
    address: str
    named: bool


@dataclass(frozen=True)
class QuestionReport:
    """How a question went. ``nothing``: answers that are missing or could not be read; for an
    open question ``right`` counts full points and ``unread`` those that nobody has read."""

    id: str
    title: str
    open: bool
    students: int
    right: int
    partly: int
    unread: int
    nothing: int
    mean: float | None
    most: float
    mistakes: tuple[Mistake, ...]


@dataclass(frozen=True)
class Report:
    """A class: how many, their totals as shares of the maximum, and its questions."""

    students: int
    empty: int
    shares: tuple[float, ...]
    most: float
    mean: float
    median: float
    unread: int
    look: int
    questions: tuple[QuestionReport, ...]

    @property
    def misconceptions(self) -> list[tuple[QuestionReport, Mistake]]:
        """Those that have a name, the most frequent first."""
        pairs = [(q, m) for q in self.questions for m in q.mistakes if m.named]
        return sorted(pairs, key=lambda pair: -pair[1].count)

    @property
    def worth_talking_about(self) -> list[tuple[QuestionReport, Mistake]]:
        """The three most frequent of those that are no single student's."""
        here = self.students - self.empty
        enough = max(ENOUGH, SHARE * here)
        return [pair for pair in self.misconceptions if pair[1].count >= enough][:3]

    @property
    def hardest(self) -> list[QuestionReport]:
        """Questions whose points are all known, the lowest mean share first."""
        known = [q for q in self.questions if q.mean is not None and q.most and not q.unread]
        return sorted(known, key=lambda q: (q.mean or 0) / q.most)


def read_report(path: Path) -> Report:
    """Count what grade wrote.

    Raises:
        ClassroomError: when one of the two tables is missing or is not one of ours.
    """
    grades = read_table(path, STUDENT_COLUMNS, "grade").rows
    beside = questions_path(path)
    if not beside.exists():
        raise ClassroomError(
            f"{beside} is not there: grade writes it beside {path.name}, and report reads both."
        )
    rows = read_table(beside, QUESTION_COLUMNS, "grade").rows
    if not grades or not rows:
        raise ClassroomError(f"{path} holds no students: is it the table that grade wrote?")
    of_student: dict[str, list[Row]] = {}
    of_question: dict[str, list[Row]] = {}
    for row in rows:
        of_student.setdefault(row["student"], []).append(row)
        of_question.setdefault(row["question"], []).append(row)
    empty = {s for s, own in of_student.items() if all(r["diagnosis"] == "empty" for r in own)}
    here = [row for row in grades if row["student"] not in empty]
    totals = [as_number(row["total"], path) or 0.0 for row in here]
    most = max((as_number(row["max"], path) or 0.0 for row in grades), default=0.0)
    questions = tuple(
        _question(id, [row for row in own if row["student"] not in empty], own[0], beside)
        for id, own in of_question.items()
    )
    return Report(
        len(grades), len(empty), tuple(t / most if most else 0.0 for t in totals), most,
        statistics.fmean(totals or [0.0]), statistics.median(totals or [0.0]),
        sum(q.unread for q in questions), sum(bool(row.get("needs a look")) for row in grades),
        questions,
    )  # fmt: skip


def as_number(text: str, path: Path) -> float | None:
    """A number as a spreadsheet may have saved it; None for a blank."""
    try:
        return float(text.replace(",", ".")) if text.strip() else None
    except ValueError:
        raise ClassroomError(f"{path}: {text!r} stands where a number is expected.") from None


def _question(id: str, rows: Sequence[Row], one: Row, path: Path) -> QuestionReport:
    is_open = one["kind"] == "open"
    points = [as_number(row["points"], path) for row in rows]
    known = [value for value in points if value is not None]
    most = as_number(one["max"], path) or 0.0
    diagnoses = Counter(row["diagnosis"] for row in rows)
    right, partly = diagnoses["right"], 0
    if is_open:
        read = [p for p, row in zip(points, rows, strict=True) if row["diagnosis"] == "read"]
        right = sum(value == most for value in read)
        partly = len(read) - right
    return QuestionReport(
        id, one["title"], is_open, len(rows), right, partly, diagnoses["not-read-yet"],
        sum(diagnoses[name] for name in NOTHING), statistics.fmean(known) if known else None, most,
        tuple(_mistakes(rows, diagnoses)),
    )  # fmt: skip


def _mistakes(rows: Iterable[Row], diagnoses: Counter) -> list[Mistake]:
    """Every diagnosis of an answer that was there and is wrong, the most frequent first."""
    first = {row["diagnosis"]: row for row in reversed(list(rows))}
    general = {*checks.common_failures(), *FAILURES}
    fine = {"right", "read", "not-read-yet", *NOTHING}
    return [
        Mistake(name, count, _message(first[name], name in general), first[name]["section"],
                first[name]["section link"], name not in general)
        for name, count in sorted(diagnoses.items(), key=lambda item: (-item[1], item[0]))
        if name not in fine
    ]  # fmt: skip


def _message(row: Row, general: bool) -> str:
    """The message of a misconception; that of another failure quotes one student's answer."""
    return FAILURES.get(row["diagnosis"], "") if general else row["message"]
