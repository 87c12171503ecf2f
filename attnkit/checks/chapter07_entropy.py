"""Exercise ch7-entropy: an entropy that a uniform head has at every length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _entropy_trials as et
from attnkit.checks import _wrong_entropy as we
from attnkit.checks._engine import FunctionExercise, Misconception
from attnkit.checks.chapter07_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable, link: str = "ch7-metrics") -> Misconception:
    return Misconception(name, message, link, wrong)


def _no_choice_as(number: float) -> Callable:
    """Right, and a number for a head whose queries have no choice."""

    def wrong(weights, mask):
        return np.nan_to_num(we.right(weights, mask), nan=number)

    return wrong


def _unseeing_counted(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """A query that sees nothing takes part with 0."""
    count = we.keys_of(mask)
    return we.mean_where(we.entropies(weights) / we.largest(count), count != 1)


def _naive(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """0 · ln 0 as the computer has it."""
    count = we.keys_of(mask)
    return we.mean_where(-(weights * np.log(weights)).sum(axis=-1) / we.largest(count), count >= 2)


def _by_ln_one(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return (we.entropies(weights) / np.log(we.keys_of(mask))).mean(axis=-1)


MISCONCEPTIONS = (
    _wrong(
        "divided-by-ln-of-all-keys",
        "Every row is divided by the same ln T. Under a mask row i sees n_i keys and can reach ln "
        "n_i only: a head that prefers nothing would stay below 1.",
        we.divided(lambda mask: mask.shape[1], every_row=False),
        we.divided(lambda mask: mask.shape[1], every_row=True),
        we.divided(lambda mask: len(mask), every_row=False),
        we.divided(lambda mask: len(mask), every_row=True),
        link="ch7-baseline",
    ),
    _wrong(
        "two-logarithms",
        "The entropy and its largest value are taken with different logarithms, one of base 2 and "
        "one natural. Either does, in both places.",
        we.per_row(lambda entropy, count: entropy / we.largest(count) / np.log(2)),
        we.per_row(lambda entropy, count: entropy / we.largest(count) * np.log(2)),
    ),
    Misconception(
        "zero-times-log-of-zero",
        "It gives nan as soon as a weight is 0: log(0) is −∞, and 0 · −∞ is nan. A weight of 0 "
        "adds nothing to the entropy: torch.xlogy knows that.",
        "ch7-metrics",
        (_naive,),
        when=et.nan_from_a_zero,
    ),
    Misconception(
        "divided-by-ln-one",
        "It gives nan as soon as a row has one key: its entropy is 0 and ln 1 is 0 too. A query "
        "without a choice says nothing about the head: leave such rows out of the mean.",
        "ch7-baseline",
        (_by_ln_one,),
        when=et.nan_from_one_key,
    ),
    _wrong(
        "one-key-rows-counted",
        "Rows with one key take part in the mean. Their query has no choice, and its 0 or 1 says "
        "nothing about the head: average over the rows with two keys or more.",
        we.one_key_rows_as(0.0),
        we.one_key_rows_as(1.0),
        link="ch7-baseline",
    ),
    Misconception(
        "unseeing-rows-counted",
        "Right until a query may see nothing: then its row of zeros takes part in the mean. Count "
        "the rows with two keys or more.",
        "ch7-baseline",
        (_unseeing_counted,),
        when=et.a_number_on(et.EMPTY),
    ),
    Misconception(
        "a-number-for-no-choice",
        "Right wherever some query has a choice. Where none has, no entropy can be compared with "
        "anything, and a number would look like a measurement: return nan.",
        "ch7-baseline",
        (_no_choice_as(0.0), _no_choice_as(1.0)),
        when=et.a_number_on(et.NO_CHOICE),
    ),
    _wrong(
        "ratio-of-means",
        "The mean entropy is divided by a mean of the largest ones. Then long rows decide nearly "
        "alone. Divide row by row, and average what comes out.",
        we.of_totals,
        we.by_log_of_the_mean(every_row=False),
        we.by_log_of_the_mean(every_row=True),
        we.by_mean_of_logarithms,
        link="ch7-baseline",
    ),
    _wrong(
        "causal-mask-taken-for-granted",
        "The first row is left out, or row i is given i + 1 keys, whatever the mask says. Read "
        "n_i, and which rows have a choice, from the mask.",
        we.as_if_causal(we.keys_of),
        we.as_if_causal(lambda mask: np.arange(1, len(mask) + 1)),
        we.as_if_causal(lambda mask: np.arange(1, len(mask) + 1) + mask.shape[1] - len(mask)),
        link="ch7-baseline",
    ),
    _wrong(
        "sign-forgotten",
        "The result is negative: ln of a weight is below 0, and the minus before the sum turns it "
        "round.",
        lambda w, m: -we.right(w, m),
    ),
    _wrong(
        "one-minus-the-entropy",
        "This is 1 for a head that looks at one key and 0 for one that prefers nothing. The "
        "entropy is the other way round.",
        lambda w, m: 1 - we.right(w, m),
    ),
    _wrong(
        "over-the-queries",
        "The sum runs down a column. It is the row of a query that sums to 1, so that the entropy "
        "is taken over the keys: the last axis.",
        we.over_queries,
        we.over_queries_by_keys,
    ),
    _wrong(
        "zero-weights-not-counted",
        "n_i counts the weights above 0. A key that may be seen and gets nothing belongs to the "
        "choice: count with the mask.",
        we.counted_by(lambda w, m: (w > 0).sum(axis=-1)),
        link="ch7-baseline",
    ),
    _wrong(
        "polarity-flipped",
        "n_i counts the blocked keys. True = may attend.",
        we.counted_by(lambda w, m: (~m).sum(axis=-1)),
        link="ch7-baseline",
    ),
    _wrong(
        "not-normalised",
        "This is the entropy itself, and it grows with the number of keys. Divide each row by ln "
        "n_i, the entropy of a query that prefers nothing.",
        we.per_row(lambda entropy, count: entropy),
        we.per_row(lambda entropy, count: entropy / np.log(2)),
        we.over_all_rows(lambda entropy, count: entropy),
        we.over_all_rows(lambda entropy, count: entropy / np.log(2)),
    ),
    _wrong(
        "divided-by-the-number-of-keys",
        "The entropy is divided by n_i, and its largest value is ln n_i.",
        we.per_row(lambda entropy, count: entropy / np.maximum(count, 1)),
        we.over_all_rows(lambda entropy, count: entropy / np.maximum(count, 1)),
        lambda w, m: we.entropies(w).mean(axis=-1) / m.shape[1],
    ),
    _wrong(
        "effective-keys",
        "This is exp(H), the number of keys a query looks at, or its share of all. Wanted is the "
        "share of the entropy, H / ln n_i.",
        we.per_row(lambda entropy, count: np.exp(entropy)),
        we.over_all_rows(lambda entropy, count: np.exp(entropy)),
        we.per_row(lambda entropy, count: np.exp(entropy) / np.maximum(count, 1)),
        we.over_all_rows(lambda entropy, count: np.exp(entropy) / np.maximum(count, 1)),
    ),
    _wrong(
        "rows-averaged-first",
        "The rows are averaged and then one entropy is taken. Queries that each look at one key, "
        "but not at the same, would seem to look everywhere: take the entropies first.",
        we.averaged_first(visible=False),
        we.averaged_first(visible=True),
    ),
    _wrong(
        "whole-map-at-once",
        "All cells of a head are taken for one distribution. Each row is one, with its own sum of "
        "1 and its own ln n_i.",
        we.whole_map(lambda mask: mask.size, shared=False),
        we.whole_map(lambda mask: mask.sum(), shared=False),
        we.whole_map(lambda mask: mask.size, shared=True),
        we.whole_map(lambda mask: mask.sum(), shared=True),
    ),
    _wrong(
        "divided-by-its-own-largest",
        "The largest entropy among the head's own rows takes the place of ln n_i. Every head would "
        "have a row that scores 1.",
        we.by_its_own_largest,
        link="ch7-baseline",
    ),
    _wrong(
        "rows-not-averaged",
        "There is still one number for each query. Average over the rows of a head.",
        lambda w, m: we.entropies(w) / we.largest(we.keys_of(m)),
    ),
    _wrong(
        "rows-added-up",
        "The rows are added up, so that the result grows with the number of queries: divide by how "
        "many rows are counted.",
        lambda w, m: (we.entropies(w) / we.largest(we.keys_of(m))).sum(axis=-1),
    ),
    _wrong(
        "one-number",
        "This is one number for all heads together. Each head has its own: keep the first axis.",
        lambda w, m: we.right(w, m).mean(),
    ),
)

ENTROPY = FunctionExercise(
    id="ch7-entropy",
    title="Entropy that does not grow with the length",
    link="ch7-metrics",
    call="normalized_entropy(weights, mask)",
    results=("entropy",),
    sections=SECTIONS,
    right=we.right,
    trials=et.TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (ENTROPY,)
