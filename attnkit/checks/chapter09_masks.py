"""Exercise ch9-masks: what a decoder may see of itself and of the source."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks._wrong_mask import of_the_wrong_kind
from attnkit.checks.chapter09_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch9-masks", wrong)


def _causal(n: int) -> np.ndarray:
    return np.tri(n, dtype=bool)


def _real(lengths: np.ndarray, n_keys: int | None = None) -> np.ndarray:
    """Where the real tokens are, (batch, n_keys)."""
    return np.arange(int(lengths.max()) if n_keys is None else n_keys) < lengths[:, None]


def _keys(cells: np.ndarray) -> np.ndarray:
    """Cells (batch, n_keys) put on the axes of a mask."""
    return cells[:, None, None, :]


def _right(lengths: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    return _causal(n), _keys(_real(lengths))


def _self(cells: Callable[[int], np.ndarray]) -> Callable:
    """Another mask for the self-attention."""
    return lambda lengths, n: (cells(n), _keys(_real(lengths)))


def _cross(cells: Callable[[np.ndarray, int], np.ndarray]) -> Callable:
    """Another mask for the cross-attention."""
    return lambda lengths, n: (_causal(n), cells(lengths, n))


def _one_length(choose: Callable[[np.ndarray], object]) -> Callable:
    return _cross(
        lambda lengths, n: _keys(_real(np.full_like(lengths, choose(lengths)), int(lengths.max())))
    )


def _places(lengths: np.ndarray) -> np.ndarray:
    return np.arange(int(lengths.max()))


def _also_causal(lengths: np.ndarray, n: int) -> np.ndarray:
    seen = np.arange(int(lengths.max())) <= np.arange(n)[:, None]
    return _keys(_real(lengths)) & seen


MISCONCEPTIONS = (
    _wrong(
        "masks-in-the-other-order",
        "The two masks have changed places. Return first that of the self-attention, then that of "
        "the cross-attention.",
        lambda lengths, n: _right(lengths, n)[::-1],
    ),
    _wrong(
        "polarity-flipped",
        "One mask or both are the other way round: here True blocks. In attnkit True = may attend, "
        "in PyTorch's nn.MultiheadAttention it is the opposite.",
        lambda lengths, n: tuple(~mask for mask in _right(lengths, n)),
        _self(lambda n: ~_causal(n)),
        _cross(lambda lengths, n: ~_keys(_real(lengths))),
    ),
    _wrong(
        "own-token-hidden",
        "A token of the target does not see itself, and the first one sees nothing at all. What is "
        "read is the word before the one to be written: place j ≤ i, with the own place.",
        _self(lambda n: np.tri(n, k=-1, dtype=bool)),
    ),
    _wrong(
        "next-token-shown",
        "Each token sees the one behind it, which is the word that it has to predict: the loss "
        "falls through the floor, and nothing is learned.",
        _self(lambda n: np.tri(n, k=1, dtype=bool)),
    ),
    _wrong(
        "wrong-triangle",
        "Each token sees itself and the later ones. The rows are the queries: allowed is what lies "
        "left of the diagonal.",
        _self(lambda n: _causal(n).T),
    ),
    _wrong(
        "later-tokens-shown",
        "The decoder's self-attention hides nothing. While it learns, all the words of the target "
        "lie before it: without a causal mask it reads what it should predict.",
        _self(lambda n: np.ones((n, n), bool)),
    ),
    _wrong(
        "causal-in-the-cross-attention",
        "The cross-attention hides the later tokens of the source as well. The whole source has "
        "been read before the first word is written: there only padding is hidden.",
        _cross(_also_causal),
        _cross(lambda lengths, n: _also_causal(lengths, n)[:, 0]),
        _cross(lambda lengths, n: _places(lengths) <= np.arange(n)[:, None]),
    ),
    _wrong(
        "source-lengths-in-the-self-attention",
        "The lengths of the sources hide tokens of the target. They say nothing about it: its own "
        "padding stands behind the words, where the causal mask hides it already.",
        lambda lengths, n: (_causal(n) & _keys(_real(lengths, n)), _keys(_real(lengths))),
        lambda lengths, n: (_keys(_real(lengths, n)), _keys(_real(lengths))),
    ),
    _wrong(
        "source-padding-shown",
        "Every place of the source is allowed, padding too: it takes weight away from the real "
        "tokens.",
        _cross(lambda lengths, n: np.ones_like(_keys(_real(lengths)))),
        _cross(lambda lengths, n: np.ones((n, int(lengths.max())), bool)),
    ),
    _wrong(
        "queries-blocked-in-place-of-keys",
        "The lengths of the sources lie along the queries. In the cross-attention the source is "
        "the keys: the last axis.",
        _cross(lambda lengths, n: _real(lengths)[:, None, :, None]),
        _cross(lambda lengths, n: _real(lengths, n)[:, None, :, None]),
    ),
    _wrong(
        "as-long-as-the-target",
        "The mask of the cross-attention has as many keys as the target has tokens. Its keys are "
        "those of the source: n_source, the greatest of the lengths.",
        _cross(lambda lengths, n: _keys(_real(lengths, n))),
    ),
    _wrong(
        "length-off-by-one",
        "One token of the source too many is allowed, or one too few. Places count from 0, so that "
        "a source of 2 tokens has 0 and 1.",
        _cross(lambda lengths, n: _keys(_places(lengths) <= lengths[:, None])),
        _cross(lambda lengths, n: _keys(_places(lengths) < lengths[:, None] - 1)),
    ),
    _wrong(
        "one-length-for-all",
        "Every source is cut at the same place. Compare the places with each source's own length: "
        "lengths[:, None].",
        _one_length(np.min),
        _one_length(lambda lengths: lengths[0]),
        _one_length(lambda lengths: lengths[-1]),
    ),
    _wrong(
        "padded-on-the-left",
        "The real tokens are taken to be the last ones. Here the padding comes after them.",
        _cross(lambda lengths, n: _keys(np.flip(_real(lengths), axis=1).copy())),
    ),
    _wrong(
        "batch-on-another-axis",
        "The cells are right, but the sentences lie where heads or queries belong: axes are lined "
        "up from the last one. Return (batch, 1, 1, n_source).",
        _cross(lambda lengths, n: _real(lengths)),
        _cross(lambda lengths, n: _real(lengths)[:, None]),
        _cross(lambda lengths, n: _real(lengths)[..., None, None]),
    ),
    _wrong(
        "one-row-per-query",
        "The cells are right, and there is a row for every token of the target. All of them are "
        "the same: an axis of size 1 says so, and fits while the target grows.",
        _cross(lambda lengths, n: np.repeat(_keys(_real(lengths)), n, axis=2)),
    ),
    _wrong(
        "one-self-mask-per-sentence",
        "The causal mask is the same for all sentences, and it was repeated for each of them. "
        "(n_target, n_target) is enough.",
        lambda lengths, n: (
            np.repeat(_causal(n)[None, None], len(lengths), axis=0), _keys(_real(lengths))
        ),
    ),
    *of_the_wrong_kind(_right, "ch9-masks"),
)  # fmt: skip

MASKS = FunctionExercise(
    id="ch9-masks",
    title="The two masks of a decoder",
    link="ch9-masks",
    call="decoder_masks(source_lengths, n_target)",
    results=("self_mask", "cross_mask"),
    sections=SECTIONS,
    right=_right,
    trials=tuple(
        Trial(
            f"lengths {lengths}, {n} target tokens",
            {"source_lengths": np.array(lengths), "n_target": n},
        )
        for lengths, n in [([1, 3], 2), ([3, 1], 3), ([2, 1, 2], 4), ([5, 1, 3], 3), ([2, 4, 7], 6)]
    ),
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy"),
)

EXERCISES = (MASKS,)
