"""What encoder-decoders of any kind share: translations, what is fed and what is refused."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnkit import expect
from attnkit.numerals import from_chinese, standard_form
from attnkit.tasks import Batch, Vocabulary

if TYPE_CHECKING:
    from attnkit.shapes import Bool, Int

LONGEST_TRANSLATION = 64


class Translation(NamedTuple):
    """A translation with the attention that made it; prints as "source → words"."""

    source: list[str]
    words: list[str]
    weights: Tensor | None  # (len(words), len(source)), each row sums to 1; None without attention
    ended: bool = True  # False when the longest allowed translation was cut off

    def __str__(self) -> str:
        return f"{''.join(self.source)} → {' '.join(self.words)}{'' if self.ended else ' …'}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        words = escape(" ".join(self.words)) + ("" if self.ended else " …")
        return f'<p><span lang="zh-Hans">{escape("".join(self.source))}</span> → {words}</p>'


class Translator(Protocol):
    """An encoder-decoder: :class:`attnkit.seq2seq.Seq2Seq`, or a transformer."""

    source_vocabulary: Vocabulary
    target_vocabulary: Vocabulary

    def greedy(
        self, source: Tensor, source_lengths: Tensor, max_length: int = ...
    ) -> tuple[Tensor, Tensor | None]: ...

    def parameters(self) -> Any: ...


def shifted_right(target: Int[Tensor, "batch n_t"]) -> Int[Tensor, "batch n_t"]:
    """What the decoder is fed: ``<bos>`` and all target tokens but the last.

    >>> shifted_right(torch.tensor([[7, 8, 2]]))
    tensor([[1, 7, 8]])
    """
    return torch.cat([torch.full_like(target[:, :1], Vocabulary.bos), target[:, :-1]], dim=1)


def exact_match(model: Translator, batch: Batch) -> Bool[Tensor, " batch"]:
    """Whether each translation of a batch, ``<eos>`` included, is wholly right; shape (batch,).

    Words are written greedily from the model's own words, not from the right ones.
    """
    width = batch.target.shape[1]
    ids, _ = model.greedy(batch.source, batch.source_lengths, max_length=width)
    return (F.pad(ids, (0, width - ids.shape[1])) == batch.target).all(dim=-1)


def embed(name: str, embedding: nn.Embedding, ids: Tensor) -> Tensor:
    """The embeddings of token numbers, or an error that names the argument and the vocabulary."""
    try:
        return embedding(ids)
    except IndexError:
        raise ValueError(
            f"{name} must have the token numbers of its vocabulary, from 0 to "
            f"{embedding.num_embeddings - 1}, got {int(ids.min())} to {int(ids.max())}."
        ) from None


def expect_ids(name: str, value: Tensor, ndim: int) -> None:
    """Refuse what is not a tensor of token numbers with ``ndim`` axes."""
    if not isinstance(value, Tensor) or value.dtype != torch.int64:
        got = value.dtype if isinstance(value, Tensor) else type(value).__name__
        raise TypeError(
            f"{name} must be a tensor of torch.int64, got {got}. "
            f"Convert it: torch.as_tensor({name}, dtype=torch.int64)."
        )
    if value.ndim != ndim:
        axes = "(batch, T)" if ndim == 2 else "(batch,)"
        raise ValueError(f"{name} must have the shape {axes}, got {tuple(value.shape)}.")


def written(model: Translator, text: str, max_length: int) -> Translation:
    """The translation of one Chinese numeral that ``model.greedy`` writes."""
    characters, source, lengths = read_numeral(model, text)
    ids, weights = model.greedy(source, lengths, max_length)
    words = model.target_vocabulary.decode(ids[0])
    rows = None if weights is None else weights[0, : len(words)].cpu()
    return Translation(characters, words, rows, bool((ids == Vocabulary.eos).any()))


def read_numeral(model: Translator, text: str) -> tuple[list[str], Tensor, Tensor]:
    """The characters of one numeral in its standard form, and what a model is given of them."""
    from_chinese(text)
    characters = list(standard_form(text))
    device = next(iter(model.parameters())).device
    source = torch.tensor([model.source_vocabulary.encode(characters)], device=device)
    return characters, source, torch.tensor([len(characters)])


def expect_vocabularies(source_vocabulary: object, target_vocabulary: object) -> None:
    """Refuse what is no vocabulary."""
    for name, vocabulary in (("source", source_vocabulary), ("target", target_vocabulary)):
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(
                f"{name}_vocabulary must be a Vocabulary, got {type(vocabulary).__name__}. "
                f"A task has one: task.{name}_vocabulary; of tokens: Vocabulary(tokens)."
            )


def expect_source(source: Tensor, source_lengths: Tensor) -> None:
    """Refuse what is no batch of padded sequences with their lengths."""
    expect_ids("source", source, 2)
    expect_ids("source_lengths", source_lengths, 1)
    expect.size("source_lengths", source_lengths, 0, len(source), "the batch, as in source")
    if not len(source):
        raise ValueError("source must have at least one sequence, got none.")
    low, high = int(source_lengths.min()), int(source_lengths.max())
    if low < 1 or high > source.shape[1]:
        raise ValueError(
            f"source_lengths must be from 1 to T_s = {source.shape[1]}, got {low} to {high}."
        )
