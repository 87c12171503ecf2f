"""Exercise ch12-count: pairs, bytes and multiplications, counted with pencil and paper."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import Misconception, Seen
from attnkit.checks._numbers import NumbersExercise
from attnkit.checks.chapter12_claims import SECTIONS

RESULTS = ("pairs", "megabytes", "times")


def right(n: int, w: int, num_heads: int, d: int) -> tuple[float, float, float]:
    return n * w - w * (w - 1) / 2, 4 * num_heads * n * n / 1e6, n / d


def _draw(rng: random.Random) -> dict[str, object]:
    d = rng.choice((16, 20, 25, 32, 40, 50))
    n = d * rng.randrange(17, 40, 2)  # odd, beside odd windows: no two mistakes agree
    return {
        "n": n,
        "w": rng.choice((7, 9, 11, 13, 15)),
        "num_heads": rng.choice((4, 6, 8, 12)),
        "d": d,
    }


def _form(part: str, value: Callable) -> Callable:
    """All results right but this one."""

    def wrong(**given):
        results = dict(zip(RESULTS, right(**given), strict=True))
        return tuple((results | {part: value(**given)}).values())

    return wrong


def _wrong(part: str, name: str, message: str, link: str, *values: Callable) -> Misconception:
    """Recognised by one result, whatever the others are: each has mistakes of its own.

    The first of ``values`` is what a copy's data must keep apart from all other mistakes.
    """

    def when(seen: Sequence[Seen]) -> bool:
        given = seen[0].trial.inputs
        got = np.ravel(seen[0].got[part])
        return got.size == 1 and any(
            np.isclose(got[0], value(**given), rtol=1e-6, atol=0.01) for value in values
        )

    return Misconception(name, f"{part}: {message}", link, (_form(part, values[0]),), when=when)


MISCONCEPTIONS = (
    _wrong(
        "pairs",
        "first-queries-taken-for-full",
        "the first queries have fewer than w keys, for before the first token there is nothing. "
        "Query 0 has one key, query 1 two.",
        "ch12-windowed",
        lambda n, w, **_: n * w,
    ),
    _wrong(
        "pairs",
        "corner-miscounted",
        "what is missing at the beginning is w − 1 keys for the first query, w − 2 for the second "
        "and so on: w (w − 1) / 2 pairs in all.",
        "ch12-windowed",
        lambda n, w, **_: n * w - w * w,
        lambda n, w, **_: n * w - w * (w + 1) / 2,
        lambda n, w, **_: n * w - w * w / 2,
        lambda n, w, **_: n * w - w * (w - 1),
        lambda n, w, **_: n * w - w,
        lambda n, w, **_: n * w - (w - 1),
        lambda n, w, **_: (n - w) * w + w * (w - 1) / 2,
    ),
    _wrong(
        "pairs",
        "own-key-not-counted",
        "the query's own key belongs to the w keys of its window. It was left out, or counted "
        "besides them.",
        "ch12-windowed",
        lambda n, w, **_: n * (w - 1) - w * (w - 1) / 2,
        lambda n, w, **_: n * (w - 1) - (w - 1) * (w - 2) / 2,
        lambda n, w, **_: n * (w + 1) - w * (w + 1) / 2,
        lambda n, w, **_: n * (w - 1),
        lambda n, w, **_: n * (w + 1),
    ),
    _wrong(
        "pairs",
        "both-sides-counted",
        "this window reaches to both sides. A causal one ends at the query's own key.",
        "ch12-windowed",
        lambda n, w, **_: n * (2 * w - 1) - w * (w - 1),
        lambda n, w, **_: n * (2 * w - 1),
    ),
    _wrong(
        "pairs",
        "computed-taken-for-allowed",
        "two blocks of w keys for each query are what the block form computes. Half of these "
        "scores are masked again: only the pairs inside the window are asked for.",
        "ch12-windowed",
        lambda n, w, **_: 2 * n * w,
    ),
    _wrong(
        "pairs",
        "window-not-used",
        "these are the pairs of attention without a window, with or without the causal mask.",
        "ch12-cost",
        lambda n, **_: n * (n + 1) / 2,
        lambda n, **_: n * n,
        lambda n, **_: n * (n - 1) / 2,
    ),
    _wrong(
        "pairs",
        "tokens-times-size",
        "the size d of a key does not change how many pairs there are. Count pairs of places.",
        "ch12-cost",
        lambda n, w, d, **_: n * w * d,
        lambda n, w, d, **_: (n * w - w * (w - 1) / 2) * d,
    ),
    _wrong(
        "megabytes",
        "one-head-only",
        "that is the map of one head. Each head has its own.",
        "ch12-cost",
        lambda n, **_: 4 * n * n / 1e6,
    ),
    _wrong(
        "megabytes",
        "numbers-taken-for-bytes",
        "that is how many million weights there are. Each takes four bytes, not one and not eight.",
        "ch12-cost",
        lambda n, num_heads, **_: num_heads * n * n / 1e6,
        lambda n, num_heads, **_: 8 * num_heads * n * n / 1e6,
    ),
    _wrong(
        "megabytes",
        "blocked-cells-left-out",
        "a blocked cell of a map holds a number like any other, a zero. A mask saves no memory.",
        "ch12-mask",
        lambda n, num_heads, **_: 4 * num_heads * n * (n + 1) / 2e6,
        lambda n, num_heads, **_: 4 * num_heads * n * n / 2e6,
    ),
    _wrong(
        "megabytes",
        "vectors-taken-for-maps",
        "these are the bytes of queries, keys or values, which grow with n. A map has a weight for "
        "every query and every key: n times n.",
        "ch12-cost",
        lambda n, num_heads, d, **_: 4 * num_heads * n * d / 1e6,
        lambda n, num_heads, d, **_: 8 * num_heads * n * d / 1e6,
        lambda n, num_heads, d, **_: 12 * num_heads * n * d / 1e6,
    ),
    _wrong(
        "megabytes",
        "size-in-the-map",
        "the size d of a key is gone when the scores are there: every pair has one number.",
        "ch12-cost",
        lambda n, num_heads, d, **_: 4 * num_heads * n * n * d / 1e6,
        lambda n, d, **_: 4 * n * n * d / 1e6,
    ),
    _wrong(
        "megabytes",
        "another-unit",
        "the digits are right and the unit is another. A megabyte is a million bytes here.",
        "ch12-cost",
        lambda n, num_heads, **_: 4 * num_heads * n * n,
        lambda n, num_heads, **_: 4 * num_heads * n * n / 1e3,
        lambda n, num_heads, **_: 4 * num_heads * n * n / 1e9,
        lambda n, num_heads, **_: 4 * num_heads * n * n / 2**20,
    ),
    _wrong(
        "times",
        "upside-down",
        "linear attention takes fewer multiplications here, so the number is greater than one: "
        "full by linear.",
        "ch12-linear",
        lambda n, d, **_: d / n,
    ),
    _wrong(
        "times",
        "one-product-forgotten",
        "both kinds have two products: full attention query times key and weight times value, "
        "linear attention key times value and query times their sum. All four count.",
        "ch12-linear",
        lambda n, d, **_: n / (2 * d),
        lambda n, d, **_: 2 * n / d,
    ),
    _wrong(
        "times",
        "size-forgotten",
        "key times value makes a table of d × d for every token, so linear attention takes n d² "
        "multiplications for each of its two products, and not n d or n.",
        "ch12-linear",
        lambda n, **_: n,
        lambda n, d, **_: n * d,
        lambda n, d, **_: n / d**2,
    ),
    _wrong(
        "times",
        "heads-counted-once",
        "the factor is that of one head, and the same for all of them: the number of heads stands "
        "in both counts.",
        "ch12-linear",
        lambda n, num_heads, d, **_: num_heads * n / d,
        lambda n, num_heads, d, **_: n / (num_heads * d),
    ),
    _wrong(
        "times",
        "window-for-linear",
        "that is what a window saves. Linear attention has no window, and its saving hangs on d.",
        "ch12-linear",
        lambda n, w, **_: n / w,
        lambda n, w, **_: n / (2 * w),
    ),
)

COUNT = NumbersExercise(
    id="ch12-count",
    title="Count it before you run it",
    link="ch12-cost",
    sections=SECTIONS,
    given={"n": 1200, "w": 10, "num_heads": 8, "d": 40},
    draw=_draw,
    results=RESULTS,
    right=right,
    misconceptions=MISCONCEPTIONS,
)

EXERCISES = (COUNT,)
