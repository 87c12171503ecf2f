"""Exercise ch5-split: a table of vectors cut into heads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_heads as wh
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter05_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable, link: str = "ch5-reshape") -> Misconception:
    return Misconception(name, message, link, wrong)


def _permuted(*axes: int) -> Callable:
    """The axes of (batch, T, heads, d_head) in another order."""
    return lambda x, h: x.reshape(*x.shape[:2], h, -1).transpose(axes)


def _folded(*axes: int) -> Callable:
    """Two leading axes made into one, after the axes were put in another order."""

    def wrong(x, h):
        moved = _permuted(*axes)(x, h)
        return moved.reshape(-1, *moved.shape[2:])

    return wrong


def _columns_first(x: np.ndarray, h: int) -> np.ndarray:
    """Reshaped after the tokens have been moved behind the numbers."""
    batch, length, d_model = x.shape
    return x.swapaxes(1, 2).reshape(batch, h, length, d_model // h)


def _tokens_last(x: np.ndarray, h: int) -> np.ndarray:
    """Reshaped with the tokens last, which are then moved forward."""
    return x.reshape(len(x), h, -1, x.shape[1]).swapaxes(2, 3)


def _rows_of_the_sequence(x: np.ndarray, h: int) -> np.ndarray:
    batch, length, d_model = x.shape
    return x.reshape(batch, h, length // h, d_model)


def _d_head_many(x: np.ndarray, h: int) -> np.ndarray:
    return wh.split(x, x.shape[-1] // h)


def _trial(batch: int, length: int, d_model: int, num_heads: int) -> Trial:
    x = np.arange(batch * length * d_model, dtype=np.float64).reshape(batch, length, d_model)
    name = f"({batch}, {length}, {d_model}), {num_heads} heads"
    return Trial(name, {"x": x, "num_heads": num_heads})


MISCONCEPTIONS = (
    _wrong(
        "reshaped-without-moving-an-axis",
        "The shape is right, and the numbers are not: reshape goes on in the order of memory, so "
        "that one head gets whole tokens. First split d_model into (heads, d_head), then swap "
        "tokens and heads.",
        wh.viewed,
        _columns_first,
        _tokens_last,
    ),
    _wrong(
        "heads-interleaved",
        "Each head gets every so-many-th number of a token. Head 0 takes the first d_head in a "
        "row: the axis of the heads comes before d_head when d_model is split.",
        wh.interleaved,
    ),
    _wrong(
        "axes-not-swapped",
        "The split is right, and tokens still stand before heads: (batch, T, heads, d_head). The "
        "matrix product works on the last two axes, which must be T and d_head.",
        _permuted(0, 1, 2, 3),
        lambda x, h: wh.interleaved(x, h).swapaxes(1, 2),
        lambda x, h: x.reshape(*x.shape[:2], -1, h),
    ),
    _wrong(
        "heads-before-the-batch",
        "The heads come first, as in a list of slices. The batch is the first axis: (batch, "
        "heads, T, d_head).",
        _permuted(2, 0, 1, 3),
        lambda x, h: wh.interleaved(x, h).swapaxes(0, 1),
    ),
    _wrong(
        "d-head-before-the-tokens",
        "The last two axes have changed places: this is what keys look like once they are "
        "transposed for the product. Tokens come before d_head.",
        _permuted(0, 2, 3, 1),
    ),
    _wrong(
        "tokens-before-the-batch",
        "Batch and tokens have changed places. Here the batch is the first axis of x, and stays "
        "the first.",
        _permuted(1, 2, 0, 3),
        _permuted(2, 1, 0, 3),
    ),
    _wrong(
        "sequence-split",
        "The tokens are shared out among the heads. Every head sees every token, and d_head "
        "numbers of each.",
        _rows_of_the_sequence,
    ),
    _wrong(
        "every-head-the-whole-vector",
        "Each head gets all d_model numbers. That is as many copies as heads; a head works with "
        "d_model / num_heads of them.",
        lambda x, h: np.repeat(x[:, None], h, axis=1),
        link="ch5-cost",
    ),
    _wrong(
        "heads-folded-into-the-batch",
        "Batch and heads share one axis. Some code does so; here they are two: (batch, heads, T, "
        "d_head).",
        _folded(0, 2, 1, 3),
        _folded(2, 0, 1, 3),
    ),
    _wrong(
        "d-head-for-num-heads",
        "The number of heads and the size of a head have changed places: num_heads says how many "
        "there are.",
        _d_head_many,
        lambda x, h: wh.interleaved(x, x.shape[-1] // h),
        lambda x, h: wh.viewed(x, x.shape[-1] // h),
    ),
    _wrong(
        "first-head-only",
        "This is the first head, once or several times. All of them are wanted, on an axis of "
        "their own.",
        lambda x, h: x[..., : x.shape[-1] // h],
        lambda x, h: x[:, None, :, : x.shape[-1] // h],
        lambda x, h: np.repeat(x[:, None, :, : x.shape[-1] // h], h, axis=1),
    ),
    _wrong(
        "slices-averaged",
        "The slices are added or averaged. Splitting only cuts: no number of x is lost.",
        lambda x, h: wh.split(x, h).mean(axis=1),
        lambda x, h: wh.split(x, h).mean(axis=1, keepdims=True),
        lambda x, h: wh.split(x, h).sum(axis=1),
        lambda x, h: wh.split(x, h).sum(axis=1, keepdims=True),
        link="ch5-concat",
    ),
    _wrong(
        "not-split",
        "This is x itself, perhaps with an axis more. The last axis has to be cut into heads.",
        lambda x, h: x,
        lambda x, h: x[:, None],
        lambda x, h: x[:, :, None],
    ),
)

SPLIT = FunctionExercise(
    id="ch5-split",
    title="Cut a table into heads",
    link="ch5-reshape",
    call="split_heads(x, num_heads)",
    results=("heads",),
    sections=SECTIONS,
    right=wh.split,
    trials=(
        _trial(1, 2, 4, 2),
        _trial(1, 2, 6, 2),
        _trial(2, 3, 4, 2),
        _trial(2, 2, 6, 3),
        _trial(1, 3, 9, 3),
        _trial(3, 5, 14, 2),
    ),
    misconceptions=MISCONCEPTIONS,
)

EXERCISES = (SPLIT,)
