"""What the measurements of an experiment show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from attnkit.checks import _failures
from attnkit.checks._compare import fitted
from attnkit.checks._engine import Arrays, Seen, Trial
from attnkit.checks._failures import COMMON
from attnkit.checks._recording import read_text
from attnkit.checks._verdict import Verdict, show

if TYPE_CHECKING:
    from attnkit.checks._experiment import ExperimentExercise


def read_calls(
    arrays: Arrays, calls: Sequence[tuple[str, Trial]], results: Sequence[str]
) -> list[Seen]:
    """The recorded calls up to the first without a result; ValueError when one is missing."""
    seen = []
    for name, trial in calls:
        record = read_text(arrays[f"{name}/record"])
        keys = {key: f"{name}/{key}" for key in results}
        got = {r: np.asarray(arrays[key]) for r, key in keys.items() if key in arrays}
        wrong = any(array.dtype.kind not in "biuf" for array in got.values())
        if wrong or not isinstance(record["status"], str):
            raise ValueError("not a record of a call")
        if not isinstance(record.get("changed", []), list):
            raise ValueError("not a record of a call")
        seen.append(Seen(trial, record, got, {}))
        if record["status"] != "returned":
            break
        if len(got) != len(results):
            raise ValueError("a result is missing")
    return seen


def same_numbers(runs: Sequence[Sequence[np.ndarray | None]]) -> bool:
    """Whether every run gave the numbers of the first; no when one is missing."""
    first, *others = runs
    return bool(first) and all(
        len(run) == len(first)
        and all(
            a is not None and b is not None and _alike(a, b)
            for a, b in zip(run, first, strict=True)
        )
        for run in others
    )


def _alike(a: np.ndarray, b: np.ndarray) -> bool:
    """The same but for the last digits, which threads can change."""
    return a.shape == b.shape and np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True)


def numbers(seen: Seen) -> str:
    """The results of one call as text."""
    texts = {name: show(array.astype(np.float64).round(4)) for name, array in seen.got.items()}
    several = len(texts) > 1
    return ", ".join(f"{name} {text}" if several else text for name, text in texts.items())


def judge(
    exercise: ExperimentExercise, calls: Sequence[Seen], *, ignores_seeds: bool
) -> Verdict | None:
    """What is wrong with the measurements; None when the results of the experiment hold."""
    fitting = []
    for seen in calls:
        broken = _broken(exercise, seen)
        if isinstance(broken, Verdict):
            return broken
        fitting.append(broken)
    trials = fitting
    if exercise.repeat:
        *trials, again = fitting
        if any(not np.array_equal(again.got[key], trials[0].got[key]) for key in exercise.results):
            second = {f"{key} (second call)": array for key, array in again.got.items()}
            return _shown(exercise, "not-repeatable", trials[0], trials[0].got | second)
    if _above_one(exercise, trials):
        return _shown(exercise, "in-percent", trials[0], trials[0].got)
    if holds(exercise, trials):
        return _same(exercise, trials) if ignores_seeds else None
    for wrong in exercise.misconceptions:
        if _holds(wrong.when, trials):
            return _all_shown(exercise, wrong.name, wrong.text, trials, wrong.link)
    if ignores_seeds:
        return _same(exercise, trials)
    if len(trials) > 1 and not exercise.seeds and all(
        np.array_equal(seen.got[key], trials[0].got[key]) for seen in trials for key in seen.got
    ):  # fmt: skip
        return _shown(exercise, "hard-coded", trials[1], trials[1].got)
    name = "measured-otherwise"
    return _all_shown(exercise, name, COMMON[name], trials)


def holds(exercise: ExperimentExercise, trials: Sequence[Seen]) -> bool:
    """Whether these are the results of the experiment."""
    return _holds(exercise.holds, trials)


def _above_one(exercise: ExperimentExercise, trials: Sequence[Seen]) -> bool:
    """Percentages where shares are wanted: a hundredth of these numbers would do."""
    if not any((array > 1).any() for seen in trials for array in seen.got.values()):
        return False
    hundredth = [
        replace(seen, got={k: array / 100 for k, array in seen.got.items()}) for seen in trials
    ]
    shares = getattr(exercise.predicts, "part", exercise.predicts)
    of_shares = getattr(shares, "high", None) == 1
    return holds(exercise, hundredth) and (of_shares or not holds(exercise, trials))


def _holds(condition: object, trials: Sequence[Seen]) -> bool:
    """A condition that these numbers make no sense for does not hold."""
    assert callable(condition)
    try:
        with np.errstate(all="ignore"):
            return bool(condition(trials))
    except (ArithmeticError, ValueError, IndexError):
        return False


def _broken(exercise: ExperimentExercise, seen: Seen) -> Verdict | Seen:
    """A verdict on what is no measurement, or the call with its numbers in the wanted shape."""
    changed = [str(name) for name in seen.record.get("changed", [])]
    if changed:
        overwritten = {name: "overwritten" for name in changed}
        values = {"changed": " and ".join(changed)}
        return _shown(exercise, "changes-its-input", seen, overwritten, **values)
    if not seen.returned:
        return _not_returned(exercise, seen)
    got = {}
    for name, array in seen.got.items():
        shape = (exercise.shapes or {}).get(name, ())
        fit = fitted(array, shape)
        if fit is None:
            values = {"result": name, "shape": array.shape, "expected": shape}
            if shape:
                return _shown(exercise, "wrong-shape", seen, seen.got, **values)
            message = f"{name} has shape {array.shape}, and one number is expected of "
            message += f"{exercise.call}."
            return _one_shown(exercise, "wrong-shape", message, seen, seen.got)
        if not np.isfinite(fit).all():
            return _shown(exercise, "not-a-number", seen, seen.got, result=name)
        got[name] = fit.astype(np.float64)
    return replace(seen, got=got)


def _not_returned(exercise: ExperimentExercise, seen: Seen) -> Verdict:
    if seen.record["status"] != "time":
        return _failures.not_returned(exercise, seen)
    message = (
        f"The measurement was still running after {seen.record.get('seconds')} seconds. The one "
        "of the exercise needs far less: look for a loop without an end, or for more steps, "
        "examples or layers than were asked for."
    )
    return _one_shown(exercise, "too-slow", message, seen, {})


def _same(exercise: ExperimentExercise, trials: Sequence[Seen]) -> Verdict:
    name = "ignores-its-argument"
    return _all_shown(exercise, name, COMMON[name], trials)


def _shown(
    exercise: ExperimentExercise, name: str, seen: Seen, got: Mapping, **values: object
) -> Verdict:
    return _one_shown(exercise, name, COMMON[name].format(**values), seen, got)


def _one_shown(
    exercise: ExperimentExercise, name: str, message: str, seen: Seen, got: Mapping
) -> Verdict:
    return _failures.of_parts(exercise, name, message, "", seen.trial.inputs, {}, got)


def _all_shown(
    exercise: ExperimentExercise, name: str, message: str, trials: Sequence[Seen], link: str = ""
) -> Verdict:
    """All measurements by the names of their trials: an experiment is judged as a whole."""
    got = {f"in {seen.trial.name}": numbers(seen) for seen in trials}
    return _failures.of_parts(exercise, name, message, link, {"call": exercise.call}, {}, got)
