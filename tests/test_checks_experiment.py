"""Experiments: a prediction first, then a measurement, then an explanation of some length."""

import os
import random
import re
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from answers import Sneaky
from exercises import EXPERIMENT, LONG_ENOUGH

from attnkit import checks
from attnkit.checks import Between, Each, Misconception, OneOf, Trial
from attnkit.checks._explanations import words
from attnkit.checks._predictions import plain

RIGHT = EXPERIMENT.right


def diagnosed(prediction=0.7, measure=RIGHT, explanation=LONG_ENOUGH, exercise=EXPERIMENT):
    """By way of the bytes, as in a class."""
    arrays = exercise.probe((prediction, measure, explanation))
    return exercise.diagnose(checks.from_bytes(checks.to_bytes(arrays)))


def named(verdict, name):
    assert (verdict.name, verdict.passed) == (name, name == "right"), str(verdict)
    assert name == "right" or name in checks.common_failures()
    assert not re.search(r"\{\w*\}", verdict.message)
    verdict.to_dict(), verdict._repr_html_()


@pytest.mark.parametrize(
    "prediction",
    [
        *(0, 1, 0.7, [0.7], np.float32(0.7), np.int64(1), np.array(0.7, dtype=object)),
        *(torch.tensor(0.7), torch.tensor([[0.7]])),
    ],
)
def test_a_prediction_may_be_any_number_in_the_range(prediction):
    named(diagnosed(prediction), "right")


class Hidden(str):
    def strip(self, *_):
        return object()


@pytest.mark.parametrize(
    ("prediction", "name"),
    [
        (None, "no-prediction"),
        (..., "no-prediction"),
        ("", "no-prediction"),
        ("  ", "no-prediction"),
        ([], "no-prediction"),
        (70, "in-percent"),
        (100.0, "in-percent"),
        ("70 %", "in-percent"),
        (-0.1, "prediction-out-of-range"),
        (101, "prediction-out-of-range"),
        (float("nan"), "prediction-out-of-range"),
        (float("inf"), "prediction-out-of-range"),
        (10**400, "wrong-type"),
        ("0.7", "wrong-type"),
        ("high", "wrong-type"),
        (True, "wrong-type"),
        (np.True_, "wrong-type"),
        ([0.6, 0.8], "wrong-type"),
        ({"accuracy": 0.7}, "wrong-type"),
        ({0.7}, "wrong-type"),
        (0.7j, "wrong-type"),
        (RIGHT, "wrong-type"),
        (Sneaky(), "wrong-type"),
        (Hidden("0.7"), "wrong-type"),
    ],
)
def test_a_prediction_of_no_use_is_told_so_before_anything_is_measured(prediction, name):
    called = []
    verdict = diagnosed(prediction, lambda seed: called.append(seed) or RIGHT(seed))
    named(verdict, name)
    assert not called


WORD = replace(EXPERIMENT, predicts=OneOf("first", "middle", "last"))
EACH = replace(EXPERIMENT, predicts=Each((1, 2, 4), Between(0, 1)))


@pytest.mark.parametrize(
    ("exercise", "prediction", "name"),
    [
        (WORD, "last", "right"),
        (WORD, "  Last\n", "right"),
        (WORD, np.str_("middle"), "right"),
        (WORD, "the last", "prediction-out-of-range"),
        (WORD, 3, "wrong-type"),
        (WORD, ["first"], "wrong-type"),
        (WORD, None, "no-prediction"),
        (replace(EXPERIMENT, predicts=OneOf(1, 2, 4)), 2.0, "right"),
        (replace(EXPERIMENT, predicts=OneOf(1, 2, 4)), 3, "prediction-out-of-range"),
        (replace(EXPERIMENT, predicts=OneOf(True, False)), np.False_, "right"),
        (replace(EXPERIMENT, predicts=OneOf(True, False)), 1, "wrong-type"),
        (EACH, {1: 0.05, 2: 0.5, 4: 1.0}, "right"),
        (EACH, {"1": 0.05, 2.0: 0.5, np.int64(4): 1, 8: None}, "right"),
        (EACH, [0.05, 0.5, 1.0], "right"),
        (EACH, np.array([0.05, 0.5, 1.0]), "right"),
        (EACH, torch.tensor([0.05, 0.5, 1.0]), "right"),
        (EACH, {1: None, 2: None, 4: None}, "no-prediction"),
        (EACH, {}, "no-prediction"),
        (EACH, {1: 0.05, 2: 0.5}, "no-prediction"),
        (EACH, {1: 0.05, 2: 0.5, 4: ""}, "no-prediction"),
        (EACH, {1: 5, 2: 50, 4: 100}, "in-percent"),
        (EACH, {1: 0.05, 2: "half", 4: 1}, "wrong-type"),
        (EACH, {1: 0.05, 2: -1, 4: 1}, "prediction-out-of-range"),
        (EACH, [0.05, 0.5], "wrong-type"),
        (EACH, 0.5, "wrong-type"),
        (EACH, [[0.05, 0.5, 1.0]], "wrong-type"),
    ],
)
def test_words_and_several_numbers_are_predictions_too(exercise, prediction, name):
    named(diagnosed(prediction, exercise=exercise), name)


def test_what_is_missing_or_out_of_range_is_named():
    assert "for 2, 4" in diagnosed({1: 0.1}, exercise=EACH).message
    assert "For 2: " in diagnosed({1: 0, 2: 7000, 4: 1}, exercise=EACH).message
    assert "'first', 'middle' or 'last'" in diagnosed("none", exercise=WORD).message


@pytest.mark.parametrize("value", ["x" * 10_000, {n: "中" * 99 for n in range(999)}, ["a"] * 10**5])
def test_a_prediction_of_any_size_fits_into_a_record(value):
    assert not diagnosed(value).passed
    assert len(str(plain(value))) < 3000


# --- measurements -------------------------------------------------------------------------------


def trains(seed):
    torch.manual_seed(seed), np.random.seed(seed), random.seed(seed)
    model = torch.nn.Linear(3, 1)
    for _ in range(3):
        print("loss", model(torch.randn(2, 3)).sum().item())
        sys.stderr.write("step\n")
    return 0.9 + torch.rand(()) / 20


@pytest.mark.parametrize(
    "measure",
    [
        trains,
        lambda seed: torch.tensor(RIGHT(seed), requires_grad=True),
        lambda seed: [RIGHT(seed)],
        lambda seed: (np.array([[RIGHT(seed)]]),),
        lambda seed: np.float16(RIGHT(seed)),
        lambda seed, steps=100: RIGHT(seed),
        lambda *seeds, **rest: RIGHT(*seeds),
    ],
)
def test_a_right_measurement_passes_and_disturbs_nothing(measure, capsys):
    before = random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()
    named(diagnosed(0.7, measure), "right")
    after = random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()
    assert before == after
    assert capsys.readouterr() == ("", "")


def test_prediction_and_measurement_stand_side_by_side_in_the_verdict():
    message = diagnosed(0.25).message
    assert "Predicted: 0.25" in message
    assert "seed 0: 0.9; seed 1: 0.91" in message


def loops(seed):
    while True:
        pass


def recurses(seed):
    return recurses(seed)


def stub(seed):
    raise NotImplementedError


async def waits(seed):
    return 0.9


def leaves(seed):
    sys.exit(0)


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (None, "not-written-yet"),
        (..., "not-written-yet"),
        (stub, "not-written-yet"),
        (0.9, "not-callable"),
        ([0.9, 0.91], "not-callable"),
        ("measure", "not-callable"),
        (lambda: 0.9, "wrong-arguments"),
        (lambda model, numbers: 0.9, "wrong-arguments"),
        (lambda seed: None, "returned-nothing"),
        (lambda seed: print(0.9), "printed-only"),
        (lambda seed: "0.9", "wrong-type"),
        (lambda seed: {"accuracy": 0.9}, "wrong-type"),
        (lambda seed: (n for n in [0.9]), "wrong-type"),
        (waits, "wrong-type"),
        (lambda seed: [0.9, 0.95], "wrong-shape"),
        (lambda seed: torch.ones(2, 2), "wrong-shape"),
        (lambda seed: float("nan"), "not-a-number"),
        (lambda seed: np.zeros(10**6), "too-large"),
        (lambda seed: 1 / 0, "raised"),
        (lambda seed: models["fixed"], "raised"),
        (leaves, "raised"),
        (loops, "too-slow"),
        (recurses, "endless-recursion"),
        (lambda seed: 100 * RIGHT(seed), "in-percent"),
        (lambda seed: 0.95, "ignores-its-argument"),
        (lambda seed: 0.5, "ignores-its-argument"),
        (lambda seed: 0.5 + seed / 100, "measured-otherwise"),
        (lambda seed: 0.97 - seed / 3, "measured-otherwise"),
    ],
)
def test_what_is_no_such_measurement_is_told_what_it_is(measure, name):
    started = time.monotonic()
    seconds = 0.1 if name == "too-slow" else 30
    named(diagnosed(0.7, measure, exercise=replace(EXPERIMENT, seconds=seconds)), name)
    assert time.monotonic() - started < 60


def test_a_measurement_may_take_the_seconds_that_the_exercise_gives_it():
    def slow(seed):
        time.sleep(0.2)
        return RIGHT(seed)

    named(diagnosed(0.7, slow), "right")
    verdict = diagnosed(0.7, slow, exercise=replace(EXPERIMENT, seconds=0.1))
    assert verdict.name == "too-slow"
    assert "0.1 seconds" in verdict.message and "steps" in verdict.message


def test_a_failed_measurement_says_in_which_call_and_on_which_line():
    def fails_later(seed):
        if seed:
            raise ValueError("no seed")
        return 0.9

    verdict = diagnosed(0.7, fails_later)
    assert verdict.name == "raised"
    assert verdict.example == {"seed": 1}
    assert "line 3" in verdict.message and "ValueError: no seed" in verdict.message


def test_a_misconception_is_named_and_shows_every_measurement():
    (wrong,) = EXPERIMENT.misconceptions
    verdict = diagnosed(0.7, wrong.wrong[0])
    assert (verdict.name, verdict.link) == (wrong.name, wrong.link)
    assert verdict.got == {"in seed 0": "0.12", "in seed 1": "0.121"}
    assert diagnosed(0.7, lambda seed: 0.125).name == wrong.name


def test_the_same_number_twice_may_be_a_coincidence_and_is_tried_with_more_seeds():
    called = []

    def coarse(seed):
        called.append(seed)
        return 0.9 if seed < 3 else 0.95

    named(diagnosed(0.7, coarse), "right")
    assert called == [0, 1, 2, 3]
    called.clear()
    named(diagnosed(0.7, lambda seed: called.append(seed) or RIGHT(seed)), "right")
    assert called == [0, 1]


def test_trials_that_are_not_compared_may_be_the_same_for_every_seed():
    def trials(seeds):
        return tuple(
            Trial(f"{heads} heads, seed {seed}", {"heads": heads, "seed": seed}, compared=heads < 4)
            for heads in (1, 4)
            for seed in seeds
        )

    exercise = replace(
        EXPERIMENT, trials=trials, call="measure(heads, seed)",
        holds=lambda seen: seen[0].got["accuracy"] < 0.2 and seen[-1].got["accuracy"] == 1,
    )  # fmt: skip
    found = diagnosed(0.7, lambda n, seed: 1.0 if n == 4 else seed / 100, exercise=exercise)
    named(found, "right")
    found = diagnosed(0.7, lambda n, seed: 1.0 if n == 4 else 0.1, exercise=exercise)
    named(found, "ignores-its-argument")
    saturated = replace(EXPERIMENT, trials=lambda seeds: trials(seeds)[len(seeds) :])
    named(diagnosed(0.7, lambda heads, seed: 0.95, exercise=saturated), "right")


NAMES = replace(
    EXPERIMENT,
    seeds=(),
    call="measure(names)",
    trials=(Trial("all", {"names": ["a", "b"]}), Trial("one", {"names": ["a"]})),
    holds=lambda seen: seen[0].got["accuracy"] < 0.5 < seen[1].got["accuracy"],
)


def test_an_experiment_without_seeds_has_no_copies_and_may_be_hard_coded():
    assert NAMES.given == {} and NAMES.varied("a1") is NAMES
    named(diagnosed(0.7, lambda names: 1 - 0.4 * len(names), exercise=NAMES), "right")
    named(diagnosed(0.7, lambda names: 0.9, exercise=NAMES), "hard-coded")
    named(diagnosed(0.7, lambda names: names.pop() and 0.9, exercise=NAMES), "changes-its-input")


def test_repeat_runs_the_first_trial_twice():
    twice = replace(NAMES, repeat=True)
    calls = []

    def counts(names):
        calls.append(tuple(names))
        return 1 - 0.4 * len(names) - len(calls) / 100

    named(diagnosed(0.7, counts, exercise=twice), "not-repeatable")
    assert calls == [("a", "b"), ("a",), ("a", "b")]
    named(diagnosed(0.7, lambda names: 1 - 0.4 * len(names), exercise=twice), "right")


def test_results_may_be_several_and_have_shapes():
    thirds = replace(
        NAMES, results=("thirds", "wrong"), shapes={"thirds": (3,)},
        holds=lambda seen: abs(seen[0].got["thirds"].sum() - 1) < 1e-6,
    )  # fmt: skip
    for result in [([0.6, 0.3, 0.1], 12), (torch.tensor([[0.6, 0.3, 0.1]]).double(), [12])]:
        named(diagnosed(0.7, lambda names, r=result: r, exercise=thirds), "right")
    named(diagnosed(0.7, lambda names: ([0.6, 0.4], 12), exercise=thirds), "wrong-shape")
    named(diagnosed(0.7, lambda names: [0.6, 0.3, 0.1], exercise=thirds), "wrong-count")


def test_a_condition_that_cannot_be_computed_does_not_hold():
    strange = replace(EXPERIMENT, holds=lambda seen: 1 / 0)
    named(diagnosed(exercise=strange), "measured-otherwise")


def test_last_digits_make_no_difference_between_seeds():
    noisy = diagnosed(0.7, lambda seed: 0.95 + seed * 1e-9)
    named(noisy, "ignores-its-argument")


def test_what_a_measurement_does_to_nested_arguments_stays_with_it():
    nested = replace(
        NAMES, trials=(Trial("one", {"names": [["a"], ["b", "c"]], "sizes": {"a": [1]}}),)
    )

    def ruins(names, sizes):
        names[1].append("d"), sizes["a"].append(2)
        return 0.9

    for _ in range(2):
        named(diagnosed(0.7, ruins, exercise=nested), "changes-its-input")
    assert nested.trials[0].inputs == {"names": [["a"], ["b", "c"]], "sizes": {"a": [1]}}


def test_an_author_is_told_what_an_experiment_needs():
    with pytest.raises(ValueError, match=r"needs a when\(trials\)"):
        replace(EXPERIMENT, misconceptions=(Misconception("x", "x.", "here", (RIGHT,)),))
    with pytest.raises(ValueError, match="function of the seeds"):
        replace(EXPERIMENT, seeds=())
    with pytest.raises(ValueError, match="a name of its own"):
        replace(EXPERIMENT, trials=lambda seeds: tuple(Trial("a", {"seed": s}) for s in seeds))
    with pytest.raises(ValueError, match="a name of its own"):
        replace(NAMES, trials=())


# --- explanations -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("explanation", "name"),
    [
        (None, "no-explanation"),
        (..., "no-explanation"),
        ("", "no-explanation"),
        (" \n\t ", "no-explanation"),
        ("...", "no-explanation"),
        ("Two or three sentences.", "no-explanation"),
        ("\n two or three sentences \n", "no-explanation"),
        ("It learns.", "explanation-too-short"),
        (". " * 100, "no-explanation"),
        ("? " * 100, "explanation-too-short"),
        ("没有缩放也能学会。", "explanation-too-short"),
        ("没有缩放,损失放在权重上,模型也学得几乎一样快,因为每个错误都有很大的梯度。", "right"),
        (LONG_ENOUGH, "right"),
        ("word " * 10_000, "right"),
        ("x" * 10**6, "explanation-too-short"),
        (12, "wrong-type"),
        (["two", "sentences"], "wrong-type"),
        (LONG_ENOUGH.encode(), "wrong-type"),
        (lambda: LONG_ENOUGH, "wrong-type"),
    ],
)
def test_an_explanation_has_some_words(explanation, name):
    named(diagnosed(explanation=explanation), name)


def test_words_are_counted_in_any_script():
    assert words("") == words("— … !") == 0
    assert words("0.95 against 0.97, isn't it") == 5
    assert words("注意力") == 2
    assert words("用 attention 学会") == 3
    assert words("die Übung gefällt mir") == 4


def test_the_text_of_an_explanation_is_not_recorded():
    arrays = EXPERIMENT.probe((0.7, RIGHT, "My name is Somebody. " * 9))
    assert b"Somebody" not in checks.to_bytes(arrays)


# --- the answer as a whole ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (None, "not-written-yet"),
        ((), "not-written-yet"),
        ((None, None, None), "not-written-yet"),
        ((None, stub, "Two or three sentences."), "not-written-yet"),
        ((None, RIGHT, ""), "not-written-yet"),
        ((0.7, RIGHT), "wrong-count"),
        ((0.7, RIGHT, LONG_ENOUGH, 1), "wrong-count"),
        (RIGHT, "wrong-type"),
        (0.7, "wrong-type"),
        ({"prediction": 0.7}, "wrong-type"),
        ("three", "wrong-type"),
        (Sneaky(), "wrong-type"),
    ],
)
def test_an_answer_that_is_not_three_parts_is_told_so(answer, name):
    named(EXPERIMENT.diagnose(EXPERIMENT.probe(answer)), name)


def test_parts_are_looked_at_in_order():
    assert diagnosed(7000, 5, None).name == "prediction-out-of-range"
    assert diagnosed(0.7, 5, None).name == "not-callable"
    assert diagnosed(0.7, lambda seed: 0.3 + seed / 9, None).name == "measured-otherwise"
    assert diagnosed(0.7, RIGHT, None).name == "no-explanation"
    assert EXPERIMENT.diagnose(EXPERIMENT.probe([0.7, RIGHT, LONG_ENOUGH])).passed


def test_a_keyboard_interrupt_passes():
    def interrupted(seed):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        diagnosed(0.7, interrupted)


def test_a_record_with_something_missing_or_foreign_never_passes():
    good = EXPERIMENT.probe((0.7, RIGHT, LONG_ENOUGH))
    for key in good:
        assert EXPERIMENT.diagnose({k: a for k, a in good.items() if k != key}).name == (
            "unreadable-record"
        ), key
        for foreign in (np.zeros(3), np.array(["x"]), good["explanation/record"], np.zeros(0)):
            bad = EXPERIMENT.diagnose(good | {key: foreign})
            assert not bad.passed or key == "explanation/record", key
    assert not EXPERIMENT.varied("a1").diagnose(good).passed


def test_an_experiment_runs_in_a_fork_and_is_diagnosed_outside():
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            data = checks.to_bytes(EXPERIMENT.probe((0.7, trains, LONG_ENOUGH)))
            os.write(writing, data)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    assert EXPERIMENT.diagnose(checks.from_bytes(data)).passed


def test_what_is_displayed_in_a_notebook_is_swallowed(monkeypatch):
    heard = []
    shell = SimpleNamespace(display_pub=SimpleNamespace(publish=heard.append))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    kept = shell.display_pub

    def measure(seed):
        shell.display_pub.publish("a plot")
        shell.display_pub.clear_output(wait=True)
        return RIGHT(seed)

    named(diagnosed(0.7, measure), "right")
    named(diagnosed(0.7, lambda seed: shell.display_pub.publish("x") or 1 / 0), "raised")
    assert shell.display_pub is kept and not heard
