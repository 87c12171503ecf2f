"""Exercise ch2-experiment: what does a translator without its padding mask still translate?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import Between
from attnkit.checks.chapter02_look_back import SECTIONS

#: Numbers of so many digits are translated.
DIGITS = (1, 2, 6)


def _shares(seen: Sequence[Seen]) -> list[float]:
    return [float(trial.got["share"]) for trial in seen]


def _within(*ranges: tuple[float, float]) -> Callable[[Sequence[Seen]], bool]:
    """Whether the results of one, two and six digits lie in these ranges, bounds included."""

    def when(seen: Sequence[Seen]) -> bool:
        pairs = zip(_shares(seen), ranges, strict=True)
        return all(low <= share <= high for share, (low, high) in pairs)

    return when


def _like(*shares: float) -> Callable[[int], float]:
    return lambda digits: shares[DIGITS.index(digits)]


THEFT = ExperimentExercise(
    id="ch2-experiment",
    title="Does the theft do harm?",
    link="ch2-padding",
    sections=SECTIONS,
    predicts=Between(0, 1),
    call="measure(digits)",
    trials=tuple(Trial(f"measure({n})", {"digits": n}) for n in DIGITS),
    results=("share",),
    # All numbers of one and of two digits: 4 of 9 and 10 of 90, whoever measures. Twelve draws of
    # 200 numbers of six digits gave 0.97 to 1; of 100 numbers, some more spread.
    holds=_within((0.3, 0.6), (0.05, 0.15), (0.93, 1)),
    right=_like(0.444, 0.111, 0.99),
    misconceptions=(
        Misconception(
            "mask-left-on",
            "Practically all are right: this is the translator with its mask. Measure `unmasked`.",
            "ch2-padding",
            (_like(1.0, 1.0, 1.0),),
            when=_within((0.97, 1), (0.97, 1), (0.97, 1)),
        ),
        Misconception(
            "not-padded",
            "A batch of short numbers alone has next to no padding. Put empty places behind every "
            "source, to 24 characters, before you translate.",
            "ch2-padding",
            (_like(1.0, 0.9, 1.0),),
            when=_within((0.9, 1), (0.5, 0.9699), (0.9, 1)),
        ),
        Misconception(
            "padding-read-as-text",
            "Nothing is right: the encoder has read the padding as if it were text. The source "
            "becomes longer, and source_lengths stays what it was.",
            "ch2-padding",
            (_like(0.0, 0.0, 0.0),),
            when=_within((0, 0.2), (0, 0.02), (0, 0.3)),
        ),
        Misconception(
            "words-for-numbers",
            "This is a share of words, or of numbers with some word right. A number counts when "
            "all of its words are right and it ends where it should.",
            "ch2-scores",
            (
                _like(0.5, 0.17, 1.0),  # all words
                _like(0.5, 0.23, 0.998),  # and the empty places behind them
                _like(0.56, 0.29, 1.0),  # any word
                _like(0.72, 0.68, 0.999),  # words, the right ones fed
            ),
            when=_within((0.3, 0.85), (0.151, 0.8), (0.9, 1)),
        ),
        Misconception(
            "mistakes-for-right",
            "This is the share that is wrong: long numbers, which lose little weight to padding, "
            "come out worst. Count those that are right.",
            "ch2-padding",
            (_like(0.556, 0.889, 0.01),),
            when=_within((0.4, 0.7), (0.8, 0.949), (0, 0.1)),
        ),
        Misconception(
            "theft-for-harm",
            "This is the weight that padding gets. Whether it does harm is the question: count the "
            "numbers that come out right.",
            "ch2-padding",
            (_like(0.66, 0.4, 0.21), _like(0.85, 0.57, 0.23)),
            when=_within((0.5, 0.95), (0.25, 0.7), (0.02, 0.4)),
        ),
        Misconception(
            "loss-for-accuracy",
            "This is a loss: it is large where the numbers come out wrong. The share of numbers "
            "that come out right is asked for.",
            "ch2-scores",
            (_like(0.61, 1.01, 0.014),),
            when=_within((0.3, 5), (0.95, 9), (0, 0.3)),
        ),
        Misconception(
            "only-the-test-numbers",
            "There are hardly any test numbers of one digit, and few of two. Take all numbers of "
            "one and of two digits, trained on or not.",
            "ch2-padding",
            (_like(0.0, 0.083, 0.98),),
            when=_within((0, 0.2), (0.021, 0.15), (0.9, 1)),
        ),
        Misconception(
            "counts-for-shares",
            "These are numbers of translations. Divide each by how many were translated: there are "
            "fewer numbers of one digit than of two.",
            "ch2-padding",
            (_like(4, 10, 199), _like(4, 10, 99)),
            when=_within((2, 9), (6, 14), (60, 1e6)),
        ),
    ),
)

EXERCISES = (THEFT,)
