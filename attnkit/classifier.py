"""A classifier of sequences: one vector of a sequence, and one score for each position of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnkit import expect
from attnkit.functional import masked_softmax
from attnkit.seq2seq import embed, expect_ids
from attnkit.tasks import Vocabulary

if TYPE_CHECKING:
    from attnkit.shapes import Float, Int

#: How the states of a sequence become one vector.
POOLINGS = ("attention", "mean")
SETTINGS = ("tokens", "n_classes", "pooling", "d_embedding", "d_hidden", "width")


class ClassifierOutput(NamedTuple):
    """A score for each class, and where it was looked."""

    logits: Tensor  # (batch, n_classes)
    weights: Tensor | None  # (batch, T), each row sums to 1; None when they were not asked for


class SequenceClassifier(nn.Module):
    """Embed the tokens, look at their neighbours, average the positions, read out a class.

    .. math:: h_t = \\operatorname{ReLU}(W\\,[x_{t-r}; \\dots; x_{t+r}] + b), \\qquad
              p = \\sum_t a_t h_t, \\qquad \\text{logits} = U p + c

    where x are embeddings, zero beyond the ends, and the width is 2r + 1. The weights are
    :math:`a = \\operatorname{softmax}_t(v \\cdot h_t)` with ``pooling="attention"``, one vector v
    for every sequence and class, and 1/T with ``"mean"``. Both models have the same parameters but
    for v, and of one seed start from the same numbers.

    The weight is that of a *position*. Where the width is more than 1, h at that position holds its
    neighbours too, so that a large weight does not say which token it is there for.

    >>> model = SequenceClassifier(Vocabulary("abc"), n_classes=2)
    >>> output = model(torch.tensor([[3, 4, 5], [5, 0, 0]]), torch.tensor([3, 1]))
    >>> output.logits.shape, output.weights[1]
    (torch.Size([2, 2]), tensor([1., 0., 0.], grad_fn=<SelectBackward0>))

    Padding is not read: whatever stands behind the length changes nothing. A sequence of length 0
    has weights 0 and the logits c.

    Args:
        vocabulary: Of the tokens.
        n_classes: How many classes, at least 2.
        pooling: "attention" or "mean".
        d_embedding: Size of an embedding.
        d_hidden: Size of the state of a position, and of the pooled vector.
        width: Positions that a state sees, its own in the middle: odd; with 1 its own alone.

    Raises:
        TypeError: A size is not an integer, or the vocabulary no Vocabulary.
        ValueError: A size is too small, the width is even, or the pooling is unknown.

    After Bahdanau et al., 2015, for the weights, and Lin et al., 2017, for pooling by them.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        n_classes: int,
        *,
        pooling: str = "attention",
        d_embedding: int = 32,
        d_hidden: int = 64,
        width: int = 3,
    ) -> None:
        super().__init__()
        if not isinstance(vocabulary, Vocabulary):
            raise TypeError(
                f"vocabulary must be a Vocabulary, got {type(vocabulary).__name__}. "
                "A task has one: task.vocabulary; of tokens: Vocabulary(tokens)."
            )
        if pooling not in POOLINGS:
            raise ValueError(f"pooling must be one of {POOLINGS}, got {pooling!r}.")
        n_classes = expect.integer("n_classes", n_classes, at_least=2)
        d_embedding = expect.integer("d_embedding", d_embedding, at_least=1)
        d_hidden = expect.integer("d_hidden", d_hidden, at_least=1)
        width = expect.integer("width", width, at_least=1)
        if width % 2 == 0:
            raise ValueError(
                f"width must be odd, so that a position has as many neighbours on either side, got "
                f"{width}. Take {width + 1}."
            )
        self.vocabulary = vocabulary
        self.settings: dict[str, Any] = {
            "tokens": list(vocabulary.tokens[len(Vocabulary.special) :]),
            "n_classes": n_classes,
            "pooling": pooling,
            "d_embedding": d_embedding,
            "d_hidden": d_hidden,
            "width": width,
        }
        self.embedding = nn.Embedding(len(vocabulary), d_embedding, padding_idx=Vocabulary.pad)
        self.convolution = nn.Conv1d(d_embedding, d_hidden, width, padding=width // 2)
        self.readout = nn.Linear(d_hidden, n_classes)
        # last, so that all other parameters of a seed are the same whatever the pooling
        self.score_proj = nn.Linear(d_hidden, 1, bias=False) if pooling == "attention" else None

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> SequenceClassifier:
        """A new model with the settings of another one, for :func:`attnkit.checkpoints.load`.

        Raises:
            TypeError: A size is not an integer.
            ValueError: A setting is missing, unknown or out of range.
        """
        if set(settings) != set(SETTINGS):
            raise ValueError(
                f"settings must be {', '.join(SETTINGS)}, got {', '.join(map(str, settings))}."
            )
        options = {name: value for name, value in settings.items() if name != "tokens"}
        return cls(Vocabulary(settings["tokens"]), **options)

    def states(
        self, characters: Int[Tensor, "batch n"], lengths: Int[Tensor, " batch"]
    ) -> Float[Tensor, "batch n d_hidden"]:
        """The states h ``(batch, T, d_hidden)`` that are pooled; zero behind the length.

        Raises:
            TypeError: An argument is not a tensor of int64.
            ValueError: Shapes do not fit, a length is not from 0 to T, or a number is none of the
                vocabulary.
        """
        mask = self._mask(characters, lengths).unsqueeze(-1)
        embedded = embed("characters", self.embedding, characters.where(mask[..., 0], 0))
        if not characters.shape[1]:  # a convolution refuses to have no positions
            return embedded.new_zeros(len(characters), 0, self.settings["d_hidden"])
        hidden = self.convolution(embedded.where(mask, 0.0).mT).mT.relu()
        return hidden.where(mask, 0.0)

    def pool(
        self, states: Float[Tensor, "batch n d_hidden"], mask: Tensor
    ) -> Float[Tensor, "batch n"]:
        """The weights ``(batch, T)`` of the states, zero where the mask ``(batch, T)`` is False."""
        scores = states.new_zeros(states.shape[:-1])
        if self.score_proj is not None:
            scores = self.score_proj(states).squeeze(-1)
        return masked_softmax(scores, mask)

    def forward(
        self,
        characters: Int[Tensor, "batch n"],
        lengths: Int[Tensor, " batch"],
        need_weights: bool = True,
    ) -> ClassifierOutput:
        """Score each class for each sequence.

        Args:
            characters: Token numbers ``(batch, T)``, padded at the end.
            lengths: Numbers of tokens ``(batch,)``, from 0 to T.
            need_weights: Whether to return the weights.

        Returns:
            Logits ``(batch, n_classes)`` and weights ``(batch, T)`` or None.

        Raises:
            TypeError: An argument is not a tensor of int64.
            ValueError: Shapes do not fit, a length is not from 0 to T, or a number is none of the
                vocabulary.
        """
        states = self.states(characters, lengths)
        weights = self.pool(states, self._mask(characters, lengths))
        pooled = (weights.unsqueeze(-2) @ states).squeeze(-2)
        return ClassifierOutput(self.readout(pooled), weights if need_weights else None)

    def loss(self, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Mean cross-entropy, in nats, of a batch (characters, lengths, classes).

        Such as :class:`attnkit.tasks.NameBatch`.
        """
        characters, lengths, classes = batch
        return F.cross_entropy(self(characters, lengths, need_weights=False).logits, classes)

    def extra_repr(self) -> str:
        return f"pooling={self.settings['pooling']!r}"

    @staticmethod
    def _mask(characters: Tensor, lengths: Tensor) -> Tensor:
        """True = a token, False = padding, ``(batch, T)``."""
        expect_ids("characters", characters, 2)
        expect_ids("lengths", lengths, 1)
        expect.size("lengths", lengths, 0, len(characters), "the batch, as in characters")
        if not len(characters):
            raise ValueError("characters must have at least one sequence, got none.")
        low, high, longest = int(lengths.min()), int(lengths.max()), characters.shape[1]
        if low < 0 or high > longest:
            raise ValueError(f"lengths must be from 0 to T = {longest}, got {low} to {high}.")
        places = torch.arange(longest, device=characters.device)
        return places < lengths.to(characters.device).unsqueeze(-1)
