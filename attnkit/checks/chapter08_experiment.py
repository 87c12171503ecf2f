"""Exercise ch8-experiment: positions squeezed into the range of the training."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import Between
from attnkit.checks._samples import measured_by, spread
from attnkit.checks.chapter08_claims import SECTIONS

#: Letters in a copy, and the number that every position is divided by.
_CASES = ((16, 1.0), (16, 1.5), (32, 1.0), (32, 2.0))


def _trials(seeds: Sequence[int]) -> tuple[Trial, ...]:
    return tuple(
        Trial(
            f"copies of {period}, divided by {factor:g}, seed {seed}",
            {"period": period, "factor": factor, "seed": seed},
            compared=period == 32,
        )
        for seed in seeds
        for period, factor in _CASES
        if period == 32 or seed == seeds[0]
    )


def _shares(trials: Sequence[Seen]) -> tuple[float, float, list[float], list[float]]:
    """Shares at 16 letters, plain and squeezed, and at 32, plain and squeezed, by seed."""
    shares = measured_by(trials, "period", "factor")
    short, squeezed, long, halved = (shares[case] for case in _CASES)
    return short[0], squeezed[0], long, halved


def _holds(trials: Sequence[Seen]) -> bool:
    # The kept model, 12 seeds: 1.00, 0.79 to 0.82, 0.87 to 0.90, 0.08 to 0.11. Four models trained
    # anew: 1.00, 0.80 to 0.90, 0.74 to 0.90, 0.09 to 0.21.
    short, squeezed, long, halved = _shares(trials)
    return (
        short > 0.97 > squeezed > 0.65 and min(long) > 0.65 and max(long) < 0.95
        and 0.04 < min(halved) and max(halved) < 0.4
    )  # fmt: skip


def _when(condition: Callable[[float, float, list[float], list[float]], bool]) -> Callable:
    return lambda trials: condition(*_shares(trials))


def _like(*values: float, width: float = 0.01) -> Callable:
    return spread(dict(zip(_CASES, values, strict=True)), width, of=lambda *case: case)


MISCONCEPTIONS = (
    Misconception(
        "errors-counted",
        "This is the share of wrong answers. The right ones are wanted.",
        "ch8-lengths",
        (_like(0.01, 0.2, 0.12, 0.91),),
        _when(lambda short, squeezed, long, halved: short < 0.1 and min(halved) > 0.6),
    ),
    Misconception(
        "not-the-trained-model",
        "Nothing is right at 16 letters either, where the trained model has all of it. Ask the one "
        "that was kept, first_seed(\"rotary\").",
        "ch8-lengths",
        (_like(0.02, 0.02, 0.02, 0.02),),
        _when(lambda short, squeezed, long, halved: max(short, squeezed, *long, *halved) < 0.2),
    ),
    Misconception(
        "another-kind-of-position",
        "Squeezing changes nothing, and without it these are not the shares of the rotary model: "
        "this one does not turn its queries and keys. Ask the rotary one.",
        "ch8-rotary",
        (_like(0.98, 0.98, 0.21, 0.21), _like(0.95, 0.95, 0.05, 0.05), _like(0.4, 0.4, 0.2, 0.2)),
        _when(
            lambda short, squeezed, long, halved: long == halved
            and short == squeezed
            and (max(long) < 0.7 or short < 0.97)
        ),
    ),
    Misconception(
        "length-not-used",
        "Copies of 16 and of 32 letters have the same share: the number of letters did not reach "
        "right.",
        "ch8-lengths",
        (_like(1.0, 0.8, 1.0, 0.1, width=0), _like(0.88, 0.3, 0.88, 0.1)),
        _when(lambda short, squeezed, long, halved: short == long[0] or min(long) > 0.97),
    ),
    Misconception(
        "not-squeezed",
        "At 32 letters the share is the same with the positions halved: the factor did not reach "
        "the model. Call right inside the with block, while squeezed is entered.",
        "ch8-rotary",
        (_like(1.0, 1.0, 0.88, 0.88), _like(1.0, 0.81, 0.88, 0.88)),
        _when(lambda short, squeezed, long, halved: long == halved),
    ),
    Misconception(
        "stretched-for-squeezed",
        "The positions were multiplied: neighbours then stand further apart than ever in training. "
        "Squeezing divides them.",
        "ch8-rotary",
        (_like(1.0, 0.53, 0.88, 0.02), _like(1.0, 0.43, 0.8, 0.02)),
        _when(
            lambda short, squeezed, long, halved: short > 0.9
            and 0.2 < squeezed <= 0.65
            and max(halved) < 0.06
        ),
    ),
    Misconception(
        "not-divided-alike",
        "Even squeezed a little, 16 letters are lost: the division did more than was asked. Divide "
        "once, and the positions of queries and keys alike: otherwise no distance is right.",
        "ch8-rotary",
        (_like(1.0, 0.08, 0.88, 0.03), _like(1.0, 0.05, 0.88, 0.02)),
        _when(
            lambda short, squeezed, long, halved: short > 0.9
            and squeezed <= 0.3
            and min(long) > 0.7
        ),
    ),
)  # fmt: skip

EXPERIMENT = ExperimentExercise(
    id="ch8-experiment",
    title="Squeeze the positions",
    link="ch8-lengths",
    sections=SECTIONS,
    predicts=Between(0, 1),
    call="measure(period, factor, seed)",
    trials=_trials,
    results=("share",),
    holds=_holds,
    right=_like(1.0, 0.81, 0.88, 0.1),
    misconceptions=MISCONCEPTIONS,
    seeds=(0, 1),
)

EXERCISES = (EXPERIMENT,)
