"""Attention weights of models that were not written to give them away.

``capture_attention`` records, for every head, the weights of ``torch.nn.MultiheadAttention`` and
of what is built on it, of every model that calls ``F.scaled_dot_product_attention``, and of
attnkit's own modules. It watches and changes nothing: no method is replaced, and the model's
outputs, gradients and random numbers stay what they are.
"""

from attnkit.capture.context import capture_attention
from attnkit.capture.maps import AttentionMap, Captured
from attnkit.capture.readers import Attended

__all__ = ["Attended", "AttentionMap", "Captured", "capture_attention"]
