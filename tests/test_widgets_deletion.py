"""DeletionExample and DeletionWidget from Python: subsets, what is refused, packing, picture."""

import gzip
import json
import math

import pytest
import torch
from deletion_samples import LANGUAGES, deletion_widget, examples, predict
from traitlets import TraitError

from attnkit.widgets import DeletionExample, DeletionWidget
from attnkit.widgets.deletion_data import kept, remaining

# ------------------------------------------------------------------ what the model is asked


def test_every_subset_has_the_answer_to_what_is_left():
    (example,) = examples([("Åland", "Português")])
    assert example.best.shape == (32, 3) and example.weights.shape == (32, 5)
    for subset in range(31):
        left = "".join(sign for i, sign in enumerate("Åland") if not subset >> i & 1)
        assert left == remaining("Åland", subset)
        (shares,), (row,) = predict([left])
        top = shares.topk(3)
        assert example.best[subset].tolist() == top.indices.tolist()
        torch.testing.assert_close(example.probabilities[subset], top.values)
        assert float(example.right[subset]) == pytest.approx(float(shares[2]))
        assert example.weights[subset, kept("Åland", subset)].tolist() == pytest.approx(row)
        assert float(example.weights[subset].sum()) == pytest.approx(1)
        gone = [i for i in range(5) if subset >> i & 1]
        assert example.weights[subset, gone].eq(0).all()
        assert example.answer(subset) == LANGUAGES[int(shares.argmax())]
        assert example.flips(subset) == (example.answer(subset) != example.answer(0))


def test_the_model_is_asked_once_and_never_about_nothing():
    calls = []

    def counting(names):
        calls.append(names)
        return predict(names)

    example = DeletionExample.of(counting, "anna", "Deutsch", LANGUAGES)
    (asked,) = calls
    assert "" not in asked and len(asked) == len(set(asked)) < 15  # "nna" and "ana" once each
    assert set(asked) == {remaining("anna", subset) for subset in range(15)}
    assert example.answer(15) is None and not example.flips(15)
    assert example.probabilities[15].eq(0).all() and example.weights[15].eq(0).all()
    assert example.right[15] == 0


def test_two_languages_and_ten_characters():
    def even(names):
        return [[0.25, 0.75]] * len(names), [torch.full((len(n),), 1 / len(n)) for n in names]

    example = DeletionExample.of(even, "abcdefghij", "a", ["a", "b"])
    assert example.best.shape == (1024, 2) and example.best[7].tolist() == [1, 0]
    assert example.probabilities[1022].tolist() == [0.75, 0.25]


def table(row):
    return lambda names: (
        [row] * len(names),
        [torch.full((len(n),), 1 / len(n)) for n in names],
    )


@pytest.mark.parametrize(
    ("change", "kind", "says"),
    [
        ({"text": ""}, ValueError, "text: expected 1 to 10 characters, got '' of 0"),
        ({"text": "Liechtenstein"}, ValueError, "got 'Liechtenstein' of 13"),
        ({"text": 7}, TypeError, r"got 7 \(int\)"),
        ({"label": "c"}, ValueError, "label to be one of the 2 languages, got 'c'"),
        ({"languages": "ab"}, TypeError, "languages: expected 2 to 256 different names"),
        ({"languages": ["a"]}, ValueError, "got 1, 1 of them different"),
        ({"languages": ["a", "a"]}, ValueError, "got 2, 1 of them different"),
        ({"predict": "model"}, TypeError, "predict: expected a function of a list of names"),
        ({"predict": lambda names: 3}, TypeError, r"expected \(probabilities, weights\), got 3"),
        ({"predict": table([1.0])}, ValueError, r"expected the shape \(3, 2\) = \(names, lang"),
        ({"predict": table([3.0, -1.0])}, ValueError, "from -1, sum 2. These look like logits"),
        ({"predict": table([math.nan, 1.0])}, ValueError, "probabilities: expected numbers from 0"),
        ({"predict": table(["x", 1.0])}, TypeError, "Pass a tensor, an array or lists"),
        (
            {"predict": lambda names: ([[0.5, 0.5]] * 3, [[1.0]] * 2)},
            ValueError,
            "weights: expected 3 rows, got 2",
        ),
        (
            {"predict": lambda names: ([[0.5, 0.5]] * 3, [[0.5, 0.5, 0.0]] * 3)},
            ValueError,
            r"weights of 'xy': expected the shape \(2,\) = \(characters,\), without padding",
        ),
        (
            {"predict": lambda names: ([[0.5, 0.5]] * 3, [[2.0] * len(n) for n in names])},
            ValueError,
            "weights of 'xy': expected numbers from 0 that sum to 1, got from 2, sum 4",
        ),
    ],
)
def test_what_an_example_refuses(change, kind, says):
    given = {"predict": table([0.5, 0.5]), "text": "xy", "label": "a", "languages": ["a", "b"]}
    with pytest.raises(kind, match=says):
        DeletionExample.of(**{**given, **change})


# ------------------------------------------------------------------ the widget's traits


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ([[]], ValueError, "a list of 1 to 50 DeletionExamples, got 0 of them"),
        ([examples()[0]], TypeError, r"Put a single one into a list: \[example\]"),
        ([["Oslo"]], TypeError, r"examples\[0\]: expected a DeletionExample, got Oslo"),
        ([examples(), 4], TraitError, "name: expected a position below 4, the number of examples"),
        ([examples(), 0, [5]], TraitError, "places below 5, the number of characters of 'Åland'"),
        ([examples(), 0, 3], TraitError, "Put a single place into a list"),
        ([examples(), 0, [-1]], TraitError, "-1 is no place: they count from 0"),
        ([examples(), 0, [True]], TraitError, "True is no place"),
        ([examples(), 2, (2,)], TraitError, "places below 2"),
    ],
)
def test_what_the_widget_refuses(arguments, kind, says):
    with pytest.raises(kind, match=says):
        DeletionWidget(*arguments)


def test_all_examples_have_the_same_languages():
    other = DeletionExample.of(table([0.5, 0.5]), "xy", "a", ["a", "b"])
    with pytest.raises(ValueError, match=r"examples\[4\]: expected the languages of the first"):
        DeletionWidget([*examples(), other])


def test_places_are_sorted_and_each_there_once():
    widget = deletion_widget(1, {9, 2, 4})
    assert widget.deleted == [2, 4, 9] and widget.subset == 0b1000010100
    widget.deleted = torch.tensor([3, 3, 0])
    assert widget.deleted == [0, 3] and widget.text == "isissipi"
    assert repr(widget) == "DeletionWidget(4 names, name=1, deleted=[0, 3])"
    with pytest.raises(TraitError):
        widget.deleted = [10]
    assert widget.deleted == [0, 3]
    widget.name = 2  # of two characters
    assert widget.deleted == [0] and widget.text == "国"
    widget.set_state({"name": 1, "deleted": [8, 9]})
    assert (widget.name, widget.deleted) == (1, [8, 9])


def test_the_answer_follows_what_is_deleted():
    widget = deletion_widget()
    flipping = next(s for s in range(31) if widget.example.flips(s))
    assert not widget.flipped()
    widget.deleted = [i for i in range(5) if flipping >> i & 1]
    assert widget.flipped() and widget.answer() == widget.example.answer(flipping)
    best = widget.best()
    assert best[0][0] == widget.answer() and len(best) == 3
    assert [p for _, p in best] == pytest.approx(
        widget.example.probabilities[flipping].tolist(), abs=1 / 255
    )
    widget.deleted = range(5)
    assert (widget.answer(), widget.best(), widget.most_attended()) == (None, [], None)
    assert widget.text == "" and not widget.flipped() and widget.weights().eq(0).all()


def test_weights_as_shown_are_the_models_within_half_a_percent():
    widget = deletion_widget(1)
    for deleted in ([], [0], [1, 4, 7], [0, 1, 2, 3, 4, 5, 6, 7, 8]):
        widget.deleted = deleted
        wanted = widget.example.weights[widget.subset]
        assert (widget.weights() - wanted).abs().max() <= 0.005
        assert widget.weights()[deleted].eq(0).all()
        assert widget.most_attended() == int(wanted.argmax())


def test_a_page_can_hold_a_dozen_names():
    long = [("Mississipi", "English"), ("Ouagadougo", "Deutsch")] * 2 + [("Helsinki", "Polski")] * 8
    held = {k: v for k, v in DeletionWidget(examples(long)).get_state().items() if k[:2] != "_e"}
    carried = [held["_items"], held["_languages"]]
    assert len(gzip.compress(json.dumps(carried).encode())) < 100_000


# ------------------------------------------------------------------ the static picture


def test_picture_draws_weights_and_answers():
    widget = deletion_widget(0, [1])
    left, right = widget.picture().axes
    assert [bar.get_height() for bar in left.patches] == pytest.approx(widget.weights().tolist())
    assert [text.get_text() for text in left.texts][1] == "deleted"
    assert [label.get_text() for label in left.get_xticklabels()] == list("Åland")
    assert [bar.get_width() for bar in right.patches] == [share for _, share in widget.best()]
    empty = deletion_widget(0, range(5))
    assert not empty.picture().axes[1].patches
    assert empty.picture().axes[1].get_title(loc="left") == "Nothing is left"
    assert not left.xaxis_inverted() and deletion_widget(3).picture().axes[0].xaxis_inverted()
    for name in range(4):  # with names that no font may have, and from right to left
        assert deletion_widget(name).png() == deletion_widget(name).png()


def test_description_has_the_numbers():
    widget = deletion_widget()
    text = widget.describe()
    assert text.startswith("“Åland” is Português. Weights: Å ")
    name, share = widget.best()[0]
    assert f"Answer to “Åland”: {name} {100 * share:.0f} %, " in text and text.endswith("; wrong.")
    flipping = next(s for s in range(31) if widget.example.flips(s))
    widget.deleted = [i for i in range(5) if flipping >> i & 1]
    was = widget.example.answer(0)
    assert f"flipped from {was}, " in widget.describe() and " deleted" in widget.describe()
    widget.deleted = range(5)
    assert widget.describe().endswith(
        f"Nothing is left: the model is not asked. The whole name is {was}."
    )
