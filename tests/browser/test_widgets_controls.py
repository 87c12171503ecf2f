"""The widgets in a browser: mouse, keyboard, Python, two views, themes, phones, accessibility."""

import re
from io import BytesIO

import pytest
from accessibility import OF_COLOURS, described, violations
from cost_samples import CURVES as COSTS
from cost_samples import cost_widget
from deletion_samples import deletion_widget
from heads_samples import heads_widget
from map_samples import causal, heads, words
from matplotlib.image import imread
from numeral_samples import length_widget, translation_widget
from playwright.sync_api import expect
from threshold_samples import threshold_widget, two_models
from widget_page import WidgetPage, spoken, unfold

from attnkit.widgets import (
    BottleneckGame,
    HeadBrowser,
    MaskEditor,
    PositionWidget,
    ScalingWidget,
    SnapshotWidget,
    SoftmaxWidget,
    TemperatureWidget,
    measures,
)

HOSTILE = ["<img src=x onerror=alert(1)>", "cost$5 and $6", "a\nb", "", "مرحبا", "👍🏽", "x" * 80]


# ------------------------------------------------------------------ mouse and keyboard


def test_mouse_moves_d_k(board):
    view = board.mount(ScalingWidget(revealed=True))
    range_ = view.get_by_role("slider", name="Key dimension d_k")
    box = range_.bounding_box()
    board.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    board.page.mouse.down()
    board.page.mouse.move(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2, steps=5)
    board.page.mouse.up()
    board.settled()
    assert board.get("d_k") == 1024
    assert view.get_by_label("Key dimension d_k, exact value").input_value() == "1024"


def test_keyboard_moves_d_k_and_reaches_every_integer(board):
    view = board.mount(ScalingWidget(d_k=64, revealed=True))
    range_ = view.get_by_role("slider", name="Key dimension d_k")
    range_.focus()
    for key, expected in [("Home", 1), ("ArrowRight", 2), ("End", 1024), ("ArrowLeft", 939)]:
        board.page.keyboard.press(key)
        assert board.get("d_k") == expected
    field = view.get_by_label("Key dimension d_k, exact value")
    for typed, expected in [("777", 777), ("5000", 1024), ("0", 1), ("12.6", 13)]:
        field.fill(typed)
        field.press("Enter")
        assert board.get("d_k") == expected
        field.blur()
        assert field.input_value() == str(expected)
    board.settled()
    assert range_.get_attribute("aria-valuetext") == "13"


def test_a_half_typed_number_is_not_overwritten(board):
    view = board.mount(SoftmaxWidget())
    field = view.get_by_label("Score of 我, exact value")
    field.click()
    field.press("Control+a")
    field.press_sequentially("-.5")
    board.settled()
    assert board.get("scores") == [-0.5, 0.1, 5.8]
    field.press_sequentially("5")
    board.settled()
    assert field.input_value() == "-.55" and board.get("scores") == [-0.55, 0.1, 5.8]
    field.fill("")
    assert field.get_attribute("aria-invalid") == "true"
    assert board.get("scores")[0] == -0.55
    field.blur()
    assert field.input_value() == "-0.55" and field.get_attribute("aria-invalid") is None


def test_scale_changes_the_weights_as_in_python(board):
    widget = ScalingWidget(d_k=256, scale=True, revealed=True)
    view = board.mount(widget)
    view.get_by_label("Divide by √d_k").press("Space")
    board.settled()
    widget.scale = False
    assert board.get("scale") is False
    largest = measures.percent(widget.measure()["largest_weight"])
    assert view.locator(".aw-value").nth(1).inner_text() == largest
    assert view.locator(".aw-panel-title").first.inner_text() == "Scores q·k"


def test_temperature_is_continuous_and_its_limits_are_right(board):
    view = board.mount(SoftmaxWidget())
    shares = view.locator(".aw-share")
    range_ = view.get_by_role("slider", name="Temperature T")
    range_.focus()
    seen = set()
    for _ in range(25):
        range_.press("ArrowRight")
        board.settled()
        seen.add(view.locator(".aw-fill-top").get_attribute("d"))
    assert len(seen) == 25
    range_.press("Home")
    board.settled()
    assert board.get("temperature") == 0.05
    assert shares.all_inner_texts() == ["< 0.1 %", "< 0.1 %", "100 %"]
    field = view.get_by_label("Temperature T, exact value")
    field.fill("0.0001")
    field.press("Enter")
    assert board.get("temperature") == 0.0001
    field.fill("0")
    assert board.get("temperature") == 0.0001  # not a temperature


def test_a_constant_changes_nothing(board):
    view = board.mount(SoftmaxWidget([1.0, 2.0, 4.0], ["a", "b", "c"]))
    before = view.locator(".aw-share").all_inner_texts()
    view.get_by_role("slider", name="Add c to every score").press("End")
    board.settled()
    assert board.get("shift") == 10
    assert view.locator(".aw-share").all_inner_texts() == before
    expect(view.locator(".aw-remark").last).to_contain_text("With c = 10 no weight moved")


def test_ties_share_in_the_limit(board):
    view = board.mount(SoftmaxWidget([2.0, 2.0, 1.0], ["a", "b", "c"]))
    remark = view.locator(".aw-remark").first
    assert remark.inner_text() == "T → 0: the weight is shared equally by a and b."
    view.get_by_label("Score of b, exact value").fill("3")
    board.settled()
    assert remark.inner_text() == "T → 0: all the weight goes to b."


# ------------------------------------------------------------------ predict, then measure


def test_nothing_is_shown_before_the_guess(board):
    view = board.mount(ScalingWidget(d_k=64))
    assert view.locator(".aw-value").all_inner_texts()[1:] == ["?", "?", "?"]
    assert not view.locator(".aw-bars").get_attribute("d")
    assert not view.locator(".aw-bar-top").get_attribute("d")
    expect(view.locator("details")).to_be_hidden()
    slider = view.get_by_role("slider", name="Key dimension d_k")
    said, _ = spoken(view.locator(".aw-live"), lambda: slider.press("End"))
    assert "Weights: shown after your guess." in said and "%" not in said


def test_guess_and_measurement_are_drawn_together(board):
    view = board.mount(ScalingWidget(d_k=64))
    guess = view.get_by_role("slider", name="Your guess")
    guess.focus()
    for _ in range(20):
        guess.press("ArrowLeft")
    assert board.get("prediction") == 0.3
    view.get_by_role("button", name="Measure").press("Enter")
    board.settled()
    python = ScalingWidget(d_k=256, scale=False)
    largest = python.measure()["largest_weight"]
    assert [board.get(t) for t in ("d_k", "scale", "temperature", "revealed", "prediction")] == [
        256, False, 1, True, 0.3,
    ]  # fmt: skip
    line, bar = view.locator(".aw-guess-line"), view.locator(".aw-bar-top").get_attribute("d")
    assert float(line.get_attribute("y1")) == pytest.approx(700)
    assert float(re.search(r"v-([\d.]+)", bar)[1]) == pytest.approx(1000 * largest, abs=0.06)
    verdict = view.locator(".aw-verdict")
    expect(verdict).to_be_focused()
    expect(verdict).to_contain_text(
        f"you guessed 30 %, the measurement is {measures.percent(largest)}"
    )
    view.get_by_role("button", name="Guess again").click()
    board.settled()
    expect(view.locator(".aw-question")).to_be_visible()
    expect(guess).to_be_focused()


def test_the_guess_can_be_skipped(board):
    view = board.mount(ScalingWidget(d_k=64))
    view.get_by_role("button", name="Skip the guess").click()
    board.settled()
    assert board.get("prediction") is None and board.get("revealed") is True
    assert board.get("d_k") == 64
    expect(view.locator(".aw-guess-line")).to_be_hidden()
    expect(view.locator(".aw-verdict")).to_be_hidden()


def test_the_guess_line_can_be_dragged(board):
    view = board.mount(ScalingWidget())
    box = view.locator(".aw-weight-plot").bounding_box()
    board.page.mouse.move(box["x"] + 50, box["y"] + box["height"] * 0.5)
    board.page.mouse.down()
    board.page.mouse.move(box["x"] + 50, box["y"] + box["height"] * 0.25)
    board.page.mouse.up()
    assert board.get("prediction") == pytest.approx(0.75, abs=0.02)


def test_python_sees_and_sets_the_guess(board):
    view = board.mount(ScalingWidget())
    board.set("prediction", 0.9)
    assert view.get_by_role("slider", name="Your guess").get_attribute("aria-valuetext") == "90 %"
    board.set("revealed", True)
    expect(view.locator(".aw-verdict")).to_contain_text("you guessed 90 %")


# ------------------------------------------------------------------ Python and other views


def test_python_moves_the_controls(board):
    view = board.mount(ScalingWidget(revealed=True))
    board.set("d_k", 777)
    board.set("temperature", 0.123)
    board.set("scale", False)
    assert view.get_by_label("Key dimension d_k, exact value").input_value() == "777"
    assert (
        view.get_by_role("slider", name="Key dimension d_k").get_attribute("aria-valuetext")
        == "777"
    )
    assert view.get_by_label("Temperature, exact value").input_value() == "0.123"
    assert not view.get_by_label("Divide by √d_k").is_checked()


def test_python_changes_the_number_of_tokens(board):
    view = board.mount(SoftmaxWidget())
    board.page.evaluate("afm.models.w.state.scores = [1, 2]")
    board.set("labels", ["left", "right"])
    assert view.locator(".aw-row .aw-token").all_inner_texts() == ["left", "right"]
    assert view.locator(".aw-share").all_inner_texts() == ["26.9 %", "73.1 %"]


@pytest.mark.parametrize(
    "widget", [ScalingWidget(revealed=True), SoftmaxWidget(), TemperatureWidget()]
)
def test_two_views_stay_in_step(board, widget):
    views = board.mount(widget, views=2)
    temperature = views.first.get_by_role("slider", name=re.compile("^Temperature"))
    temperature.press("ArrowRight")
    board.settled()
    fields = views.get_by_label(re.compile("^Temperature.*exact value"))
    assert fields.first.input_value() == fields.last.input_value() == "1.02"
    assert board.page.evaluate("afm.models.w.saves") == 1


def test_cleanup_leaves_nothing(board):
    widgets = [ScalingWidget(), SoftmaxWidget(), TemperatureWidget(), BottleneckGame(CURVES)]
    for name, widget in zip("abcd", widgets, strict=True):
        board.mount(widget, name, views=2)
        model = f"afm.models.{name}"
        assert board.page.evaluate(f"{model}.count()") > 0
        field = board.page.evaluate_handle(f"document.querySelector('.{name} input[type=number]')")
        board.page.evaluate(f"{model}.cleanups.forEach((clean) => clean())")
        assert board.page.evaluate(f"{model}.count()") == 0
        assert board.page.locator(f".view.{name} > *").count() == 0
        saves = board.page.evaluate(f"{model}.saves")
        field.evaluate("(f) => { f.value = '3'; f.dispatchEvent(new Event('input')); }")
        board.set("seconds" if name == "d" else "temperature", 3.5, name)
        assert board.page.evaluate(f"{model}.saves") == saves


def test_the_summary_speaks_only_after_a_pause(board):
    view = board.mount(ScalingWidget(revealed=True))
    live = view.locator("[aria-live=polite]")
    slider = view.get_by_role("slider", name="Key dimension d_k")
    _, pause = spoken(live, lambda: slider.press("End"))
    assert pause > 500
    expect(live).to_contain_text("d_k 1024, divided by root d_k")
    expect(live).to_contain_text(re.compile(r"Largest weight [\d.]+ %, entropy"))


# ------------------------------------------------------------------ labels, themes, sizes


def test_labels_are_text_in_their_language(board):
    view = board.mount(SoftmaxWidget([float(i) for i in range(9)], [*HOSTILE, "中国", "中国"]))
    unfold(view.locator("summary"))
    tokens = view.locator(".aw-row .aw-token")
    assert tokens.all_text_contents()[:4] == [HOSTILE[0], HOSTILE[1], "a⏎b", "(empty)"]
    assert view.locator("img").count() == 0
    assert tokens.nth(7).get_attribute("lang") == "zh-Hans"
    assert tokens.nth(1).get_attribute("lang") is None
    assert view.locator("tbody th").first.inner_text() == HOSTILE[0]


CURVES = {
    "fixed vector": {4: (1.0, 0.9, 1.0), 8: (0.6, 0.5, 0.7), 12: (0.0, 0.0, 0.1)},
    "attention": {4: (1.0, 1.0, 1.0), 8: (1.0, 0.9, 1.0), 12: (0.9, 0.8, 1.0)},
}
ROUNDS = [
    {"looking": looking, "asked": "483920384756", "typed": "483920384765"}
    for looking in (False, True)
]


def widgets_of_all_kinds(board):
    board.mount(ScalingWidget(d_k=64, scale=False), "ask")
    board.mount(ScalingWidget(d_k=256, scale=False, revealed=True, prediction=0.2), "done")
    board.mount(ScalingWidget(revealed=True), "plain")
    board.mount(SoftmaxWidget(), "soft")
    board.mount(
        SoftmaxWidget([1e4, -1e4, *map(float, range(22))], [*HOSTILE, *"abcdefghijklmnopq"]), "many"
    )
    board.mount(TemperatureWidget(), "ratios")
    nine = [*map(float, range(9))]
    many = TemperatureWidget(nine, [*HOSTILE, "中国", "爱"], nine, revealed=True)
    board.mount(many, "manyratios")
    board.mount(TemperatureWidget(revealed=True), "allratios")
    for name, traits in [
        ("intro", {}),
        ("shown", {}),
        ("asked", {}),
        ("result", {"rounds": ROUNDS}),
    ]:
        board.mount(BottleneckGame(CURVES, (2, 12), revealed=bool(traits), **traits), name)
    for name, buttons in [
        ("shown", ["Start", "Stop the clock"]),
        ("asked", ["Start", "Hide now", "Check"]),
        ("result", ["Start", "Stop the game"]),
    ]:
        for button in buttons:
            board.page.locator(f".{name}").get_by_role("button", name=button).click()
    board.mount(translation_widget(word=2), "word")
    board.mount(translation_widget(example=1, word=7), "longword")
    board.mount(length_widget(), "length")
    board.mount(length_widget(length=2, example=1), "short")
    board.mount(MaskEditor(preset="window + padding", window=2), "mask")
    board.mount(heads_widget(), "askheads")
    board.mount(heads_widget(num_heads=16, prediction=4, revealed=True), "heads")
    board.mount(MaskEditor([*HOSTILE, *"abcde"]), "manymask")
    board.page.locator(".manymask").get_by_label("scores").check()
    masked = heads(2, 3, 5, 5, mask=causal(5))
    board.mount(HeadBrowser(masked, words(5), mask=causal(5), mass=0.7), "allheads")
    board.mount(HeadBrowser(heads(3, 9, 7, 7), HOSTILE, scale="head"), "ownheads")
    board.mount(SnapshotWidget(masked, [0, 9], HOSTILE[:5], losses=[2.0, 1.0]), "film")
    board.mount(two_models(head=2), "classes")
    board.mount(two_models(rule="simple", layer=3, head=5), "simple")
    board.mount(threshold_widget(2, 12, 4, maps=False), "manyclasses")
    board.mount(PositionWidget(position=20, pair=3), "order")
    board.mount(PositionWidget(512, 512, position=511, pair=255, doubled=True), "muchorder")
    board.mount(deletion_widget(0, [1]), "deletion")
    board.mount(deletion_widget(1, [0, 4]), "longdeletion")
    board.mount(deletion_widget(3, [0, 1, 2]), "nothing")
    board.mount(cost_widget(n=16384), "cost")
    many = [(f"mechanism number {i} of a dozen", COSTS[i % 5][1]) for i in range(12)]
    board.mount(cost_widget(many, quantity="memory", shown=[]), "manycosts")
    slider = board.page.locator(".classes").get_by_role("slider", name="Sink: lift")
    slider.press("Home")  # some of the classes are marked as changed
    board.unfold_all()


@pytest.fixture(scope="module")
def everything(browser):
    """``everything(width, theme)``: a page with all kinds of widgets, which take long to mount.

    There are two, one with a mouse and one for fingers; what a test asks of them changes nothing.
    """
    boards = {}

    def look(width, theme="light"):
        phone = width < 400
        if phone not in boards:
            context = browser.new_context(viewport={"width": width, "height": 800}, has_touch=phone)
            boards[phone] = WidgetPage(context.new_page())
            widgets_of_all_kinds(boards[phone])
        board = boards[phone]
        board.page.set_viewport_size({"width": width, "height": 800})
        board.page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        board.settled()
        return board

    yield look
    for board in boards.values():
        assert board.errors == []
        board.page.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing(everything, theme, width):
    board = everything(width, theme)
    found = violations(board.page, {"runOnly": OF_COLOURS} if theme == "dark" else {})
    assert not found, "\n".join(described(found, theme))


GROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 25, 29)"}


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize("attribute", [None, "light", "dark"])
def test_the_page_s_theme_goes_before_the_system_s(open_board, system, attribute):
    board = open_board(color_scheme=system)
    if attribute:
        board.page.evaluate("(t) => { document.documentElement.dataset.theme = t; }", attribute)
    view = board.mount(SoftmaxWidget())
    ground = view.locator(".aw-root").evaluate("(root) => getComputedStyle(root).backgroundColor")
    assert ground == GROUNDS[attribute or system]


def luminance(colour):
    channels = [int(c) / 255 for c in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_graphics_stand_out(everything, theme):
    board = everything(1000, theme)
    ground = luminance(GROUNDS[theme])
    for selector, name in [
        (".done .aw-bars", "fill"),
        (".done .aw-bar-top", "fill"),
        (".done .aw-hist", "fill"),
        (".done .aw-theory", "stroke"),
        (".done .aw-rug", "stroke"),
        (".done .aw-guess-line", "stroke"),
        (".soft .aw-fill", "stroke"),
        (".soft .aw-fill-top", "stroke"),
        (".soft .aw-field", "borderTopColor"),
        (".allheads .aw-map-area", "outlineColor"),
        (".allheads .aw-hb-bar-fill", "color"),
        (".film .aw-sn-loss path", "stroke"),
        (".film .aw-sn-dot", "backgroundColor"),
        (".ask .aw-meter", "borderTopColor"),
        (".ratios .aw-wanted-mark", "backgroundColor"),
        (".ratios .aw-cursor", "stroke"),
        (".ratios .aw-needs", "stroke"),
        *((f".ratios .aw-curves path:nth-child({n})", "stroke") for n in (1, 2, 3)),
        (".manyratios .aw-curves path:nth-child(4)", "stroke"),
        (".result .aw-you-dots.aw-memory", "stroke"),
        (".result .aw-you-dots.aw-looking", "stroke"),
        (".mask .aw-select", "borderTopColor"),
        (".askheads .aw-heads-enough", "stroke"),
        (".heads .aw-heads-seeds", "stroke"),
        (".heads .aw-heads-course", "stroke"),
        (".heads .aw-heads-guess", "stroke"),
        (".heads .aw-heads-now", "stroke"),
        (".mask .aw-mask-key-blocked", "color"),
        (".classes .aw-thumb", "borderTopColor"),
        *((f".order .aw-pe-{name}", "stroke") for name in ("ring", "trail", "hand", "rising")),
        *((f".order .aw-pe-{name}", "stroke") for name in ("leg-sin", "leg-cos", "curve")),
        (".order .aw-pe-map", "borderTopColor"),
        *((f".cost .aw-cost-{name}", "stroke") for name in ("cursor", "dots", "now")),
        *((f".longdeletion .aw-del-{name}", "borderTopColor") for name in ("letter", "fill")),
        (".classes .aw-th-tick", "backgroundColor"),
    ]:
        colour = board.page.locator(selector).first.evaluate(
            "(node, name) => getComputedStyle(node)[name]", name
        )
        high, low = sorted([ground, luminance(colour)], reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 3, f"{selector}: {colour} on {GROUNDS[theme]}"


def test_nothing_overflows_320_pixels(everything):
    board = everything(320)
    assert board.page.evaluate("document.documentElement.scrollWidth") == 320
    outside = board.page.evaluate(
        """() => [...document.querySelectorAll(".aw-root *")]
             .filter((node) => !node.closest(".aw-scroll, .aw-thumbs-scroll, .aw-hidden, .aw-live"))
             .filter((node) => node.getClientRects().length)
             .filter((node) => { const box = node.getBoundingClientRect();
                                 return box.right > 320.5 || box.left < -0.5; })
             .map((node) => node.outerHTML.slice(0, 120))"""
    )
    assert outside == []


def test_numbers_and_tokens_stay_on_one_line(open_board):
    board = open_board(viewport={"width": 360, "height": 640}, has_touch=True)
    board.mount(TemperatureWidget(revealed=True), "ratios")
    board.mount(TemperatureWidget(wanted=[0.01, 0.02, 100], revealed=True), "apart")
    board.mount(translation_widget(example=1, word=7), "longword")
    board.mount(length_widget(), "length")
    board.unfold_all()
    cells = board.page.locator(
        ".aw-table tbody :is(th, td), .aw-pairs tbody :is(th, td:not(:last-child)), "
        ".aw-pairs th:nth-child(3), .aw-weight-cell, .aw-tile-share"
    )
    assert cells.count() > 500
    broken = cells.evaluate_all(
        """(nodes) => nodes.filter((node) => {
             const range = document.createRange();
             range.selectNodeContents(node);
             const tops = [...range.getClientRects()].map((box) => box.bottom);
             return Math.max(...tops) - Math.min(...tops) > 8;
           }).map((node) => node.outerHTML)"""
    )
    assert broken == []


def test_a_table_that_scrolls_shows_it(open_board):
    board = open_board(viewport={"width": 360, "height": 1600})
    view = board.mount(translation_widget(example=1))
    unfold(view.locator("summary"))
    scroller = view.locator(".aw-scroll")
    board.settled()
    assert scroller.evaluate("(s) => s.scrollWidth - s.clientWidth") > 100

    def edge(left):
        """The darkest of the pixels along the right edge of the head row, 0 to 255."""
        scroller.evaluate("(s, left) => { s.scrollLeft = left; s.scrollTop = 0; }", left)
        board.settled()
        box = scroller.bounding_box()
        clip = {"x": box["x"] + box["width"] - 3, "y": box["y"] + 33, "width": 3, "height": 2}
        return imread(BytesIO(board.page.screenshot(clip=clip)))[..., :3].min() * 255

    assert edge(0) < 225 and edge(10_000) > 245


def test_the_toggle_of_a_table_is_a_control_on_any_page(open_board):
    board = open_board(viewport={"width": 360, "height": 640})
    board.page.add_style_tag(content="details > summary { list-style: disc outside; }")
    toggle = board.mount(TemperatureWidget()).locator("summary")
    style = "(node, name) => getComputedStyle(node)[name]"
    assert toggle.evaluate(style, "listStyleType") == "none"
    assert toggle.evaluate(style, "borderTopStyle") == "solid"
    turned = "(node) => getComputedStyle(node, '::before').rotate"
    assert toggle.evaluate(turned) == "-45deg"
    toggle.press("Enter")
    assert toggle.evaluate(turned) == "45deg"


def test_targets_are_large_enough_for_a_finger(everything):
    board = everything(360)
    small = board.page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, summary")]
             .map((node) => node.closest(".aw-check") ?? node)
             .filter((node) => node.getClientRects().length)
             .filter((node) => { const b = node.getBoundingClientRect();
                                 return b.height < 35 || b.width < 44; })
             .map((node) => node.outerHTML.slice(0, 120))"""
    )
    assert small == []


def test_no_ids_and_a_name_for_every_control(everything):
    board = everything(1000)
    assert board.page.locator("main [id]").count() == 0
    nameless = board.page.evaluate(
        """() => [...document.querySelectorAll("main :is(input, button, select)")].filter((c) =>
             !(c.hidden || c.getAttribute("aria-label") || c.closest("label")?.textContent.trim()
               || c.textContent.trim())).map((c) => c.outerHTML)"""
    )
    assert nameless == []


def test_focus_is_visible(board):
    view = board.mount(ScalingWidget())
    board.page.keyboard.press("Tab")
    first = view.locator("input").first
    expect(first).to_be_focused()
    style = first.evaluate(
        "(n) => { const s = getComputedStyle(n); return [s.outlineStyle, s.outlineWidth]; }"
    )
    assert style == ["solid", "3px"]


def test_forced_colours_keep_the_bars(open_board):
    board = open_board(forced_colors="active")
    view = board.mount(SoftmaxWidget())
    fill = view.locator(".aw-fill-top").evaluate("(n) => getComputedStyle(n).stroke")
    ground = view.locator(".aw-track").evaluate("(n) => getComputedStyle(n).stroke")
    assert fill != ground


def test_sixty_four_tokens_and_one(board):
    many = SoftmaxWidget([i / 10 for i in range(64)], [f"t{i}" for i in range(64)])
    view = board.mount(many, "many")
    shares = view.locator(".aw-share").all_text_contents()
    assert shares == [measures.percent(w) for w in many.weights().tolist()]
    one = board.mount(SoftmaxWidget([3.0], ["only"]), "one")
    assert one.locator(".aw-share").all_inner_texts() == ["100 %"]
    assert one.locator(".aw-value").first.inner_text() == "0.00 nats"


def test_any_finite_score_is_drawn(board):
    widget = SoftmaxWidget([1e308, -1e308, 0.0], ["high", "low", "zero"])
    view = board.mount(widget)
    assert view.locator(".aw-share").all_text_contents() == ["100 %", "0 %", "0 %"]
    field = view.locator("input.aw-field").last
    field.fill("-1e307")
    field.press("Tab")
    board.settled()
    assert board.get("scores") == [1e308, -1e308, -1e307]
    assert view.locator("input.aw-range").last.get_attribute("max") == "400"
    assert board.errors == []
