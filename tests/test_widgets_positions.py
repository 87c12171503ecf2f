"""PositionWidget from Python: what is refused, its numbers against attnkit.positional, picture."""

import math

import pytest
import torch
from matplotlib.colors import to_rgb
from traitlets import TraitError

from attnkit.positional import sinusoidal_encoding
from attnkit.widgets import PositionWidget
from attnkit.widgets.position import SCALE


def test_repr_can_be_typed_back():
    text = "PositionWidget(d_model=14, n_positions=11, position=7, pair=5, doubled=True)"
    assert repr(eval(text)) == text == repr(PositionWidget(14, 11, position=7, pair=5, doubled=1))
    assert repr(PositionWidget()) == (
        "PositionWidget(d_model=64, n_positions=100, position=0, pair=0)"
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"d_model": 13}, "d_model: expected an even number, got 13 .* use 14"),
        ({"d_model": 0}, "d_model: expected a whole number from 2 to 512, got 0"),
        ({"d_model": 514}, "d_model: expected a whole number from 2 to 512, got 514"),
        ({"d_model": 64.0}, r"got 64\.0 \(float\)\. Convert it with int"),
        ({"n_positions": 1}, "n_positions: expected a whole number from 2 to 512, got 1"),
        ({"position": 100}, "position: expected a number below 100, which is n_positions, got 100"),
        ({"position": -1}, "position: expected a whole number from 0"),
        ({"pair": 32}, "pair: expected a number below 32, which is d_model / 2, got 32"),
        ({"n_positions": 5, "position": 5}, "position: expected a number below 5"),
        ({"d_model": 6, "pair": 3}, "pair: expected a number below 3"),
        ({"pair": True}, "pair: expected a whole number .* got True"),
    ],
)
def test_what_is_refused(arguments, says):
    with pytest.raises(TraitError, match=says):
        PositionWidget(**arguments)
    widget = PositionWidget()
    before = repr(widget)
    with pytest.raises(TraitError, match=says), widget.hold_trait_notifications():
        for name, value in arguments.items():
            setattr(widget, name, value)
    assert repr(widget) == before


def test_unknown_arguments_name_the_known_ones():
    with pytest.raises(TypeError, match=r"'base'\. Use: d_model, doubled, n_positions, pair, pos"):
        PositionWidget(base=100)


def test_a_smaller_table_keeps_position_and_pair_inside():
    widget = PositionWidget(position=97, pair=31)
    widget.n_positions = 53
    assert (widget.position, widget.pair) == (52, 31)
    widget.d_model = 22
    assert (widget.position, widget.pair) == (52, 10)
    widget.n_positions, widget.d_model = 100, 64  # growing moves nothing
    assert (widget.position, widget.pair) == (52, 10)


# ------------------------------------------------------------------ numbers


@pytest.mark.parametrize(("n", "d"), [(2, 2), (7, 10), (100, 64), (257, 134)])
def test_the_table_is_the_encoding_of_the_package(n, d):
    widget = PositionWidget(d, n)
    torch.testing.assert_close(
        widget.encoding().float(), sinusoidal_encoding(n, d), rtol=0, atol=1e-6
    )


def test_the_doubled_exponent_is_the_mistake_of_the_books():
    """2i over an index that already steps by 2."""
    step = torch.arange(0, 26, 2, dtype=torch.float64)
    wrong = 10_000 ** (-2 * step / 26)
    widget = PositionWidget(26, 31, doubled=True)
    torch.testing.assert_close(widget.frequencies(), wrong, rtol=1e-12, atol=0)
    angle = torch.arange(31, dtype=torch.float64)[:, None] * wrong
    torch.testing.assert_close(widget.encoding()[:, 1::2], angle.cos(), rtol=0, atol=1e-12)


def test_the_inner_product_depends_on_the_distance_alone_and_rises():
    widget = PositionWidget(position=41)
    table = sinusoidal_encoding(100, 64).double()
    products = widget.products()
    torch.testing.assert_close(products, table @ table[41], rtol=0, atol=1e-4)
    by_distance = widget.by_distance()
    for j in range(100):
        assert float(products[j]) == pytest.approx(float(by_distance[abs(j - 41)]), abs=1e-9)
    assert float(by_distance[0]) == 32
    assert widget.rises()[:6] == [5, 10, 11, 16, 17, 22]
    assert PositionWidget(2, 3).rises() == []


def test_how_many_dimensions_are_nearly_constant():
    assert PositionWidget().constant() == 15
    assert PositionWidget(doubled=True).constant() == 39


def test_a_message_of_the_browser_sets_the_traits():
    widget = PositionWidget()
    widget.set_state({"position": 63, "pair": 5, "doubled": True})
    assert (widget.position, widget.pair, widget.doubled) == (63, 5, True)


# ------------------------------------------------------------------ the static picture


def test_picture_draws_table_hand_and_curve():
    widget = PositionWidget(22, 29, position=17, pair=4)
    figure = widget.picture()
    table, clock, curve = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    assert table.images[0].get_array().tolist() == widget.encoding().tolist()
    assert table.images[0].get_clim() == (-1, 1)
    colours = [table.images[0].cmap(x)[:3] for x in (0.0, 1.0)]
    assert colours == [pytest.approx(to_rgb(SCALE[i]), abs=0.01) for i in (0, 2)]
    row, column = table.patches
    assert (row.get_y(), row.get_height()) == (16.5, 1)
    assert (column.get_x(), column.get_width()) == (7.5, 2)
    hand = clock.lines[2]
    assert (hand.get_xdata()[1], hand.get_ydata()[1]) == pytest.approx(
        widget.encoding()[17, 8:10].tolist()
    )
    assert curve.lines[0].get_ydata().tolist() == widget.products().tolist()
    thick = curve.lines[1:-1]
    assert thick and all(
        abs(line.get_ydata()[1]) > abs(line.get_ydata()[0])
        and abs(line.get_xdata()[1] - 17) == abs(line.get_xdata()[0] - 17) + 1
        for line in thick
    )
    twin = PositionWidget(22, 29, position=17, pair=4)
    assert widget.png() == twin.png()
    twin.pair = 5
    assert widget.png() != twin.png()


def test_description_has_the_numbers():
    text = PositionWidget(position=20, pair=3).describe()
    angle = 20 * 10_000 ** (-6 / 64)
    assert f"sin {math.sin(angle):.2f}, cos −{abs(math.cos(angle)):.2f}, one turn in 14.9" in text
    assert "10000^(−2i/64), as" in text and "15 dimensions are nearly constant" in text
    assert "32.0 with itself, 23.5 at distance 5 and, further away, 23.6 at distance 6" in text
    assert "it rises at 38 of 99 steps" in text
    text = PositionWidget(2, 3, doubled=True).describe()
    assert "10000^(−4i/2), the doubled exponent" in text and "falling all the way" in text
