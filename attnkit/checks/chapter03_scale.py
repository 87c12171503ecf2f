"""Exercises ch3-variance and ch3-fold-scale: where the scale comes from, and where it may go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Seen, Trial
from attnkit.checks.chapter03_attention import SECTIONS


def _grid(*shape: int) -> np.ndarray:
    """A small weight with short digits and no symmetry."""
    return (np.arange(np.prod(shape)) ** 2 % 17 - 6).reshape(shape).astype(np.float32) / 2


def _nearly(trials: Sequence[Seen]) -> bool:
    """Within a fifth of the formula everywhere: what a simulation gives."""
    return all(
        seen.shaped and np.allclose(seen.got["variance"], seen.expected["variance"], rtol=0.2)
        for seen in trials
    )


def _rounded(trials: Sequence[Seen]) -> bool:
    """The formula, cut to fewer digits or to a whole number: exact wherever that loses nothing."""

    def fits(got: float, expected: float) -> bool:
        exact = abs(got - expected) <= 1e-9 * expected
        return exact or (expected != round(expected) and abs(got - expected) < 1)

    return all(
        seen.shaped and fits(float(seen.got["variance"].item()), float(seen.expected["variance"]))
        for seen in trials
    )


VARIANCE = FunctionExercise(
    id="ch3-variance",
    title="The variance of a score",
    link="ch3-variance",
    call="score_variance(d_key, std)",
    results=("variance",),
    styles=("numpy",),
    sections=SECTIONS,
    right=lambda d, s: d * s**4,
    trials=tuple(
        Trial(f"d_key {d}, std {s}", {"d_key": d, "std": s})
        for d, s in [(1, 2.0), (2, 1.0), (3, 2.0), (5, 0.5), (64, 1.5)]
    ),
    misconceptions=(
        Misconception(
            "std-taken-for-variance",
            "The variance of one product q·k is σ²·σ² = σ⁴: both factors vary. This is σ²·d_k.",
            "ch3-variance",
            (lambda d, s: d * s**2,),
        ),
        Misconception(
            "grows-like-std",
            "σ·d_k has the unit of a standard deviation. A variance multiplies: σ² from q times σ² "
            "from k, for each of the d_k terms.",
            "ch3-variance",
            (lambda d, s: d * s,),
        ),
        Misconception(
            "one-product-only",
            "σ⁴ is the variance of one product, and of the score after scaling. The score adds up "
            "d_k independent products, and variances of independent terms add.",
            "ch3-variance",
            (lambda d, s: s**4,),
        ),
        Misconception(
            "standard-deviation",
            "This is the standard deviation σ²·√d_k. The variance is its square.",
            "ch3-variance",
            (lambda d, s: s**2 * d**0.5,),
        ),
        Misconception(
            "root-on-d-only",
            "The root belongs to the standard deviation: σ⁴·√d_k takes it of d_k and not of σ⁴.",
            "ch3-variance",
            (lambda d, s: s**4 * d**0.5,),
        ),
        Misconception(
            "ignores-std",
            "d_k is right for σ = 1 only. With another σ each product has variance σ⁴.",
            "ch3-variance",
            (lambda d, s: float(d),),
        ),
        Misconception(
            "terms-not-independent",
            "A factor d_k² would be right if all d_k products were the same number. They are "
            "independent: their variances add, which gives a factor d_k.",
            "ch3-variance",
            (lambda d, s: d**2 * s**4, lambda d, s: d**2 * s**2),
        ),
        Misconception(
            "variances-added-in-a-product",
            "2σ²·d_k adds the variances of q and k. That is right for a sum q + k; in a product of "
            "independent factors of mean 0 they multiply.",
            "ch3-variance",
            (lambda d, s: 2 * d * s**2,),
        ),
        Misconception(
            "query-is-key",
            "This is the variance of a vector's product with itself, where q² varies as 2σ⁴. "
            "Here q and k are independent.",
            "ch3-variance",
            (lambda d, s: 2 * d * s**4, lambda d, s: 3 * d * s**4),
        ),
        Misconception(
            "after-scaling",
            "1 is the variance after dividing by √d_k, and for σ = 1. The question is about the "
            "score before the scale.",
            "ch3-scale",
            (lambda d, s: 1.0,),
        ),
        Misconception(
            "mean-of-products",
            "Dividing by d_k is the variance of the mean of d_k products, σ⁴/d_k. A score is their "
            "sum.",
            "ch3-variance",
            (lambda d, s: s**4 / d,),
        ),
        Misconception(
            "arguments-swapped",
            "d_k and σ have changed places: d_k comes first, and σ has the exponent 4.",
            "ch3-variance",
            (lambda d, s: s * d**4,),
        ),
        Misconception(
            "rounded",
            "The formula is right where its result is a whole number; elsewhere digits were cut "
            "off. Return the number as it is.",
            "ch3-variance",
            when=_rounded,
        ),
        Misconception(
            "simulated",
            "Close: a simulation finds the value up to chance. Now find the formula: what is the "
            "variance of one product, and how many are added?",
            "ch3-variance",
            when=_nearly,
        ),
    ),
)

FOLD_SCALE = FunctionExercise(
    id="ch3-fold-scale",
    title="Fold the scale into the projection",
    link="ch3-reparam",
    call="fold_scale(query_proj_weight, d_key)",
    results=("weight",),
    styles=("torch", "numpy"),
    sections=SECTIONS,
    right=lambda weight, d: weight / np.sqrt(d),
    trials=(
        Trial("one column", {"query_proj_weight": 2 * _grid(4, 1) + 1, "d_key": 4}),
        Trial("wide", {"query_proj_weight": _grid(2, 3), "d_key": 2}),
        Trial("square", {"query_proj_weight": _grid(3, 3), "d_key": 3}),
        Trial("tall", {"query_proj_weight": _grid(5, 2), "d_key": 5}),
        Trial(
            "parameter",
            {"query_proj_weight": _grid(7, 5), "d_key": 7},
            styles=("parameter", "numpy"),
        ),
    ),
    misconceptions=(
        Misconception(
            "divided-by-d-key",
            "The query is divided by d_k, and the scale is 1/√d_k: the scores come out √d_k times "
            "too small.",
            "ch3-scale",
            (lambda weight, d: weight / d,),
        ),
        Misconception(
            "scaled-by-d-model",
            "The scale comes from the length of the vectors in the dot product, d_k (rows of W_q), "
            "not from d_model (columns).",
            "ch3-scale",
            (
                lambda weight, d: weight / np.sqrt(weight.shape[1]),
                lambda weight, d: weight / weight.shape[1],
            ),
        ),
        Misconception(
            "multiplied",
            "The weight grew. Scores with the scale are smaller than without, so what replaces the "
            "scale must shrink the query.",
            "ch3-reparam",
            (lambda weight, d: weight * np.sqrt(d), lambda weight, d: weight * d),
        ),
        Misconception(
            "shared-with-key",
            "Dividing by the fourth root of d_k is right when W_q and W_k share the scale. Here "
            "W_k stays, so W_q takes all of it.",
            "ch3-reparam",
            (lambda weight, d: weight / d**0.25,),
        ),
        Misconception(
            "unchanged",
            "This is W_q as it was: without the scale its scores are √d_k times too large.",
            "ch3-reparam",
            (lambda weight, d: weight,),
        ),
        Misconception(
            "transposed",
            "The weight came back transposed: it still maps d_model to d_k, so its shape stays "
            "(d_k, d_model).",
            "ch3-shapes",
            (lambda weight, d: weight.T / np.sqrt(d), lambda weight, d: weight.T),
        ),
        Misconception(
            "scale-only",
            "This is the factor, not the weight: return W_q times it.",
            "ch3-reparam",
            (
                lambda weight, d: 1 / np.sqrt(d),
                lambda weight, d: np.full(weight.shape, 1 / np.sqrt(d)),
            ),
        ),
        Misconception(
            "rows-normalised",
            "Each row was brought to length 1. The scale is one number for all queries, and does "
            "not depend on the values of W_q.",
            "ch3-reparam",
            (
                lambda weight, d: weight / np.linalg.norm(weight, axis=1, keepdims=True),
                lambda weight, d: weight / np.linalg.norm(weight),
            ),
        ),
        Misconception(
            "subtracted",
            "The scale is a factor of the scores, and a factor of W_q becomes a factor of the "
            "scores. Adding or subtracting it does something else.",
            "ch3-reparam",
            (lambda weight, d: weight - np.sqrt(d), lambda weight, d: weight - 1 / np.sqrt(d)),
        ),
    ),
)

EXERCISES = (VARIANCE, FOLD_SCALE)
