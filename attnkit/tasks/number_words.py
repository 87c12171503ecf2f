"""Numbers in English words, letter by letter: a language whose entropy is known exactly."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from attnkit import expect
from attnkit.numerals import ONES, SCALES, TEENS, TENS, to_english
from attnkit.tasks.draws import mixed
from attnkit.tasks.vocabulary import Vocabulary, padded

MOST_DIGITS = 6  # every number is looked at once for the exact entropy
THOUSAND = SCALES[1]
_VALUES = {
    **{word: value for value, word in enumerate(ONES) if value},
    **{word: 10 + value for value, word in enumerate(TEENS)},
    **{word: 10 * value for value, word in enumerate(TENS) if word},
}


class TextBatch(NamedTuple):
    """Texts as padded sequences of token numbers (int64), from ``<bos>`` to ``<eos>``."""

    tokens: Tensor  # (batch, T): <bos>, the characters, <eos>, then padding (0)
    lengths: Tensor  # (batch,), <bos> and <eos> included

    def to(self, device: torch.device | str) -> TextBatch:
        """The same batch on another device."""
        return TextBatch(*(tensor.to(device) for tensor in self))


class NumberWords:
    """Numbers written in English words, one character after the other, to be predicted.

    A number is :math:`n = \\lfloor 10^{U} \\rfloor` with U even between 0 and ``digits``: about as
    many of two digits as of six. Words are separated by one space; a text ends with ``<eos>``.

    >>> task = NumberWords()
    >>> task.text(60_105)
    'sixty thousand one hundred and five'
    >>> task.number("sixty thousand one hundred and five"), task.parses("sixty one hundred")
    (60105, False)

    A number and its text determine each other, so a text holds as much as its number does,

    .. math:: H = -\\sum_n p_n \\ln p_n, \\qquad p_n = \\frac{1}{d} \\log_{10} \\frac{n + 1}{n}

    and by the chain rule H is the sum of what the characters hold, each given those before it. No
    model that reads from left to right can have a smaller expected loss per character than

    .. math:: \\text{floor} = \\frac{H}{\\sum_n p_n\\,(\\text{characters of } n + 1)}

    where the 1 is the end sign, which is predicted too. It holds for what was seen in training as
    well: the draws come from the whole language, so that there is no test part.

    >>> round(task.floor, 4)
    0.3053

    Args:
        digits: Most digits of a number, 1 to 6.

    Raises:
        TypeError: ``digits`` is not an integer.
        ValueError: It is not from 1 to 6.

    Cover and Thomas, 2006, chapter 2.
    """

    def __init__(self, digits: int = MOST_DIGITS) -> None:
        self.digits = expect.integer("digits", digits, at_least=1)
        if digits > MOST_DIGITS:
            raise ValueError(
                f"digits must be at most {MOST_DIGITS}, got {digits}: the entropy is summed over "
                "every number."
            )
        words = [*_VALUES, "hundred", THOUSAND, "and", " "]
        self.vocabulary = Vocabulary(sorted(set("".join(words))))

    def __repr__(self) -> str:
        return f"NumberWords(digits={self.digits})"

    def text(self, number: int) -> str:
        """A number in words.

        Raises:
            TypeError: The number is not an integer.
            ValueError: It is below 1 or has too many digits.
        """
        number = expect.integer("number", number, at_least=1)
        if number >= 10**self.digits:
            raise ValueError(f"number must have at most {self.digits} digits, got {number:,}.")
        return " ".join(to_english(number))

    def number(self, text: str) -> int | None:
        """The number that a text writes, letter for letter; None when it writes none."""
        total = group = 0
        for word in text.split(" "):
            if word == THOUSAND:
                total, group = 1000 * group, 0
            elif word == "hundred":
                group *= 100
            else:
                group += _VALUES.get(word, 0)
        total += group
        fits = 1 <= total < 10**self.digits
        return total if fits and self.text(total) == text else None

    def parses(self, text: str) -> bool:
        """Whether a text writes a number of the task."""
        return self.number(text) is not None

    def draw(self, count: int, *, seed: int = 0) -> list[int]:
        """Numbers as the task has them, drawn one by one: some come twice.

        Raises:
            TypeError: The count or the seed is not an integer.
            ValueError: The count is below 1, or the seed below 0.
        """
        count = expect.integer("count", count, at_least=1)
        return self._draw(count, mixed(expect.integer("seed", seed), count))

    def batch(self, numbers: Sequence[int]) -> TextBatch:
        """Numbers as padded sequences of characters.

        Raises:
            TypeError: The numbers are no sequence, or one is not an integer.
            ValueError: There are no numbers, or one is not of the task.
        """
        if not hasattr(numbers, "__len__"):
            got = type(numbers).__name__
            raise TypeError(f"numbers must be a sequence of integers, got {got}. One is [number].")
        if not len(numbers):
            raise ValueError("a batch needs at least one number, got none.")
        v = self.vocabulary
        return TextBatch(*padded([[v.bos, *v.encode(self.text(n)), v.eos] for n in numbers]))

    def training_batch(self, step: int, size: int = 32, *, seed: int = 0) -> TextBatch:
        """The batch of one training step: the same for the same step, size and seed.

        Raises:
            TypeError: An argument is not an integer.
            ValueError: An argument is too small.
        """
        size = expect.integer("size", size, at_least=1)
        step, seed = expect.integer("step", step), expect.integer("seed", seed)
        return self.batch(self._draw(size, mixed(step, seed)))

    @cached_property
    def probabilities(self) -> Tensor:
        """The probability of each number, ``(10**digits - 1,)`` in float64, that of 1 first."""
        numbers = torch.arange(1, 10**self.digits, dtype=torch.float64)
        return torch.log1p(1 / numbers) / (self.digits * torch.log(torch.tensor(10.0).double()))

    @cached_property
    def lengths(self) -> Tensor:
        """Characters of each number, the end sign included, ``(10**digits - 1,)``."""
        # Above a thousand a text is that of the thousands, then that of the rest.
        table = torch.tensor([len(" ".join(to_english(n))) for n in range(2000)])
        table[0] = 0
        below, after = table[:1000], table[1000:] - len("one thousand")
        thousands = torch.where(below > 0, below + len(" " + THOUSAND), 0)
        rows = thousands[:, None] + after
        rows[0] = below
        return rows.flatten()[1 : 10**self.digits] + 1

    @cached_property
    def entropy(self) -> float:
        """What a number holds, in nats."""
        return torch.special.entr(self.probabilities).sum().item()

    @cached_property
    def mean_length(self) -> float:
        """Expected characters of a number, the end sign included."""
        return (self.probabilities * self.lengths).sum().item()

    @property
    def floor(self) -> float:
        """The least expected loss of a model that reads from left to right, in nats a character."""
        return self.entropy / self.mean_length

    @property
    def longest(self) -> int:
        """Characters of the longest number, the end sign included."""
        return int(self.lengths.max())

    def _draw(self, count: int, seed: int) -> list[int]:
        generator = torch.Generator().manual_seed(seed)
        uniform = torch.rand(count, generator=generator, dtype=torch.float64)
        return (10 ** (self.digits * uniform)).long().tolist()
