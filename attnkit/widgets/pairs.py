"""What a translation must be to be shown: checked here, and packed for the browser."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import torch

from attnkit import numerals

LONGEST = 64  # characters or words: beyond that neither tiles nor a map can be read
ROW_SUM = 0.01  # weights in half precision sum to 1 within this


class Pair(NamedTuple):
    """A translation that has been checked."""

    source: tuple[str, ...]
    words: tuple[str, ...]
    codes: torch.Tensor | None  # (words, source) uint8, see `encode`

    def weights(self) -> torch.Tensor:
        """(words, source) float64: the weights as the page shows them."""
        if self.codes is None:
            raise ValueError("this translation has no weights.")
        return decode(self.codes)


def tokens(name: str, value: Any, *, at_least: int = 1) -> tuple[str, ...]:
    """A list of short texts; a str is taken apart into its characters only where asked for."""
    items = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(items, str) or not isinstance(items, Sequence):
        refuse(TypeError, name, "a list of str", value, "Split a text into tokens first.")
    for position, item in enumerate(items):
        if not isinstance(item, str):
            cure = f"Item {position + 1} is {item!r}: convert it with str(...)."
            refuse(TypeError, name, "a list of str", value, cure)
    if not at_least <= len(items) <= LONGEST:
        expected = f"{at_least} to {LONGEST} items"
        refuse(ValueError, name, expected, len(items), "Leave out what is empty or longer.")
    return tuple(items)


def weight_table(name: str, value: Any, words: Sequence[str], n_source: int) -> torch.Tensor:
    """(words, source) float64 on the CPU: finite, not negative, each row summing to 1."""
    expected = f"{len(words)} rows (words) of {n_source} weights (characters)"
    try:
        table = torch.as_tensor(value).detach().to("cpu", torch.float64)
    except (TypeError, ValueError, RuntimeError):
        refuse(TypeError, name, expected, value, "Pass a tensor, an array or a list of rows.")
    if table.numel() == 0 and not words:
        return table.new_zeros(0, n_source)
    shape = tuple(table.shape)
    if shape != (len(words), n_source):
        cure = "Leave out padding and <eos>, and the axis of the batch."
        if shape == (n_source, len(words)):
            cure = "It has the words last: weights.mT."
        refuse(ValueError, name, expected, f"the shape {shape}", cure)
    if not table.isfinite().all():
        row = int((~table.isfinite()).any(-1).nonzero()[0])
        cure = f'Row {row + 1} ("{words[row]}") has a nan or an infinity: mask padding first.'
        refuse(ValueError, name, "finite weights", float(table[row].sum()), cure)
    off = (table.sum(-1) - 1).abs() > ROW_SUM
    if bool((table < 0).any()) or bool(off.any()):
        row = int(((table < 0).any(-1) | off).nonzero()[0])
        sizes = f"from {table[row].min():.3g}, sum {table[row].sum():.3g}"
        got = f'row {row + 1} ("{words[row]}") {sizes}'
        cure = "These look like scores, or weights after dropout: pass the softmax of the scores."
        refuse(ValueError, name, "rows of weights from 0 that sum to 1", got, cure)
    return table


def pair(name: str, value: Any, *, weights: str = "needed", at_least: int = 1) -> Pair:
    """Check anything with source, words and weights, or a tuple of the three.

    `weights` is "needed", or "optional" where None is allowed.
    """
    if all(hasattr(value, part) for part in ("source", "words", "weights")):
        parts = (value.source, value.words, value.weights)
    elif isinstance(value, tuple) and len(value) == 3:
        parts = value
    else:
        expected = "a translation with .source, .words and .weights, or a tuple of the three"
        refuse(TypeError, name, expected, value, "model.translate(text) gives one.")
    source = tokens(f"{name}.source", list(parts[0]) if isinstance(parts[0], str) else parts[0])
    words = tokens(f"{name}.words", parts[1], at_least=at_least)
    if parts[2] is None:
        if weights == "needed":
            cure = "Take a model that attends: a fixed vector has no weights."
            refuse(TypeError, f"{name}.weights", "a table of weights", None, cure)
        return Pair(source, words, None)
    return Pair(
        source, words, encode(weight_table(f"{name}.weights", parts[2], words, len(source)))
    )


def encode(weights: torch.Tensor) -> torch.Tensor:
    """One byte a weight: 255 · √(weight ÷ largest of its row), at least 1 where it is not 0.

    The root keeps small weights apart, so that none is shown as a false 0 %; no weight is off by
    more than 0.005.
    """
    if weights.numel() == 0:
        return weights.to(torch.uint8)
    share = weights / weights.amax(-1, keepdim=True)
    codes = (255 * share.sqrt()).round().clamp_min(1)
    return torch.where(weights > 0, codes, 0).to(torch.uint8)


def decode(codes: torch.Tensor) -> torch.Tensor:
    """(words, source) float64 whose rows sum to 1, as `decodeWeights` in core.js has them."""
    squares = codes.double().square()
    return squares / squares.sum(-1, keepdim=True)


def packed(codes: torch.Tensor) -> str:
    """The bytes of `encode`, row after row, in base64."""
    return base64.b64encode(codes.numpy().tobytes()).decode("ascii")


def gloss_table(name: str, value: Any) -> dict[str, str]:
    """A dict of character → meaning; None stands for that of the Chinese numerals."""
    if value is None:
        return dict(numerals.GLOSSES)
    texts = isinstance(value, Mapping) and all(
        isinstance(text, str) for item in value.items() for text in item
    )
    if not texts:
        cure = 'For example {"万": "10⁴"}; {} shows none.'
        refuse(TypeError, f"{name}.glosses", "a dict of str to str, or None", value, cure)
    return dict(value)


def numeral(source: Sequence[str]) -> str:
    """The number that a Chinese numeral stands for, in digits; "" where it is none.

    >>> numeral(["十", "二", "万"]), numeral(["中", "国"])
    ('120,000', '')
    """
    try:
        return f"{numerals.from_chinese(''.join(source)):,}"
    except ValueError:
        return ""


def refuse(kind: type[Exception], name: str, expected: str, got: Any, cure: str) -> NoReturn:
    """Raise `kind`: what was expected, what came, what to do."""
    shown = got if isinstance(got, str) else repr(got)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    of = f" ({type(got).__name__})" if kind is TypeError else ""
    raise kind(f"{name}: expected {expected}, got {shown}{of}. {cure}")
