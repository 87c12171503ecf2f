"""The checks' machinery: whatever an answer does, it gets a verdict and disturbs nothing."""

import dataclasses
import doctest
import json
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch
from answers import Sneaky

from attnkit import checks
from attnkit.checks import (
    _engine,
    _exercises,
    _experiment,
    _explanations,
    _failures,
    _recording,
    _registry,
)


def right(d_key, std):
    return d_key * std**4


@pytest.fixture
def hurry(monkeypatch):
    monkeypatch.setattr(_engine, "CALL_SECONDS", 0.2)


def loops(d_key, std):
    while True:
        pass


def loops_and_holds_on(d_key, std):
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            pass


def recurses(d_key, std):
    return recurses(d_key, std)


def leaves(d_key, std):
    sys.exit(3)


def waits(d_key, std, scale):
    return d_key


async def sleeps(d_key, std):
    return d_key


class Unspeakable(Exception):
    def __str__(self):
        raise OSError("no")


def raises_the_unspeakable(d_key, std):
    raise Unspeakable


def counts_its_calls(d_key, std, calls=[]):  # noqa: B006
    calls.append(1)
    return d_key * std**4 + len(calls)


def stub(d_key, std):
    raise NotImplementedError()


OWN = [1.0]
OWN.append(OWN)

MISBEHAVED = [
    (stub, "not-written-yet"),
    (None, "not-callable"),
    (64.0, "not-callable"),
    ("d_key * std**4", "not-callable"),
    (waits, "wrong-arguments"),
    (lambda: 1, "wrong-arguments"),
    (lambda d_key: 1, "wrong-arguments"),
    (lambda d_key, std: 1 / 0, "raised"),
    (lambda d_key, std: d_kay, "raised"),
    (leaves, "raised"),
    (raises_the_unspeakable, "raised"),
    (loops, "too-slow"),
    (loops_and_holds_on, "too-slow"),
    (recurses, "endless-recursion"),
    (lambda d_key, std: OWN, "wrong-type"),
    (lambda d_key, std: None, "returned-nothing"),
    (lambda d_key, std: print(d_key * std**4), "printed-only"),
    (lambda d_key, std: f"{d_key * std**4}", "wrong-type"),
    (lambda d_key, std: {"variance": d_key}, "wrong-type"),
    (lambda d_key, std: {d_key}, "wrong-type"),
    (lambda d_key, std: 1j * d_key, "wrong-type"),
    (lambda d_key, std: right, "wrong-type"),
    (lambda d_key, std: (n for n in (1, 2)), "wrong-type"),
    (lambda d_key, std: Sneaky(), "raised"),
    (lambda d_key, std: [[1.0], [2.0, 3.0]], "wrong-type"),
    (lambda d_key, std: [None], "wrong-type"),
    (sleeps, "wrong-type"),
    (lambda d_key, std: np.zeros(10**6), "too-large"),
    (lambda d_key, std: [0.5] * 10**6, "too-large"),
    (lambda d_key, std: [d_key * std**4] * 2, "wrong-shape"),
    (lambda d_key, std: np.zeros((0,)), "hard-coded"),
    (lambda d_key, std: d_key * float("nan"), "hard-coded"),
    (lambda d_key, std: std**4 * d_key if d_key < 3 else float("inf"), "not-a-number"),
    (lambda d_key, std: 16, "hard-coded"),
    (lambda d_key, std: d_key * std**4 * random.random(), "not-repeatable"),
    (lambda d_key, std: d_key * std**4 * np.random.rand(), "not-repeatable"),
    (lambda d_key, std: d_key * std**4 * torch.rand(()), "not-repeatable"),
    (counts_its_calls, "not-repeatable"),
    (lambda d_key, std: d_key * std**3, "wrong"),
    (lambda d_key, std: -d_key * std**4, "wrong"),
    (lambda d_key, std: 48 if d_key == 3 else 0, "wrong"),
    (lambda d_key, std: -0.8e308 * std, "wrong"),
]


@pytest.mark.parametrize(("answer", "name"), MISBEHAVED)
def test_whatever_an_answer_does_it_gets_its_verdict(answer, name, request):
    if name == "too-slow":  # the others need not be quick, the machine may be busy
        request.getfixturevalue("hurry")
    started = time.monotonic()
    verdict = checks.check("ch3-variance", answer)
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)
    assert name in checks.common_failures()
    assert "{" not in verdict.message.replace("{d_key}", "")
    assert time.monotonic() - started < 60
    with pytest.raises(AssertionError, match=name):
        verdict.require()
    json.dumps(verdict.to_dict(), allow_nan=False)
    assert verdict._repr_html_()


def test_the_message_of_an_exception_and_its_line_are_passed_on():
    def answer(d_key, std):
        half = d_key / 2
        return half.missing

    verdict = checks.check("ch3-variance", answer)
    assert "AttributeError" in verdict.message
    assert "line 3 of the function" in verdict.message


def test_an_answer_that_stops_working_is_shown_the_smallest_input_on_which_it_fails():
    verdict = checks.check("ch3-variance", lambda d, s: [1][d - 1] * s**4)
    assert verdict.name == "raised"
    assert verdict.example == {"d_key": 2, "std": 1.0}


def test_a_keyboard_interrupt_passes():
    def answer(d_key, std):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checks.check("ch3-variance", answer)


def test_an_unknown_id_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"Did you mean 'ch3-variance'\?.*ch3-attention"):
        checks.check("ch3-varianse", right)
    with pytest.raises(ValueError, match="Known ids"):
        checks.diagnose("nothing like it", {})


def test_nothing_the_caller_owns_is_changed(capsys):
    def answer(d_key, std):
        random.random(), np.random.rand(), torch.rand(1)
        np.random.seed(1), torch.manual_seed(1), random.seed(1)
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        np.seterr(all="raise")
        print("heard by nobody")
        sys.stderr.write("nor this")
        return d_key * std**4

    before = random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()
    errors, handler, out = np.geterr(), signal.getsignal(signal.SIGALRM), sys.stdout
    assert checks.check("ch3-variance", answer).passed
    after = random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()
    assert before == after
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() == torch.float32
    assert np.geterr() == errors
    assert signal.getsignal(signal.SIGALRM) is handler
    assert sys.stdout is out
    assert capsys.readouterr() == ("", "")


def test_a_printing_right_answer_is_right_however_much_it_prints(capsys):
    def answer(d_key, std):
        for _ in range(2000):
            print("x" * 1000)
        return d_key * std**4

    assert checks.check("ch3-variance", answer).passed
    assert capsys.readouterr().out == ""


def test_the_inputs_of_an_exercise_survive_an_answer_that_ruins_its_arguments():
    def ruin(query, key, value):
        query[:] = key[:] = value[:] = 0
        return value, value

    assert checks.check("ch3-attention", ruin).name in {"changes-its-input", "results-swapped"}
    exercise = _exercises()["ch3-attention"]
    assert checks.check("ch3-attention", exercise.right).passed


def test_a_timer_that_was_running_rings_at_its_own_time():
    rung = []
    old = signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 300)
        with _recording.time_limit(10):
            time.sleep(0.1)
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 299.9
        started = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with _recording.time_limit(10):
            time.sleep(0.1)
        while not rung and time.monotonic() - started < 60:
            time.sleep(0.02)
        assert rung[0] - started >= 0.49
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


@pytest.mark.parametrize("where", ["setitimer", "signal"])
def test_a_timer_that_rings_while_it_is_taken_down_disturbs_nothing(where, monkeypatch):
    """A busy machine may need longer than until the next ring to leave the block."""
    real = getattr(signal, where)

    def slowly(*arguments):
        until = time.monotonic() + 0.15
        while time.monotonic() < until:
            pass
        return real(*arguments)

    handler = signal.getsignal(signal.SIGALRM)
    for _ in range(3):
        with monkeypatch.context() as patch:
            with pytest.raises(_recording.OutOfTime):
                with _recording.time_limit(0.02):
                    patch.setattr(signal, where, slowly)
                    while True:
                        pass
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert signal.getsignal(signal.SIGALRM) is handler


def test_checks_work_in_a_thread_where_no_timer_can_be_set():
    found = []
    thread = threading.Thread(target=lambda: found.append(checks.check("ch3-variance", right)))
    thread.start()
    thread.join()
    assert found[0].passed


def outcomes():
    def attention(query, key, value):
        weights = np.exp(query @ key.T)
        return weights @ value, weights

    yield "ch3-attention", attention, "wrong"
    yield "ch3-attention", lambda q, k, v: 1 / 0, "raised"
    yield "ch3-attention", 3, "not-callable"
    yield "ch3-variance", right, "right"
    yield "ch3-variance", lambda d, s: d * s, "grows-like-std"
    yield "ch3-fold-scale", lambda w, d: w / d, "divided-by-d-key"
    yield "ch3-same-weights", {"A", "B"}, "softmax-ignores-scale"


def test_arrays_travel_as_safetensors_and_are_diagnosed_where_the_code_is_unknown(tmp_path):
    program = (
        "import sys, pathlib\n"
        "from attnkit import checks\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):\n"
        "    id = path.name.split('.')[1]\n"
        "    print(checks.diagnose(id, checks.from_bytes(path.read_bytes())).name)\n"
    )
    names = []
    for number, (id, answer, name) in enumerate(outcomes()):
        arrays = checks.probe(id, answer)
        assert all(isinstance(array, np.ndarray) for array in arrays.values())
        assert {array.dtype.kind for array in arrays.values()} <= set("biuf")
        (tmp_path / f"{number}.{id}").write_bytes(checks.to_bytes(arrays))
        names.append(name)
    ran = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == names


def test_bytes_that_are_none_of_ours_are_refused():
    with pytest.raises(ValueError, match="to_bytes"):
        checks.from_bytes(b"not a file of tensors")


def forged():
    good = checks.probe("ch3-variance", right)
    first = next(key for key in good if key.endswith("/variance"))
    text = _recording.text_array
    yield {}
    yield {"answer/record": np.zeros(3)}
    yield {"answer/record": np.array([255, 0], dtype=np.uint8)}
    yield {"answer/record": text({"status": "something"})}
    yield {"answer/record": good["answer/record"]}
    yield {key: array for key, array in good.items() if key != first}
    yield good | {first: np.array(["16"])}
    yield good | {first: np.array([object()])}
    yield good | {first.replace("/variance", "/record"): text({"status": "returned", "changed": 5})}
    yield good | {first.replace("/variance", "/record"): text({})}
    yield good | {first.replace("/variance", "/record"): np.frombuffer(b"[1]", dtype=np.uint8)}


@pytest.mark.parametrize("arrays", list(forged()))
def test_a_record_that_cannot_be_read_never_passes_and_never_raises(arrays):
    for id in checks.exercise_ids():
        verdict = checks.diagnose(id, arrays)
        assert not verdict.passed
    assert checks.diagnose("ch3-variance", arrays).name == "unreadable-record"


def test_diagnosing_twice_says_the_same_and_leaves_the_arrays_alone():
    arrays = checks.probe("ch3-fold-scale", lambda w, d: w.T)
    kept = {key: array.copy() for key, array in arrays.items()}
    assert str(checks.diagnose("ch3-fold-scale", arrays)) == str(
        checks.diagnose("ch3-fold-scale", arrays)
    )
    assert arrays.keys() == kept.keys()
    assert all(np.array_equal(arrays[key], kept[key]) for key in kept)


class Markup(Exception):
    pass


def test_what_a_student_wrote_is_shown_as_text_and_never_as_markup():
    Markup.__name__ = "<b>Markup</b>"

    def answer(d_key, std):
        raise Markup("<script>alert('x')</script> & {braces} %s")

    verdict = checks.check("ch3-variance", answer)
    html = verdict._repr_html_()
    assert "<script" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert "{braces} %s" in str(verdict)
    strange = checks.check("ch3-same-weights", {"<img src=x onerror=alert(1)>"})._repr_html_()
    assert "<img" not in strange


def test_a_verdict_is_readable_as_text_and_as_html():
    verdict = checks.check("ch3-variance", lambda d, s: d * s**2)
    for shown in (str(verdict), repr(verdict), verdict._repr_html_()):
        assert "std-taken-for-variance" in shown
        assert verdict.message in shown
        assert "the variance of a score" in shown
    assert "expected variance = 16" in str(verdict)
    assert "got variance = 4" in str(verdict)
    html = verdict._repr_html_()
    assert 'href="#ch3-variance"' in html
    assert '<th scope="row"' in html
    assert "background:#" not in html and "color:#" not in html.replace("border-left", "")
    assert "0x" not in str(verdict)


def test_a_verdict_is_true_when_it_passed():
    assert checks.check("ch3-variance", right)
    assert not checks.check("ch3-variance", lambda d, s: d)


def test_half_a_verdict_cannot_be_changed_afterwards():
    verdict = checks.check("ch3-variance", lambda d, s: d)
    with pytest.raises(dataclasses.FrozenInstanceError):
        verdict.passed = True


def test_trials_of_every_exercise_go_from_small_to_large():
    for exercise in _exercises().values():
        if not isinstance(exercise, _engine.FunctionExercise):
            continue
        sizes = [
            sum(np.size(value) for value in trial.inputs.values())
            for trial in exercise.trials
            if trial.required and trial.compared
        ]
        # BOS and two copies of two tokens are the shortest that repeats.
        assert sizes[0] <= (26 if exercise.id == "ch7-induction" else 12)
        assert sizes == sorted(sizes), exercise.id
        assert len({trial.name for trial in exercise.trials}) == len(exercise.trials)


def test_a_choice_without_a_slip_for_it_is_wrong_all_the_same():
    book = _exercises()["ch5-claims"]
    verdict = dataclasses.replace(book, misconceptions=()).diagnose(book.probe("AB"))
    assert (verdict.name, verdict.passed) == ("wrong", False)
    assert verdict.expected


def test_a_sample_that_fails_stops_no_diagnosis():
    book = _exercises()["ch3-variance"]
    broken = _engine.Misconception("broken", "No.", "ch3-variance", (lambda d, s: [][d],))
    exercise = dataclasses.replace(book, misconceptions=(broken, *book.misconceptions))
    assert exercise.diagnose(exercise.probe(lambda d, s: d * s**2)).name == "std-taken-for-variance"
    assert exercise.diagnose(exercise.probe(lambda d, s: 1 / 0)).name == "raised"


def test_names_are_not_shared_by_misconceptions_and_common_failures():
    assert not {row.name for row in checks.misconceptions()} & set(_failures.COMMON)


def test_the_examples_in_the_documentation_are_true():
    modules = [checks, _registry, _experiment, _explanations]
    tried = [doctest.testmod(module) for module in modules]
    assert all(result.attempted >= 2 and not result.failed for result in tried)
