"""Exercise ch5-two-heads: by hand, what two heads write, and what their average map would write."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._drawn import different, pick
from attnkit.checks._engine import Misconception
from attnkit.checks._numbers import NumbersExercise
from attnkit.checks.chapter05_claims import SECTIONS

#: Weights of one query on two keys, what each head finds there, and W_O: a row for each head.
_BOOK = {
    "weights_0": (0.9, 0.1),
    "weights_1": (0.2, 0.8),
    "values_0": (1.0, 3.0),
    "values_1": (5.0, 1.0),
    "w_o": ((2.0, 1.0), (-2.0, 3.0)),
}
Array = np.ndarray


def _draw(rng: random.Random) -> dict[str, object]:
    tenths = pick(rng, (1, 2, 8, 9)), pick(rng, (3, 4, 6, 7))
    first, second = ((n / 10, (10 - n) / 10) for n in tenths)
    a, b, c, d = different(rng, (-2.0, -1.0, 1.0, 2.0, 3.0), 4)
    return {
        "weights_0": first,
        "weights_1": second,
        "values_0": different(rng, (1.0, 2.0, 3.0, 4.0), 2),
        "values_1": different(rng, (1.0, 3.0, 5.0, 6.0), 2),
        "w_o": ((a, b), (c, d)),
    }


def _by_hand(make: Callable[[Array, Array, Array], Sequence]) -> Callable:
    """A function of the given values: ``make(weights, values, w_o)``, (heads, keys) each."""

    def answer(weights_0, weights_1, values_0, values_1, w_o):
        pairs = np.array([weights_0, weights_1]), np.array([values_0, values_1])
        return tuple(make(*pairs, np.array(w_o)))

    return answer


def _found(weights: Array, values: Array) -> Array:
    """What each head finds: one number."""
    return (weights * values).sum(axis=1)


def _average(weights: Array) -> Array:
    """The average map in both heads."""
    return np.broadcast_to(weights.mean(axis=0), weights.shape)


def _both(write: Callable[[Array, Array, Array], Array]) -> Callable:
    """The same mistake with the heads' own weights and with the average map."""
    return _by_hand(lambda a, v, w: (write(a, v, w), write(_average(a), v, w)))


def _output(weights: Array, values: Array, w_o: Array) -> Array:
    return _found(weights, values) @ w_o


def _mean_of_heads(weights: Array, values: Array, w_o: Array) -> Array:
    return np.full(2, _found(weights, values).mean()) @ w_o


def _sharpest(weights: Array) -> Array:
    """All weight on the key that has most."""
    return np.eye(2)[weights.argmax(axis=1)]


def _wrong(name: str, message: str, *wrong: Callable, link: str = "ch5-concat") -> Misconception:
    return Misconception(name, message, link, wrong)


MISCONCEPTIONS = (
    _wrong(
        "average-changes-nothing",
        "The two answers are the same. Each head has its own row of weights; with the average of "
        "both rows each finds something else.",
        _by_hand(lambda a, v, w: (_output(a, v, w),) * 2),
        _by_hand(lambda a, v, w: (_output(_average(a), v, w),) * 2),
    ),
    _wrong(
        "answers-exchanged",
        "The average map was used for the first answer, the heads' own weights for the second. "
        "The layer itself averages nothing.",
        _by_hand(lambda a, v, w: (_output(_average(a), v, w), _output(a, v, w))),
    ),
    _wrong(
        "weights-added-up",
        "The second answer uses the sum of the two rows, not their average: such a row sums to 2.",
        _by_hand(lambda a, v, w: (_output(a, v, w), 2 * _output(_average(a), v, w))),
    ),
    _wrong(
        "heads-averaged",
        "What the heads found was averaged. Nothing is averaged in the layer: W_O gives each head "
        "its own row, and the two are added.",
        _both(_mean_of_heads),
        _both(lambda a, v, w: _output(a, v, w) / 2),
        _by_hand(lambda a, v, w: (_output(a, v, w), _mean_of_heads(a, v, w))),
        _by_hand(lambda a, v, w: (_output(a, v, w), _output(a, v, w) / 2)),
    ),
    _wrong(
        "no-output-projection",
        "These are the numbers that the heads found, side by side. They still have to go through "
        "W_O: each head writes into both numbers of the output.",
        _both(lambda a, v, w: _found(a, v)),
    ),
    _wrong(
        "each-head-its-own-number",
        "Each head was given one number of the output. It writes into both: head 0 with the first "
        "row of W_O, head 1 with the second, and the two are added.",
        _both(lambda a, v, w: _found(a, v) * w.diagonal()),
    ),
    _wrong(
        "rows-of-w-o-for-columns",
        "Rows and columns of W_O have changed places. Here a row belongs to a head, a column to a "
        "number of the output.",
        _both(lambda a, v, w: w @ _found(a, v)),
    ),
    _wrong(
        "one-head-left-out",
        "Only one of the two heads writes. The output is the sum of what both write.",
        _both(lambda a, v, w: _found(a, v)[0] * w[0]),
        _both(lambda a, v, w: _found(a, v)[1] * w[1]),
    ),
    _wrong(
        "values-shared",
        "Both heads use the same values. Each head has a projection of its own, so that it finds "
        "its own number in each key.",
        _both(lambda a, v, w: _output(a, v[[0, 0]], w)),
        _both(lambda a, v, w: _output(a, v[[1, 1]], w)),
        link="ch5-project",
    ),
    _wrong(
        "heads-exchanged",
        "The weights of one head were put on the values of the other. A map belongs to its own "
        "head.",
        _by_hand(lambda a, v, w: (_output(a[::-1], v, w), _output(_average(a), v, w))),
        link="ch5-project",
    ),
    _wrong(
        "largest-weight-only",
        "Each head took the value of the key that it gives most to. A head mixes: every value "
        "times its weight, added up.",
        _by_hand(lambda a, v, w: (_output(_sharpest(a), v, w), _output(_average(a), v, w))),
        _both(lambda a, v, w: _output(_sharpest(a), v, w)),
        link="ch5-project",
    ),
)  # fmt: skip

TWO_HEADS = NumbersExercise(
    id="ch5-two-heads",
    title="Two heads by hand",
    link="ch5-concat",
    sections=SECTIONS,
    given=_BOOK,
    draw=_draw,
    results=("output", "averaged"),
    right=_by_hand(lambda a, v, w: (_output(a, v, w), _output(_average(a), v, w))),
    misconceptions=MISCONCEPTIONS,
)

EXERCISES = (TWO_HEADS,)
