"""CostWidget in a browser: numbers as in Python, measured n only, gaps, choices, keys."""

import math
import random
import re

import pytest
from cost_samples import CURVES, SIZES, cost_widget, measured
from playwright.sync_api import expect
from widget_page import load_functions, unfold

from attnkit.widgets import CostWidget
from attnkit.widgets.cost_data import amount, significant, span


@pytest.fixture(scope="module")
def own(browser):
    page = browser.new_page()
    load_functions(page, "cost", "significant", "amount", "span", "logTicks")
    yield page.evaluate
    page.close()


def test_numbers_are_written_as_python_writes_them(own):
    rng = random.Random(4)
    values = [10 ** rng.uniform(-4, 6) for _ in range(2000)]
    values += [0.0581, 1, 9.996, 99.96, 999.4, 999.5, 999.6, 1000, 123456, 0.00099996]
    found = own(
        """(values) => values.map((x) => [own.significant(x), own.significant(x, 2),
             own.amount(x, "time"), own.amount(x, "memory"), own.span(x, 1.7 * x)])""",
        values,
    )
    for x, texts in zip(values, found, strict=True):
        wanted = [significant(x), significant(x, 2), amount(x, "time"), amount(x, "memory")]
        assert texts == [*wanted, span(x, 1.7 * x)], x


def test_ticks_lie_inside(own):
    assert own("() => own.logTicks(0.3, 4000)") == [1, 10, 100, 1000]
    assert own("() => own.logTicks(1.5, 7)") == [2, 5]


# ------------------------------------------------------------------ the numbers at n


def texts(view, kind):
    return view.locator(f".aw-cost-row .aw-cost-{kind}").all_inner_texts()


def check(view, widget):
    for row, (name, _) in zip(view.locator(".aw-cost-row").all(), CURVES, strict=True):
        cost, ratio = widget.at(name), widget.ratio(name)
        value, spread, share = (
            row.locator(f".aw-cost-{kind}").inner_text() for kind in ("value", "range", "ratio")
        )
        if cost is None:
            assert (value, spread, share) == ("not run", "", "")
            continue
        number = cost.value(widget.quantity)
        wanted = "not measured" if number is None else amount(number, widget.quantity)
        assert value == wanted
        assert spread == (span(cost.low, cost.high) if widget.quantity == "time" else "")
        if name == "full attention":
            assert share == "reference"
        elif number is None:
            assert share == ""
        elif ratio is None:
            assert share == "full attention: not run"
        else:
            assert share == f"{significant(ratio, 2)} × full attention"


@pytest.mark.parametrize("quantity", ["time", "memory"])
def test_every_n_shows_what_python_has(board, quantity):
    widget = cost_widget(quantity=quantity)
    view = board.mount(widget)
    slider = view.get_by_role("slider", name="Tokens n")
    slider.press("Home")
    for n in SIZES:
        board.settled()
        widget.n = n
        assert board.get("n") == n
        assert slider.get_attribute("aria-valuetext") == f"{n:,} tokens"
        check(view, widget)
        slider.press("ArrowRight")
    assert board.get("n") == 65536  # there is no further one
    assert slider.get_attribute("max") == str(len(SIZES) - 1)


# ------------------------------------------------------------------ the curves


def points(view, kind, index):
    path = view.locator(f".aw-plot .{kind}").nth(index).get_attribute("d") or ""
    return re.findall(r"([ML])(-?[\d.]+) (-?[\d.]+)", path)


def flat(pairs):
    return [float(number) for pair in pairs for number in pair]


def test_curves_are_log_log_and_stop_where_nothing_was_run(board):
    view = board.mount(cost_widget())
    every = [cost for _, costs in CURVES for cost in costs.values()]
    low, high = min(cost[1] for cost in every), max(cost[2] for cost in every)

    def place(n, value):
        x = 20 + 960 * math.log(n / 128) / math.log(65536 / 128)
        return x, 1000 * (1 - 0.04 - 0.92 * math.log(value / low) / math.log(high / low))

    for index, (_, costs) in enumerate(CURVES):
        found = points(view, "aw-curve", index)
        wanted = [place(n, cost[0]) for n, cost in costs.items()]
        assert flat((x, y) for _, x, y in found) == pytest.approx(flat(wanted), abs=0.11)
        ranges = points(view, "aw-cost-range", index)
        ends = [place(n, value) for n, cost in costs.items() for value in cost[1:3]]
        assert flat((x, y) for _, x, y in ranges) == pytest.approx(flat(ends), abs=0.11)
    assert "".join(kind for kind, *_ in points(view, "aw-curve", 0)) == "MLLLLLL"
    assert "".join(kind for kind, *_ in points(view, "aw-curve", 4)) == "MLMMM"  # gaps of fused
    script = "(all) => all.map((curve) => curve.style.cssText)"
    styles = view.locator(".aw-plot .aw-curve").evaluate_all(script)
    assert len(set(styles)) == 5


def test_the_chosen_n_is_marked_only_where_it_was_run(board):
    view = board.mount(cost_widget(n=16384))
    now = [points(view, "aw-cost-now", i) for i in range(5)]
    assert [bool(found) for found in now] == [False, False, True, True, True]
    x = 20 + 960 * math.log(128) / math.log(512)
    assert view.locator(".aw-cost-cursor").get_attribute("d") == f"M{x:.1f} 0V1000"
    assert all(float(found[0][1]) == pytest.approx(x, abs=0.06) for found in now[2:])


def test_curves_are_taken_away_and_put_back(board):
    view = board.mount(cost_widget(n=128))
    linear = view.get_by_role("checkbox", name="linear")
    before = points(view, "aw-curve", 2)
    linear.press("Space")
    assert board.get("drawn") == [name for name, _ in CURVES if name != "linear"]
    board.settled()
    assert points(view, "aw-curve", 3) == [] and points(view, "aw-cost-now", 3) == []
    assert points(view, "aw-curve", 2) == before  # the axes stay as they are
    check(view, cost_widget(n=128))  # its numbers too
    linear.press("Space")
    assert board.get("drawn") == [name for name, _ in CURVES]
    board.set("drawn", ["fused"])
    assert [box.is_checked() for box in view.get_by_role("checkbox").all()] == [False] * 4 + [True]


def test_time_and_memory(board):
    view = board.mount(cost_widget(n=1024))
    view.get_by_role("radio", name="time").press("ArrowRight")
    assert board.get("quantity") == "memory"
    board.settled()
    check(view, cost_widget(n=1024, quantity="memory"))
    assert view.locator(".aw-panel-title").inner_text() == "Peak memory at n = 1,024"
    assert points(view, "aw-curve", 4) == [] and points(view, "aw-cost-range", 0) == []
    board.set("quantity", "time")
    assert view.get_by_role("radio", name="time").is_checked()
    none = board.mount(CostWidget(CURVES[4:]), "timeonly")
    expect(none.get_by_role("radio", name="peak memory")).to_be_hidden()


def test_a_click_takes_the_nearest_measured_n(board):
    view = board.mount(cost_widget())
    box = view.locator(".aw-plot").bounding_box()
    for n, off in [(512, 0.02), (32768, -0.03), (128, -0.01)]:
        share = 0.02 + 0.96 * math.log(n / 128) / math.log(512) + off
        board.page.mouse.click(box["x"] + share * box["width"], box["y"] + 40)
        assert board.get("n") == n


def test_what_is_said(board):
    widget = cost_widget(n=16384, shown=["full attention", "linear"])
    view = board.mount(cost_widget(n=8192, shown=["full attention", "linear"]))
    live = view.locator("[aria-live=polite]")
    board.set("n", 16384)
    cost = widget.at("linear")
    expect(live).to_have_text(
        f"n = 16,384, median time: full attention not run; linear {amount(cost[0], 'time')} "
        f"({span(cost.low, cost.high)}), full attention: not run."
    )
    view.get_by_role("slider", name="Tokens n").press("Home")
    widget.n = 128
    ratio = significant(widget.ratio("linear"), 2)
    full = amount(widget.at("full attention")[0], "time")
    expect(live).to_contain_text(f"n = 128, median time: full attention {full} (")
    expect(live).to_contain_text(f"{ratio} times full attention.")
    board.set("drawn", [])
    expect(live).to_contain_text("no curve is drawn")


def test_the_table_says_what_was_not_run(board):
    view = board.mount(cost_widget())
    unfold(view.locator("summary"))
    rows = [row.inner_text().split("\t") for row in view.locator("tbody tr").all()]
    assert [row[0] for row in rows] == [f"{n:,}" for n in SIZES]
    for row, n in zip(rows, SIZES, strict=True):
        for text, (_, costs) in zip(row[1:], CURVES, strict=True):
            wanted = "not run"
            if n in costs:
                wanted = f"{amount(costs[n][0], 'time')} ({span(*costs[n][1:3])})"
            assert text == wanted
    board.set_all({"quantity": "memory", "drawn": ["linear"]})
    cells = view.locator("tbody tr").first.inner_text().split("\t")
    assert cells == ["128", amount(128 / 317, "memory")]


def test_one_curve_with_one_point(board):
    view = board.mount(CostWidget([("<b>only</b>", {7: (1.0, 1.0, 1.0, 2.0)})]))
    assert texts(view, "value") == ["1.00 ms"] and view.locator("b").count() == 0
    assert texts(view, "name") == ["<b>only</b>"]
    costs = measured([64, 128], lambda n: n, lambda n: n)
    twelve = CostWidget([(f"kind {i}", costs) for i in range(12)])
    assert board.mount(twelve, "twelve").locator(".aw-cost-row").count() == 12


def test_two_views_stay_in_step_and_leave_nothing(board):
    views = board.mount(cost_widget(), views=2)
    views.first.get_by_role("slider", name="Tokens n").press("Home")
    views.last.get_by_role("radio", name="peak memory").click()
    board.settled()
    assert texts(views.first, "value") == texts(views.last, "value")
    assert views.first.get_by_role("radio", name="peak memory").is_checked()
    assert board.page.evaluate("afm.models.w.saves") == 2
    board.page.evaluate("afm.models.w.cleanups.forEach((clean) => clean())")
    assert board.page.evaluate("afm.models.w.count()") == 0
