"""Exercise ch4-causal: each query sees its own position and those before it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks._wrong_mask import additive, of_the_wrong_kind
from attnkit.checks.chapter04_claims import SECTIONS


def _where(rule: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable:
    """The mask rule(query, key) of the positions, where the last query stands on the last key."""

    def mask(n_queries, n_keys):
        return rule(np.arange(n_queries)[:, None] + n_keys - n_queries, np.arange(n_keys))

    return mask


_right = _where(lambda query, key: key <= query)


def _window(width: int) -> Callable:
    return _where(lambda query, key: (key <= query) & (key > query - width))


def _top_left(offset: int) -> Callable:
    """Query 0 stands on key 0, or one place beside it."""
    return lambda n_queries, n_keys: np.tri(n_queries, n_keys, offset, dtype=bool)


def _with_earlier_keys(value: bool, *, behind: bool) -> Callable:
    """The square mask of the queries, and one value for all keys that have no query."""

    def wrong(n_queries, n_keys):
        more = np.full((n_queries, n_keys - n_queries), value)
        parts = [_right(n_queries, n_queries), more]
        return np.concatenate(parts if behind else parts[::-1], axis=1)

    return wrong


def _trial(n_queries: int, n_keys: int) -> Trial:
    sizes = {"n_queries": n_queries, "n_keys": n_keys}
    return Trial(f"{n_queries} queries, {n_keys} keys", sizes)


MISCONCEPTIONS = (
    Misconception(
        "polarity-flipped",
        "The mask is the other way round: here True marks what is blocked. In attnkit, as in "
        "PyTorch's scaled_dot_product_attention, True = may attend.",
        "ch4-conventions",
        (
            lambda n_q, n_k: ~_right(n_q, n_k),
            lambda n_q, n_k: ~_top_left(0)(n_q, n_k),
            lambda n_q, n_k: additive(~_right(n_q, n_k)),
            lambda n_q, n_k: additive(~_right(n_q, n_k), -1e9),
        ),
    ),
    Misconception(
        "diagonal-hidden",
        "A query cannot see its own position: < stands where ≤ belongs. The first query would see "
        "nothing at all.",
        "ch4-causal",
        (_where(lambda query, key: key < query), _top_left(-1)),
    ),
    Misconception(
        "one-key-too-far",
        "Each query sees one key beyond its own position. That key is the very token a language "
        "model has to predict there: it would learn to copy it.",
        "ch4-leak",
        (_where(lambda query, key: key <= query + 1), _top_left(1)),
    ),
    Misconception(
        "sees-the-future",
        "This is the other triangle: each query sees what comes after it and not what came "
        "before. A row belongs to a query; its True stand on the left.",
        "ch4-causal",
        (
            _where(lambda query, key: key >= query),
            lambda n_q, n_k: ~_top_left(-1)(n_q, n_k),
        ),
    ),
    Misconception(
        "queries-and-keys-swapped",
        "The mask has a row for each key and a column for each query. Rows belong to queries: the "
        "shape is (n_queries, n_keys).",
        "ch4-causal",
        (
            lambda n_q, n_k: _right(n_q, n_k).T,
            lambda n_q, n_k: np.tri(n_k, n_q, dtype=bool),
            lambda n_q, n_k: np.tri(n_k, n_q, n_q - n_k, dtype=bool),
        ),
    ),
    Misconception(
        "aligned-at-the-first-key",
        "Right as long as there are as many queries as keys. With fewer, query 0 is put on key 0 "
        "here; but the queries are the last positions, so the last query must see every key.",
        "ch4-causal",
        (
            _top_left(0),
            _with_earlier_keys(True, behind=True),
            lambda n_q, n_k: additive(_top_left(0)(n_q, n_k)),
        ),
    ),
    Misconception(
        "earlier-keys-hidden",
        "Right as long as there are as many queries as keys. The keys before the first query are "
        "earlier positions: every query may attend to them.",
        "ch4-causal",
        (
            _with_earlier_keys(False, behind=False),
            lambda n_q, n_k: _window(n_q)(n_q, n_k),
        ),
    ),
    Misconception(
        "always-square",
        "One of the two numbers is not used: the mask is square whatever they are. Its shape is "
        "(n_queries, n_keys).",
        "ch4-causal",
        (lambda n_q, n_k: _right(n_q, n_q), lambda n_q, n_k: _right(n_k, n_k)),
    ),
    Misconception(
        "nothing-hidden",
        "Every query sees every key. Keys that come after the query's own position have to be "
        "False.",
        "ch4-causal",
        (lambda n_q, n_k: np.ones((n_q, n_k), bool),),
    ),
    Misconception(
        "own-key-only",
        "Each query sees its own position and no other. It may also attend to all positions "
        "before.",
        "ch4-causal",
        (_window(1), lambda n_q, n_k: np.eye(n_q, n_k, dtype=bool)),
    ),
    Misconception(
        "window-for-causal",
        "Keys far back are hidden too. That is a sliding window; a causal mask hides the keys "
        "after the query and none before.",
        "ch4-window",
        (_window(2), _window(3), _window(4)),
    ),
    Misconception(
        "mirrored",
        "The triangle is mirrored: the rows or the columns run backwards. Row 0 is the first of "
        "the queries, column 0 the first key.",
        "ch4-causal",
        (
            _where(lambda query, key: key[::-1] <= query),
            _where(lambda query, key: key <= query[::-1]),
        ),
    ),
    *of_the_wrong_kind(_right, "ch4-conventions"),
)

CAUSAL = FunctionExercise(
    id="ch4-causal",
    title="The causal mask",
    link="ch4-causal",
    call="causal(n_queries, n_keys)",
    results=("mask",),
    styles=("numpy",),
    sections=SECTIONS,
    right=_right,
    trials=(_trial(2, 2), _trial(1, 3), _trial(2, 3), _trial(3, 3), _trial(3, 5), _trial(5, 7)),
    misconceptions=MISCONCEPTIONS,
)

EXERCISES = (CAUSAL,)
