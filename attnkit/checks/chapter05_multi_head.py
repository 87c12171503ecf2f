"""Exercise ch5-multi-head: project, split, attend, concatenate, mix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_heads as wh
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks._wrong_attention import softmax
from attnkit.checks._wrong_scales import WRONG_SCALES
from attnkit.checks.chapter05_claims import SECTIONS


def _wrong(name: str, message: str, link: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, link, wrong)


def _trial(length: int, d_model: int, num_heads: int, *batch: int) -> Trial:
    draw = np.random.default_rng(2).normal
    square = (d_model, d_model)
    shapes = {"x": (*batch, length, d_model), "w_q": square, "w_k": square, "w_v": square}
    inputs: dict[str, object] = {
        name: draw(0, 1.2, shape).round(1) for name, shape in (shapes | {"w_o": square}).items()
    }
    name = f"{length} tokens, d_model {d_model}, {num_heads} heads" + " in a batch" * bool(batch)
    return Trial(name, inputs | {"num_heads": num_heads}, required=not batch)


MISCONCEPTIONS = (
    _wrong(
        "input-split",
        "The input is cut into slices before the projections, so that a head sees a part of each "
        "vector only. Project the whole vector, then split what comes out.",
        "ch5-project",
        wh.input_split,
    ),
    _wrong(
        "heads-averaged",
        "The heads are averaged. Then each has to find the same thing; in multi-head attention "
        "they are concatenated, and W_o mixes them.",
        "ch5-concat",
        wh.with_heads(lambda heads, w_o: np.tile(heads.mean(axis=0), len(heads)) @ w_o.T),
        wh.with_heads(lambda heads, w_o: np.tile(heads.sum(axis=0), len(heads)) @ w_o.T),
        wh.with_heads(lambda heads, w_o: heads.mean(axis=0)),
        wh.with_heads(lambda heads, w_o: heads.sum(axis=0)),
    ),
    _wrong(
        "maps-averaged",
        "The weights of all heads are averaged into one map before they meet the values. Each "
        "head has its own map: that is what several heads are for.",
        "ch5-concat",
        wh.with_weights(
            lambda s, *d: softmax(wh.scaled(s, *d)).mean(axis=-3, keepdims=True),
        ),
    ),
    _wrong(
        "one-head-only",
        "One softmax decides for all numbers together, as if there were one head. Split queries, "
        "keys and values into heads first: each has scores of its own.",
        "ch5-project",
        wh.one_head(lambda d_model, num_heads: 1 / np.sqrt(d_model)),
        wh.one_head(lambda d_model, num_heads: 1 / np.sqrt(d_model // num_heads)),
    ),
    *WRONG_SCALES,
    _wrong(
        "projection-not-transposed",
        "A weight is used as it is stored. nn.Linear stores (out, in), one row for each number "
        "that comes out: x @ W.T. All four are square, so that no error says so.",
        "ch5-equal",
        wh.with_projections(
            lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_v), lambda joined, w_o: joined @ w_o
        ),
        wh.with_projections(lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_v)),
        wh.with_projections(
            lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, x @ w_v.T),
            lambda joined, w_o: joined @ w_o,
        ),
    ),
    _wrong(
        "no-output-projection",
        "The heads lie side by side and nothing mixes them: the last step, times W_o.T, is "
        "missing.",
        "ch5-concat",
        wh.with_heads(lambda heads, w_o: wh.join(heads)),
    ),
    _wrong(
        "heads-not-joined",
        "The heads still have an axis of their own. Put them side by side again, (T, d_model), "
        "and multiply by W_o.T.",
        "ch5-concat",
        wh.with_heads(lambda heads, w_o: heads),
        wh.with_heads(lambda heads, w_o: heads.swapaxes(0, 1)),
    ),
    _wrong(
        "joined-without-swapping-back",
        "The heads' outputs are reshaped while the heads still stand before the tokens: a row "
        "then holds one head of several tokens. Swap the two axes first.",
        "ch5-reshape",
        wh.with_heads(lambda heads, w_o: heads.reshape(heads.shape[1], -1) @ w_o.T),
    ),
    _wrong(
        "split-without-swapping",
        "The projections are reshaped into (heads, T, d_head) at once. reshape goes on in the "
        "order of memory: split into (T, heads, d_head), then swap the first two axes.",
        "ch5-reshape",
        wh.with_split(wh.viewed),
        wh.with_split(wh.viewed, lambda heads: heads.reshape(heads.shape[1], -1)),
    ),
    _wrong(
        "heads-attend-to-heads",
        "The axes of tokens and heads were not swapped: for each token the heads attend to each "
        "other. The product must run over the tokens.",
        "ch5-reshape",
        wh.with_split(
            lambda x, h: wh.split(x, h).swapaxes(0, 1), lambda o: o.reshape(o.shape[0], -1)
        ),
    ),
    _wrong(
        "heads-interleaved",
        "Each head gets every so-many-th number. Head 0 takes the first d_head rows of a weight: "
        "the axis of the heads comes before d_head when d_model is split.",
        "ch5-reshape",
        wh.with_split(wh.interleaved),
        wh.with_split(wh.interleaved, lambda o: np.moveaxis(o, 0, -1).reshape(o.shape[1], -1)),
    ),
    _wrong(
        "heads-not-mixed",
        "Each head goes through a block of W_o of its own, so that no number of the output knows "
        "two heads. Join them first; W_o works on all d_model numbers.",
        "ch5-concat",
        wh.with_heads(wh.blocks_of_the_output),
    ),
    _wrong(
        "softmax-over-queries",
        "The softmax runs over the queries. Each query shares out its own attention: the last "
        "axis.",
        "ch5-project",
        wh.with_weights(lambda s, *d: softmax(wh.scaled(s, *d), axis=-2)),
    ),
    _wrong(
        "softmax-over-heads",
        "The softmax runs over the heads, so that they compete. Each head has its own weights "
        "over the keys: the last axis.",
        "ch5-concat",
        wh.with_weights(lambda s, *d: softmax(wh.scaled(s, *d), axis=-3)),
    ),
    _wrong(
        "softmax-over-everything",
        "The softmax runs over a whole table or over all heads at once. Each row of each head "
        "sums to 1.",
        "ch5-project",
        wh.with_weights(lambda s, *d: softmax(wh.scaled(s, *d), axis=None)),
        wh.with_weights(
            lambda s, *d: np.stack([softmax(table, axis=None) for table in wh.scaled(s, *d)])
        ),
    ),
    _wrong(
        "no-softmax",
        "The scores are used as weights: the softmax is missing.",
        "ch5-project",
        wh.with_weights(wh.scaled),
        wh.with_weights(lambda s, d_head, d_model: s),
    ),
    _wrong(
        "key-and-value-swapped",
        "Key and value have changed roles: W_k makes what is compared with the queries, W_v what "
        "the weights average.",
        "ch5-project",
        wh.with_projections(lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_v.T, x @ w_k.T)),
    ),
    _wrong(
        "input-added",
        "The input is added to the output. A Transformer does so around its attention; the layer "
        "itself, as asked for here, does not.",
        "ch5-concat",
        lambda x, *rest: wh.right(x, *rest) + x,
    ),
    _wrong(
        "query-and-key-swapped",
        "Query and key have changed roles. A row of the scores belongs to a query, which W_q "
        "makes.",
        "ch5-project",
        wh.with_projections(lambda x, w_q, w_k, w_v: (x @ w_k.T, x @ w_q.T, x @ w_v.T)),
    ),
    _wrong(
        "values-not-projected",
        "The weights average the input itself. Values are projected too, by W_v.",
        "ch5-project",
        wh.with_projections(lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, x)),
        wh.with_projections(lambda x, w_q, w_k, w_v: (x, x, x)),
    ),
    _wrong(
        "one-projection-for-two",
        "One projection serves twice. Queries, keys and values each have a weight of their own.",
        "ch5-project",
        wh.with_projections(lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_q.T, x @ w_v.T)),
        wh.with_projections(lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, x @ w_k.T)),
    ),
    _wrong(
        "masks-the-future",
        "A causal mask is at work, and nobody asked for one here: every token may attend to every "
        "token.",
        "ch5-project",
        wh.with_weights(
            lambda s, *d: softmax(np.where(np.tri(s.shape[-1], dtype=bool), wh.scaled(s, *d), -1e9))
        ),
    ),
)

MULTI_HEAD = FunctionExercise(
    id="ch5-multi-head",
    title="Multi-head attention in NumPy",
    link="ch5-project",
    call="multi_head(x, w_q, w_k, w_v, w_o, num_heads)",
    results=("output",),
    sections=SECTIONS,
    right=wh.right,
    trials=(
        _trial(2, 1, 1),
        _trial(2, 2, 1),
        _trial(2, 2, 2),
        _trial(3, 2, 2),
        _trial(2, 4, 2),
        _trial(5, 6, 3),
        _trial(5, 6, 2),
        _trial(3, 10, 5),
        _trial(5, 6, 3, 2),
    ),
    misconceptions=MISCONCEPTIONS,
)

EXERCISES = (MULTI_HEAD,)
