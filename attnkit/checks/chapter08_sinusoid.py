"""Exercise ch8-sinusoid: the encoding of the positions by sines and cosines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_positions as wp
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter08_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable, link: str = "ch8-sinusoids") -> Misconception:
    return Misconception(name, message, link, wrong)


def right(n_positions: int, d_model: int) -> np.ndarray:
    return wp.encoded(np.arange(n_positions), wp.speeds, d_model)


def _with_speeds(speeds: Callable) -> Callable:
    return lambda n, d: wp.encoded(np.arange(n), speeds, d)


def _at(positions: Callable[[int], np.ndarray]) -> Callable:
    """Other positions: positions(n)."""
    return lambda n, d: wp.encoded(positions(n), wp.speeds, d)


def _of_angles(change: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """Something else of the angles of the pairs, (n, d/2)."""
    return lambda n, d: change(np.arange(n)[:, None] * wp.speeds(d)[::2])


def _interleaved(even: Callable, odd: Callable) -> Callable:
    return _of_angles(lambda a: np.stack([even(a), odd(a)], axis=-1).reshape(len(a), -1))


def _side_by_side(first: Callable, second: Callable) -> Callable:
    return _of_angles(lambda a: np.concatenate([first(a), second(a)], axis=1))


MISCONCEPTIONS = (
    *wp.wrong_speeds(_with_speeds, "ch8-sinusoids", "ch8-exponent"),
    _wrong(
        "sine-and-cosine-exchanged",
        "The cosine stands in the even columns. Number 2i is the sine, number 2i + 1 the cosine: "
        "the encoding of position 0 begins with 0, 1.",
        _interleaved(np.cos, np.sin),
    ),
    _wrong(
        "halves-side-by-side",
        "All sines stand before all cosines. Some libraries do it so, and a model can learn with "
        "either; here they alternate, number 2i and number 2i + 1 being one pair.",
        _side_by_side(np.sin, np.cos),
        _side_by_side(np.cos, np.sin),
    ),
    _wrong(
        "one-function-for-both",
        "Both numbers of a pair are sines, or both cosines. One alone does not say where on its "
        "circle a position is.",
        _interleaved(np.sin, np.sin),
        _interleaved(np.cos, np.cos),
    ),
    _wrong(
        "turned-backwards",
        "The sines have the wrong sign: the angle of position p is p times the speed, not minus "
        "that.",
        _interleaved(lambda a: -np.sin(a), np.cos),
    ),
    _wrong(
        "positions-from-one",
        "The first row is that of position 1. Positions count from 0, where every sine is 0 and "
        "every cosine 1.",
        _at(lambda n: np.arange(1, n + 1)),
    ),
    _wrong(
        "positions-divided-by-their-number",
        "The positions were brought to the range from 0 to 1. Then the encoding of a position "
        "depends on the length of the sentence, and a step is not the same in two sentences.",
        _at(lambda n: np.arange(n) / n),
        _at(lambda n: np.arange(n) / (n - 1)),
        link="ch8-properties",
    ),
    _wrong(
        "angles-not-encoded",
        "These are the angles. What is asked for is their sines and cosines, which stay between "
        "−1 and 1 however far the position.",
        lambda n, d: np.arange(n)[:, None] * wp.speeds(d),
        _of_angles(lambda a: a),
    ),
    _wrong(
        "half-the-columns",
        "There is one number for each pair. A pair has two: a sine and a cosine.",
        _of_angles(np.sin),
        _of_angles(np.cos),
        _of_angles(lambda a: np.sin(a) + np.cos(a)),
    ),
    _wrong(
        "transposed",
        "The table came back transposed: positions are its rows, (n_positions, d_model).",
        lambda n, d: right(n, d).T,
    ),
)

SINUSOID = FunctionExercise(
    id="ch8-sinusoid",
    title="The sinusoidal encoding",
    link="ch8-sinusoids",
    call="encode(n_positions, d_model)",
    results=("encoding",),
    sections=SECTIONS,
    right=right,
    trials=tuple(
        Trial(f"{n} positions, d_model {d}", {"n_positions": n, "d_model": d})
        for n, d in [(2, 4), (3, 4), (3, 6), (2, 8), (7, 4)]
    ),
    misconceptions=MISCONCEPTIONS,
    styles=("numpy",),
)

EXERCISES = (SINUSOID,)
