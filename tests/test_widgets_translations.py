"""The translation and length widgets' Python side: alignment, packing, refusals, pictures."""

import doctest
import gzip
import importlib
import json
import math
import random
from functools import cache

import numpy as np
import pytest
import torch
from numeral_samples import (
    NUMBERS,
    Translation,
    length_accuracy,
    length_examples,
    length_widget,
    spoiled,
    translation,
)
from traitlets import TraitError

from attnkit import numerals
from attnkit.widgets import LengthExample, LengthWidget, TranslationWidget, pairs
from attnkit.widgets.align import align, errors, in_columns

TWO = [(["十", "二"], ["twelve"], [[0.25, 0.75]]), translation(120_304)]


# ------------------------------------------------------------------ which words are wrong


@pytest.mark.parametrize(
    ("words", "right", "kinds"),
    [
        ("one hundred and five", "one hundred and five", "===="),
        ("one and five", "one hundred and five", "=-=="),
        ("one hundred hundred and five", "one hundred and five", "==+=="),
        ("one hundred and six", "one hundred and five", "===x"),
        ("", "five", "-"),
        ("six hundred thousand", "five", "x++"),
        ("two thousand and five", "two hundred thousand and five", "=-==="),
    ],
)
def test_one_word_left_out_does_not_make_the_rest_wrong(words, right, kinds):
    slots = align(words.split(), right.split())
    got = "".join(slot.kind for slot in slots)
    # Of two equal words that stand together either may be called the extra one.
    assert got == kinds or (sorted(got) == sorted(kinds) and "hundred hundred" in words)


def distance(a, b):
    """Edit distance by its definition."""

    @cache
    def between(i, j):
        if i == len(a) or j == len(b):
            return len(a) - i + len(b) - j
        swap = between(i + 1, j + 1) + (a[i] != b[j])
        return min(swap, 1 + between(i + 1, j), 1 + between(i, j + 1))

    return between(0, 0)


def test_an_alignment_is_complete_and_the_shortest():
    rng = random.Random(3)
    for _ in range(300):
        words, right = ([rng.choice("abc") for _ in range(rng.randrange(8))] for _ in range(2))
        slots = align(words, right)
        assert [s.word for s in slots if s.kind in "=x+"] == words
        assert [w for w, s in zip(right, [s for s in slots if s.kind in "=x-"], strict=True)
                if s.kind == "-"] == [s.word for s in slots if s.kind == "-"]  # fmt: skip
        assert errors(slots) == distance(tuple(words), tuple(right))


def test_every_right_word_stands_in_the_place_of_its_answers():
    rng = random.Random(5)
    for _ in range(200):
        right = [rng.choice("abc") for _ in range(rng.randrange(1, 7))]
        answers = [[rng.choice("abc") for _ in range(rng.randrange(9))] for _ in range(3)]
        aligned = [align(words, right) for words in answers]
        first, rows = in_columns(right, aligned)
        assert [slot.word for slot in first if slot.kind == "="] == right
        for row, words, slots in zip(rows, answers, aligned, strict=True):
            assert len(row) == len(first) and errors(row) == errors(slots)
            assert [slot.word for slot in row if slot.kind in "=x+"] == words
            for above, below in zip(first, row, strict=True):
                assert (below.kind in "=x-") == (above.kind == "=")


# ------------------------------------------------------------------ one byte for each weight


def test_packed_weights_are_close_and_never_a_false_nought():
    generator = torch.Generator().manual_seed(1)
    for spread in (0.1, 1.0, 4.0, 20.0):
        weights = torch.softmax(
            spread * torch.randn(41, 29, generator=generator, dtype=torch.float64), -1
        )
        shown = pairs.decode(pairs.encode(weights))
        torch.testing.assert_close(shown, weights, rtol=0, atol=0.005)
        torch.testing.assert_close(shown.sum(-1), torch.ones(41, dtype=torch.float64))
        assert (shown > 0).all() and (shown.max(-1).values < 1).all()
    exact = torch.tensor([[0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.5, 0.0, 0.5, 0.0]])
    assert torch.equal(pairs.decode(pairs.encode(exact.double())), exact.double())


@pytest.mark.parametrize(
    "weights",
    [
        torch.tensor([[0.25, 0.75]], requires_grad=True),
        torch.tensor([[0.25, 0.75]], dtype=torch.bfloat16),
        np.array([[0.25, 0.75]], dtype=np.float32),
        [[0.25, 0.75]],
        ((0.25, 0.75),),
    ],
)
def test_weights_come_as_tensor_array_or_list(weights):
    widget = TranslationWidget([(["十", "二"], ["twelve"], weights)])
    assert widget.weights().tolist() == [pytest.approx([0.25, 0.75], abs=0.005)]


# ------------------------------------------------------------------ what is refused, and how


def spoilt(value):
    return [(["十", "二"], ["twelve"], value)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([],), "1 to 1000 translations, got 0 of them"),
        ((translation(12),), r"a list of 1 to 1000 .* Put a single one into a list"),
        (("十二",), "Put a single one into a list"),
        ((None,), r"got None \(NoneType\)"),
        (([("十二", "twelve")],), r"translations\[0\]: expected a translation with \.source"),
        (([(["十"], "ten", [[1.0]])],), "Split a text into tokens"),
        (([(["十", 2], ["ten"], [[0.5, 0.5]])],), r"Item 2 is 2: convert it with str"),
        (([([], ["ten"], [[]])],), r"source: expected 1 to 64 items, got 0"),
        (([(["十"], [], [])],), r"words: expected 1 to 64 items, got 0"),
        (([(["十"] * 65, ["ten"], [[1 / 65] * 65])],), "1 to 64 items, got 65"),
        ((spoilt(None),), "a fixed vector has no weights"),
        ((spoilt([[0.5, 0.4]]),), r'row 1 \("twelve"\) from 0\.4, sum 0\.9.*softmax of the scores'),
        ((spoilt([[-0.5, 1.5]]),), r"from -0\.5, sum 1\. "),
        ((spoilt([[math.nan, 1.0]]),), r'Row 1 \("twelve"\) has a nan'),
        (
            (spoilt([[1.0]]),),
            r"1 rows \(words\) of 2 weights \(characters\), got the shape \(1, 1\)",
        ),
        ((spoilt([[0.5], [0.5]]),), r"words last: weights\.mT"),
        ((spoilt([[[0.5, 0.5]]]),), "the axis of the batch"),
        ((spoilt("heavy"),), "Pass a tensor, an array or a list of rows"),
    ],
)
def test_translation_refuses(arguments, says):
    with pytest.raises((ValueError, TypeError), match=rf"TranslationWidget.*{says}"):
        TranslationWidget(*arguments)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"wrong": [[0]]}, "wrong: expected 2 lists of positions"),
        ({"wrong": [[1], []]}, r"wrong\[0\]: expected positions from 0 to 0, got \[1\]"),
        ({"wrong": [["twelve"], []]}, "Count words from 0"),
        ({"glosses": ["ten"]}, "glosses: expected a dict of str to str"),
        ({"glosses": {"十": 10}}, "glosses: expected a dict of str to str"),
        ({"example": 2}, "expected a position below 2, the number of translations, got 2"),
        ({"word": 1}, "expected a position below 1, the number of words"),
        ({"example": 1.0}, "Convert it with int"),
        ({"number": 1}, r"unknown argument 'number'. Use: example, word"),
    ],
)
def test_translation_refuses_options(options, says):
    with pytest.raises((ValueError, TypeError, TraitError), match=says):
        TranslationWidget(TWO, **options)


def change(examples=None, accuracy=None, **fields):
    """The arguments of a length widget, one thing changed in the first of its two examples."""
    good = length_examples((1, 2), each=1)
    good[0] = good[0]._replace(**fields)
    return examples or good, accuracy or length_accuracy((1, 2))


ONE = Translation(["九"], ["nine"], torch.ones(1, 1))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([], {}), r"examples: expected a list of 1 to 500 LengthExamples, got 0"),
        (change(examples=[(1, "九", ["nine"], {})]), r"examples\[0\]: expected a LengthExample"),
        (change(digits=0), r"examples\[0\]\.digits: expected a whole number from 1, got 0"),
        (change(digits=True), "digits: expected a whole number from 1, got True"),
        (change(source=""), r"source: expected 1 to 64 items"),
        (change(words=[]), r"words: expected 1 to 64 items"),
        (change(answers={}), "answers: expected a dict of 1 to 4 models"),
        (change(answers={"attention": ONE}), r"examples\[1\]\.answers: .* models attention, as in"),
        (change(answers={"fixed vector": ONE, "dot": ONE}), "the same models"),
        (change(answers={"fixed vector": ONE, "attention": ONE}), "weights in all answers"),
        (change(answers={"": ONE, "attention": ONE}), "a name of 1 to 40 characters"),
        (
            change(answers={"a": ONE._replace(source=["八"])}),
            r"answers\['a'\]\.source: expected the source of the example, 九, got 八",
        ),
        (
            change(answers={"a": ONE._replace(weights=[[0.5]])}),
            r"answers\['a'\]\.weights: .* sum to 1",
        ),
        (change(accuracy=[0.5]), r"accuracy: expected a dict model → dict length"),
        (change(accuracy={"attention": {}}), r"the models fixed vector, attention, got attention"),
    ],
)
def test_length_refuses(arguments, says):
    with pytest.raises((ValueError, TypeError), match=rf"LengthWidget\.{says}|{says}"):
        LengthWidget(*arguments)


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        ({1: (0.5, 0.4, 0.6)}, "the lengths of the examples, 1, 2, got 1"),
        ({1: (0.5, 0.4, 0.6), 2: 0.5}, r"\[2\]: expected \(median, low, high\) .* got 0\.5"),
        ({1: (0.5, 0.4, 0.6), 2: (50, 40, 60)}, "Shares of right answers, not percent"),
        ({1: (0.5, 0.6, 0.7), 2: (0.5, 0.4, 0.6)}, r"\[1\]: expected .* low ≤ median"),
        ({1: (0.5, 0.4, math.nan), 2: (0.5, 0.4, 0.6)}, r"\[1\]: expected .* low ≤ median"),
        ([0.5, 0.5], "For example"),
    ],
)
def test_length_refuses_rates(rates, says):
    accuracy = length_accuracy((1, 2)) | {"attention": rates}
    with pytest.raises((ValueError, TypeError), match=rf"accuracy\['attention'\].*{says}"):
        LengthWidget(*change(accuracy=accuracy))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"length": 4}, r"length: expected one of 1, 2, 3, 6, 9, 12, got 4"),
        ({"length": 3.0}, "Convert it with int"),
        ({"example": 3}, "below 3, the number of examples with 12 digits, got 3"),
        ({"model": "fixed vector"}, r"model: expected one of 'attention', got 'fixed vector'"),
        ({"digits": 3}, "unknown argument 'digits'. Use: example, length, model"),
    ],
)
def test_length_refuses_options(options, says):
    with pytest.raises((ValueError, TypeError, TraitError), match=says):
        length_widget(**options)


@pytest.mark.parametrize("name", ["fresh", "seeds"])
def test_numbers_of_measurements_are_counts(name):
    with pytest.raises(ValueError, match=rf"LengthWidget\.{name}: expected a number from 1, got 0"):
        LengthWidget(*change(), **{name: 0})


# ------------------------------------------------------------------ traits


def test_a_shorter_translation_takes_back_a_word_it_lacks():
    widget = TranslationWidget(TWO, example=1, word=5)
    assert repr(widget) == "TranslationWidget(2 translations, example=1, word=5)"
    assert widget.words[5] == "three" and widget.weights().shape == (9, 8)
    widget.example = 0
    assert (widget.word, widget.words, widget.source) == (0, ("twelve",), ("十", "二"))
    widget.set_state({"example": 1, "word": 8})
    assert (widget.example, widget.word) == (1, 8)
    with pytest.raises(TraitError, match="got 9"):
        widget.word = 9
    assert widget.word == 8


def test_length_and_example_follow_each_other():
    examples = [*length_examples((1,), each=1), *length_examples((9,), each=3)]
    widget = LengthWidget(examples, length_accuracy((1, 9)))
    assert (widget.length, widget.example, widget.model) == (9, 0, "attention")
    widget.example = 2
    widget.length = 1
    assert (widget.length, widget.example) == (1, 0)
    widget.set_state({"length": 9, "example": 1})
    assert repr(widget) == "LengthWidget(4 examples, length=9, example=1)"
    assert widget.source == tuple(numerals.to_chinese(987_654_314))


def test_answers_errors_and_accuracy_can_be_read():
    widget = length_widget(length=3)
    assert widget.answer("attention") == tuple(numerals.to_english(987))
    assert widget.errors("attention") == 0 and widget.errors("fixed vector") == 1
    assert widget.accuracy("attention") == (0.99, 0.985, 1.0)
    assert widget.weights().shape == (5, 5)
    for read in (widget.answer, widget.errors, widget.accuracy):
        with pytest.raises(ValueError, match="out of 'fixed vector', 'attention', got 'dot'"):
            read("dot")


def test_models_without_weights_have_no_map():
    example = LengthExample(1, "九", ["nine"], {"fixed": (["九"], [], None)})
    widget = LengthWidget([example], {"fixed": {1: (0, 0, 0)}})
    assert widget.model == "" and widget.errors("fixed") == 1 and widget.answer("fixed") == ()
    with pytest.raises(ValueError, match="no model of this widget has weights"):
        widget.weights()
    assert len(widget.picture().axes) == 0 or widget.png().startswith(b"\x89PNG")
    assert 'fixed: 1 not right: "nothing"; of fresh numbers 0 % right' in widget.describe()


def test_what_is_given_is_copied():
    weights = torch.tensor([[0.25, 0.75]])
    glosses = {"十": "10"}
    widget = TranslationWidget([(["十", "二"], ["twelve"], weights)], glosses=glosses)
    before = json.dumps(widget._items)
    weights.zero_()
    glosses["二"] = "2"
    assert json.dumps(widget._items) == before and widget._glosses == {"十": "10"}
    assert widget.weights().sum() == 1


def test_labels_of_numbers_come_from_the_numeral():
    assert [item["name"] for item in TranslationWidget(TWO)._items] == ["12", "120,304"]
    other = TranslationWidget([(["我", "爱"], ["I", "love"], [[1.0, 0.0], [0.0, 1.0]])])
    assert other._items[0]["name"] == "" and "(" not in other.describe().splitlines()[0]


# ------------------------------------------------------------------ what a page carries and shows


def carried(widget):
    """Bytes of the data in the page, compressed; the module and its styles are not data."""
    state = {k: v for k, v in widget.get_state().items() if k not in ("_esm", "_css")}
    return len(gzip.compress(json.dumps(state).encode()))


def real_looking(number, seed):
    """A translation whose weights compress no better than those of a trained model."""
    right = translation(number)
    generator = torch.Generator().manual_seed(seed)
    scores = 2 * torch.randn(right.weights.shape, generator=generator)
    return right._replace(weights=torch.softmax(scores, -1))


def test_weight_of_the_state_on_a_page():
    lengths = range(1, 13)
    examples = []
    for digits in lengths:
        for k in range(5):
            number = int("987654321987"[:digits]) - k
            right = real_looking(number, digits * 10 + k)
            answers = {"fixed vector": right._replace(weights=None), "attention": right}
            examples.append(LengthExample(digits, right.source, right.words, answers))
    assert carried(LengthWidget(examples, length_accuracy(lengths))) < 60_000
    many = [real_looking(987_654_321_987 - 1001 * k, k) for k in range(40)]
    assert carried(TranslationWidget(many)) < 60_000


def test_pictures_draw_what_is_chosen():
    widget = TranslationWidget([translation(n) for n in NUMBERS], word=4)
    (axes,) = widget.picture().axes
    assert [bar.get_height() for bar in axes.patches] == pytest.approx(widget.weights()[4].tolist())
    assert axes.get_title(loc="left") == "“thousand” looks at"
    first = widget.png()
    widget.word = 0
    assert widget.png() != first and widget.png() == widget.png()

    length = length_widget(length=6)
    grid, lines = length.picture().axes
    assert np.allclose(grid.images[0].get_array(), length.weights())
    assert grid.images[0].get_clim() == (0, 1)
    drawn = {
        line.get_label(): line.get_ydata() for line in lines.lines if len(line.get_xdata()) > 2
    }
    rates = length_accuracy()
    for model, values in drawn.items():
        assert list(values) == [rates[model][n][0] for n in rates[model]]


def test_hostile_tokens_are_drawn_literally():
    words = ["cost$5 and $6", "<b>", "a\nb", "{x}"]
    weights = torch.eye(4)
    widget = TranslationWidget([(["$x$", "<i>", "", "\U0010fffd"], words, weights)], glosses={})
    assert widget.png().startswith(b"\x89PNG")
    example = LengthExample(
        1, ["$x$", "<i>"], words, {"a$b$": (["$x$", "<i>"], words, [[1, 0]] * 4)}
    )
    assert LengthWidget([example], {"a$b$": {1: (1, 1, 1)}}).png().startswith(b"\x89PNG")


def test_descriptions_have_the_numbers():
    widget = TranslationWidget(TWO, example=1, word=4, wrong=[[], [2]])
    row = pairs.decode(pairs.encode(TWO[1].weights))[4]
    assert f"三 {100 * row[4]:.0f} %" in widget.describe()
    assert 'Word 3, "and", is wrong.' in widget.describe() and "120,304" in widget.describe()
    text = length_widget(length=3).describe()
    assert 'fixed vector: 1 not right: "nine hundred and seven"' in text
    assert "of 500 fresh numbers 92 % (79–100) right" in text
    assert "attention: right; of 500 fresh numbers 99 % (99–100) right." in text


def test_spoiled_samples_are_spoilt_as_they_say():
    words = ["one", "two", "three"]
    assert spoiled(words, wrong={0}, missing={1}, extra={2}) == ["ninety", "three", "three"]


@pytest.mark.parametrize("name", ["align", "drawing", "measures", "pairs", "translation"])
def test_doctests(name):
    result = doctest.testmod(importlib.import_module(f"attnkit.widgets.{name}"))
    assert result.attempted and not result.failed
