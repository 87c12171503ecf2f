"""The encoder behind all-MiniLM-L6-v2: a BERT of six layers, and the vector of a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnkit import expect
from attnkit.masks import padding_mask
from attnkit.pretrained.tokens import Tokens, tokenize
from attnkit.transformer import EncoderLayer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from attnkit.shapes import Float, Int

#: Texts that :meth:`MiniLM.embed` takes at a time.
BATCH = 32


class Encoded(NamedTuple):
    """What the encoder makes of a batch; at padding positions the numbers mean nothing."""

    #: The output of the last layer, ``(batch, T, d_model)``.
    hidden: Tensor
    #: ``(layers, batch, heads, T_q, T_k)``, before dropout; None when they were not asked for.
    weights: Tensor | None
    #: The input of each layer, then the output of the last; each ``(batch, T, d_model)``.
    hidden_states: tuple[Tensor, ...]


class MiniLM(nn.Module):
    """The encoder of BERT, in attnkit's modules; :func:`load_minilm` makes one with weights.

    .. math:: x^{(0)} = N(E_{token} + E_{position} + E_{segment\\,0}), \\qquad
              x^{(l+1)} = \\operatorname{EncoderLayer}_l(x^{(l)})

    Its parts are ``token_embedding``, ``position_embedding``, ``segment_embedding``,
    ``embedding_norm`` and ``layers``. Each layer is an :class:`~attnkit.transformer.EncoderLayer`,
    and ``layers[l].attention`` a :class:`~attnkit.attention.MultiHeadAttention`. All sizes are in
    ``settings``.

    Devlin et al., 2019; the model of six layers: Wang et al., 2020; made to compare sentences as
    Reimers and Gurevych, 2019, describe.
    """

    def __init__(self, settings: Mapping[str, Any], tokenizer: Tokenizer) -> None:
        super().__init__()
        self.settings = dict(settings)
        self.tokenizer = tokenizer
        for name in ("vocabulary", "positions", "segments", "d_model", "num_layers"):
            expect.integer(name, settings[name], at_least=1)
        d_model, eps = settings["d_model"], settings["eps"]
        self.dropout = settings["dropout"]
        self.token_embedding = nn.Embedding(settings["vocabulary"], d_model)
        self.position_embedding = nn.Embedding(settings["positions"], d_model)
        self.segment_embedding = nn.Embedding(settings["segments"], d_model)
        self.embedding_norm = nn.LayerNorm(d_model, eps=eps)
        options = {name: settings[name] for name in ("dropout", "activation", "eps")}
        layers = [
            EncoderLayer(d_model, settings["num_heads"], settings["d_hidden"], **options)
            for _ in range(settings["num_layers"])
        ]
        for layer in layers:
            layer.attention.dropout = expect.probability(
                "attention_dropout", settings["attention_dropout"]
            )
        self.layers = nn.ModuleList(layers)

    def tokenize(self, texts: str | Sequence[str]) -> Tokens:
        """Cut texts into the pieces that the model knows; nothing is left out.

        The model has positions for 512 tokens. The sentence model was tuned on texts of at most
        128, and its own library cuts off after 256: of longer ones it has seen nothing like.
        ``[MASK]`` and the like, written in a text, become these tokens.

        Args:
            texts: One text, which becomes a batch of one, or several.

        Returns:
            Ids ``(batch, T)``, lengths, pieces, and the word of each piece. The empty text is
            ``[CLS] [SEP]``.

        Raises:
            TypeError: A text is no string.
            ValueError: There is no text, or one has more tokens than the model has positions.
        """
        return tokenize(self.tokenizer, texts, self.settings["positions"])

    def forward(
        self,
        tokens: Tokens | Int[Tensor, "batch n"],
        lengths: Sequence[int] | Int[Tensor, " batch"] | None = None,
        *,
        need_weights: bool = True,
    ) -> Encoded:
        """Encode a batch; padding cannot change what is encoded of the tokens.

        Args:
            tokens: What :meth:`tokenize` returned, or ids ``(batch, T)``.
            lengths: Number of real tokens of each row of ids; all when left out.
            need_weights: Whether to return the weights. Without them PyTorch's fused kernel gives
                the same output faster.

        Returns:
            The last layer's output ``(batch, T, d_model)``, the weights
            ``(layers, batch, heads, T_q, T_k)`` or None, and the input of every layer.

        Raises:
            TypeError: The ids or lengths are no integers, or lengths come beside Tokens.
            ValueError: Shapes do not fit, there are more tokens than positions, or an id is not in
                the vocabulary.
        """
        ids, mask = self._ids_and_mask(tokens, lengths)
        x = self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[1]]
        x = self.embedding_norm(x + self.segment_embedding.weight[0])
        states, maps = [F.dropout(x, self.dropout, self.training)], []
        for layer in self.layers:
            x, weights = layer(states[-1], mask, need_weights=need_weights)
            states.append(x)
            maps.append(weights)
        return Encoded(x, torch.stack(maps) if need_weights else None, tuple(states))

    def embed(self, texts: str | Sequence[str]) -> Tensor:
        """The vectors of texts: the mean over their tokens' hidden states, of length 1.

        The dot product of two is their cosine similarity. ``[CLS]`` and ``[SEP]`` are in the mean,
        padding is not. No gradients: for these, :func:`pool` what ``forward`` gives.

        Args:
            texts: One text or several.

        Returns:
            Unit vectors ``(n, d_model)``, in the order of the texts; one row for a single text.

        Raises:
            TypeError: A text is no string.
            ValueError: There is no text, or one is too long; see :meth:`tokenize`.
            RuntimeError: The model is in training mode, so that dropout would change the vectors
                from call to call.

        Reimers and Gurevych, 2019.
        """
        if self.training:
            raise RuntimeError(
                "embed was called in training mode: dropout would give other vectors at each call. "
                "Call model.eval() first."
            )
        tokens = self.tokenize(texts)
        order = tokens.lengths.argsort()  # texts of like length together: little padding
        vectors = []
        with torch.no_grad():
            for batch in order.split(BATCH):
                lengths = tokens.lengths[batch]
                ids = tokens.ids[batch, : int(lengths.max())]
                hidden = self(ids, lengths, need_weights=False).hidden
                vectors.append(pool(hidden, lengths))
        return torch.cat(vectors)[order.argsort()]

    def _ids_and_mask(self, tokens: Tokens | Tensor, lengths: Any) -> tuple[Tensor, Tensor | None]:
        """Check ids and lengths; what comes out is on the model's device."""
        if isinstance(tokens, Tokens):
            if lengths is not None:
                raise TypeError("lengths are in the Tokens already: call model(tokens).")
            tokens, lengths = tokens.ids, tokens.lengths
        if not isinstance(tokens, Tensor):
            raise TypeError(
                f"tokens must be Tokens or a tensor of ids, got {type(tokens).__name__}. For "
                "texts: model(model.tokenize(texts))."
            )
        if tokens.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"ids must be int64, got {tokens.dtype}. Convert them: ids.long().")
        if tokens.ndim != 2 or not tokens.numel():
            raise ValueError(
                "ids must have the shape (batch, T) and hold at least one token, got "
                f"{tuple(tokens.shape)}."
                + (" A single row: ids[None]." if tokens.ndim == 1 else "")
            )
        positions, vocabulary = self.settings["positions"], self.settings["vocabulary"]
        if tokens.shape[1] > positions:
            raise ValueError(
                f"there are positions for {positions} tokens, got {tokens.shape[1]}: split the "
                "text."
            )
        least, greatest = (int(bound) for bound in tokens.aminmax())
        if least < 0 or greatest >= vocabulary:
            raise ValueError(
                f"ids must be from 0 to {vocabulary - 1}, the size of the vocabulary less one; got "
                f"{least if least < 0 else greatest}."
            )
        device = self.token_embedding.weight.device
        if lengths is None:
            return tokens.to(device), None
        try:
            mask = padding_mask(lengths, tokens.shape[1])
        except (TypeError, ValueError) as error:
            if getattr(lengths, "ndim", 1) == 1:
                raise
            cure = "An attention mask? Its lengths are mask.sum(-1), with the padding behind."
            raise type(error)(f"{error} {cure}") from None
        if len(mask) != len(tokens):
            raise ValueError(f"there must be {len(tokens)} lengths, one per row, got {len(mask)}.")
        return tokens.to(device), mask.to(device)


def pool(
    hidden: Float[Tensor, "batch n d"], lengths: Sequence[int] | Int[Tensor, " batch"]
) -> Float[Tensor, "batch d"]:
    """The mean over the real tokens, scaled to length 1.

    .. math:: v_b = \\frac{m_b}{\\lVert m_b \\rVert}, \\qquad
              m_b = \\frac{1}{n_b} \\sum_{i < n_b} h_{bi}

    >>> pool(torch.tensor([[[3.0, 0.0], [3.0, 8.0], [99.0, 99.0]]]), lengths=[2])
    tensor([[0.6000, 0.8000]])

    Args:
        hidden: Shape ``(batch, T, d)``.
        lengths: Number of real tokens of each row, at least 1.

    Returns:
        Unit vectors ``(batch, d)``.

    Raises:
        TypeError: ``hidden`` is not floating point, or the lengths are not integers.
        ValueError: Shapes do not fit, or a length is less than 1 or greater than T.
    """
    expect.floats(hidden=hidden)
    if hidden.ndim != 3:
        raise ValueError(f"hidden must have the shape (batch, T, d), got {tuple(hidden.shape)}.")
    real = padding_mask(lengths, hidden.shape[1])[:, 0, 0].to(hidden.device)
    if len(real) != len(hidden):
        raise ValueError(f"there must be {len(hidden)} lengths, one per row, got {len(real)}.")
    count = real.sum(-1, keepdim=True)
    if not count.all():
        raise ValueError("lengths must be at least 1: a mean over no token is undefined.")
    mean = hidden.where(real[..., None], 0.0).sum(-2) / count
    return F.normalize(mean, dim=-1)
