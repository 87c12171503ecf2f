"""MaskEditor from Python: its masks, its code, which mask is which preset, what is refused."""

import itertools
import random

import numpy as np
import pytest
import torch
from traitlets import TraitError

from attnkit import causal_mask, masked_softmax, padding_mask, sliding_window_mask
from attnkit.widgets import MaskEditor, mask_rules

SEVEN = list("abcdefg")


def random_masks(count, seed=3):
    """Square masks of 2 to 12 tokens: from nearly all to nearly nothing."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        n, share = rng.randint(2, 12), rng.choice([0.03, 0.3, 0.6, 0.97])
        found.append([[rng.random() < share for _ in range(n)] for _ in range(n)])
    return found


def made_by(code):
    """The mask that the code makes, one row for each query."""
    names = {}
    exec(code, names)
    mask = names["mask"]
    assert mask.dtype == torch.bool
    n = mask.shape[-1]
    return mask.expand(1, 1, n, n)[0, 0] if mask.ndim == 4 else mask


# ------------------------------------------------------------------ masks


@pytest.mark.parametrize(
    ("preset", "expected"),
    [
        ("all", torch.ones(7, 7, dtype=torch.bool)),
        ("causal", causal_mask(7)),
        ("window", sliding_window_mask(7, 2)),
        ("two-sided window", sliding_window_mask(7, 2) | sliding_window_mask(7, 2).mT),
        ("padding", padding_mask([5], 7)[0, 0].expand(7, 7)),
        ("causal + padding", (causal_mask(7) & padding_mask([5], 7))[0, 0]),
        ("window + padding", (sliding_window_mask(7, 2) & padding_mask([5], 7))[0, 0]),
    ],
)
def test_presets_are_attnkits_masks(preset, expected):
    widget = MaskEditor(SEVEN, preset=preset, window=2, length=5)
    assert torch.equal(torch.tensor(widget.mask), expected)
    assert torch.equal(made_by(widget.code()), expected)
    later = MaskEditor(SEVEN, window=2, length=5)
    later.preset = preset
    assert later.mask == widget.mask


def test_sliders_move_the_mask_only_of_presets_that_use_them():
    widget = MaskEditor(SEVEN, preset="window", window=2, length=5)
    widget.window = 3
    assert torch.equal(torch.tensor(widget.mask), sliding_window_mask(7, 3))
    widget.length = 2
    assert torch.equal(torch.tensor(widget.mask), sliding_window_mask(7, 3))
    widget.preset = "padding"
    assert widget.mask == [[True, True] + [False] * 5] * 7
    widget.length = 0
    assert not torch.tensor(widget.mask).any()


def test_weights_are_masked_softmaxs_and_rows_without_a_key_are_zeros():
    for mask in random_masks(30):
        n = len(mask)
        widget = MaskEditor([f"t{i}" for i in range(n)], mask=mask)
        scores = torch.tensor(widget.scores, dtype=torch.float64)
        expected = masked_softmax(scores, torch.tensor(mask))
        torch.testing.assert_close(widget.weights(), expected, rtol=0, atol=0)
    blind = MaskEditor(SEVEN, preset="window + padding", window=2, length=4).weights()
    assert blind[5:].eq(0).all() and blind[:5].sum(-1).allclose(torch.ones(5).double())


def test_the_scores_of_a_pair_do_not_depend_on_the_number_of_tokens():
    small, large = MaskEditor(list("abc")).scores, MaskEditor(list("abcdefghijkl")).scores
    assert small == [row[:3] for row in large[:3]]
    assert all(abs(score) <= 2 for row in large for score in row)


# ------------------------------------------------------------------ the code


def all_rules(n):
    for preset in mask_rules.PRESETS[:-1]:
        for window, length in itertools.product((1, 2, n - 1, n), (0, 1, n - 1, n)):
            yield mask_rules.rule(preset, n, window, length)


@pytest.mark.parametrize("n", [2, 3, 8, 11])
def test_the_code_of_every_rule_makes_its_mask(n):
    for made in all_rules(n):
        assert torch.equal(made_by(mask_rules.code(made.square(), made)), made.square())
        again = mask_rules.simplest(made.square())
        assert again is not None and torch.equal(again.square(), made.square())


def test_the_code_of_any_mask_makes_it():
    for mask in random_masks(60):
        widget = MaskEditor([f"t{i}" for i in range(len(mask))], mask=mask)
        assert torch.equal(made_by(widget.code()), torch.tensor(mask))


@pytest.mark.parametrize(
    ("mask", "last"),
    [
        (causal_mask(7) | padding_mask([3], 7), "mask = causal_mask(7) | padding_mask([3], 7)"),
        (causal_mask(7).mT, "mask = causal_mask(7).mT"),
        (
            (sliding_window_mask(7, 2) | sliding_window_mask(7, 2).mT) | padding_mask([1], 7),
            "mask = (near | near.mT) | padding_mask([1], 7)",
        ),
        (torch.zeros(7, 7, dtype=torch.bool), "mask = padding_mask([0], 7)"),
    ],
)
def test_a_mask_drawn_by_hand_may_still_be_a_combination(mask, last):
    widget = MaskEditor(SEVEN, mask=mask)
    assert widget.code().splitlines()[-1] == last
    square = mask.expand(1, 1, 7, 7)[0, 0] if mask.ndim == 4 else mask
    assert torch.equal(torch.tensor(widget.mask), square)
    assert torch.equal(made_by(widget.code()), square)


# ------------------------------------------------------------------ which mask is which preset


@pytest.mark.parametrize(
    ("mask", "preset", "window", "length"),
    [
        (causal_mask(7), "causal", 3, 7),
        (sliding_window_mask(7, 4), "window", 4, 7),
        (padding_mask([2], 7), "padding", 3, 2),
        (causal_mask(7) & padding_mask([6], 7), "causal + padding", 3, 6),
        (np.ones((7, 7), dtype=bool), "all", 3, 7),
        (torch.eye(7, dtype=torch.bool).flip(0), "custom", 3, 7),
    ],
)
def test_a_mask_set_from_python_finds_its_preset(mask, preset, window, length):
    for widget in (MaskEditor(SEVEN, mask=mask), MaskEditor(SEVEN, preset="two-sided window")):
        widget.mask = mask
        assert (widget.preset, widget.window, widget.length) == (preset, window, length)
        assert repr(eval(repr(widget))) == repr(widget)


def test_another_preset_does_not_lose_the_mask_that_was_drawn():
    drawn = random_masks(1)[0]
    widget = MaskEditor([f"t{i}" for i in range(len(drawn))], mask=drawn)
    for preset in ("causal", "all"):
        widget.preset = preset
        assert widget.mask != drawn
    widget.preset = "custom"
    assert widget.mask == drawn


def test_custom_starts_from_the_present_mask():
    widget = MaskEditor(SEVEN, preset="window", window=2)
    widget.preset = "custom"
    assert torch.equal(torch.tensor(widget.mask), sliding_window_mask(7, 2))
    widget.window = 5
    assert torch.equal(torch.tensor(widget.mask), sliding_window_mask(7, 2))


def test_messages_of_the_browser_are_taken_as_they_are():
    widget = MaskEditor(SEVEN)
    causal = widget.mask
    widget.set_state({"preset": "custom", "mask": causal, "_drawn": causal})
    assert widget.preset == "custom" and widget.mask == causal  # the reader is drawing
    widget.set_state({"window": 2, "preset": "window"})  # from a linked slider, without the mask
    assert torch.equal(torch.tensor(widget.mask), sliding_window_mask(7, 2))
    widget.mask = causal
    assert widget.preset == "causal"


def test_nothing_of_the_caller_is_kept():
    mask = causal_mask(7)
    widget = MaskEditor(SEVEN, mask=mask)
    widget.mask[0][0] = False
    assert mask[0, 0]


# ------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"tokens": ["a"]}, ValueError, r"2 to 12 tokens, got 1\. .*mask_diagram"),
        ({"tokens": ["a"] * 13}, ValueError, "2 to 12 tokens, got 13"),
        ({"tokens": "abc"}, TraitError, "Split the text into tokens"),
        ({"tokens": ["a", 3]}, TraitError, "Label 2 is 3"),
        ({"preset": "triangle"}, TraitError, "one of 'all', 'causal', .*got 'triangle'"),
        ({"window": 0}, TraitError, "from 1 to 12, got 0"),
        ({"window": 9}, TraitError, "at most 8, the number of tokens, got 9"),
        ({"length": -1}, TraitError, "from 0 to 12, got -1"),
        ({"length": 9}, TraitError, "at most 8"),
        ({"mask": causal_mask(7), "preset": "all"}, TypeError, "Leave the preset out"),
        ({"mask": causal_mask(7).int()}, TraitError, "from_blocked"),
        ({"mask": causal_mask(7).float()}, TraitError, "other things than True and False"),
        ({"mask": torch.ones(5, 7, dtype=torch.bool)}, TraitError, r"the shape \(5, 7\)"),
        ({"mask": padding_mask([2, 5], 7)}, TraitError, r"the shape \(2, 1, 1, 7\)"),
        ({"mask": [[True, False], [True]]}, TraitError, "2 rows of 1 or 2"),
        ({"mask": 3}, TraitError, "no list of rows"),
        ({"scores": [[0.0, 1.0], [2.0, float("nan")]]}, TraitError, "row 1, column 1 is nan"),
        ({"scores": [[0.0, 1.0], [2.0, -float("inf")]]}, TraitError, "use the mask"),
        ({"scores": torch.zeros(2, 3)}, TraitError, r"(?s)2 rows of 2 .*shape \(2, 3\)"),
        ({"tokens": SEVEN, "scores": torch.zeros(5, 5)}, TraitError, "7 rows of 7"),
        ({"words": 3}, TypeError, "unknown argument 'words'. Use: length, mask, preset"),
    ],
)
def test_what_is_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        MaskEditor(**arguments)


def test_a_refused_value_leaves_the_widget_as_it_was():
    widget = MaskEditor(SEVEN, preset="window", window=2)
    before = repr(widget), widget.mask
    for trait, value in [("window", 8), ("mask", causal_mask(5)), ("tokens", ["a", "b"])]:
        with pytest.raises(TraitError, match=f"MaskEditor.{trait}: expected"):
            setattr(widget, trait, value)
    assert (repr(widget), widget.mask) == before


# ------------------------------------------------------------------ the static picture


def test_the_description_says_who_sees_what():
    text = MaskEditor(preset="window + padding", window=2).describe()
    assert "8 queries by 8 keys" in text and "“window + padding”" in text
    assert "query 1 我 sees 1 of 8 keys, most of all 我 (key 1) 100 %" in text
    assert "query 7 〈pad〉 sees nothing, its weights are 0" in text


def test_the_picture_hatches_what_is_blocked_and_writes_the_other_weights():
    widget = MaskEditor(SEVEN, preset="window + padding", window=2, length=4)
    axes = widget.picture().axes[0]
    hatched = {
        (round(p.get_y() + 0.5), round(p.get_x() + 0.5)) for p in axes.patches if p.get_hatch()
    }
    mask = torch.tensor(widget.mask)
    assert hatched == {(i, j) for i, j in (~mask).nonzero().tolist()}
    written = [t.get_text() for t in axes.texts]
    assert written.count("sees nothing") == 2
    weights = widget.weights()[mask].tolist()
    assert [t for t in written if t != "sees nothing"] == [f"{100 * w:.0f}" for w in weights]
    assert not any(label.get_parse_math() for label in axes.get_yticklabels())
    assert widget.png() == MaskEditor(**widget.shown()).png()


def test_hostile_tokens_are_drawn_literally():
    tokens = ["<b>", "cost$5 and $6", "a\nb", "", "مرحبا", "x" * 80]
    widget = MaskEditor(tokens)
    assert widget.png().startswith(b"\x89PNG")
    assert "query 2 cost$5 and $6" in widget.describe()
