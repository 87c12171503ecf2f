"""Small maps of heads, with round numbers, for the trials of several exercises."""

from __future__ import annotations

import numpy as np


def causal(length: int) -> np.ndarray:
    return np.tri(length, dtype=bool)


def allowed(*rows: str) -> np.ndarray:
    """A mask from pictures of its rows: x = may attend."""
    return np.array([[letter == "x" for letter in row] for row in rows])


def maps(heads: int, mask: np.ndarray, *, seed: int = 0, parts: int = 20) -> np.ndarray:
    """Weights (heads, T_q, T_k) in steps of 1 / parts that respect the mask, no two alike."""
    random = np.random.default_rng(seed)
    drawn = np.zeros((heads, *mask.shape))
    for head in range(heads):
        for row, keys in enumerate(mask):
            if keys.any():
                chances = random.dirichlet(np.full(keys.sum(), 0.8))
                drawn[head, row, keys] = random.multinomial(parts, chances) / parts
    return drawn
