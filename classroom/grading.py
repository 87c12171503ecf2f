"""From a plan to a result for every student and question.

A job that the store knows is not run again. The diagnosis happens here, outside the student's
process, on the arrays that were recorded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from attnkit import checks
from attnkit.checks._verdict import show
from classroom.assignment import Assignment, Question
from classroom.notes import notes
from classroom.planning import Graded, Plan, bank_of, unwritten
from classroom.protection import FAILURES
from classroom.reading import Read, clean
from classroom.results import Outcome, Store
from classroom.submissions import Submission
from classroom.worker import Job, Ran, Workers

LONGEST = 2000


# -------------------------------------------------------------------------------- with a run


def run(
    made: Plan,
    assignment: Assignment,
    store: Store,
    *,
    hide: Sequence[Path] = (),
    workers: Callable = Workers,
) -> tuple[dict[str, Outcome], int]:
    """Run the jobs that the store does not have; return all outcomes and how many were run."""
    keys = [key for jobs in made.jobs.values() for key in jobs]
    outcomes = store.known(keys)
    todo = {n: [j for k, j in jobs.items() if k not in outcomes] for n, jobs in made.jobs.items()}
    total = sum(map(len, todo.values()))
    at_once = max(1, min(os.cpu_count() or 1, 8))
    with tqdm(total=total, unit="answer", disable=None if total else True) as bar:
        for notebook, jobs in todo.items():
            if not jobs:
                continue
            bar.set_description(f"{notebook}, set-up")
            setup, bank = made.setups[notebook], bank_of(assignment)
            by_key = {job.key: job for job in jobs}
            with workers(setup, bank=bank, at_once=at_once, hide=hide) as started:
                bar.set_description(notebook)
                with closing(started.run(jobs)) as finished:
                    for ran in finished:
                        outcome = diagnosed(by_key[ran.key], ran)
                        if ran.status != "worker-failed":
                            store.put(ran.key, outcome, ran.arrays)
                        outcomes[ran.key] = outcome
                        bar.update()
    failed = Outcome("worker-failed", 0.0, "worker-failed", FAILURES["worker-failed"])
    return {key: outcomes.get(key, failed) for key in keys}, total


def diagnosed(job: Job, ran: Ran) -> Outcome:
    """What a finished job shows. Whatever the arrays hold, there is an outcome."""
    detail, seconds = clean(ran.detail)[:LONGEST], round(ran.seconds, 3)
    if ran.status != "recorded":
        if ran.status == "raised-outside" and detail.startswith("NotImplementedError"):
            said = checks.common_failures()["not-written-yet"]
            return Outcome(ran.status, seconds, "not-written-yet", said, line=ran.line)
        message = FAILURES[ran.status]
        return Outcome(ran.status, seconds, ran.status, message, detail=detail, line=ran.line)
    try:
        found = checks.diagnose(job.check, checks.from_bytes(ran.arrays), variation=job.variation)
    except Exception as error:  # bytes that a student's process has written may hold anything
        text = checks.common_failures()["unreadable-record"]
        detail = f"{type(error).__name__}: {clean(str(error))[:200]}"
        return Outcome(ran.status, seconds, "unreadable-record", text, detail=detail)
    return Outcome(
        ran.status, seconds, found.name, clean(found.message)[:LONGEST], found.passed,
        example=_texts(found.example), expected=_texts(found.expected), got=_texts(found.got),
        link=found.link, section=found.link_text,
    )  # fmt: skip


def _texts(values: Mapping[str, object]) -> list[list[str]]:
    return [
        [clean(str(name))[:200], clean(show(value))[:LONGEST]] for name, value in values.items()
    ]


def results(
    made: Plan, submissions: Sequence[Submission], assignment: Assignment, outcomes: Mapping
) -> list[Graded]:
    """A result for every student and question, in the order of the two."""
    settled = {(graded.student, graded.question.id): graded for graded in made.settled}
    found = []
    for submission in submissions:
        for question in assignment.questions:
            place = submission.student, question.id
            graded = settled.get(place)
            if graded is None:
                read = submission.notebooks[question.notebook]
                assert isinstance(read, Read)
                graded = _scored(submission.student, question, outcomes[made.waiting[place]], read)
            if graded.answers:
                graded = replace(graded, note=_note(graded, made.setups[question.notebook]))
            found.append(graded)
    return found


def _scored(student: str, question: Question, outcome: Outcome, read: Read) -> Graded:
    points = question.points if outcome.passed else 0.0
    unknown = outcome.name == "worker-failed"
    sources = tuple(read.answers[id][0] for id in question.answers)
    message = outcome.message
    if outcome.name == "not-written-yet" and (left := unwritten(question, read)):
        message = f"There is no answer yet in {', '.join(left)}: as it was handed out."
    return Graded(
        student, question, outcome.name, message, None if unknown else points, outcome,
        answers=sources,
    )  # fmt: skip


def _note(graded: Graded, setup: tuple[str, ...]) -> str:
    return "; ".join(notes(graded.answers, setup, graded.question.solutions))
