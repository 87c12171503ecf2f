"""CostWidget from Python: what is refused, what was not run, its numbers, its picture."""

import math

import pytest
from cost_samples import CURVES, SIZES, cost_widget
from traitlets import TraitError

from attnkit.widgets import CostWidget
from attnkit.widgets.cost_data import amount, significant, span

ONE = (1.0, 0.5, 1.5, 2.0)


def test_repr_and_defaults():
    assert repr(cost_widget()) == "CostWidget(5 curves, n=8192, quantity='time')"
    widget = cost_widget(n=256, quantity="memory", shown=["linear", "full attention"])
    assert repr(widget) == (
        "CostWidget(5 curves, n=256, quantity='memory', drawn=['full attention', 'linear'])"
    )
    assert repr(CostWidget([("a", {7: ONE})])) == "CostWidget(1 curve, n=7, quantity='time')"


@pytest.mark.parametrize(
    ("curves", "kind", "says"),
    [
        ([], ValueError, r"a list of 1 to 12 pairs .* got 0 of them"),
        ([(f"a{i}", {7: ONE}) for i in range(13)], ValueError, "got 13 of them"),
        ("ab", TypeError, "curves: expected a list of 1 to 12 pairs"),
        (["full"], TypeError, r"curves\[0\]: expected a pair \(name, dict\), got full"),
        ([("", {7: ONE})], ValueError, "a name of 1 to 40 characters"),
        (
            [("a", {7: ONE}), ("a", {7: ONE})],
            ValueError,
            r"\[1\]: expected a name of its own",
        ),
        ([("a", {})], ValueError, "Leave out an n that was not run"),
        ([("a", [ONE])], ValueError, "expected a dict of 1 to 40 n"),
        ([("a", {"7": ONE})], TypeError, r"whole numbers n from 1 on, got 7 \(str\)\. A JSON file"),
        ([("a", {7: ONE, "8": ONE})], TypeError, "whole numbers n from 1 on, got 8"),
        ([("a", {0: ONE})], TypeError, "whole numbers n from 1 on, got 0"),
        ([("a", {7: 1.0})], ValueError, r"'a' at n = 7: expected \(milliseconds, low, high, meg"),
        ([("a", {7: (1.0, 1.0, 1.0)})], ValueError, "at n = 7: expected"),
        ([("a", {7: (1.0, 1.1, 1.2, 1.0)})], ValueError, "0 < low ≤ milliseconds ≤ high"),
        ([("a", {7: (1.0, 0.5, 0.9, 1.0)})], ValueError, "0 < low ≤ milliseconds ≤ high"),
        ([("a", {7: (0.0, 0.0, 0.9, 1.0)})], ValueError, "0 < low ≤ milliseconds ≤ high"),
        ([("a", {7: (1.0, 0.5, math.nan, 1.0)})], ValueError, "0 < low"),
        ([("a", {7: (1.0, 0.5, 1.5, 0.0)})], ValueError, "Megabytes are above 0, or None"),
        ([("a", {7: (1.0, 0.5, True, 1.0)})], ValueError, "0 < low"),
    ],
)
def test_what_curves_are_refused(curves, kind, says):
    with pytest.raises(kind, match=says):
        CostWidget(curves)


@pytest.mark.parametrize(
    ("traits", "kind", "says"),
    [
        ({"n": 4095}, TraitError, "n: expected one of the measured n, 128, 256, .*, got 4095"),
        ({"n": 128.0}, TraitError, "n: expected a whole number"),
        ({"quantity": "energy"}, TraitError, "quantity: expected one of 'time', 'memory'"),
        (
            {"shown": ["flash"]},
            TraitError,
            "drawn: expected names out of 'full att.*flash",
        ),
        ({"drawn": "linear"}, TraitError, "drawn: expected a list of str"),
        ({"reference": "flash"}, ValueError, "reference: expected one of 'full attention'"),
        ({"size": 3}, TypeError, r"'size'\. Use: drawn, n, quantity"),
    ],
)
def test_what_traits_are_refused(traits, kind, says):
    with pytest.raises(kind, match=says):
        cost_widget(**traits)
    if kind is TraitError and "shown" not in traits:
        widget = cost_widget()
        before = repr(widget)
        with pytest.raises(TraitError, match=says):
            setattr(widget, *next(iter(traits.items())))
        assert repr(widget) == before


def test_memory_must_have_been_measured_by_one():
    with pytest.raises(TraitError, match="expected 'time', got 'memory', which no curve has"):
        CostWidget(CURVES[4:], quantity="memory")
    assert cost_widget(quantity="memory").ratio("fused") is None


def test_ratios_are_those_of_what_was_run():
    widget = cost_widget(n=1024)
    full, window = (dict(CURVES)[name][1024] for name in ("full attention", "window of 128"))
    assert widget.ratio("window of 128") == window[0] / full[0]
    assert widget.ratio("full attention") == 1
    widget.quantity = "memory"
    assert widget.ratio("window of 128") == window[3] / full[3]
    assert tuple(widget.at("linear")) == dict(CURVES)["linear"][1024]
    widget.n = 65536  # full attention was not run
    assert widget.at("full attention") is None
    assert widget.ratio("linear") is None and widget.ratio("full attention") is None
    other = cost_widget(n=65536, reference="linear")
    assert other.ratio("window of 128") > 1 and other.ratio("linear") == 1
    with pytest.raises(ValueError, match="at: expected one of 'full attention'"):
        widget.at("flash")


def test_order_of_n_and_of_names_is_put_right():
    widget = CostWidget([("b", {9: ONE, 2: ONE}), ("a", {5: ONE})], drawn=["a", "b"])
    state = widget.get_state()
    assert state["_sizes"] == [2, 5, 9] and widget.drawn == ["b", "a"] and widget.n == 9
    assert [[row[0] for row in rows] for _, rows in state["_curves"]] == [[2, 9], [5]]


def test_how_numbers_are_written():
    assert [significant(x) for x in (0.0581, 1.0, 9.996, 99.96, 123456)] == [
        "0.0581", "1.00", "10.0", "100", "123,000",
    ]  # fmt: skip
    assert [amount(x, "time") for x in (0.5, 999.4, 999.6, 2512)] == [
        "0.500 ms", "999 ms", "1.00 s", "2.51 s",
    ]  # fmt: skip
    assert amount(2048.0, "memory") == "2.05 GB"
    assert span(0.5, 0.75) == "0.500–0.750 ms" and span(900, 1100) == "0.900–1.10 s"


# ------------------------------------------------------------------ the static picture


def test_picture_draws_what_was_measured_and_no_line_across_a_gap():
    widget = cost_widget(n=1024)
    (axes,) = widget.picture().axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    *lines, cursor = axes.lines
    assert cursor.get_xdata()[0] == 1024
    drawn = [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in lines]
    full = dict(CURVES)["full attention"]
    assert drawn[0] == (SIZES[:7], [full[n][0] for n in SIZES[:7]])
    assert [x for x, _ in drawn[4:]] == [[128, 256], [1024], [4096], [16384]]  # fused
    colours = {(line.get_color(), line.get_linestyle()) for line in lines}
    assert len(colours) == 5
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert len(labels) == 5 and labels[0].startswith("full attention\n15.4 ms (")
    memory = cost_widget(quantity="memory").picture().axes[0]
    assert len(memory.lines) == 5  # without fused, with the cursor
    assert len(cost_widget(shown=[]).picture().axes[0].lines) == 1
    assert cost_widget().png() == cost_widget().png() != cost_widget(n=128).png()


def test_description_has_the_numbers_and_what_was_not_run():
    text = cost_widget(n=16384).describe()
    assert text.startswith("Median time against the number of tokens n, from 128 to 65,536, on log")
    assert "full attention not run; window as a mask not run; window of 128 713 ms (" in text
    text = cost_widget(n=4096, quantity="memory").describe()
    assert text.startswith("Peak memory") and "window of 128 2.16 MB, 0.011 × full" in text
    assert "fused not measured" in text
    assert cost_widget(shown=[]).describe().endswith("no curve is drawn.")
