"""Exercise ch5-experiment: three neighbours, and how many heads it takes to name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import Between, Each
from attnkit.checks._samples import measured_by, spread
from attnkit.checks.chapter05_claims import SECTIONS

_WORDS = {1: "one head", 2: "two heads", 4: "four heads"}


def _trials(seeds: Sequence[int]) -> tuple[Trial, ...]:
    """Two heads with every seed: there the seeds differ. One and four heads with the first."""

    def trial(heads: int, seed: int) -> Trial:
        inputs = {"num_heads": heads, "seed": seed}
        return Trial(f"{_WORDS[heads]}, seed {seed}", inputs, compared=heads == 2)

    return trial(1, seeds[0]), *(trial(2, seed) for seed in seeds), trial(4, seeds[0])


def _by_heads(trials: Sequence[Seen]) -> tuple[float, list[float], float]:
    """Shares with one head, with two (by seed), and with four."""
    shares = measured_by(trials, "num_heads")
    return shares[1][0], shares[2], shares[4][0]


def _holds(trials: Sequence[Seen]) -> bool:
    # Ten seeds after 200 steps: one head 0.003 to 0.017, two heads 0.06 to 0.66, four heads 1.000.
    # After 600 steps, as in the chapter: at most 0.014, 0.18 to 0.95, 1.000.
    one, two, four = _by_heads(trials)
    return one < 0.1 and one <= min(two) and max(two) < 0.995 and four > 0.9


def _when(condition: Callable[[float, list[float], float], bool]) -> Callable:
    return lambda trials: condition(*_by_heads(trials))


def _like(one: float, two: float, four: float, width: float = 0.01) -> Callable:
    return spread({1: one, 2: two, 4: four}, width)


MISCONCEPTIONS = (
    Misconception(
        "number-of-heads-not-used",
        "The measurement is the same for one head and for four: the number of heads did not reach "
        "the model.",
        "ch5-question",
        (_like(0.01, 0.01, 0.01, 0.005), _like(1.0, 1.0, 1.0, 0)),
        _when(lambda one, two, four: one == two[0] == four),
    ),
    Misconception(
        "loss-taken-for-share",
        "This falls where the model gets better, and starts above 1: it is the loss. Asked for is "
        "the share of places with all three cards right.",
        "ch5-question",
        (_like(1.7, 0.6, 0.02, 0.005),),
        _when(lambda one, two, four: one > 1 > four and one > max(two)),
    ),
    Misconception(
        "errors-counted",
        "This is the share of places with a mistake. The right ones are wanted: four heads hardly "
        "make a mistake.",
        "ch5-neighbours",
        (_like(0.99, 0.6, 0.01),),
        _when(lambda one, two, four: one > 0.9 and four < 0.1),
    ),
    Misconception(
        "any-taken-for-all",
        "This is the share of places where at least one card is right. All three have to be: "
        ".all(-1), not .any(-1).",
        "ch5-question",
        (_like(0.99, 1.0, 1.0), _like(0.88, 0.99, 1.0)),
        _when(lambda one, two, four: min(one, *two, four) > 0.7),
    ),
    Misconception(
        "two-questions-only",
        "Two heads get all of it right: only the two old questions were asked. The model needs "
        "n_questions=3, and both train and right need deal=deal_three.",
        "ch5-neighbours",
        (_like(0.16, 1.0, 1.0, 0.002), _like(0.57, 1.0, 1.0, 0.002)),
        _when(lambda one, two, four: 0.05 < one < 0.7 and min(two) > 0.985),
    ),
    Misconception(
        "each-card-by-itself",
        "This is the share of single cards that are right, one question at a time. A place counts "
        "when all three of its cards are right: .all(-1) before the mean.",
        "ch5-question",
        (_like(0.41, 0.83, 1.0), _like(0.4, 0.97, 1.0)),
        _when(lambda one, two, four: 0.3 < one < 0.6 and min(two) > 0.55 and four > 0.9),
    ),
    Misconception(
        "not-trained",
        "No model gets anything right, the one with four heads neither: this is what guessing "
        "gives. Train the model before it is asked.",
        "ch5-question",
        (_like(0.0003, 0.0004, 0.0002, 0.0001),),
        _when(lambda one, two, four: max(one, *two, four) < 0.05),
    ),
)

EXPERIMENT = ExperimentExercise(
    id="ch5-experiment",
    title="Three neighbours",
    link="ch5-question",
    sections=SECTIONS,
    predicts=Each((1, 2, 4), Between(0, 1)),
    call="measure(num_heads, seed)",
    trials=_trials,
    results=("share",),
    holds=_holds,
    right=_like(0.02, 0.8, 1.0),
    misconceptions=MISCONCEPTIONS,
    seeds=(0, 1),
)

EXERCISES = (EXPERIMENT,)
