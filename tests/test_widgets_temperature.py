"""TemperatureWidget from Python: what is refused, its numbers, what each temperature can do."""

import colorsys
import math

import pytest
import torch
from matplotlib.colors import to_rgb
from traitlets import TraitError

from attnkit.widgets import TemperatureWidget
from attnkit.widgets.drawing import series
from attnkit.widgets.measures import slopes
from attnkit.widgets.ratios import ratio_temperature


def test_repr_can_be_typed_back():
    text = (
        "TemperatureWidget(scores=[1.0, 2.0], labels=['a', 'b'], wanted=[1.0, 3.0], "
        "temperature=2.0)"
    )
    assert repr(eval(text)) == text == repr(TemperatureWidget([1, 2], ["a", "b"], [1, 3]
        , temperature=2))  # fmt: skip


def test_what_is_held_back_is_part_of_the_repr_once_it_is_shown():
    assert TemperatureWidget().revealed is False and "revealed" not in repr(TemperatureWidget())
    widget = TemperatureWidget(revealed=True)
    assert repr(widget).endswith("revealed=True)") and repr(eval(repr(widget))) == repr(widget)
    assert widget.temperature == 1.0 and TemperatureWidget().temperature == 1.0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"scores": [1.0]}, "scores: expected a list of 2 to 12 .* 1 numbers"),
        ({"scores": [1.0] * 13}, "scores: expected a list of 2 to 12 .* 13 numbers"),
        ({"scores": [1.0, math.nan]}, "Number 2 of the list is nan"),
        ({"wanted": [1, 2]}, "as many wanted as scores, got 2 wanted beside 3 scores"),
        ({"labels": ["a", "b"]}, r"got 2 labels beside 3 scores\. Set all \(scores, labels"),
        ({"scores": [1.0, 2.0], "labels": ["a", "b"], "wanted": [1.0]}, "of 2 to 12"),
        ({"wanted": [0, 0, 0.0]}, "of at least 0, not all of them 0, .*ask for something"),
        ({"wanted": [1, -0.5, 1]}, "Share 2 is negative"),
        ({"wanted": 0.5}, r"Pass one row of shares, such as \[5, 10, 80\]"),
        ({"temperature": 0}, "greater than 0"),
    ],
)
def test_what_is_refused(arguments, says):
    with pytest.raises(TraitError, match=says):
        TemperatureWidget(**arguments)


def test_a_refused_change_leaves_the_widget_as_it_was():
    widget = TemperatureWidget()
    before = repr(widget)
    with pytest.raises(TraitError), widget.hold_trait_notifications():
        widget.scores, widget.labels = [1.0, 2.0], ["a", "b"]  # wanted is forgotten
    assert repr(widget) == before
    with widget.hold_trait_notifications():
        widget.scores, widget.labels, widget.wanted = [1.0, 2.0], ["a", "b"], [1, 1]
    assert widget.weights().shape == (2,)


def test_scores_alone_get_labels_and_equal_wishes():
    widget = TemperatureWidget(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert widget.labels[3] == "token 4" and widget.wanted == [1.0] * 4


# ------------------------------------------------------------------ the numbers of chapter 2


def test_no_temperature_gives_5_10_80():
    widget = TemperatureWidget()
    needed = {(p.first, p.second): p.temperature for p in widget.pairs()}
    assert needed == {
        (1, 0): pytest.approx(0.05 / math.log(2)),
        (2, 0): pytest.approx(5.75 / math.log(16)),
        (2, 1): pytest.approx(5.7 / math.log(8)),
    }
    assert widget.needed_temperature() is None
    for (a, b), temperature in needed.items():
        widget.temperature = temperature
        weights = widget.weights()
        assert float(weights[a] / weights[b]) == pytest.approx(widget.wanted[a] / widget.wanted[b])


def test_weights_that_softmax_gave_are_reachable():
    widget = TemperatureWidget()
    for temperature in (0.3, 1.0, 7.0):
        widget.temperature = temperature
        widget.wanted = widget.weights()
        widget.temperature = 2.5
        assert widget.needed_temperature() == pytest.approx(temperature)
    widget.wanted = [200 * share for share in widget.wanted]  # ratios count, not the sum
    assert widget.needed_temperature() == pytest.approx(7.0)


@pytest.mark.parametrize(
    ("scores", "wanted", "kinds", "needed"),
    [
        ([2, 2], [1, 1], ["any"], 1.0),
        ([2, 2], [1, 2], ["none"], None),
        ([1, 2], [3, 3], ["infinite"], math.inf),
        ([1, 2], [0, 3], ["zero"], 0.0),
        ([1, 2], [3, 0], ["none"], None),
        ([1, 2], [3, 1], ["none"], None),
        ([2, 2], [0, 1], ["none"], None),
        ([0, 1, 2], [0, 0, 1], ["undefined", "zero", "zero"], 0.0),
        ([0, 2, 2], [0, 1, 1], ["zero", "zero", "any"], 0.0),
        ([0, 1, 2], [0, 1, 2], ["zero", "zero", "one"], None),
        ([0, 1, 2], [1, 1, 2], ["infinite", "one", "one"], None),
        ([0, 1, 2], [1, 2, 4], ["one", "one", "one"], 1 / math.log(2)),
    ],
)
def test_edges(scores, wanted, kinds, needed):
    widget = TemperatureWidget(scores, wanted=wanted)
    assert [pair.kind for pair in widget.pairs()] == kinds
    assert widget.needed_temperature() == (needed if needed is None else pytest.approx(needed))


def test_ratios_at_the_ends_of_what_a_float_holds():
    assert ratio_temperature(1e308, -1e308, 2.0, 1.0).kind == "infinite"  # beyond any float
    assert ratio_temperature(1.0, 0.0, 1e308, 1e-308).temperature == pytest.approx(1 / 1418.4, 1e-3)
    tiny = ratio_temperature(1.0, 0.0, 1.0 + 1e-15, 1.0)
    assert tiny.kind == "one" and tiny.temperature > 1e14


def test_slopes_are_the_gradient_and_vanish_at_both_ends():
    widget = TemperatureWidget()
    scores = torch.tensor(widget.scores, dtype=torch.float64)
    for temperature in (0.5, 1.0, 3.0):
        widget.temperature = temperature
        jacobian = torch.autograd.functional.jacobian(
            lambda s, t=temperature: torch.softmax(s / t, -1), scores
        )
        torch.testing.assert_close(widget.slopes(), jacobian.diagonal(), rtol=1e-9, atol=0)
    largest = {}
    for temperature in (0.05, 3.0, 1e4):
        widget.temperature = temperature
        largest[temperature] = float(widget.slopes().max())
    assert largest[0.05] < 1e-40 and largest[1e4] < 1e-4 < 0.05 < largest[3.0]


def test_equal_scores_keep_a_gradient_in_the_cold():
    weights = torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)
    assert slopes(weights, 0.01).tolist() == [25.0, 25.0, 0.0]


# ------------------------------------------------------------------ the static picture


def test_picture_shows_weights_wishes_and_curves():
    widget = TemperatureWidget(temperature=2.0)
    bars, curves = widget.picture().axes
    assert [patch.get_width() for patch in bars.patches] == pytest.approx(widget.weights().tolist())
    assert bars.lines[0].get_xdata() == pytest.approx([5 / 95, 10 / 95, 80 / 95])
    first, last = (widget.weights().tolist() for widget.temperature in (0.05, 10.0))
    for i in range(3):
        line = curves.lines[i].get_ydata()
        assert (line[0], line[-1]) == pytest.approx((first[i], last[i]))
    assert curves.get_xscale() == "log"


def test_description_has_the_numbers_and_the_verdict():
    text = TemperatureWidget().describe()
    assert "中国: 99.4 %, wanted 84.2 %" in text
    assert "爱 to 我 needs T = 0.0721" in text and "中国 to 我 needs T = 2.07" in text
    assert text.endswith("No temperature gives all the wanted ratios.")
    for wanted, verdict in [([1, 1], "the limit T → ∞ gives"), ([0, 1], "the limit T → 0 gives")]:
        assert verdict in TemperatureWidget([1, 2], wanted=wanted).describe()
    assert "T = 1.44 gives" in TemperatureWidget([1, 2], wanted=[1, 2]).describe()


def test_the_first_curves_have_three_hues():
    hues = []
    for i in range(3):
        red, green, blue = to_rgb(series(i)[0])
        hues.append(360 * colorsys.rgb_to_hsv(red, green, blue)[0])
    apart = [abs((hues[i] - hues[j] + 180) % 360 - 180) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert min(apart) > 40, hues


def test_any_labels_and_sizes_are_drawn():
    odd = ["cost$5 and $6", "<b>", "_x", "a\nb", "", "x" * 99]
    widget = TemperatureWidget([1e308, -1e308, 0, 1, 2, 3], odd, [1e308, 1e308, 0, 1, 2, 3])
    assert widget.png().startswith(b"\x89PNG") and widget.weights().sum() == 1
    assert sum(widget.picture().axes[0].lines[0].get_xdata()) == pytest.approx(1)
