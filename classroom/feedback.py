"""The page that a student gets: points, and for each question what was found and where to read on.

Nothing on it comes from another student, and no solution or criterion does.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from classroom.assignment import Assignment
from classroom.links import Sections
from classroom.pages import link, page, text
from classroom.planning import Graded
from classroom.rubric import Form
from classroom.scores import by_student, complete, most, points
from classroom.tables import number, write_file

RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?$")


def file_names(students: Iterable[str]) -> dict[str, str]:
    """A file name for each student that is safe on every system and nobody else's.

    >>> file_names(["Li Wei", "../x"])["Li Wei"]
    'Li Wei.html'
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for student in students:
        stem = re.sub(r"[^\w @.,()-]", "_", student).strip(" .")[:80]
        altered = stem != student or bool(RESERVED.match(stem))
        if altered or not stem or stem.casefold() in taken:
            stem = f"{stem or 'student'}-{hashlib.sha256(student.encode()).hexdigest()[:8]}"
        if RESERVED.match(stem):
            stem = f"student-{stem}"
        taken.add(stem.casefold())
        names[student] = f"{stem}.html"
    return names


def write_feedback(
    folder: Path, assignment: Assignment, graded: Sequence[Graded], form: Form, sections: Sections
) -> list[Path]:
    """Write a page for every student and say where they are."""
    of_student = dict(by_student(graded))
    names = file_names(of_student)
    for student, results in of_student.items():
        html = feedback(student, assignment, results, form, sections)
        write_file(folder / names[student], html)
    return [folder / name for name in names.values()]


def feedback(
    student: str, assignment: Assignment, results: Sequence[Graded], form: Form, sections: Sections
) -> str:
    """One student's page."""
    top = (
        f'<p class="over">Feedback · {text(assignment.name)}</p>\n<h1>{text(student)}</h1>\n'
        + _total(results)
    )
    parts = []
    for notebook in assignment.notebooks:
        here = [one for one in results if one.question.notebook == notebook.file]
        shut = here and all(one.of_file for one in here)
        cards = _shut(here) if shut else "\n".join(_card(one, form, sections) for one in here)
        parts.append(f"<section>\n<h2>{text(notebook.title)}</h2>\n{cards}\n</section>")
    foot = (
        "<p>A check looks at what an answer gives on several inputs. “Not yet” names the mistake "
        "that gives the same results; the smallest input that shows it stands below the message. "
        "Points are for the answer as a whole.</p>"
    )
    return page(f"Feedback for {student}", top, "\n".join(parts), foot)


def _total(results: Sequence[Graded]) -> str:
    got, possible = points(results), most(results)
    share = 100 * got / possible if possible else 0
    waiting = [one for one in results if one.points is None]
    still = sum(one.question.points for one in waiting)
    more = "" if complete(results) else (
        f'<p class="quiet">So far: answers for {number(still)} points have not been read yet.</p>'
    )  # fmt: skip
    return (
        f'<p class="total points">{number(got)} of {number(possible)} points</p>\n'
        f'<div class="bar" aria-hidden="true"><span style="width:{share:.1f}%"></span></div>\n'
        f"<p>{_counts(results)}</p>{more}"
    )


def _counts(results: Sequence[Graded]) -> str:
    """How the questions went, in one line."""
    groups = {"right": "right", "read": "read by a person", "not-written-yet": "not written yet",
              "not-read-yet": "not read yet", "worker-failed": "not graded yet"}  # fmt: skip
    other = {True: "not graded", False: "not yet right"}
    counts = Counter(groups.get(one.diagnosis, other[one.of_file]) for one in results)
    order = ("right", "not yet right", *list(groups.values())[1:], "not graded")
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])


def _shut(here: Sequence[Graded]) -> str:
    """The trouble of a whole notebook, once for all its questions."""
    kind, state = state_of(here[0])
    items = "".join(
        f"<li>{text(one.question.title)}: 0 of {number(one.question.points)}</li>" for one in here
    )
    return (
        f'<article class="card {kind}">\n<p class="state">{state}</p>\n'
        f"<p>{text(here[0].says)}</p>\n<ul>{items}</ul>\n</article>"
    )


def _card(one: Graded, form: Form, sections: Sections) -> str:
    kind, state = state_of(one)
    got = "–" if one.points is None else number(one.points)
    section = sections.of(one)
    read_on = ""
    if section.title:
        read_on = f"<p>Read again: {link(section.address, section.title)}</p>"
    return (
        f'<article class="card {kind}">\n<div class="head"><h3>{text(one.question.title)}</h3>'
        f'<span class="points">{got} of {number(one.question.points)}</span></div>\n'
        f'<p class="state">{state}</p>\n<p>{text(one.says)}</p>\n{_evidence(one)}'
        f'{_comments(one, form)}{read_on}\n<p class="quiet small">Question '
        f"<code>{text(one.question.id)}</code></p>\n</article>"
    )


def state_of(one: Graded) -> tuple[str, str]:
    """The look of a result and its headline as HTML."""
    name = f"<code>{text(one.diagnosis)}</code>"
    if one.diagnosis == "right":
        return "good", '<span aria-hidden="true">✓ </span>right'
    if one.diagnosis == "read":
        return "good" if one.points == one.question.points else "", "read by a person"
    if one.diagnosis == "not-read-yet":
        return "", "not read yet"
    if one.diagnosis == "worker-failed":
        return "", "not graded yet"
    words = "not graded" if one.of_file else "not yet"
    return "warn", f'<span aria-hidden="true">✗ </span>{words}: {name}'


def _evidence(one: Graded) -> str:
    """The smallest input on which the answer is wrong, what was expected there, what came."""
    if one.outcome is None:
        return ""
    parts = {"for": one.outcome.example, "expected": one.outcome.expected, "got": one.outcome.got}
    rows = "".join(
        f'<tr><th scope="row">{title} {text(name)}</th><td><pre>{text(value)}</pre></td></tr>'
        for title, values in parts.items()
        for name, value in values
    )
    caption = "<caption>The smallest input that shows it</caption>"
    return f'<table class="pairs">{caption}{rows}</table>\n' if rows else ""


def _comments(one: Graded, form: Form) -> str:
    marks = form.marks.get((one.student, one.question.id), [])
    items = "".join(
        f"<li>{_given(mark.points)}{number(mark.criterion.points)} points"
        + (f": {text(mark.comment)}" if mark.comment else "")
        + "</li>"
        for mark in marks
    )
    said = any(mark.comment or mark.points is not None for mark in marks)
    return f'<ol class="marks" aria-label="Criteria">{items}</ol>\n' if said else ""


def _given(given: float | None) -> str:
    return "not read yet, of " if given is None else f"{number(given)} of "
