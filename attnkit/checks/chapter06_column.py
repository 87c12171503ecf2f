"""Exercise ch6-column: by hand, what a key gets from all queries, and what it would get anyway."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._drawn import pick, shares
from attnkit.checks._engine import Misconception
from attnkit.checks._numbers import NumbersExercise
from attnkit.checks.chapter06_claims import SECTIONS

_BOOK = {
    "looks": (
        (1.0, 0.0, 0.0, 0.0), (0.4, 0.6, 0.0, 0.0), (0.1, 0.3, 0.6, 0.0), (0.2, 0.5, 0.2, 0.1),
    ),
    "key": 1,
}  # fmt: skip
Array = np.ndarray


def _draw(rng: random.Random) -> dict[str, object]:
    key, received, last = pick(rng, (1, 2)), 1.0, [0.0, 0.0]
    rows: list[tuple[float, ...]] = []
    # A column that sums to 1 looks like a row; one with equal weights hides what is left out.
    while abs(received - 1) < 0.15 or abs(last[0] - last[1]) < 0.15:
        rows = [shares(rng, seen) + (0.0,) * (4 - seen) for seen in range(1, 5)]
        received, last = sum(row[key] for row in rows), [row[key] for row in rows[2:]]
    return {"looks": tuple(rows), "key": key}


def _by_hand(make: Callable[[Array, int], Sequence]) -> Callable:
    """A function of the given values: ``make(map, key)``."""
    return lambda looks, key: tuple(make(np.array(looks), key))


def _compared(received: Callable[[Array, int], float], nothing: Callable[[Array, int], float]):
    """Two sums and their ratio."""

    def make(looks, key):
        got, base = float(received(looks, key)), float(nothing(looks, key))
        return got, base, got / base

    return _by_hand(make)


def _even(looks: Array) -> Array:
    """The map of a head that knows nothing, under a causal mask."""
    mask = np.tri(len(looks))
    return mask / mask.sum(axis=1, keepdims=True)


def _received(looks: Array, key: int) -> float:
    return looks[:, key].sum()


def _nothing(looks: Array, key: int) -> float:
    return _even(looks)[:, key].sum()


def _others(looks: Array, key: int) -> float:
    """From the other queries only."""
    return _received(looks, key) - looks[key, key]


def _row(looks: Array, key: int) -> float:
    return looks[key].sum()


def _seen_by(looks: Array, key: int) -> int:
    """How many queries may attend to the key."""
    return len(looks) - key


def _wrong(name: str, message: str, *wrong: Callable, link: str = "ch6-received") -> Misconception:
    return Misconception(name, message, link, wrong)


MISCONCEPTIONS = (
    _wrong(
        "row-taken-for-column",
        "This adds up a row, and a row sums to 1 whatever the head does. What a key receives "
        "stands in its column.",
        _compared(_row, _nothing),
        _compared(_row, lambda w, k: _row(_even(w), k)),
        link="ch6-axes",
    ),
    _wrong(
        "mask-forgotten-in-the-baseline",
        "Here every query of the ignorant head gives the same. The first queries see fewer keys "
        "than the last, so that each gives this key a larger share: one over the number of keys "
        "that it sees.",
        _compared(_received, lambda w, k: _seen_by(w, k) / len(w)),
        _compared(_received, lambda w, k: 1.0),
    ),
    _wrong(
        "one-query-for-the-baseline",
        "This is what one query of the ignorant head gives. The column of this head has a share "
        "from every query that may look, and they add up.",
        _compared(_received, lambda w, k: 1 / (k + 1)),
    ),
    _wrong(
        "mean-for-sum",
        "The first numbers were divided by a number of queries. Asked for are sums; the ratio is "
        "the same either way.",
        _by_hand(lambda w, k: (_received(w, k) / _seen_by(w, k), _nothing(w, k) / _seen_by(w, k),
                               _received(w, k) / _nothing(w, k))),
        _by_hand(lambda w, k: (_received(w, k) / len(w), _nothing(w, k) / len(w),
                               _received(w, k) / _nothing(w, k))),
        _compared(lambda w, k: _received(w, k) / _seen_by(w, k), _nothing),
        _compared(lambda w, k: _received(w, k) / len(w), _nothing),
    ),
    _wrong(
        "own-token-left-out",
        "What the token gives to itself is missing. Its own query is one of those that may look.",
        _compared(_others, lambda w, k: _others(_even(w), k)),
        _compared(_others, _nothing),
        _compared(_received, lambda w, k: _others(_even(w), k)),
    ),
    _wrong(
        "difference-for-ratio",
        "The two sums are right, and the last number is their difference. A ratio says how many "
        "times as much.",
        _by_hand(lambda w, k: (_received(w, k), _nothing(w, k), _received(w, k) - _nothing(w, k))),
        _by_hand(lambda w, k: (_received(w, k), _nothing(w, k), _nothing(w, k) - _received(w, k))),
    ),
    _wrong(
        "ratio-upside-down",
        "The ratio is the other way up: what the head gives, divided by what the ignorant head "
        "gives. Above 1 the key gets more than its share.",
        _by_hand(lambda w, k: (_received(w, k), _nothing(w, k), _nothing(w, k) / _received(w, k))),
    ),
    _wrong(
        "keys-counted-from-one",
        "This is the column to the left. Keys are counted from 0, like everything in Python.",
        _compared(lambda w, k: _received(w, k - 1), lambda w, k: _nothing(w, k - 1)),
        link="ch6-axes",
    ),
    _wrong(
        "largest-weight",
        "This is the largest weight of the column, one look of one query. The column is added up.",
        _compared(lambda w, k: w[:, k].max(), _nothing),
    ),
)  # fmt: skip

COLUMN = NumbersExercise(
    id="ch6-column",
    title="A column by hand",
    link="ch6-received",
    sections=SECTIONS,
    given=_BOOK,
    draw=_draw,
    results=("received", "nothing", "ratio"),
    right=_compared(_received, _nothing),
    tolerance=0.02,  # sums rounded to two decimals before they are divided
    misconceptions=MISCONCEPTIONS,
)

EXERCISES = (COLUMN,)
