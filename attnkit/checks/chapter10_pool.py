"""Exercise ch10-pool: from the vectors of the tokens to the vector of the sentence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter10_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch10-pooling", wrong)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _same(vectors: np.ndarray) -> np.ndarray:
    return vectors


def _of_tokens(pool: Callable, finish: Callable = _unit) -> Callable:
    """pool(vectors of one sentence, number of real tokens), made into a unit vector at the end."""

    def embed(hidden, lengths):
        return finish(np.stack([pool(h, int(n)) for h, n in zip(hidden, lengths, strict=True)]))

    return embed


def _kept(first: int, last: int) -> Callable:
    """The mean of the tokens from first on, without the last so-many real ones."""
    return lambda hidden, n: hidden[first : n - last].mean(axis=0)


_mean = _kept(0, 0)
_right = _of_tokens(_mean)


def _with_length(measure: Callable[[np.ndarray], np.ndarray], pool: Callable = _mean) -> Callable:
    """The mean, divided by another measure of its size."""
    return _of_tokens(pool, lambda vectors: vectors / measure(vectors))


def _last(measure: Callable) -> Callable:
    return lambda vectors: measure(vectors, axis=-1, keepdims=True)


def _for_all(length: Callable[[np.ndarray], int]) -> Callable:
    """One number of tokens, taken for every sentence."""

    def wrong(hidden, lengths):
        return _unit(hidden[:, : int(length(lengths))].mean(axis=1))

    return wrong


def _only_padding(hidden: np.ndarray, n: int) -> np.ndarray:
    return hidden[n:].sum(axis=0)


def _centred(vectors: np.ndarray) -> np.ndarray:
    apart = vectors - vectors.mean(axis=-1, keepdims=True)
    return apart / apart.std(axis=-1, keepdims=True)


def _softmax(vectors: np.ndarray) -> np.ndarray:
    powers = np.exp(vectors - vectors.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _trial(
    lengths: list[int], n_positions: int, d_model: int, seed: int, compared: bool = True
) -> Trial:
    draw = np.random.default_rng(seed).normal
    hidden = draw(0.4, 1.0, size=(len(lengths), n_positions, d_model)).round(1)
    name = f"{len(lengths)} of {', '.join(map(str, lengths))} tokens, {n_positions} positions"
    return Trial(name, {"hidden": hidden, "lengths": np.array(lengths)}, compared)


_HAND = np.array([[[1.0, 2.0], [3.0, 0.0], [-1.0, 7.0], [5.0, -6.0]]])
_FAR = np.array([[[0.5, -1.0, 2.0], [1.5, 1.0, 0.0], [1e6, -1e6, 1e6], [-1e6, 1e6, 1e6]]])
_TRIALS = (
    Trial("one sentence of 3 tokens, padded to 4", {"hidden": _HAND, "lengths": np.array([3])}),
    _trial([3, 4], 5, 3, 0),
    _trial([5, 3, 4], 7, 5, 1),
    _trial([6, 4, 3, 5], 9, 4, 2),
    Trial(
        "large numbers in the padding",
        {"hidden": _FAR, "lengths": np.array([2])},
        compared=False,
    ),
    _trial([4, 4], 4, 3, 3, compared=False),
    _trial([2, 5], 5, 3, 4, compared=False),
)

MISCONCEPTIONS = (
    _wrong(
        "padding-averaged-in",
        "The mean runs over all positions, padding too: the same sentence gets another vector in "
        "another batch. Count and add up the first lengths positions of each sentence.",
        _of_tokens(lambda h, n: h.mean(axis=0)),
        _of_tokens(lambda h, n: h.mean(axis=0), _same),
        _of_tokens(lambda h, n: h.sum(axis=0) / n, _same),
    ),
    _wrong(
        "cls-vector",
        "This is the vector of [CLS] alone. Some encoders are trained to put the sentence there; "
        "this one was trained on the mean of its tokens.",
        _of_tokens(lambda h, n: h[0]),
        _of_tokens(lambda h, n: h[0], _same),
    ),
    _wrong(
        "last-token",
        "This is the vector of one token, the last. The mean of all real tokens is wanted.",
        _of_tokens(lambda h, n: h[n - 1]),
        _of_tokens(lambda h, n: h[n - 1], _same),
        _of_tokens(lambda h, n: h[-1]),
        _of_tokens(lambda h, n: h[-1], _same),
    ),
    _wrong(
        "not-normalised",
        "The direction is right and the length is not 1: divide by the length, the root of the sum "
        "of the squares. Then the product of two vectors is their cosine.",
        _of_tokens(_mean, _same),
        _of_tokens(lambda h, n: h[:n].sum(axis=0), _same),
        _of_tokens(lambda h, n: h[:n].sum(axis=0) / len(h), _same),
        _of_tokens(_mean, lambda vectors: vectors / np.sqrt(vectors.shape[-1])),
    ),
    _wrong(
        "normalised-before-the-mean",
        "Each token is brought to length 1 before the mean, so that long and short vectors count "
        "the same. Average first, and normalise once, at the end.",
        _of_tokens(lambda h, n: _unit(h[:n]).mean(axis=0)),
        _of_tokens(lambda h, n: _unit(h[:n]).mean(axis=0), _same),
        _of_tokens(lambda h, n: _unit(h[:n]).sum(axis=0), _same),
    ),
    _wrong(
        "largest-number",
        "Each number is the largest over the tokens. That is max pooling; this model was trained "
        "on the mean.",
        _of_tokens(lambda h, n: h[:n].max(axis=0)),
        _of_tokens(lambda h, n: h[:n].max(axis=0), _same),
        _of_tokens(lambda h, n: h.max(axis=0)),
        _of_tokens(lambda h, n: h.max(axis=0), _same),
    ),
    _wrong(
        "special-tokens-left-out",
        "[CLS] or [SEP] is left out of the mean. Both are real positions to this model, and it was "
        "trained with them in the mean: take the first lengths positions.",
        _of_tokens(_kept(1, 1)),
        _of_tokens(_kept(1, 0)),
        _of_tokens(_kept(0, 1)),
        _of_tokens(_kept(1, 1), _same),
        _of_tokens(_kept(1, 0), _same),
        _of_tokens(_kept(0, 1), _same),
    ),
    _wrong(
        "one-position-too-many",
        "One padding position is averaged in. Positions count from 0: the real ones are those "
        "below lengths.",
        _of_tokens(lambda h, n: h[: n + 1].mean(axis=0)),
        _of_tokens(lambda h, n: h[: n + 1].mean(axis=0), _same),
    ),
    _wrong(
        "polarity-flipped",
        "The padding is averaged, and the real tokens are left out. The real positions are those "
        "below lengths.",
        _of_tokens(_only_padding),
        _of_tokens(lambda h, n: h[n:].mean(axis=0), _same),
    ),
    _wrong(
        "one-length-for-all",
        "Every sentence is cut at the same place. Each has its own number of tokens: a mask of "
        "shape (batch, T) knows them all.",
        _for_all(np.max),
        _for_all(np.min),
        _for_all(lambda lengths: lengths[0]),
        _for_all(lambda lengths: lengths[-1]),
        _for_all(lambda lengths: round(float(lengths.mean()))),
    ),
    _wrong(
        "normalised-over-the-batch",
        "The length is taken over the sentences, or over the whole batch. Each sentence has a "
        "length of its own: the last axis.",
        _with_length(lambda v: np.linalg.norm(v, axis=0)),
        _with_length(lambda v: np.asarray(np.linalg.norm(v))),
    ),
    _wrong(
        "another-length",
        "The vector is divided by something else than its length: the root of the sum of the "
        "squares.",
        _with_length(_last(np.sum)),
        _with_length(lambda v: np.abs(v).sum(axis=-1, keepdims=True)),
        _with_length(lambda v: np.abs(v).max(axis=-1, keepdims=True)),
        _with_length(_last(np.max)),
        _with_length(lambda v: (v**2).sum(axis=-1, keepdims=True)),
        _of_tokens(_mean, _centred),
        _of_tokens(_mean, _softmax),
    ),
    _wrong(
        "mean-over-the-numbers",
        "The mean runs over the numbers of each vector. It is the tokens that are averaged: axis "
        "1 of (batch, T, d).",
        lambda hidden, lengths: hidden.mean(axis=-1),
        lambda hidden, lengths: _unit(hidden.mean(axis=-1)),
    ),
    _wrong(
        "sentences-averaged",
        "The sentences are averaged with each other. Each has a vector of its own: keep the first "
        "axis.",
        lambda hidden, lengths: _unit(_of_tokens(_mean, _same)(hidden, lengths).mean(axis=0)),
        lambda hidden, lengths: _right(hidden, lengths).mean(axis=0),
        lambda hidden, lengths: _unit(hidden.mean(axis=0)),
        lambda hidden, lengths: hidden.mean(axis=0),
    ),
    _wrong(
        "tokens-not-averaged",
        "There is still one vector for each position. Average over the real ones of each sentence.",
        lambda hidden, lengths: _unit(hidden),
        lambda hidden, lengths: hidden,
    ),
)

POOL = FunctionExercise(
    id="ch10-pool",
    title="From tokens to a sentence vector",
    link="ch10-pooling",
    call="embed(hidden, lengths)",
    results=("vectors",),
    sections=SECTIONS,
    right=_right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (POOL,)
