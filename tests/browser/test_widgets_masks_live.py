"""MaskEditor in a browser: cells by mouse and keyboard, presets, sliders, code, undo, tokens."""

import math
import random
import re

import pytest
import torch
from playwright.sync_api import expect
from test_widgets_masks import made_by, random_masks
from widget_page import WidgetPage, load_module

from attnkit import causal_mask, masked_softmax, padding_mask, sliding_window_mask
from attnkit.widgets import MaskEditor, mask_rules, measures
from attnkit.widgets.assets import HERE


@pytest.fixture(scope="module")
def rules(browser):
    """A page with mask_rules.js: rules("expression", …) evaluates JavaScript on its functions."""
    page = browser.new_page()
    load_module(page, (HERE / "mask_rules.js").read_text(encoding="utf-8"), "rules")
    yield page.evaluate
    page.close()


def cell(view, query, key):
    """The cell of a query and a key, counted from 1 as the reader does."""
    return view.get_by_role("gridcell", name=re.compile(rf"^query {query} .*, key {key} "))


def names(view):
    return view.locator(".aw-mask-cell").evaluate_all("(all) => all.map((n) => n.ariaLabel)")


def code(view):
    return view.locator(".aw-code").first.text_content()


def mask_shown(view):
    blocked = view.locator(".aw-mask-cell").evaluate_all(
        "(all) => all.map((n) => n.classList.contains('aw-mask-blocked'))"
    )
    n = math.isqrt(len(blocked))
    return ~torch.tensor(blocked).view(n, n)


def weights_shown(view):
    """The numbers in the cells, in percent; blocked cells are 0."""
    texts = view.locator(".aw-mask-cell").all_text_contents()
    return [float(text.lstrip("<>") or 0) for text in texts]


# ------------------------------------------------------------------ the arithmetic


def test_rules_and_code_are_those_of_python(rules):
    cases = [
        (preset, n, window, length)
        for n in (2, 5, 11)
        for preset in mask_rules.PRESETS[:-1]
        for window in (1, 2, n)
        for length in (0, 1, n - 1, n)
    ]
    found = rules(
        """(cases) => cases.map(([preset, n, window, length]) => {
             const rule = rules.presetRule(preset, n, window, length);
             const mask = rules.maskOf(rule, n);
             const simplest = rules.simplestRule(mask);
             return [mask, rules.maskCode(mask, rule), rules.maskCode(mask, simplest),
                     rules.maskShape(rule, n)];
           })""",
        cases,
    )
    for case, (mask, code, simplest, shape) in zip(cases, found, strict=True):
        made = mask_rules.rule(*case)
        assert torch.equal(torch.tensor(mask), made.square()), case
        assert code == mask_rules.code(made.square(), made), case
        assert simplest == mask_rules.code(made.square(), mask_rules.simplest(made.square()))
        assert shape.startswith(f"{tuple(made.mask.shape)}:"), case


def test_the_code_of_random_masks_makes_them(rules):
    masks = random_masks(60, seed=11)
    found = rules(
        "(masks) => masks.map((mask) => rules.maskCode(mask, rules.simplestRule(mask)))", masks
    )
    for mask, code in zip(masks, found, strict=True):
        assert torch.equal(made_by(code), torch.tensor(mask))


def test_a_key_that_leaves_or_joins_scales_the_others_alike(rules):
    rng = random.Random(5)
    rows = []
    for _ in range(50):
        scores = torch.tensor([rng.gauss(0, 2) for _ in range(7)], dtype=torch.float64)
        key = rng.randrange(7)
        mask = torch.ones(7, dtype=torch.bool)
        mask[key] = False
        before, after = masked_softmax(scores), masked_softmax(scores, mask)
        rows.append((before.tolist(), after.tolist(), key, float(1 / (1 - before[key]))))
    found = rules(
        "(rows) => rows.map(([b, a, k]) => [rules.rescaled(b, a, k), rules.rescaled(a, b, k)])",
        rows,
    )
    for (less, more), (*_, factor) in zip(found, rows, strict=True):
        assert less == pytest.approx(factor) and more == pytest.approx(1 / factor)
    assert rules("() => Number.isNaN(rules.rescaled([0, 1], [0, 0], 1))")


@pytest.mark.parametrize("preset", ["window", "causal + padding", "padding"])
def test_what_true_means_elsewhere_can_be_executed(board, preset):
    """Each library, asked as the widget says, gives the weights that the widget's mask gives."""
    view = board.mount(MaskEditor(preset=preset, window=3, length=5))
    view.get_by_text("What True means elsewhere").click()
    text = view.locator(".aw-code").last.text_content()
    generator = torch.Generator().manual_seed(3)
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    query, key, value, x = (
        draw(1, 2, 8, 5),
        draw(1, 2, 8, 5),
        torch.eye(8).expand(1, 2, 8, 8),
        draw(1, 8, 6),
    )
    attention = torch.nn.MultiheadAttention(6, 2, batch_first=True)
    used = {"torch": torch, "F": torch.nn.functional, "query": query, "key": key, "value": value}
    used |= {"x": x, "attention": attention, "scores": query @ key.mT / math.sqrt(5)}
    exec(code(view), used)
    fused, module, by_hand = re.split(r"^#.*\n", text, flags=re.M)[1:]
    allowed = torch.tensor(MaskEditor(preset=preset, window=3, length=5).mask)
    expected = masked_softmax(used["scores"], allowed)
    torch.testing.assert_close(eval(fused.strip(), used), expected)
    _, weights = eval(module.strip(), used)
    assert torch.equal(weights[0] > 0, allowed)
    exec(by_hand.strip(), used)
    torch.testing.assert_close(used["scores"].softmax(-1), expected)


# ------------------------------------------------------------------ cells


def test_a_press_blocks_a_cell_and_the_row_renormalises(board):
    widget = MaskEditor()
    view = board.mount(widget)
    cell(view, 4, 2).click()
    board.settled()
    mask = causal_mask(8)
    mask[3, 1] = False
    widget.mask = mask
    assert board.get("preset") == "custom" and board.get("mask") == mask.tolist()
    assert board.get("_drawn") == mask.tolist()
    assert torch.equal(mask_shown(view), mask)
    expected = [round(100 * w) for w in widget.weights().flatten().tolist()]
    assert weights_shown(view) == pytest.approx(expected, abs=1)
    said = view.locator(".aw-mask-reading").inner_text()
    before = masked_softmax(torch.tensor(widget.scores, dtype=torch.float64), causal_mask(8))[3]
    assert f"Before it had {measures.whole_percent(float(before[1]))}" in said.replace("\xa0", " ")
    factor = float(1 / (1 - before[1]))
    assert f"every other weight × {factor:.3g}." in said
    assert "It sees 3 of 8 keys" in said
    assert torch.equal(made_by(code(view)), mask)
    cell(view, 4, 2).click()
    board.settled()
    assert "Now it takes" in view.locator(".aw-mask-reading").inner_text()
    assert code(view).endswith("mask = causal_mask(8)")  # drawn by hand, and still causal


def test_cells_have_names_that_say_everything(board):
    widget = MaskEditor(preset="window + padding", window=2, length=5)
    view = board.mount(widget)
    said = names(view)
    weight = measures.whole_percent(float(widget.weights()[1, 0]))
    assert said[8] == f"query 2 爱, key 1 我: allowed, {weight}"
    assert said[2] == "query 1 我, key 3 北京: blocked"
    assert said[6 * 8 + 2] == "query 7 〈pad〉, key 3 北京: blocked; this query sees nothing"
    view.get_by_role("combobox", name="Mask").select_option("all")
    allowed = re.compile("^query 1 我, key 3 北京: allowed, ")  # names are written after a pause
    expect(view.locator(".aw-mask-cell").nth(2)).to_have_attribute("aria-label", allowed)


def test_the_keyboard_reaches_and_turns_every_cell(board):
    view = board.mount(MaskEditor(list("abc"), preset="all"))
    assert view.locator(".aw-mask-grid [tabindex='0']").count() == 1
    cell(view, 1, 1).focus()
    press = board.page.keyboard.press
    for key, place in [
        ("ArrowRight", (1, 2)), ("ArrowDown", (2, 2)), ("End", (2, 3)), ("ArrowRight", (2, 3)),
        ("Home", (2, 1)), ("Control+End", (3, 3)), ("ArrowDown", (3, 3)), ("Control+Home", (1, 1)),
    ]:  # fmt: skip
        press(key)
        expect(cell(view, *place)).to_be_focused()
        assert view.locator(".aw-mask-grid [tabindex='0']").count() == 1
    for key in ("Space", "ArrowDown", "Enter"):
        press(key)
    board.settled()
    assert mask_shown(view).tolist() == [[False, True, True]] * 2 + [[True] * 3]
    expect(cell(view, 2, 1)).to_be_focused()
    assert cell(view, 2, 1).get_attribute("aria-label") == "query 2 b, key 1 a: blocked"


def test_heads_turn_whole_rows_and_columns(board):
    view = board.mount(MaskEditor(list("abc"), preset="causal"))
    head = view.get_by_role("columnheader", name=re.compile("^key 1 a"))
    assert head.get_attribute("aria-label") == "key 1 a: seen by 3 of 3 queries; press to block all"
    head.click()
    board.settled()
    assert mask_shown(view).tolist() == [[False] * 3, [False, True, False], [False, True, True]]
    expect(view.locator(".aw-mask-nothing").first).to_be_visible()
    expect(view.locator(".aw-mask-nothing").nth(1)).to_be_hidden()
    cell(view, 1, 1).focus()
    for key in ("ArrowLeft", "Enter"):  # the head of the row: nothing is allowed, so all is
        board.page.keyboard.press(key)
    board.settled()
    assert mask_shown(view)[0].tolist() == [True] * 3
    expect(view.get_by_role("rowheader", name=re.compile("^query 1 a"))).to_be_focused()


def test_a_query_that_sees_nothing_is_shown_so(board):
    view = board.mount(MaskEditor(preset="window + padding", window=2, length=5))
    shown = view.locator(".aw-mask-nothing").evaluate_all("(all) => all.map((n) => !n.hidden)")
    assert shown == [False] * 6 + [True] * 2
    assert weights_shown(view)[48:] == [0] * 16
    expect(view.locator(".aw-mask-summary")).to_contain_text("Queries 7 and 8 see nothing")
    cell(view, 7, 3).hover()
    expect(view.locator(".aw-mask-reading")).to_contain_text("It sees nothing: its weights are 0")


def test_scores_show_what_the_softmax_gets(board):
    widget = MaskEditor()
    view = board.mount(widget)
    view.get_by_label("scores").check()
    board.settled()
    texts = view.locator(".aw-mask-cell").all_text_contents()
    assert texts[1] == "−∞" and texts[0] == f"{widget.scores[0][0]:g}".replace("-", "−")
    assert texts.count("−∞") == 28


# ------------------------------------------------------------------ presets, sliders, undo


@pytest.mark.parametrize("preset", mask_rules.PRESETS[:-1])
def test_a_preset_is_its_mask_and_its_code(board, preset):
    view = board.mount(MaskEditor(window=2, length=6, preset="all"))
    view.get_by_role("combobox", name="Mask").select_option(preset)
    board.settled()
    expected = mask_rules.rule(preset, 8, 2, 6)
    assert board.get("preset") == preset and board.get("mask") == expected.square().tolist()
    assert torch.equal(mask_shown(view), expected.square())
    assert torch.equal(made_by(code(view)), expected.square())
    shape = str(tuple(expected.mask.shape))
    expect(view.locator(".aw-mask-side > .aw-small").last).to_contain_text(f"Shape {shape}:")


def test_the_window_slider_makes_a_window(board):
    view = board.mount(MaskEditor(preset="causal + padding", length=5))
    range_ = view.get_by_role("slider", name="Window")
    range_.press("ArrowRight")
    board.settled()
    assert (board.get("preset"), board.get("window")) == ("window + padding", 4)
    expected = sliding_window_mask(8, 4) & padding_mask([5], 8)
    assert torch.equal(mask_shown(view), expected[0, 0])
    assert range_.get_attribute("aria-valuetext") == "4 keys"
    board.set_all({"preset": "two-sided window"})
    range_.press("Home")
    board.settled()
    assert (board.get("preset"), board.get("window")) == ("two-sided window", 1)
    assert torch.equal(mask_shown(view), torch.eye(8, dtype=torch.bool))


def test_tokens_after_the_length_are_padding_whatever_the_mask(board):
    view = board.mount(MaskEditor(preset="all"))
    heads = view.locator(".aw-mask-key .aw-token")
    assert heads.all_text_contents()[4:] == ["。"] + ["〈pad〉"] * 3
    view.get_by_role("slider", name="Valid length").press("End")
    board.settled()
    assert heads.all_text_contents()[5:] == ["你", "呢", "？"]
    assert mask_shown(view).all()


def test_nothing_that_was_drawn_is_lost(board):
    view = board.mount(MaskEditor(list("abcd"), preset="causal"))
    cell(view, 1, 4).click()
    board.settled()
    drawn = board.get("mask")
    menu = view.get_by_role("combobox", name="Mask")
    menu.select_option("padding")
    board.settled()
    assert board.get("mask") != drawn
    menu.select_option("custom")
    board.settled()
    assert board.get("mask") == drawn and board.get("preset") == "custom"


def test_changes_are_taken_back_one_by_one(board):
    view = board.mount(MaskEditor(list("abcd"), preset="causal"))
    undo, reset = view.get_by_role("button", name="Undo"), view.get_by_role("button", name="Reset")
    expect(undo).to_have_attribute("aria-disabled", "true")
    states = [[board.get(t) for t in ("preset", "window", "mask")]]

    def act(action):
        action()
        board.settled()
        states.append([board.get(t) for t in ("preset", "window", "mask")])

    act(lambda: cell(view, 1, 4).click())
    act(lambda: view.get_by_role("combobox", name="Mask").select_option("window"))
    range_ = view.get_by_role("slider", name="Window")
    range_.press("ArrowLeft")
    board.settled()
    act(lambda: range_.press("ArrowLeft"))  # both presses are one change
    assert states[-1][1] == 1
    act(reset.click)
    assert states[-1] == states[0]
    for state in reversed(states[:-1]):
        undo.press("Enter")
        board.settled()
        assert [board.get(t) for t in ("preset", "window", "mask")] == state
    expect(undo).to_have_attribute("aria-disabled", "true")
    undo.press("Enter")  # nothing is left to take back
    board.settled()
    assert board.get("preset") == "causal"


def test_python_sets_the_mask(board):
    widget = MaskEditor(list("abcde"))
    view = board.mount(widget)
    widget.mask = torch.eye(5, dtype=torch.bool).flip(0)
    traits = ("preset", "window", "length", "mask", "_drawn")
    board.set_all({trait: getattr(widget, trait) for trait in traits})
    assert torch.equal(mask_shown(view), torch.eye(5, dtype=torch.bool).flip(0))
    assert view.get_by_role("combobox", name="Mask").input_value() == "custom"


def test_two_views_stay_in_step(board):
    views = board.mount(MaskEditor(list("abc")), views=2)
    views.first.locator(".aw-mask-cell").nth(2).click()
    board.settled()
    assert torch.equal(mask_shown(views.first), mask_shown(views.last))
    assert mask_shown(views.last)[0].tolist() == [True, False, True]
    views.last.get_by_label("scores").check()
    board.settled()
    assert views.first.get_by_label("weights").is_checked()


# ------------------------------------------------------------------ the code, odd tokens


def test_copying_says_what_happened(board):
    view = board.mount(MaskEditor())
    page = board.page
    page.evaluate(
        """() => Object.defineProperty(navigator, "clipboard", { configurable: true,
             value: { writeText: async (text) => { window.copied = text; } } })"""
    )
    view.get_by_role("button", name="Copy: the mask as Python code").click()
    expect(view.locator(".aw-copied").first).to_have_text("Copied.")
    assert page.evaluate("window.copied") == code(view) == MaskEditor().code()
    # No clipboard, as on a page opened from a disk, and the old way refused too.
    page.evaluate(
        """() => { Object.defineProperty(navigator, "clipboard", { value: undefined });
                   document.execCommand = () => false; }"""
    )
    view.get_by_role("combobox", name="Mask").select_option("padding")
    board.settled()
    expect(view.locator(".aw-copied").first).to_have_text("")
    view.get_by_role("button", name="Copy: the mask as Python code").press("Enter")
    expect(view.locator(".aw-copied").first).to_contain_text("Selected: press Ctrl+C")
    assert page.evaluate("String(getSelection())") == code(view)


def test_tokens_are_text_in_their_language(board):
    tokens = [
        "<img src=x onerror=alert(1)>",
        "cost$5 and $6",
        "a\nb",
        "",
        "مرحبا",
        "x" * 80,
        "中国",
    ]
    view = board.mount(MaskEditor(tokens))
    assert view.locator("img").count() == 0
    shown = view.locator(".aw-mask-key .aw-token").all_text_contents()
    assert shown[:4] == [tokens[0], tokens[1], "a⏎b", "(empty)"]
    assert view.locator(".aw-mask-key .aw-token").last.get_attribute("lang") == "zh-Hans"
    assert names(view)[0].startswith(f"query 1 {tokens[0]}, key 1 {tokens[0]}: allowed")
    board.page.set_viewport_size({"width": 320, "height": 640})
    board.settled()
    assert board.page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize(("width", "tokens"), [(360, 8), (320, 8), (360, 12)])
def test_cells_can_be_hit_with_a_finger(browser, width, tokens):
    page = browser.new_page(viewport={"width": width, "height": 800}, has_touch=True)
    board = WidgetPage(page)
    view = board.mount(MaskEditor([f"t{i}" for i in range(tokens)], preset="all"))
    boxes = [node.bounding_box() for node in view.locator(".aw-mask-cell").all()]
    assert min(box["width"] for box in boxes) >= 28 and min(box["height"] for box in boxes) >= 34
    view.locator(".aw-mask-cell").nth(tokens + 2).tap()
    board.settled()
    assert mask_shown(view).sum() == tokens**2 - 1 and not mask_shown(view)[1, 2]
    assert board.errors == []
    page.close()


def test_the_summary_speaks_after_a_pause(board):
    view = board.mount(MaskEditor())
    live = view.locator("[aria-live=polite]")
    cell(view, 4, 2).click()
    expect(live).to_contain_text("Query 4, key 2 blocked. Before it had")
    view.get_by_role("combobox", name="Mask").select_option("padding")
    expect(live).to_contain_text("Mask padding. 40 of 64 cells allowed.")
