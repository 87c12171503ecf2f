"""A training run as a state that makes steps and can be written to a file and read back.

Nothing here is for readers of the course: :func:`attnkit.training.fit` is.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attnkit import checkpoints, expect
from attnkit.history import Row


class Run:
    """The model, its optimizer and scheduler, the random state, the rows and the best weights."""

    def __init__(
        self,
        model: nn.Module,
        batch_at: Callable[[int], Any],
        loss: Callable[[Any, Any], Tensor],
        validate: Callable[[Any], float] | None,
        device: torch.device,
        arguments: dict[str, Any],
    ) -> None:
        self.model, self.batch_at, self.loss, self.validate = model, batch_at, loss, validate
        self.device, self.arguments = device, arguments
        self.steps: int = arguments["steps"]
        self.rows: list[Row] = []
        self.validations: list[float] = []
        self.best: dict[str, Tensor] | None = None
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        # One kernel for all parameters: a tenth of a step of the course's small models.
        self.optimizer = torch.optim.AdamW(self.parameters, lr=arguments["lr"], fused=True)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, max_lr=arguments["lr"], total_steps=self.steps
        )
        self.began = time.perf_counter()
        set_random_state(seeded_random_state(arguments["seed"], device), device)
        self._identity: dict[str, Any] | None = None

    # --- making steps -----------------------------------------------------------------------------

    @property
    def done(self) -> int:
        return len(self.rows)

    @property
    def finished(self) -> bool:
        patience = self.arguments["patience"]
        return self.done >= self.steps or (patience is not None and self._stale() >= patience)

    @property
    def status(self) -> str:
        shown = f"loss {self.rows[-1].loss:.3f}"
        return shown + "".join(f", validation {v:.3f}" for v in self.validations[-1:])

    def step(self) -> None:
        """Make one update, and validate where it is time."""
        step, lr = self.done, float(self.scheduler.get_last_lr()[0])
        self.model.train()
        self.optimizer.zero_grad()
        loss = _scalar(self.loss(self.model, self.batch_at(step)))
        value = loss.item()
        self._finite(value, "loss")
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self._finite(norm.item(), "gradient's norm")
        self.optimizer.step()
        if step + 1 < self.steps:
            self.scheduler.step()
        validation = math.nan
        if self.validate is not None and (
            (step + 1) % self.arguments["every"] == 0 or step + 1 == self.steps
        ):
            validation = self._validated(self.validate)
            self.validations.append(validation)
            if self.arguments["patience"] is not None and self._stale() == 0:
                self.best = checkpoints.state_of(self.model)
        self.rows.append(Row(step + 1, value, lr, validation, time.perf_counter() - self.began))

    def close(self) -> None:
        """Leave the model with the best weights where these are asked for."""
        if self.best is not None:
            self.model.load_state_dict(self.best)

    def _validated(self, validate: Callable[[Any], float]) -> float:
        before = get_random_state(self.device)
        self.model.eval()
        with torch.no_grad():
            value = validate(self.model)
        set_random_state(before, self.device)
        if isinstance(value, Tensor) and value.numel() == 1:
            value = value.item()
        return expect.number("validate(model)", value)

    def _stale(self) -> int:
        """Validations since the best one."""
        measured = self.validations
        return len(measured) - 1 - measured.index(max(measured)) if measured else 0

    def _finite(self, value: float, what: str) -> None:
        if not math.isfinite(value):
            step = self.done
            raise FloatingPointError(
                f"The {what} is {value} at step {step + 1} of {self.steps}. Try a lower lr "
                f"(it is {self.arguments['lr']:g} now); if it stays, look at the batch, "
                f"batch_at({step}), and at the loss for a logarithm or a division of 0."
            )

    # --- files ------------------------------------------------------------------------------------

    def identity(self) -> dict[str, Any]:
        """What must be the same for a run to go on."""
        if self._identity is None:
            before = get_random_state(self.device)
            first = checkpoints.digest(dict(_tensors(self.batch_at(0))))
            set_random_state(before, self.device)
            self._identity = {
                **self.arguments,
                "device": self.device.type,
                "validate": "given" if self.validate is not None else "not given",
                "the model's class": type(self.model).__name__,
                "the model's settings": checkpoints.settings_of(self.model),
                "the initial weights": checkpoints.digest(checkpoints.state_of(self.model)),
                "batch_at(0)": first,
            }
        return self._identity

    def write(self, path: Path) -> None:
        """Write everything that is needed to go on."""
        identity = self.identity()
        tensors = {f"model/{n}": t for n, t in checkpoints.state_of(self.model).items()}
        tensors |= {f"best/{n}": t for n, t in (self.best or {}).items()}
        optimizer = self.optimizer.state_dict()
        for index, state in optimizer["state"].items():
            tensors |= {f"optimizer/{index}/{n}": checkpoints.on_cpu(t) for n, t in state.items()}
        tensors |= {f"random/{n}": t for n, t in get_random_state(self.device).items()}
        tensors["history"] = torch.tensor(self.rows, dtype=torch.float64).reshape(-1, 5)
        info = {
            "arguments": identity,
            "class": identity["the model's class"],
            "settings": identity["the model's settings"],
            "steps": self.done,
            "optimizer": [
                {k: v for k, v in g.items() if k != "params"} for g in optimizer["param_groups"]
            ],
            "scheduler": self.scheduler.state_dict(),
        }
        checkpoints.write(path, checkpoints.TRAINING, tensors, info)

    def resume(self, path: Path) -> None:
        """Take over the state in a file, if it is one of this run."""
        tensors, info = checkpoints.read(path, checkpoints.TRAINING)
        model, best = _part(tensors, "model/"), _part(tensors, "best/")
        self._same_run(path, info["arguments"], model, best)
        self.model.load_state_dict(model)
        self.best = best or None
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in _part(tensors, "optimizer/").items():
            index, key = name.split("/")
            state.setdefault(int(index), {})[key] = tensor
        groups = self.optimizer.state_dict()["param_groups"]
        groups = [{**g, **saved} for g, saved in zip(groups, info["optimizer"], strict=True)]
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})
        self.scheduler.load_state_dict(info["scheduler"])
        set_random_state(_part(tensors, "random/"), self.device)
        self.rows = [Row(int(step), *rest) for step, *rest in tensors["history"].tolist()]
        self.validations = [r.validation for r in self.rows if not math.isnan(r.validation)]
        self.began = time.perf_counter() - (self.rows[-1].seconds if self.rows else 0.0)

    def _same_run(self, path: Path, saved: dict[str, Any], *states: dict[str, Tensor]) -> None:
        mine = self.identity()
        differ = [name for name in mine if saved.get(name) != mine[name]]
        # After an interruption in a notebook the model comes back as the run has left it.
        if mine["the initial weights"] in [checkpoints.digest(s) for s in states if s]:
            mine["the initial weights"] = saved["the initial weights"]
            differ = [name for name in differ if name != "the initial weights"]
        if differ:
            raise ValueError(
                f"{path} belongs to another run: "
                f"{'; '.join(_difference(n, saved.get(n), mine[n]) for n in differ)}. "
                "Name another file for this run, or delete this one to begin anew."
            )


def _difference(name: str, saved: object, mine: object) -> str:
    if name in ("the initial weights", "batch_at(0)"):
        return f"{name} not the same"
    return f"{name} was {json.dumps(saved)} and is {json.dumps(mine)}"


def _part(tensors: Mapping[str, Tensor], head: str) -> dict[str, Tensor]:
    return {name.removeprefix(head): t for name, t in tensors.items() if name.startswith(head)}


def _scalar(loss: object) -> Tensor:
    if not isinstance(loss, Tensor) or loss.numel() != 1:
        got = f"shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else type(loss).__name__
        raise TypeError(f"The loss must be a tensor of one number, got {got}. Take its mean().")
    if not loss.requires_grad:
        raise ValueError(
            "The loss does not depend on the model's parameters: it carries no gradient. Leave "
            "out detach(), item() and torch.no_grad() on the way from the model to it."
        )
    return loss


def _tensors(batch: Any, name: str = "batch"):
    """Every tensor of a batch, with a name."""
    if isinstance(batch, Tensor):
        yield name, batch
    elif isinstance(batch, Mapping):
        for key in batch:
            yield from _tensors(batch[key], f"{name}/{key}")
    elif isinstance(batch, list | tuple):
        for i, part in enumerate(batch):
            yield from _tensors(part, f"{name}/{i}")


# --- random numbers -------------------------------------------------------------------------------


def get_random_state(device: torch.device) -> dict[str, Tensor]:
    """The states of PyTorch's own generators: the CPU's, and the device's."""
    state = {"cpu": torch.get_rng_state()}
    if device.type != "cpu":
        which = () if device.type == "mps" else (device,)
        state[device.type] = torch.get_device_module(device).get_rng_state(*which)
    return state


def set_random_state(state: Mapping[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(state["cpu"])
    if device.type != "cpu":
        which = () if device.type == "mps" else (device,)
        torch.get_device_module(device).set_rng_state(state[device.type], *which)


def seeded_random_state(seed: int, device: torch.device) -> dict[str, Tensor]:
    """The states after ``torch.manual_seed(seed)``, on no other device than these two."""
    return {
        place: torch.Generator(place).manual_seed(seed).get_state()
        for place in {"cpu", device.type}
    }
