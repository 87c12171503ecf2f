"""Exercise ch2-temperature: invert the softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Seen, Trial

#: The sections of chapter 2 that messages link to.
SECTIONS = {
    "ch2-dictionary": "A dictionary that is not sure",
    "ch2-by-hand": "Three steps by hand",
    "ch2-module": "The score is a small network",
    "ch2-scores": "Three scores, one look-up",
    "ch2-temperature": "What a temperature can do",
    "ch2-hard": "The hard choice",
    "ch2-alignment": "Is attention an alignment?",
    "ch2-padding": "Padding steals",
}


def _rounded(trials: Sequence[Seen]) -> bool:
    """The formula, cut to two digits behind the point or fewer."""
    pairs = [
        (float(seen.got["temperature"].item()), float(seen.expected["temperature"]))
        for seen in trials
        if seen.shaped
    ]
    return len(pairs) == len(trials) and any(
        all(math.isclose(got, round(expected, digits), abs_tol=1e-6) for got, expected in pairs)
        for digits in range(3)
    )


def _trial(a: float, b: float, ratio: float, compared: bool = True) -> Trial:
    inputs = {"score_a": a, "score_b": b, "ratio": ratio}
    return Trial(f"scores {a} and {b}, ratio {ratio}", inputs, compared)


TEMPERATURE = FunctionExercise(
    id="ch2-temperature",
    title="Which temperature gives this ratio?",
    link="ch2-temperature",
    call="temperature_for(score_a, score_b, ratio)",
    results=("temperature",),
    styles=("numpy",),
    sections=SECTIONS,
    right=lambda a, b, ratio: (a - b) / np.log(ratio),
    trials=(
        _trial(4.0, 1.0, 2.0),
        _trial(5.8, 0.05, 16.0),
        _trial(0.1, 0.05, 2.0),
        _trial(1.0, 3.0, 0.25),
        _trial(2.5, 1.7, 1.5),
        _trial(-1.0, -3.0, 5.0, compared=False),
        _trial(0.0, -2.0, 3.0, compared=False),
    ),
    misconceptions=(
        Misconception(
            "ratio-of-scores",
            "The scores are divided by each other. Weights have the ratio exp((a − b)/T): the "
            "softmax sees the difference of the scores, not their ratio.",
            "ch2-temperature",
            (
                lambda a, b, r: a / b,
                lambda a, b, r: a / b / r,
                lambda a, b, r: r / (a / b),
                lambda a, b, r: a / b / math.log(r),
            ),
        ),
        Misconception(
            "log-of-the-score-ratio",
            "The logarithm is taken of the scores too. They stand in the exponent already: "
            "ln(weight_a / weight_b) = (score_a − score_b)/T.",
            "ch2-temperature",
            (
                lambda a, b, r: math.log(a / b) / math.log(r),
                lambda a, b, r: math.log(r) / math.log(a / b),
            ),
        ),
        Misconception(
            "log-of-the-difference",
            "The logarithm is taken of the difference as well. It belongs to the ratio only: "
            "ln(ratio) = (score_a − score_b)/T.",
            "ch2-temperature",
            (
                lambda a, b, r: math.log(a - b) / math.log(r),
                lambda a, b, r: np.log(a - b) / np.log(r),
                lambda a, b, r: math.log(abs(a - b)) / math.log(r),
            ),
        ),
        Misconception(
            "upside-down",
            "This is 1/T: numerator and denominator have changed places. The larger T is, the "
            "closer the ratio comes to 1.",
            "ch2-temperature",
            (lambda a, b, r: math.log(r) / (a - b),),
        ),
        Misconception(
            "sign-swapped",
            "The sign is wrong: a temperature is positive, and score_a belongs to the weight above "
            "the bar.",
            "ch2-temperature",
            (lambda a, b, r: (b - a) / math.log(r),),
        ),
        Misconception(
            "log-base-10",
            "This takes log10. The softmax is made of powers of e, so it is the natural logarithm "
            "that undoes it.",
            "ch2-temperature",
            (lambda a, b, r: (a - b) / math.log10(r),),
        ),
        Misconception(
            "log-base-2",
            "This takes log2. The softmax is made of powers of e, so it is the natural logarithm "
            "that undoes it.",
            "ch2-temperature",
            (lambda a, b, r: (a - b) / math.log2(r),),
        ),
        Misconception(
            "no-logarithm",
            "The difference is divided by the ratio itself. The ratio is exp((a − b)/T): take its "
            "logarithm first.",
            "ch2-temperature",
            (lambda a, b, r: (a - b) / r, lambda a, b, r: r / (a - b)),
        ),
        Misconception(
            "multiplied-by-the-logarithm",
            "(a − b)/T = ln(ratio): to solve it for T, divide by the logarithm. This multiplies.",
            "ch2-temperature",
            (lambda a, b, r: (a - b) * math.log(r),),
        ),
        Misconception(
            "exp-for-log",
            "exp makes weights out of scores. From weights back to scores leads the logarithm.",
            "ch2-temperature",
            (lambda a, b, r: (a - b) / math.exp(r),),
        ),
        Misconception(
            "weights-made-to-sum-to-one",
            "The ratio was first turned into a weight, ratio/(1 + ratio). The logarithm of a "
            "weight keeps the sum below the bar; in the ratio of two weights it cancels.",
            "ch2-temperature",
            (
                lambda a, b, r: (a - b) / math.log(r / (1 + r)),
                lambda a, b, r: (a - b) / -math.log(r / (1 + r)),
                lambda a, b, r: a / math.log(r / (1 + r)),
            ),
        ),
        Misconception(
            "one-added-in-the-logarithm",
            "This is ln(1 + ratio). Nothing is added: the logarithm of the ratio itself is the "
            "difference of the scaled scores.",
            "ch2-temperature",
            (lambda a, b, r: (a - b) / math.log1p(r),),
        ),
        Misconception(
            "difference-from-one",
            "ratio − 1 stands for its logarithm. That is close near 1, and far off at 16.",
            "ch2-temperature",
            (lambda a, b, r: (a - b) / (r - 1),),
        ),
        Misconception(
            "scores-added",
            "The scores are added. Dividing one power by another subtracts the exponents.",
            "ch2-temperature",
            (lambda a, b, r: (a + b) / math.log(r),),
        ),
        Misconception(
            "other-score-forgotten",
            "Only one of the scores is used. Both keys are scaled by T: their difference counts.",
            "ch2-temperature",
            (lambda a, b, r: a / math.log(r), lambda a, b, r: b / math.log(r)),
        ),
        Misconception(
            "powers-for-scores",
            "The scores went through exp before they were subtracted. exp((a − b)/T) divides two "
            "powers; their difference appears nowhere.",
            "ch2-temperature",
            (
                lambda a, b, r: (math.exp(a) - math.exp(b)) / math.log(r),
                lambda a, b, r: math.exp(a - b) / r,
                lambda a, b, r: math.exp(a - b) / math.log(r),
            ),
        ),
        Misconception(
            "scores-taken-for-the-wanted-difference",
            "This is ln(ratio), the difference of the scores after dividing by T. The scores given "
            "have another one: T is what takes one to the other.",
            "ch2-temperature",
            (lambda a, b, r: math.log(r), lambda a, b, r: (a - b) - math.log(r)),
        ),
        Misconception(
            "rounded",
            "The formula is right and digits were cut off. Return the number as it is: at T = 0.07 "
            "two digits are not enough.",
            "ch2-temperature",
            when=_rounded,
        ),
    ),
)

EXERCISES = (TEMPERATURE,)
