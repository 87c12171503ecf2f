"""What an exercise is made of, and how recorded results are turned into a diagnosis."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from attnkit.checks import _failures
from attnkit.checks._compare import all_close, all_right, named, trimmed
from attnkit.checks._recording import (
    CALL_SECONDS,
    PROBE_SECONDS,
    given_back,
    read_text,
    record_call,
    text_array,
)
from attnkit.checks._uncallable import why_uncallable
from attnkit.checks._verdict import Verdict

Arrays = Mapping[str, np.ndarray]


def _tensors(kind: Callable) -> Callable[[object], object]:
    return lambda value: kind(value) if isinstance(value, np.ndarray) else value


#: How arguments are handed over (torch32: fractions only). The next is tried when an answer raises.
STYLES: dict[str, Callable[[object], object]] = {
    "numpy": lambda value: value,
    "torch": _tensors(lambda array: torch.from_numpy(array.copy())),
    "torch32": _tensors(lambda a: torch.tensor(np.float32(a) if a.dtype == float else a)),
    "parameter": _tensors(lambda array: torch.nn.Parameter(torch.from_numpy(array.copy()))),
}


@dataclass(frozen=True, eq=False)
class Trial:
    """One call of the answer, with its arguments by name.

    ``compared`` trials tell the wrong answers apart; the others (very large numbers, say) must be
    right but name nothing by themselves. What an answer does on a trial that is not ``required``
    (extra axes) is only mentioned.
    """

    name: str
    inputs: Mapping[str, object]
    compared: bool = True
    required: bool = True
    styles: tuple[str, ...] = ()

    @lru_cache(maxsize=20_000)  # noqa: B019 (trials belong to exercises, which stay)
    def outcome(self, function: Callable, results: tuple[str, ...]) -> Arrays | None:
        """What a function of the exercise gives for these arguments; None when they do not fit."""
        try:
            with np.errstate(all="ignore"):
                return named(function(*self.inputs.values()), results)
        except ValueError:
            return None


@dataclass(frozen=True)
class Misconception:
    """A wrong answer with a name.

    It is recognised because the recorded results equal those of one of the ``wrong`` functions on
    every compared trial, or because ``when(trials)`` says so of a list of :class:`Seen`; beside a
    ``when`` they are samples of what it recognises.
    """

    name: str
    message: str
    link: str
    wrong: tuple[Callable, ...] = ()
    when: Callable[[Sequence[Seen]], bool] | None = None

    @property
    def text(self) -> str:
        """The message as a learner reads it."""
        return self.message

    def explains(self, trials: Sequence[Seen]) -> bool:
        """Whether it accounts for everything that was recorded."""
        compared = [seen for seen in trials if seen.trial.compared and seen.trial.required]
        if self.when is not None:
            return self.when(trials)
        return any(all(seen.is_like(wrong) for seen in compared) for wrong in self.wrong)


@dataclass(frozen=True)
class Seen:
    """One trial with what was recorded and what was expected.

    ``got`` and ``expected`` hold an array for each result, by its name; of an experiment ``got``
    holds float64 arrays in the shape that the exercise asks for, and ``expected`` is empty.
    """

    trial: Trial
    record: Mapping
    got: Arrays
    expected: Arrays

    @property
    def returned(self) -> bool:
        """Whether the call came to results."""
        return self.record["status"] == "returned"

    @property
    def right(self) -> bool:
        """Whether they are those that were expected."""
        return self.returned and all_right(self.got, self.expected)

    @property
    def shaped(self) -> bool:
        """Whether they have the shapes that were expected."""
        return self.returned and all(
            trimmed(self.got[name], array.ndim).shape == array.shape
            for name, array in self.expected.items()
        )

    def is_like(self, wrong: Callable) -> bool:
        """Whether the results are those of ``wrong``, which may also fail on this input."""
        try:
            outcome = self.trial.outcome(wrong, tuple(self.expected))
        except (ArithmeticError, LookupError, TypeError):
            return False  # no more than an author's slip: a diagnosis goes on
        if outcome is None:
            return self.record["status"] == "raised"
        return self.returned and all_close(self.got, outcome)


@dataclass(frozen=True)
class FunctionExercise:
    """An exercise whose answer is a function: called on trials, from the smallest to the largest.

    ``right`` takes the arguments of a trial and returns one array, or a tuple with one array for
    each of ``results``. ``sections`` maps the labels that the messages link to to readable titles.
    """

    id: str
    title: str
    link: str
    call: str
    trials: tuple[Trial, ...]
    right: Callable
    results: tuple[str, ...]
    misconceptions: tuple[Misconception, ...]
    sections: Mapping[str, str]
    styles: tuple[str, ...] = ("numpy", "torch", "torch32")

    @property
    def given(self) -> dict[str, object]:
        """Empty, since the trials are the exercise's own."""
        return {}

    def varied(self, code: str) -> FunctionExercise:
        """The exercise itself: a function is right for whatever it is called with."""
        return self

    def probe(self, answer: object) -> dict[str, np.ndarray]:
        """Call the answer on every trial; return what happened as arrays."""
        trouble = why_uncallable(answer, self.trials[0].inputs)
        if trouble or not callable(answer):
            return {"answer/record": text_array(trouble)}
        arrays = {"answer/record": text_array({"status": "callable"})}
        styles, deadline = list(self.styles), time.monotonic() + PROBE_SECONDS
        with given_back():
            for name, trial in self._calls():
                record, results = self._attempt(answer, trial, styles, deadline)
                arrays[f"{name}/record"] = text_array(record)
                arrays.update({f"{name}/{key}": array for key, array in results.items()})
                if record["status"] == "time":
                    break
        return arrays

    def _calls(self) -> list[tuple[str, Trial]]:
        """Every trial by name, and the first one again: a function gives the same result twice."""
        return [*((trial.name, trial) for trial in self.trials), ("again", self.trials[0])]

    def _attempt(self, answer: Callable, trial: Trial, styles: list[str], deadline: float):
        failed = None
        for style in trial.styles or tuple(styles):
            seconds = min(CALL_SECONDS, deadline - time.monotonic())
            inputs = {name: STYLES[style](value) for name, value in trial.inputs.items()}
            record, arrays = record_call(answer, inputs, self.results, seconds)
            if record["status"] != "raised":
                if style in styles:  # what worked once is tried first from now on
                    styles.insert(0, styles.pop(styles.index(style)))
                return record, arrays
            if failed is None or "Tensor" in failed["message"]:
                failed = record
        assert failed is not None
        return failed, {}

    def diagnose(self, arrays: Arrays) -> Verdict:
        """Turn recorded arrays into a verdict; runs no code of the student's."""
        try:
            answer = read_text(arrays["answer/record"])
            if answer.get("status") != "callable":
                return _failures.uncallable(self, answer)
            seen, again = self._read(arrays)
        except (KeyError, ValueError, TypeError, AttributeError):
            return _failures.unreadable(self)
        required = [trial for trial in seen if trial.trial.required]
        if not all(trial.right for trial in required):
            for misconception in self.misconceptions:
                if misconception.explains(required):
                    return self._named(misconception, required)
        failure = _failures.general(self, required, again)
        return self._passed(seen) if failure is None else failure

    def _read(self, arrays: Arrays) -> tuple[list[Seen], Seen]:
        seen = []
        for name, trial in self._calls():
            key = f"{name}/record"
            record = read_text(arrays[key]) if key in arrays else {"status": "skipped"}
            if "status" not in record or not isinstance(record.get("changed", []), list):
                raise ValueError("not a record of a call")
            got = {
                result: np.asarray(arrays[f"{name}/{result}"])
                for result in self.results
                if f"{name}/{result}" in arrays
            }
            if record["status"] == "returned" and len(got) != len(self.results):
                raise ValueError("a result is missing")
            if any(array.dtype.kind not in "biuf" for array in got.values()):
                raise ValueError("not numbers")
            expected = named(self.right(*trial.inputs.values()), self.results)
            seen.append(Seen(trial, record, got, expected))
        return seen[:-1], seen[-1]

    def _named(self, misconception: Misconception, seen: Sequence[Seen]) -> Verdict:
        wrong = [trial for trial in seen if not trial.right]
        shown = next((trial for trial in wrong if trial.returned), wrong[0])
        return _failures.verdict(
            self, misconception.name, misconception.text, shown, misconception.link
        )

    def _passed(self, seen: Sequence[Seen]) -> Verdict:
        extra = [trial for trial in seen if not trial.trial.required]
        message = f"Right on all {len(seen) - len(extra)} inputs."
        if extra and all(trial.right for trial in extra):
            message = f"Right on all {len(seen)} inputs, extra axes in front included."
        return Verdict(self.id, True, "right", message)
