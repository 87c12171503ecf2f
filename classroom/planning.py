"""What is to be run for a class, and what is known without running anything.

A stub, a missing cell and a file that cannot be read are settled here. Everything else becomes a
job, one for all who gave the same answer to the same data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attnkit import checks
from classroom.assignment import Assignment, ClassroomError, Question
from classroom.reading import LONGEST_ANSWER, TROUBLES, Read, Trouble, trouble, written
from classroom.results import Outcome, code_version, key_of
from classroom.submissions import Submission
from classroom.variation import given_source
from classroom.worker import Job, Limits

OF_CELLS = {"missing-cell", "duplicated-cell", "too-long", "not-written-yet"}
#: Diagnoses that a person should look at: perhaps it is not the answer that is wrong.
LOOK = {"worker-failed", "no-record", "ended-the-process", "unreadable-record", "missing-cell",
        "duplicated-cell", "unreadable", "too-large", "not-json", "not-a-notebook", "wrong-kernel",
        "other-assignment", "two-files", "too-long"}  # fmt: skip


@dataclass(frozen=True)
class Graded:
    """One question of one student. ``points`` is None while it is not known: an open answer that
    nobody has read, or a job that our own process failed on."""

    student: str
    question: Question
    diagnosis: str
    message: str
    points: float | None
    outcome: Outcome | None = None
    note: str = ""
    answers: tuple[str, ...] = ()

    @property
    def look(self) -> bool:
        """Whether a person should look at it."""
        return self.diagnosis in LOOK

    @property
    def of_file(self) -> bool:
        """Whether it is the trouble of a whole notebook."""
        return self.diagnosis in TROUBLES and self.diagnosis not in OF_CELLS

    @property
    def says(self) -> str:
        """The message, with what Python said of an answer that did not run."""
        outcome = self.outcome
        if outcome is None or not outcome.detail:
            return self.message
        if self.diagnosis == "name-not-defined":
            return f"{self.message} The name is {outcome.detail}."
        line = f" (line {outcome.line})" if outcome.line else ""
        return f"{self.message} What was said{line}: {outcome.detail}"


@dataclass(frozen=True)
class Plan:
    """What is to be run, by key, for each notebook, and what each student's question waits for."""

    jobs: Mapping[str, Mapping[str, Job]]
    waiting: Mapping[tuple[str, str], str]
    settled: Sequence[Graded]
    setups: Mapping[str, tuple[str, ...]]


def plan(submissions: Iterable[Submission], assignment: Assignment) -> Plan:
    """Settle what needs no run and collect the jobs of the rest.

    Raises:
        ClassroomError: when the set-up cells are missing, or a check is unknown here.
    """
    bank = bank_of(assignment)
    known = _known_checks(bank)
    version = code_version(bank)
    setups = {n.file: setup_cells(assignment, n.file, n.setup) for n in assignment.notebooks}
    for question in assignment.questions:
        if question.check and question.check not in known:
            raise ClassroomError(
                f"questions.json asks for the check {question.check!r}, which this attnkit does "
                "not know. Was the assignment made by another version? Then run assign again."
            )
    jobs: dict[str, dict[str, Job]] = {n.file: {} for n in assignment.notebooks}
    waiting: dict[tuple[str, str], str] = {}
    settled = []
    for submission in submissions:
        for question in assignment.questions:
            graded = _without_a_run(submission, question)
            if graded is None:
                read = submission.notebooks[question.notebook]
                assert isinstance(read, Read)
                own = given_source(question.check, submission.variation)
                answers = (read.answers[id][0] for id in question.answers)
                sources = (*([own] if own else []), *answers)
                said = (question.check, submission.variation, sources, question.expression)
                key = key_of(*said, setups[question.notebook], list(Limits()), version)
                jobs[question.notebook][key] = Job(key, *said)
                waiting[submission.student, question.id] = key
            else:
                settled.append(graded)
    return Plan(jobs, waiting, settled, setups)


def bank_of(assignment: Assignment) -> Path | None:
    """The folder of the assignment's own questions."""
    return (assignment.folder / assignment.bank) if assignment.bank else None


def _known_checks(bank: Path | None) -> set[str]:
    if bank is not None:
        try:
            checks.load_bank(bank)
        except (OSError, ValueError) as error:
            raise ClassroomError(f"the questions of {bank} cannot be loaded: {error}") from None
    return set(checks.exercise_ids())


def setup_cells(assignment: Assignment, notebook: str, ids: Sequence[str]) -> tuple[str, ...]:
    """The sources that are run before any answer: from the instructor's copy, never the student's.

    Raises:
        ClassroomError: when the copy cannot be read or one of its cells is not there.
    """
    path = assignment.folder / "instructor" / notebook
    try:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        by_id = {cell["id"]: cell for cell in cells}
        sources = [by_id[id]["source"] for id in ids if not _meant_to_fail(by_id[id])]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClassroomError(
            f"{path} lacks the set-up cells of the assignment ({error!r}): run assign again."
        ) from None
    return tuple("".join(source) for source in sources)


def _meant_to_fail(cell: dict) -> bool:
    """Whether a cell shows an error: a student's notebook goes on behind it, and so do we."""
    return "raises-exception" in cell["metadata"].get("tags", [])


# ------------------------------------------------------------------------------ without a run


def _without_a_run(submission: Submission, question: Question) -> Graded | None:
    """What is known from the notebook alone; None when the answer has to be run."""
    read = submission.notebooks[question.notebook]
    if isinstance(read, Trouble):
        return _settled(submission, question, read)
    missing = [id for id in question.answers if id not in read.answers]
    if missing:
        return _settled(submission, question, trouble("missing-cell", ids=", ".join(missing)))
    for id in question.answers:
        if len(read.answers[id]) > 1:
            found = trouble("duplicated-cell", ids=id, count=len(read.answers[id]))
            return _settled(submission, question, found)
    sources = tuple(read.answers[id][0] for id in question.answers)
    if (count := sum(map(len, sources))) > LONGEST_ANSWER:
        found = trouble("too-long", count=f"{count:,}", limit=f"{LONGEST_ANSWER:,}")
        return _settled(submission, question, found)
    if len(unwritten(question, read)) == len(question.answers):
        return replace(_settled(submission, question, trouble("not-written-yet")), answers=sources)
    if question.kind == "open":
        text = "A person reads this answer; its points follow."
        return Graded(submission.student, question, "not-read-yet", text, None, answers=sources)
    return None


def unwritten(question: Question, read: Read) -> list[str]:
    """The answer cells that are as they were handed out, or blank."""
    stubs = dict(zip(question.answers, question.stubs, strict=False))
    return [id for id in question.answers if not written(read.answers[id][0], stubs.get(id, ""))]


def _settled(submission: Submission, question: Question, why: Trouble) -> Graded:
    return Graded(submission.student, question, why.name, why.message, 0.0)
