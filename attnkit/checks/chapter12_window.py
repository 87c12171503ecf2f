"""Exercise ch12-window: each query sees the last keys only, its own included."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_attention as wa
from attnkit.checks import _wrong_masked as wm
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter12_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable, link: str = "ch12-windowed") -> Misconception:
    return Misconception(name, message, link, wrong)


def _offsets(scores: np.ndarray) -> np.ndarray:
    """i − j, (queries, keys)."""
    n_q, n_k = scores.shape[-2:]
    return np.arange(n_q)[:, None] - np.arange(n_k)


def _weighted(make: Callable[[np.ndarray, np.ndarray, int], np.ndarray]) -> Callable:
    """Other weights: make(scores, i − j, window)."""

    def windowed(query, key, value, window):
        scores = wa.scaled(query, key)
        return make(scores, _offsets(scores), window) @ value

    return windowed


def _seeing(cells: Callable[[np.ndarray, int], np.ndarray]) -> Callable:
    """Another mask: cells(i − j, window)."""
    return _weighted(lambda scores, offset, window: wm.right(scores, cells(offset, window)))


def _inside(offset: np.ndarray, window: int) -> np.ndarray:
    return (offset >= 0) & (offset < window)


right = _seeing(_inside)


def _empty_first_row(fill: float, last: int) -> tuple[Callable, ...]:
    """The own key left out, so that the first query sees nothing: filled, or with weights of 0."""

    def cells(offset: np.ndarray, window: int) -> np.ndarray:
        return (offset >= 1) & (offset < window + last)

    filled = _weighted(lambda s, offset, w: wm.filled(fill)(s, cells(offset, w)))
    return filled, _seeing(cells)


def _blocks(back: int, causal: bool) -> Callable:
    """Whole blocks of the size of the window: the own one and so many before it."""

    def make(scores, offset, window):
        block = np.arange(len(offset)) // window
        apart = block[:, None] - block
        return wm.right(scores, (apart >= 0) & (apart <= back) & ((offset >= 0) | (not causal)))

    return _weighted(make)


def _scaled(scale: Callable[[np.ndarray, int], float]) -> Callable:
    def windowed(query, key, value, window):
        scores = wa.scores_of(query, key)
        return wm.right(scores * scale(query, window), _inside(_offsets(scores), window)) @ value

    return windowed


def _padded_with_zeros(query, key, value, window):
    """Keys and values of zeros before the first token, attended to like real ones."""
    before = [np.zeros((*x.shape[:-2], window - 1, x.shape[-1])) for x in (key, value)]
    key, value = (np.concatenate([b, x], -2) for b, x in zip(before, (key, value), strict=True))
    scores = wa.scaled(query, key)
    return wm.right(scores, _inside(_offsets(scores) + window - 1, window)) @ value


def _ring(blocks: bool) -> Callable:
    """Before the first key stands the last one: of the sequence, or of whole blocks of zeros."""

    def windowed(query, key, value, window):
        more = -key.shape[-2] % window if blocks else 0
        zeros = [np.zeros((*x.shape[:-2], more, x.shape[-1])) for x in (key, value)]
        key, value = (np.concatenate([x, z], -2) for x, z in zip((key, value), zeros, strict=True))
        scores = wa.scaled(query, key)
        return wm.right(scores, _offsets(scores) % scores.shape[-1] < window) @ value

    return windowed


def _first_key_again(scores, offset, window):
    """Places below 0 taken for 0: the first key counts several times."""
    powers = wm.powers(scores, _inside(offset, window))
    powers[..., 0] *= np.maximum(window - np.arange(len(offset)), 1)
    return powers / powers.sum(axis=-1, keepdims=True)


def _full_from_the_start(offset: np.ndarray, window: int) -> np.ndarray:
    """The first queries see a whole window too, later keys included."""
    n = len(offset)
    start = np.maximum(np.arange(n) - window + 1, 0)[:, None]
    return (np.arange(n) >= start) & (np.arange(n) < start + window)


def _trial(n: int, d: int, d_value: int, window: int, *batch: int, compared: bool = True) -> Trial:
    draw = np.random.default_rng(13).normal
    shapes = {"query": (n, d), "key": (n, d), "value": (n, d_value)}
    inputs = {name: draw(0, 1.2, (*batch, *shape)).round(1) for name, shape in shapes.items()}
    name = f"n {n}, d {d}, d_value {d_value}, window {window}, {batch}"
    return Trial(name, {**inputs, "window": window}, compared, required=not batch)


MISCONCEPTIONS = (
    _wrong(
        "one-key-too-many",
        "The window holds one key more than it says. The query's own key is one of them: i − j < "
        "window.",
        _seeing(lambda offset, window: (offset >= 0) & (offset <= window)),
    ),
    _wrong(
        "one-key-too-few",
        "The window holds one key less than it says. The query's own key and the window − 1 before "
        "it make window.",
        _seeing(lambda offset, window: (offset >= 0) & (offset < window - 1)),
    ),
    _wrong(
        "own-key-left-out",
        "The query does not see its own key, and the first one sees nothing. The window ends with "
        "the own key.",
        *_empty_first_row(-np.inf, 1),
        *_empty_first_row(-1e9, 1)[:1],
        *_empty_first_row(-np.inf, 0),
        *_empty_first_row(-1e9, 0)[:1],
    ),
    _wrong(
        "both-sides",
        "The window reaches to both sides. This one is causal: it ends at the query's own key.",
        _seeing(lambda offset, window: np.abs(offset) < window),
        _seeing(lambda offset, window: np.abs(offset) <= window // 2),
    ),
    _wrong(
        "window-ahead",
        "The window lies behind the query: its own key and those that come after. It is the keys "
        "before it that it may see.",
        _seeing(lambda offset, window: (offset <= 0) & (offset > -window)),
    ),
    _wrong(
        "causal-mask-forgotten",
        "Far keys before the query are hidden, and all keys behind it are seen. A window has two "
        "ends: 0 ≤ i − j < window.",
        _seeing(lambda offset, window: offset < window),
    ),
    _wrong(
        "no-window",
        "Every query sees all the keys before it, or all keys at all: window is not used.",
        _seeing(lambda offset, window: offset >= 0),
        _seeing(lambda offset, window: offset == offset),
        link="ch12-cost",
    ),
    _wrong(
        "blocks-apart",
        "The sentence is cut into blocks, and each block sees itself only. The first query of a "
        "block has window − 1 keys in the block before.",
        _blocks(0, causal=True),
        _blocks(0, causal=False),
    ),
    _wrong(
        "whole-blocks",
        "Each query sees the whole block before its own. That is how blocks are computed, but "
        "keys further back than window − 1 have to be masked inside them.",
        _blocks(1, causal=True),
        _blocks(1, causal=False),
    ),
    _wrong(
        "wraps-around",
        "The first queries see keys from the end of the sequence: roll puts them there, and a "
        "negative index takes them from there. Before the first key there is nothing: mask it.",
        _ring(blocks=False),
        _ring(blocks=True),
    ),
    _wrong(
        "padding-weighed",
        "The first queries attend to zeros before the beginning: a score of 0 has a weight. Mask "
        "the places that are not there.",
        _padded_with_zeros,
    ),
    _wrong(
        "first-key-again",
        "Places before the beginning are taken for the first key, which counts several times for "
        "the first queries. Mask them.",
        _weighted(_first_key_again),
    ),
    _wrong(
        "full-window-from-the-start",
        "The first queries see a whole window, and so keys that come after them. They have fewer "
        "keys before them: see those only.",
        _seeing(_full_from_the_start),
    ),
    _wrong(
        "masked-after-the-softmax",
        "The keys outside were set to 0 after the softmax, and have had their share below the bar. "
        "Mask the scores, before the softmax.",
        _weighted(lambda s, offset, window: wa.softmax(s) * _inside(offset, window)),
        link="ch12-mask",
    ),
    _wrong(
        "masked-with-zero",
        "The scores outside the window were set to 0, and exp(0) is 1, not 0. They have to be −∞, "
        "or not be there.",
        _weighted(lambda s, offset, window: wm.multiplied(s, _inside(offset, window))),
        link="ch12-mask",
    ),
    _wrong(
        "scores-not-used",
        "This is the mean of the values in the window. The scores decide how much each counts.",
        _weighted(lambda s, offset, window: wm.right(0 * s, _inside(offset, window))),
        _weighted(lambda s, offset, window: _inside(offset, window) / window),
    ),
    _wrong(
        "another-scale",
        "The scores are not divided by √d. The window changes which keys are seen, not how a score "
        "is computed.",
        _scaled(lambda query, window: 1.0),
        _scaled(lambda query, window: 1 / query.shape[-1]),
        _scaled(lambda query, window: window**-0.5),
    ),
    _wrong(
        "every-so-many-th",
        "The query sees every window-th key. That is a stride; a window holds the keys next to it.",
        _seeing(lambda offset, window: (offset >= 0) & (offset % window == 0)),
        link="ch12-strided",
    ),
    _wrong(
        "first-keys-of-the-sentence",
        "Every query sees the first keys of the sentence. The window moves with the query.",
        _weighted(lambda s, offset, window: wm.right(
            s, (offset >= 0) & (np.arange(len(offset)) < window))),
    ),
    _wrong(
        "last-keys-of-the-sentence",
        "Every query sees the last keys of the sentence: key[-window:] is their window only. The "
        "window moves with the query.",
        _weighted(lambda s, offset, window: wm.right(
            s, (offset == offset) & (np.arange(len(offset)) >= len(offset) - window))),
    ),
)  # fmt: skip

WINDOW = FunctionExercise(
    id="ch12-window",
    title="A window without the table",
    link="ch12-windowed",
    call="windowed(query, key, value, window)",
    results=("output",),
    sections=SECTIONS,
    right=right,
    trials=(
        _trial(3, 1, 1, 2),
        _trial(5, 2, 3, 2),
        _trial(7, 2, 1, 3),
        _trial(6, 3, 2, 4),
        _trial(4, 2, 3, 1, compared=False),
        _trial(3, 2, 2, 9, compared=False),
        _trial(5, 3, 2, 2, 2),
    ),
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (WINDOW,)
