"""Made-up translations with their attention, for the widget tests: no model has been asked."""

import math
from typing import NamedTuple

import torch

from attnkit import numerals
from attnkit.widgets import LengthExample, LengthWidget, TranslationWidget


class Translation(NamedTuple):
    source: list[str]
    words: list[str]
    weights: torch.Tensor | None


def translation(number, *, blur=0.35):
    """A right translation whose words look at the characters they come from, somewhat blurred."""
    source = list(numerals.to_chinese(number))
    words = numerals.to_english(number)
    scores = torch.full((len(words), len(source)), 0.0, dtype=torch.float64)
    for i, places in enumerate(numerals.word_sources(number)):
        middle = sum(places) / len(places) if places else i * len(source) / len(words)
        for j in range(len(source)):
            scores[i, j] = -abs(j - middle) / blur + 0.3 * math.sin(7 * i + 5 * j)
    return Translation(source, words, torch.softmax(scores, -1))


NUMBERS = (120_304, 987_654_321_777, 12, 100_001_000, 65_536)


def spoiled(words, *, wrong=(), missing=(), extra=()):
    """A copy of the words with some replaced, left out or said twice, by position."""
    said = []
    for i, word in enumerate(words):
        if i not in missing:
            said.append("ninety" if i in wrong else word)
        if i in extra:
            said.append(word)
    return said


def length_examples(lengths=(1, 2, 3, 6, 9, 12), *, each=3):
    """For each length a few numbers: one model errs the more the longer they are, one never."""
    found = []
    for digits in lengths:
        for k in range(each):
            number = int("987654321777"[:digits]) - 7 * k if digits > 1 else 9 - k
            right = translation(number)
            n = len(right.words)
            bad = spoiled(
                right.words,
                wrong={i for i in range(n) if digits > 5 and (i + k) % 5 == 3},
                missing={n - 2} if digits > 2 and k == 0 else (),
                extra={1} if digits > 8 else (),
            )
            answers = {"fixed vector": Translation(right.source, bad, None), "attention": right}
            found.append(LengthExample(digits, right.source, right.words, answers))
    return found


def length_accuracy(lengths=(1, 2, 3, 6, 9, 12)):
    """Made-up shares that fall with length for one model and stay for the other."""
    fixed = {n: 1 / (1 + math.exp((n - 6) / 1.2)) for n in lengths}
    return {
        "fixed vector": {n: (s, 0.85 * s, min(1.0, 1.1 * s)) for n, s in fixed.items()},
        "attention": {n: (0.99, 0.985, 1.0) for n in lengths},
    }


def length_widget(lengths=(1, 2, 3, 6, 9, 12), **traits):
    examples, accuracy = length_examples(lengths), length_accuracy(lengths)
    return LengthWidget(examples, accuracy, fresh=500, seeds=3, **traits)


def translation_widget(**traits):
    """Five numbers; two words of the first are called wrong."""
    wrong = [[2, 5], [], [], [], []]
    return TranslationWidget([translation(n) for n in NUMBERS], wrong=wrong, **traits)
