"""Chinese numerals and their English words: no number is in both parts, train and test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor

from attnkit import expect
from attnkit.numerals import (
    DIGITS,
    LARGEST,
    LONGEST,
    UNITS,
    WORD_KINDS,
    to_chinese,
    to_english,
    word_sources,
)
from attnkit.tasks.draws import mixed
from attnkit.tasks.vocabulary import Vocabulary, padded

#: Where training numbers come from, and where test numbers do.
SPLITS = ("train", "test")
PATIENCE = 40  # draws of 128 without a new number, after which a part has no more
Span: TypeAlias = tuple[int, int]


class Batch(NamedTuple):
    """Padded sequences of token numbers (int64) with their lengths; 0 is padding."""

    source: Tensor  # (batch, T_s)
    source_lengths: Tensor  # (batch,)
    target: Tensor  # (batch, T_t), each sequence ends with <eos>
    target_lengths: Tensor  # (batch,), <eos> included

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on another device."""
        return Batch(*(tensor.to(device) for tensor in self))


class Pair(NamedTuple):
    """A number, its Chinese numeral, its English words, and where each word comes from."""

    number: int
    source: str
    words: tuple[str, ...]
    sources: tuple[tuple[int, ...], ...]  # indices of characters; () where not determined

    def __str__(self) -> str:
        return f"{self.source} → {' '.join(self.words)}"


class ChineseNumerals:
    """Chinese numerals and their English words: a translation task with exact ground truth.

    Every number belongs to one part, train or test, whatever the range and the seed of a draw: a
    hash of the number decides. A draw first chooses the number of digits, evenly, then the digits,
    all alike; in a sparse draw, some or many of the digits are zero, as in the numbers people use.

    >>> task = ChineseNumerals(digits=(1, 9))
    >>> print(task.pair(105))
    一百零五 → one hundred and five
    >>> task.pair(105).sources
    ((0,), (1,), (), (3,))

    Args:
        digits: Fewest and most digits, 1 to 15.
        sparse: Share of the draws in which each digit but the first is set to zero with a
            probability that is itself drawn, evenly from 0 to 1.
        characters: Fewest and most characters of the numeral, 1 to 29; any when left out. Draws
            outside are thrown away: with ``sparse=1.0`` short numerals of large numbers are found.
        test_share: Share of the numbers that belong to the test part.
        seed: Of the division into train and test.

    Raises:
        TypeError: An argument is not a number, or a range not a pair of integers.
        ValueError: A range is empty or beyond its limits, a share not from 0 to 1, or no number
            of so many digits has a numeral of so many characters.
    """

    def __init__(
        self,
        digits: Span = (1, 9),
        *,
        sparse: float = 0.0,
        characters: Span | None = None,
        test_share: float = 0.2,
        seed: int = 0,
    ) -> None:
        self.digits = expect.span("digits", digits, at_most=len(str(LARGEST)))
        self.sparse = _share("sparse", sparse)
        given = characters is not None
        self.characters = expect.span("characters", characters, at_most=LONGEST) if given else None
        self.test_share = _share("test_share", test_share)
        self.seed = expect.integer("seed", seed)
        if not any(self._fits(n, split) for split in SPLITS for n in self._some()):
            raise ValueError(
                f"found no number of {digits} digits with a numeral of {characters} characters. "
                "Sparse draws (sparse=1.0) find short numerals of large numbers."
            )
        self.source_vocabulary = Vocabulary([*DIGITS, *UNITS[1:], "万", "亿"])
        self.target_vocabulary = Vocabulary(WORD_KINDS)

    def __repr__(self) -> str:
        return (
            f"ChineseNumerals(digits={self.digits}, sparse={self.sparse}, "
            f"characters={self.characters}, test_share={self.test_share}, seed={self.seed})"
        )

    def pair(self, number: int) -> Pair:
        """Numeral, words and sources of a number, from 0 to 10¹⁵ − 1, drawn or not."""
        source, words = to_chinese(number), tuple(to_english(number))
        return Pair(int(number), source, words, tuple(word_sources(number)))

    def is_test(self, number: int) -> bool:
        """Whether a number belongs to the test part."""
        number = expect.integer("number", number)
        return mixed(number, self.seed) < self.test_share * 2**64

    def numbers(self, count: int, split: str = "test", *, seed: int = 0) -> list[int]:
        """Draw different numbers of one part.

        There are fewer than ``count`` where 5,120 draws in a row bring nothing new: the part has no
        more, or so few that they are not found.

        Args:
            count: How many.
            split: "train" or "test".
            seed: Of the draw.

        Raises:
            TypeError: The count or the seed is not an integer.
            ValueError: The count is below 1, the seed below 0, or the split unknown.
        """
        count = expect.integer("count", count, at_least=1)
        if split not in SPLITS:
            raise ValueError(f"split must be one of {SPLITS}, got {split!r}.")
        generator = torch.Generator().manual_seed(mixed(expect.integer("seed", seed), count))
        found: dict[int, None] = {}
        fruitless = 0
        while len(found) < count and fruitless < PATIENCE:
            before = len(found)
            found.update((n, None) for n in self._draw(generator) if self._fits(n, split))
            fruitless = fruitless + 1 if len(found) == before else 0
        return list(found)[:count]

    def batch(self, numbers: Sequence[int]) -> Batch:
        """Numbers as padded source and target sequences.

        Raises:
            TypeError: The numbers are no sequence, or one is not an integer.
            ValueError: There are no numbers, or one is not from 0 to 10¹⁵ − 1.
        """
        if not hasattr(numbers, "__len__"):
            got = type(numbers).__name__
            raise TypeError(f"numbers must be a sequence of integers, got {got}. One is [number].")
        if not len(numbers):
            raise ValueError("a batch needs at least one number, got none.")
        eos = self.target_vocabulary.eos
        sources = [self.source_vocabulary.encode(to_chinese(n)) for n in numbers]
        targets = [[*self.target_vocabulary.encode(to_english(n)), eos] for n in numbers]
        return Batch(*padded(sources), *padded(targets))

    def training_batch(self, step: int, size: int = 64, *, seed: int = 0) -> Batch:
        """The batch of one training step: the same for the same step, size and seed.

        Raises:
            TypeError: An argument is not an integer.
            ValueError: An argument is too small, or the training part has no numbers.
        """
        size = expect.integer("size", size, at_least=1)
        step, seed = expect.integer("step", step), expect.integer("seed", seed)
        generator = torch.Generator().manual_seed(mixed(step, seed))
        found: list[int] = []
        for _ in range(PATIENCE * size):
            found += [n for n in self._draw(generator) if self._fits(n, "train")]
            if len(found) >= size:
                return self.batch(found[:size])
        raise ValueError(f"no training numbers found in {self}.")

    def _some(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(0)
        for _ in range(PATIENCE):
            yield from self._draw(generator)

    def _fits(self, number: int, split: str) -> bool:
        if self.is_test(number) != (split == "test"):
            return False
        if self.characters is None:
            return True
        fewest, most = self.characters
        return fewest <= len(to_chinese(number)) <= most

    def _draw(self, generator: torch.Generator) -> list[int]:
        """128 numbers: the number of digits evenly, then the digits."""
        fewest, most = self.digits
        count = torch.randint(fewest, most + 1, (128, 1), generator=generator)
        places = torch.arange(most)
        digits = torch.randint(0, 10, (128, most), generator=generator)
        if self.sparse:
            zeros = torch.rand(128, 1, generator=generator)
            zeros = zeros * (torch.rand(128, 1, generator=generator) < self.sparse)
            digits = digits * (torch.rand(128, most, generator=generator) >= zeros)
        first = torch.randint(1, 10, (128, 1), generator=generator)
        digits = torch.where(places == count - 1, first, digits) * (places < count)
        return (digits * 10**places).sum(-1).tolist()


def _share(name: str, value: float) -> float:
    share = expect.number(name, value)
    if not 0 <= share <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {share}.")
    return share
