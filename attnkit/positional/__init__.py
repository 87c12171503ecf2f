"""Where order comes from: vectors added to the tokens, rotated queries and keys, biased scores."""

from attnkit.positional.learned import LearnedEncoding
from attnkit.positional.relative import alibi_bias, rotary
from attnkit.positional.sinusoidal import SinusoidalEncoding, sinusoidal_encoding

__all__ = [
    "LearnedEncoding",
    "SinusoidalEncoding",
    "alibi_bias",
    "rotary",
    "sinusoidal_encoding",
]
