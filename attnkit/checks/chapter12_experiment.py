"""Exercise ch12-experiment: what do a teacher's maps teach a student that attends cheaply?

The check trains for five steps: too few for right answers, and enough for maps to come nearer.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import Between
from attnkit.checks.chapter12_claims import SECTIONS as OF_THE_CHAPTER

SECTIONS = {
    **OF_THE_CHAPTER,
    "ch12-distillation": "taught where to look",
    "ch12-accuracy": "what each gives up",
}
STEPS = 5


def trials(seeds: Sequence[int]) -> tuple[Trial, ...]:
    return tuple(
        Trial(
            f"measure({with_maps}, {seed}, {STEPS})",
            {"with_maps": with_maps, "seed": seed, "steps": STEPS},
        )
        for seed in seeds
        for with_maps in (True, False)
    )


def _found(seen: Sequence[Seen]) -> tuple[np.ndarray, np.ndarray]:
    """Shares of right answers and distances, each (with and without the maps, seeds)."""
    right, apart = (
        np.array([float(trial.got[name]) for trial in seen]).reshape(-1, 2).T
        for name in ("right", "apart")
    )
    return right, apart


def holds(seen: Sequence[Seen]) -> bool:
    """Fourteen seeds gave distances of 3.231 to 3.240 with the maps and 3.245 to 3.252 without,
    always at least 0.009 less with them, and shares from 0.045 to 0.075."""
    right, apart = _found(seen)
    near = (np.abs(apart - 3.24) < 0.08).all() and (right < 0.15).all() and (right >= 0).all()
    return bool(near and (apart[1] - apart[0] > 0.003).all())


def _like(
    right: float = 0.06, with_maps: float = 3.236, without: float = 3.248, spread: float = 0.002
) -> Callable:
    """A measurement that gives about these results."""

    def measure(maps: bool, seed: int, steps: int) -> tuple[float, float]:
        luck = random.Random(f"{maps}/{seed}")
        apart = with_maps if maps else without
        shift = spread * random.Random(seed).uniform(-1, 1)
        return right * (1 + 0.1 * luck.uniform(-1, 1)), apart + shift

    return measure


def _between(low: float, high: float) -> Callable[[Sequence[Seen]], bool]:
    """Whether every distance lies between these."""

    def when(seen: Sequence[Seen]) -> bool:
        apart = _found(seen)[1]
        return bool((apart > low).all() and (apart < high).all())

    return when


def _alike(seen: Sequence[Seen]) -> bool:
    apart = _found(seen)[1]
    return bool(np.allclose(apart[0], apart[1], atol=1e-5))


def _farther(seen: Sequence[Seen]) -> bool:
    apart = _found(seen)[1]
    return bool((apart[0] - apart[1] > 0.003).all() and (np.abs(apart - 3.24) < 0.08).all())


def _exchanged(measure: Callable) -> Callable:
    return lambda maps, seed, steps: measure(maps, seed, steps)[::-1]


def _wrong(
    name: str, message: str, sample: Callable, when: Callable, link: str = "ch12-distillation"
) -> Misconception:
    return Misconception(name, message, link, (sample,), when=when)


MISCONCEPTIONS = (
    _wrong(
        "results-exchanged",
        "The two results have changed places: the share of right answers comes first, the distance "
        "of the maps second.",
        _exchanged(_like()),
        lambda seen: bool((_found(seen)[0] > 2).all() and (_found(seen)[1] < 1).all()),
    ),
    _wrong(
        "loss-in-place-of-share",
        "The first result is a loss, in nats. A share of right answers lies between 0 and 1: judge "
        "says of each answer whether it is right.",
        _like(right=3.09),
        lambda seen: bool((_found(seen)[0] > 1).all()),
        link="ch12-accuracy",
    ),
    _wrong(
        "wrong-answers-counted",
        "The first result is the share of wrong answers. Asked for is that of right ones.",
        lambda maps, seed, steps: (
            1 - _like()(maps, seed, steps)[0],
            _like()(maps, seed, steps)[1],
        ),
        lambda seen: bool((_found(seen)[0] > 0.85).all()),
        link="ch12-accuracy",
    ),
    _wrong(
        "steps-not-used",
        "After five steps no student is as good as this one: it was trained for longer than the "
        "argument steps says. Hand it on to train_student.",
        _like(right=0.5, with_maps=1.1, without=3.9, spread=0.05),
        lambda seen: bool((_found(seen)[0].max(axis=0) > 0.25).all()),
    ),
    _wrong(
        "maps-not-in-the-loss",
        "With and without the maps the students are equally far from the teacher: with_maps "
        "changes nothing in how they are trained. Without the maps the loss of maps is None.",
        _like(with_maps=3.248),
        _alike,
    ),
    _wrong(
        "students-exchanged",
        "The student with the maps in its loss is farther from the teacher than the one without. "
        "Either the two were exchanged, or the loss pushes the maps apart.",
        _like(with_maps=3.248, without=3.236),
        _farther,
    ),
    _wrong(
        "direction-reversed",
        "This is the distance of the teacher's map from the student's. The teacher's weights are "
        "t, those in front of the logarithm: distillation_loss(student, teacher, mask).",
        _like(with_maps=7.62, without=7.63),
        _between(7, 8.5),
    ),
    _wrong(
        "every-query-counted",
        "Places without a question are in the mean of the distance. Only queries with an answer "
        "count, as in the loss of taught.",
        _like(with_maps=2.778, without=2.79),
        _between(2.6, 2.9),
    ),
)

DISTILLED = ExperimentExercise(
    id="ch12-experiment",
    title="What do the maps teach?",
    link="ch12-distillation",
    sections=SECTIONS,
    predicts=Between(-1, 1),
    call="measure(with_maps, seed, steps)",
    trials=trials,
    results=("right", "apart"),
    holds=holds,
    misconceptions=MISCONCEPTIONS,
    right=_like(),
    seeds=(0, 1),
)

EXERCISES = (DISTILLED,)
