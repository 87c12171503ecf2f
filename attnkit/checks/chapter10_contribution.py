"""Exercise ch10-contribution: how long is what a key adds to the output of a head?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_contribution as wc
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks._head_maps import maps
from attnkit.checks.chapter10_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch10-contributions", wrong)


def _unweighted(w: np.ndarray, v: np.ndarray, o: np.ndarray) -> np.ndarray:
    return wc.length(wc.written(v, o))


def _outputs(w: np.ndarray, v: np.ndarray, o: np.ndarray) -> np.ndarray:
    """What each head writes for each query, (heads, T_q, d_model)."""
    return w @ wc.written(v, o)


def _vectors(w: np.ndarray, v: np.ndarray, o: np.ndarray) -> np.ndarray:
    return w[..., None] * wc.written(v, o)[:, None]


def _shares(axis: int | tuple[int, ...]) -> Callable:
    def wrong(w, v, o):
        lengths = wc.right(w, v, o)
        return lengths / lengths.sum(axis=axis, keepdims=True)

    return wrong


def _trial(heads: int, n_queries: int, n_keys: int, d_head: int, d_model: int, seed: int) -> Trial:
    draw = np.random.default_rng(seed).normal
    weights = maps(heads, np.ones((n_queries, n_keys), bool), seed=seed)
    inputs = {
        "weights": weights,
        "value": draw(size=(heads, n_keys, d_head)).round(1),
        "output_weight": draw(size=(d_model, heads * d_head)).round(1),
    }
    name = f"{heads} heads of {d_head}, {n_queries} queries, {n_keys} keys, d_model {d_model}"
    return Trial(name, inputs)


_TRIALS = (
    Trial(
        "2 heads of 1, 1 query, 2 keys, d_model 2",
        {
            "weights": np.array([[[0.6, 0.4]], [[0.1, 0.9]]]),
            "value": np.array([[[2.0], [0.5]], [[1.0], [-3.0]]]),
            "output_weight": np.array([[3.0, 1.0], [4.0, -2.0]]),
        },
    ),
    _trial(2, 2, 2, 2, 3, 0),
    _trial(2, 2, 3, 2, 4, 1),
    _trial(2, 5, 3, 4, 8, 3),
    _trial(3, 4, 5, 2, 6, 2),
    _trial(3, 4, 4, 3, 9, 4),
)

MISCONCEPTIONS = (
    _wrong(
        "no-output-weight",
        "This is ‖α v‖: W_O is missing. It may stretch one value and shrink another, and only what "
        "comes out of it is added to the token.",
        wc.value_only(lambda blocks, value: np.array(1.0)),
    ),
    _wrong(
        "size-of-the-matrix",
        "The length of v is multiplied by a size of W_O. That is at best an upper bound: W_O "
        "stretches some directions more than others. Multiply v by it, then take the length.",
        wc.value_only(lambda blocks, value: np.linalg.norm(blocks, axis=(1, 2))[:, None]),
        wc.value_only(lambda blocks, value: np.linalg.norm(blocks, 2, axis=(1, 2))[:, None]),
        lambda w, v, o: w * wc.length(v)[:, None] * np.linalg.norm(o),
        lambda w, v, o: w * wc.length(v)[:, None] * np.linalg.norm(o, 2),
    ),
    _wrong(
        "whole-matrix-for-each-head",
        "Every head goes through the whole of W_O, or all heads go through it together. Head h has "
        "d_head columns of its own: split W_O as the joined heads are.",
        wc.every_head_the_whole,
        lambda w, v, o: w * wc.length(wc.joined(v, o)),
    ),
    _wrong(
        "one-block-for-all-heads",
        "All heads go through the columns of head 0. The next d_head columns belong to head 1, and "
        "so on.",
        wc.with_blocks(wc.first_head),
    ),
    _wrong(
        "rows-for-columns",
        "Rows of W_O are taken for a head. nn.Linear stores (out, in): the heads come in, so that "
        "each has d_head columns.",
        wc.with_blocks(wc.rows),
    ),
    _wrong(
        "blocks-in-the-order-of-memory",
        "The shape is right, and the numbers are not: reshape goes on in the order of memory and "
        "cuts through rows of W_O. Split the columns, (d_model, heads, d_head), then move an axis.",
        wc.with_blocks(wc.in_memory_order),
        wc.with_blocks(wc.in_memory_order_turned),
    ),
    _wrong(
        "heads-interleaved",
        "A head gets every so-many-th column of W_O. Its d_head columns stand side by side: the "
        "axis of the heads comes before d_head.",
        wc.with_blocks(wc.interleaved),
    ),
    _wrong(
        "heads-in-another-order",
        "The heads take the blocks of W_O in the opposite order. Head 0 has the first columns.",
        wc.with_blocks(wc.reversed_heads),
    ),
    _wrong(
        "weight-forgotten",
        "This is ‖v W_O‖, the same for every query: α is missing. The contribution is what this "
        "query takes of it.",
        _unweighted,
        lambda w, v, o: np.broadcast_to(_unweighted(w, v, o)[:, None], w.shape),
    ),
    _wrong(
        "weight-twice",
        "The weight comes in twice: inside the length and before it. The length of α v W_O is α "
        "times that of v W_O.",
        lambda w, v, o: w * wc.right(w, v, o),
    ),
    _wrong(
        "length-squared",
        "This is the sum of the squares. The length is its root.",
        lambda w, v, o: wc.right(w, v, o) ** 2,
        lambda w, v, o: w * (_unweighted(w, v, o) ** 2)[:, None],
    ),
    _wrong(
        "another-size",
        "The size of the vectors is measured in another way than by their length: the root of the "
        "sum of the squares over the d_model numbers.",
        wc.measured(lambda vectors: np.abs(vectors).sum(axis=-1)),
        wc.measured(lambda vectors: np.abs(vectors).max(axis=-1)),
        wc.measured(lambda vectors: vectors.sum(axis=-1)),
        wc.measured(lambda vectors: np.abs(vectors.sum(axis=-1))),
        wc.measured(lambda vectors: vectors.mean(axis=-1)),
        wc.measured(lambda vectors: np.sqrt((vectors**2).mean(axis=-1))),
    ),
    _wrong(
        "keys-added-first",
        "The keys are added up before the length is taken: that is how long the output of the head "
        "is. Each key has a contribution of its own.",
        lambda w, v, o: wc.length(_outputs(w, v, o)),
        lambda w, v, o: np.broadcast_to(wc.length(_outputs(w, v, o))[..., None], w.shape),
        lambda w, v, o: _outputs(w, v, o).sum(axis=0),
        lambda w, v, o: wc.length(_outputs(w, v, o).sum(axis=0)),
    ),
    _wrong(
        "heads-added-up",
        "The heads are added up. Each head has contributions of its own: (heads, queries, keys).",
        lambda w, v, o: wc.length(_vectors(w, v, o).sum(axis=0)),
        lambda w, v, o: wc.right(w, v, o).sum(axis=0),
        lambda w, v, o: wc.right(w, v, o).mean(axis=0),
    ),
    _wrong(
        "vectors-not-lengths",
        "These are the vectors α v W_O. Their lengths are wanted: the norm over the last axis.",
        _vectors,
    ),
    _wrong(
        "value-of-the-query",
        "The weight is multiplied by the value of the query. A query takes the value of the key it "
        "attends to: v_j, along the last axis of the weights.",
        wc.of_the_query,
    ),
    _wrong(
        "shares-of-the-sum",
        "The lengths are divided by their sum. Useful for comparing keys, and a second step: "
        "return the lengths.",
        _shares(-1),
        _shares((-1, -2)),
        _shares(0),
    ),
    _wrong(
        "transposed",
        "Queries and keys have changed places. Rows belong to queries.",
        lambda w, v, o: wc.right(w, v, o).swapaxes(1, 2),
        lambda w, v, o: np.moveaxis(wc.right(w, v, o), 0, -1),
    ),
    _wrong(
        "weights-unchanged",
        "These are the weights alone. A weight says how much of a value is taken; how long the "
        "value is, W_O included, is the other half.",
        lambda w, v, o: w,
    ),
)

CONTRIBUTION = FunctionExercise(
    id="ch10-contribution",
    title="What a key contributes",
    link="ch10-contributions",
    call="contributions(weights, value, output_weight)",
    results=("lengths",),
    sections=SECTIONS,
    right=wc.right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (CONTRIBUTION,)
