"""Exercise ch6-shrink: a map too long to draw, made smaller without ceasing to be weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks import _wrong_shrink as ws
from attnkit.checks._engine import FunctionExercise, Misconception, Seen, Trial
from attnkit.checks.chapter06_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable, link: str = "ch6-long") -> Misconception:
    return Misconception(name, message, link, wrong)


def _whole(seen: Seen) -> bool:
    weights, block = seen.trial.inputs.values()
    return not any(length % block for length in np.shape(weights))  # type: ignore


def _multiples_only(trials: Sequence[Seen]) -> bool:
    """Right where the blocks fit, an error where they do not."""
    rest = [seen for seen in trials if not _whole(seen)]
    return all(seen.right for seen in trials if _whole(seen)) and all(
        seen.record["status"] == "raised" for seen in rest
    )


def _trial(n_queries: int, n_keys: int, block: int) -> Trial:
    """A map of round numbers: tenths for few keys, hundredths for many, rows of sum 1."""
    parts = 10 if n_keys < 5 else 20
    counts = np.random.default_rng(3).multinomial(parts, np.full(n_keys, 1 / n_keys), n_queries)
    name = f"{n_queries} queries, {n_keys} keys, blocks of {block}"
    return Trial(name, {"weights": counts / parts, "block": block})


MISCONCEPTIONS = (
    _wrong(
        "mean-over-both",
        "The mean is taken over queries and keys. Averaged over keys a row loses its sum: it no "
        "longer is 1. Sum over the keys of a block, average over its queries.",
        ws.mean_of_both,
        lambda w, b: ws.sum_of_both(w, b) / b**2,
    ),
    _wrong(
        "mean-times-block",
        "Each cell is the mean of its block times the size of a block. The last block may have "
        "fewer keys, and there the factor is too large: sum over the keys that are there.",
        lambda w, b: ws.mean_of_both(w, b) * b,
    ),
    _wrong(
        "sum-over-both",
        "The sum is taken over queries and keys, so that a row sums to the number of queries in "
        "its block. Average over the queries.",
        ws.sum_of_both,
    ),
    _wrong(
        "axes-exchanged",
        "The sum runs over the queries of a block and the mean over its keys. It is the keys that "
        "share a sum of 1.",
        ws.by_block(lambda part: part.sum(axis=0).mean()),
        link="ch6-axes",
    ),
    _wrong(
        "largest-weight",
        "Each cell shows the largest weight of its block. That keeps what is conspicuous, but a "
        "row no longer shares out a sum of 1.",
        ws.largest,
        ws.by_block(lambda part: part.max(axis=1).mean()),
        ws.by_block(lambda part: part.sum(axis=1).max()),
    ),
    _wrong(
        "sampled",
        "Only some queries or keys are kept, and the weights between are lost. Every weight "
        "belongs to a block.",
        lambda w, b: w[::b, ::b],
        lambda w, b: w[b // 2 :: b, b // 2 :: b],
        lambda w, b: w[b - 1 :: b, b - 1 :: b],
        ws.by_block(lambda part: part[0].sum()),
        ws.by_block(lambda part: part[:, 0].mean()),
    ),
    _wrong(
        "last-block-dropped",
        "What is left over at the end is dropped, and its weight with it. The last block may be "
        "smaller than the others.",
        ws.whole_blocks(ws.right),
        ws.whole_blocks(ws.right, rows=False),
        ws.whole_blocks(ws.right, columns=False),
    ),
    _wrong(
        "padding-counted",
        "The map was filled up to whole blocks, and what was filled in counts in the mean or in "
        "the sum. Average over the queries that are really there.",
        ws.padded("constant"),
        ws.padded("edge"),
        ws.padded("constant", constant_values=1.0),
        lambda w, b: ws.sum_of_both(w, b) / b,
    ),
    Misconception(
        "multiples-only",
        "Right as long as the lengths are multiples of the block; otherwise it stops with an "
        "error. The last block of an axis may be smaller.",
        "ch6-long",
        when=_multiples_only,
    ),
    _wrong(
        "renormalised-afterwards",
        "The rows sum to 1 because they were divided by their sums. That makes any numbers look "
        "like weights: here a cell is not what its queries give to its keys.",
        ws.renormalised(ws.mean_of_both),
        ws.renormalised(ws.largest),
        ws.renormalised(lambda w, b: w[::b, ::b]),
        ws.renormalised(ws.whole_blocks(ws.right)),
        ws.renormalised(ws.by_block(lambda part: part.sum(axis=0).mean())),
    ),
    _wrong(
        "share-of-the-whole-map",
        "The cells are shares of the whole map: together they are 1. Each row must be, because "
        "each query shares out its own attention.",
        ws.share_of_everything,
    ),
    _wrong(
        "one-axis-only",
        "Only one of the two axes was made smaller. Both are cut into blocks: queries and keys.",
        lambda w, b: ws.right(np.repeat(w, b, axis=0), b),
        lambda w, b: np.stack([w[i : i + b].mean(axis=0) for i in range(0, len(w), b)]),
        lambda w, b: np.stack([w[i : i + b].sum(axis=0) for i in range(0, len(w), b)]),
    ),
    _wrong(
        "block-taken-for-count",
        "The map comes back with that many blocks along each axis. block says how many queries or "
        "keys one block holds.",
        lambda w, b: ws.split_into(w, b, b),
    ),
    _wrong(
        "blocks-cut-across-rows",
        "The shape is right, and the blocks are not: reshape goes on in the order of memory, so "
        "that a block holds pieces of one row. Split both axes first, (rows, block, columns, "
        "block).",
        ws.reshaped,
    ),
    _wrong(
        "blocks-of-even-size",
        "The blocks are all of nearly the same size. Every block holds exactly block queries or "
        "keys; only the last may be smaller.",
        ws.even_blocks,
    ),
    _wrong(
        "moving-window",
        "The blocks overlap: a window moves on by one cell. Blocks lie side by side, and each "
        "weight belongs to one of them.",
        ws.moving,
        lambda w, b: ws.moving(w, b) / b,
        lambda w, b: ws.moving(w, b) * b,
    ),
    _wrong(
        "square-only",
        "The keys are cut where the queries are: with more keys than queries some are lost. Each "
        "axis has its own length.",
        ws.square_only,
        link="ch6-axes",
    ),
    _wrong(
        "transposed",
        "The map came back transposed: rows belong to queries, also when it is smaller.",
        lambda w, b: ws.right(w, b).T,
        link="ch6-axes",
    ),
    _wrong(
        "unchanged",
        "This is the map as it was.",
        lambda w, b: w,
    ),
)

SHRINK = FunctionExercise(
    id="ch6-shrink",
    title="A smaller map that still sums to one",
    link="ch6-long",
    call="shrink(weights, block)",
    results=("map",),
    sections=SECTIONS,
    right=ws.right,
    trials=(
        _trial(2, 4, 2),
        _trial(3, 3, 2),
        _trial(4, 4, 2),
        _trial(4, 5, 3),
        _trial(4, 7, 3),
        _trial(5, 7, 2),
        _trial(6, 9, 3),
        _trial(7, 13, 3),
    ),
    misconceptions=MISCONCEPTIONS,
)

EXERCISES = (SHRINK,)
