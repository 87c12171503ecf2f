"""Training on one page: ``fit`` goes from a model and its batches to a History.

One recipe for the whole course: AdamW, a learning rate that rises and falls once (Smith and Topin,
2019), gradients clipped at norm 1. What is random in it comes from a seed, so that a run that was
interrupted ends where an uninterrupted one ends, bit for bit.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from attnkit import expect
from attnkit.checkpoints import load, save
from attnkit.history import History, Row
from attnkit.training_run import Run, get_random_state, set_random_state

__all__ = ["History", "Row", "fit", "load", "save"]


def fit(
    model: nn.Module,
    batch_at: Callable[[int], Any],
    *,
    steps: int,
    loss: Callable[[Any, Any], Tensor] | None = None,
    lr: float = 6e-3,
    validate: Callable[[Any], float] | None = None,
    every: int = 100,
    patience: int | None = None,
    seed: int = 0,
    device: str | torch.device | None = None,
    progress: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    save_every: int = 200,
) -> History:
    """Train a model in place and return what was measured at each step.

    >>> model = nn.Linear(1, 1)  # is to double a number
    >>> x = torch.arange(5.0)[:, None]
    >>> error = lambda model, batch: (model(batch) - 2 * batch).square().mean()
    >>> history = fit(model, lambda step: x, steps=200, loss=error, lr=0.1)
    >>> history[-1].loss < 0.01 < history[0].loss
    True

    With ``checkpoint`` an interrupted run continues when it is called again with the same
    arguments, and ends bit for bit where an uninterrupted one ends (same machine, same number of
    threads, same PyTorch). Ctrl-C then waits for the end of the step and writes the checkpoint; a
    second Ctrl-C does not wait. Whatever ends the run early, the model has the state that is in the
    file. A run that is complete is read from its file and not trained again.

    Args:
        model: Trained in place. It keeps the mode, train or eval, that it came in.
        batch_at: Returns the batch for ``step`` = 0 … steps − 1: always the same one for the same
            step, so that a run can go on in the middle. A tensor, or tuples, lists and dicts of
            them, or anything with ``.to(device)``.
        steps: Number of updates.
        loss: ``loss(model, batch)``, one number as a tensor; None takes ``model.loss(batch)``.
        lr: The highest learning rate, reached after three tenths of the steps.
        validate: ``validate(model)``, a number: the higher the better. Called in eval mode without
            gradients; random numbers drawn in it do not change the training.
        every: Steps between two validations. There is also one after the last step.
        patience: Stop after so many validations in a row that are not above the best one; the
            model ends with the weights of the best. None trains all steps and keeps the last.
        seed: Of what is random during training, such as dropout. The initial weights are the
            model's own. The caller's random numbers go on as if nothing had been drawn.
        device: Where to train; the model stays there. None leaves it where it is.
        progress: Show a bar on stderr where somebody watches: in a terminal, or in a notebook
            whose cells a person runs. While a book is built or a log is written there is none.
        checkpoint: A safetensors file for everything that is needed to go on.
        save_every: Steps between two checkpoints. There is also one at the start and at the end.

    Raises:
        TypeError: An argument is of the wrong type, or the loss is not a tensor of one number.
        ValueError: A number out of range; a device that is not there; a model with nothing to
            train; a loss that does not depend on the model; a checkpoint that is none, or that
            belongs to a run with other arguments.
        FloatingPointError: The loss or its gradient is nan or infinite. The message says at which
            step; the weights are those before it.
        KeyboardInterrupt: Ctrl-C.
    """
    steps = expect.integer("steps", steps, at_least=1)
    every = expect.integer("every", every, at_least=1)
    save_every = expect.integer("save_every", save_every, at_least=1)
    seed = expect.integer("seed", seed)
    if patience is not None:
        patience = expect.integer("patience", patience, at_least=1)
        if validate is None:
            raise ValueError(
                "patience counts validations without a gain, and there is no validate. "
                "Give one, validate=lambda model: ..., or leave patience out."
            )
    if (lr := expect.number("lr", lr)) <= 0:
        raise ValueError(f"lr must be greater than 0, got {lr}. Try the default, 6e-3.")
    loss = _loss_of(model, loss)
    where = _place(model, device)
    path = None if checkpoint is None else Path(checkpoint)

    modes = [(part, part.training) for part in model.modules()]
    outside = get_random_state(where)
    try:
        with torch.enable_grad():
            run = Run(
                model,
                lambda step: _moved(batch_at(step), where),
                loss,
                validate,
                where,
                {"steps": steps, "lr": lr, "every": every, "patience": patience, "seed": seed},
            )
            _train(run, path, save_every, progress)
        return History(run.rows)
    finally:
        model.zero_grad()
        set_random_state(outside, where)
        for part, mode in modes:
            part.training = mode


def _train(run: Run, path: Path | None, save_every: int, progress: bool) -> None:
    if path is not None:
        run.resume(path) if path.exists() else run.write(path)
    stop = _StopAfterStep() if path is not None else nullcontext()
    bar = tqdm(
        desc="training",
        total=run.steps,
        initial=run.done,
        unit="step",
        disable=not (progress and _somebody_watches()),
    )
    try:
        with stop, bar:
            while not run.finished:
                run.step()
                bar.set_postfix_str(run.status, refresh=False)
                bar.update()
                asked = isinstance(stop, _StopAfterStep) and stop.asked
                if path and (run.done % save_every == 0 or run.finished or asked):
                    run.write(path)
                if asked:
                    raise KeyboardInterrupt(
                        f"Stopped after step {run.done} of {run.steps}. The same call goes on from "
                        f"there; it is kept in {path}."
                    )
            run.close()
    except BaseException:
        if path is not None:
            with suppress(OSError, ValueError):
                run.resume(path)
        raise


class _StopAfterStep:
    """While it is entered, the first Ctrl-C is noted in ``asked``, and only a second one raises.

    In the middle of an update some weights are new and some are old; that must not be saved.
    """

    asked = False
    _former = None

    def __enter__(self) -> _StopAfterStep:
        ours = threading.current_thread() is threading.main_thread()
        if ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._former = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number: int, frame: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *error: object) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)


def _somebody_watches() -> bool:
    """Say whether a bar would be seen: in a terminal, or in a notebook that a person runs.

    A person's front end lets a cell ask for input; nbclient (which builds the book) and nbval say
    in every request that nobody would answer.
    """
    if getattr(sys.stderr, "isatty", lambda: False)():
        return True
    ipython = sys.modules.get("IPython")
    kernel = getattr(ipython.get_ipython() if ipython else None, "kernel", None)
    if kernel is None:
        return False
    return bool((kernel.get_parent("shell") or {}).get("content", {}).get("allow_stdin", False))


def _loss_of(
    model: nn.Module, loss: Callable[[Any, Any], Tensor] | None
) -> Callable[[Any, Any], Tensor]:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be an nn.Module, got {type(model).__name__}.")
    if loss is None and not callable(getattr(model, "loss", None)):
        raise TypeError(
            f"{type(model).__name__} has no method loss(batch). "
            "Give the loss: fit(..., loss=lambda model, batch: ...)."
        )
    return loss if loss is not None else lambda model, batch: model.loss(batch)


def _place(model: nn.Module, device: str | torch.device | None) -> torch.device:
    """Return the device to train on, with the model moved there."""
    if not any(p.requires_grad for p in model.parameters()):
        raise ValueError(
            f"{type(model).__name__} has no parameter that requires a gradient: there is nothing "
            "to train. Thaw some: parameter.requires_grad_(True)."
        )
    if device is None:
        return next(model.parameters()).device
    try:
        where = torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(
            f"device {str(device)!r} cannot be used here: {reason}. Leave device out, or: 'cpu'."
        ) from None
    model.to(where)
    return where


def _moved(batch: Any, where: torch.device) -> Any:
    if callable(getattr(batch, "to", None)):
        return batch.to(where)
    if isinstance(batch, Mapping):
        return {name: _moved(part, where) for name, part in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_moved(part, where) for part in batch))
    if isinstance(batch, list | tuple):
        return type(batch)(_moved(part, where) for part in batch)
    return batch
