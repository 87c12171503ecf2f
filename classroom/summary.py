"""What ``grade`` prints when it is done."""

from __future__ import annotations

from collections.abc import Iterator

from classroom import protection
from classroom.pages import many
from classroom.session import Grading

MOST_LINES = 30


def summary(done: Grading) -> str:
    """Counts, places, what needs a look, and what guarded this machine."""
    return "\n".join([*_counts(done), *_places(done), *_look(done), "", protection.report()])


def _counts(done: Grading) -> Iterator[str]:
    counted = done.diagnoses
    checked = [one for one in done.graded if one.question.kind != "open"]
    read = [one for one in done.graded if one.question.kind == "open"]
    yield (
        f"{many(len(done.submissions), 'student')}: {many(len(checked), 'answer')} checked, "
        f"{counted['right']} right, {counted['not-written-yet']} not written; "
        f"{many(done.runs, 'answer')} run now, the others known."
    )
    if read:
        waiting = counted["not-read-yet"]
        yield f"Open answers: {waiting} of {len(read)} wait to be read (rubric.html, rubric.csv)."


def _places(done: Grading) -> Iterator[str]:
    yield "Written:"
    yield from (f"  {path}" for path in done.files)


def _look(done: Grading) -> Iterator[str]:
    lines = done.look
    if lines:
        yield f"{len(lines)} {'needs' if len(lines) == 1 else 'need'} a look:"
        yield from (f"  {line}" for line in lines[:MOST_LINES])
        if len(lines) > MOST_LINES:
            yield f"  and {len(lines) - MOST_LINES} more: see grades.csv"
