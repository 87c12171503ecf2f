"""Interrupted training ends where uninterrupted training ends, bit for bit, or is refused."""

import math
import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
import torch
from torch import nn
from training_model import N_BATCH, N_IN, STEPS, Small, accuracy, batch_at, same, told

from attnkit.training import fit, load, save

SAVE_EVERY = 4
ARGUMENTS = {"steps": STEPS, "validate": accuracy, "every": 3, "patience": 5, "lr": 0.05, "seed": 2}


class Killed(BaseException):
    """No ordinary error: nothing may count on catching it."""


def killing(at: int):
    def batches(step):
        if step == at:
            raise Killed
        return batch_at(step)

    return batches


@pytest.fixture(scope="module")
def whole():
    model = Small()
    return model, fit(model, batch_at, **ARGUMENTS)


# Before the first step, before the first save, just before, at and after saves, the last step.
@pytest.mark.parametrize("fresh", [True, False], ids=["new process", "same model"])
@pytest.mark.parametrize("at", [0, 1, 3, 4, 5, 8, 11, 12])
def test_a_killed_run_ends_where_a_whole_one_ends(at, fresh, whole, tmp_path):
    path = tmp_path / "run.safetensors"
    options = {**ARGUMENTS, "checkpoint": path, "save_every": SAVE_EVERY}
    model = Small()
    batches = killing(at) if at else batch_at
    if at:
        with pytest.raises(Killed):
            fit(model, batches, **options)
    made = []

    def counted(step):
        made.append(step)
        return batch_at(step)

    torch.manual_seed(at)  # the caller's random state has no part in it
    model = Small() if fresh else model
    history = fit(model, counted, **options)
    assert same(model, whole[0]) and told(history) == told(whole[1])
    assert made[1:] == list(range(at // SAVE_EVERY * SAVE_EVERY, STEPS)), "and no step twice"
    assert [p.name for p in tmp_path.iterdir()] == ["run.safetensors"]


def test_killed_again_and_again(whole, tmp_path):
    options = {**ARGUMENTS, "checkpoint": tmp_path / "run", "save_every": 1}
    for at in range(1, STEPS):
        with pytest.raises(Killed):
            fit(Small(), killing(at), **options)
    model = Small()
    history = fit(model, batch_at, **options)
    assert same(model, whole[0]) and told(history) == told(whole[1])
    seconds = [row.seconds for row in history]
    assert seconds == sorted(seconds)


def test_batches_drawn_from_the_seeded_random_numbers_resume_too(tmp_path):
    def drawn(step, stop=None):
        if step == stop:
            raise Killed
        return torch.randn(N_BATCH, N_IN), torch.zeros(N_BATCH, dtype=torch.int64)

    whole, parts = Small(), Small()
    expected = fit(whole, drawn, steps=9)
    options = {"steps": 9, "checkpoint": tmp_path / "run", "save_every": 2}
    with pytest.raises(Killed):
        fit(parts, partial(drawn, stop=5), **options)
    assert told(fit(parts, drawn, **options)) == told(expected) and same(whole, parts)


def test_after_an_early_stop_nothing_is_trained_again_and_the_best_weights_come_back(tmp_path):
    values = iter([1.0, 3.0, 2.0, 2.5, 9.0])
    options = {"steps": 10, "every": 2, "patience": 2, "checkpoint": tmp_path / "run"}
    model = Small()
    history = fit(model, batch_at, validate=lambda model: next(values), **options)
    assert len(history) == 8
    for again in (Small(), model):
        made = []

        def counted(step, made=made):
            made.append(step)
            return batch_at(step)

        repeated = fit(again, counted, validate=lambda model: 1 / 0, **options)
        assert told(repeated) == told(history) and same(again, model)
        assert made == [0], "only to see that the data are the same"


def test_best_weights_survive_an_interruption_after_them(tmp_path):
    def run(model, batches, **more):
        return fit(model, batches, steps=10, every=2, patience=9, validate=validate, **more)

    def validate(model):
        model.asked = getattr(model, "asked", 0) + 1
        return -abs(float(model.norm.num_batches_tracked) - 4)

    whole, parts = Small(), Small()
    assert run(whole, batch_at).best.step == 4
    with pytest.raises(Killed):
        run(parts, killing(7), checkpoint=tmp_path / "run", save_every=6)
    run(parts, batch_at, checkpoint=tmp_path / "run", save_every=6)
    assert same(whole, parts) and parts.norm.num_batches_tracked == 4


def test_what_ends_a_run_early_leaves_the_model_as_the_file_has_it(tmp_path):
    model, four = Small(), Small()
    with pytest.raises(Killed):
        fit(model, killing(7), steps=STEPS, checkpoint=tmp_path / "run", save_every=4)
    with pytest.raises(Killed):
        fit(four, killing(4), steps=STEPS, checkpoint=tmp_path / "other", save_every=4)
    assert same(model, four)


# --- Ctrl-C ---------------------------------------------------------------------------------------

SCRIPT = """
import sys, time
import training_model as t
from attnkit.training import fit

def slow(step):
    print(step, flush=True)
    time.sleep(0.02)
    return t.batch_at(step)

fit(t.Small(), slow, steps=5000, checkpoint=sys.argv[1], save_every=1000)
"""


def test_ctrl_c_keeps_the_step_that_was_going_on(tmp_path):
    path = tmp_path / "run.safetensors"
    run = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    while run.stdout.readline().strip() != "7":
        assert run.poll() is None, run.stderr.read()
    run.send_signal(signal.SIGINT)
    _, error = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "KeyboardInterrupt: Stopped after step " in error and str(path) in error
    stopped = int(error.split("Stopped after step ")[1].split()[0])
    assert stopped >= 8
    made = []

    def stops(step):
        made.append(step)
        if step and len(made) > 2:
            raise Killed
        return batch_at(step)

    with pytest.raises(Killed):
        fit(Small(), stops, steps=5000, checkpoint=path, save_every=1000)
    assert made == [0, stopped, stopped + 1]


def test_a_second_ctrl_c_does_not_wait_and_the_file_stays_good(tmp_path, whole):
    def stubborn(step):
        if step == 6 and not stubborn.pressed:
            stubborn.pressed = True
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
            raise AssertionError("not reached")
        return batch_at(step)

    stubborn.pressed = False
    model = Small()
    options = {**ARGUMENTS, "checkpoint": tmp_path / "run", "save_every": SAVE_EVERY}
    with pytest.raises(KeyboardInterrupt):
        fit(model, stubborn, **options)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    history = fit(model, stubborn, **options)
    assert same(model, whole[0]) and told(history) == told(whole[1])


# --- other runs, other files ----------------------------------------------------------------------

CHANGES = {
    "steps": (dict(steps=14), "steps was 13 and is 14"),
    "lr": (dict(lr=0.06), "lr was 0.05 and is 0.06"),
    "seed": (dict(seed=3), "seed was 2 and is 3"),
    "every": (dict(every=4), "every was 3 and is 4"),
    "patience": (dict(patience=None), "patience was 5 and is null"),
    "validate": (dict(validate=None, patience=None), 'validate was "given" and is "not given"'),
    "two": (dict(lr=0.06, seed=3), "lr was 0.05 and is 0.06; seed was 2 and is 3"),
    "size": (dict(model=Small(13)), r'settings was {"n_hidden": 11} and is {"n_hidden": 13}'),
    "initial weights": (dict(model=Small(seed=1)), "the initial weights not the same"),
    "data": (dict(batch_at=partial(batch_at, seed=1)), r"batch_at\(0\) not the same"),
}


@pytest.mark.parametrize("changed", CHANGES)
@pytest.mark.parametrize("complete", [True, False])
def test_a_checkpoint_of_another_run_is_refused_and_left_alone(changed, complete, tmp_path):
    path = tmp_path / "run.safetensors"
    options = {**ARGUMENTS, "checkpoint": path, "save_every": SAVE_EVERY}
    if complete:
        fit(Small(), batch_at, **options)
    else:
        with pytest.raises(Killed):
            fit(Small(), killing(6), **options)
    before = path.read_bytes()
    change, message = CHANGES[changed]
    options |= change
    model = options.pop("model", None) or Small()
    state = {n: t.clone() for n, t in model.state_dict().items()}
    with pytest.raises(ValueError, match=rf"run.safetensors belongs to another run: .*{message}"):
        fit(model, options.pop("batch_at", batch_at), **options)
    assert path.read_bytes() == before
    assert all(torch.equal(state[n], t) for n, t in model.state_dict().items())


def test_how_often_it_is_saved_and_shown_may_change(whole, tmp_path):
    path = tmp_path / "run"
    with pytest.raises(Killed):
        fit(Small(), killing(6), **ARGUMENTS, checkpoint=path, save_every=4)
    model = Small()
    fit(model, batch_at, **ARGUMENTS, checkpoint=str(path), save_every=1, progress=False)
    assert same(model, whole[0])


def test_a_model_file_is_no_checkpoint_and_the_other_way_round(tmp_path):
    save(Small(), tmp_path / "model")
    with pytest.raises(ValueError, match=r"holds a model, expected a training state.*load\(\)"):
        fit(Small(), batch_at, steps=3, checkpoint=tmp_path / "model")
    fit(Small(), batch_at, steps=3, checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match=r"holds a training state, expected a model.*then save"):
        load(tmp_path / "run", Small.from_settings)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    path = tmp_path / "run"
    fit(Small(), batch_at, steps=3, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(ValueError, match="not a whole safetensors file"):
        fit(Small(), batch_at, steps=3, checkpoint=path)


def test_a_write_that_fails_leaves_the_older_file(tmp_path, monkeypatch):
    path = tmp_path / "run"

    def full(*args, **kwargs):
        raise OSError("no space left")

    def batches(step):
        if step == 3:
            monkeypatch.setattr("safetensors.torch.save", full)
        return batch_at(step)

    with pytest.raises(OSError, match="no space left"):
        fit(Small(), batches, steps=9, checkpoint=path, save_every=2)
    monkeypatch.undo()
    whole, parts = Small(), Small()
    expected = fit(whole, batch_at, steps=9)
    assert told(fit(parts, batch_at, steps=9, checkpoint=path)) == told(expected)
    assert same(whole, parts)


def test_models_without_settings_can_be_interrupted_too(tmp_path):
    def loss(model, batch):
        return model(batch[0]).square().mean()

    def run(batches, model):
        path = tmp_path / "deep" / "er" / "run"  # folders that are missing are made
        return fit(model, batches, steps=7, loss=loss, checkpoint=path, save_every=3)

    torch.manual_seed(0)
    start = nn.Linear(N_IN, 1).state_dict()
    models = [nn.Linear(N_IN, 1) for _ in range(3)]
    for model in models:
        model.load_state_dict(start)
    with pytest.raises(Killed):
        run(killing(5), models[0])
    run(batch_at, models[1])
    history = fit(models[2], batch_at, steps=7, loss=loss)
    assert same(models[1], models[2]) and math.isfinite(history[-1].loss)
