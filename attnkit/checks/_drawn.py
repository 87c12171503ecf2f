"""Given values of exercises by hand: numbers that can be worked with on paper."""

from __future__ import annotations

import random
from collections.abc import Sequence


def pick(rng: random.Random, choices: Sequence):
    """One of the choices. ``random()`` is the one method whose sequence Python promises to keep."""
    return choices[int(rng.random() * len(choices))]


def shares(rng: random.Random, n: int) -> tuple[float, ...]:
    """``n`` weights with one decimal, none of them 0, that sum to 1."""
    tenths = [1] * n
    for _ in range(10 - n):
        tenths[int(rng.random() * n)] += 1
    return tuple(tenth / 10 for tenth in tenths)


def different(rng: random.Random, choices: Sequence, n: int) -> tuple:
    """``n`` of the choices, no two of them the same."""
    left = list(choices)
    return tuple(left.pop(int(rng.random() * len(left))) for _ in range(n))
