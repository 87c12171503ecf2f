"""Exercise ch9-claims: what the whole machine does, and what its parts cost."""

from __future__ import annotations

import numpy as np

from attnkit.checks import _wrong_attention as wa
from attnkit.checks import _wrong_masked as wm
from attnkit.checks._choice import ChoiceExercise, Finding, Slip, Statement
from attnkit.masks import causal_mask

#: The sections of chapter 9 that messages link to.
SECTIONS = {
    "ch9": "the whole machine",
    "ch9-masks": "the masks of a decoder",
    "ch9-three": "three kinds of attention",
    "ch9-parallel": "what runs at the same time",
    "ch9-cache": "keys and values that are kept",
    "ch9-groups": "heads that share keys and values",
}

#: Three tokens, their vectors short and all different, and one for padding.
_X, _PADDING = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]), np.array([[9.0, -9.0]])


def _longer_source() -> Finding:
    found, source = {}, np.concatenate([_X, _PADDING, _X])
    for length in (3, 6):
        output, weights = wa.right(_X[:2], source[:length], source[:length])
        found[f"shape of the map, {length} source tokens"] = np.array(weights.shape)
        found[f"shape of the outputs, {length} source tokens"] = np.array(output.shape)
    short, outputs, long, outputs_after = found.values()
    holds = long[1] > short[1] and np.array_equal(outputs, outputs_after)
    return Finding(bool(holds), {"target tokens": 2}, found)


def _padded_target() -> Finding:
    alone = wm.self_attention(_X, np.tri(3, dtype=bool))
    padded = wm.self_attention(np.concatenate([_X, _PADDING]), np.tri(4, dtype=bool))[:3]
    found = {"outputs of the words alone": alone, "outputs of the words, padded": padded}
    example = {"words": _X, "padding behind them": _PADDING, "mask": np.tri(4, dtype=bool)}
    return Finding(not np.allclose(alone, padded), example, found)


def _step_by_step() -> Finding:
    found = {
        "all computed again": wm.self_attention(_X, np.tri(3, dtype=bool)),
        "one token at a time, with a cache": np.concatenate(
            [wa.right(_X[i : i + 1], _X[: i + 1], _X[: i + 1])[0] for i in range(3)]
        ),
    }
    again, cached = found.values()
    return Finding(not np.allclose(again, cached), {"tokens": _X}, found)


def _one_new_token() -> Finding:
    mask = causal_mask(1, 4).numpy()
    return Finding(bool(mask.all()), {"queries": 1, "keys": 4}, {"causal mask": mask})


def _one_group() -> Finding:
    query = np.array([[[1.0, 0.0]], [[0.0, 2.0]]])
    maps = wa.right(query, _X, _X)[1]
    found = {"map of head 0": maps[0], "map of head 1": maps[1]}
    example = {"queries of two heads": query, "keys of both": _X}
    return Finding(bool(np.allclose(*maps)), example, found)


def _bytes_of_the_cache() -> Finding:
    length, d_head, float32 = 100, 16, 4
    sizes = {f"{groups} groups": 2 * groups * length * d_head * float32 for groups in (8, 2)}
    eight, two = sizes.values()
    example = {"heads": 8, "tokens": length, "d_head": d_head, "bytes of a number": float32}
    return Finding(4 * two == eight, example, {f"bytes, {k}": size for k, size in sizes.items()})


def _twice_as_long() -> Finding:
    d_model = 64
    count = {n: 4 * n * d_model**2 + 2 * n * n * d_model for n in (50, 100)}
    found = {f"multiplications of the attention, {n} tokens": m for n, m in count.items()}
    return Finding(count[100] <= count[50], {"d_model": d_model}, found)


CLAIMS = ChoiceExercise(
    id="ch9-claims",
    title="Which statements about the machine hold?",
    link="ch9",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "A longer source makes the map of the cross-attention wider, and the decoder still has "
            "one output for each of its own tokens.",
            _longer_source,
        ),
        Statement(
            "B",
            "Padding behind the words of a target changes their outputs, unless the decoder's "
            "self-attention masks it besides the causal mask.",
            _padded_target,
        ),
        Statement(
            "C",
            "Decoding with cached keys and values is an approximation: its outputs differ from "
            "those of computing everything again.",
            _step_by_step,
        ),
        Statement(
            "D",
            "For one new token behind all the cached ones, the causal mask blocks nothing.",
            _one_new_token,
        ),
        Statement(
            "E",
            "When all heads share a single group of keys and values, they all have the same map.",
            _one_group,
        ),
        Statement(
            "F",
            "With 8 heads and 2 groups, the cache of keys and values takes a quarter of the bytes "
            "that 8 groups take.",
            _bytes_of_the_cache,
        ),
        Statement(
            "G",
            "An encoder layer computes all its tokens at the same time, so a source twice as long "
            "needs no more arithmetic.",
            _twice_as_long,
        ),
    ),
    misconceptions=(
        Slip(
            "chose-the-wrong-ones",
            "These are exactly the statements that do not hold. The question is which do.",
            "ch9",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not all of them hold. Begin with {G}: how many scores has a map of 100 tokens?",
            "ch9-parallel",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "cross-attention-roles-exchanged",
            "In the cross-attention the decoder asks and the source answers. The queries, and so "
            "the outputs, are the target's; the source decides how many columns a row has.",
            "ch9-three",
            letter="A",
        ),
        Slip(
            "causal-mask-taken-for-too-little",
            "Padding stands behind the words, and behind a word lies nothing that it may see. The "
            "causal mask hides this padding already; that of the source it cannot hide.",
            "ch9-masks",
            letter="B",
        ),
        Slip(
            "cache-taken-for-approximation",
            "Under a causal mask the key and the value of a token do not depend on what comes "
            "later. They may be kept as they are, and the outputs are the same.",
            "ch9-cache",
            letter="C",
        ),
        Slip(
            "queries-taken-for-the-first",
            "The query is the last position, and everything that was cached lies before it. The "
            "mask is laid at the lower right corner: one row of True.",
            "ch9-cache",
            letter="D",
        ),
        Slip(
            "one-group-taken-for-one-head",
            "Keys and values are shared, and each head still has queries of its own. Different "
            "questions to the same keys give different maps.",
            "ch9-groups",
            letter="E",
        ),
        Slip(
            "cache-taken-for-one-per-head",
            "What is kept is keys and values, one of each for a group and a token; queries are "
            "not kept. Two groups in place of eight are a quarter.",
            "ch9-groups",
            letter="F",
        ),
        Slip(
            "parallel-taken-for-free",
            "At the same time is not the same as for nothing. There are no steps to wait for, but "
            "twice as many tokens have four times as many pairs.",
            "ch9-parallel",
            letter="G",
        ),
    ),
)

EXERCISES = (CLAIMS,)
