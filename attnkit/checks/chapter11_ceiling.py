"""Exercise ch11-ceiling: how often can anybody be right who sees the name only?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter11_claims import SECTIONS

Pairs = Sequence[tuple[str, str]]


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch11-names", wrong)


def counted(pairs: Pairs) -> dict[str, Counter[str]]:
    """For each name how often it comes in each language."""
    table: dict[str, Counter[str]] = {}
    for name, language in pairs:
        table.setdefault(name, Counter())[language] += 1
    return table


def _of_names(value: Callable[[Counter[str]], float], over: Callable[[Pairs], float] = len):
    """value(languages of a name), added up over the names and divided by over(pairs)."""
    return lambda pairs: np.array(sum(map(value, counted(pairs).values())) / over(pairs))


def _n_names(pairs: Pairs) -> int:
    return len(counted(pairs))


def _one(pairs: Pairs) -> float:
    return 1.0


def _best(languages: Counter[str]) -> int:
    return max(languages.values())


right = _of_names(_best)


def _alone(languages: Counter[str]) -> int:
    return languages.total() if len(languages) == 1 else 0


def _remembered(table: dict[str, str], pairs: Pairs) -> np.ndarray:
    return np.array(sum(table[name] == language for name, language in pairs) / len(pairs))


def _largest_language(pairs: Pairs) -> np.ndarray:
    return np.array(max(Counter(language for _, language in pairs).values()) / len(pairs))


def _changed(change: Callable[[Pairs], Pairs]) -> Callable:
    return lambda pairs: right(change(pairs))


_HAND = [("Kuba", "de"), ("Kuba", "pl"), ("Cuba", "es")]
_TWICE = [("Kuba", "de"), ("Kuba", "de"), ("Kuba", "pl")]
_CASES = [("peru", "hr"), ("Peru", "es"), ("Peru", "de"), ("peru", "sl"), ("Peru", "es")]
_FIVE = [("Mali", "fr"), ("Mali", "de"), ("Oman", "de"), ("Mali", "de"), ("Mali", "fi")]
_MANY = [
    *_FIVE,
    ("Oman", "pl"),
    ("Togo", "fr"),
    ("Togo", "fr"),
    ("Mali", "fi"),
    ("Mali", "de"),
    ("Oman", "sv"),
]

MISCONCEPTIONS = (
    _wrong(
        "names-counted-for-answers",
        "This is the number of different names by that of the pairs. A name can be right more than "
        "once: as often as its most frequent language comes with it.",
        _of_names(lambda languages: 1),
    ),
    _wrong(
        "ambiguous-pairs-given-up",
        "Only names of a single language count as right. For the others one language may be said "
        "too, and the most frequent one is right at times.",
        _of_names(_alone),
        _of_names(lambda languages: len(languages) == 1, _n_names),
        _of_names(lambda languages: len(languages) == 1),
        _of_names(lambda languages: languages.total() == 1),
    ),
    _wrong(
        "one-language-for-all-names",
        "The same language is said for every name. The reader sees the name, and may say another "
        "language for each.",
        _largest_language,
    ),
    _wrong(
        "every-name-counts-once",
        "The shares of the names are averaged, so that a name that comes twice counts like one "
        "that comes ten times. It is the pairs that are counted.",
        _of_names(lambda languages: _best(languages) / languages.total(), _n_names),
    ),
    _wrong(
        "first-or-last-language-said",
        "For each name the language is said that came first, or last: a dictionary keeps the last "
        "one. The best answer is the most frequent language.",
        lambda pairs: _remembered(dict(pairs), pairs),
        lambda pairs: _remembered(dict(pairs[::-1]), pairs),
    ),
    _wrong(
        "no-ceiling",
        "This is 1: every pair is taken to be right. Where a name comes with two languages, only "
        "one of them can be said.",
        lambda pairs: np.array(1.0),
    ),
    _wrong(
        "guessed-by-the-shares",
        "This reader draws a language as often as it comes with the name. Who always says the most "
        "frequent one is right more often.",
        _of_names(lambda languages: sum(n * n for n in languages.values()) / languages.total()),
    ),
    _wrong(
        "guessed-evenly",
        "This reader draws one of the name's languages, each as likely as the other. Who always "
        "says the most frequent one is right more often.",
        _of_names(lambda languages: languages.total() / len(languages)),
    ),
    _wrong(
        "repeated-pairs-dropped",
        "A pair that comes twice is counted once. All pairs are asked for: who is right about it "
        "is right twice.",
        _changed(lambda pairs: sorted(set(pairs))),
    ),
    _wrong(
        "mistakes-counted",
        "This is the share of the pairs that must be wrong. Asked for is the share that can be "
        "right.",
        _of_names(lambda languages: languages.total() - _best(languages)),
    ),
    _wrong(
        "divided-by-the-names",
        "The right answers are divided by the number of names, and there is one question for each "
        "pair.",
        _of_names(_best, _n_names),
    ),
    _wrong(
        "count-not-share",
        "This is how many pairs can be right. Divide by their number.",
        _of_names(_best, _one),
    ),
    _wrong(
        "in-per-cent",
        "This is the share in per cent. Asked for is a number from 0 to 1.",
        _of_names(lambda languages: 100 * _best(languages)),
    ),
    _wrong(
        "spelling-made-alike",
        "Names that are written differently are counted as one. Who sees a small letter may answer "
        "otherwise than who sees a capital: compare the strings as they are.",
        _changed(lambda pairs: [(name.lower(), language) for name, language in pairs]),
    ),
)

CEILING = FunctionExercise(
    id="ch11-ceiling",
    title="The best that a reader could do",
    link="ch11-names",
    call="ceiling(pairs)",
    results=("share",),
    sections=SECTIONS,
    right=right,
    trials=tuple(
        Trial(f"{len(pairs)} pairs ({number})", {"pairs": pairs})
        for number, pairs in enumerate([_HAND, _TWICE, _CASES, _FIVE, _MANY[::-1][:8], _MANY])
    ),
    misconceptions=MISCONCEPTIONS,
    styles=("numpy",),
)

EXERCISES = (CEILING,)
