"""Exercise ch10-words: a map of pieces of words, made into a map of words."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_words as ww
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks._head_maps import maps
from attnkit.checks.chapter10_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch10-words", wrong)


def _trial(word_of: list[int], seed: int) -> Trial:
    pieces = len(word_of)
    weights = maps(1, np.ones((pieces, pieces), bool), seed=seed)[0]
    name = f"{pieces} pieces, {word_of[-1] + 1} words"
    return Trial(f"{name} ({seed})", {"weights": weights, "word_of": word_of})


_HAND = np.array([[0.5, 0.2, 0.3], [0.1, 0.7, 0.2], [0.6, 0.3, 0.1]])
_TRIALS = (
    Trial("two words, the first of two pieces", {"weights": _HAND, "word_of": [0, 0, 1]}),
    Trial("two words, the last of two pieces", {"weights": _HAND[::-1], "word_of": [0, 1, 1]}),
    _trial([0, 1, 1, 2], 1),
    _trial([0, 0, 0, 1, 2], 2),
    _trial([0, 1, 1, 2, 2, 2, 3], 3),
    _trial([0, 0, 1, 1, 1, 2, 3, 3], 4),
)

MISCONCEPTIONS = (
    _wrong(
        "mean-over-both",
        "The mean is taken over the pieces attended to as well, so that a row no longer sums to 1 "
        "and a word of many pieces loses. Add up over the keys, average over the queries.",
        ww.mean_of_both,
    ),
    _wrong(
        "sum-over-both",
        "The pieces that attend are added up too, so that the row of a word sums to the number of "
        "its pieces. Average over the queries.",
        ww.sum_of_both,
    ),
    _wrong(
        "sum-and-mean-exchanged",
        "The pieces that attend are added up and those attended to averaged. It is the keys that "
        "share a sum of 1: add up over the keys, average over the queries.",
        ww.axes_swapped,
    ),
    _wrong(
        "one-piece-for-the-word",
        "One piece speaks for its word, and the weight of the others is lost. With repeated "
        "indices out[i] += x keeps the last of them only; index_add_ adds all.",
        ww.by_word(lambda part: part[0, 0]),
        ww.by_word(lambda part: part[-1, -1]),
        ww.by_word(lambda part: part[0].sum()),
        ww.by_word(lambda part: part[-1].sum()),
        ww.by_word(lambda part: part[:, 0].mean()),
        ww.by_word(lambda part: part[:, -1].mean()),
    ),
    _wrong(
        "largest-weight",
        "Each cell shows the largest weight between the pieces of two words. That keeps what is "
        "conspicuous, but a row no longer shares out a sum of 1.",
        ww.by_word(np.max),
        ww.by_word(lambda part: part.max(axis=1).mean()),
        ww.by_word(lambda part: part.sum(axis=1).max()),
    ),
    _wrong(
        "renormalised-afterwards",
        "The rows sum to 1 because they were divided by their sums. That makes any numbers look "
        "like weights: here a cell is not what a word gives to a word.",
        ww.renormalised(ww.mean_of_both),
        ww.renormalised(ww.axes_swapped),
        ww.renormalised(ww.by_word(np.max)),
        ww.renormalised(ww.by_word(lambda part: part[0, 0])),
        ww.renormalised(ww.by_word(lambda part: part[-1, -1])),
        ww.renormalised(ww.by_word(lambda part: part[:, 0].mean())),
    ),
    _wrong(
        "divided-by-one-number",
        "The sums are divided by the same number for all words. Each word has its own number of "
        "pieces that attend.",
        ww.shared_by(len),
        ww.shared_by(lambda word_of: max(word_of) + 1),
        ww.shared_by(lambda word_of: 2),
        lambda w, word_of: ww.sum_of_both(w, word_of) * (max(word_of) + 1) / len(word_of),
    ),
    _wrong(
        "keys-only",
        "The keys are words now, and the queries are still pieces. Both axes become words.",
        ww.keys_only(lambda part: part.sum(axis=0)),
        ww.keys_only(lambda part: part.mean(axis=0)),
    ),
    _wrong(
        "queries-only",
        "The queries are words now, and the keys are still pieces. Both axes become words.",
        ww.queries_only(lambda part: part.mean(axis=0)),
        ww.queries_only(lambda part: part.sum(axis=0)),
    ),
    _wrong(
        "words-taken-for-pieces",
        "The number of a word is used as the place of a piece. word_of leads from a piece to its "
        "word: the pieces of word w are those where word_of is w.",
        ww.words_taken_for_pieces,
        lambda w, word_of: w[np.ix_(np.unique(word_of), np.unique(word_of))],
    ),
    _wrong(
        "spread-over-the-pieces",
        "Every piece has got the number of its word, and the map is as large as before. There is "
        "one row and one column for each word.",
        ww.spread_out(ww.right),
        ww.spread_out(ww.mean_of_both),
        ww.spread_out(ww.sum_of_both),
    ),
    _wrong(
        "transposed",
        "The map came back transposed: rows belong to queries, also when they are words.",
        lambda w, word_of: ww.right(w, word_of).T,
    ),
    _wrong(
        "columns-for-rows",
        "The rows of the map are taken for keys: this adds up over the pieces that attend, and "
        "shows the words attended to in the rows. Rows belong to queries.",
        lambda w, word_of: ww.right(w.T, word_of),
    ),
    _wrong(
        "unchanged",
        "This is the map as it was.",
        lambda w, word_of: w,
    ),
)

WORDS = FunctionExercise(
    id="ch10-words",
    title="From pieces to words",
    link="ch10-words",
    call="word_map(weights, word_of)",
    results=("map",),
    sections=SECTIONS,
    right=ww.right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (WORDS,)
