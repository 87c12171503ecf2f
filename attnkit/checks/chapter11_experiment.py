"""Exercise ch11-experiment: does another model's weight point to what this model needs?

The five models and the 500 names are those of chapter 11. Nothing is drawn: every number is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import Between
from attnkit.checks.chapter11_claims import SECTIONS

#: (reader, guide): two that differ, the same two exchanged, one alone, and with the best guide.
PAIRS = ((3, 1), (1, 3), (2, 2), (2, 1))
#: Shares of flipped answers of the pairs: of the first 500 test names, and of all test names.
FLIPPED = (0.640, 0.580, 0.590, 0.640)
OF_ALL_NAMES = (0.639, 0.561, 0.618, 0.620)


def _measured(shares: Sequence[float]) -> Callable:
    by_pair = dict(zip(PAIRS, shares, strict=True))
    return lambda reader, guide: by_pair[reader, guide]


def _near(shares: Sequence[float], by: float) -> Callable:
    def when(seen: Sequence[Seen]) -> bool:
        got = np.array([float(trial.got["share"]) for trial in seen])
        return bool((np.abs(got - np.array(shares)) <= by).all())

    return when


def holds(seen: Sequence[Seen]) -> bool:
    """The chapter's numbers, up to five names that another machine's last digits may decide."""
    return _near(FLIPPED, 0.011)(seen) or _near(OF_ALL_NAMES, 0.011)(seen)


def _wrong(
    name: str, message: str, *shares: Sequence[float], link: str = "ch11-deletion"
) -> Misconception:
    conditions = [_near(numbers, 0.005) for numbers in shares]
    samples = tuple(map(_measured, shares))
    return Misconception(
        name, message, link, samples, when=lambda seen: any(c(seen) for c in conditions)
    )


MISCONCEPTIONS = (
    _wrong(
        "own-weights-taken",
        "The reader's own weights chose the character, whoever was to be the guide. The place "
        "comes from the weights of five[guide].",
        (0.616, 0.690, 0.590, 0.590),
    ),
    _wrong(
        "guide-reads-too",
        "The guide chose the character and gave the answers as well, so that the reader was never "
        "asked. Whole and shortened names go to five[reader].",
        (0.690, 0.616, 0.590, 0.690),
    ),
    _wrong(
        "roles-exchanged",
        "Reader and guide have changed places: the first argument answers, the second one chooses "
        "the character.",
        (0.580, 0.640, 0.590, 0.530),
    ),
    _wrong(
        "least-attended-deleted",
        "The character that was deleted has the smallest weight. The guide's largest weight "
        "chooses.",
        (0.154, 0.160, 0.108, 0.152),
    ),
    _wrong(
        "slope-taken-for-weight",
        "The character was chosen by gradient × input. Here a weight chooses, that of the guide.",
        (0.638, 0.616, 0.692, 0.650),
        (0.676, 0.746, 0.692, 0.692),
    ),
    _wrong(
        "deleted-from-the-pool",
        "The weight was set to zero and the name left as it was. Then the states around still hold "
        "what they have read of the character: delete it from the string.",
        (0.410, 0.430, 0.566, 0.288),
    ),
    _wrong(
        "every-copy-deleted",
        "The character is gone from all its places in the name: replace does that. Only the one at "
        "the chosen place is to go.",
        (0.698, 0.610, 0.630, 0.712),
    ),
    _wrong(
        "answers-of-two-models-compared",
        "The reader's answer was compared with one of the guide's. Both answers, before and after, "
        "are the reader's; two models differ in a fifth of the names anyway.",
        (0.678, 0.612, 0.590, 0.690),
        (0.208, 0.208, 0.000, 0.224),
    ),
    _wrong(
        "compared-with-the-language",
        "The answer was compared with the right language. The question is whether the reader says "
        "something else than before, right or wrong.",
        (0.684, 0.608, 0.616, 0.692),
        (0.422, 0.354, 0.370, 0.428),
    ),
    _wrong(
        "kept-answers-counted",
        "This is the share of answers that stay. Asked for is the share that flips.",
        (0.360, 0.420, 0.410, 0.360),
    ),
    _wrong(
        "places-compared",
        "This is how often both models have their largest weight on the same character. It needs a "
        "deletion to find out whether an answer hangs on it.",
        (0.566, 0.566, 1.000, 0.410),
        link="ch11-pooling",
    ),
)

GUIDED = ExperimentExercise(
    id="ch11-experiment",
    title="Somebody else's weights",
    link="ch11-deletion",
    sections=SECTIONS,
    predicts=Between(0, 1),
    call="measure(reader, guide)",
    trials=tuple(
        Trial(f"measure({reader}, {guide})", {"reader": reader, "guide": guide})
        for reader, guide in PAIRS
    ),
    results=("share",),
    holds=holds,
    misconceptions=MISCONCEPTIONS,
    right=_measured(FLIPPED),
)

EXERCISES = (GUIDED,)
