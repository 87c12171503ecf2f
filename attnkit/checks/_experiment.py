"""Experiments: a prediction, a measurement that the learner writes, and an explanation."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnkit.checks import _failures
from attnkit.checks._engine import Arrays, Misconception, Seen, Trial, why_uncallable
from attnkit.checks._explanations import read_explanation
from attnkit.checks._measurements import judge, numbers, read_calls, same_numbers
from attnkit.checks._parts import read_parts, without_parts
from attnkit.checks._predictions import Between, Each, OneOf, plain, shown
from attnkit.checks._recording import (
    CALL_SECONDS,
    given_back,
    read_text,
    record_call,
    text_array,
    time_limit,
    type_name,
)
from attnkit.checks._silence import quiet
from attnkit.checks._verdict import Verdict


@dataclass(frozen=True)
class ExperimentExercise:
    """An experiment. The answer: the tuple (prediction, measure, explanation).

    The prediction is recorded first (``predicts`` says what it may be: :class:`Between`,
    :class:`OneOf` or :class:`Each`), then ``measure`` is called on every trial, at most ``seconds``
    each, and of the explanation only the number of words is recorded.

    ``holds(trials)`` says of a list of :class:`Seen` whether these are the results of the
    experiment, for any seed; a result is in ``seen.got[name]``, an array of the shape that
    ``shapes`` gives to it, and a single number where it gives none. ``right`` takes the arguments
    of a trial and returns what a right measurement may give: a sample for the tests, quick, with a
    spread over the seeds. The ``wrong`` functions of a misconception are samples, too;
    ``when(trials)`` recognises it where ``holds`` does not hold.

    With ``seeds``, ``trials`` is a function of the seeds, a copy of the exercise has seeds of its
    own, and a measurement that gives the same numbers for all of them is called by its name (a
    trial that is not ``compared`` is left out of this). With ``repeat`` the first trial is run
    twice.

    >>> from attnkit.checks import Between, Misconception, Trial
    >>> question = ExperimentExercise(
    ...     id="mine-largest",
    ...     title="How large is the largest of a hundred scores?",
    ...     link="ch3-scale",
    ...     sections={"ch3-scale": "the scale"},
    ...     predicts=Between(0, 10),
    ...     call="measure(seed)",
    ...     trials=lambda seeds: tuple(Trial(f"seed {seed}", {"seed": seed}) for seed in seeds),
    ...     seeds=(0, 1, 2),
    ...     results=("largest",),
    ...     holds=lambda trials: all(1.2 < seen.got["largest"] < 6 for seen in trials),
    ...     right=lambda seed: 2 + np.random.default_rng(seed).random(),
    ...     misconceptions=(
    ...         Misconception(
    ...             "mean-for-maximum",
    ...             "This is the mean of the scores. Asked for is the largest.",
    ...             "ch3-scale",
    ...             wrong=(lambda seed: 0.1 - seed / 100,),
    ...             when=lambda trials: all(abs(seen.got["largest"]) < 0.5 for seen in trials),
    ...         ),
    ...     ),
    ... )
    >>> def measure(seed):
    ...     return np.random.default_rng(seed).normal(size=100).max()
    >>> question.diagnose(question.probe((2.0, measure, "Too short."))).name
    'explanation-too-short'
    """

    id: str
    title: str
    link: str
    sections: Mapping[str, str]
    predicts: Between | OneOf | Each
    call: str
    trials: tuple[Trial, ...] | Callable[[Sequence[int]], tuple[Trial, ...]]
    results: tuple[str, ...]
    holds: Callable[[Sequence[Seen]], bool]
    misconceptions: tuple[Misconception, ...]
    right: Callable
    words: int = 16
    seconds: float = 30.0
    seeds: tuple[int, ...] = ()
    shapes: Mapping[str, tuple[int, ...]] | None = None
    repeat: bool = False

    def __post_init__(self) -> None:
        for wrong in self.misconceptions:
            if wrong.when is None:
                raise ValueError(f"{self.id}: {wrong.name} of an experiment needs a when(trials)")
        if callable(self.trials) != bool(self.seeds):
            raise ValueError(f"{self.id}: trials is a function of the seeds, or there are no seeds")
        names = [trial.name for trial in self.trials_of(self.seeds)]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"{self.id}: every trial needs a name of its own, got {names}")

    @property
    def given(self) -> dict[str, object]:
        """The seeds, where the exercise has any."""
        return {"seeds": self.seeds} if self.seeds else {}

    def varied(self, code: str) -> ExperimentExercise:
        """The exercise with the seeds of one copy: others than the book's, below 1000."""
        if not (code and self.seeds):
            return self
        rng, seeds = random.Random(f"{self.id}/{code}"), []
        while len(seeds) < len(self.seeds):
            seed = int(1000 * rng.random())
            if seed not in (*self.seeds, *seeds):
                seeds.append(seed)
        return replace(self, seeds=tuple(seeds))

    def trials_of(self, seeds: Sequence[int]) -> tuple[Trial, ...]:
        """The trials with these seeds."""
        return self.trials(seeds) if callable(self.trials) else self.trials

    def calls(self) -> list[tuple[str, Trial]]:
        """Every trial by the name of its record, and with ``repeat`` the first one again."""
        trials = self.trials_of(self.seeds)
        again = [("again", trials[0])] if self.repeat else []
        return [*((f"trial {trial.name}", trial) for trial in trials), *again]

    def probe(self, answer: object) -> dict[str, np.ndarray]:
        """Record the prediction, the measurements and the length of the explanation."""
        parts, value = (), plain(None)
        try:
            with given_back(), quiet(), time_limit(CALL_SECONDS):
                parts, record = read_parts(answer)
                arrays = {"answer/record": text_array(record)}
                if parts:
                    value = plain(parts[0])
                    arrays["prediction/record"] = text_array({"value": value})
                    arrays["explanation/record"] = text_array(read_explanation(parts[2]))
        except KeyboardInterrupt:
            raise
        except BaseException:  # an answer that cannot even be looked at
            return {"answer/record": text_array({"status": "type", "type": type_name(answer)})}
        if parts and self.predicts.trouble(value) is None:
            arrays |= self._measured(parts[1])
        return arrays

    def _measured(self, measure: object) -> dict[str, np.ndarray]:
        """A prediction comes first: without one nothing is measured."""
        if measure is None or measure is ...:
            return {"measure/record": text_array({"status": "none"})}
        trouble = why_uncallable(measure, self.trials_of(self.seeds)[0].inputs)
        if trouble or not callable(measure):
            return {"measure/record": text_array(trouble)}
        arrays = {"measure/record": text_array({"status": "callable"})}
        with given_back():
            done = self._run(measure, self.calls(), arrays)
            for seed in self._more_seeds() if done else ():
                if not self._same_for_all_seeds(arrays, before=seed):
                    break
                trials = [(f"trial {trial.name}", trial) for trial in self.trials_of((seed,))]
                if not self._run(measure, trials, arrays):
                    break
        return arrays

    def _run(self, measure: Callable, calls: Sequence[tuple[str, Trial]], arrays: dict) -> bool:
        """Record these calls in ``arrays``, up to the first that gives no result."""
        for name, trial in calls:
            record, results = record_call(measure, trial.inputs, self.results, self.seconds)
            arrays[f"{name}/record"] = text_array(record)
            arrays |= {f"{name}/{key}": array for key, array in results.items()}
            if record["status"] != "returned":
                return False
        return True

    def _more_seeds(self) -> tuple[int, ...]:
        """Seeds to try when those of the exercise gave the same numbers: it may be a coincidence.

        An accuracy of 200 questions is now and then the same for two seeds.
        """
        return tuple(max(self.seeds) + 1 + n for n in range(3)) if len(self.seeds) > 1 else ()

    def _same_for_all_seeds(self, arrays: Arrays, before: float = np.inf) -> bool:
        """Whether the compared trials gave the same numbers for all seeds (below ``before``)."""
        if len(self.seeds) < 2:
            return False
        seeds = [*self.seeds, *(seed for seed in self._more_seeds() if seed < before)]
        runs = [[t for t in self.trials_of((seed,)) if t.compared] for seed in seeds]
        return same_numbers(
            [[arrays.get(f"trial {t.name}/{r}") for t in run for r in self.results] for run in runs]
        )

    def diagnose(self, arrays: Arrays) -> Verdict:
        """Turn what was recorded into a verdict; the text of the explanation is not needed."""
        try:
            answer = read_text(arrays["answer/record"])
            if answer["status"] != "parts":
                return without_parts(self, answer)
            value = read_text(arrays["prediction/record"])["value"]
            explanation = read_text(arrays["explanation/record"])
            before = self._before(value, explanation)
            if before is not None:
                return before
            measure = read_text(arrays["measure/record"])
            if measure["status"] == "none":
                return self._common("not-written-yet")
            if measure["status"] != "callable":
                return _failures.uncallable(self, measure)
            trials = read_calls(arrays, self.calls(), self.results)
            failure = judge(self, trials, ignores_seeds=self._same_for_all_seeds(arrays))
            if failure is None:  # a failed Verdict is false
                failure = self._explained(explanation)
            return self._passed(value, trials) if failure is None else failure
        except (KeyError, ValueError, TypeError, AttributeError, IndexError, OverflowError):
            return _failures.unreadable(self)

    def _before(self, value: list, explanation: Mapping) -> Verdict | None:
        """What is wrong before anything is measured."""
        if value[0] == "none" and explanation["status"] == "none":
            message = f"There is no answer yet. Begin with the prediction: {self.predicts.wanted}."
            return _failures.of_parts(self, "not-written-yet", message)
        trouble = self.predicts.trouble(value)
        return None if trouble is None else _failures.of_parts(self, *trouble)

    def _explained(self, explanation: Mapping) -> Verdict | None:
        status = explanation["status"]
        if status == "none":
            return self._common("no-explanation")
        if status == "type":
            message = (
                f"The explanation is text in quotation marks, and this is {explanation['type']}."
            )
            return _failures.of_parts(self, "wrong-type", message)
        if status != "words" or not isinstance(explanation["words"], int):
            raise ValueError("not a record of an explanation")
        if explanation["words"] < self.words:
            counts = {"words": explanation["words"], "wanted": self.words}
            return self._common("explanation-too-short", **counts)
        return None

    def _common(self, name: str, **values: object) -> Verdict:
        return _failures.of_parts(self, name, _failures.COMMON[name].format(**values))

    def _passed(self, value: list, trials: Sequence[Seen]) -> Verdict:
        found = "; ".join(f"{seen.trial.name}: {numbers(seen)}" for seen in trials)
        message = f"Predicted: {shown(value)}. Measured: {found}."
        return Verdict(self.id, True, "right", message)
