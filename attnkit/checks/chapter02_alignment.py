"""Exercise ch2-alignment: how often does the largest weight lie where the word comes from?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Seen, Trial
from attnkit.checks.chapter02_temperature import SECTIONS


def _hits(weights: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """For each word, whether its largest weight lies on one of its characters."""
    return sources[np.arange(len(weights)), weights.argmax(axis=1)]


def _share(of_words: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """The mean of something over the determined words; nan where there are none."""

    def share(weights, sources):
        determined = sources.any(axis=1)
        if not determined.any():
            return float("nan")
        return of_words(weights, sources)[determined].mean()

    return share


def _mass(weights: np.ndarray, sources: np.ndarray) -> np.ndarray:
    return (weights * sources).sum(axis=1)


def _diagonal(weights: np.ndarray, sources: np.ndarray) -> np.ndarray:
    return weights.argmax(axis=1) == np.arange(len(weights))


def _by_character(weights: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """For each character, whether the word that looks at it most comes from it."""
    return sources[weights.argmax(axis=0), np.arange(sources.shape[1])]


def _all_sources(weights: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Whether the k largest weights are the k characters of the word."""
    rank = (-weights).argsort(axis=1).argsort(axis=1)
    return ((rank < sources.sum(axis=1, keepdims=True)) == sources).all(axis=1)


def _none_determined(trials: Sequence[Seen]) -> bool:
    """Right wherever a word is determined, and something else than nan where none is."""
    none = [seen for seen in trials if np.isnan(seen.expected["accuracy"])]
    return all(seen.right for seen in trials if seen not in none) and not any(
        seen.right for seen in none
    )


def _trial(name: str, weights: list, sources: list, compared: bool = True) -> Trial:
    inputs = {"weights": np.array(weights), "sources": np.array(sources, dtype=bool)}
    return Trial(name, inputs, compared)


_right = _share(_hits)

ALIGNMENT = FunctionExercise(
    id="ch2-alignment",
    title="Alignment accuracy",
    link="ch2-alignment",
    call="alignment_accuracy(weights, sources)",
    results=("accuracy",),
    styles=("numpy", "torch"),
    sections=SECTIONS,
    right=_right,
    trials=(
        _trial("one word is not determined", [[0.7, 0.3], [0.6, 0.4]], [[1, 0], [0, 0]]),
        _trial("nothing is determined", [[0.7, 0.3], [0.6, 0.4]], [[0, 0], [0, 0]], compared=False),
        _trial("two sources", [[0.2, 0.5, 0.3], [0.1, 0.3, 0.6]], [[1, 1, 0], [0, 1, 0]]),
        _trial(
            "three words, four characters",
            [[0.1, 0.2, 0.4, 0.3], [0.45, 0.15, 0.1, 0.3], [0.28, 0.32, 0.15, 0.25]],
            [[0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 1, 0]],
        ),
        _trial(
            "four words, five characters",
            [
                [0.1, 0.6, 0.05, 0.2, 0.05],
                [0.3, 0.1, 0.15, 0.05, 0.4],
                [0.05, 0.1, 0.75, 0.02, 0.08],
                [0.1, 0.25, 0.05, 0.05, 0.55],
            ],
            [[0, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 1, 1]],
        ),
        _trial(
            "six words, four characters",
            [
                [0.8, 0.1, 0.05, 0.05],
                [0.35, 0.4, 0.15, 0.1],
                [0.2, 0.3, 0.26, 0.24],
                [0.02, 0.9, 0.05, 0.03],
                [0.1, 0.05, 0.65, 0.2],
                [0.05, 0.15, 0.2, 0.6],
            ],
            [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]],
        ),
    ),
    misconceptions=(
        Misconception(
            "undetermined-counted-as-wrong",
            "Words without a True count as wrong. Where they come from is not determined, so they "
            "say nothing: leave their rows out of the mean.",
            "ch2-alignment",
            (
                lambda w, s: _hits(w, s).mean(),
                lambda w, s: (s.any(axis=1) & _hits(w, s)).mean(),
            ),
        ),
        Misconception(
            "undetermined-counted-as-right",
            "Words without a True count as right. Where they come from is not determined, so they "
            "say nothing: leave their rows out of the mean.",
            "ch2-alignment",
            (lambda w, s: (_hits(w, s) | ~s.any(axis=1)).mean(),),
        ),
        Misconception(
            "argmax-over-the-words",
            "The argmax runs down the column: which word looks most at a character. Each word "
            "shares out its own weights, so ask along its row: axis=1.",
            "ch2-alignment",
            (
                lambda w, s: _by_character(w, s).mean(),
                lambda w, s: _by_character(w, s)[s.any(axis=0)].mean(),
            ),
        ),
        Misconception(
            "mass-for-argmax",
            "This is the weight that lies on the right characters, on average. Asked for is how "
            "often the largest one lies there: a word is a hit or not.",
            "ch2-alignment",
            (
                _share(_mass),
                lambda w, s: _mass(w, s).mean(),
                lambda w, s: w[s].mean(),
            ),
        ),
        Misconception(
            "threshold-demanded",
            "A hit needs more than half of the weight here. The largest weight of a row may be "
            "smaller than that: compare the weights of the row with each other.",
            "ch2-alignment",
            (
                _share(lambda w, s: (w * s).max(axis=1) > 0.5),
                _share(lambda w, s: _mass(w, s) > 0.5),
                _share(lambda w, s: _hits(w, s) & (w.max(axis=1) > 0.5)),
                lambda w, s: ((w * s).max(axis=1) > 0.5).mean(),
                lambda w, s: ((w > 0.5) & s).sum() / s.sum(),
            ),
        ),
        Misconception(
            "first-source-only",
            "Only the first True of a row counts. A word may come from several characters, and "
            "each of them is right.",
            "ch2-alignment",
            (
                _share(lambda w, s: w.argmax(axis=1) == s.argmax(axis=1)),
                lambda w, s: (w.argmax(axis=1) == s.argmax(axis=1)).mean(),
            ),
        ),
        Misconception(
            "all-sources-demanded",
            "A hit needs all characters of the word at the top of its row here. One is enough: the "
            "largest weight has one place only.",
            "ch2-alignment",
            (_share(_all_sources),),
        ),
        Misconception(
            "divided-by-the-sources",
            "The hits are divided by the number of True, so that a word with two characters counts "
            "twice below the bar. Divide by the number of determined words.",
            "ch2-alignment",
            (lambda w, s: _hits(w, s).sum() / s.sum(),),
        ),
        Misconception(
            "diagonal",
            "Word i is compared with character i. Chinese and English do not go in step: sources "
            "says where a word comes from.",
            "ch2-alignment",
            (_share(_diagonal), lambda w, s: _diagonal(w, s).mean()),
        ),
        Misconception(
            "cells-counted",
            "Every cell of the table counts, and most of them are False and small. Count words, "
            "one for each row.",
            "ch2-alignment",
            (
                lambda w, s: ((w > 0.5) == s).mean(),
                lambda w, s: ((w == w.max(axis=1, keepdims=True)) == s).mean(),
            ),
        ),
        Misconception(
            "confidence-for-accuracy",
            "This is how large the largest weight is, wherever it lies. Being sure is not being "
            "right: look it up in sources.",
            "ch2-alignment",
            (_share(lambda w, s: w.max(axis=1)), lambda w, s: w.max(axis=1).mean()),
        ),
        Misconception(
            "smallest-weight",
            "This looks up the smallest weight of the row. The word looks most where the weight is "
            "largest: argmax.",
            "ch2-alignment",
            (_share(lambda w, s: _hits(-w, s)), lambda w, s: _hits(-w, s).mean()),
        ),
        Misconception(
            "count-for-share",
            "This is the number of hits. Divide by the number of determined words.",
            "ch2-alignment",
            (lambda w, s: _hits(w, s).sum(),),
        ),
        Misconception(
            "percent-for-share",
            "This is in percent. A share is asked for, from 0 to 1: leave out the factor of 100.",
            "ch2-alignment",
            (lambda w, s: 100 * _share(_hits)(w, s),),
        ),
        Misconception(
            "one-per-word",
            "Right for each word, and one number is wanted: take the mean.",
            "ch2-alignment",
            (lambda w, s: _hits(w, s), lambda w, s: _hits(w, s)[s.any(axis=1)]),
        ),
        Misconception(
            "errors-counted",
            "This is the share of misses. The share of hits is wanted: 1 minus it.",
            "ch2-alignment",
            (lambda w, s: 1 - _right(w, s),),
        ),
        Misconception(
            "no-word-no-nan",
            "Right as long as some word is determined. Where none is there is no share, neither 0 "
            "nor 1 nor an error: return nan.",
            "ch2-alignment",
            when=_none_determined,
        ),
    ),
)

EXERCISES = (ALIGNMENT,)
