"""What holds for every exercise: each wrong answer has its own name, each right one passes."""

import functools
import importlib
import itertools
import math
import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from answers import NUMBERS, STYLES, styled
from exercises import BY_HAND, EXPERIMENT, LONG_ENOUGH

from attnkit import checks
from attnkit.checks import (
    ChoiceExercise,
    ExperimentExercise,
    FunctionExercise,
    NumbersExercise,
    _engine,
    _exercises,
)

ROOT = Path(__file__).resolve().parents[1]
FUNCTIONS = {k: e for k, e in _exercises().items() if isinstance(e, FunctionExercise)}
CHOICES = {k: e for k, e in _exercises().items() if isinstance(e, ChoiceExercise)}
BY_HANDS = {k: e for k, e in _exercises().items() if isinstance(e, NumbersExercise)}
BY_HANDS |= {BY_HAND.id: BY_HAND}
EXPERIMENTS = {k: e for k, e in _exercises().items() if isinstance(e, ExperimentExercise)}
EXPERIMENTS |= {EXPERIMENT.id: EXPERIMENT}
WRONG = [
    (id, wrong.name, number)
    for id, exercise in FUNCTIONS.items()
    for wrong in exercise.misconceptions
    for number in range(len(wrong.wrong))
]

#: Numbers that it takes to show a mistake: two heads of two numbers; two copies of three tokens.
LARGEST = {
    ("ch5-multi-head", "heads-interleaved"): 80,
    ("ch7-induction", "previous-token"): 50,
}


def number_of(id):
    return int(id.removeprefix("ch").split("-")[0])


def chapters_in_the_book():
    """Paths by number, of the chapters that the table of contents lists."""
    listed = re.findall(r"file: (chapters/(\d\d)-\S+)", (ROOT / "_toc.yml").read_text())
    return {int(number): ROOT / f"{file}.md" for file, number in listed}


def chapter_of(id):
    """The text of the chapter that an exercise belongs to."""
    path = chapters_in_the_book().get(number_of(id))
    assert path is not None, f"{id} belongs to a chapter that _toc.yml does not list"
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("id", "name", "number"), WRONG)
def test_each_wrong_answer_is_explained_by_its_own_name_only(id, name, number):
    exercise = FUNCTIONS[id]
    wrong = next(w for w in exercise.misconceptions if w.name == name).wrong[number]
    for style in ("float64", "float32", "float16", "tensor", "a batch of one"):
        if id == "ch3-variance" and "float16" in style:
            continue  # 25,165,824 is no float16
        arrays = checks.probe(id, styled(style, wrong))
        verdict = checks.diagnose(id, arrays)
        assert (verdict.name, verdict.passed) == (name, False), f"{style}: {verdict}"
        assert not verdict.link or verdict.link in exercise.sections
        seen = [trial for trial in exercise._read(arrays)[0] if trial.trial.required]
        explaining = {w.name for w in exercise.misconceptions if w.explains(seen)}
        assert explaining == {name}, f"{style}: {explaining}"


@pytest.mark.parametrize("id", FUNCTIONS)
def test_the_smallest_input_comes_first_and_shows_the_mistake(id):
    exercise = FUNCTIONS[id]
    for wrong, function in [(w, f) for w in exercise.misconceptions for f in w.wrong]:
        verdict = checks.check(id, styled("float64", function))
        assert verdict.example, wrong.name
        assert verdict.expected and verdict.got, wrong.name
        for key, array in verdict.expected.items():
            got = verdict.got[key]
            kinds_differ = array.dtype == bool and got.dtype != bool
            assert kinds_differ or got.shape != array.shape or not np.allclose(got, array), (
                wrong.name,
                key,
            )
        # Small enough to do by hand.
        largest = LARGEST.get((id, wrong.name), 40)
        assert sum(np.size(value) for value in verdict.example.values()) <= largest, wrong.name


@pytest.mark.parametrize("id", FUNCTIONS)
@pytest.mark.parametrize("style", STYLES)
def test_a_right_answer_passes_in_any_dtype_and_with_extra_axes(id, style):
    verdict = checks.check(id, styled(style, FUNCTIONS[id].right))
    asked_for_booleans = "numbers-for-booleans" in {w.name for w in FUNCTIONS[id].misconceptions}
    numbers = asked_for_booleans and style in NUMBERS
    assert verdict.name == ("numbers-for-booleans" if numbers else "right"), str(verdict)


def loops(*arguments):
    while True:
        pass


def stub(*arguments):
    raise NotImplementedError


@pytest.mark.parametrize("id", FUNCTIONS)
@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (loops, "too-slow"),
        (stub, "not-written-yet"),
        (lambda *arguments: arguments[0][999_999], "raised"),
        (lambda *arguments: None, "returned-nothing"),
        (lambda *arguments: {"result": arguments}, "wrong-type"),
        (lambda *arguments: "0.5", "wrong-type"),
        (lambda: 0.5, "wrong-arguments"),
        (0.5, "not-callable"),
    ],
)
def test_what_is_no_answer_at_all_is_told_so_by_every_exercise(id, answer, name, monkeypatch):
    monkeypatch.setattr(_engine, "CALL_SECONDS", 0.05)
    assert checks.check(id, answer).name == name


class EqualsEverything:
    """Whatever it is compared with, asked or used for: it says yes."""

    dtype, shape, ndim, size = float, (), 0, 1

    def __eq__(self, other):
        return True

    __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __eq__
    __hash__ = None

    def __bool__(self):
        return True

    def __len__(self):
        return 2

    def __getattr__(self, name):
        return self

    def __call__(self, *arguments, **named):
        return self

    def __array_ufunc__(self, *arguments, **named):
        return True


def generates(*arguments):
    yield arguments[0]


async def promises(*arguments):
    return arguments[0]


def holds_on(*arguments):
    while True:
        try:
            time.sleep(0.001)
        except Exception:
            pass


def overwrites(exercise):
    """The right answer, after every array and list among its arguments was overwritten."""

    def answer(*arguments):
        results = exercise.right(
            *(a.numpy() if hasattr(a, "numpy") else a for a in copied(arguments))
        )
        for argument in arguments:
            if hasattr(argument, "shape") and np.size(argument):
                argument[...] = True
            elif isinstance(argument, list):
                argument.clear()
        return results

    return answer


def copied(arguments):
    def copy(a):
        return a.detach().clone() if hasattr(a, "detach") else a.copy() if hasattr(a, "copy") else a

    return map(copy, arguments)


HOSTILE = [
    (lambda *arguments: EqualsEverything(), "wrong-type"),
    (lambda *arguments: np.zeros(10**6), "too-large"),
    (lambda *arguments: np.broadcast_to(1.0, (10**6, 10**6)), "too-large"),
    (lambda *arguments: torch.zeros(1).expand(10**12), "too-large"),
    (generates, "wrong-type"),
    (promises, "wrong-type"),
    (holds_on, "too-slow"),
    (lambda *arguments: 1j, "wrong-type"),
    (lambda *arguments: print(arguments), "printed-only"),
    (EqualsEverything(), "wrong-type"),
    (EqualsEverything, "wrong-arguments"),
]


@pytest.mark.parametrize("id", FUNCTIONS)
def test_an_answer_that_misbehaves_gets_a_common_name_and_gets_it_quickly(id, monkeypatch):
    for answer, name in HOSTILE:
        started = time.monotonic()
        monkeypatch.setattr(_engine, "CALL_SECONDS", 0.03 if answer is holds_on else 3)
        verdict = checks.check(id, answer)
        assert (verdict.name, verdict.passed) == (name, False), str(verdict)
        assert time.monotonic() - started < 60
    inputs = FUNCTIONS[id].trials[0].inputs.values()
    if any(isinstance(value, np.ndarray | list) for value in inputs):
        verdict = checks.check(id, overwrites(FUNCTIONS[id]))
        assert verdict.name == "changes-its-input", str(verdict)


def test_every_code_exercise_has_six_names_and_three_right_answers():
    right = {}
    for path in sorted((ROOT / "tests").glob("test_checks_chapter*.py")):
        table = getattr(importlib.import_module(path.stem), "RIGHT", {})
        right |= table if isinstance(table, dict) else {}
    for id, exercise in FUNCTIONS.items():
        assert len(exercise.misconceptions) >= 6, id
        assert len(right[id]) >= 3, id
    assert len(checks.misconceptions()) >= 600


@pytest.mark.parametrize("id", CHOICES)
def test_every_set_of_letters_gets_a_verdict_and_one_of_them_passes(id):
    exercise = CHOICES[id]
    letters = [option.letter for option in exercise.options]
    sizes = range(1, len(letters) + 1)
    sets = [frozenset(s) for n in sizes for s in itertools.combinations(letters, n)]
    verdicts = {s: checks.check(id, s) for s in sets}
    assert [s for s, v in verdicts.items() if v.passed] == [exercise.key]
    assert {v.name for v in verdicts.values()} == {w.name for w in exercise.misconceptions} | {
        "right"
    }


@pytest.mark.parametrize("id", CHOICES)
def test_one_letter_too_many_or_missing_is_called_by_a_name_of_its_own(id):
    exercise = CHOICES[id]
    names = set()
    for option in exercise.options:
        verdict = checks.check(id, exercise.key ^ {option.letter})
        assert not verdict.passed
        assert verdict.example[f"option {option.letter}"] == option.text
        chosen = "not chosen" if option.right else "chosen"
        assert verdict.got == {f"option {option.letter}": chosen}
        assert verdict.expected, option.letter
        names.add(verdict.name)
    assert len(names) == len(exercise.options)
    everything = checks.check(id, {option.letter for option in exercise.options})
    opposite = checks.check(id, {o.letter for o in exercise.options} - exercise.key)
    assert len(names | {everything.name, opposite.name}) == len(exercise.options) + 2


@pytest.mark.parametrize("id", CHOICES)
def test_the_chapter_prints_the_options_that_are_checked(id):
    printed = " ".join(chapter_of(id).split())
    for option in CHOICES[id].options:
        assert f"- **{option.letter}** {option.text}" in printed


def copies(exercise, number):
    """The book's own exercise and so many copies with other data."""
    return [exercise, *(copy_of(exercise.id, n) for n in range(number))]


@functools.cache
def copy_of(id, number):
    return (BY_HANDS | EXPERIMENTS)[id].varied(f"{number:x}")


def numbers(value, exercise):
    """Numbers as a learner writes them: as many decimals as are wanted, lists for arrays."""
    if isinstance(value, tuple):
        return tuple(numbers(part, exercise) for part in value)
    array = np.asarray(value)
    decimals = math.ceil(-math.log10(2 * exercise.tolerance))  # two, where 0.01 is allowed
    return (array.round(decimals) if array.dtype.kind == "f" else array).tolist()


@pytest.mark.parametrize("id", BY_HANDS)
def test_each_wrong_number_is_called_by_its_own_name_in_every_copy(id):
    for copy in copies(BY_HANDS[id], 20):
        for wrong in copy.misconceptions:
            assert wrong.wrong, wrong.name
            for form in wrong.wrong:
                verdict = copy.diagnose(copy.probe(numbers(form(**copy.given), copy)))
                assert (verdict.name, verdict.passed) == (wrong.name, False), (copy.given, verdict)
                assert verdict.expected and verdict.got
                assert verdict.link in copy.sections
                assert not [w for w in copy.misconceptions if w is not wrong and _is(copy, w, form)]


def _is(copy, wrong, form):
    """Whether the numbers of a form are another misconception's, too."""
    got = copy.outcome(form)
    return copy._form(wrong, got, copy.outcome(copy.right)) is not None


@pytest.mark.parametrize("id", BY_HANDS)
def test_the_right_numbers_pass_in_every_copy(id):
    for copy in copies(BY_HANDS[id], 50):
        right = copy.right(**copy.given)
        forms = [right, numbers(right, copy)]
        if len(copy.results) > 1:
            forms.append(dict(zip(copy.results, numbers(right, copy), strict=True)))
        for form in forms:
            verdict = copy.diagnose(copy.probe(form))
            assert verdict.passed, (copy.given, str(verdict))


@pytest.mark.parametrize("id", BY_HANDS)
def test_numbers_have_no_rivals_and_copies_differ(id):
    exercise = BY_HANDS[id]
    assert exercise.clash() == ""
    assert len(exercise.misconceptions) >= 3
    given = {str(copy.given) for copy in copies(exercise, 50)}
    assert len(given) > 10, "draw from more values: classmates get the same numbers"


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_a_right_measurement_passes_in_every_copy(id):
    for copy in copies(EXPERIMENTS[id], 10):
        answer = (copy.predicts.example(), copy.right, LONG_ENOUGH)
        verdict = copy.diagnose(copy.probe(answer))
        assert verdict.passed, (copy.given, str(verdict))


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_each_wrong_measurement_is_called_by_its_own_name_in_every_copy(id):
    for copy in copies(EXPERIMENTS[id], 10):
        for wrong in copy.misconceptions:
            assert wrong.wrong, f"{wrong.name} has no sample"
            for sample in wrong.wrong:
                verdict = copy.diagnose(copy.probe((copy.predicts.example(), sample, LONG_ENOUGH)))
                assert (verdict.name, verdict.passed) == (wrong.name, False), str(verdict)
                assert verdict.got and verdict.link in copy.sections


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_an_experiment_is_refused_when_a_part_of_it_is_missing_or_another(id):
    exercise = replace(EXPERIMENTS[id], seconds=0.05)
    prediction, right = exercise.predicts.example(), exercise.right

    def hundredfold(*arguments):
        outcome = right(*arguments)
        parts = outcome if isinstance(outcome, tuple) else (outcome,)
        times = tuple(100 * np.asarray(part) for part in parts)
        return times if isinstance(outcome, tuple) else times[0]

    refused = [
        ((None, right, LONG_ENOUGH), {"no-prediction"}),
        ((object(), right, LONG_ENOUGH), {"wrong-type"}),
        ((prediction, stub, LONG_ENOUGH), {"not-written-yet"}),
        ((prediction, 0.5, LONG_ENOUGH), {"not-callable"}),
        ((prediction, lambda *_: None, LONG_ENOUGH), {"returned-nothing"}),
        ((prediction, loops, LONG_ENOUGH), {"too-slow"}),
        ((prediction, right, "Two or three sentences."), {"no-explanation"}),
        ((prediction, right, "It does."), {"explanation-too-short"}),
        ((None, stub, None), {"not-written-yet"}),
        ((prediction, hundredfold, LONG_ENOUGH), {"in-percent", "measured-otherwise"}),
    ]
    for answer, names in refused:
        verdict = exercise.diagnose(exercise.probe(answer))
        own = (
            {wrong.name for wrong in exercise.misconceptions} if answer[1] is hundredfold else set()
        )
        assert not verdict.passed and verdict.name in names | own, str(verdict)


@pytest.mark.parametrize("id", EXPERIMENTS)
def test_a_measurement_that_does_not_use_its_seed_is_told_so(id):
    exercise = EXPERIMENTS[id]
    if not exercise.seeds:
        return
    first = {name: value for name, value in exercise.trials_of(exercise.seeds)[0].inputs.items()}

    def fixed(*arguments):
        given = dict(zip(first, arguments, strict=True))
        return exercise.right(*(given | {k: first[k] for k in first if "seed" in k}).values())

    verdict = exercise.diagnose(exercise.probe((exercise.predicts.example(), fixed, LONG_ENOUGH)))
    assert verdict.name == "ignores-its-argument", str(verdict)


@pytest.mark.parametrize("id", checks.exercise_ids())
def test_every_link_is_a_label_of_its_chapter(id):
    labels = set(re.findall(r"^\(([\w-]+)\)=$", chapter_of(id), flags=re.MULTILINE))
    links = {row.link for row in checks.misconceptions() if row.id == id}
    links.add(checks.check(id, None).link)
    assert links and links <= labels


def test_every_link_has_a_title():
    for id, exercise in _exercises().items():
        links = {row.link for row in checks.misconceptions() if row.id == id}
        assert links | {exercise.link} <= exercise.sections.keys(), id


def test_messages_are_one_to_three_sentences():
    for row in checks.misconceptions():
        assert 1 <= len(re.findall(r"[.?!](?= |$)", row.message)) <= 3, (row.id, row.name)
