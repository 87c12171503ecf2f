"""An encoder-decoder of two GRUs; its context is one fixed vector or an attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnkit import expect
from attnkit.attention import AdditiveAttention
from attnkit.functional import additive_scores, masked_softmax
from attnkit.tasks import Batch, Vocabulary
from attnkit.translation import (
    LONGEST_TRANSLATION,
    Translation,
    embed,
    exact_match,
    expect_ids,
    expect_source,
    expect_vocabularies,
    shifted_right,
    written,
)

if TYPE_CHECKING:
    from attnkit.shapes import Float, Int

__all__ = [
    "CONTEXTS",
    "AdditiveContext",
    "DotContext",
    "FixedVector",
    "Memory",
    "Seq2Seq",
    "Translation",
    "exact_match",
    "shifted_right",
]

SETTINGS = ("context", "d_embedding", "d_hidden", "source_tokens", "target_tokens")


class Memory(NamedTuple):
    """What the encoder leaves to the decoder."""

    states: Tensor  # (batch, T_s, 2 · d_hidden): forward and backward state at each token
    summary: Tensor  # (batch, 2 · d_hidden): the last state of either direction
    mask: Tensor  # (batch, T_s), True = a token, False = padding


class FixedVector(nn.Module):
    """The context is the encoder's summary, the same at every step."""

    def prepare(self, memory: Memory) -> Tensor:
        """What is computed once for all steps."""
        return memory.summary

    def forward(self, state: Tensor, memory: Memory, prepared: Tensor) -> tuple[Tensor, None]:
        """The context ``(batch, d_memory)``, and no weights."""
        return prepared, None


class AdditiveContext(AdditiveAttention):
    """Additive attention from the decoder's state to the encoder's states.

    The keys are projected once and not at every step; the result is that of
    :class:`~attnkit.attention.AdditiveAttention`.
    """

    def prepare(self, memory: Memory) -> Tensor:
        """The projected keys, ``(batch, T_s, d_hidden)``."""
        return self.key_proj(memory.states)

    def forward(  # type: ignore[override]
        self, state: Tensor, memory: Memory, prepared: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The context ``(batch, d_memory)`` and the weights ``(batch, T_s)``."""
        query = self.query_proj(state).unsqueeze(-2)
        scores = additive_scores(query, prepared, self.score_proj.weight.squeeze(0))
        return _average(scores, memory)


class DotContext(nn.Module):
    """Scaled dot-product attention from the decoder's state to the encoder's states."""

    def __init__(self, d_query: int, d_key: int, d_hidden: int) -> None:
        super().__init__()
        self.query_proj = nn.Linear(d_query, d_hidden, bias=False)
        self.key_proj = nn.Linear(d_key, d_hidden, bias=False)

    def prepare(self, memory: Memory) -> Tensor:
        """The projected keys, ``(batch, T_s, d_hidden)``."""
        return self.key_proj(memory.states)

    def forward(self, state: Tensor, memory: Memory, prepared: Tensor) -> tuple[Tensor, Tensor]:
        """The context ``(batch, d_memory)`` and the weights ``(batch, T_s)``."""
        query = self.query_proj(state).unsqueeze(-2)
        return _average(query @ prepared.mT / query.shape[-1] ** 0.5, memory)


def _average(scores: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
    weights = masked_softmax(scores, memory.mask.unsqueeze(-2))
    return (weights @ memory.states).squeeze(-2), weights.squeeze(-2)


#: Where the context may come from.
CONTEXTS: Mapping[str, Any] = {
    "fixed": lambda d_state, d_memory: FixedVector(),
    "additive": lambda d_state, d_memory: AdditiveContext(d_state, d_memory, d_state),
    "dot": lambda d_state, d_memory: DotContext(d_state, d_memory, d_state),
}


class Seq2Seq(nn.Module):
    """Read a sequence with a bidirectional GRU, write another one with a GRU that gets a context.

    .. math:: s_t = \\operatorname{GRU}(s_{t-1}, [y_{t-1}; c_t]), \\qquad
              p(y_t) = \\operatorname{softmax}(W \\tanh(U [s_t; c_t]))

    With ``context="fixed"`` every :math:`c_t` is the last state of the encoder's two directions;
    with ``"additive"`` and ``"dot"`` it is an average of all states, weighted by attention from
    :math:`s_{t-1}`. Nothing else differs: models of one seed start from the same numbers.

    Args:
        source_vocabulary: Of the sequences that are read.
        target_vocabulary: Of those that are written.
        context: "fixed", "additive" or "dot".
        d_embedding: Size of the embeddings of both vocabularies.
        d_hidden: Size of the decoder's state, and of the encoder's in each direction.

    Raises:
        TypeError: A size is not an integer, or a vocabulary no Vocabulary.
        ValueError: A size is less than 1, or the context is unknown.

    After Cho et al., 2014 (fixed vector), Bahdanau et al., 2015 (additive attention) and, for the
    scaled dot product, Vaswani et al., 2017.
    """

    def __init__(
        self,
        source_vocabulary: Vocabulary,
        target_vocabulary: Vocabulary,
        context: str = "additive",
        *,
        d_embedding: int = 32,
        d_hidden: int = 96,
    ) -> None:
        super().__init__()
        expect_vocabularies(source_vocabulary, target_vocabulary)
        if not isinstance(context, str) or context not in CONTEXTS:
            known = ", ".join(map(repr, CONTEXTS))
            raise ValueError(f"context must be one of {known}, got {context!r}.")
        d_embedding = expect.integer("d_embedding", d_embedding, at_least=1)
        d_hidden = expect.integer("d_hidden", d_hidden, at_least=1)
        self.source_vocabulary, self.target_vocabulary = source_vocabulary, target_vocabulary
        n_source, n_target, pad = len(source_vocabulary), len(target_vocabulary), Vocabulary.pad
        self.settings: dict[str, Any] = {
            "context": context,
            "d_embedding": d_embedding,
            "d_hidden": d_hidden,
            "source_tokens": list(source_vocabulary.tokens[len(Vocabulary.special) :]),
            "target_tokens": list(target_vocabulary.tokens[len(Vocabulary.special) :]),
        }
        self.source_embedding = nn.Embedding(n_source, d_embedding, padding_idx=pad)
        self.target_embedding = nn.Embedding(n_target, d_embedding, padding_idx=pad)
        self.encoder = nn.GRU(d_embedding, d_hidden, bidirectional=True, batch_first=True)
        self.bridge = nn.Linear(2 * d_hidden, d_hidden)
        self.decoder = nn.GRUCell(d_embedding + 2 * d_hidden, d_hidden)
        self.readout = nn.Sequential(
            nn.Linear(3 * d_hidden, d_hidden), nn.Tanh(), nn.Linear(d_hidden, n_target)
        )
        # last, so that all other parameters of a seed are the same whatever the context
        self.context = CONTEXTS[context](d_hidden, 2 * d_hidden)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Seq2Seq:
        """A new model with the settings of another one.

        Raises:
            TypeError: A size is not an integer.
            ValueError: A setting is missing, unknown or out of range.
        """
        if set(settings) != set(SETTINGS):
            raise ValueError(
                f"settings must be {', '.join(SETTINGS)}, got {', '.join(map(str, settings))}."
            )
        sizes = {name: settings[name] for name in ("d_embedding", "d_hidden")}
        source, target = (
            Vocabulary(settings["source_tokens"]),
            Vocabulary(settings["target_tokens"]),
        )
        return cls(source, target, settings["context"], **sizes)

    def encode(
        self, source: Int[Tensor, "batch n_s"], source_lengths: Int[Tensor, " batch"]
    ) -> Memory:
        """Read the source; padding is not read at all.

        Args:
            source: Token numbers ``(batch, T_s)``, padded at the end.
            source_lengths: Lengths ``(batch,)``, at least 1 each.

        Raises:
            TypeError: Source or lengths are not int64.
            ValueError: Their shapes do not fit, a length is below 1 or above T_s, or a number is
                none of the vocabulary.
        """
        expect_source(source, source_lengths)
        embedded = embed("source", self.source_embedding, source)
        packed = pack_padded_sequence(
            embedded, source_lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, last = self.encoder(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        places = torch.arange(source.shape[1], device=source.device)
        summary = torch.cat([last[0], last[1]], dim=-1)
        mask = places < source_lengths.to(source.device).unsqueeze(-1)
        return Memory(states, summary, mask)

    def forward(
        self,
        source: Int[Tensor, "batch n_s"],
        source_lengths: Int[Tensor, " batch"],
        previous: Int[Tensor, "batch n_t"],
    ) -> tuple[Float[Tensor, "batch n_t n_words"], Float[Tensor, "batch n_t n_s"] | None]:
        """Score the next word at every step, given the words before it (teacher forcing).

        Args:
            source: Token numbers ``(batch, T_s)``, padded at the end.
            source_lengths: Lengths ``(batch,)``.
            previous: The target shifted right, ``(batch, T_t)``: ``<bos>``, then all but the last.

        Returns:
            Logits ``(batch, T_t, len(target_vocabulary))`` and weights ``(batch, T_t, T_s)``, None
            for the fixed vector.

        Raises:
            TypeError: An argument is not a tensor of int64.
            ValueError: Shapes do not fit, or a number is none of its vocabulary.
        """
        memory = self.encode(source, source_lengths)
        expect_ids("previous", previous, 2)
        expect.size("previous", previous, 0, len(source), "the batch, as in source")
        if not previous.shape[1]:
            raise ValueError("previous must have at least one step, <bos>, got none.")
        state, prepared = self.start(memory), self.context.prepare(memory)
        steps = []
        for word in embed("previous", self.target_embedding, previous).unbind(1):
            state, context, weights = self._step(word, state, memory, prepared)
            steps.append((torch.cat([state, context], dim=-1), weights))
        logits = self.readout(torch.stack([features for features, _ in steps], dim=1))
        rows = [weights for _, weights in steps if weights is not None]
        return logits, torch.stack(rows, dim=1) if rows else None

    def start(self, memory: Memory) -> Float[Tensor, "batch d_hidden"]:
        """The decoder's first state."""
        return torch.tanh(self.bridge(memory.summary))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean cross-entropy of a target token, in nats; padding is left out."""
        logits, _ = self(batch.source, batch.source_lengths, shifted_right(batch.target))
        return F.cross_entropy(
            logits.flatten(0, 1), batch.target.flatten(), ignore_index=Vocabulary.pad
        )

    @torch.no_grad()
    def greedy(
        self,
        source: Int[Tensor, "batch n_s"],
        source_lengths: Int[Tensor, " batch"],
        max_length: int = LONGEST_TRANSLATION,
    ) -> tuple[Int[Tensor, "batch n_t"], Float[Tensor, "batch n_t n_s"] | None]:
        """Write the likeliest word, or ``<eos>``, at every step, until each sequence has ended.

        Padding and ``<bos>`` are never written, however likely an untrained model finds them.

        Args:
            source: Token numbers ``(batch, T_s)``, padded at the end.
            source_lengths: Lengths ``(batch,)``.
            max_length: Longest translation, ``<eos>`` included.

        Returns:
            Token numbers ``(batch, T_t)``, padding after ``<eos>``, and the weights
            ``(batch, T_t, T_s)`` with zeros there, None for the fixed vector.
        """
        max_length = expect.integer("max_length", max_length, at_least=1)
        memory = self.encode(source, source_lengths)
        state, prepared = self.start(memory), self.context.prepare(memory)
        word = source.new_full((len(source),), Vocabulary.bos)
        going = torch.ones_like(word, dtype=torch.bool)
        words, rows = [], []
        while going.any() and len(words) < max_length:
            state, context, weights = self._step(
                self.target_embedding(word), state, memory, prepared
            )
            logits = self.readout(torch.cat([state, context], dim=-1))
            word = logits[:, Vocabulary.eos :].argmax(-1) + Vocabulary.eos
            word = word.where(going, Vocabulary.pad)
            words.append(word)
            if weights is not None:
                rows.append(weights * going.unsqueeze(-1))
            going = going & (word != Vocabulary.eos)
        return torch.stack(words, dim=1), torch.stack(rows, dim=1) if rows else None

    def translate(self, text: str, max_length: int = LONGEST_TRANSLATION) -> Translation:
        """Translate one Chinese numeral, word by word, each the likeliest.

        Args:
            text: A well-formed numeral; see :func:`attnkit.numerals.from_chinese`.
            max_length: Longest translation, ``<eos>`` included.

        Raises:
            TypeError: The text is not a str.
            ValueError: The text is empty, has a character that is no numeral, or is not well
                formed.
        """
        return written(self, text, max_length)

    def extra_repr(self) -> str:
        return f"context={self.settings['context']!r}"

    def _step(self, word: Tensor, state: Tensor, memory: Memory, prepared: Tensor):
        """One word further: the new state, the context that led to it, and its weights."""
        context, weights = self.context(state, memory, prepared)
        return self.decoder(torch.cat([word, context], dim=-1), state), context, weights
