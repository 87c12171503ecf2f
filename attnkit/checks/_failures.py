"""The ways to fail that any exercise can have, each with its name and its cure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from attnkit.checks._compare import close, trimmed
from attnkit.checks._verdict import Verdict

if TYPE_CHECKING:
    from attnkit.checks._engine import FunctionExercise, Seen
    from attnkit.checks._experiment import ExperimentExercise
    from attnkit.checks._kinds import AnyExercise

#: Name and message; the braces are filled in from what was recorded.
COMMON: dict[str, str] = {
    "not-written-yet": "There is no answer yet: the stub still raises NotImplementedError.",
    "not-callable": "The answer must be a function, and this is {type}. Hand over the function "
    "itself, with no parentheses behind its name.",
    "wrong-arguments": "It is called as {call}, and yours takes {wants}. Keep the arguments of the "
    "exercise; whatever else it needs, it can compute from them.",
    "raised": "It stopped with {type}: {message}{where}. Call it yourself on the input below.",
    "too-slow": "It was still running after {seconds} seconds, on an input that needs less than a "
    "thousandth. Look for a loop whose condition never becomes false.",
    "endless-recursion": "It calls itself until Python gives up. A function that calls itself "
    "needs a case in which it does not.",
    "returned-nothing": "It returned None: the last line needs a return.",
    "printed-only": "It printed its result and returned None. Replace print by return: what is "
    "printed cannot be computed with.",
    "wrong-type": "{result} is {type}, and real numbers are expected: a number, an array or a "
    "tensor.",
    "wrong-count": "It returned {count} of the {wanted} results that are wanted: return {names}.",
    "too-large": "{result} has shape {shape}, far more numbers than the input could need.",
    "wrong-shape": "{result} has shape {shape} where {expected} is expected. Write the shape of "
    "every intermediate result beside its line.",
    "not-a-number": "{result} holds nan or inf. Look for a division by zero, or for the exp of a "
    "large number.",
    "hard-coded": "It returned the same result for different inputs: the arguments are not used.",
    "not-repeatable": "The same input gave two different results. A random number, or something "
    "kept between two calls, has found its way in.",
    "changes-its-input": "The argument {changed} is not what it was before the call: the "
    "caller's array was overwritten. Write x = x / 2, not x /= 2.",
    "wrong": "This is not what is expected, and not a mistake that has a name here. Do the small "
    "input below by hand and compare line by line.",
    "not-an-option": "There is no option {strange}. The letters are {letters}.",
    "in-percent": "This is in percent, and a share from 0 to 1 is wanted: 0.7, not 70.",
    "rounded-too-far": "This is right to one decimal. Two are wanted.",
    "numbers-of-another-copy": "This is right for the values that the book prints. Yours are "
    "others: work with the ones above the answer.",
    "no-prediction": "There is no prediction{missing}. Write it down before you measure: {wanted}.",
    "prediction-out-of-range": "The prediction {shown} is not what was asked for: {wanted}.",
    "no-explanation": "Prediction and measurement are there, and no explanation yet: two or three "
    "sentences on what you found.",
    "explanation-too-short": "The explanation has {words} words. Say in two or three sentences "
    "what you found and why, {wanted} words at least.",
    "ignores-its-argument": "The measurement gives the same numbers for different seeds, so it "
    "measured one run several times. Hand the seed on to everything that draws random numbers.",
    "measured-otherwise": "These measurements are not what this experiment gives. Compare what is "
    "measured, and on which data, with the text, word by word.",
    "unreadable-record": "What was recorded cannot be read: probe the answer again.",
}


def verdict(
    exercise: FunctionExercise | ExperimentExercise,
    name: str,
    message: str,
    seen: Seen | None = None,
    link: str = "",
    got: Mapping[str, object] | None = None,
) -> Verdict:
    """A failed verdict that shows one trial: of several results only those that differ."""
    example, expected = {}, {}
    if seen is not None:
        example, expected = dict(seen.trial.inputs), dict(seen.expected)
        if got is None:
            wrong = [key for key in seen.expected if not _same(seen, key)]
            keys = wrong or list(seen.expected)
            expected = {key: seen.expected[key] for key in keys}
            got = {key: seen.got[key] for key in keys if key in seen.got}
            if seen.record["status"] == "raised":
                got = _error(seen.record)
    return of_parts(exercise, name, message, link, example, expected, dict(got or {}))


def of_parts(
    exercise: AnyExercise, name: str, message: str, link: str = "", *parts: Mapping
) -> Verdict:
    """A failed verdict; the parts are example, expected and got."""
    link = link or exercise.link
    example, expected, got = (dict(part) for part in parts or ({}, {}, {}))
    return Verdict(
        exercise.id, False, name, message, example, expected, got, link,
        exercise.sections.get(link, link),
    )  # fmt: skip


def _same(seen: Seen, key: str) -> bool:
    return key in seen.got and close(seen.got[key], seen.expected[key])


def uncallable(exercise: FunctionExercise | ExperimentExercise, record: Mapping) -> Verdict:
    name = {"uncallable": "not-callable", "arguments": "wrong-arguments"}.get(record["status"])
    if name is None:
        return unreadable(exercise)
    values = {"type": record.get("type", ""), "wants": record.get("wants", "")}
    return verdict(exercise, name, COMMON[name].format(call=exercise.call, **values))


def unreadable(exercise: AnyExercise) -> Verdict:
    return of_parts(exercise, "unreadable-record", COMMON["unreadable-record"])


def general(exercise: FunctionExercise, trials: Sequence[Seen], again: Seen) -> Verdict | None:
    """The first failure without a misconception behind it; None for a right answer."""
    for seen in trials:
        if not seen.returned:
            # What overwrites an argument fails on some kinds of it: the cause, not the error.
            earlier = trials[: trials.index(seen)] if seen.record["status"] == "raised" else ()
            changes = _changed(exercise, earlier)
            return not_returned(exercise, seen) if changes is None else changes
    if any(not _alike(trials[0].got[key], again.got.get(key)) for key in exercise.results):
        second = {f"{key} (second call)": array for key, array in again.got.items()}
        message = COMMON["not-repeatable"]
        return verdict(
            exercise, "not-repeatable", message, trials[0], got={**trials[0].got, **second}
        )
    changes = _changed(exercise, trials)
    if changes is not None:
        return changes
    wrong = [seen for seen in trials if not seen.right]
    return _wrong(exercise, trials, wrong[0]) if wrong else None


def _changed(exercise: FunctionExercise, trials: Sequence[Seen]) -> Verdict | None:
    for seen in trials:
        changed = [str(name) for name in seen.record.get("changed", [])]
        if changed:
            message = COMMON["changes-its-input"].format(changed=" and ".join(changed))
            return verdict(exercise, "changes-its-input", message, seen, got=_overwritten(changed))
    return None


def _overwritten(changed: Sequence[str]) -> dict[str, object]:
    return {name: "overwritten" for name in changed}


def _alike(first: np.ndarray, second: np.ndarray | None) -> bool:
    return second is not None and np.array_equal(first, second, equal_nan=True)


def _error(record: Mapping) -> dict[str, object]:
    return {"error": f"{record.get('type')}: {record.get('message')}"}


def not_returned(exercise: FunctionExercise | ExperimentExercise, seen: Seen) -> Verdict:
    record = {key: value for key, value in seen.record.items() if key != "status"}
    status = seen.record["status"]
    name = {
        "todo": "not-written-yet", "raised": "raised", "time": "too-slow",
        "recursion": "endless-recursion", "count": "wrong-count", "type": "wrong-type",
        "size": "too-large", "nothing": "printed-only" if record.get("printed") else
        "returned-nothing",
    }.get(status, "unreadable-record")  # fmt: skip
    if name == "not-written-yet":
        return verdict(exercise, name, COMMON[name])
    line = record.get("line")
    values = {
        "type": "", "message": "", "seconds": "", "result": "The result", "count": "", "shape": "",
        **record,
        "where": f" (line {line} of the function)" if line else "",
        "wanted": len(exercise.results), "names": ", ".join(exercise.results),
    }  # fmt: skip
    message = COMMON[name].format(**values)
    got: dict[str, object] = dict(seen.got)
    if status == "raised":
        got = _error(record)
    return verdict(exercise, name, message, seen, got=got)


def _wrong(exercise: FunctionExercise, trials: Sequence[Seen], first: Seen) -> Verdict:
    same = all(
        _alike(seen.got[key], trials[0].got[key]) for seen in trials for key in exercise.results
    )
    if same and len(trials) > 1:
        return verdict(exercise, "hard-coded", COMMON["hard-coded"], first)
    for key, array in first.expected.items():
        got = trimmed(first.got[key], array.ndim)
        if got.shape != array.shape:
            values = {"result": key, "shape": got.shape, "expected": array.shape}
            return verdict(exercise, "wrong-shape", COMMON["wrong-shape"].format(**values), first)
    for key in exercise.results:
        got = trimmed(first.got[key], first.expected[key].ndim)
        if not np.isfinite(got[np.isfinite(first.expected[key])]).all():
            message = COMMON["not-a-number"].format(result=key)
            return verdict(exercise, "not-a-number", message, first)
    return verdict(exercise, "wrong", COMMON["wrong"], first)
