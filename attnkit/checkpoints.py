"""Models and training states in files: safetensors, never pickle, so that opening one runs no code.

Beside the tensors a file has one metadata entry, ``attnkit``, of JSON: what kind of file it is, the
model's class, the settings that rebuild it, and for information the version of PyTorch and the
number of training steps.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from attnkit.history import History
from attnkit.seq2seq import Seq2Seq

KEY = "attnkit"
MODEL, TRAINING = "model", "training state"
_CURE = {
    MODEL: "It was written by save(): read it with load().",
    TRAINING: "It is the checkpoint of a training run: call fit() again as before, then save().",
}


def save(model: nn.Module, path: str | os.PathLike[str], history: History | None = None) -> None:
    """Write a model's weights, its class and its ``settings`` to one safetensors file.

    The file appears whole or not at all; an older one of that name is replaced.

    Args:
        model: Has an attribute ``settings``, a dict that JSON can hold and from which an equal
            model can be built.
        path: By custom it ends in ``.safetensors``. A folder that is missing is made.
        history: Of its training: the number of steps is then kept as information.

    Raises:
        TypeError: The model has no settings, they cannot be written as JSON, or its state holds
            something that is no tensor.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"save wants a model, an nn.Module, got {type(model).__name__}.")
    info = {"class": type(model).__name__, "settings": settings_of(model), "steps": None}
    if info["settings"] is None:
        raise TypeError(
            f"{info['class']} has no settings to build it again from. Give it a dict: "
            'self.settings = {"d_hidden": d_hidden, ...}.'
        )
    if history is not None:
        info["steps"] = history[-1].step if len(history) else 0
    write(path, MODEL, state_of(model), info)


def load(path: str | os.PathLike[str], build: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Read a model that :func:`save` wrote: built from its settings, then given its weights.

    Args:
        path: The file.
        build: Makes a model of the settings; None is ``Seq2Seq.from_settings``.

    Returns:
        The model, on the CPU and in eval mode. The random numbers drawn while it is built do not
        change the caller's.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file is not safetensors, was not written by :func:`save`, is of another
            class, does not build, or has other names, shapes or dtypes than the model it builds.
    """
    tensors, info = read(path, MODEL)
    try:
        settings, name = info["settings"], info["class"]
    except KeyError as missing:
        raise ValueError(f"{path} lacks {missing} in its metadata. Save the model again.") from None
    with torch.random.fork_rng(devices=[]):
        try:
            model = (build or Seq2Seq.from_settings)(settings)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise ValueError(
                f"{path} holds a {name}, and its settings {settings} do not build: {error!r}. "
                f"Name the builder of its class: load(path, {name}.from_settings)."
            ) from error
    if type(model).__name__ != name:
        raise ValueError(
            f"{path} holds a {name}, build made a {type(model).__name__}. "
            f"Name the builder of its class: load(path, {name}.from_settings)."
        )
    _check_match(path, tensors, state_of(model))
    model.load_state_dict(tensors)
    return model.eval()


def _check_match(path: object, found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """Say which names, shapes and dtypes of a file are not those of the model."""
    wrong = [f"{name} is missing" for name in wanted if name not in found]
    wrong += [f"{name} is unknown to the model" for name in found if name not in wanted]
    for name in wanted.keys() & found.keys():
        a, b = (f"{str(t.dtype)[6:]} {tuple(t.shape)}" for t in (found[name], wanted[name]))
        wrong += [f"{name} is {a} and not {b}"] if a != b else []
    if wrong:
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise ValueError(
            f"{path} does not fit the model that its settings build: "
            f"{'; '.join(sorted(wrong)[:5])}{more}. "
            "It was saved by another version of that class: train and save the model again."
        )


def settings_of(model: nn.Module) -> dict[str, Any] | None:
    """Return the model's settings as JSON gives them back; None if it has none."""
    settings = getattr(model, "settings", None)
    if settings is None:
        return None
    try:
        if not isinstance(settings, dict):
            raise TypeError(f"got {type(settings).__name__}")
        return json.loads(json.dumps(settings, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"The settings of {type(model).__name__} must be a dict that JSON can hold: {error}. "
            "Keep numbers, strings, lists and dicts in it."
        ) from None


def state_of(model: nn.Module) -> dict[str, Tensor]:
    """Copies of all parameters and buffers by name, on the CPU, sharing no memory."""
    state = {}
    for name, value in model.state_dict().items():
        if not isinstance(value, Tensor):
            raise TypeError(
                f"The state of {type(model).__name__} holds {name!r}, a {type(value).__name__}; "
                "only tensors can be saved. Keep it in the settings."
            )
        state[name] = on_cpu(value)
    return state


def on_cpu(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", copy=True).contiguous()


def digest(tensors: Mapping[str, Tensor]) -> str:
    """Sixteen hexadecimal digits that change with any name, shape, dtype or bit."""
    copies = {name: on_cpu(tensor) for name, tensor in tensors.items()}
    return hashlib.sha256(safetensors.torch.save(copies)).hexdigest()[:16]


def write(path: object, kind: str, tensors: dict[str, Tensor], info: dict[str, Any]) -> None:
    """Write a file whole or not at all: under another name first, then renamed."""
    path = Path(os.fspath(path))  # type: ignore[arg-type]
    path.parent.mkdir(parents=True, exist_ok=True)
    info = {"kind": kind, "torch": torch.__version__, **info}
    # One entry: the order of several would change from run to run, and the bytes with it.
    metadata = {KEY: json.dumps(info, sort_keys=True)}
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(safetensors.torch.save(tensors, metadata=metadata))
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


def read(path: object, kind: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the JSON of a file of that kind."""
    try:
        with safetensors.safe_open(os.fspath(path), framework="pt") as file:  # type: ignore
            info = json.loads((file.metadata() or {})[KEY])
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}
    except safetensors.SafetensorError as error:
        raise ValueError(
            f"{path} is not a whole safetensors file: {error}. Pickled files (.pt, .pth) are not "
            "read, since opening one can run any code."
        ) from None
    except (KeyError, json.JSONDecodeError):
        raise ValueError(
            f"{path} has no settings that attnkit wrote. For bare weights: build the model, then "
            "model.load_state_dict(safetensors.torch.load_file(path))."
        ) from None
    if not isinstance(info, dict) or info.get("kind") != kind:
        found = info.get("kind") if isinstance(info, dict) else None
        raise ValueError(
            f"{path} holds a {found}, expected a {kind}. {_CURE.get(str(found), '')}".strip()
        )
    return tensors, info
