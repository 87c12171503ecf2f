"""Multi-head attention whose scores are scaled wrongly, in every way that has a name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_heads as wh
from attnkit.checks._engine import Misconception
from attnkit.checks._wrong_attention import softmax


def _wrong(name: str, message: str, *weigh: Callable) -> Misconception:
    return Misconception(name, message, "ch5-project", tuple(map(wh.with_weights, weigh)))


WRONG_SCALES = (
    _wrong(
        "scaled-by-d-model",
        "The scale comes from d_model. A score is a dot product of d_head numbers, so that it is "
        "√d_head that counts.",
        lambda s, d_head, d_model: softmax(s / np.sqrt(d_model)),
    ),
    _wrong(
        "scaled-by-d-head",
        "The scores are divided by d_head. It is their variance that grows like d_head: divide by "
        "its root.",
        lambda s, d_head, d_model: softmax(s / d_head),
    ),
    _wrong(
        "not-scaled",
        "The scores are not scaled: divide them by √d_head before the softmax.",
        lambda s, d_head, d_model: softmax(s),
    ),
    _wrong(
        "scale-upside-down",
        "The scores are multiplied by √d_head. They are too large already: divide.",
        lambda s, d_head, d_model: softmax(s * np.sqrt(d_head)),
    ),
    _wrong(
        "scaled-by-a-count",
        "The scale comes from the number of heads or of tokens. Neither makes a score larger: it "
        "is a sum of d_head products.",
        lambda s, d_head, d_model: softmax(s / np.sqrt(d_model // d_head)),
        lambda s, d_head, d_model: softmax(s / np.sqrt(s.shape[-1])),
    ),
    _wrong(
        "scaled-after-the-softmax",
        "The weights are scaled and not the scores, so that a row no longer sums to 1. Divide "
        "before the softmax.",
        lambda s, d_head, d_model: softmax(s) / np.sqrt(d_head),
    ),
)
