"""Random tokens, twice over: what only a look back at the first copy can predict."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from attnkit import expect
from attnkit.tasks.draws import mixed


class RepeatBatch(NamedTuple):
    """Sequences of one period as token numbers (int64): begin, then two equal copies."""

    tokens: Tensor  # (batch, 1 + 2 · period)
    period: int

    def to(self, device: torch.device | str) -> RepeatBatch:
        """The same batch on another device."""
        return RepeatBatch(self.tokens.to(device), self.period)


class RepeatedSequences:
    """Random tokens followed by the same tokens again, each to be predicted from those before.

    A sequence is the begin sign (token 0), then ``period`` tokens, drawn evenly and one by one from
    1 … ``vocabulary``, so that some come twice, then these once more. All sequences of a batch have
    one period; the period of a training batch is drawn evenly from ``periods``, both ends included,
    so that no fixed distance leads back.

    >>> task = RepeatedSequences(vocabulary=9, periods=(3, 5))
    >>> batch = task.batch(2, period=3, seed=1)
    >>> batch.tokens
    tensor([[0, 9, 4, 6, 9, 4, 6],
            [0, 7, 8, 3, 7, 8, 3]])
    >>> task.n_tokens, round(task.floor, 4)  # the begin sign is a token; ½ ln 9
    (10, 1.0986)

    The least loss is known exactly, with V for ``vocabulary`` and n for the number of periods:

    - a token of the first copy: ln V nats, whatever came before it;
    - a token of the second copy: 0, once the reader knows the period, so that ½ ln V is the
      :attr:`floor` of the mean over all 2 · ``period`` predicted tokens;
    - a reader who is not told the period must find it out, and it holds ln n nats
      (:attr:`period_entropy`). So much, less a little of the order of
      :math:`V^{-\\text{fewest}}`, is lost over a sequence besides: about ln(n!)/n of it at the
      first token of the second copy, which comes without a sign, the rest in the first copy, where
      each token might have begun the second.

    Args:
        vocabulary: V, how many different tokens there are besides the begin sign.
        periods: Shortest and longest period of the training batches.

    Raises:
        TypeError: ``vocabulary`` is not an integer, or ``periods`` not a pair of integers.
        ValueError: ``vocabulary`` is below 2, a period below 1, or the pair does not ascend.

    After the random repeated tokens of Olsson et al., 2022.
    """

    #: The token that begins each sequence.
    bos = 0

    def __init__(self, vocabulary: int = 48, periods: tuple[int, int] = (8, 24)) -> None:
        self.vocabulary = expect.integer("vocabulary", vocabulary, at_least=2)
        self.periods = expect.span("periods", periods)

    def __repr__(self) -> str:
        return f"RepeatedSequences(vocabulary={self.vocabulary}, periods={self.periods})"

    @property
    def n_tokens(self) -> int:
        """How many token numbers there are, that of the begin sign included."""
        return self.vocabulary + 1

    @property
    def longest(self) -> int:
        """Tokens of the longest training sequence, the begin sign included."""
        return 1 + 2 * self.periods[1]

    @property
    def token_entropy(self) -> float:
        """The least expected loss on a token of the first copy, ln V nats."""
        return math.log(self.vocabulary)

    @property
    def period_entropy(self) -> float:
        """What the period of a training batch holds, ln n nats."""
        fewest, most = self.periods
        return math.log(most - fewest + 1)

    @property
    def floor(self) -> float:
        """The least expected loss of a reader who knows the period, in nats a token, ½ ln V."""
        return self.token_entropy / 2

    def batch(self, size: int, period: int, *, seed: int = 0) -> RepeatBatch:
        """Sequences of one period, which may be shorter or longer than those of training.

        Raises:
            TypeError: An argument is not an integer.
            ValueError: The size or the period is below 1, or the seed below 0.
        """
        size = expect.integer("size", size, at_least=1)
        period = expect.integer("period", period, at_least=1)
        seed = mixed(mixed(size, period), expect.integer("seed", seed))
        return self._draw(torch.Generator().manual_seed(seed), size, period)

    def training_batch(self, step: int, size: int = 64, *, seed: int = 0) -> RepeatBatch:
        """The batch of one training step: the same for the same step, size and seed.

        Raises:
            TypeError: An argument is not an integer.
            ValueError: An argument is too small.
        """
        size = expect.integer("size", size, at_least=1)
        step, seed = expect.integer("step", step), expect.integer("seed", seed)
        generator = torch.Generator().manual_seed(mixed(step, seed))
        fewest, most = self.periods
        period = int(torch.randint(fewest, most + 1, (), generator=generator))
        return self._draw(generator, size, period)

    def _draw(self, generator: torch.Generator, size: int, period: int) -> RepeatBatch:
        copy = torch.randint(1, self.n_tokens, (size, period), generator=generator)
        begin = torch.full((size, 1), self.bos)
        return RepeatBatch(torch.cat([begin, copy, copy], 1), period)
