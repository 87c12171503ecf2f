"""Names for what can go wrong between the scores of additive attention and its results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_additive as ad
from attnkit.checks._attention_trials import (
    breaks_only_on_large,
    finite_but_wrong_on_large,
    one_maximum,
    results_swapped,
)
from attnkit.checks._engine import Misconception
from attnkit.checks._wrong_attention import softmax


def _wrong(name: str, link: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, link, wrong)


WEIGHTS = (
    Misconception(
        "results-swapped",
        "Output and weights have changed places: return output first, then weights.",
        "ch2-module",
        when=results_swapped,
    ),
    _wrong(
        "softmax-over-queries",
        "ch2-by-hand",
        "The softmax runs over the queries: columns sum to 1. Each query shares out its own "
        "attention, so each row must: the last axis.",
        ad.with_weights(lambda s: softmax(s, axis=-2)),
    ),
    _wrong(
        "softmax-over-everything",
        "ch2-by-hand",
        "The softmax runs over the whole table: all weights together sum to 1. Each row must, so "
        "give max and sum the last axis, with keepdims.",
        ad.with_weights(lambda s: softmax(s, axis=None)),
    ),
    _wrong(
        "sum-without-keepdims",
        "ch2-by-hand",
        "max or sum has lost its axis, so NumPy lines the row's value up with a column. Use "
        "keepdims=True: (T_q, 1) goes along each row.",
        ad.without_keepdims(True, False),
        ad.without_keepdims(False, True),
        ad.without_keepdims(False, False),
        ad.with_weights(lambda s: np.exp(s) / np.exp(s).sum(axis=-1)),
    ),
    _wrong(
        "not-normalised",
        "ch2-by-hand",
        "The weights are the powers exp(score) alone. Divide each row by its sum, so that it "
        "sums to 1.",
        ad.with_weights(np.exp),
        ad.with_weights(lambda s: np.exp(s - s.max(axis=-1, keepdims=True))),
    ),
    _wrong(
        "no-exponential",
        "ch2-by-hand",
        "The scores are divided by their sum, with no exp. A score may be negative, a weight may "
        "not.",
        ad.with_weights(lambda s: s / s.sum(axis=-1, keepdims=True)),
    ),
    _wrong(
        "softmax-twice",
        "ch2-by-hand",
        "The softmax is taken twice. The second one sees numbers between 0 and 1 and makes the "
        "row nearly uniform.",
        ad.with_weights(lambda s: softmax(softmax(s))),
    ),
    _wrong(
        "sigmoid-for-softmax",
        "ch2-by-hand",
        "Each score goes through a sigmoid by itself. In a softmax the keys compete: a row sums "
        "to 1.",
        ad.with_weights(lambda s: 1 / (1 + np.exp(-s))),
    ),
    _wrong(
        "hard-selection",
        "ch2-hard",
        "Only the best key gets weight. The softmax gives every key a share, and that is what "
        "lets a gradient through.",
        ad.with_weights(lambda s: np.eye(s.shape[-1])[s.argmax(axis=-1)]),
    ),
    _wrong(
        "no-softmax",
        "ch2-by-hand",
        "The scores themselves are used as weights. The softmax is missing.",
        ad.with_weights(lambda s: s),
    ),
    _wrong(
        "scores-for-weights",
        "ch2-by-hand",
        "The output is right, but the second result holds the scores, before the softmax. A "
        "weight is what comes after.",
        ad.with_results(lambda w, s, q, k, value, *rest: (w @ value, s)),
    ),
    _wrong(
        "weights-transposed",
        "ch2-by-hand",
        "The weights are transposed: rows belong to queries, columns to keys, (T_q, T_k).",
        ad.with_results(lambda w, s, q, k, value, *rest: (w @ value, w.T)),
        ad.with_results(lambda w, s, q, k, value, *rest: (w.T @ value, w.T)),
        ad.with_results(lambda w, s, q, k, value, *rest: (w.T @ value, w)),
    ),
    _wrong(
        "query-and-key-swapped",
        "ch2-dictionary",
        "Query and key have changed roles: here each key looks for queries. A row belongs to a "
        "query and says how much it attends to each key.",
        ad.swapped_roles(False),
        ad.swapped_roles(True),
    ),
    _wrong(
        "keys-for-values",
        "ch2-dictionary",
        "The weights are right, but they average the keys. Keys say where to look, values are "
        "what is fetched: weights times value.",
        ad.with_results(lambda w, s, q, key, *rest: (w @ key, w)),
    ),
    _wrong(
        "projected-keys-for-values",
        "ch2-dictionary",
        "The weights are right, but they average the projected keys. The projection serves the "
        "scores only: what is fetched is value, as it is.",
        ad.with_results(lambda w, s, q, key, value, w_q, w_k, v: (w @ (key @ w_k.T), w)),
        ad.with_results(lambda w, s, q, key, value, w_q, w_k, v: (w @ np.tanh(key @ w_k.T), w)),
    ),
    _wrong(
        "value-transposed",
        "ch2-by-hand",
        "The output uses value transposed. The weights (T_q, T_k) already meet the values "
        "(T_k, d_value) on the axis of the keys.",
        ad.with_results(lambda w, s, q, k, value, *rest: (w @ value.T, w)),
    ),
    _wrong(
        "mean-for-weighted-sum",
        "ch2-by-hand",
        "This is a mean over the keys. The weights sum to 1 already: multiply each value by its "
        "weight and add up.",
        ad.with_weights(lambda s: np.full(s.shape, 1 / s.shape[-1])),
        ad.with_results(
            lambda w, s, q, k, value, *rest: (np.tile(value.mean(axis=0), (len(w), 1)), w)
        ),
        ad.with_results(lambda w, s, q, k, value, *rest: (value.mean(axis=0), w)),
        ad.with_results(lambda w, s, q, k, value, *rest: (w @ value / len(value), w)),
    ),
    Misconception(
        "one-maximum-for-all-rows",
        "Nearly: the largest score of the whole table is subtracted, and rows far below it become "
        "0/0. Subtract each row's own maximum: axis=-1, keepdims=True.",
        "ch2-module",
        when=one_maximum,
    ),
    Misconception(
        "overflows",
        "Right on ordinary scores, and exp of a few thousand is more than a float can hold. "
        "Subtract each row's maximum before exp: it changes no weight.",
        "ch2-module",
        when=breaks_only_on_large,
    ),
    Misconception(
        "finite-but-wrong",
        "Right on ordinary scores. On scores of a few thousand numbers come out, but not the "
        "weights: clipping or replacing nan hides what exp cannot hold. Subtract each row's "
        "maximum before exp: it changes no weight.",
        "ch2-module",
        when=finite_but_wrong_on_large,
    ),
)
