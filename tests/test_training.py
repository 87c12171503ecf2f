"""fit: what it trains, what it leaves alone, what it refuses, when it stops, who sees the bar."""

import doctest
import importlib
import io
import math

import nbformat
import pytest
import torch
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient
from torch import nn
from training_model import STEPS, Small, accuracy, batch_at, same

from attnkit import training, training_run
from attnkit.training import fit


@pytest.mark.parametrize("module", ["history", "training"])
def test_doctests(module):
    result = doctest.testmod(importlib.import_module(f"attnkit.{module}"))
    assert result.attempted and not result.failed


def test_it_is_adamw_with_one_cycle_and_clipped_gradients():
    model, by_hand = Small(), Small()
    history = fit(model, batch_at, steps=STEPS, lr=0.1, seed=3)
    optimizer = torch.optim.AdamW(by_hand.parameters(), lr=0.1, fused=True)
    cycle = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=STEPS)
    torch.manual_seed(3)
    losses, rates = [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = by_hand.loss(batch_at(step))
        loss.backward()
        nn.utils.clip_grad_norm_(by_hand.parameters(), 1.0)
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if step + 1 < STEPS:
            cycle.step()
        losses.append(loss.item())
    assert same(model, by_hand)
    assert all(p.grad is None for p in model.parameters()), "no gradient is left behind"
    assert [row.loss for row in history] == losses and [row.lr for row in history] == rates
    assert [row.step for row in history] == list(range(1, STEPS + 1))
    seconds = [row.seconds for row in history]
    assert seconds == sorted(seconds) and seconds[0] > 0


def test_the_seed_decides_and_the_callers_random_numbers_go_on():
    results = []
    for seed, outside in [(0, 5), (0, 6), (1, 5)]:
        torch.manual_seed(outside)
        expected = torch.rand(3)
        torch.manual_seed(outside)
        model = Small()
        fit(model, batch_at, steps=3, seed=seed)
        assert torch.equal(torch.rand(3), expected)
        results.append(model)
    assert same(results[0], results[1]) and not same(results[0], results[2])


def test_random_numbers_and_modes_come_back_also_after_an_error():
    model = Small()
    model.eval()
    model.dropout.train()
    before = torch.get_rng_state()

    def fails(step):
        if step == 2:
            raise LookupError("no batch")
        return batch_at(step)

    with pytest.raises(LookupError, match="no batch"):
        fit(model, fails, steps=3)
    assert torch.equal(torch.get_rng_state(), before)
    assert model.dropout.training and not model.training and not model.norm.training
    assert all(p.grad is None for p in model.parameters())


def test_trains_in_train_mode_with_gradients_wherever_it_is_called():
    seen = []

    def loss(model, batch):
        seen.append((model.training, torch.is_grad_enabled()))
        return model.loss(batch)

    def validate(model):
        seen.append((model.training, torch.is_grad_enabled()))
        return 0.0

    with torch.no_grad():
        fit(Small().eval(), batch_at, steps=2, loss=loss, validate=validate, every=1)
    assert seen == [(True, True), (False, False)] * 2


def test_validation_is_measured_at_its_steps_and_changes_nothing():
    plain, validated = Small(), Small()
    without = fit(plain, batch_at, steps=STEPS)
    history = fit(validated, batch_at, steps=STEPS, validate=accuracy, every=5)
    assert same(plain, validated)
    assert [row.loss for row in history] == [row.loss for row in without]
    measured = [row.step for row in history if not math.isnan(row.validation)]
    assert measured == [5, 10, 13]
    assert all(math.isnan(row.validation) for row in without) and without.best is None
    assert history[-1].validation == accuracy(validated.eval())


@pytest.mark.parametrize(
    ("values", "steps_made", "best"),
    [
        ([0.1, 0.5, 0.5, 0.4, 0.9, 1.0], 8, 4),  # equal is no gain
        ([0.1, 0.5, 0.4, 0.6, 0.5, 0.5], 12, 8),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 12, 12),
    ],
)
def test_stops_early_with_the_best_weights(values, steps_made, best):
    model, states, results = Small(), [], iter(values)

    def validate(model):
        states.append({n: t.clone() for n, t in model.state_dict().items()})
        return next(results)

    history = fit(model, batch_at, steps=12, validate=validate, every=2, patience=2)
    assert len(history) == steps_made and history.best.step == best
    kept = states[best // 2 - 1]
    assert all(torch.equal(kept[n], t) for n, t in model.state_dict().items())


def test_without_patience_the_last_weights_stay():
    results, model, plain = iter([3.0, 2.0, 1.0]), Small(), Small()
    assert len(fit(model, batch_at, steps=6, validate=lambda m: next(results), every=2)) == 6
    fit(plain, batch_at, steps=6)
    assert same(model, plain)


class Batch:
    """Not a tensor, but it knows how to move."""

    def __init__(self, parts, where="nowhere"):
        self.parts, self.where = parts, where

    def to(self, device):
        return Batch(self.parts, device)


def test_model_and_batches_move_to_the_device(monkeypatch):
    seen = []

    def loss(model, batch):
        seen.append(batch)
        return model.loss(batch["pair"]) + batch["own"].parts

    def nested(step):
        return {"pair": list(batch_at(step)), "own": Batch(0.0), "name": "x"}

    model = Small()
    fit(model, nested, steps=1, loss=loss, device="cpu")
    assert seen[0]["own"].where == torch.device("cpu") and seen[0]["name"] == "x"
    assert seen[0]["pair"][0].device.type == "cpu"

    def arrived(model, batch):  # where a tensor has no numbers, no more than this can be seen
        raise LookupError({part.device.type for part in (model.outer.weight, *batch)})

    for module in (training, training_run):  # the device "meta" has no generator either
        for name in ("get_random_state", "set_random_state", "seeded_random_state"):
            monkeypatch.setattr(module, name, lambda *_: {}, raising=module is training_run)
    meta = Small()
    with pytest.raises(LookupError, match=r"\{'meta'\}"):
        fit(meta, batch_at, steps=1, loss=arrived, device="meta")
    assert next(meta.parameters()).device.type == "meta"


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number_names_its_step_and_leaves_the_weights(bad):
    model, four = Small(), Small()

    def loss(model, batch):
        return model.loss(batch) * (bad if torch.equal(batch[0], batch_at(4)[0]) else 1)

    message = rf"loss is {bad} at step 5 of 13\. Try a lower lr \(it is 0.02 now\).*batch_at\(4\)"
    with pytest.raises(FloatingPointError, match=message):
        fit(model, batch_at, steps=STEPS, loss=loss, lr=0.02)
    cycle = iter(range(4))

    def stops(step):
        if next(cycle, None) is None:
            raise LookupError
        return batch_at(step)

    with pytest.raises(LookupError):
        fit(four, stops, steps=STEPS, lr=0.02)
    assert all(
        torch.equal(a, b) for a, b in zip(model.parameters(), four.parameters(), strict=True)
    )


def test_a_gradient_that_is_no_number_is_caught_before_it_reaches_the_weights():
    model = nn.Linear(2, 1)
    with pytest.raises(FloatingPointError, match=r"gradient's norm is nan at step 1 of 3"):
        fit(model, lambda s: torch.zeros(1, 2), steps=3, loss=lambda m, b: (m(b) * 0).sqrt().sum())
    assert all(p.isfinite().all() for p in model.parameters())


X = torch.ones(1, 2)


def _refused(error, message, model=None, batch=lambda step: X, **changed):
    model = nn.Linear(2, 1) if model is None else model
    arguments = {"steps": 3, "loss": lambda m, b: m(b).sum(), **changed}
    with pytest.raises(error, match=message):
        fit(model, batch, **arguments)


def test_bad_arguments_are_refused_with_the_cure():
    _refused(ValueError, "steps must be at least 1, got 0", steps=0)
    _refused(TypeError, r"steps must be an integer, got 2.5.*int\(", steps=2.5)
    _refused(ValueError, "lr must be greater than 0, got 0.0. Try the default", lr=0)
    _refused(ValueError, "every must be at least 1", every=0)
    _refused(ValueError, "save_every must be at least 1", save_every=0)
    _refused(ValueError, "seed must be at least 0", seed=-1)
    _refused(ValueError, "there is no validate. Give one", patience=2)
    _refused(TypeError, "model must be an nn.Module, got dict", model={})
    _refused(TypeError, r"Linear has no method loss\(batch\). Give the loss", loss=None)
    _refused(ValueError, "nothing to train. Thaw", model=nn.Linear(2, 1).requires_grad_(False))
    _refused(TypeError, r"one number, got shape \(3, 2\). Take its mean", model=nn.Linear(2, 2),
             batch=lambda step: torch.ones(3, 2), loss=lambda m, b: m(b))  # fmt: skip
    _refused(TypeError, "one number, got float", loss=lambda m, b: 0.5)
    _refused(ValueError, r"carries no gradient. Leave out detach", loss=lambda m, b: b.sum())
    _refused(TypeError, r"validate\(model\) must be a number, got None", validate=lambda m: None)
    _refused(ValueError, r"validate\(model\) must be finite", validate=lambda m: math.nan)
    _refused(ValueError, "device 'lathe' cannot be used here", device="lathe")
    if not torch.cuda.is_available():
        _refused(ValueError, "device 'cuda' cannot be used here.*'cpu'", device="cuda")


# --- the bar --------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "progress", "seen"),
    [(Terminal, True, True), (Terminal, False, False), (io.StringIO, True, False)],
)
def test_a_bar_with_the_loss_is_shown_in_a_terminal_and_not_in_a_log(
    stream, progress, seen, monkeypatch
):
    monkeypatch.setattr("sys.stderr", stream())
    history = fit(Small(), batch_at, steps=STEPS, validate=accuracy, progress=progress)
    import sys

    text = sys.stderr.getvalue()
    assert bool(text) == seen
    if seen:
        last = history[-1]
        assert "training: 100%" in text and "13/13" in text
        assert f"loss {last.loss:.3f}, validation {last.validation:.3f}" in text


CELL = """
import torch
from attnkit.training import fit
model = torch.nn.Linear(2, 1)
fit(model, lambda step: torch.ones(1, 2), steps=3, loss=lambda m, b: m(b).square().sum())
"""


def test_the_bar_is_seen_by_a_person_in_a_notebook_and_not_while_a_book_is_built():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    NotebookClient(notebook, timeout=120).execute()
    assert [o.output_type for o in notebook.cells[0].outputs] == ["execute_result"]
    manager, client = start_new_kernel()
    try:
        said = []
        client.execute_interactive(CELL, timeout=120, allow_stdin=True, output_hook=said.append)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    text = "".join(m["content"]["text"] for m in said if m["content"].get("name") == "stderr")
    assert "training: 100%" in text and "3/3" in text
