"""A slider move of 64 tokens stays cheap. The aim is 8 ms of CPU at p95 (`make bench` reports it);
the tests fail at three times that, and at more where the machine itself is slower: the same work
of known size is timed beside each test (`slowness`)."""

import pytest
from cost_samples import cost_widget
from heads_samples import heads_widget
from map_samples import heads, words
from numeral_samples import length_widget
from threshold_samples import table
from widget_page import WidgetPage, state
from widget_trace import (
    UNIT,
    WORK_UNIT,
    first_paint_cost,
    key_costs,
    percentile,
    press_costs,
    slider_costs,
    slowness,
)

from attnkit.widgets import (
    HeadBrowser,
    MaskEditor,
    PositionWidget,
    ScalingWidget,
    SoftmaxWidget,
    TemperatureWidget,
    ThresholdWidget,
)

LIMIT = 24.0  # milliseconds


def twelve_tokens(preset):
    return MaskEditor([f"t{i}" for i in range(12)], preset=preset)


def large_classes():
    return ThresholdWidget(table(12, 12, 11), maps=heads(12, 12, 48, 48), tokens=words(48))


def check(page, costs, what):
    """The 95th percentile stays below the limit of a machine of this speed."""
    limit = LIMIT * slowness(page)
    assert percentile(costs, 0.95) < limit, (
        f"{what}: {percentile(costs, 0.95):.1f} ms at p95, limit {limit:.1f}"
    )


CASES = {
    "scaling, d_k": lambda: ScalingWidget(revealed=True, scale=False),
    "softmax of 64, temperature": lambda: SoftmaxWidget([i / 10 for i in range(64)]),
    "temperature, 12 tokens": lambda: TemperatureWidget([i / 3 for i in range(12)]),
    "mask of 12 tokens, window": lambda: twelve_tokens("two-sided window"),
    "heads, 1 to 32": lambda: heads_widget(revealed=True),
    "length, 1 to 12 digits": lambda: length_widget(range(1, 13)),
    "heads, 12 × 12 of 64 tokens: query": lambda: HeadBrowser(heads(12, 12, 64, 64), words(64)),
    "classes of 12 × 12 heads, positions": large_classes,
    "cost, n": cost_widget,
    "positions, 100 of 64 dimensions": PositionWidget,
}


@pytest.mark.parametrize("case", CASES)
def test_a_slider_move_is_cheap(browser, case):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    board = WidgetPage(page)
    board.mount(CASES[case]())
    costs = slider_costs(page, ".aw-range")
    assert len(costs) == 60 and min(costs) > 0.1  # the trace saw the work
    check(page, costs, case)
    assert board.errors == []
    page.close()


def test_a_press_on_a_cell_is_cheap(browser):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    board = WidgetPage(page)
    board.mount(twelve_tokens("all"))
    costs = press_costs(page, ".aw-mask-cell")
    assert len(costs) == 40 and min(costs) > 0.1
    check(page, costs, "press")
    assert board.get("preset") == "custom" and board.errors == []
    page.close()


@pytest.fixture(scope="module")
def large_browser():
    return HeadBrowser(heads(12, 12, 64, 64), words(64))


def test_a_move_between_heads_is_cheap_at_the_largest_size(browser, large_browser):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    board = WidgetPage(page)
    board.mount(large_browser)
    keys = ["ArrowRight"] * 10 + ["ArrowDown"] * 10 + ["ArrowLeft"] * 9 + ["ArrowUp"] * 9
    costs = key_costs(page, ".aw-thumb[tabindex='0']", keys)
    assert len(costs) == len(keys) and min(costs) > 0.1
    check(page, costs, "key")
    assert (board.get("layer"), board.get("head")) == (1, 2)  # the keys did move
    assert board.errors == []
    page.close()


def test_the_largest_browser_is_painted_soon(browser, large_browser):
    """From the module's import to the paint: 150 ms of CPU is the aim, twice that the limit."""
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    WidgetPage(page)
    cost = first_paint_cost(page, large_browser, state)
    assert page.locator(".aw-thumb").count() == 144
    assert 5 < cost < 300 * slowness(page), f"{cost:.0f} ms"
    page.close()


def test_the_trace_sees_waste(browser):
    """A widget that works for twice the limit in each move must be caught, on any machine."""
    page = browser.new_page()
    board = WidgetPage(page)
    board.mount(SoftmaxWidget())
    page.evaluate(
        f"""() => document.querySelector(".aw-range").addEventListener("input", () => {{
             for (let i = 0; i < {2 * LIMIT / UNIT:.0f}; i++) ({WORK_UNIT})();
           }})"""
    )
    costs = slider_costs(page, ".aw-range", moves=12)
    with pytest.raises(AssertionError, match="at p95"):
        check(page, costs, "waste")
    page.close()
