"""Maps of pieces made into maps of words, right and wrong in every way that has a name.

The arguments are always (weights, word_of): (T, T), and the number of the word of each piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def groups(word_of: Sequence[int]) -> list[np.ndarray]:
    """The pieces of each word."""
    numbers = np.asarray(word_of)
    return [np.flatnonzero(numbers == word) for word in range(numbers.max() + 1)]


def by_word(cell: Callable[[np.ndarray], object]) -> Callable:
    """One number for each pair of words: cell(weights of their pieces)."""

    def word_map(weights, word_of):
        words = groups(word_of)
        cells = [[cell(weights[np.ix_(rows, keys)]) for keys in words] for rows in words]
        return np.array(cells, dtype=np.float64)

    return word_map


right = by_word(lambda part: part.sum(axis=1).mean())
mean_of_both = by_word(np.mean)
sum_of_both = by_word(np.sum)
axes_swapped = by_word(lambda part: part.sum(axis=0).mean())


def renormalised(word_map: Callable) -> Callable:
    """Divided by the sums of the rows afterwards."""

    def wrong(weights, word_of):
        small = word_map(weights, word_of)
        return small / small.sum(axis=1, keepdims=True)

    return wrong


def queries_only(take: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """Words for the queries, pieces for the keys: (W, T)."""
    return lambda weights, word_of: np.stack([take(weights[rows]) for rows in groups(word_of)])


def keys_only(take: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """Pieces for the queries, words for the keys: (T, W)."""
    return lambda weights, word_of: np.stack(
        [take(weights[:, keys].T) for keys in groups(word_of)], axis=1
    )


def shared_by(count: Callable[[Sequence[int]], int]) -> Callable:
    """The sum over both, divided by one number for all words."""
    return lambda weights, word_of: sum_of_both(weights, word_of) / count(word_of)


def words_taken_for_pieces(weights: np.ndarray, word_of: Sequence[int]) -> np.ndarray:
    """The number of a word used as the place of a piece."""
    return weights[np.ix_(word_of, word_of)]


def spread_out(word_map: Callable) -> Callable:
    """The map of the words, given back to every piece: (T, T)."""
    return lambda weights, word_of: words_taken_for_pieces(word_map(weights, word_of), word_of)
