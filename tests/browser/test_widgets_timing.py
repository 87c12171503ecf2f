"""A slider move of 64 tokens stays cheap. The aim is 8 ms of CPU at p95 (`make bench` reports it);
the tests fail at three times that, and at more where the machine itself is slower: the same work
of known size is timed beside each test (`slowness`). What is dear is dear each time; what a
neighbour on the machine takes is not, so a measurement over the limit is made again."""

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
FIRST_PAINT = 300.0
ROUNDS = 3


def twelve_tokens(preset):
    return MaskEditor([f"t{i}" for i in range(12)], preset=preset)


def large_classes():
    return ThresholdWidget(table(12, 12, 11), maps=heads(12, 12, 48, 48), tokens=words(48))


def within(page, measure, limit, what):
    """The first of a few measurements that stays below the limit of a machine of this speed."""
    said = []
    for _ in range(ROUNDS):
        costs = measure()
        at_most, allowed = percentile(costs, 0.95), limit * slowness(page)
        if at_most < allowed:
            return costs
        said.append(f"{at_most:.1f} ms at p95, limit {allowed:.1f}")
    raise AssertionError(f"{what}: {'; '.join(said)}")


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
    costs = within(page, lambda: slider_costs(page, ".aw-range"), LIMIT, case)
    assert len(costs) == 60 and min(costs) > 0.1  # the trace saw the work
    assert board.errors == []
    page.close()


def test_a_press_on_a_cell_is_cheap(browser):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    board = WidgetPage(page)
    board.mount(twelve_tokens("all"))
    costs = within(page, lambda: press_costs(page, ".aw-mask-cell"), LIMIT, "press")
    assert len(costs) == 40 and min(costs) > 0.1
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

    def measure():
        board.set_all({"layer": 0, "head": 0})
        return key_costs(page, ".aw-thumb[tabindex='0']", keys)

    costs = within(page, measure, LIMIT, "key")
    assert len(costs) == len(keys) and min(costs) > 0.1
    assert (board.get("layer"), board.get("head")) == (1, 2)  # the keys did move
    assert board.errors == []
    page.close()


def test_the_largest_browser_is_painted_soon(browser, large_browser):
    """From the module's import to the paint: 150 ms of CPU is the aim, twice that the limit."""
    page = browser.new_page(viewport={"width": 1000, "height": 900})

    def measure():
        WidgetPage(page)  # a page that has no widget yet
        return [first_paint_cost(page, large_browser, state)]

    (cost,) = within(page, measure, FIRST_PAINT, "first paint")
    assert page.locator(".aw-thumb").count() == 144 and cost > 5
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
    with pytest.raises(AssertionError, match=r"waste: (.* at p95, limit [\d.]+(; )?){3}$"):
        within(page, lambda: slider_costs(page, ".aw-range", moves=12), LIMIT, "waste")
    page.close()
