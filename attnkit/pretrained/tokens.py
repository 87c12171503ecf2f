"""Texts as the numbers that the model was trained on, whole: nothing is cut off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from attnkit.masks import padding_mask

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PAD, CLS, SEP = "[PAD]", "[CLS]", "[SEP]"


class Tokens(NamedTuple):
    """A batch of texts in pieces: ``[CLS]``, the pieces, ``[SEP]``, then padding."""

    #: Numbers of the pieces, ``(batch, T)``, int64; the padding holds that of ``[PAD]``.
    ids: Tensor
    #: How many of them are no padding, ``(batch,)``, int64.
    lengths: Tensor
    #: The pieces of each text, without padding; "##" marks one that goes on within a word.
    pieces: tuple[tuple[str, ...], ...]
    #: The number of the word that each piece belongs to, None for ``[CLS]`` and ``[SEP]``.
    #: A punctuation mark is a word of its own.
    words: tuple[tuple[int | None, ...], ...]

    @property
    def mask(self) -> Tensor:
        """The padding mask, ``(batch, 1, 1, T)``, True = may be attended to."""
        return padding_mask(self.lengths, self.ids.shape[1])


def tokenize(tokenizer: Tokenizer, texts: str | Sequence[str], longest: int) -> Tokens:
    """Cut texts into pieces; one that has more than ``longest`` is refused."""
    texts = _texts(texts)
    encodings = []
    for number, text in enumerate(texts):
        try:  # one by one: encode_batch would start threads, which warn when a process is forked
            encoding = tokenizer.encode(text)
        except (TypeError, UnicodeEncodeError):
            raise ValueError(
                f"text {number} holds half a character (a lone surrogate) and cannot be encoded: "
                'text.encode("utf-8", "replace").decode() puts "?" in its place.'
            ) from None
        if len(encoding.ids) > longest:
            raise ValueError(
                f"text {number} has {len(encoding.ids)} tokens, {CLS} and {SEP} included; the "
                f"model has positions for {longest}. Split it, into sentences for instance: "
                "nothing is cut off here without being asked for."
            )
        encodings.append(encoding)
    lengths = torch.tensor([len(encoding.ids) for encoding in encodings])
    rows = [torch.tensor(encoding.ids) for encoding in encodings]
    return Tokens(
        pad_sequence(rows, batch_first=True, padding_value=tokenizer.token_to_id(PAD) or 0),
        lengths,
        tuple(tuple(encoding.tokens) for encoding in encodings),
        tuple(tuple(encoding.word_ids) for encoding in encodings),
    )


def _texts(texts: object) -> list[str]:
    if isinstance(texts, str):
        return [texts]
    strange = isinstance(texts, (bytes, Tensor, Tokens, Mapping, Set))
    if strange or not hasattr(texts, "__iter__"):
        cure = " Decode it: texts.decode()." if isinstance(texts, bytes) else ""
        if isinstance(texts, Tokens):
            cure = " Tokens go into the model: pool(model(tokens).hidden, tokens.lengths)."
        raise TypeError(
            "texts must be a string or several strings in their order, got "
            f"{type(texts).__name__}.{cure}"
        )
    listed = list(texts)  # type: ignore[call-overload]
    if not listed:
        raise ValueError("texts must hold at least one string, got none.")
    for number, text in enumerate(listed):
        if not isinstance(text, str):
            raise TypeError(
                f"texts must be strings, but text {number} is {type(text).__name__}: {text!r:.40}."
            )
    return listed
