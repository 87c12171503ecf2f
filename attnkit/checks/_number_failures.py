"""What there is to say about numbers found by hand that no misconception explains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from attnkit.checks._compare import fitted
from attnkit.checks._failures import COMMON, of_parts, unreadable
from attnkit.checks._verdict import Verdict

if TYPE_CHECKING:
    from attnkit.checks._numbers import NumbersExercise

Results = Mapping[str, np.ndarray]


def without_a_name(exercise: NumbersExercise, got: Results, right: Results) -> Verdict:
    """The verdict on wrong numbers."""
    if exercise.book is not None:
        in_the_book = exercise.outcome(exercise.right, exercise.book)
        if exercise.near(got, in_the_book):
            return _common(exercise, "numbers-of-another-copy", got)
    for name, array in right.items():
        if fitted(got[name], array.shape) is None:
            values = {"result": name, "shape": got[name].shape, "expected": array.shape}
            return _common(exercise, "wrong-shape", got, **values)
        if not np.isfinite(got[name]).all():
            return _common(exercise, "not-a-number", got, result=name)
    if _all(exercise, got, right, _percent):
        return _common(exercise, "in-percent", got)
    if _all(exercise, got, right, _one_decimal):
        return _common(exercise, "rounded-too-far", got)
    message = (
        "This is not what is expected, and not a mistake that has a name here. Write every step "
        "down, with the values below, and compare it with the section."
    )
    return of_parts(exercise, "wrong", message, "", exercise.given, {}, got)


def _all(exercise: NumbersExercise, got: Results, right: Results, form: Callable) -> bool:
    """Whether every result is right or right in another form."""
    for name, array in right.items():
        fit = fitted(got[name], array.shape)
        assert fit is not None
        near = np.abs(fit - array) <= exercise.tolerance + 1e-9
        if not (near.all() or form(fit, array, exercise.tolerance)):
            return False
    return True


def _percent(got: np.ndarray, right: np.ndarray, tolerance: float) -> bool:
    """100 times a share; whole percentages will do."""
    shares = (np.abs(right) <= 1).all() and (np.abs(got) > 1).any()
    return bool(shares and (np.abs(got - 100 * right) <= max(0.5, 50 * tolerance) + 1e-9).all())


def _one_decimal(got: np.ndarray, right: np.ndarray, tolerance: float) -> bool:
    return tolerance < 0.05 and bool((np.abs(got - right.round(1)) <= 1e-3).all())


def without_numbers(exercise: NumbersExercise, record: Mapping) -> Verdict:
    """The verdict on an answer that is not so many numbers."""
    status, names = record.get("status"), ", ".join(exercise.results)
    values = {key: record.get(key, "") for key in ("type", "shape")}
    values["result"] = record.get("result", "The answer")
    if status == "not-yet":
        message = f"There is no answer yet: put {names} in place of the stub."
        return of_parts(exercise, "not-written-yet", message)
    if status == "text":
        message = (
            f"{values['result']} is text. Write numbers without quotation marks: 0.25, not '0.25', "
            "and no % sign behind it."
        )
        return of_parts(exercise, "wrong-type", message)
    if status == "count":
        message = (
            f"The answer has {record.get('count')} of the {len(exercise.results)} results that are "
            f"wanted: {names}."
        )
        return of_parts(exercise, "wrong-count", message)
    name = {"type": "wrong-type", "size": "too-large"}.get(str(status))
    return unreadable(exercise) if name is None else _common(exercise, name, None, **values)


def _common(
    exercise: NumbersExercise, name: str, got: Results | None = None, **values: object
) -> Verdict:
    example = {} if got is None else exercise.given
    return of_parts(exercise, name, COMMON[name].format(**values), "", example, {}, got or {})
