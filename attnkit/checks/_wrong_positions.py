"""Positions as angles, right and wrong in every way that has a name.

A speed is what the position is multiplied by: ``speeds(d)`` gives one for each number of a vector
of d numbers, (d,). The right ones are the same for the two numbers of a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import Misconception, Seen


def pairs(exponent: Callable[[np.ndarray, int], np.ndarray], base: float = 10_000.0) -> Callable:
    """base ** -exponent(i, d) for pair i = 0, 1, …, for both of its numbers."""

    def speeds(d: int) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.repeat(base ** -exponent(np.arange(d // 2), d), 2)

    return speeds


def paper(i: np.ndarray, d: int) -> np.ndarray:
    return 2 * i / d


speeds = pairs(paper)


def tiled(d: int) -> np.ndarray:
    """The right ones, one half of the vector like the other."""
    return np.tile(speeds(d)[::2], 2)


def encoded(positions: np.ndarray, speeds_of: Callable, d: int) -> np.ndarray:
    """Sine in the even columns, cosine in the odd ones, (T, d)."""
    angle = positions[:, None] * speeds_of(d)
    return np.where(np.arange(d) % 2 == 0, np.sin(angle), np.cos(angle))


def partner(x: np.ndarray) -> np.ndarray:
    """A quarter turn of each pair: (a, b) becomes (−b, a)."""
    turned = np.empty_like(x)
    turned[..., 0::2], turned[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    return turned


def half_partner(x: np.ndarray) -> np.ndarray:
    """A quarter turn of number i and number i + d/2."""
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([-second, first], axis=-1)


def turned(
    x: np.ndarray, positions: np.ndarray, speeds_of: Callable = speeds, other: Callable = partner
) -> np.ndarray:
    angle = positions[:, None] * speeds_of(x.shape[-1])
    return x * np.cos(angle) + other(x) * np.sin(angle)


def _roughly(trials: Sequence[Seen], wrong: Callable) -> bool:
    """Equal to two digits: a float32 angle of a thousand has no more to give."""
    compared = [seen for seen in trials if seen.trial.compared]
    if not all(seen.shaped for seen in compared) or all(seen.right for seen in compared):
        return False
    results = [(next(iter(seen.got.values())), seen.trial.inputs.values()) for seen in compared]
    return all(
        np.allclose(got.astype(np.float64), wrong(*given), atol=0.02) for got, given in results
    )


def wrong_speeds(answer: Callable, link: str, doubled: str) -> tuple[Misconception, ...]:
    """Names for speeds that are not those of the paper: answer(speeds) is what they lead to."""

    def wrong(name: str, message: str, *forms: Callable, link: str = link) -> Misconception:
        return Misconception(name, message, link, tuple(answer(form) for form in forms))

    upside_down = answer(pairs(lambda i, d: -2 * i / d))
    return (
        wrong(
            "exponent-doubled",
            "The exponent is twice what it should be: an index that already goes 0, 2, 4 … was "
            "multiplied by 2 once more. Most pairs then hardly turn.",
            pairs(lambda i, d: 4 * i / d),
            link=doubled,
        ),
        wrong(
            "exponent-halved",
            "The exponent is i / d with i = 0, 1, 2 …, half of what it should be: pair i has the "
            "exponent 2i / d, and the slowest pair turns about 10,000 times slower than the first.",
            pairs(lambda i, d: i / d),
        ),
        wrong(
            "exponent-for-each-number",
            "Each number has an exponent of its own, 0, 1/d, 2/d … The two numbers of a pair share "
            "one angle: only the index of the pair counts.",
            lambda d: 10_000.0 ** (-np.arange(d) / d),
            lambda d: 10_000.0 ** (-2 * np.arange(d) / d),
        ),
        wrong(
            "not-divided-by-the-size",
            "The exponent is not divided by the size of the vector, so that every pair but the "
            "first stands still.",
            pairs(lambda i, d: 2 * i),
            pairs(lambda i, d: 1 * i),
        ),
        Misconception(
            "speeds-upside-down",
            "The position is multiplied by 10000^(2i/d) where it should be divided by it: the "
            "pairs turn faster and faster, and neighbouring positions get unrelated angles.",
            link,
            (upside_down,),
            when=lambda trials: _roughly(trials, upside_down),
        ),
        wrong(
            "another-base",
            "The speeds fall to another number than 10,000 says. A base of e comes from an exp "
            "without ln 10,000 in it.",
            pairs(paper, base=1_000.0),
            pairs(paper, base=100_000.0),
            pairs(paper, base=np.e),
        ),
        wrong(
            "last-speed-reached",
            "The exponents go from 0 to 1 with both ends. 2i / d stays below 1: it is divided by "
            "d, not by d − 2.",
            pairs(lambda i, d: 2 * i / (d - 2)),
        ),
        wrong(
            "one-speed-for-all-pairs",
            "Every pair turns at the same speed. Then positions are told apart only up to one turn "
            "of the clock: pair i has its own.",
            pairs(lambda i, d: 0.0 * i),
        ),
    )
