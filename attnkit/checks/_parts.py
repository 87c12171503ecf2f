"""The three parts of the answer to an experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attnkit.checks import _failures
from attnkit.checks._read_numbers import is_missing
from attnkit.checks._recording import type_name
from attnkit.checks._verdict import Verdict

if TYPE_CHECKING:
    from attnkit.checks._experiment import ExperimentExercise

_PARTS = "(prediction, measure, explanation)"


def read_parts(answer: object) -> tuple[Sequence, dict]:
    """The three parts of an answer, or none, and what there is to say about it."""
    if is_missing(answer):
        return (), {"status": "none"}
    if not isinstance(answer, tuple | list):
        return (), {"status": "type", "type": type_name(answer)}
    if len(answer) != 3:
        return (), {"status": "count", "count": len(answer)}
    return tuple(answer), {"status": "parts"}


def without_parts(exercise: ExperimentExercise, record: Mapping) -> Verdict:
    """The verdict on an answer that is not three parts."""
    status, wanted = record["status"], f"The answer is the tuple {_PARTS}"
    if status == "none":
        message = f"There is no answer yet. {wanted}."
        return _failures.of_parts(exercise, "not-written-yet", message)
    if status == "count":
        message = f"{wanted}, and this has {record['count']} parts."
        return _failures.of_parts(exercise, "wrong-count", message)
    if status == "type":
        message = f"{wanted}, and this is {record['type']}."
        return _failures.of_parts(exercise, "wrong-type", message)
    return _failures.unreadable(exercise)
