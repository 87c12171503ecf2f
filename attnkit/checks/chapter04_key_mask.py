"""Exercise ch4-same-padded: the mask with which a padded sentence equals the sentence alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks._wrong_mask import additive, of_the_wrong_kind
from attnkit.checks.chapter04_claims import SECTIONS


def _real(lengths: np.ndarray, n_keys: int) -> np.ndarray:
    """Where the real tokens are, (batch, n_keys)."""
    return np.arange(n_keys) < lengths[:, None]


def _keys(cells: Callable[[np.ndarray, int], np.ndarray]) -> Callable:
    """Cells (batch, n_keys) put on the axes of a mask."""
    return lambda lengths, n_keys: cells(lengths, n_keys)[:, None, None, :]


_right = _keys(_real)


def _like(lengths: np.ndarray, length: int) -> np.ndarray:
    return np.full_like(lengths, length)


def _pairs(lengths: np.ndarray, n_keys: int) -> np.ndarray:
    """True where query and key are both real."""
    real = _real(lengths, n_keys)
    return (real[:, :, None] & real[:, None, :])[:, None]


def _square(lengths: np.ndarray, n_keys: int) -> np.ndarray:
    return np.repeat(_right(lengths, n_keys), n_keys, axis=2)


def _trial(lengths: list[int], n_keys: int) -> Trial:
    inputs = {"lengths": np.array(lengths), "n_keys": n_keys}
    return Trial(f"lengths {lengths}, {n_keys} keys", inputs)


MISCONCEPTIONS = (
    Misconception(
        "polarity-flipped",
        "The mask is the other way round: here True marks the padding. That is PyTorch's "
        "key_padding_mask; in attnkit True = may attend.",
        "ch4-conventions",
        (
            lambda lengths, n: ~_right(lengths, n),
            lambda lengths, n: ~_real(lengths, n),
            lambda lengths, n: additive(~_right(lengths, n)),
        ),
    ),
    Misconception(
        "query-rows-masked",
        "The mask lies along the queries: rows of padding are blocked, and every real token still "
        "attends to the padding. Padding must not be looked at: block the columns, the last axis.",
        "ch4-padding",
        (lambda lengths, n: _real(lengths, n)[:, None, :, None],),
    ),
    Misconception(
        "query-rows-masked-too",
        "Keys and queries of the padding are both blocked: the rows of the padding may see "
        "nothing then. Nobody reads those rows; blocking the keys is enough, with an axis of "
        "size 1 for the queries.",
        "ch4-empty",
        (_pairs,),
    ),
    Misconception(
        "one-padding-key-let-in",
        "The first padding position counts as real. Positions start at 0: a sentence of 2 tokens "
        "has 0 and 1, so position < length.",
        "ch4-padding",
        (_keys(lambda lengths, n: np.arange(n) <= lengths[:, None]),),
    ),
    Misconception(
        "last-token-hidden",
        "The last real token is blocked. Positions start at 0: a sentence of 2 tokens has 0 and "
        "1, so position < length.",
        "ch4-padding",
        (_keys(lambda lengths, n: np.arange(n) < lengths[:, None] - 1),),
    ),
    Misconception(
        "batch-on-another-axis",
        "The cells are right, but the sentences lie where heads or queries belong: axes are lined "
        "up from the last one, so that (batch, n_keys) is read as (1, 1, batch, n_keys). Return "
        "(batch, 1, 1, n_keys).",
        "ch4-padding",
        (
            _real,
            lambda lengths, n: _real(lengths, n)[:, None],
            lambda lengths, n: _real(lengths, n)[None, None],
            lambda lengths, n: _real(lengths, n)[None, :, None],
        ),
    ),
    Misconception(
        "keys-first",
        "The keys have changed places with the batch or with another axis of size 1. They are the "
        "last axis of the scores, and so of the mask.",
        "ch4-padding",
        (
            lambda lengths, n: _real(lengths, n).T,
            lambda lengths, n: _real(lengths, n).T[None, None],
            lambda lengths, n: _real(lengths, n)[:, :, None, None],
            lambda lengths, n: _real(lengths, n)[..., None],
        ),
    ),
    Misconception(
        "padded-on-the-left",
        "The real tokens are taken to be the last ones. Here the padding comes after them.",
        "ch4-padding",
        (_keys(lambda lengths, n: np.arange(n) >= n - lengths[:, None]),),
    ),
    Misconception(
        "longest-for-all",
        "One length is used for every sentence, so that shorter ones attend to their padding. "
        "Compare the positions with each sentence's own length: lengths[:, None].",
        "ch4-padding",
        (
            _keys(lambda lengths, n: _real(_like(lengths, lengths.max()), n)),
            _keys(lambda lengths, n: _real(_like(lengths, lengths.min()), n)),
            _keys(lambda lengths, n: _real(_like(lengths, lengths[0]), n)),
        ),
    ),
    Misconception(
        "as-long-as-the-longest",
        "The mask is as long as the longest sentence. The sentences are padded to n_keys, and "
        "every key needs a column.",
        "ch4-padding",
        (lambda lengths, n: _right(lengths, int(lengths.max())),),
    ),
    Misconception(
        "nothing-hidden",
        "Every key is allowed, padding too: it takes weight away from the real tokens.",
        "ch4-padding",
        (_keys(lambda lengths, n: np.ones((len(lengths), n), bool)),),
    ),
    Misconception(
        "one-position-only",
        "Only one position of each sentence is marked. All positions before the length are real.",
        "ch4-padding",
        (
            _keys(lambda lengths, n: np.arange(n) == lengths[:, None]),
            _keys(lambda lengths, n: np.arange(n) == lengths[:, None] - 1),
        ),
    ),
    Misconception(
        "one-row-per-query",
        "The cells are right, and there is a row for every query. All of them are the same: an "
        "axis of size 1 says so, and fits however many queries there are.",
        "ch4-padding",
        (_square, lambda lengths, n: _square(lengths, n)[:, 0]),
    ),
    Misconception(
        "causal-too",
        "Later keys are hidden as well. Nobody asked for a causal mask here: each query may "
        "attend to every real token. Two masks are combined with &, where both are wanted.",
        "ch4-window",
        (
            lambda lengths, n: _right(lengths, n) & np.tri(n, dtype=bool),
            lambda lengths, n: (_right(lengths, n) & np.tri(n, dtype=bool))[:, 0],
        ),
    ),
    *of_the_wrong_kind(_right, "ch4-conventions"),
)

KEY_MASK = FunctionExercise(
    id="ch4-same-padded",
    title="The same sentence, padded",
    link="ch4-padding",
    call="key_mask(lengths, n_keys)",
    results=("mask",),
    styles=("numpy", "torch"),
    sections=SECTIONS,
    right=_right,
    trials=(
        _trial([2], 3),
        _trial([1, 3], 4),
        _trial([3, 2], 5),
        _trial([2, 4, 1], 7),
        _trial([5, 0, 3, 2], 5),
    ),
    misconceptions=MISCONCEPTIONS,
)

EXERCISES = (KEY_MASK,)
