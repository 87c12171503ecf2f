"""TemperatureWidget in a browser: the slider, wanted shares, pairs, limits, odd scores."""

import math
import re

import pytest
from playwright.sync_api import expect
from widget_page import spoken

from attnkit.widgets import TemperatureWidget, measures


def verdict(view):
    return " ".join(view.locator(".aw-judgement").inner_text().split())


def column(view, table, n):
    cells = view.locator(f".aw-{table} tbody tr > :nth-child({n})").all_inner_texts()
    return [" ".join(cell.split()) for cell in cells]


def held_back(view):
    return [
        view.locator(".aw-judgement"),
        view.locator(".aw-pairs"),
        view.get_by_role("button", name="Set T = 2.07"),
        view.get_by_text("T that a pair needs"),
    ]


@pytest.mark.parametrize("way", ["slider", "field", "chart", "button", "python"])
def test_the_answer_comes_after_a_try(board, way):
    view = board.mount(TemperatureWidget(temperature=1))
    assert view.get_by_label("Temperature T, exact value").input_value() == "1"
    for part in held_back(view):
        expect(part).to_be_hidden()
    assert view.locator(".aw-needs").evaluate("(n) => getComputedStyle(n).visibility") == "hidden"
    tall = view.bounding_box()["height"]
    if way == "slider":
        view.get_by_role("slider", name="Temperature T").press("ArrowRight")
    elif way == "field":
        view.get_by_label("Temperature T, exact value").fill("2")
    elif way == "chart":
        view.locator(".aw-curve-plot").click()
    elif way == "button":
        view.get_by_role("button", name="Show what each pair needs").press("Enter")
        expect(view.locator(".aw-needed")).to_be_focused()
    else:
        board.set("revealed", True)
    board.settled()
    assert board.get("revealed") is True
    for part in held_back(view):
        expect(part).to_be_visible()
    expect(view.get_by_role("button", name="Show what each pair needs")).to_be_hidden()
    assert view.bounding_box()["height"] == tall  # nothing below has moved


def test_a_wish_alone_gives_nothing_away(board):
    view = board.mount(TemperatureWidget())
    view.get_by_label("Wanted share of 爱").fill("40")
    said, _ = spoken(view.locator(".aw-live"), lambda: board.set("temperature", 2.0))
    assert said.startswith("Temperature 2. ") and "no temperature" not in said
    for part in held_back(view):
        expect(part).to_be_hidden()


def test_a_temperature_that_is_none_is_named(board):
    view = board.mount(TemperatureWidget())
    field = view.get_by_label("Temperature T, exact value")
    says = view.get_by_text("T must be above 0")
    for typed in ("0", "-2"):
        expect(says).to_have_count(0)
        field.fill(typed)
        field.press("Tab")
        expect(says).to_be_visible()
        assert board.get("temperature") == 1 and field.input_value() == "1"
        field.fill("1")
    field.press("Tab")
    expect(says).to_have_count(0)


def test_curves_that_look_like_one_are_named(board):
    near = board.mount(TemperatureWidget()).locator(".aw-near")
    assert near.inner_text() == "我 and 爱 nearly coincide"
    far = board.mount(TemperatureWidget([1, 2, 5]), "far").locator(".aw-near")
    assert far.inner_text() == ""
    same = board.mount(TemperatureWidget([1, 1, 1], list("abc")), "same").locator(".aw-near")
    assert same.inner_text() == "a and b nearly coincide, and others too"


def test_no_temperature_gives_5_10_80(board):
    view = board.mount(TemperatureWidget(revealed=True))
    assert column(view, "pairs", 1) == ["爱 : 我", "中国 : 我", "中国 : 爱"]
    assert column(view, "pairs", 3) == ["2", "16", "8"]
    assert column(view, "pairs", 4) == ["Set T = 0.0721", "Set T = 2.07", "Set T = 2.74"]
    assert verdict(view) == (
        "爱 : 我 = 2 needs T = 0.0721, 中国 : 爱 = 8 needs T = 2.74: "
        "no temperature gives 5 : 10 : 80."
    )
    note = view.locator(".aw-panel .aw-legend + .aw-small").first
    expect(note).to_contain_text("sum to 95 %")


def test_a_pair_s_temperature_can_be_tried(board):
    view = board.mount(TemperatureWidget(revealed=True))
    view.get_by_role("button", name="Set T = 2.07").press("Enter")
    board.settled()
    assert board.get("temperature") == pytest.approx(5.75 / math.log(16))
    assert column(view, "pairs", 2) == ["1.02", "16 ✓", "15.6"]
    assert view.locator(".aw-met").count() == 1


def test_the_slider_moves_weights_slopes_ratios_and_cursor(board):
    widget = TemperatureWidget()
    view = board.mount(widget)
    slider = view.get_by_role("slider", name="Temperature T")
    places = []
    for key, temperature in [("Home", 0.05), ("End", 10)]:
        slider.press(key)
        board.settled()
        widget.temperature = temperature
        weights = widget.weights().tolist()
        assert view.locator(".aw-weight-cell").all_inner_texts() == list(
            map(measures.percent, weights)
        )
        fills = view.locator(".aw-weight-fill").evaluate_all(
            "(nodes) => nodes.map((n) => parseFloat(n.style.backgroundSize))"
        )
        assert fills == pytest.approx([100 * w for w in weights], abs=0.051)
        places.append([float(c.get_attribute("x1")) for c in view.locator(".aw-cursor").all()])
    assert places == [[0, 0], [1000, 1000]]


def test_in_the_cold_the_slopes_are_gone(board):
    view = board.mount(TemperatureWidget(temperature=0.05))
    slopes = column(view, "tokens", 3)
    assert all(re.search(r"e−\d\d$", slope) for slope in slopes), slopes
    limits = view.locator(".aw-limits .aw-remark").all_inner_texts()
    assert "all the weight goes to 中国, and every slope goes to 0" in limits[0]
    assert "equal shares, 33.3 % each" in limits[1]


def test_the_curves_are_softmaxs(board):
    widget = TemperatureWidget()
    view = board.mount(widget)
    paths = view.locator(".aw-curve-plot .aw-curve")
    for i in range(3):
        points = re.findall(r"([\d.]+) ([\d.]+)", paths.nth(i).get_attribute("d"))
        assert len(points) > 100
        for x, y in (points[0], points[37], points[80], points[-1]):
            widget.temperature = 0.05 * 200 ** (float(x) / 1000)
            share = (1 - float(y) / 1000 - 0.02) / 0.95
            assert share == pytest.approx(float(widget.weights()[i]), abs=2e-3)


def test_marks_stand_at_the_wanted_shares(board):
    view = board.mount(TemperatureWidget(wanted=[1, 2, 5]))
    marks = view.locator(".aw-wanted-mark").evaluate_all(
        "(nodes) => nodes.map((n) => parseFloat(n.style.left))"
    )
    assert marks == [12.5, 25, 62.5]
    assert view.locator(".aw-tokens thead th").last.inner_text() == "Wanted"
    fields = view.get_by_label(re.compile("Wanted share of"))
    assert [f.input_value() for f in fields.all()] == ["1", "2", "5"]


def test_the_wish_can_be_changed_by_hand(board):
    view = board.mount(TemperatureWidget(revealed=True))
    field = view.get_by_label("Wanted share of 爱")
    field.fill("40")
    board.settled()
    assert board.get("wanted") == [0.05, 0.4, 0.8]
    assert "no temperature gives 5 : 40 : 80" in verdict(view)
    for typed in ("", "-1"):
        field.fill(typed)
        expect(field).to_have_attribute("aria-invalid", "true")
        assert board.get("wanted")[1] == 0.4
    field.press("Tab")
    view.get_by_role("button", name="Want 5 : 10 : 80").click()
    board.settled()
    assert board.get("wanted") == [0.05, 0.1, 0.8] and field.input_value() == "10"


def test_not_everything_can_be_unwanted(board):
    view = board.mount(TemperatureWidget(wanted=[0, 0, 1]))
    field = view.get_by_label("Wanted share of 中国")
    field.fill("0")
    expect(field).to_have_attribute("aria-invalid", "true")
    assert board.get("wanted") == [0, 0, 1]


def test_present_weights_are_within_reach(board):
    widget = TemperatureWidget(temperature=2.5, revealed=True)
    view = board.mount(widget)
    view.get_by_role("button", name="Take the present weights as wanted").click()
    board.settled()
    assert board.get("wanted") == pytest.approx(widget.weights().tolist())
    assert verdict(view).startswith("T = 2.5 gives ")
    board.set("temperature", 1.0)
    assert verdict(view).startswith("T = 2.5 gives ")
    buttons = view.get_by_role("button", name="Set T = 2.5").all()
    assert len(buttons) == 3


def test_weights_next_to_nothing_are_wanted_as_a_hundredth_of_a_percent(board):
    view = board.mount(TemperatureWidget(temperature=0.05, revealed=True))
    view.get_by_role("button", name="Take the present weights as wanted").click()
    board.settled()
    assert board.get("wanted") == [1e-4, 1e-4, 1]
    fields = view.get_by_label(re.compile("Wanted share of"))
    assert [f.input_value() for f in fields.all()] == ["0.01", "0.01", "100"]
    note = view.locator(".aw-panel .aw-legend + .aw-small").first
    expect(note).to_contain_text("those below 0.01 % as 0.01 %. They sum to 100 %")
    assert "e−" not in verdict(view) and "e4" not in verdict(view)
    view.get_by_role("button", name="Want 5 : 10 : 80").click()
    expect(note).to_contain_text("The wanted shares sum to 95 %")


@pytest.mark.parametrize(
    ("scores", "wanted", "answers", "says"),
    [
        ([2, 2], [1, 1], ["any T"], "Every temperature gives 100 : 100: the scores are equal."),
        ([2, 2], [1, 2], ["no T"], "b : a = 2 is out of reach: equal scores get equal weights."),
        ([1, 2], [3, 3], ["only T → ∞"], "Only the limit T → ∞ gives 3 : 3."),
        ([1, 2], [0, 3], ["only T → 0"], "Only the limit T → 0 gives 0 : 3: a weight is never"),
        (
            [1, 2],
            [3, 1],
            ["no T"],
            "a : b = 3 is out of reach: at every T the larger score, that of b,",
        ),
        ([2, 2, 1], [0, 0, 1], ["no ratio", "no T", "no T"], "c : a = ∞ is out of reach"),
        ([0, 1, 2], [0, 1, 2], None, "b : a = ∞ needs T → 0, c : b = 2 needs T = 1.44: no temp"),
        ([0, 1, 2], [1, 1, 2], None, "b : a = 1 needs T → ∞, c : a = 2 needs T = 2.89: no temp"),
    ],
)
def test_edges(board, scores, wanted, answers, says):
    view = board.mount(TemperatureWidget(scores, list("abc")[: len(scores)], wanted, revealed=True))
    if answers:
        assert column(view, "pairs", 4) == answers
    assert says in verdict(view)


def test_equal_top_scores_keep_their_slopes(board):
    view = board.mount(TemperatureWidget([3, 3, 1], ["a", "b", "c"], temperature=0.05))
    remark = view.locator(".aw-limits .aw-remark").first.inner_text()
    assert "shared equally by a and b (equal scores), and their slopes grow like 1 ÷ T" in remark
    assert column(view, "tokens", 3)[:2] == ["5", "5"]


def test_many_tokens_show_the_pairs_with_one(board):
    labels = [f"t{i}" for i in range(12)]
    widget = TemperatureWidget([i / 3 for i in range(12)], labels, revealed=True)
    view = board.mount(widget)
    picker = view.get_by_label("Show the pairs with")
    assert column(view, "pairs", 1) == [f"t11 : t{i}" for i in range(11)]
    picker.select_option(label="t4")
    board.settled()
    names = column(view, "pairs", 1)
    assert len(names) == 11 and all("t4" in name.split(" : ") for name in names)
    assert all(column(view, "pairs", 2))


def test_extreme_scores_and_temperatures_are_drawn(board):
    widget = TemperatureWidget([1e308, -1e308, 0.0], ["high", "low", "zero"], [3, 1, 2])
    view = board.mount(widget)
    assert view.locator(".aw-weight-cell").all_inner_texts() == ["100 %", "0 %", "0 %"]
    for temperature in (1e-300, 1e300):
        board.set("temperature", temperature)
    assert "NaN" not in view.evaluate("(node) => node.outerHTML")


def test_python_changes_the_tokens(board):
    view = board.mount(TemperatureWidget(revealed=True))
    board.set_all({"scores": [1.0, 2.0], "labels": ["left", "right"], "wanted": [1.0, 3.0]})
    assert view.locator(".aw-tokens .aw-token").all_inner_texts() == ["left", "right"]
    assert verdict(view) == "T = 0.91 gives 1 : 3."
    expect(view.get_by_role("button", name="Want 5 : 10 : 80")).to_be_disabled()


def test_the_chart_can_be_dragged(board):
    view = board.mount(TemperatureWidget())
    box = view.locator(".aw-curve-plot").bounding_box()
    board.page.mouse.move(box["x"] + 5, box["y"] + 40)
    board.page.mouse.down()
    board.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    board.page.mouse.up()
    assert board.get("temperature") == pytest.approx(math.sqrt(0.05 * 10), rel=0.03)


def test_chinese_is_marked_as_chinese(board):
    view = board.mount(TemperatureWidget())
    for token in view.locator(".aw-token").all():
        assert token.get_attribute("lang") == "zh-Hans"
    assert view.locator(".aw-token").count() >= 3 + 3 + 6 + 4
    many = board.mount(TemperatureWidget([1, 2, 3, 4, 5], list("我爱中国人")), "many")
    for option in many.locator("option").all():
        assert option.get_attribute("lang") == "zh-Hans"


def test_the_summary_speaks_after_a_pause(board):
    view = board.mount(TemperatureWidget())
    live = view.locator("[aria-live=polite]")
    view.get_by_role("slider", name="Temperature T").press("End")
    expect(live).to_contain_text(
        re.compile(r"^Temperature 10\. 我: 26\.\d %, slope 0\.\d+; .*no temperature")
    )
