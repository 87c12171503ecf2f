"""Tokens and their numbers, and sequences of them padded to one length."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor


class Vocabulary:
    """Tokens and their numbers; 0, 1 and 2 are padding, begin and end of a sequence.

    >>> vocabulary = Vocabulary("零一二")
    >>> vocabulary.encode("二一"), vocabulary.decode([5, 4, 2, 0])
    ([5, 4], ['二', '一'])

    Args:
        tokens: Different strings, none of which is ``<pad>``, ``<bos>`` or ``<eos>``.

    Raises:
        TypeError: A token is not a str.
        ValueError: A token stands twice, or is a special one.
    """

    pad, bos, eos = 0, 1, 2
    special = ("<pad>", "<bos>", "<eos>")

    def __init__(self, tokens: Iterable[str]) -> None:
        self.tokens = (*self.special, *tokens)
        for token in self.tokens:
            if not isinstance(token, str):
                raise TypeError(f"tokens must be str, got {token!r}. Convert it with str(...).")
        self._index = {token: i for i, token in enumerate(self.tokens)}
        if len(self._index) < len(self.tokens):
            twice = next(t for i, t in enumerate(self.tokens) if self._index[t] != i)
            raise ValueError(
                f"tokens must differ from each other and from {self.special}, got {twice!r} twice."
            )

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.tokens == other.tokens

    def __hash__(self) -> int:
        return hash(self.tokens)

    def __repr__(self) -> str:
        return f"Vocabulary of {len(self)} tokens: {' '.join(self.tokens[:8])}" + (
            " …" if len(self) > 8 else ""
        )

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The number of each token.

        Raises:
            ValueError: A token is not in the vocabulary.
        """
        ids = []
        for position, token in enumerate(tokens):
            if token not in self._index:
                raise ValueError(
                    f"{token!r} at position {position + 1} is not in the vocabulary. "
                    f"Its tokens: {' '.join(self.tokens[3:])}."
                )
            ids.append(self._index[token])
        return ids

    def decode(self, ids: Iterable[int] | Tensor) -> list[str]:
        """The tokens up to the first ``<eos>``, which is left out with ``<bos>`` and ``<pad>``.

        Raises:
            TypeError: A number is not an integer.
            ValueError: A number is none of a token.
        """
        tokens = []
        for i in ids.tolist() if isinstance(ids, Tensor) else ids:
            if not hasattr(i, "__index__"):
                raise TypeError(f"ids must be integers, one sequence at a time, got {i!r}.")
            if not 0 <= i < len(self):
                raise ValueError(f"ids must be from 0 to {len(self) - 1}, got {i}.")
            if i == self.eos:
                break
            if i > self.eos:
                tokens.append(self.tokens[i])
        return tokens


def padded(sequences: list[list[int]]) -> tuple[Tensor, Tensor]:
    """Sequences of token numbers as one tensor, filled up with padding, and their lengths."""
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    longest = int(lengths.max())
    rows = [sequence + [Vocabulary.pad] * (longest - len(sequence)) for sequence in sequences]
    return torch.tensor(rows), lengths
