"""The least loss of a reader who sees only the last few characters."""

from __future__ import annotations

import torch
from torch import Tensor

from attnkit import expect
from attnkit.tasks.number_words import NumberWords


def context_floor(task: NumberWords, characters: int) -> float:
    """The least expected loss, in nats a character, given the place and the last few characters.

    .. math:: \\frac{1}{\\bar T} \\sum_t H(c_{t+1} \\mid t, c_t, c_{t-1}, \\dots, c_{t-m+1})

    Exact, over every number of the task. The current character counts, and so does ``<bos>``. With
    m characters enough for everything it is :attr:`NumberWords.floor`. Six digits and m = 15 take
    minutes and about a gigabyte.

    >>> task = NumberWords(digits=2)
    >>> [round(context_floor(task, m), 3) for m in (1, 2, 9)], round(task.floor, 3)
    ([0.814, 0.536, 0.518], 0.518)

    Args:
        task: Whose numbers.
        characters: m, how many the reader sees; at least 1.

    Raises:
        TypeError: ``characters`` is not an integer.
        ValueError: It is below 1.
    """
    characters = expect.integer("characters", characters, at_least=1)
    tokens, weight = _texts(task), task.probabilities
    nats = 0.0
    for now in range(tokens.shape[1] - 1):
        going = tokens[:, now + 1] != task.vocabulary.pad
        tokens, weight = tokens[going], weight[going]  # those that have ended do not come back
        seen = torch.zeros(len(tokens), dtype=torch.int64)
        for place in range(max(0, now + 1 - characters), now + 1):
            seen = _numbered(seen * len(task.vocabulary) + tokens[:, place])
        both = _numbered(seen * len(task.vocabulary) + tokens[:, now + 1])
        nats += _entropy(both, weight) - _entropy(seen, weight)
    return nats / task.mean_length


def _texts(task: NumberWords) -> Tensor:
    """Every number as padded token numbers, ``(10**digits - 1, longest + 1)`` in uint8."""
    vocabulary = task.vocabulary
    tokens = torch.zeros(len(task.probabilities), task.longest + 1, dtype=torch.uint8)
    for row in range(len(tokens)):
        text = [vocabulary.bos, *vocabulary.encode(task.text(row + 1)), vocabulary.eos]
        tokens[row, : len(text)] = torch.tensor(text, dtype=torch.uint8)
    return tokens


def _numbered(contexts: Tensor) -> Tensor:
    """The same contexts with small numbers, so that no product overflows."""
    return torch.unique(contexts, return_inverse=True)[1]


def _entropy(event: Tensor, weight: Tensor) -> float:
    """−Σ p ln p over the events, each with the summed weight; the weights need not sum to 1."""
    mass = torch.zeros(int(event.max()) + 1, dtype=weight.dtype).index_add_(0, event, weight)
    return torch.special.entr(mass).sum().item()
