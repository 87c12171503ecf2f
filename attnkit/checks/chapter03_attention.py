"""Exercise ch3-attention: scaled dot-product attention in five lines of NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_attention as at
from attnkit.checks._attention_trials import (
    TRIALS,
    breaks_only_on_large,
    finite_but_wrong_on_large,
    one_maximum,
    results_swapped,
)
from attnkit.checks._engine import FunctionExercise, Misconception

#: The sections of chapter 3 that messages link to.
SECTIONS = {
    "ch3-scale": "why the scores are divided by √d_k",
    "ch3-training": "does training care?",
    "ch3-gradient": "half true: the gradient vanishes",
    "ch3-variance": "the variance of a score",
    "ch3-softmax": "the softmax sees differences only",
    "ch3-shapes": "the figure with all shapes",
    "ch3-reparam": "the scale is a reparametrisation",
    "ch3-soft-lookup": "weights times values",
    "ch3-numpy": "the formula in five lines",
}


def _wrong(name: str, link: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, link, wrong)


MISCONCEPTIONS = (
    Misconception(
        "results-swapped",
        "Output and weights have changed places: return output first, then weights.",
        "ch3-numpy",
        when=results_swapped,
    ),
    _wrong(
        "not-scaled",
        "ch3-scale",
        "The scores are not scaled: divide them by √d_k, or their spread grows with d_k and the "
        "softmax saturates.",
        at.with_scale(lambda q, k, v: 1.0),
    ),
    _wrong(
        "scaled-by-d-key",
        "ch3-scale",
        "The scores are divided by d_k. It is their variance that grows like d_k: the standard "
        "deviation, and so the scale, goes with √d_k.",
        at.with_scale(lambda q, k, v: 1 / q.shape[-1]),
    ),
    _wrong(
        "scaled-by-d-value",
        "ch3-scale",
        "The scale comes from the length of a value. Values take no part in the dot product: it "
        "is √d_k, the length of queries and keys, that counts.",
        at.with_scale(lambda q, k, v: 1 / np.sqrt(v.shape[-1])),
    ),
    _wrong(
        "scaled-by-number-of-keys",
        "ch3-scale",
        "The scale comes from the number of keys T_k. It is d_k, the number of terms in each dot "
        "product, that makes scores spread: look at which axis of key you took.",
        at.with_scale(lambda q, k, v: 1 / np.sqrt(k.shape[-2])),
    ),
    _wrong(
        "scaled-by-number-of-queries",
        "ch3-scale",
        "The scale comes from the number of queries T_q. It is d_k, the last axis of query, that "
        "counts: len(query) is the first.",
        at.with_scale(lambda q, k, v: 1 / np.sqrt(q.shape[-2])),
    ),
    _wrong(
        "multiplied-by-scale",
        "ch3-scale",
        "The scores are multiplied by √d_k, which makes them spread more. Divide.",
        at.with_scale(lambda q, k, v: np.sqrt(q.shape[-1])),
    ),
    _wrong(
        "scale-after-softmax",
        "ch3-scale",
        "The scale comes after the softmax: the rows sum to 1/√d_k and are as sharp as without "
        "it. Scale the scores, then take the softmax.",
        at.after_softmax,
        at.output_scaled,
    ),
    _wrong(
        "softmax-over-queries",
        "ch3-shapes",
        "The softmax runs over the queries: columns sum to 1. Each query shares out its own "
        "attention, so each row must: the last axis.",
        at.with_weights(lambda s: at.softmax(s, axis=-2)),
        at.softmax_with(-1, -2),
    ),
    _wrong(
        "softmax-over-everything",
        "ch3-shapes",
        "The softmax runs over the whole table: all weights together sum to 1. Each row must, so "
        "give max and sum the last axis, with keepdims.",
        at.with_weights(lambda s: at.softmax(s, axis=None)),
        at.softmax_with(-1, None),
    ),
    _wrong(
        "sum-without-keepdims",
        "ch3-shapes",
        "max or sum has lost its axis, so NumPy lines the row's value up with a column. Use "
        "keepdims=True: (T_q, 1) goes along each row.",
        at.without_keepdims(True, False),
        at.without_keepdims(False, True),
        at.without_keepdims(False, False),
        at.with_weights(lambda s: np.exp(s) / np.exp(s).sum(axis=-1)),
    ),
    _wrong(
        "not-normalised",
        "ch3-softmax",
        "The weights are the powers exp(score) alone. Divide each row by its sum, so that it "
        "sums to 1.",
        at.with_weights(np.exp),
        at.with_weights(lambda s: np.exp(s - s.max(axis=-1, keepdims=True))),
    ),
    _wrong(
        "no-exponential",
        "ch3-softmax",
        "The scores are divided by their sum, with no exp: weights may be negative, and a shift "
        "of all scores changes them.",
        at.with_weights(lambda s: s / s.sum(axis=-1, keepdims=True)),
    ),
    _wrong(
        "softmax-twice",
        "ch3-softmax",
        "The softmax is taken twice. The second one sees numbers between 0 and 1 and makes the "
        "row nearly uniform.",
        at.with_weights(lambda s: at.softmax(at.softmax(s))),
    ),
    _wrong(
        "sigmoid-for-softmax",
        "ch3-softmax",
        "Each score goes through a sigmoid by itself. In a softmax the keys compete: a row sums "
        "to 1.",
        at.with_weights(lambda s: 1 / (1 + np.exp(-s))),
    ),
    _wrong(
        "hard-selection",
        "ch3-soft-lookup",
        "Only the best key gets weight. The softmax gives every key a share, and that is what "
        "lets a gradient through.",
        at.with_weights(lambda s: np.eye(s.shape[-1])[s.argmax(axis=-1)]),
    ),
    _wrong(
        "no-softmax",
        "ch3-softmax",
        "The scores themselves are used as weights. The softmax is missing.",
        at.with_weights(lambda s: s),
        at.with_weights(lambda s: s, at.scores_of),
    ),
    _wrong(
        "scores-for-weights",
        "ch3-softmax",
        "The output is right, but the second result holds the scores, before the softmax. A "
        "weight is what comes after.",
        lambda q, k, v: (at.right(q, k, v)[0], at.scaled(q, k)),
        lambda q, k, v: (at.right(q, k, v)[0], at.scores_of(q, k)),
    ),
    _wrong(
        "weights-transposed",
        "ch3-shapes",
        "The weights are transposed: rows belong to queries, columns to keys, (T_q, T_k).",
        at.with_results(lambda w, q, k, v: (w @ v, w.T)),
        at.with_results(lambda w, q, k, v: (w.T @ v, w.T)),
        at.with_results(lambda w, q, k, v: (w.T @ v, w)),
    ),
    _wrong(
        "query-and-key-swapped",
        "ch3-shapes",
        "Query and key have changed roles: here each key looks for queries. A row belongs to a "
        "query and says how much it attends to each key.",
        at.swapped_roles(False),
        at.swapped_roles(True),
    ),
    _wrong(
        "keys-for-values",
        "ch3-soft-lookup",
        "The weights are right, but they average the keys. Keys say where to look, values are "
        "what is fetched: weights times value.",
        at.with_results(lambda w, q, k, v: (w @ k, w)),
    ),
    _wrong(
        "value-transposed",
        "ch3-shapes",
        "The output uses value transposed. The weights (T_q, T_k) already meet the values "
        "(T_k, d_v) on the axis of the keys.",
        at.with_results(lambda w, q, k, v: (w @ v.T, w)),
    ),
    _wrong(
        "mean-for-weighted-sum",
        "ch3-soft-lookup",
        "This is a mean over the keys. The weights sum to 1 already: multiply each value by its "
        "weight and add up.",
        at.with_weights(lambda s: np.full(s.shape, 1 / s.shape[-1])),
        at.with_results(lambda w, q, k, v: (np.tile(v.mean(axis=0), (len(w), 1)), w)),
        at.with_results(lambda w, q, k, v: (v.mean(axis=0), w)),
        at.with_results(lambda w, q, k, v: (w @ v / len(v), w)),
    ),
    _wrong(
        "cosine-for-dot-product",
        "ch3-scale",
        "The scores are cosines: queries and keys were brought to length 1. In a dot product "
        "their lengths count.",
        at.with_weights(at.softmax, at.cosine),
        at.with_weights(at.softmax, lambda q, k: at.cosine(q, k) / q.shape[-1] ** 0.5),
    ),
    _wrong(
        "masks-the-future",
        "ch3-soft-lookup",
        "Some keys get no weight because of their place: a causal mask is at work. Nobody asked "
        "for one here: every query may attend to every key.",
        at.causal(lambda n_q, n_k: 0),
        at.causal(lambda n_q, n_k: n_k - n_q),
    ),
    Misconception(
        "one-maximum-for-all-rows",
        "Nearly: the largest score of the whole table is subtracted, and rows far below it become "
        "0/0. Subtract each row's own maximum: axis=-1, keepdims=True.",
        "ch3-softmax",
        when=one_maximum,
    ),
    Misconception(
        "overflows",
        "Right on ordinary scores, and exp of a few thousand is more than a float can hold. "
        "Subtract each row's maximum before exp: it changes no weight.",
        "ch3-softmax",
        when=breaks_only_on_large,
    ),
    Misconception(
        "finite-but-wrong",
        "Right on ordinary scores. On scores of a few thousand numbers come out, but not the "
        "weights: clipping or replacing nan hides what exp cannot hold. Subtract each row's "
        "maximum before exp: it changes no weight.",
        "ch3-softmax",
        when=finite_but_wrong_on_large,
    ),
)

EXERCISES = (
    FunctionExercise(
        id="ch3-attention",
        title="Attention in five lines of NumPy",
        link="ch3-numpy",
        call="attention(query, key, value)",
        trials=TRIALS,
        right=at.right,
        results=("output", "weights"),
        misconceptions=MISCONCEPTIONS,
        sections=SECTIONS,
    ),
)
