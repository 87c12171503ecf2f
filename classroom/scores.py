"""Points: a row for each student in grades.csv, for each question in grades-questions.csv."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from classroom.assignment import Assignment
from classroom.links import Sections
from classroom.planning import Graded
from classroom.submissions import Submission
from classroom.tables import write_table

STUDENT_COLUMNS = ("student", "total", "max", "percent", "checked", "open")
LAST_COLUMNS = ("needs a look", "notes")
QUESTION_COLUMNS = (
    "student", "question", "title", "notebook", "kind", "points", "max", "diagnosis", "message",
    "section", "section link", "note", "seconds",
)  # fmt: skip


def by_student(graded: Iterable[Graded]) -> Iterator[tuple[str, list[Graded]]]:
    """The results in one list for each student, in order."""
    lists: dict[str, list[Graded]] = {}
    for one in graded:
        lists.setdefault(one.student, []).append(one)
    return iter(lists.items())


def points(graded: Iterable[Graded]) -> float:
    """The points that are known."""
    return sum(one.points or 0.0 for one in graded)


def most(graded: Iterable[Graded]) -> float:
    """The points that can be had."""
    return sum(one.question.points for one in graded)


def complete(graded: Iterable[Graded]) -> bool:
    """Whether every question has its points."""
    return all(one.points is not None for one in graded)


def looks(submission: Submission, graded: Iterable[Graded]) -> list[str]:
    """What a person should look at; the trouble of a whole notebook is said once."""
    troubles = dict.fromkeys(
        f"{one.question.notebook}: {one.diagnosis}" if one.of_file
        else f"{one.question.id}: {one.diagnosis}"
        for one in graded if one.look
    )  # fmt: skip
    return [*submission.look, *troubles]


def write_students(
    path: Path, assignment: Assignment, submissions: Sequence[Submission], graded: list[Graded]
) -> None:
    """grades.csv: ``open`` and ``percent`` stay blank until every open answer has its points."""
    ids = [question.id for question in assignment.questions]
    of_student = dict(by_student(graded))
    rows = [_student(made, of_student.get(made.student, [])) for made in submissions]
    write_table(path, (*STUDENT_COLUMNS, *ids, *LAST_COLUMNS), rows)


def _student(submission: Submission, results: list[Graded]) -> dict[str, object]:
    read = [one for one in results if one.question.kind == "open"]
    checked = [one for one in results if one.question.kind != "open"]
    total, possible = points(results), most(results)
    share = round(100 * total / possible, 1) if possible else None
    return {
        **{one.question.id: one.points for one in results},
        "student": submission.student,
        "total": total,
        "max": possible,
        "percent": share if complete(results) else None,
        "checked": points(checked) if complete(checked) else None,
        "open": points(read) if read and complete(read) else None,
        "needs a look": "; ".join(looks(submission, results)),
        "notes": "; ".join(submission.notes),
    }


def write_questions(path: Path, graded: Iterable[Graded], sections: Sections) -> None:
    """grades-questions.csv: what ``report`` reads."""
    write_table(path, QUESTION_COLUMNS, (_question(one, sections) for one in graded))


def _question(one: Graded, sections: Sections) -> dict[str, object]:
    section = sections.of(one)
    return {
        "student": one.student,
        "question": one.question.id,
        "title": one.question.title,
        "notebook": one.question.notebook,
        "kind": one.question.kind,
        "points": one.points,
        "max": one.question.points,
        "diagnosis": one.diagnosis,
        "message": one.says,
        "section": section.title,
        "section link": section.address or section.label,
        "note": one.note,
        "seconds": one.outcome.seconds if one.outcome else None,
    }


def questions_path(path: Path) -> Path:
    """The table of questions that belongs to a table of grades."""
    return path.with_name(f"{path.stem}-questions{path.suffix}")
