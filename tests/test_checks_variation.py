"""Copies of exercises: their data follow from the id and a code, the same on every Python."""

import itertools
import re
from dataclasses import replace

import pytest
from exercises import BY_HAND, EXPERIMENT

from attnkit import checks
from attnkit.checks import ChoiceExercise, Slip, _exercises

CHOICES = {k: e for k, e in _exercises().items() if isinstance(e, ChoiceExercise)}


def test_the_order_of_a_copy_is_this_one_and_no_other():
    for id, code, letters in [
        ("ch3-same-weights", "a1b2c3d4e5", "FCBDEAG"),
        ("ch5-claims", "0", "FDEBACG"),
        ("ch5-claims", "ünï", "CGFDEBA"),
    ]:
        assert checks.exercise(id, code).letters == dict(zip("ABCDEFG", letters, strict=True))


def test_values_and_seeds_of_a_copy_are_these_and_no_others():
    assert BY_HAND.varied("a1b2c3d4e5").given == {"scores": (-2.0, -0.5, -1.0)}
    assert EXPERIMENT.varied("a1b2c3d4e5").given == {"seeds": (49, 389)}


@pytest.mark.parametrize("id", checks.exercise_ids())
def test_without_a_code_an_exercise_is_the_books(id):
    exercise = checks.exercise(id)
    assert exercise is checks.exercise(id, "") or exercise == checks.exercise(id, "")
    assert exercise.given == _exercises()[id].given
    assert all(a == b for a, b in getattr(exercise, "letters", {}).items())


def test_codes_differ_and_ids_differ():
    orders = [str(checks.exercise("ch5-claims", f"{n}").letters) for n in range(50)]
    assert len(set(orders)) > 45
    assert len({str(CHOICES[id].varied("a1").letters) for id in CHOICES}) > len(CHOICES) / 2
    assert len({str(BY_HAND.varied(f"{n}").given) for n in range(50)}) > 40


@pytest.mark.parametrize("id", CHOICES)
def test_options_key_and_messages_follow_the_letters(id):
    book = CHOICES[id]
    for code in ("a1", "b2", "ünï"):
        copy = checks.exercise(id, code)
        letters = [option.letter for option in book.options]
        assert [option.letter for option in copy.options] == letters
        texts = {option.letter: option.text for option in copy.options}
        assert all(texts[copy.letters[o.letter]] == o.text for o in book.options)
        assert copy.key == {copy.letters[letter] for letter in book.key}
        for ours, theirs in zip(book.misconceptions, copy.misconceptions, strict=True):
            moved = re.sub(r"\{([A-Z])\}", lambda m, c=copy: c.letters[m[1]], ours.message)
            assert theirs.text == moved


@pytest.mark.parametrize("id", CHOICES)
def test_every_set_of_letters_has_the_same_name_in_every_copy(id):
    """Any choice, told by what its options say: the letters make no difference."""
    book = CHOICES[id]
    letters = [option.letter for option in book.options]
    sets = [set(s) for n in range(len(letters) + 1) for s in itertools.combinations(letters, n)]
    copy = book.varied("a1b2")
    for chosen in sets:
        ours = book.diagnose(book.probe(chosen))
        theirs = copy.diagnose(copy.probe({copy.letters[letter] for letter in chosen}))
        assert (ours.name, ours.passed) == (theirs.name, theirs.passed), chosen
        assert theirs.link == ours.link


def test_a_copied_choice_is_checked_with_its_code():
    copy = checks.exercise("ch5-claims", "a1")
    answer = "".join(copy.letters[letter] for letter in "BEF")
    assert checks.check("ch5-claims", answer, variation="a1").passed
    assert not checks.check("ch5-claims", answer).passed
    arrays = checks.from_bytes(checks.to_bytes(checks.probe("ch5-claims", answer, variation="a1")))
    assert checks.diagnose("ch5-claims", arrays, variation="a1").passed
    everything = checks.check("ch5-claims", "ABCDEFG", variation="a1")
    assert f"Begin with {copy.letters['C']} and {copy.letters['D']}:" in everything.message
    with pytest.raises(ValueError, match="varied already"):
        copy.varied("b2")


def test_a_rule_about_single_letters_follows_them_into_a_copy():
    first_two = Slip(
        "first-two", "{A} and {B}.", "here", rule=lambda chosen, _: chosen == set("AB")
    )
    book = replace(CHOICES["ch5-claims"], misconceptions=(first_two,))
    copy = book.varied("a1")
    a, b = copy.letters["A"], copy.letters["B"]
    assert {a, b} != {"A", "B"}
    verdict = copy.diagnose(copy.probe({a, b}))
    assert (verdict.name, verdict.message) == ("first-two", f"{a} and {b}.")
    assert copy.diagnose(copy.probe("AB")).name == "wrong"


def test_a_function_is_the_same_exercise_in_every_copy():
    exercise = checks.exercise("ch3-variance", "a1")
    assert exercise is checks.exercise("ch3-variance")
    assert checks.check("ch3-variance", lambda d, s: d * s**4, variation="a1").passed


def test_seeds_of_a_copy_are_others_than_the_books():
    for code in map(str, range(100)):
        seeds = EXPERIMENT.varied(code).given["seeds"]
        assert len(set(seeds)) == 2 and not {0, 1} & set(seeds)
        assert all(type(seed) is int and 0 <= seed < 1000 for seed in seeds)
    assert EXPERIMENT.varied("a1").varied("b2").given == EXPERIMENT.varied("b2").given


def test_a_code_is_a_text():
    with pytest.raises(TypeError, match="variation is a code, a text; got int"):
        checks.check("ch3-variance", None, variation=3)


def test_no_message_or_option_speaks_of_a_letter_that_would_not_follow():
    """A letter of an option stands in braces; A at the start of a sentence is a word."""
    for exercise in CHOICES.values():
        letters = "".join(option.letter for option in exercise.options)
        for text in [s.message for s in exercise.misconceptions] + [
            o.text for o in exercise.options
        ]:
            text = re.sub(r"\{[A-Z]\}", "", re.sub(r"(^|[.?!:] )A ", r"\1", text))
            assert not re.search(rf"(?<![\w·(])[{letters}](?![\w·√)])", text), text
