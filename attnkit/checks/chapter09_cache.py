"""Exercise ch9-cache: one new token against the keys and values that were kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_attention as wa
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter09_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch9-cache", wrong)


def _longer(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.concatenate([old, new], axis=-2)


def _seeing(query: np.ndarray, keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    return wa.right(query, keys, values)[0]


def _kept(join: Callable, joined_values: Callable | None = None) -> Callable:
    """Other keys and values: join(old, new), seen by the query and kept."""

    def wrong(query, key, value, keys, values):
        keys, values = join(keys, key), (joined_values or join)(values, value)
        return _seeing(query, keys, values), keys, values

    return wrong


_right = _kept(_longer)


def _output(make: Callable) -> Callable:
    """Another output: make(query, keys, values), the new token included; the cache is right."""

    def wrong(query, key, value, keys, values):
        keys, values = _longer(keys, key), _longer(values, value)
        return make(query, keys, values), keys, values

    return wrong


def _scaled(scale: Callable[[np.ndarray, np.ndarray], float]) -> Callable:
    return _output(lambda q, k, v: wa.softmax(wa.scores_of(q, k) * scale(q, k)) @ v)


def _summed_over(axis: int) -> Callable:
    return _output(lambda q, k, v: wa.softmax(wa.scaled(q, k), axis=axis) @ v)


def _returning(choose: Callable) -> Callable:
    """The right output and something else for the cache: choose(key, value, keys, values)."""

    def wrong(query, key, value, keys, values):
        return _right(query, key, value, keys, values)[0], *choose(key, value, keys, values)

    return wrong


def _overwritten(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return _longer(old[..., :-1, :], new)


def _query_kept(query, key, value, keys, values):
    keys, values = _longer(keys, query), _longer(values, value)
    return _seeing(query, keys, values), keys, values


def _trial(
    heads: int, length: int, d_key: int, d_value: int, *batch: int, compared: bool = True
) -> Trial:
    draw = np.random.default_rng(9).normal
    shapes = {
        "query": (heads, 1, d_key), "key": (heads, 1, d_key), "value": (heads, 1, d_value),
        "keys": (heads, length, d_key), "values": (heads, length, d_value),
    }  # fmt: skip
    inputs = {name: draw(0, 1.3, (*batch, *shape)).round(1) for name, shape in shapes.items()}
    name = f"{heads} heads, {length} tokens before, d_key {d_key}, d_value {d_value}, {batch}"
    return Trial(name, inputs, compared, required=not batch)


_TRIALS = (
    Trial(
        "1 head, 1 token before",
        {
            "query": np.array([[[1.0, 2.0]]]),
            "key": np.array([[[0.5, -1.0]]]),
            "value": np.array([[[10.0]]]),
            "keys": np.array([[[1.0, 0.5]]]),
            "values": np.array([[[20.0]]]),
        },
    ),
    _trial(2, 0, 2, 1, compared=False),
    _trial(1, 3, 3, 2),
    _trial(2, 2, 2, 2),
    _trial(2, 3, 5, 1),
    _trial(3, 2, 3, 4),
    _trial(2, 3, 2, 5, 2),
)

MISCONCEPTIONS = (
    _wrong(
        "new-token-not-seen",
        "The new token does not see itself: its key and value were put into the cache after the "
        "weights were computed. The causal mask has a diagonal: append first, then attend.",
        _output(lambda q, k, v: _seeing(q, k[..., :-1, :], v[..., :-1, :])),
    ),
    _wrong(
        "cache-not-seen",
        "The new token sees only itself, and its weight is always 1. Its keys and values are all "
        "those that were kept, and its own.",
        _output(lambda q, k, v: v[..., -1:, :]),
    ),
    _wrong(
        "cache-not-grown",
        "The cache comes back as it was. The next token needs this one's key and value: return "
        "them with one token more.",
        _returning(lambda key, value, keys, values: (keys, values)),
        _kept(lambda old, new: old),
        lambda query, key, value, keys, values: (value, keys, values),
    ),
    _wrong(
        "only-the-new-kept",
        "Only the key and the value of the new token come back, and those of all the tokens before "
        "are lost.",
        _returning(lambda key, value, keys, values: (key, value)),
        _kept(lambda old, new: new),
    ),
    _wrong(
        "only-one-of-the-two-grown",
        "Of keys and values only one has the new token. They belong together: weight j of a row is "
        "that of value j.",
        _returning(lambda key, value, keys, values: (_longer(keys, key), values)),
        _returning(lambda key, value, keys, values: (keys, _longer(values, value))),
    ),
    _wrong(
        "new-token-in-front",
        "The new token stands before the older ones. The output does not change by that, but the "
        "cache does: the oldest comes first, so that place j is position j.",
        _kept(lambda old, new: _longer(new, old)),
    ),
    _wrong(
        "appended-on-another-axis",
        "The new key was appended along the heads. Tokens are the last axis but one: dim=-2.",
        _returning(lambda key, value, keys, values: (
            np.concatenate([keys, key]), np.concatenate([values, value]))),
    ),
    _wrong(
        "mask-aligned-top-left",
        "The new token sees the oldest key only: a causal mask for 1 query and T + 1 keys was laid "
        "at the upper left corner, as is_causal=True lays it. The query is the last position and "
        "may see everything.",
        _output(lambda q, k, v: np.repeat(v[..., :1, :], q.shape[-2], axis=-2)),
    ),
    _wrong(
        "another-scale",
        "The scores are not divided by √d_key. The cache changes nothing about attention: the "
        "scale stays.",
        _scaled(lambda q, k: 1.0),
        _scaled(lambda q, k: 1 / q.shape[-1]),
        _scaled(lambda q, k: k.shape[-2] ** -0.5),
        _scaled(lambda q, k: (len(q) * q.shape[-1]) ** -0.5),
        _output(lambda q, k, v: wa.softmax(wa.scores_of(q, k) * v.shape[-1] ** -0.5) @ v),
    ),
    _wrong(
        "softmax-over-another-axis",
        "The weights of the new token do not sum to 1: the softmax runs over the queries or over "
        "the heads. The keys are the last axis of the scores.",
        _summed_over(-2),
        _summed_over(-3),
    ),
    _wrong(
        "no-softmax",
        "The scores themselves weigh the values. Weights are their softmax over all keys, old and "
        "new.",
        _output(lambda q, k, v: wa.scaled(q, k) @ v),
        _output(lambda q, k, v: wa.scores_of(q, k) @ v),
    ),
    _wrong(
        "keys-weighed",
        "The keys are added up where the values should be. Keys decide the weights, values are "
        "what is weighed.",
        _output(lambda q, k, v: wa.softmax(wa.scaled(q, k)) @ k),
    ),
    _wrong(
        "query-kept-for-the-key",
        "The query of the new token was put among the keys. A query is used in its own step and "
        "thrown away: what later tokens ask for is its key.",
        _query_kept,
    ),
    _wrong(
        "keys-and-values-exchanged",
        "Keys and values come back in the other order. Return output, keys, values.",
        _returning(
            lambda key, value, keys, values: (_longer(values, value), _longer(keys, key))
        ),
    ),
    _wrong(
        "oldest-dropped",
        "The oldest token was dropped for the new one. That is a sliding window; here every token "
        "before is kept.",
        _kept(lambda old, new: _longer(old, new)[..., 1:, :]),
        _returning(lambda key, value, keys, values: (
            _longer(keys, key)[..., 1:, :], _longer(values, value)[..., 1:, :])),
    ),
    _wrong(
        "last-token-overwritten",
        "The new token has taken the place of the one before it. The cache grows by one place each "
        "step.",
        _kept(_overwritten),
    ),
)  # fmt: skip

CACHE = FunctionExercise(
    id="ch9-cache",
    title="One step with a cache",
    link="ch9-cache",
    call="cached_attention(query, key, value, keys, values)",
    results=("output", "keys", "values"),
    sections=SECTIONS,
    right=_right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (CACHE,)
