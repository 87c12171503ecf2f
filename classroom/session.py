"""One call of ``grade``: from the folder of submissions to the tables and pages."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import attnkit
from classroom.assignment import ClassroomError, load
from classroom.feedback import write_feedback
from classroom.grading import results, run
from classroom.links import Sections
from classroom.pages import many
from classroom.planning import Graded, plan
from classroom.results import STORE, Store, locked
from classroom.rubric import Form, fill, read_by_a_person
from classroom.rubric_page import rubric_page
from classroom.scores import by_student, looks, questions_path, write_questions, write_students
from classroom.submissions import Submission, find
from classroom.tables import write_file
from classroom.worker import Workers

SUFFIX = ".csv"


@dataclass(frozen=True)
class Grading:
    """What came of a call: for the summary at its end, and for tests."""

    submissions: Sequence[Submission]
    graded: Sequence[Graded]
    form: Form
    runs: int
    files: Sequence[Path]

    @property
    def diagnoses(self) -> Counter[str]:
        """How many answers have each diagnosis."""
        return Counter(one.diagnosis for one in self.graded)

    @property
    def look(self) -> list[str]:
        """What needs a look, a line for each submission, and what the form holds that cannot be."""
        of_student = dict(by_student(self.graded))
        found = [(s.student, looks(s, of_student.get(s.student, []))) for s in self.submissions]
        lines = [f"{name}: {'; '.join(said)}" for name, said in found if said]
        return [*self._ours(), *lines, *self.form.problems]

    def _ours(self) -> list[str]:
        """What our own process failed on, for each reason."""
        failed = Counter(one.says for one in self.graded if one.diagnosis == "worker-failed")
        return [f"{many(count, 'answer')}: {reason}" for reason, count in failed.items()]


def grade(
    submissions: Path,
    assignment: Path,
    to: Path,
    *,
    book: str = "",
    workers: Callable = Workers,
) -> Grading:
    """Grade every submission and write the tables and pages; see ``python -m classroom grade``.

    Raises:
        ClassroomError: for a wrong place or file; what was stored until then stays.
    """
    _check_places(submissions, to)
    asked = load(assignment)
    sections = Sections(asked, book)
    with locked(to.parent / STORE):
        store = Store(to.parent / STORE)
        _claim(to.parent / STORE / "assignment", asked.name, assignment.resolve())
        handed_in = find(submissions, asked)
        made = plan(handed_in, asked)
        hide = hidden(submissions, assignment, to)
        outcomes, runs = run(made, asked, store, hide=hide, workers=workers)
        found = results(made, handed_in, asked, outcomes)
        files, form = [to, questions_path(to), to.parent / "feedback"], Form()
        if any(question.kind == "open" for question in asked.questions):
            rubric = to.parent / "rubric.csv"
            form = fill(rubric, found)
            found = read_by_a_person(found, form)
            write_file(rubric.with_suffix(".html"), rubric_page(asked, found, form))
            files += [rubric, rubric.with_suffix(".html")]
        write_students(to, asked, handed_in, found)
        write_questions(questions_path(to), found, sections)
        write_feedback(to.parent / "feedback", asked, found, form, sections)
    return Grading(handed_in, found, form, runs, files)


def hidden(submissions: Path, assignment: Path, to: Path) -> list[Path]:
    """What no answer may read: other submissions, solutions, results. Not a folder with Python or
    attnkit in it, which an answer needs: ``--to grades.csv`` may be called from anywhere."""
    ours = (STORE, "feedback", "rubric.csv", "rubric.html", to.name, questions_path(to).name)
    paths = [submissions, assignment, *(to.parent / name for name in ours)]
    needed = [Path(attnkit.__file__).parent, Path(sys.prefix), Path(sys.base_prefix)]
    needed += [path.resolve() for path in needed]
    shown = {place for path in needed for place in (path, *path.parents)}
    return [path for path in (p.resolve() for p in paths) if path not in shown]


def _claim(path: Path, name: str, folder: Path) -> None:
    """Keep the results of two assignments apart: form and pages have the same names for both."""
    mine = f"{name}, {folder}"
    if path.exists() and (other := path.read_text("utf-8").strip()) != mine:
        raise ClassroomError(
            f"{path.parent.parent} holds the results of another assignment, {other}: name another "
            "folder with --to, so that its form and pages are not overwritten. If it is the same "
            f"assignment, moved to another place, delete {path}"
        )
    write_file(path, f"{mine}\n")


def _check_places(submissions: Path, to: Path) -> None:
    if to.suffix.lower() != SUFFIX or to.is_dir():
        raise ClassroomError(f"--to {to}: the name of a table is expected, such as grades.csv")
    if to.name.lower() in ("rubric.csv",):
        raise ClassroomError(f"--to {to}: that is the name of the form; take another, grades.csv")
    here, there = to.parent.resolve(), submissions.resolve()
    if here == there or there in here.parents:
        raise ClassroomError(
            f"--to {to} lies among the submissions; name a place beside them, so that no result is "
            "taken for a submission"
        )
