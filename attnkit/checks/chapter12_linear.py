"""Exercise ch12-linear: attention whose products can be taken in another order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_attention as wa
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter12_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable, link: str = "ch12-linear") -> Misconception:
    return Misconception(name, message, link, wrong)


def phi(x: np.ndarray) -> np.ndarray:
    """elu(x) + 1."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def _same(x: np.ndarray) -> np.ndarray:
    return x


def _shared(products: np.ndarray, axis: int = -1) -> np.ndarray:
    return products / products.sum(axis=axis, keepdims=True)


def _of_products(
    make: Callable[[np.ndarray], np.ndarray], of_query: Callable = phi, of_key: Callable = phi
) -> Callable:
    """Weights made of the products of query and key, (…, n_q, n_k)."""

    def linear(query, key, value):
        return make(of_query(query) @ of_key(key).swapaxes(-2, -1)) @ value

    return linear


right = _of_products(_shared)


def _features(of_query: Callable, of_key: Callable | None = None) -> Callable:
    return _of_products(_shared, of_query, of_key or of_query)


def _divided(total: Callable) -> Callable:
    """Another number below the bar: total(φ(q), φ(k), query, key), to fit (n_q, d_value)."""

    def linear(query, key, value):
        q, k = phi(query), phi(key)
        return q @ (k.swapaxes(-2, -1) @ value) / total(q, k, query, key)

    return linear


def _seen_so_far(query, key, value):
    """Running sums over the keys: one for each query, and numpy refuses other numbers of them."""
    q, k = phi(query), phi(key)
    state = np.cumsum(k[..., None] * value[..., None, :], axis=-3)
    total = (q * np.cumsum(k, axis=-2)).sum(axis=-1)[..., None]
    return (q[..., None] * state).sum(axis=-2) / total


def _each_feature_shared(query, key, value):
    """Every feature divided by its own sum over the keys."""
    q, k = phi(query), phi(key)
    return q @ (k.swapaxes(-2, -1) @ value / k.sum(axis=-2)[..., None])


def _scaled_by(power: float) -> Callable:
    return lambda x: phi(x / x.shape[-1] ** power)


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.log1p(np.exp(x))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _trial(n_q: int, n_k: int, d: int, d_value: int, *batch: int) -> Trial:
    draw = np.random.default_rng(17).normal
    shapes = {"query": (n_q, d), "key": (n_k, d), "value": (n_k, d_value)}
    inputs = {name: draw(0, 1.3, (*batch, *shape)).round(1) for name, shape in shapes.items()}
    name = f"{n_q} queries, {n_k} keys, d {d}, d_value {d_value}, {batch}"
    return Trial(name, inputs, required=not batch)


_TRIALS = (
    Trial(
        "one query, two keys, two numbers",
        {
            "query": np.array([[1.0, -0.5]]),
            "key": np.array([[0.5, 2.0], [-1.5, -1.0]]),
            "value": np.array([[10.0], [20.0]]),
        },
    ),
    _trial(2, 2, 2, 1),
    _trial(2, 3, 2, 2),
    _trial(3, 3, 2, 2),
    _trial(3, 5, 3, 2),
    _trial(4, 2, 3, 5, 2),
)

MISCONCEPTIONS = (
    _wrong(
        "not-divided",
        "The sum below the bar is missing: what comes back is no mean of the values, and grows "
        "with the number of keys.",
        _of_products(_same),
    ),
    _wrong(
        "divided-by-the-number-of-keys",
        "The sum is divided by the number of keys. The weights have to sum to 1: divide by their "
        "sum, Σ φ(q)·φ(k).",
        _of_products(lambda a: a / a.shape[-1]),
    ),
    _wrong(
        "softmax-kept",
        "This is softmax attention. Its exp stands around the whole product, so that the keys "
        "cannot be added up first: φ takes its place.",
        _of_products(wa.softmax, _same, _same),
        lambda query, key, value: wa.right(query, key, value)[0],
        link="ch12-cost",
    ),
    _wrong(
        "softmax-of-the-products",
        "φ is taken of queries and keys, and the softmax of their products. φ is there in its "
        "place: divide by the sum of the products.",
        _of_products(wa.softmax),
    ),
    _wrong(
        "phi-of-the-scores",
        "φ is taken of the scores q·k. Then all n × n of them are needed: φ belongs on queries and "
        "keys, before their product.",
        _of_products(lambda a: _shared(phi(a)), _same, _same),
        _of_products(phi, _same, _same),
    ),
    _wrong(
        "phi-on-one-side",
        "φ is taken of the queries only, or of the keys only. Then products can be below 0, and "
        "the weights with them.",
        _features(phi, _same),
        _features(_same, phi),
    ),
    _wrong(
        "no-phi",
        "φ is missing. Without it products may be below 0 or cancel to nothing below the bar.",
        _features(_same),
        _of_products(_same, _same, _same),
    ),
    _wrong(
        "one-not-added",
        "This is elu without the 1. elu goes down to −1; with the 1 every feature is above 0.",
        _features(lambda x: phi(x) - 1),
    ),
    _wrong(
        "another-phi",
        "The features are not elu(x) + 1. With others it is linear attention too, but another one: "
        "use the φ that is given.",
        _features(lambda x: np.maximum(x, 0)),
        _features(np.exp),
        _features(_softplus),
        _features(_sigmoid),
        _features(lambda x: np.maximum(x, 0) + 1),
    ),
    _wrong(
        "softmax-of-each",
        "Queries and keys have a softmax each. That is another kind of linear attention; here both "
        "go through φ.",
        _of_products(_same, wa.softmax, lambda x: wa.softmax(x, axis=-2)),
        _of_products(_same, wa.softmax, wa.softmax),
    ),
    _wrong(
        "causal-too",
        "Each query sees the keys up to its own place only. Nobody asked for that here: one sum "
        "over all keys serves every query.",
        _of_products(lambda a: _shared(np.tril(a))),
        _seen_so_far,
    ),
    _wrong(
        "divided-without-the-query",
        "What stands below the bar is the same for all queries, or does not know the keys. It is "
        "Σ φ(q)·φ(k): one number for each query.",
        _divided(lambda q, k, query, key: k.sum()),
        _divided(lambda q, k, query, key: q.sum(axis=-1, keepdims=True)),
        _divided(lambda q, k, query, key: (q @ k.swapaxes(-2, -1)).sum()),
        _each_feature_shared,
    ),
    _wrong(
        "another-phi-below-the-bar",
        "Above the bar φ is taken, and below it not. Both are sums of the same products.",
        _divided(lambda q, k, query, key: (q @ key.swapaxes(-2, -1)).sum(-1, keepdims=True)),
        _divided(lambda q, k, query, key: (query @ k.swapaxes(-2, -1)).sum(-1, keepdims=True)),
        _divided(lambda q, k, query, key: (query @ key.swapaxes(-2, -1)).sum(-1, keepdims=True)),
    ),
    _wrong(
        "scaled-before-phi",
        "Queries or keys are divided by √d before φ. A factor behind φ would cancel below the bar; "
        "before it, it changes the features: there is no scale here.",
        _features(_scaled_by(0.5), phi),
        _features(phi, _scaled_by(0.5)),
        _features(_scaled_by(0.5)),
        _features(_scaled_by(0.25)),
    ),
    _wrong(
        "shared-over-the-queries",
        "The products are divided by their sums over the queries. It is the weights of one query "
        "that sum to 1, over the keys.",
        _of_products(lambda a: _shared(a, axis=-2)),
    ),
    _wrong(
        "weights-returned",
        "These are the weights. The output is their product with the values.",
        lambda query, key, value: _shared(phi(query) @ phi(key).swapaxes(-2, -1)),
    ),
    _wrong(
        "state-returned",
        "This is the sum over the keys, Σ φ(k) vᵀ. Each query still has to be multiplied with it.",
        lambda query, key, value: phi(key).swapaxes(-2, -1) @ value,
    ),
)

LINEAR = FunctionExercise(
    id="ch12-linear",
    title="Attention in linear time",
    link="ch12-linear",
    call="linear(query, key, value)",
    results=("output",),
    sections=SECTIONS,
    right=right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (LINEAR,)
