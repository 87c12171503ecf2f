"""Exercise ch8-rotary: pairs of numbers turned by an angle that grows with the position."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks import _wrong_positions as wp
from attnkit.checks._engine import FunctionExercise, Misconception, Seen, Trial
from attnkit.checks.chapter08_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch8-rotary", wrong)


def _of_pairs(change: Callable, join: Callable | None = None) -> Callable:
    """change(a, b, cosine, sine) of the numbers 2i and 2i + 1 gives the two new ones."""

    def wrong(x, positions):
        angle = positions[:, None] * wp.speeds(x.shape[-1])[::2]
        new = change(x[..., 0::2], x[..., 1::2], np.cos(angle), np.sin(angle))
        return (join or _alternating)(*new)

    return wrong


def _alternating(even: np.ndarray, odd: np.ndarray) -> np.ndarray:
    return np.stack([even, odd], axis=-1).reshape(*even.shape[:-1], -1)


def _side_by_side(even: np.ndarray, odd: np.ndarray) -> np.ndarray:
    return np.concatenate([even, odd], axis=-1)


def _turn(a, b, cos, sin):
    return a * cos - b * sin, a * sin + b * cos


def _one_after_the_other(a, b, cos, sin):
    a = a * cos - b * sin
    return a, a * sin + b * cos


def _places(first: int) -> Callable:
    """Counted from ``first`` on, whatever the positions are."""
    return lambda x, positions: wp.turned(x, np.arange(first, first + len(positions)))


def _first_axis(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The first axis taken for that of the positions: only right without axes in front."""
    if len(positions) != len(x):
        raise ValueError("sizes do not fit")
    angle = positions.reshape(-1, *[1] * (x.ndim - 1)) * wp.speeds(x.shape[-1])
    return x * np.cos(angle) + wp.partner(x) * np.sin(angle)


def _right_without_axes_only(trials: Sequence[Seen]) -> bool:
    extra = [seen for seen in trials if not seen.trial.compared]
    return all(s.right for s in trials if s.trial.compared) and not all(s.right for s in extra)


def _trial(shape: tuple[int, ...], positions: list[int], *, compared: bool = True) -> Trial:
    x = np.random.default_rng(8).normal(size=(*shape[:-1], shape[-1])).round(1)
    x[np.abs(x) < 0.2] = 0.7  # so that no turn of a number hides in a rounding
    name = f"x of shape {shape}, positions {positions}"
    return Trial(name, {"x": x, "positions": np.array(positions)}, compared)


_TRIALS = (
    Trial(
        "one vector of two numbers",
        {"x": np.array([[1.0, 0.5]]), "positions": np.array([1])},
    ),
    Trial(
        "one vector of four numbers",
        {"x": np.array([[1.0, 0.5, -2.0, 3.0]]), "positions": np.array([2])},
    ),
    _trial((2, 4), [3, 5]),
    _trial((2, 8), [2, 1]),
    _trial((3, 6), [2, 0, 1]),
    # As many heads as positions: who takes one for the other gets numbers and no error.
    _trial((2, 2, 2), [1, 4], compared=False),
)

MISCONCEPTIONS = (
    *wp.wrong_speeds(
        lambda speeds: lambda x, p: wp.turned(x, p, speeds), "ch8-rotary", "ch8-exponent"
    ),
    Misconception(
        "axes-in-front-forgotten",
        "Right for one sequence, and not with axes in front of it, such as heads. Positions belong "
        "to the last axis but one: x.shape[-2].",
        "ch8-rotary",
        (_first_axis,),
        when=_right_without_axes_only,
    ),
    _wrong(
        "halves-paired",
        "Number i is turned with number i + d/2. Some models do it so, and weights trained one way "
        "are no use the other; here the numbers 2i and 2i + 1 are a pair.",
        lambda x, p: wp.turned(x, p, wp.tiled, wp.half_partner),
        lambda x, p: wp.turned(x, p, wp.speeds, wp.half_partner),
    ),
    _wrong(
        "speeds-of-the-halves",
        "The pairs are right, and their speeds are laid out for halves: cosines of all pairs, and "
        "then again. The two numbers of a pair have the same speed: repeat each, not all of them.",
        lambda x, p: wp.turned(x, p, wp.tiled),
    ),
    _wrong(
        "results-side-by-side",
        "The turned numbers are right and stand in another order: all first ones, then all second "
        "ones. Put each back where it came from.",
        _of_pairs(_turn, _side_by_side),
    ),
    _wrong(
        "turned-backwards",
        "The pairs turn the other way round: the signs of the two sines are exchanged. Scores then "
        "still depend on the distance alone, but before and after have changed places.",
        _of_pairs(lambda a, b, cos, sin: (a * cos + b * sin, b * cos - a * sin)),
    ),
    _wrong(
        "mirrored-not-turned",
        "One of the two sines has the wrong sign. A turn has one plus and one minus, and keeps the "
        "length of the vector.",
        _of_pairs(lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)),
        _of_pairs(lambda a, b, cos, sin: (a * cos - b * sin, b * cos - a * sin)),
        _of_pairs(lambda a, b, cos, sin: (a * cos + b * sin, a * sin - b * cos)),
    ),
    _wrong(
        "second-from-the-turned-first",
        "The second number of the pair is computed from the first one after its turn. Both come "
        "from the old pair: keep it until both are done.",
        _of_pairs(_one_after_the_other),
    ),
    _wrong(
        "numbers-not-mixed",
        "Each number is multiplied by a sine or a cosine of its own. In a turn each new number is "
        "made of both old ones.",
        _of_pairs(lambda a, b, cos, sin: (a * cos, b * cos)),
        _of_pairs(lambda a, b, cos, sin: (a * sin, b * cos)),
        _of_pairs(lambda a, b, cos, sin: (a * cos, b * sin)),
        _of_pairs(lambda a, b, cos, sin: (a * sin, b * sin)),
    ),
    _wrong(
        "pair-exchanged",
        "The two numbers of each pair have changed places.",
        _of_pairs(lambda a, b, cos, sin: _turn(a, b, cos, sin)[::-1]),
        _of_pairs(lambda a, b, cos, sin: _turn(b, a, cos, sin)),
    ),
    _wrong(
        "encoding-added",
        "The sinusoidal encoding was added to the vectors. Here nothing is added: each pair is "
        "turned, and the length of the vector stays.",
        lambda x, p: x + wp.encoded(p, wp.speeds, x.shape[-1]),
        _of_pairs(lambda a, b, cos, sin: (a + cos, b + sin)),
    ),
    _wrong(
        "positions-not-used",
        "The vectors are turned as if their positions were 0, 1, 2 … A decoder with a cache turns "
        "one new vector, and its position is not 0: use positions.",
        _places(0),
        _places(1),
    ),
    _wrong(
        "positions-from-one",
        "Every vector is turned one step too far. Scores do not see it, as both sides move on; "
        "keys that were kept at their own positions do: use positions as they are.",
        lambda x, p: wp.turned(x, p + 1),
    ),
    _wrong(
        "unchanged",
        "The vectors came back as they were.",
        lambda x, p: x,
    ),
)

ROTARY = FunctionExercise(
    id="ch8-rotary",
    title="Turn queries and keys",
    link="ch8-rotary",
    call="rotate(x, positions)",
    results=("turned",),
    sections=SECTIONS,
    right=wp.turned,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (ROTARY,)
