"""Exercise ch9-groups: heads that share keys and values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_attention as wa
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter09_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch9-groups", wrong)


def _neighbours(heads: int, groups: int) -> np.ndarray:
    """The group of each head."""
    return np.arange(heads) // (heads // groups)


def _interleaved(heads: int, groups: int) -> np.ndarray:
    return np.arange(heads) % groups


def _using(keys_of: Callable, values_of: Callable) -> Callable:
    """Other groups for the heads: one choice for the keys and one for the values."""

    def wrong(query, key, value):
        heads, groups = len(query), len(key)
        key, value = key[keys_of(heads, groups)], value[values_of(heads, groups)]
        return wa.right(query, key, value)[0]

    return wrong


_right = _using(_neighbours, _neighbours)


def _shared(query, key, value) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    group = _neighbours(len(query), len(key))
    return query, key[group], value[group]


def _weights(make: Callable) -> Callable:
    """Other weights: make(query, key), the key of its group beside each query."""

    def wrong(query, key, value):
        query, key, value = _shared(query, key, value)
        return make(query, key) @ value

    return wrong


def _scaled(scale: Callable[[np.ndarray], float]) -> Callable:
    return _weights(lambda q, k: wa.softmax(wa.scores_of(q, k) * scale(q)))


def _by_d_value(query, key, value):
    query, key, value = _shared(query, key, value)
    return wa.softmax(wa.scores_of(query, key) / np.sqrt(value.shape[-1])) @ value


def _causal(offset: Callable[[int, int], int]) -> Callable:
    def make(query, key):
        scores = wa.scaled(query, key)
        n_q, n_k = scores.shape[-2:]
        return wa.softmax(np.where(np.tri(n_q, n_k, offset(n_q, n_k), bool), scores, -1e9))

    return _weights(make)


def _results(change: Callable[[np.ndarray, int], np.ndarray]) -> Callable:
    """Something else of the right outputs: change(outputs, groups)."""
    return lambda query, key, value: change(_right(query, key, value), len(key))


def _by_group(array: np.ndarray, groups: int) -> np.ndarray:
    """(heads, …) → (groups, heads that share, …)."""
    return array.reshape(groups, -1, *array.shape[1:])


def _queries_averaged(query, key, value):
    return wa.right(_by_group(query, len(key)).mean(axis=1), key, value)[0]


def _given_to_all(make: Callable) -> Callable:
    """One result for each group, repeated for its heads."""
    return lambda query, key, value: make(query, key, value)[_neighbours(len(query), len(key))]


def _all_groups(query, key, value):
    """Every head sees the keys of all groups in one row."""
    return wa.right(
        query, key.reshape(1, -1, key.shape[-1]), value.reshape(1, -1, value.shape[-1])
    )[0]


def _mean_over_groups(query, key, value):
    """Every head meets every group, and the outputs are averaged."""
    return np.mean([wa.right(query, k, v)[0] for k, v in zip(key, value, strict=True)], axis=0)


def _trial(heads: int, groups: int, n_q: int, n_k: int, d_key: int, d_value: int) -> Trial:
    draw = np.random.default_rng(11).normal
    shapes = {"query": (heads, n_q, d_key), "key": (groups, n_k, d_key)}
    shapes["value"] = (groups, n_k, d_value)
    inputs = {name: draw(0, 1.3, shape).round(1) for name, shape in shapes.items()}
    name = f"{heads} heads, {groups} groups, {n_q} queries, {n_k} keys, d {d_key}, {d_value}"
    return Trial(name, inputs)


MISCONCEPTIONS = (
    _wrong(
        "heads-dealt-out",
        "Heads 0 and 2 share a group, and 1 and 3: repeat copies all groups one after the other. "
        "Heads that lie next to each other share: repeat_interleave.",
        _using(_interleaved, _interleaved),
    ),
    _wrong(
        "keys-and-values-of-two-groups",
        "Some heads take the keys of one group and the values of another. Both are spread over the "
        "heads in the same way.",
        _using(_interleaved, _neighbours),
        _using(_neighbours, _interleaved),
    ),
    _wrong(
        "groups-in-reverse",
        "The last heads use the first group. Head h uses group h // (heads / groups).",
        _using(lambda h, g: g - 1 - _neighbours(h, g), lambda h, g: g - 1 - _neighbours(h, g)),
    ),
    _wrong(
        "one-group-for-all-heads",
        "All heads use the same keys and values. That is multi-query attention, one group; here "
        "there are as many as key has.",
        lambda q, k, v: wa.right(q, k[:1], v[:1])[0],
        lambda q, k, v: wa.right(q, k[-1:], v[-1:])[0],
        lambda q, k, v: wa.right(q, k.mean(axis=0), v.mean(axis=0))[0],
    ),
    _wrong(
        "keys-of-all-groups",
        "Every head sees the keys of all groups. A head has one group, and its weights sum to 1 "
        "over that group's keys.",
        _all_groups,
        _mean_over_groups,
    ),
    _wrong(
        "heads-left-out",
        "There is one output for each group, that of one head. Every head asks for itself: only "
        "keys and values are shared.",
        lambda q, k, v: wa.right(q[: len(k)], k, v)[0],
        lambda q, k, v: wa.right(_by_group(q, len(k))[:, 0], k, v)[0],
    ),
    _wrong(
        "queries-averaged",
        "The queries of the heads that share a group were averaged or added up. Only keys and "
        "values are shared: each head keeps its own query, and has a map of its own.",
        _queries_averaged,
        _given_to_all(_queries_averaged),
        lambda q, k, v: wa.right(_by_group(q, len(k)).sum(axis=1), k, v)[0],
    ),
    _wrong(
        "outputs-averaged",
        "The outputs of the heads that share a group were averaged or added up. Each head has its "
        "own output: (heads, T_q, d_value).",
        _results(lambda out, groups: _by_group(out, groups).mean(axis=1)),
        _results(lambda out, groups: _by_group(out, groups).sum(axis=1)),
        _given_to_all(_results(lambda out, groups: _by_group(out, groups).mean(axis=1))),
    ),
    _wrong(
        "divided-by-the-sharing-heads",
        "The outputs are divided by the number of heads that share a group. Sharing costs nothing: "
        "each head reads the values in full.",
        _results(lambda out, groups: out * groups / len(out)),
    ),
    _wrong(
        "groups-kept-apart",
        "The numbers are right, and there is still an axis for the groups. Put the heads behind "
        "each other again: (heads, T_q, d_value).",
        _results(_by_group),
        _results(lambda out, groups: out.reshape(groups, -1, out.shape[-1])),
    ),
    _wrong(
        "heads-joined",
        "The outputs of the heads lie side by side already. Here the heads stay apart: (heads, "
        "T_q, d_value).",
        _results(lambda out, groups: out.swapaxes(0, 1).reshape(out.shape[1], -1)),
        _results(lambda out, groups: out.swapaxes(0, 1)),
    ),
    _wrong(
        "another-scale",
        "The scores are not divided by √d_key. Sharing changes nothing about a head: the scale is "
        "that of one head.",
        _scaled(lambda q: 1.0),
        _scaled(lambda q: 1 / q.shape[-1]),
        _scaled(lambda q: (len(q) * q.shape[-1]) ** -0.5),
        _by_d_value,
    ),
    _wrong(
        "softmax-over-another-axis",
        "The weights of a query do not sum to 1: the softmax runs over the queries or over the "
        "heads. The keys are the last axis of the scores.",
        _weights(lambda q, k: wa.softmax(wa.scaled(q, k), axis=-2)),
        _weights(lambda q, k: wa.softmax(wa.scaled(q, k), axis=0)),
    ),
    _wrong(
        "causal-too",
        "Later keys are hidden. Nobody asked for a mask here: every query sees all keys of its "
        "group.",
        _causal(lambda n_q, n_k: 0),
        _causal(lambda n_q, n_k: n_k - n_q),
    ),
)

GROUPS = FunctionExercise(
    id="ch9-groups",
    title="Heads that share keys and values",
    link="ch9-groups",
    call="grouped(query, key, value)",
    results=("output",),
    sections=SECTIONS,
    right=_right,
    trials=(
        _trial(4, 2, 1, 2, 1, 1),
        _trial(2, 1, 2, 3, 2, 3),
        _trial(6, 2, 1, 2, 2, 1),
        _trial(3, 3, 2, 2, 1, 2),
        _trial(4, 2, 2, 2, 2, 1),
        _trial(6, 3, 2, 3, 3, 2),
    ),
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (GROUPS,)
