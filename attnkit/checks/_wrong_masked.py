"""Softmax with a mask in NumPy, right and wrong in every way that has a name.

The arguments are always (scores, mask), and True = may attend. The wrong ones are the references
that recorded answers are compared with.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks._wrong_attention import softmax


def shared(powers: np.ndarray, mask: np.ndarray, axis: int | None = -1) -> np.ndarray:
    """Powers of the allowed keys, divided by their sum; a sum of 0 divides nothing."""
    powers = powers * mask
    total = powers.sum(axis=axis, keepdims=True)
    return powers / np.where(total == 0, 1, total)


def powers(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """exp of what each score is short of the largest allowed one of its row."""
    scores = np.where(mask, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    return np.exp(scores - np.where(np.isfinite(top), top, 0))


def right(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return shared(powers(scores, mask), mask)


def self_attention(x: np.ndarray, mask: np.ndarray, bias: float | np.ndarray = 0.0) -> np.ndarray:
    """What masks do to three tokens: x as queries, keys and values, with a bias on the scores."""
    return right(x @ x.T / np.sqrt(x.shape[1]) + bias, mask) @ x


def filled(number: float, axis: int | None = -1) -> Callable:
    """The softmax after a number has taken the place of the blocked scores."""
    return lambda scores, mask: softmax(np.where(mask, scores, number), axis=axis)


def filled_and_zeroed(number: float) -> Callable:
    return lambda scores, mask: filled(number)(scores, mask) * mask


def added(number: float) -> Callable:
    """The mask as 1 and 0, times a number, added to the scores."""
    return lambda scores, mask: softmax(scores + number * mask)


def multiplied(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return softmax(scores * mask)


def infinity_times_zero(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return softmax(scores + ~mask * -np.inf)


def divided_afterwards(axis: int | None, keepdims: bool = True, epsilon: float = 0.0) -> Callable:
    """Softmax of everything, then mask, then division by a sum."""

    def wrong(scores, mask):
        weights = softmax(scores) * mask
        return weights / (weights.sum(axis=axis, keepdims=keepdims) + epsilon)

    return wrong


def maximum_without_keepdims(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    scores = np.where(mask, scores, -np.inf)
    return shared(np.exp(scores - scores.max(axis=-1)), mask)


def blended(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Mask times score plus blocked times a large number: −∞ times 0 is nan."""
    return softmax(mask * scores + ~mask * -1e9) * mask


def one_maximum(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return shared(np.exp(scores - scores[mask].max(initial=-1e300)), mask)


def maximum_of_everything(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The row's maximum, blocked keys included."""
    return shared(np.exp(scores - scores.max(axis=-1, keepdims=True)), mask)


def clipped(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return shared(np.exp(scores.clip(-700, 700)), mask)


def patched(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.nan_to_num(shared(np.exp(scores), mask))


def allowed_only(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The weights of the allowed keys, one behind the other."""
    return right(scores, mask)[mask]
