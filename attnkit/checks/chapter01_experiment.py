"""Exercise ch1-experiment: where does the translation from one fixed vector go wrong first?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import OneOf
from attnkit.checks.chapter01_claims import SECTIONS

#: So many numbers are translated for each seed; about three in four of them wrongly.
NUMBERS = 150


def trials(seeds: Sequence[int]) -> tuple[Trial, ...]:
    return tuple(Trial(f"measure({seed})", {"seed": seed}) for seed in seeds)


def _shares(seen: Sequence[Seen]) -> np.ndarray:
    """Measured shares, (seeds, thirds)."""
    return np.array([trial.got["shares"] for trial in seen], dtype=float)


def _of_all_numbers(shares: np.ndarray) -> bool:
    """Whether these are shares of all numbers: each is so many of NUMBERS, for every seed.

    Shares rounded to two decimals may look like that by chance, and are given the benefit.
    """
    return _multiples(shares * NUMBERS) and not _multiples(shares * 100)


def _multiples(shares: np.ndarray) -> bool:
    return bool(np.abs(shares - shares.round()).max() < 0.02)


def holds(seen: Sequence[Seen]) -> bool:
    """Twenty runs gave 0.74 to 0.88 in the first third and at most 0.03 in the last (three models).

    Two seeds at once: their mean is surer than either.
    """
    shares = _shares(seen)
    first, middle, last = shares.mean(axis=0)
    sums = np.abs(shares.sum(axis=1) - 1).max() < 0.02
    near = 0.68 < first < 0.95 and shares[:, 0].min() > 0.6 and 0.04 < middle < 0.34 and last < 0.09
    return bool(sums and near and not _of_all_numbers(shares))


def _when(condition: Callable[[np.ndarray], object]) -> Callable[[Sequence[Seen]], bool]:
    return lambda seen: bool(condition(_shares(seen)))


def _sums_to_one(shares: np.ndarray) -> bool:
    return bool(np.abs(shares.sum(axis=1) - 1).max() < 0.02)


def _first_of_sum(shares: np.ndarray) -> np.ndarray:
    return shares[:, 0] / shares.sum(axis=1)


def _whole(shares: np.ndarray) -> bool:
    return bool((shares == shares.round()).all())


def _right(seed: int) -> list[float]:
    wrong = (101, 103, 107, 109, 113)[seed % 5]
    last, middle = seed % 3, round(0.2 * wrong)
    return [(wrong - middle - last) / wrong, middle / wrong, last / wrong]


FIRST_MISTAKE = ExperimentExercise(
    id="ch1-experiment",
    title="Where does the fixed vector go wrong first?",
    link="ch1-live",
    sections=SECTIONS,
    predicts=OneOf("first", "middle", "last"),
    call="measure(seed)",
    trials=trials,
    seeds=(0, 1),
    results=("shares",),
    shapes={"shares": (3,)},
    holds=holds,
    right=_right,
    misconceptions=(
        Misconception(
            "right-ones-counted",
            "These are shares of all 150 numbers. The numbers that were translated rightly have no "
            "wrong word, and argmax puts them into the first third; leave them out.",
            "ch1-live",
            (lambda seed: [(125 + seed % 5) / 150, (23 - seed % 5) / 150, 2 / 150],),
            when=_when(
                lambda shares: (
                    _sums_to_one(shares)
                    and _of_all_numbers(shares)
                    and not _whole(shares)
                    and shares[:, 0].min() > 0.68
                )
            ),
        ),
        Misconception(
            "divided-by-all",
            "The shares do not add up to one: they were divided by the number of all sentences. "
            "Only those with a mistake can have a first one.",
            "ch1-live",
            (lambda seed: [0.56 + seed % 5 / 100, 0.15, 0.01],),
            when=_when(
                lambda shares: shares.sum(axis=1).max() < 0.96 and _first_of_sum(shares).min() > 0.6
            ),
        ),
        Misconception(
            "not-only-the-first",
            "Later mistakes have been counted too, or the last one in place of the first. What "
            "follows a wrong word has been written after a wrong word: only the first mistake of a "
            "sentence tells where it began.",
            "ch1-write",
            (
                lambda seed: [0.25, 0.42, 0.33],  # all wrong words
                lambda seed: [0.4, 0.42, 0.18],  # all, each sentence with the same weight
                lambda seed: [0.17, 0.42, 0.41],  # the last one
                lambda seed: [0.19, 0.3, 0.26],  # share of the words that are wrong
            ),
            when=_when(
                lambda shares: (
                    shares.sum(axis=1).max() < 1.2
                    and _first_of_sum(shares).max() < 0.58
                    and shares.max() < 0.6
                )
            ),
        ),
        Misconception(
            "counted-in-several-thirds",
            "The shares add up to far more than one: a sentence was counted in every third that "
            "has a mistake. It has one first mistake, and so one third.",
            "ch1-live",
            (lambda seed: [0.78, 0.8, 0.43],),
            when=_when(lambda shares: shares.sum(axis=1).min() > 1.5 and shares.max() <= 1),
        ),
        Misconception(
            "counts-for-shares",
            "These are numbers of sentences. Divide by how many were translated wrongly, so that "
            "the three add up to one.",
            "ch1-live",
            (lambda seed: [87 + seed % 5, 22, 1],),
            when=_when(lambda shares: shares.sum(axis=1).min() > 10 and _whole(shares)),
        ),
        Misconception(
            "first-right-word",
            "Every sentence falls into its first third: argmax looks for the first True, and these "
            "are True where a word is right. Look for the first that differs.",
            "ch1-live",
            (lambda seed: [1.0, 0.0, 0.0],),
            when=_when(lambda shares: (shares == [1, 0, 0]).all()),
        ),
        Misconception(
            "thirds-in-reverse",
            "This has most first mistakes in the last third. The order of the three shares is "
            "first, middle, last, and the first word of a sentence has the place 0.",
            "ch1-write",
            (lambda seed: _right(seed)[::-1],),
            when=_when(lambda shares: shares[:, 2].min() > 0.6 and shares[:, 1].min() > 0.04),
        ),
        Misconception(
            "the-other-model",
            "So few sentences are wrong that a single one decides: this is the model with "
            'attention. Measure models["fixed"].',
            "ch1-models",
            (
                lambda seed: [0.0, 0.0, 1.0],
                lambda seed: [0.0, float(seed % 2), 0.0],  # not one is wrong for an even seed
            ),
            when=_when(
                lambda shares: (
                    np.isin((2 * shares).round(6), (0, 1, 2)).all()
                    and np.isin(shares.sum(axis=1), (0, 1)).all()
                )
            ),
        ),
    ),
)

EXERCISES = (FIRST_MISTAKE,)
