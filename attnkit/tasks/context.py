"""The least loss of a reader who sees only the last few characters."""

from __future__ import annotations

import torch
from torch import Tensor

from attnkit import expect
from attnkit.numerals import to_english
from attnkit.tasks.number_words import NumberWords


def context_floor(task: NumberWords, characters: int) -> float:
    """The least expected loss, in nats a character, given the place and the last few characters.

    .. math:: \\frac{1}{\\bar T} \\sum_t H(c_{t+1} \\mid t, c_t, c_{t-1}, \\dots, c_{t-m+1})

    Exact, over every number of the task. The current character counts, and so does ``<bos>``. With
    m characters enough for everything it is :attr:`NumberWords.floor`. Six digits take half a
    minute and a gigabyte.

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
    tokens, weight, n_tokens = _texts(task), task.probabilities, len(task.vocabulary)
    nats = 0.0
    for now in range(tokens.shape[1] - 1):
        going = tokens[:, now + 1] != task.vocabulary.pad
        tokens, weight = tokens[going], weight[going]  # those that have ended do not come back
        seen = _numbered(tokens[:, max(0, now + 1 - characters) : now + 1], n_tokens)
        both = torch.unique(seen * n_tokens + tokens[:, now + 1], return_inverse=True)[1]
        nats += _entropy(both, weight) - _entropy(seen, weight)
    return nats / task.mean_length


def _texts(task: NumberWords) -> Tensor:
    """Every number as padded token numbers, ``(10**digits - 1, longest + 1)`` in uint8."""
    v = task.vocabulary
    # Above a thousand a text is that of the thousands, then that of the rest.
    texts = ["", *(" ".join(to_english(number)) for number in range(1, 2000))]
    cut = len("one thousand")
    ends = [torch.tensor([*v.encode(text), v.eos], dtype=torch.uint8) for text in texts[:1000]]
    rests = [torch.tensor([*v.encode(t[cut:]), v.eos], dtype=torch.uint8) for t in texts[1000:]]
    rest = torch.nn.utils.rnn.pad_sequence(rests, batch_first=True)
    tokens = torch.zeros(1000, 1000, NumberWords().longest + 1, dtype=torch.uint8)
    tokens[..., 0] = v.bos
    for number, end in enumerate(ends):
        tokens[0, number, 1 : len(end) + 1] = end
    for thousands in range(1, 10 ** max(0, task.digits - 3)):
        head = torch.tensor(v.encode(f"{texts[thousands]} thousand"), dtype=torch.uint8)
        tokens[thousands, :, 1 : len(head) + 1] = head
        tokens[thousands, :, len(head) + 1 : len(head) + 1 + rest.shape[1]] = rest
    return tokens.flatten(0, 1)[1 : 10**task.digits, : task.longest + 1]


def _numbered(contexts: Tensor, n_tokens: int) -> Tensor:
    """A number for each different row, from 0 on without a gap."""
    seen, size = torch.zeros(len(contexts), dtype=torch.int64), 1
    for column in contexts.mT:
        if size > 2**62 // n_tokens:
            seen = torch.unique(seen, return_inverse=True)[1]
            size = int(seen.max()) + 1
        seen, size = seen * n_tokens + column, size * n_tokens
    return torch.unique(seen, return_inverse=True)[1]


def _entropy(event: Tensor, weight: Tensor) -> float:
    """−Σ p ln p over the events, each with the summed weight; the weights need not sum to 1."""
    mass = torch.zeros(int(event.max()) + 1, dtype=weight.dtype).index_add_(0, event, weight)
    return torch.special.entr(mass).sum().item()
