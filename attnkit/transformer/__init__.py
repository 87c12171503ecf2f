"""The layers of a transformer, and an encoder-decoder of them."""

from attnkit.key_value_cache import KeyValueCache
from attnkit.transformer.decoder import DecoderCache, DecoderLayer, DecoderOutput
from attnkit.transformer.encoder import EncoderLayer
from attnkit.transformer.layer import ACTIVATIONS
from attnkit.transformer.model import (
    Transformer,
    TransformerMaps,
    TransformerMemory,
    TranslationMaps,
)

__all__ = [
    "ACTIVATIONS",
    "DecoderCache",
    "DecoderLayer",
    "DecoderOutput",
    "EncoderLayer",
    "KeyValueCache",
    "Transformer",
    "TransformerMaps",
    "TransformerMemory",
    "TranslationMaps",
]
