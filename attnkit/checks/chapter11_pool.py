"""Exercise ch11-pool: one vector for a name, weighted by a softmax over its real characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks import _wrong_masked as wm
from attnkit.checks._engine import FunctionExercise, Misconception, Seen, Trial
from attnkit.checks._wrong_attention import softmax
from attnkit.checks.chapter11_claims import SECTIONS

_LARGE = "large scores"


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch11-pooling", wrong)


def _real(scores: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    return np.arange(scores.shape[1]) < np.asarray(lengths)[:, None]


def _added(weights: np.ndarray, states: np.ndarray) -> np.ndarray:
    return (weights[..., None] * states).sum(axis=1)


def _weighted(make: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """Other weights: make(scores, where the characters are real)."""
    return lambda states, scores, lengths: _added(make(scores, _real(scores, lengths)), states)


_right = _weighted(wm.right)


def _of_lengths(change: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """Other lengths: change(lengths)."""
    return lambda states, scores, lengths: _right(states, scores, change(np.asarray(lengths)))


def _results(change: Callable) -> Callable:
    """Something else of the weights: change(weights, states, lengths)."""
    return lambda states, scores, lengths: change(
        wm.right(scores, _real(scores, lengths)), states, np.asarray(lengths)
    )


def _largest(states, scores, lengths):
    real = _real(scores, lengths)
    return np.where(real[..., None], states, -np.inf).max(axis=1)


def _top(scores: np.ndarray, real: np.ndarray) -> np.ndarray:
    """All the weight on the largest score."""
    top = np.where(real, scores, -np.inf).argmax(axis=1)
    return (np.arange(scores.shape[1]) == top[:, None]).astype(float)


def _at_large_scores(*, finite: bool) -> Callable[[Sequence[Seen]], bool]:
    """Right but for large scores, and there a number, or none."""

    def when(trials: Sequence[Seen]) -> bool:
        (large,) = (seen for seen in trials if seen.trial.name == _LARGE)
        return (
            all(seen.right for seen in trials if seen is not large)
            and large.shaped
            and not large.right
            and bool(np.isfinite(large.got["pooled"]).all()) is finite
        )

    return when


def _trial(batch: int, length: int, d: int, lengths: list[int], *, compared: bool = True) -> Trial:
    draw = np.random.default_rng(12).normal
    inputs = {
        "states": draw(size=(batch, length, d)).round(1),
        "scores": draw(0, 1.2, size=(batch, length)).round(1),
        "lengths": np.array(lengths),
    }
    return Trial(f"lengths {lengths} of {length}, d {d}", inputs, compared)


#: In the compared trials the longest name fills its row, and each has two characters or more.
_TRIALS = (
    Trial(
        "one name, no padding",
        {
            "states": np.array([[[1.0], [2.0], [9.0]]]),
            "scores": np.array([[0.0, 1.0, 2.0]]),
            "lengths": np.array([3]),
        },
    ),
    Trial(
        "two names, one number each",
        {
            "states": np.array([[[1.0], [2.0], [9.0]], [[3.0], [1.0], [5.0]]]),
            "scores": np.array([[0.0, 1.0, 2.0], [1.0, -1.0, 0.5]]),
            "lengths": np.array([2, 3]),
        },
    ),
    _trial(2, 4, 3, [4, 2]),
    _trial(3, 5, 2, [2, 5, 3]),
    _trial(3, 4, 4, [3, 2, 4]),
    _trial(1, 3, 2, [1], compared=False),
    _trial(2, 4, 2, [1, 3], compared=False),
    Trial(
        _LARGE,
        {
            "states": np.array([[[1.0], [2.0], [9.0]], [[3.0], [1.0], [5.0]]]),
            "scores": np.array([[1000.0, 999.0, 3.0], [-1000.0, -1001.0, -2.0]]),
            "lengths": np.array([2, 2]),
        },
        compared=False,
    ),
)

MISCONCEPTIONS = (
    _wrong(
        "padding-weighed",
        "The padding takes part in the softmax and in the sum: a name gets another vector beside a "
        "longer one. Mask its scores.",
        _weighted(lambda scores, real: softmax(scores)),
    ),
    _wrong(
        "masked-after-the-softmax",
        "The padding is left out of the sum, but it has had its share below the bar: the weights "
        "of a short name sum to less than 1. Mask the scores, before the softmax.",
        _weighted(lambda scores, real: softmax(scores) * real),
    ),
    _wrong(
        "masked-with-zero",
        "The scores of the padding were set to 0, and exp(0) is 1, not 0. Set them to −∞, or as "
        "low as the dtype goes.",
        _weighted(lambda scores, real: softmax(scores * real)),
        _weighted(lambda scores, real: softmax(scores * real) * real),
    ),
    _wrong(
        "scores-not-used",
        "This is the mean of the states: every character counts the same. The scores decide how "
        "much each one counts.",
        _weighted(lambda scores, real: real / real.sum(axis=1, keepdims=True)),
        _weighted(lambda scores, real: np.full(scores.shape, 1 / scores.shape[1])),
    ),
    _wrong(
        "softmax-over-the-names",
        "The softmax runs over the batch, so that names share out a weight of 1 with each other. "
        "Each name has its own: the axis of the characters.",
        _weighted(lambda scores, real: softmax(np.where(real, scores, -1e9), axis=0)),
        _weighted(lambda scores, real: softmax(scores, axis=0) * real),
        _weighted(lambda scores, real: softmax(scores, axis=0)),
    ),
    _wrong(
        "softmax-over-everything",
        "All the weights of the batch together sum to 1. Each name has its own softmax: the axis "
        "of the characters.",
        _weighted(lambda scores, real: softmax(np.where(real, scores, -1e9), axis=None)),
    ),
    _wrong(
        "no-softmax",
        "The states are multiplied by the scores themselves, or by the scores divided by their "
        "sum. Scores may be below 0: their softmax is never.",
        _weighted(lambda scores, real: scores * real),
        _weighted(lambda scores, real: scores * real / (scores * real).sum(1, keepdims=True)),
        _weighted(lambda scores, real: scores),
    ),
    _wrong(
        "not-divided",
        "exp is taken and the division is missing, so that a name with high scores gets a long "
        "vector. Divide by the sum over the real characters.",
        _weighted(lambda scores, real: np.exp(scores) * real),
    ),
    _wrong(
        "top-character-only",
        "The state of the character with the largest score is all that comes back. The others "
        "count too, with smaller weights.",
        _weighted(_top),
        _weighted(lambda scores, real: _top(scores, np.ones_like(real))),
    ),
    _wrong(
        "largest-numbers",
        "Each number is the largest over the characters. That is max pooling, and needs no scores.",
        _largest,
        lambda states, scores, lengths: states.max(axis=1),
    ),
    _wrong(
        "polarity-flipped",
        "The padding is weighed, and the real characters are left out. The real ones are those "
        "below lengths.",
        _weighted(lambda scores, real: softmax(np.where(real, -np.inf, scores))),
        _weighted(lambda scores, real: softmax(np.where(real, -1e9, scores))),
        _weighted(lambda scores, real: wm.right(scores, ~real)),
    ),
    _wrong(
        "length-off-by-one",
        "One padding character takes part, or the last real one is left out. Positions count from "
        "0: the real ones are those below lengths.",
        _of_lengths(lambda lengths: lengths + 1),
        _of_lengths(lambda lengths: lengths - 1),
    ),
    _wrong(
        "one-length-for-all",
        "Every name is cut at the same place. Each has its own length: lengths[:, None].",
        _of_lengths(lambda lengths: np.full_like(lengths, lengths.min())),
        _of_lengths(lambda lengths: np.full_like(lengths, lengths[0])),
        _of_lengths(lambda lengths: np.full_like(lengths, lengths[-1])),
    ),
    _wrong(
        "divided-by-the-length",
        "The weighted sum is divided by the number of characters. The weights sum to 1 already: it "
        "is a mean.",
        _results(lambda w, states, lengths: _added(w, states) / lengths[:, None]),
        _results(lambda w, states, lengths: _added(w, states) / w.shape[1]),
    ),
    _wrong(
        "scores-scaled",
        "The scores are divided by √d. They are given, one for each character: there is no product "
        "of d numbers to make up for.",
        lambda states, scores, lengths: _right(states, scores / np.sqrt(states.shape[-1]), lengths),
    ),
    _wrong(
        "weights-returned",
        "These are the weights. With them the states are added up, to one vector for each name.",
        _results(lambda w, states, lengths: w),
    ),
    _wrong(
        "states-not-added",
        "There is still one vector for each character. Add the weighted states up.",
        _results(lambda w, states, lengths: w[..., None] * states),
    ),
    Misconception(
        "overflows",
        "Right until the scores are large: exp(1000) is more than a float can hold. Subtract the "
        "largest score of the name first, or let softmax do it.",
        "ch11-pooling",
        (_weighted(lambda scores, real: wm.shared(np.exp(scores), real)),),
        when=_at_large_scores(finite=False),
    ),
    Misconception(
        "padding-not-low-enough",
        "Right until all scores of a name are as low as the number that hides the padding: then "
        "the padding counts. Fill it with −∞.",
        "ch11-pooling",
        (_weighted(lambda scores, real: softmax(np.where(real, scores, -1000))),),
        when=_at_large_scores(finite=True),
    ),
)

POOL = FunctionExercise(
    id="ch11-pool",
    title="Attention pooling",
    link="ch11-pooling",
    call="pool(states, scores, lengths)",
    results=("pooled",),
    sections=SECTIONS,
    right=_right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (POOL,)
