"""Exercise ch9-experiment: is a model led astray by the wrong word that it wrote itself?

The models are those of chapter 9's first seed, 100 new numbers of twelve digits for each seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import Between, Each
from attnkit.checks.chapter09_claims import SECTIONS as OF_THE_CHAPTER

NAMES = ("GRU", "Transformer")
SECTIONS = {
    **OF_THE_CHAPTER,
    "ch9-training": "the same numbers, two machines",
    "ch9-breaks": "where it breaks",
}


def trials(seeds: Sequence[int]) -> tuple[Trial, ...]:
    return tuple(
        Trial(f"measure({name!r}, {seed})", {"name": name, "seed": seed})
        for seed in seeds
        for name in NAMES
    )


def _shares(seen: Sequence[Seen]) -> np.ndarray:
    """Measured shares, (models, seeds)."""
    return np.array([float(trial.got["share"]) for trial in seen]).reshape(-1, 2).T


def holds(seen: Sequence[Seen]) -> bool:
    """Sixty seeds gave 0.955 to 1 (GRU) and 0.399 to 0.478 (Transformer).

    The mean of the sentences' shares, and the share without the <eos>, lie within these bounds.
    """
    gru, transformer = _shares(seen)
    near = (gru >= 0.93).all() and (transformer > 0.36).all() and (transformer < 0.51).all()
    return bool(near and gru.mean() >= 0.965)


def _within(gru: tuple[float, float], transformer: tuple[float, float]) -> Callable:
    """Whether the means over the seeds lie between these bounds."""

    def when(seen: Sequence[Seen]) -> bool:
        means = _shares(seen).mean(axis=1)
        (low, high), (lowest, highest) = gru, transformer
        return bool(low <= means[0] < high and lowest <= means[1] < highest)

    return when


def _like(gru: float, transformer: float) -> Callable:
    """A measurement with about these results, and some spread over the seeds."""

    def measure(name: str, seed: int) -> float:
        middle = gru if name == "GRU" else transformer
        spread = min(0.02, middle, 1 - middle) * random.Random(f"{name}/{seed}").uniform(-1, 1)
        return middle + spread / 4

    return measure


def _wrong(
    name: str, message: str, *found: tuple[float, float, Callable], link: str = "ch9-training"
) -> Misconception:
    """What gives (share of the GRU, share of the Transformer), recognised by a condition each."""
    samples = tuple(_like(gru, transformer) for gru, transformer, _ in found)
    conditions = [condition for *_, condition in found]
    return Misconception(
        name, message, link, samples, when=lambda seen: any(c(seen) for c in conditions)
    )


def _one_model(seen: Sequence[Seen]) -> bool:
    gru, transformer = _shares(seen)
    return bool(np.allclose(gru, transformer, atol=1e-9))


def _same_for_both(share: float) -> Callable:
    return lambda name, seed: _like(share, share)("GRU", seed)


MISCONCEPTIONS = (
    Misconception(
        "one-model-for-both",
        "Both names give the same numbers: the model of the argument is not the one that is asked. "
        "Take models[name].",
        "ch9-training",
        (_same_for_both(0.43), _same_for_both(0.98)),
        when=_one_model,
    ),
    _wrong(
        "fed-what-it-should-say",
        "The model was fed the very word that a place is to say, and then it says the next one. It "
        "reads <bos> and all words but the last: shifted_right(batch.target).",
        (0.05, 0.014, _within((0, 0.12), (0, 0.1))),
        link="ch9-masks",
    ),
    _wrong(
        "fed-its-own-words",
        "These are words that the model wrote alone. All that follows has then read the wrong "
        "word, and stands one place off where one is missing. Feed the right words.",
        (0.55, 0.04, _within((0.12, 0.77), (0.005, 0.1))),
        (0.73, 0.4, _within((0.64, 0.77), (0.33, 0.46))),
        (0.935, 0.4, _within((0.912, 0.965), (0.33, 0.46))),
    ),
    _wrong(
        "whole-sentences-counted",
        "Counted are sentences that are right from their first word or from the mistake to the "
        "end. A share of words is asked for: one more mistake does not undo the words around it.",
        (0.76, 0.0, _within((0.5, 1.1), (-1, 0.005))),
    ),
    _wrong(
        "wrong-words-counted",
        "This is the share of the words that are wrong. Asked for is the share that is right.",
        (0.014, 0.57, _within((-1, 0.06), (0.5, 0.65))),
        (0.012, 0.375, _within((-1, 0.06), (0.3, 0.5))),
    ),
    _wrong(
        "padding-counted",
        "The empty places behind a sentence were counted as words that should have been said. Only "
        "the first batch.target_lengths places of a row are words, the <eos> included.",
        (0.6, 0.375, _within((0.5, 0.64), (0.31, 0.43))),
        (0.82, 0.375, _within((0.77, 0.872), (0.31, 0.43))),
        (0.905, 0.575, _within((0.86, 0.93), (0.53, 0.602))),
    ),
    _wrong(
        "mistake-itself-counted",
        "The first mistake was counted among the words behind it, and it is wrong by definition. "
        "The count begins one word later.",
        (0.893, 0.4, _within((0.872, 0.912), (0.34, 0.46))),
    ),
    _wrong(
        "words-before-counted",
        "The words in front of the first mistake are in the count, and they are right by "
        "definition. They say nothing about what the mistake does.",
        (0.987, 0.625, _within((0.93, 1.1), (0.602, 0.65))),
    ),
    _wrong(
        "next-word-only",
        "This is the share of the words right behind the mistake. All words of the sentence that "
        "stand behind it are asked for.",
        (0.95, 0.75, _within((0.85, 1.1), (0.65, 0.9))),
    ),
)

ASTRAY = ExperimentExercise(
    id="ch9-experiment",
    title="Does one wrong word lead to the next?",
    link="ch9-training",
    sections=SECTIONS,
    predicts=Each(NAMES, Between(0, 1)),
    call="measure(name, seed)",
    trials=trials,
    results=("share",),
    holds=holds,
    misconceptions=MISCONCEPTIONS,
    right=_like(0.985, 0.435),
    seeds=(0, 1),
)

EXERCISES = (ASTRAY,)
