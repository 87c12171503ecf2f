"""Exercises done by hand: however the numbers are written down, and whatever they are."""

import decimal
import fractions
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from exercises import BY_HAND, ONE_NUMBER, SECTIONS, softmax

from attnkit import checks
from attnkit.checks import Misconception, NumbersExercise

SCORES = BY_HAND.given["scores"]
WEIGHTS = softmax(SCORES)
HALF = ONE_NUMBER.right(1.0)


def diagnosed(exercise, answer):
    """By way of the bytes, as in a class."""
    return exercise.diagnose(checks.from_bytes(checks.to_bytes(exercise.probe(answer))))


@pytest.mark.parametrize(
    "answer",
    [
        (WEIGHTS, 3),
        [list(WEIGHTS), 3],
        (list(map(float, WEIGHTS.round(2))), 3.0),
        ([0.14, 0.23, 0.63], 3),
        (torch.tensor(WEIGHTS, requires_grad=True), torch.tensor(3)),
        (torch.tensor(WEIGHTS).half(), np.int8(3)),
        (WEIGHTS[None], [3]),
        (WEIGHTS[:, None], np.array([[3]])),
        ((tuple(WEIGHTS), 3),),
        {"weights": WEIGHTS, "best key": 3},
        {"Best_Key ": 3, "WEIGHTS": WEIGHTS, "scores": SCORES},
        ([fractions.Fraction(float(w)) for w in WEIGHTS], decimal.Decimal(3)),
        (list(torch.tensor(WEIGHTS)), 3),
    ],
)
def test_the_right_numbers_pass_however_they_are_written_down(answer):
    verdict = diagnosed(BY_HAND, answer)
    assert verdict.name == "right", str(verdict)
    verdict.require()


@pytest.mark.parametrize(
    "answer",
    [
        *(HALF, 0.73, 0.735, [0.73], (0.73,), np.float32(0.73), np.array([[0.73]])),
        *(torch.tensor(0.73), {"weight": 0.73}, fractions.Fraction(73, 100)),
    ],
)
def test_one_number_may_be_rounded_to_two_decimals_and_wrapped(answer):
    assert diagnosed(ONE_NUMBER, answer).passed


def test_the_tolerance_is_absolute_and_ends_where_it_says():
    assert diagnosed(ONE_NUMBER, HALF + 0.0099).passed
    assert diagnosed(ONE_NUMBER, HALF - 0.01).passed
    assert not diagnosed(ONE_NUMBER, HALF + 0.0101).passed


class Sneaky(list):
    def __iter__(self):
        raise OSError("no")

    def __eq__(self, other):
        return True

    __hash__ = None


class Named(type):
    @property
    def __name__(cls):
        return 5


def endless():
    while True:
        yield 1


OWN = []
OWN.append(OWN)


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (None, "not-written-yet"),
        (..., "not-written-yet"),
        ("", "not-written-yet"),
        ("  \n", "not-written-yet"),
        ([], "not-written-yet"),
        ({}, "not-written-yet"),
        ((None, None), "not-written-yet"),
        ([[None, None, None], None], "not-written-yet"),
        ({"weights": None, "best key": ...}, "not-written-yet"),
        ((WEIGHTS, None), "wrong-count"),
        ((WEIGHTS,), "wrong-count"),
        (WEIGHTS, "wrong-count"),
        (3, "wrong-count"),
        (torch.tensor(3), "wrong-count"),
        ((WEIGHTS, 3, 4), "wrong-count"),
        ({"weights": WEIGHTS}, "wrong-count"),
        ({"weight": WEIGHTS, "key": 3}, "wrong-count"),
        ("0.15 0.23 0.62 3", "wrong-type"),
        ((["0.15", "0.23", "0.62"], 3), "wrong-type"),
        ((WEIGHTS, "3"), "wrong-type"),
        (([None, 0.23, 0.62], 3), "wrong-type"),
        (b"3", "wrong-type"),
        ({3, 4}, "wrong-type"),
        (softmax, "wrong-type"),
        ((softmax, 3), "wrong-type"),
        ((WEIGHTS, endless()), "wrong-type"),
        (endless(), "wrong-type"),
        ((WEIGHTS * 1j, 3), "wrong-type"),
        ((OWN, 3), "wrong-type"),
        (OWN, "wrong-type"),
        (Sneaky([WEIGHTS, 3]), "wrong-type"),
        (Named("Odd", (), {})(), "wrong-type"),
        ((np.zeros(10**6), 3), "too-large"),
        ((WEIGHTS[:2], 3), "wrong-shape"),
        ((np.outer(WEIGHTS, WEIGHTS), 3), "wrong-shape"),
        ((WEIGHTS, [3, 3]), "wrong-shape"),
        (([0.15, 0.23, float("nan")], 3), "not-a-number"),
        ((WEIGHTS, float("inf")), "not-a-number"),
        ((WEIGHTS, float("-inf")), "not-a-number"),
        ((WEIGHTS * 1e308, -1e308), "wrong"),
        ((WEIGHTS[::-1], 3), "wrong"),
        ((WEIGHTS, 4), "wrong"),
        ((WEIGHTS.round(1), 3), "rounded-too-far"),
        (([0.105, 0.2, 0.6], 3), "wrong"),
        ((100 * WEIGHTS, 3), "in-percent"),
        (((100 * WEIGHTS).round(), 3), "in-percent"),
        ((100 * WEIGHTS, 300), "wrong"),
    ],
)
def test_what_are_not_the_right_numbers_is_told_what_it_is(answer, name):
    verdict = diagnosed(BY_HAND, answer)
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)
    assert name in checks.common_failures()
    assert "{" not in verdict.message and verdict.link == "here"
    verdict.to_dict(), verdict._repr_html_()


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (73, "in-percent"),
        (100 * HALF, "in-percent"),
        ("73%", "wrong-type"),
        ("0.73", "wrong-type"),
        ("73/100", "wrong-type"),
        (lambda: 0.73, "wrong-type"),
        (0.7, "rounded-too-far"),
        (0.8, "wrong"),
        (27, "wrong"),
        ([0.73, 0.27], "wrong-shape"),
        ({"gap": 1.0}, "wrong-count"),
    ],
)
def test_a_single_number_in_another_form_has_its_own_name(answer, name):
    verdict = diagnosed(ONE_NUMBER, answer)
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


def test_text_is_refused_with_the_cure():
    message = diagnosed(ONE_NUMBER, "0.73").message
    assert "without quotation marks" in message and "weight" in message


def test_a_small_number_is_no_percentage_of_nothing():
    rare = replace(ONE_NUMBER, right=lambda gap: 0.0)
    assert diagnosed(rare, 0.5).name == "wrong"
    assert diagnosed(rare, 0.9).name == "wrong"


def test_percent_is_only_suspected_where_shares_are_wanted():
    verdict = diagnosed(replace(ONE_NUMBER, right=lambda gap: 3 * gap), 300)
    assert verdict.name == "wrong"


@pytest.mark.parametrize("code", ["", "a1", "b2"])
def test_wrong_numbers_are_called_by_name_and_the_right_ones_are_not_given_away(code):
    exercise = BY_HAND.varied(code)
    right = exercise.right(**exercise.given)
    for wrong in exercise.misconceptions:
        for form in wrong.wrong:
            weights, key = form(**exercise.given)
            verdict = diagnosed(exercise, (np.round(weights, 2), key))
            assert verdict.name == wrong.name, str(verdict)
            assert verdict.link == wrong.link
            (shown,) = verdict.example.values()
            assert shown != exercise.given["scores"]
            np.testing.assert_allclose(verdict.expected["weights"], softmax(shown))
            for name, array in zip(exercise.results, form(shown), strict=True):
                np.testing.assert_allclose(verdict.got[name], array)
            assert not np.allclose(verdict.expected["weights"], right[0])
    assert not diagnosed(exercise, (right[0], right[1] + 4)).expected


def test_a_copy_has_values_of_its_own_and_knows_the_answer_to_the_books():
    copy = BY_HAND.varied("a1")
    assert copy.given.keys() == BY_HAND.given.keys() and copy.given != BY_HAND.given
    assert diagnosed(copy, copy.right(**copy.given)).passed
    verdict = diagnosed(copy, (WEIGHTS, 3))
    assert (verdict.name, verdict.passed) == ("numbers-of-another-copy", False)
    assert diagnosed(BY_HAND, copy.right(**copy.given)).name == "wrong"
    assert copy.varied("").given == BY_HAND.given
    assert copy.varied("b2").given == BY_HAND.varied("b2").given


def test_draws_that_cannot_tell_the_answers_apart_are_drawn_again():
    for code in map(str, range(100)):
        copy = BY_HAND.varied(code)
        outcomes = [softmax(SCORES), softmax(copy.given["scores"])]
        outcomes += [w.wrong[0](**copy.given)[0] for w in BY_HAND.misconceptions[:2]]
        assert all(np.isfinite(outcome).all() for outcome in outcomes)
        for number, outcome in enumerate(outcomes):
            assert all(abs(outcome - other).max() > 0.02 for other in outcomes[:number])


def only(values, **changes):
    return replace(ONE_NUMBER, draw=lambda rng: {"gap": rng.choice(values)}, **changes)


def test_an_author_whose_draws_never_work_is_told_which_answers_clash():
    with pytest.raises(ValueError, match="test-one-number: in 500 draws 'right' and 'other-key'"):
        only([0.0]).varied("x")
    with pytest.raises(ValueError, match="'right' and 'right in the book' have the same"):
        only([1.0]).varied("x")
    with pytest.raises(ValueError, match="expected"):
        replace(ONE_NUMBER, draw=lambda rng: {"gab": 1.0}).varied("x")
    broken = Misconception("broken", "No.", "here", (lambda gap: [][3],))
    assert "broken" in replace(ONE_NUMBER, misconceptions=(broken,)).clash()
    assert only([0.0, 2.0]).varied("x").given == {"gap": 2.0}


def test_the_case_that_is_shown_is_never_the_learners_own():
    two = replace(ONE_NUMBER, draw=lambda rng: {"gap": rng.choice([2.0, 3.0])})
    for code in "abcdef":
        copy = two.varied(code)
        verdict = diagnosed(copy, copy.misconceptions[0].wrong[0](**copy.given))
        assert verdict.name == "other-key"
        assert verdict.example == {"gap (another case)": 5.0 - copy.given["gap"]}
    same = only([2.0]).varied("a")
    verdict = diagnosed(same, same.misconceptions[0].wrong[0](2.0))
    assert (verdict.example, verdict.expected) == ({"gap": 2.0}, {})


def test_given_values_can_be_written_into_a_notebook():
    with pytest.raises(ValueError, match="scores of the given values"):
        replace(BY_HAND, given={"scores": np.zeros(3)})
    with pytest.raises(ValueError, match="gap"):
        replace(ONE_NUMBER, draw=lambda rng: {"gap": np.float64(2)}).varied("x")


def test_a_mistake_may_be_recognised_by_a_rule():
    negative = Misconception(
        "negative", "A weight is not negative.", "there",
        when=lambda trials: all(seen.got["weight"] < 0 for seen in trials),
    )  # fmt: skip
    exercise = replace(ONE_NUMBER, misconceptions=(negative, *ONE_NUMBER.misconceptions))
    verdict = diagnosed(exercise, -0.3)
    assert (verdict.name, verdict.got) == ("negative", {"weight": np.array(-0.3)})
    assert diagnosed(exercise, 0.27).name == "other-key"


def test_records_that_cannot_be_read_never_pass():
    good = BY_HAND.probe((WEIGHTS, 3))
    for bad in (
        {},
        {"answer/record": good["answer/record"]},
        {key: array for key, array in good.items() if key != "answer/weights"},
        good | {"answer/weights": np.array(["a", "b", "c"])},
        good | {"answer/record": np.zeros(3)},
        good | {"answer/record": ONE_NUMBER.probe(lambda: 1)["answer/record"][:-2]},
    ):
        assert BY_HAND.diagnose(bad).name == "unreadable-record"
    assert BY_HAND.diagnose(ONE_NUMBER.probe(0.7)).name == "unreadable-record"


def test_a_thread_without_a_timer_will_do():
    found = []
    thread = threading.Thread(target=lambda: found.append(diagnosed(ONE_NUMBER, 0.73)))
    thread.start()
    thread.join()
    assert found[0].passed


def test_a_keyboard_interrupt_passes():
    class Interrupted(list):
        def __len__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        BY_HAND.probe(Interrupted([1]))


def test_results_named_like_python_words_and_with_blanks_are_fine():
    exercise = NumbersExercise(
        "x", "x", "here", SECTIONS, {"a": 2}, lambda rng: {"a": rng.randint(3, 9)},
        ("lambda", "d k"), lambda a: (a, a * a), (),
    )  # fmt: skip
    assert diagnosed(exercise, {"lambda": 2, "d_k": 4}).passed
    assert diagnosed(exercise.varied("c"), (2, 4)).name == "numbers-of-another-copy"
