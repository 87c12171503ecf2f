"""Run a page otherwise than it stands, to see what its numbers depend on.

    python -m experiments.variations NAME PAGE

is the worker of ``attnkit.verify`` with one thing changed: the clock, the recorded data that the
page reads, or the rounding in its training steps. ``plain`` changes nothing and notes what is used.
"""

import hashlib
import json
import random
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from attnkit.verify import worker

CLOCKS = ("perf_counter", "process_time")
Finish = Callable[[], dict[str, Any]]


def spy(used: dict[str, Any]) -> None:
    """Note whether a cell reads the clock or steps an optimizer."""
    for name in CLOCKS:
        real = getattr(time, name)

        def read(real=real) -> float:
            used["clock"] |= sys._getframe(1).f_code.co_filename.startswith("<ipython")
            return real()

        setattr(time, name, read)
    step_hook(lambda parameters: used.update(trains=True))


def step_hook(act: Callable[[list[torch.Tensor]], None]) -> None:
    def after(optimizer, args, kwargs):
        act([p for group in optimizer.param_groups for p in group["params"]])

    register_optimizer_step_post_hook(after)


def noise(size: float, seed: int) -> None:
    """After each training step, change every parameter by a relative ``size``, as rounding does."""
    generator = torch.Generator().manual_seed(seed)

    def kick(parameters: list[torch.Tensor]) -> None:
        with torch.no_grad():
            for p in parameters:
                p.mul_(1 + size * (2 * torch.rand(p.shape, generator=generator) - 1))

    step_hook(kick)


def clock(factor: float, jitter: float) -> None:
    """Let the clocks run ``factor`` times as fast, each reading off by a share of its time."""
    for name in CLOCKS:
        real, last = getattr(time, name), [0.0, 0.0]
        last[0] = real()

        def read(real=real, last=last) -> float:
            now = real()
            last[1] += (now - last[0]) * factor * random.uniform(1 - jitter, 1 + jitter)
            last[0] = now
            return last[1]

        setattr(time, name, read)


class Records:
    """What a page reads of attnkit/data: numbers in JSON, and tensors that are no weights."""

    def __init__(self, change: str = "", known: frozenset[str] = frozenset()):
        self.change, self.weights = change, set(known)
        self.json: set[str] = set()
        self.tensors: dict[str, tuple[str, torch.Tensor]] = {}
        self.random, self.generator = random.Random(3), torch.Generator().manual_seed(3)
        data = [p for p in files("attnkit").joinpath("data").iterdir() if p.name.endswith(".json")]
        self.names = {p.read_text("utf-8"): p.name for p in data if p.name != "printed.json"}

    def install(self) -> None:
        import safetensors
        import safetensors.torch

        loads, load = json.loads, safetensors.torch.load_file
        opened, state = safetensors.safe_open, torch.nn.Module.load_state_dict

        def json_loads(text, *args, **kwargs):
            value = loads(text, *args, **kwargs)
            name = self.names.get(text) if isinstance(text, str) else None
            if name is None or not has_numbers(value):
                return value
            self.json.add(name)
            return self.changed(value) if self.change else value

        def load_file(path, *args, **kwargs):
            return {k: self.tensor(path, v) for k, v in load(path, *args, **kwargs).items()}

        class Opened:
            def __init__(self, path, *args, **kwargs):
                self.path, self.file = path, opened(path, *args, **kwargs)

            def __enter__(self):
                self.file.__enter__()
                return self

            def __exit__(self, *error):
                return self.file.__exit__(*error)

            def __getattr__(self, name):
                return getattr(self.file, name)

            def get_tensor(inner, name):
                return self.tensor(inner.path, inner.file.get_tensor(name))

        def load_state_dict(module, *args, **kwargs):
            done = state(module, *args, **kwargs)
            self.weights |= {content(t) for t in module.state_dict().values()}
            return done

        json.loads = json_loads
        safetensors.torch.load_file = load_file
        safetensors.safe_open = Opened  # type: ignore
        torch.nn.Module.load_state_dict = load_state_dict

    def tensor(self, path: object, tensor: torch.Tensor) -> torch.Tensor:
        if "attnkit" not in str(path):
            return tensor  # another package's: a model
        digest = content(tensor)
        self.tensors[digest] = (str(path).replace("\\", "/").rsplit("/", 1)[-1], tensor)
        if self.change != "floats" or digest in self.weights or not tensor.is_floating_point():
            return tensor
        share = 0.85 + 0.1 * torch.rand(tensor.shape, generator=self.generator)
        other = tensor * share.to(tensor.dtype)
        sums, rows = tensor.float().sum(-1, keepdim=True), other.sum(-1, keepdim=True)
        return other / rows if torch.allclose(sums, torch.ones(()), atol=1e-2) else other

    def changed(self, value: Any) -> Any:
        """Every float a little smaller, so that a share stays one; or every count one larger."""
        if type(value) is int:
            return value + (self.change == "counts")
        if isinstance(value, float) and self.change == "floats":
            return value * self.random.uniform(0.85, 0.95) if value else 0.01
        if isinstance(value, list):
            other = [self.changed(each) for each in value]
            row = len(value) > 1 and all(isinstance(each, float) for each in value)
            weights = row and abs(sum(value) - 1) < 1e-2  # a row of weights stays one
            return [each / sum(other) for each in other] if weights else other
        if isinstance(value, dict):
            return {key: self.changed(each) for key, each in value.items()}
        return value

    def finish(self) -> dict[str, Any]:
        arrays = {name for digest, (name, _) in self.tensors.items() if digest not in self.weights}
        known = sorted(self.weights & set(self.tensors))
        return {"json": sorted(self.json), "arrays": sorted(arrays), "weights": known}


def has_numbers(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_numbers, value.values()))
    if isinstance(value, list):
        return any(map(has_numbers, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def content(tensor: torch.Tensor) -> str:
    """The same for a tensor and its copy in another float type."""
    exact = tensor.detach().to(torch.float64).contiguous()
    return hashlib.sha256(exact.numpy().tobytes()).hexdigest()[:16]


def prepare(name: str, weights: frozenset[str]) -> Finish:
    used: dict[str, Any] = {"clock": False, "trains": False}
    records = Records({"records": "floats", "counts": "counts"}.get(name, ""), weights)
    records.install()
    if name == "plain":
        spy(used)
    elif name == "clock":
        clock(1000, 0.9)
    elif name == "kick":
        noise(3e-2, seed=0)
    elif name == "other":
        noise(1e-7, seed=1)
    return lambda: used | records.finish()


if __name__ == "__main__":
    variation, *known, page = sys.argv[1:]
    sys.exit(worker.main(page, lambda: prepare(variation, frozenset(known)), stop=False))
