"""Counting right sentences, right and wrong in every way that has a name.

``predicted`` and ``target`` have the shape (batch, T), and 2 is <eos>.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

EOS = 2


def counts(ids: np.ndarray) -> np.ndarray:
    """True up to the first <eos>, itself included."""
    ended = ids == EOS
    return np.cumsum(ended, axis=-1) - ended == 0


def same(predicted: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Where a token is right or does not count."""
    return (predicted == target) | ~counts(target)


def right(predicted: np.ndarray, target: np.ndarray) -> np.floating:
    return np.mean(same(predicted, target).all(axis=-1))


def length(ids: np.ndarray) -> np.ndarray:
    return counts(ids).sum(axis=1)


def _words(row: np.ndarray) -> list[int]:
    return row[counts(row[None])[0]].tolist()[:-1]


def by_sentence(agree: Callable[[list[int], list[int]], object]) -> Callable:
    """The mean of something over the sentences, given as their words without <eos>."""

    def wrong(predicted, target):
        pairs = zip(predicted, target, strict=True)
        return np.mean([float(bool(agree(_words(p), _words(t)))) for p, t in pairs])

    return wrong


def leaving_out(out: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """Every place must agree, but those of ``out(predicted, target)``."""
    return lambda p, t: np.mean(((p == t) | out(p, t)).all(axis=1))


def _filtered(row: np.ndarray) -> list[int]:
    return row[row > EOS].tolist()


def _last_end(ids: np.ndarray) -> np.ndarray:
    """True up to the last <eos>."""
    return np.cumsum((ids == EOS)[:, ::-1], axis=1)[:, ::-1] > 0


def until_last_end(predicted: np.ndarray, target: np.ndarray) -> np.floating:
    return np.mean(((predicted == target) | ~_last_end(predicted)).all(axis=1))


def specials_dropped(predicted: np.ndarray, target: np.ndarray) -> np.floating:
    pairs = zip(predicted, target, strict=True)
    return np.mean([_filtered(p) == _filtered(t) for p, t in pairs])


def token_share(predicted: np.ndarray, target: np.ndarray) -> np.floating:
    counted = counts(target)
    return (((predicted == target) & counted).sum(axis=1) / counted.sum(axis=1)).mean()
