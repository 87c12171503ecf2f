"""An encoder-decoder of transformer layers, with the interface of the one of GRUs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnkit import expect
from attnkit.masks import causal_mask, padding_mask
from attnkit.positional import SinusoidalEncoding
from attnkit.tasks import Batch, Vocabulary
from attnkit.transformer.decoder import DecoderCache, DecoderLayer
from attnkit.transformer.encoder import EncoderLayer
from attnkit.translation import (
    LONGEST_TRANSLATION,
    Translation,
    embed,
    expect_ids,
    expect_source,
    expect_vocabularies,
    read_numeral,
    shifted_right,
    written,
)

if TYPE_CHECKING:
    from attnkit.shapes import Float, Int

SIZES = ("d_model", "num_heads", "num_layers", "d_hidden", "dropout", "norm_first", "positions")
POSITIONS = ("sinusoidal", "none")


class TransformerMaps(NamedTuple):
    """The weights of all layers and heads, by kind; each a tuple over the layers."""

    #: Of the encoder's self-attention, ``(batch, heads, T_s, T_s)`` each.
    encoder: tuple[Tensor, ...]
    #: Of the decoder's self-attention, ``(batch, heads, T_t, T_t)`` each; query t writes word t.
    decoder: tuple[Tensor, ...]
    #: Of the decoder's attention to the encoder, ``(batch, heads, T_t, T_s)`` each.
    cross: tuple[Tensor, ...]


class TranslationMaps(NamedTuple):
    """A translation with the maps of all its layers and heads."""

    source: list[str]
    words: list[str]
    #: The batch is one, ``(1, heads, len(words), …)``.
    maps: TransformerMaps

    @property
    def fed(self) -> list[str]:
        """What the decoder was given at each step, ``<bos>`` and then the words but the last.

        It labels the keys of ``maps.decoder``. The decoder, given ``fed[t]``, writes ``words[t]``.
        """
        return ["<bos>", *self.words][: len(self.words)]


class TransformerMemory(NamedTuple):
    """What the encoder leaves to the decoder."""

    #: ``(batch, T_s, d_model)``.
    states: Tensor
    #: ``(batch, 1, 1, T_s)``, True = a token, False = padding.
    mask: Tensor
    #: A map for each layer; None when they were not asked for.
    maps: tuple[Tensor, ...] | None


class Transformer(nn.Module):
    """Read a sequence with encoder layers, write another one with decoder layers.

    .. math:: x_t = \\sqrt{d_{model}}\\, E_{y_t} + P_t, \\qquad
              p(y_{t+1}) = \\operatorname{softmax}(W\\, \\operatorname{Decoder}(x_{\\le t}, m))

    where :math:`m` is what the encoder layers make of the source. Under the causal mask all words
    of a translation are trained at once; writing goes word by word, with the keys and values of
    earlier steps kept. The interface is that of :class:`attnkit.seq2seq.Seq2Seq`: ``loss``,
    ``greedy``, ``translate`` and ``settings`` mean the same, so that both are trained, compared and
    saved by the same lines.

    Embeddings start from a normal distribution with variance 1/d_model, so that √d_model times
    they have the size of the sines and cosines that are added. With ``norm_first`` encoder and
    decoder end with a layer normalisation, ``encoder_norm`` and ``decoder_norm``. Source padding is
    seen by nothing.

    Args:
        source_vocabulary: Of the sequences that are read.
        target_vocabulary: Of those that are written.
        d_model: Size of the vectors at each position; even.
        num_heads: Number of heads of every attention; divides ``d_model``.
        num_layers: Number of layers of the encoder, and of the decoder.
        d_hidden: Size between the linear maps of the feed-forward networks.
        dropout: Share set to zero in training: as in the layers, and of embeddings with positions.
        norm_first: Whether the layers normalise before their blocks and not after the sums.
        positions: "sinusoidal", or "none" to leave them out.

    Raises:
        TypeError: A size is not an integer, dropout not a number, or a vocabulary no Vocabulary.
        ValueError: A size is out of range, or there are no such positions.

    Vaswani et al., 2017, section 3.
    """

    def __init__(
        self,
        source_vocabulary: Vocabulary,
        target_vocabulary: Vocabulary,
        *,
        d_model: int = 64,
        num_heads: int = 4,
        num_layers: int = 2,
        d_hidden: int = 128,
        dropout: float = 0.0,
        norm_first: bool = True,
        positions: str = "sinusoidal",
    ) -> None:
        super().__init__()
        expect_vocabularies(source_vocabulary, target_vocabulary)
        num_layers = expect.integer("num_layers", num_layers, at_least=1)
        if not isinstance(positions, str) or positions not in POSITIONS:
            known = ", ".join(map(repr, POSITIONS))
            raise ValueError(f"positions must be one of {known}, got {positions!r}.")
        options: dict[str, Any] = {"dropout": dropout, "norm_first": norm_first}
        sizes = d_model, num_heads, d_hidden
        encoder = [EncoderLayer(*sizes, **options) for _ in range(num_layers)]
        decoder = [DecoderLayer(*sizes, **options) for _ in range(num_layers)]
        self.encoder, self.decoder = nn.ModuleList(encoder), nn.ModuleList(decoder)
        self.source_vocabulary, self.target_vocabulary = source_vocabulary, target_vocabulary
        self.d_model = d_model = encoder[0].attention.d_model
        self.dropout = encoder[0].dropout
        self.settings: dict[str, Any] = {
            "d_model": d_model,
            "num_heads": encoder[0].attention.num_heads,
            "num_layers": num_layers,
            "d_hidden": encoder[0].up_proj.out_features,
            "dropout": self.dropout,
            "norm_first": bool(norm_first),
            "positions": positions,
            "source_tokens": list(source_vocabulary.tokens[len(Vocabulary.special) :]),
            "target_tokens": list(target_vocabulary.tokens[len(Vocabulary.special) :]),
        }
        self.source_embedding = _embedding(source_vocabulary, d_model)
        self.target_embedding = _embedding(target_vocabulary, d_model)
        self.positions = SinusoidalEncoding(d_model) if positions == "sinusoidal" else None
        self.encoder_norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()
        self.decoder_norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()
        self.readout = nn.Linear(d_model, len(target_vocabulary))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Transformer:
        """A new model with the settings of another one.

        Raises:
            TypeError: A size is not an integer.
            ValueError: A setting is missing, unknown or out of range.
        """
        known = (*SIZES, "source_tokens", "target_tokens")
        if set(settings) != set(known):
            raise ValueError(
                f"settings must be {', '.join(known)}, got {', '.join(map(str, settings))}."
            )
        source, target = (Vocabulary(settings[f"{name}_tokens"]) for name in ("source", "target"))
        return cls(source, target, **{name: settings[name] for name in SIZES})

    def encode(
        self,
        source: Int[Tensor, "batch n_s"],
        source_lengths: Int[Tensor, " batch"],
        *,
        need_weights: bool = True,
    ) -> TransformerMemory:
        """Read the source, all tokens at once.

        Args:
            source: Token numbers ``(batch, T_s)``, padded at the end.
            source_lengths: Lengths ``(batch,)``, at least 1 each.
            need_weights: Whether to return the maps.

        Raises:
            TypeError: Source or lengths are not int64.
            ValueError: Their shapes do not fit, a length is below 1 or above T_s, or a number is
                none of the vocabulary.
        """
        expect_source(source, source_lengths)
        mask = padding_mask(source_lengths.to(source.device), source.shape[1])
        x = self._embedded("source", self.source_embedding, source)
        maps = []
        for layer in self.encoder:
            x, weights = layer(x, mask, need_weights=need_weights)
            maps.append(weights)
        return TransformerMemory(self.encoder_norm(x), mask, tuple(maps) if need_weights else None)

    def decode(
        self,
        previous: Int[Tensor, "batch n_t"],
        memory: TransformerMemory,
        *,
        caches: Sequence[DecoderCache] | None = None,
        need_weights: bool = True,
    ) -> tuple[
        Float[Tensor, "batch n_t n_words"], tuple[Tensor, ...] | None, tuple[Tensor, ...] | None
    ]:
        """Score the next word at each position of ``previous``, which sees none after its own.

        Args:
            previous: Token numbers ``(batch, T_t)``, from ``<bos>`` on; with ``caches``, those that
                continue what was given with them before.
            memory: From :meth:`encode`.
            caches: From :meth:`new_caches`, for one batch.
            need_weights: Whether to return the maps.

        Returns:
            Logits ``(batch, T_t, len(target_vocabulary))``, and the maps of self- and of
            cross-attention, a tuple over the layers each, or None. With caches the former are
            ``(batch, heads, T_t, T_all)``.

        Raises:
            TypeError: ``previous`` is not a tensor of int64, the memory or the caches of another
                kind.
            ValueError: Shapes do not fit, or a number is none of the vocabulary.
        """
        if not isinstance(memory, TransformerMemory):
            raise TypeError(
                f"memory must be what model.encode(source, source_lengths) returns, got "
                f"{type(memory).__name__}."
            )
        expect_ids("previous", previous, 2)
        expect.size("previous", previous, 0, len(memory.states), "the batch, as in source")
        if not previous.shape[1]:
            raise ValueError("previous must have at least one step, <bos>, got none.")
        if caches is not None:
            _expect_caches(caches, len(self.decoder))
        before = 0 if caches is None else len(caches[0].self_attention)
        n_new = previous.shape[1]
        mask = causal_mask(n_new, before + n_new).to(previous.device)
        x = self._embedded("previous", self.target_embedding, previous, before)
        own, cross = [], []
        for layer, cache in zip(self.decoder, caches or [None] * len(self.decoder), strict=True):
            x, self_weights, cross_weights = layer(
                x, memory.states, mask, memory.mask, need_weights=need_weights, cache=cache
            )
            own.append(self_weights)
            cross.append(cross_weights)
        logits = self.readout(self.decoder_norm(x))
        return (logits, tuple(own), tuple(cross)) if need_weights else (logits, None, None)

    def forward(
        self,
        source: Int[Tensor, "batch n_s"],
        source_lengths: Int[Tensor, " batch"],
        previous: Int[Tensor, "batch n_t"],
        *,
        need_weights: bool = True,
    ) -> tuple[Float[Tensor, "batch n_t n_words"], TransformerMaps | None]:
        """Score the next word at every step, given the words before it (teacher forcing).

        Args:
            source: Token numbers ``(batch, T_s)``, padded at the end.
            source_lengths: Lengths ``(batch,)``.
            previous: The target shifted right, ``(batch, T_t)``: ``<bos>``, then all but the last.
            need_weights: Whether to return the maps; without them PyTorch's fused kernel is used.

        Returns:
            Logits ``(batch, T_t, len(target_vocabulary))`` and the maps, or None.

        Raises:
            TypeError: An argument is not a tensor of int64.
            ValueError: Shapes do not fit, or a number is none of its vocabulary.
        """
        memory = self.encode(source, source_lengths, need_weights=need_weights)
        logits, own, cross = self.decode(previous, memory, need_weights=need_weights)
        if memory.maps is None or own is None or cross is None:
            return logits, None
        return logits, TransformerMaps(memory.maps, own, cross)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean cross-entropy of a target token, in nats; padding is left out."""
        previous = shifted_right(batch.target)
        logits, _ = self(batch.source, batch.source_lengths, previous, need_weights=False)
        return F.cross_entropy(
            logits.flatten(0, 1), batch.target.flatten(), ignore_index=Vocabulary.pad
        )

    @torch.no_grad()
    def greedy(
        self,
        source: Int[Tensor, "batch n_s"],
        source_lengths: Int[Tensor, " batch"],
        max_length: int = LONGEST_TRANSLATION,
        *,
        cache: bool = True,
    ) -> tuple[Int[Tensor, "batch n_t"], Float[Tensor, "batch n_t n_s"]]:
        """Write the likeliest word, or ``<eos>``, at every step, until each sequence has ended.

        Padding and ``<bos>`` are never written, however likely an untrained model finds them.

        Args:
            source: Token numbers ``(batch, T_s)``, padded at the end.
            source_lengths: Lengths ``(batch,)``.
            max_length: Longest translation, ``<eos>`` included.
            cache: Whether to keep the keys and values of earlier steps; if not, each step computes
                all words before it again. The words and weights are the same, up to rounding.

        Returns:
            Token numbers ``(batch, T_t)``, padding after ``<eos>``, and weights ``(batch, T_t,
            T_s)`` with zeros there: of the cross-attention of the *last* layer, the mean of the
            heads. All layers and heads: :meth:`maps`.
        """
        max_length = expect.integer("max_length", max_length, at_least=1)
        memory = self.encode(source, source_lengths, need_weights=False)
        caches = self.new_caches() if cache else None
        words = source.new_full((len(source), 1), Vocabulary.bos)
        going = torch.ones_like(words, dtype=torch.bool)
        rows = []
        while going.any() and len(rows) < max_length:
            fed = words[:, -1:] if cache else words
            logits, _, cross = self.decode(fed, memory, caches=caches)
            assert cross is not None
            word = logits[:, -1:, Vocabulary.eos :].argmax(-1) + Vocabulary.eos
            words = torch.cat([words, word.where(going, Vocabulary.pad)], dim=1)
            rows.append(cross[-1].mean(1)[:, -1:] * going.unsqueeze(-1))
            going = going & (word != Vocabulary.eos)
        return words[:, 1:], torch.cat(rows, dim=1)

    def new_caches(self) -> list[DecoderCache]:
        """Empty caches for one batch, one for each decoder layer."""
        return [layer.new_cache() for layer in self.decoder]  # type: ignore[operator]

    def translate(self, text: str, max_length: int = LONGEST_TRANSLATION) -> Translation:
        """Translate one Chinese numeral, word by word, each the likeliest.

        Args:
            text: A well-formed numeral; see :func:`attnkit.numerals.from_chinese`.
            max_length: Longest translation, ``<eos>`` included.

        Returns:
            The translation; its ``weights`` are those of :meth:`greedy`.

        Raises:
            TypeError: The text is not a str.
            ValueError: The text is empty, has a character that is no numeral, or is not well
                formed.
        """
        return written(self, text, max_length)

    @torch.no_grad()
    def maps(self, text: str, max_length: int = LONGEST_TRANSLATION) -> TranslationMaps:
        """Translate one Chinese numeral and return the maps of all layers and heads.

        Args:
            text: A well-formed numeral; see :func:`attnkit.numerals.from_chinese`.
            max_length: Longest translation, ``<eos>`` included.

        Returns:
            The source's characters, the words, and the maps, in which the step that writes
            ``<eos>`` is left out.

        Raises:
            TypeError: The text is not a str.
            ValueError: The text is empty, has a character that is no numeral, or is not well
                formed.
        """
        characters, source, lengths = read_numeral(self, text)
        ids, _ = self.greedy(source, lengths, max_length)
        words = self.target_vocabulary.decode(ids[0])
        _, maps = self(source, lengths, shifted_right(ids))
        assert maps is not None
        n = len(words)
        decoder = tuple(weights[..., :n, :n] for weights in maps.decoder)
        cross = tuple(weights[..., :n, :] for weights in maps.cross)
        return TranslationMaps(characters, words, TransformerMaps(maps.encoder, decoder, cross))

    def extra_repr(self) -> str:
        return f"positions={self.settings['positions']!r}, dropout={self.dropout}"

    def _embedded(self, name: str, embedding: nn.Embedding, ids: Tensor, first: int = 0) -> Tensor:
        """Embeddings, √d_model times, and their positions, the first of which is ``first``."""
        x = embed(name, embedding, ids) * math.sqrt(self.d_model)
        if self.positions is not None:
            zeros = x.new_zeros(first + ids.shape[1], self.d_model)
            x = x + self.positions(zeros)[first:]
        return F.dropout(x, self.dropout, self.training)


def _embedding(vocabulary: Vocabulary, d_model: int) -> nn.Embedding:
    embedding = nn.Embedding(len(vocabulary), d_model, padding_idx=Vocabulary.pad)
    with torch.no_grad():
        embedding.weight.normal_(0.0, d_model**-0.5)
        embedding.weight[Vocabulary.pad] = 0.0
    return embedding


def _expect_caches(caches: object, n_layers: int) -> None:
    if not isinstance(caches, list | tuple) or isinstance(caches, DecoderCache):
        raise TypeError(
            f"caches must hold a DecoderCache for each decoder layer, got {type(caches).__name__}. "
            "Make them: model.new_caches()."
        )
    if len(caches) != n_layers or not all(isinstance(cache, DecoderCache) for cache in caches):
        kinds = ", ".join(type(cache).__name__ for cache in caches) or "none"
        raise ValueError(
            f"caches must hold a DecoderCache for each of the {n_layers} decoder layers, got "
            f"{kinds}. Make them: model.new_caches()."
        )
