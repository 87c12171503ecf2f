"""Attention in small PyTorch pieces, measured.

``import attnkit`` needs torch alone. Pictures, widgets and exercise checks are imported by name:
``attnkit.plots``, ``attnkit.widgets``, ``attnkit.checks``.
"""

from importlib.metadata import PackageNotFoundError, version

from attnkit.attention import AdditiveAttention, MultiHeadAttention, ScaledDotProductAttention
from attnkit.functional import (
    AttentionOutput,
    additive_scores,
    masked_softmax,
    scaled_dot_product_attention,
)
from attnkit.masks import (
    causal_mask,
    from_blocked,
    padding_mask,
    sliding_window_mask,
    strided_mask,
)
from attnkit.positional import (
    LearnedEncoding,
    SinusoidalEncoding,
    alibi_bias,
    rotary,
    sinusoidal_encoding,
)

try:
    __version__ = version("attnkit")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"

__all__ = [
    "AdditiveAttention",
    "AttentionOutput",
    "LearnedEncoding",
    "MultiHeadAttention",
    "ScaledDotProductAttention",
    "SinusoidalEncoding",
    "additive_scores",
    "alibi_bias",
    "causal_mask",
    "from_blocked",
    "masked_softmax",
    "padding_mask",
    "rotary",
    "scaled_dot_product_attention",
    "sinusoidal_encoding",
    "sliding_window_mask",
    "strided_mask",
]
