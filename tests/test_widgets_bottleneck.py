"""BottleneckGame from Python: what is refused, how rounds are judged, the static picture."""

import json

import numpy as np
import pytest
from traitlets import TraitError

from attnkit.widgets import BottleneckGame

CURVES = {
    "fixed vector": {12: (0.02, 0.0, 0.05), 4: (1.0, 0.9, 1.0), 8: (0.6, 0.5, 0.7)},
    "attention": {4: (1.0, 1.0, 1.0), 12: (0.96, 0.94, 0.98)},
}


def played(looking, asked, typed):
    return {"looking": looking, "asked": asked, "typed": typed}


def test_repr_can_be_typed_back():
    game = BottleneckGame(
        {"a": {3: (0.5, 0.25, 1)}}, (3, 5), seconds=None, seed=7, rounds=[played(True, "11", "12")]
    )
    assert repr(game) == (
        "BottleneckGame(accuracy={'a': {3: (0.5, 0.25, 1.0)}}, lengths=(3, 5), seconds=None, "
        "seed=7, rounds=[{'looking': True, 'length': 2, 'asked': '11', 'typed': '12', "
        "'right': False, 'digits_right': 0.5}])"
    )
    assert repr(eval(repr(game))) == repr(game)


@pytest.mark.parametrize(
    ("trait", "value", "says"),
    [
        ("accuracy", [1], "a dict: model name"),
        ("accuracy", {"a": {}}, "a dict: model name"),
        ("accuracy", {"a": 0.5}, "a dict: model name"),
        ("accuracy", {"a": {"4": (1, 1, 1)}}, "The number of digits is an int"),
        ("accuracy", {"a": {16: (1, 1, 1)}}, "an int from 1 to 15"),
        ("accuracy", {"a": {4: 0.5}}, "a, 4 digits: three numbers are needed"),
        ("accuracy", {"a": {4: (0.5, 0.6, 0.7)}}, "low ≤ median"),
        ("accuracy", {"a": {4: (50, 40, 60)}}, "shares, not percent"),
        ("accuracy", {"a": {4: (float("nan"), 0, 1)}}, "low ≤ median"),
        ("accuracy", {name: {4: (1, 1, 1)} for name in "abcde"}, "At most 4 models"),
        ("lengths", (), "1 to 10 rising"),
        ("lengths", (6, 4), "Sort them"),
        ("lengths", (4, 4), "Sort them"),
        ("lengths", (0, 4), "0 is not such a number"),
        ("lengths", (4, 16), "16 is not such a number"),
        ("lengths", "46", "Such as"),
        ("lengths", (4, 6.0), r"6\.0 is not such a number"),
        ("seconds", 0.5, "from 1 to 60 or None"),
        ("seed", -1, "from 0 to 2147483647 or None"),
        ("seed", 1.5, "Convert it with int"),
        ("rounds", "none", "forgets all rounds"),
        ("rounds", [{}], "looking, asked and typed are needed"),
        ("rounds", [played(1, "1", "1")], "looking is True or False"),
        ("rounds", [played(True, "12a", "1")], "digits 0 to 9"),
        ("rounds", [played(True, "1\uff12", "1")], "digits 0 to 9"),
        ("rounds", [played(True, 12, "1")], "digits 0 to 9"),
        ("rounds", [played(True, "", "1")], "1 to 15 digits"),
    ],
)
def test_what_is_refused(trait, value, says):
    game = BottleneckGame(CURVES)
    before = repr(game)
    with pytest.raises(TraitError, match=rf"BottleneckGame\.{trait}: expected .*{says}"):
        setattr(game, trait, value)
    with pytest.raises(TraitError, match=rf"BottleneckGame\.{trait}: expected .*{says}"):
        BottleneckGame(**{trait: value})
    assert repr(game) == before


def test_numbers_of_other_libraries_are_taken():
    game = BottleneckGame({"a": {np.int64(4): np.array([0.5, 0.25, 1.0])}}, range(2, 5))
    assert game.accuracy == {"a": {4: (0.5, 0.25, 1.0)}} and game.lengths == [2, 3, 4]
    json.dumps(game.get_state()["accuracy"])


def test_curves_travel_in_rising_order():
    assert BottleneckGame(CURVES).get_state()["accuracy"] == [
        ["fixed vector", [[4, 1.0, 0.9, 1.0], [8, 0.6, 0.5, 0.7], [12, 0.02, 0.0, 0.05]]],
        ["attention", [[4, 1.0, 1.0, 1.0], [12, 0.96, 0.94, 0.98]]],
    ]


@pytest.mark.parametrize(
    ("asked", "typed", "right", "share"),
    [
        ("4711", "4711", True, 1.0),
        ("4711", "4717", False, 0.75),
        ("4711", "711", False, 0.25),  # one digit left out moves the rest: 7-4, 1-7, 1-1
        ("4711", "47110", False, 1.0),  # all in place, but one too many: not the number
        ("4711", "", False, 0.0),
        ("7", "7", True, 1.0),
    ],
)
def test_a_round_is_judged_as_a_whole_and_by_digits(asked, typed, right, share):
    game = BottleneckGame(CURVES, rounds=[played(False, asked, typed)])
    (found,) = game.rounds
    assert (found["right"], found["digits_right"], found["length"]) == (right, share, len(asked))


def test_what_a_message_claims_is_worked_out_again():
    game = BottleneckGame(CURVES)
    claimed = played(False, "12", "21") | {"right": True, "digits_right": 1, "length": 99}
    game.set_state({"rounds": [claimed]})
    assert game.rounds[0]["right"] is False and game.rounds[0]["length"] == 2


def test_several_trials_of_a_length_become_a_share():
    game = BottleneckGame(CURVES)
    game.rounds = [
        played(False, "12345678", "12345678"),
        played(False, "12345678", "12345687"),
        played(True, "12345678", "12345678"),
        played(False, "1234", "0000"),
    ]
    assert game.curve(looking=False) == [(4, 1, 0, 0.0), (8, 2, 1, 0.875)]
    assert game.curve(looking=True) == [(8, 1, 1, 1.0)]


def test_traits_observe():
    game, seen = BottleneckGame(CURVES), []
    game.observe(lambda change: seen.append(len(change["new"])), "rounds")
    game.rounds = [played(False, "12", "12")]
    game.rounds = []
    assert seen == [1, 0]


# ------------------------------------------------------------------ the static picture


def test_picture_has_the_curves_and_room_for_the_reader():
    (axes,) = BottleneckGame(CURVES).picture().axes
    fixed, attention, reader = axes.lines
    assert fixed.get_xydata().tolist() == [[4, 1.0], [8, 0.6], [12, 0.02]]
    assert attention.get_xydata().tolist() == [[4, 1.0], [12, 0.96]]
    assert reader.get_xydata().size == 0
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["fixed vector", "attention", "you: not played yet"]
    assert axes.get_ylim()[0] < 0 and axes.get_ylim()[1] > 1  # points on 0 and 1 are whole


def test_picture_draws_the_reader_s_rounds():
    rounds = [
        played(False, "4711", "4711"),
        played(False, "12345678", "0"),
        played(True, "47", "47"),
    ]
    (axes,) = BottleneckGame(CURVES, rounds=rounds).picture().axes
    assert [line.get_xydata().tolist() for line in axes.lines[2:]] == [[[4, 1], [8, 0]], [[2, 1]]]
    assert axes.get_xlim()[0] < 2
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names[2:] == ["you, from memory", "you, looking allowed"]


def test_description_has_the_numbers():
    text = BottleneckGame(CURVES).describe()
    assert "8 digits 60.0 % (50.0 % to 70.0 %)" in text and "curve is missing" in text
    text = BottleneckGame(CURVES, rounds=[played(False, "4711", "4711")]).describe()
    assert "you, from memory: 4 digits 1 of 1" in text and "missing" not in text


def test_no_curves_and_odd_names_are_drawn():
    assert BottleneckGame().png().startswith(b"\x89PNG")
    odd = {"cost$5 and $6": {4: (1, 1, 1)}, "_x": {4: (1, 1, 1)}, "中国": {1: (0, 0, 0)}}
    assert BottleneckGame(odd).png().startswith(b"\x89PNG")
