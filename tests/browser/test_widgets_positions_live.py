"""PositionWidget in a browser: its arithmetic against PyTorch, table, clock, curve, keys."""

import math
import re

import pytest
import torch
from playwright.sync_api import expect
from widget_page import load_functions, unfold

from attnkit.positional import sinusoidal_encoding
from attnkit.widgets import PositionWidget
from attnkit.widgets.position import SCALE

SIZES = [(2, 2), (7, 10), (100, 64), (257, 134)]


@pytest.fixture(scope="module")
def own(browser):
    """own("expression", given): JavaScript on functions of the joined module, as `own`."""
    page = browser.new_page()
    names = ("frequencies", "encodingTable", "productsByDistance", "risesOf", "constantOf")
    load_functions(page, "position", *names, "signedColour")
    yield page.evaluate
    page.close()


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize(("n", "d"), SIZES)
def test_the_page_computes_what_pytorch_does(own, n, d, doubled):
    script = """([n, d, doubled]) => {
      const omegas = own.frequencies(d, doubled);
      const table = own.encodingTable(omegas, n);
      const products = own.productsByDistance(omegas, n);
      return [Array.from(table), products, own.risesOf(products), own.constantOf(table, d)];
    }"""
    table, products, rises, constant = own(script, [n, d, doubled])
    widget = PositionWidget(d, n, doubled=doubled)
    found = torch.tensor(table, dtype=torch.float64).reshape(n, d)
    torch.testing.assert_close(found, widget.encoding(), rtol=0, atol=1e-10)
    if not doubled:
        assert (found.float() - sinusoidal_encoding(n, d)).abs().max() < 1e-6
    assert products == pytest.approx(widget.by_distance().tolist(), abs=1e-9)
    assert (rises, constant) == (widget.rises(), widget.constant())


def test_colours_are_those_of_the_picture(own):
    ends = own("() => [-1, 0, 1, -3, 0.5].map(own.signedColour)")
    hexes = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in SCALE]
    assert ends[:4] == [*hexes, hexes[0]]
    half = [(a + b) / 2 for a, b in zip(hexes[1], hexes[2], strict=True)]
    assert ends[4] == pytest.approx(half, abs=0.51)


# ------------------------------------------------------------------ what is drawn


def values(view):
    return view.locator(".aw-value").all_inner_texts()


def points(path):
    return [(float(x), float(y)) for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", path)]


def test_every_cell_has_the_colour_of_its_value(board):
    widget = PositionWidget(14, 11)
    view = board.mount(widget)
    pixels = view.locator(".aw-pe-cells").evaluate(
        "(c) => Array.from(c.getContext('2d').getImageData(0, 0, c.width, c.height).data)"
    )
    ends = torch.tensor([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in SCALE]).double()
    value = widget.encoding()[..., None]
    wanted = ends[1] + (torch.where(value < 0, ends[0], ends[2]) - ends[1]) * value.abs()
    found = torch.tensor(pixels).reshape(11, 14, 4)
    assert (found[..., :3] - wanted).abs().max() <= 0.51 and (found[..., 3] == 255).all()


def test_clock_and_numbers_follow_position_and_pair(board):
    widget = PositionWidget(position=20, pair=3)
    view = board.mount(widget)
    for position, pair in [(20, 3), (0, 0), (99, 31), (57, 11)]:
        board.set_all({"position": position, "pair": pair})
        sine, cosine = widget.encoding()[position, 2 * pair : 2 * pair + 2].tolist()
        hand = re.fullmatch(r"M0 0L(\S+) (\S+)", view.locator(".aw-pe-hand").get_attribute("d"))
        assert (float(hand[1]), -float(hand[2])) == pytest.approx((sine, cosine), abs=1e-3)
        turn = 2 * math.pi * 10_000 ** (2 * pair / 64)
        shown = values(view)
        assert [float(text.replace("−", "-")) for text in shown[:2]] == pytest.approx(
            [sine, cosine], abs=0.006
        )
        assert float(shown[2]) == pytest.approx(turn, rel=0.006) and shown[3] == "15 of 64"
        name = f"Clock of pair {pair} at position {position}"
        expect(view.get_by_role("img", name=name)).to_be_visible()
        trail = view.locator(".aw-pe-trail").get_attribute("d")
        assert trail.count("h0") == 100
    row = view.locator(".aw-pe-row").bounding_box()
    area = view.locator(".aw-pe-map").bounding_box()
    middle = (row["y"] + row["height"] / 2 - area["y"]) / area["height"]
    assert middle == pytest.approx(57.5 / 100, abs=0.01)
    column = view.locator(".aw-pe-column").bounding_box()
    middle = (column["x"] + column["width"] / 2 - area["x"]) / area["width"]
    assert middle == pytest.approx(11.5 / 32, abs=0.01)


def test_the_curve_is_the_inner_product_and_its_rises_are_marked(board):
    widget = PositionWidget(position=41)
    view = board.mount(widget)
    curve = points(view.locator(".aw-pe-curve").first.get_attribute("d"))
    products = widget.products()
    for p, (x, y) in enumerate(curve):
        assert x == pytest.approx(1000 * p / 99, abs=0.06)
        assert (1000 - y - 30) / 940 * 32 == pytest.approx(float(products[p]), abs=0.01)
    rising = points(view.locator(".aw-pe-rising").first.get_attribute("d"))
    starts = {round(x * 99 / 1000) for x, _ in rising[::2]}
    rises = widget.rises()
    wanted = {41 + way * k for k in rises for way in (1, -1) if 0 <= 41 + way * (k + 1) < 100}
    assert starts == wanted
    assert all(rising[i + 1][1] < rising[i][1] for i in range(0, len(rising), 2))  # upwards
    remark = view.locator(".aw-pe-remark").inner_text()
    assert "23.50 at distance 5, 23.56 at distance 6" in remark
    assert remark.endswith(f"It rises at {len(rises)} of 99 steps.")


def test_the_doubled_exponent_leaves_most_dimensions_constant(board):
    view = board.mount(PositionWidget(pair=20))
    turn = values(view)[2]
    view.get_by_label("Doubled exponent").press("Space")
    board.settled()
    assert board.get("doubled") is True
    assert values(view)[3] == "39 of 64" and values(view)[2] != turn
    assert view.locator(".aw-pe-formula").inner_text() == "ω = 10000−4i/64"
    board.set("doubled", False)
    assert values(view)[3] == "15 of 64" and values(view)[2] == turn
    assert not view.get_by_label("Doubled exponent").is_checked()


# ------------------------------------------------------------------ keys, pointer, Python


def test_keys_reach_every_position_and_pair(board):
    view = board.mount(PositionWidget(14, 11))
    for name, trait, last in [("Position p", "position", 10), ("Pair i", "pair", 6)]:
        range_ = view.get_by_role("slider", name=name)
        range_.focus()
        for key, wanted in [("End", last), ("ArrowLeft", last - 1), ("Home", 0), ("ArrowUp", 1)]:
            board.page.keyboard.press(key)
            assert board.get(trait) == wanted
        field = view.get_by_label(f"{name}, exact value")
        for typed, wanted in [("4", 4), ("2.6", 3), ("-5", 0)]:
            field.fill(typed)
            field.press("Enter")
            assert board.get(trait) == wanted
        field.fill("999")  # beyond the table
        assert field.get_attribute("aria-invalid") == "true"
        field.press("Enter")
        assert board.get(trait) == 0
    board.settled()
    spoken = view.get_by_role("slider", name="Pair i").get_attribute("aria-valuetext")
    assert spoken == "0, dimensions 0 and 1"


def test_a_click_on_the_table_or_the_curve_chooses(board):
    view = board.mount(PositionWidget(14, 11))
    box = view.locator(".aw-pe-map").bounding_box()
    board.page.mouse.click(box["x"] + box["width"] * 4.5 / 7, box["y"] + box["height"] * 8.5 / 11)
    assert (board.get("position"), board.get("pair")) == (8, 4)
    box = view.locator(".aw-pe-plot").bounding_box()
    board.page.mouse.move(box["x"] + 1, box["y"] + 30)
    board.page.mouse.down()
    board.page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 30, steps=3)
    board.page.mouse.up()
    assert (board.get("position"), board.get("pair")) == (3, 4)


def test_python_changes_the_size_of_the_table(board):
    view = board.mount(PositionWidget(position=99, pair=31))
    board.set_all({"n_positions": 11, "d_model": 14, "position": 10, "pair": 6})
    size = view.locator(".aw-pe-cells").evaluate("(c) => [c.width, c.height]")
    assert size == [14, 11]
    assert view.get_by_role("slider", name="Position p").get_attribute("max") == "10"
    assert view.get_by_role("slider", name="Pair i").input_value() == "6"
    assert view.locator(".aw-pe-formula").inner_text() == "ω = 10000−2i/14"
    board.set("n_positions", 5)  # before Python has moved the position
    assert view.locator(".aw-panel-title").last.inner_text() == "Inner product with position 4"


def test_two_views_stay_in_step(board):
    views = board.mount(PositionWidget(), views=2)
    views.first.get_by_role("slider", name="Position p").press("End")
    board.settled()
    for view in views.all():
        assert view.get_by_label("Position p, exact value").input_value() == "99"
    assert board.page.evaluate("afm.models.w.saves") == 1
    board.page.evaluate("afm.models.w.cleanups.forEach((clean) => clean())")
    assert board.page.evaluate("afm.models.w.count()") == 0


def test_the_summary_has_the_numbers(board):
    view = board.mount(PositionWidget())
    live = view.locator("[aria-live=polite]")
    view.get_by_role("slider", name="Position p").press("End")
    expect(live).to_contain_text("Position 99, pair 0: sin −1.00, cos 0.04, one turn in 6.28")
    expect(live).to_contain_text("15 of 64 dimensions are nearly constant")
    expect(live).to_contain_text("23.56 at distance 6: further away, and larger")


def test_the_tables_hold_what_is_drawn(board):
    widget = PositionWidget(14, 11, position=7)
    view = board.mount(widget)
    for summary in view.locator("summary").all():
        unfold(summary)
    first, second = view.locator("tbody").all()
    sine = widget.encoding()[7, 4]
    assert first.locator("tr").nth(2).inner_text().split("\t") == [
        "2", "4, 5", "87.3", f"{sine:.3f}", f"{widget.encoding()[7, 5]:.3f}",
    ]  # fmt: skip
    rows = [row.inner_text().split("\t") for row in second.locator("tr").all()]
    values = widget.by_distance().tolist()
    assert [row[1] for row in rows] == [f"{value:.2f}".replace("-", "−") for value in values]
    assert [int(row[0]) for row in rows if row[2] == "rises"] == widget.rises()
    board.set("position", 3)
    expect(first.locator("td").nth(2)).to_have_text(f"{math.sin(3):.3f}")
