"""Widgets that draw weight maps, in a browser: arithmetic, keys, mouse, scales, playing."""

import base64

import matplotlib
import numpy as np
import pytest
import torch
from map_samples import causal, heads, words
from playwright.sync_api import expect
from widget_page import check_heads_scroll_inside, load_functions, spoken, unfold

from attnkit.widgets import HeadBrowser, SnapshotWidget, maps, measures, packing

HOSTILE = ["<img src=x onerror=alert(1)>", "cost$5", "a\nb", "", "مرحبا"]
# A copy is read: Chromium complains of a canvas that is read again and again.
CELLS = """(c) => {
  const copy = new OffscreenCanvas(c.width, c.height).getContext("2d");
  copy.drawImage(c, 0, 0);
  let text = "";
  const { data } = copy.getImageData(0, 0, c.width, c.height);
  for (const byte of data) text += String.fromCharCode(byte);
  return [c.height, c.width, btoa(text)];
}"""


def browser_widget(**options):
    return HeadBrowser(heads(3, 4, 5, 5, mask=causal(5)), words(5), mask=causal(5), **options)


def film(**options):
    options = {"losses": [2.5, 1.25, 0.5, 0.25], **options}
    return SnapshotWidget(heads(4, 3, 5, 7), [0, 10, 40, 200], words(5), words(7), **options)


def image(view, selector):
    """(height, width, 4) the pixels of a canvas."""
    height, width, text = view.locator(selector).evaluate(CELLS)
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width, 4).astype(int)


def pixels(view):
    return image(view, ".aw-map-cells").reshape(-1, 4)


def expected(weights, top=1.0):
    return 255 * matplotlib.colormaps["cividis"]((weights.flatten() / top).numpy())[:, :3]


# ------------------------------------------------------------------ arithmetic, against PyTorch


@pytest.fixture(scope="module")
def own(browser):
    """own("largestUntil", …): functions of the joined module of the head browser."""
    page = browser.new_page()
    names = ("codesOf", "weightsOf", "blockedOf", "largestUntil", "spans")
    load_functions(page, "head_browser", *names)
    plain = "(r) => (ArrayBuffer.isView(r) ? Array.from(r) : r)"
    yield lambda name, *given: page.evaluate(
        f"([name, given]) => ({plain})(own[name](...given))", [name, list(given)]
    )
    page.close()


@pytest.mark.parametrize("n_keys", [1, 7, 64])
def test_the_page_unpacks_what_python_packed(own, n_keys):
    weights = heads(6, 5, n_keys)
    weights[2, 3] = 0
    codes = packing.encode(weights)
    shown = own("codesOf", packing.digits(codes))
    assert shown == codes.flatten().tolist()
    unpacked = torch.tensor(own("weightsOf", shown, n_keys)).reshape(weights.shape)
    torch.testing.assert_close(unpacked.double(), packing.decode(codes), rtol=1e-6, atol=1e-7)


def test_masks_are_unpacked(own):
    mask = causal(5, 7)
    (text,), which = packing.masks(mask.expand(2, 3, 5, 7))
    assert own("blockedOf", text, 35) == (~mask).int().flatten().tolist() and which == [0] * 6


@pytest.mark.parametrize("mass", [0.01, 0.5, 0.8, 0.95, 0.999])
def test_the_largest_keys_until_a_mass_are_pytorch_s(own, mass):
    weights = packing.decode(packing.encode(heads(8, 5, 11).flatten(0, 1)))
    kept = own("largestUntil", weights.flatten().tolist(), 11, mass)
    assert kept == maps.kept(weights, mass).int().flatten().tolist()
    tied = [0.0, 0.25, 0.25, 0.25, 0.25, 0.0]
    assert own("largestUntil", tied, 6, 0.5) == [0, 1, 1, 0, 0, 0]


def test_every_cell_has_its_pixels_and_every_pixel_a_cell(own):
    for n, size in [(5, 3), (64, 28), (7, 7), (3, 29), (1, 5)]:
        found = own("spans", n, size)
        assert len(found) == size and all(0 <= a < b <= n for a, b in found)
        assert {cell for a, b in found for cell in range(a, b)} == set(range(n))
        assert found == sorted(found)


# ------------------------------------------------------------------ all heads


def test_the_large_map_has_the_colours_of_the_weights(board):
    widget = browser_widget(layer=2, head=1)
    view = board.mount(widget)
    shown, seen = pixels(view), causal(5).flatten().numpy()
    assert np.abs(shown[seen, :3] - expected(widget.weights())[seen]).max() <= 8
    assert (shown[~seen, 3] == 0).all() and (shown[seen, 3] == 255).all()  # hatched behind
    hatch = image(view, ".aw-map-hatch").reshape(-1, 4)
    share = (hatch[:, 3] > 127).mean()
    assert share == pytest.approx(0.4, abs=0.02) and len({tuple(p) for p in hatch}) > 3


def test_arrow_keys_move_between_heads_and_there_is_one_tab_stop(board):
    view = board.mount(browser_widget())
    cells = view.get_by_role("gridcell")
    expect(cells).to_have_count(12)
    assert view.locator(".aw-thumb[tabindex='0']").count() == 1
    cells.first.focus()
    for key, at in [("ArrowRight", (0, 1)), ("ArrowDown", (1, 1)), ("End", (1, 3)),
                    ("ArrowRight", (1, 3)), ("Home", (1, 0)), ("Control+End", (2, 3)),
                    ("ArrowUp", (1, 3)), ("Control+Home", (0, 0)), ("ArrowUp", (0, 0)),
                    ("PageDown", (2, 0))]:  # fmt: skip
        board.page.keyboard.press(key)
        board.settled()
        assert (board.get("layer"), board.get("head")) == at
        cell = cells.nth(4 * at[0] + at[1])
        expect(cell).to_be_focused()
        expect(cell).to_have_attribute("aria-selected", "true")
    assert view.locator(".aw-thumb[aria-selected=true]").count() == 1
    assert view.locator(".aw-hb-name").inner_text() == "layer 2, head 0"
    cells.nth(6).click()
    assert (board.get("layer"), board.get("head")) == (1, 2)


def test_a_row_is_read_aloud_as_python_does(board):
    widget = browser_widget(layer=1, head=2, query=3)
    view = board.mount(widget)
    row = maps.row_read(words(5), 3, words(5), widget.weights()[3], ~causal(5)[3])
    said = lambda node: node.inner_text().replace("\u00a0", " ")  # noqa: E731
    assert said(view.locator(".aw-hb-reading")) == f"{row}."
    live = view.locator("[aria-live=polite]")
    heard, _ = spoken(live, lambda: board.set_in_turn("query", 2, 3))
    assert heard.replace("\u00a0", " ") == f"layer 1, head 2, {row}."
    view.locator(".aw-map-area").focus()
    board.page.keyboard.press("ArrowUp")
    board.settled()
    assert board.get("query") == 2 and "query 中国" in said(view.locator(".aw-hb-reading"))
    expect(live).to_contain_text("query 中国")
    for key in ("ArrowRight", "ArrowRight", "End"):
        board.page.keyboard.press(key)
    board.settled()
    assert said(view.locator(".aw-hb-reading")).endswith("cost$5: blocked.")
    board.page.keyboard.press("Home")
    board.settled()
    first = measures.whole_percent(float(widget.weights()[2, 0]))
    assert said(view.locator(".aw-hb-reading")).endswith(f"The: {first}.")
    board.page.keyboard.press("Escape")
    board.settled()
    assert ";" not in said(view.locator(".aw-hb-reading"))


def test_the_mouse_points_at_rows_and_leaves_them_as_they_were(board):
    view = board.mount(browser_widget(query=4))
    box = view.locator(".aw-map-area").bounding_box()
    cell = box["width"] / 5
    board.page.mouse.move(box["x"] + 0.5 * cell, box["y"] + 1.5 * cell)
    board.settled()
    reading = view.locator(".aw-hb-reading")
    expect(reading).to_contain_text("query quick")
    assert board.get("query") == 4
    assert view.locator(".aw-map-queries .aw-map-chosen").inner_text() == "quick"
    board.page.mouse.move(box["x"] + 2.5 * cell, box["y"] - 8)  # over a label: the key alone
    expect(reading).to_contain_text("; 中国:")
    board.page.mouse.move(2, 2)
    expect(reading).to_contain_text("query cost$5")
    board.page.mouse.click(box["x"] + 0.5 * cell, box["y"] + 1.5 * cell)
    board.settled()
    assert board.get("query") == 1


def test_own_scales_are_marked_with_their_maximum(board):
    widget = browser_widget(head=0)
    view = board.mount(widget)
    before, small = pixels(view), image(view, ".aw-thumbs canvas")
    view.get_by_label("own scales").check()
    board.settled()
    assert board.get("scale") == "head"
    # The first query has no choice: its 100 % says nothing, and does not make the rest dark.
    top = float(widget.weights()[1:].max())
    assert top < 0.99
    seen = causal(5).flatten().numpy()
    shown = expected(widget.weights().clamp(max=top), top)
    assert np.abs(pixels(view)[seen, :3] - shown[seen]).max() <= 8
    largest = measures.whole_percent(top)
    assert view.locator(".aw-hb-badge").inner_text() == f"own: 0 to {largest}"
    expect(view.locator(".aw-map-legend")).to_contain_text(largest.replace(" ", "\u00a0"))
    expect(view.locator(".aw-hb-caption")).to_contain_text("its own largest weight")
    assert (image(view, ".aw-thumbs canvas") != small).any()
    board.page.keyboard.press("ArrowLeft")  # radio buttons: arrows choose
    board.settled()
    assert board.get("scale") == "shared" and (pixels(view) == before).all()


def test_the_mass_fades_what_is_outside(board):
    widget = browser_widget(layer=1, head=3, query=4, mass=0.5)
    view = board.mount(widget)
    alpha = pixels(view)[:, 3].reshape(5, 5)
    kept, seen = widget.kept().numpy(), causal(5).numpy()
    assert (alpha[kept] == 255).all() and (alpha[seen & ~kept] == 31).all()
    count = int(widget.kept()[4].sum())
    expect(view.locator(".aw-hb-reading")).to_contain_text(f"{count} key")
    slider = view.get_by_role("slider", name="Share shown")
    slider.press("End")
    board.settled()
    assert board.get("mass") == 1 and (pixels(view)[seen.flatten(), 3] == 255).all()
    slider.press("Home")
    board.settled()
    assert board.get("mass") == 0.01
    assert (pixels(view)[:, 3].reshape(5, 5) == 255).sum(1).tolist() == [1] * 5


def test_bars_and_table_have_the_numbers(board):
    widget = browser_widget(layer=2, head=0, query=4)
    view = board.mount(widget)
    row = widget.weights()[4].sort(descending=True, stable=True)
    shares = view.locator(".aw-hb-bar-share").all_inner_texts()
    assert shares == [measures.whole_percent(w) for w in row.values.tolist()]
    names = view.locator(".aw-hb-bar-name").all_inner_texts()
    assert names == [words(5)[i] for i in row.indices.tolist()]
    unfold(view.locator("summary"))
    cells = view.locator("tbody td").all_inner_texts()
    flat = zip(widget.weights().flatten().tolist(), causal(5).flatten().tolist(), strict=True)
    assert cells == [measures.whole_percent(w) if may else "blocked" for w, may in flat]
    board.set("head", 1)
    moved = measures.whole_percent(float(widget._maps[2, 1, 1, 0]))
    expect(view.locator("tbody td").nth(5)).to_have_text(moved)


@pytest.mark.parametrize("width", [360, 320])
def test_many_heads_scroll_inside_themselves_on_a_phone(open_board, width):
    board = open_board(viewport={"width": width, "height": 800})
    board.mount(HeadBrowser(heads(5, 12, 11, 11), words(11)))
    check_heads_scroll_inside(board, width)


def test_the_chosen_head_is_in_sight_from_the_start(open_board):
    board = open_board(viewport={"width": 360, "height": 800})
    view = board.mount(HeadBrowser(heads(5, 12, 11, 11), words(11), layer=3, head=11))
    board.settled()
    box, room = (
        view.locator(s).bounding_box() for s in (".aw-thumb[tabindex='0']", ".aw-thumbs-scroll")
    )
    assert room["x"] < box["x"] and box["x"] + box["width"] <= room["x"] + room["width"] + 1
    view.get_by_role("gridcell").nth(36).focus()
    board.page.keyboard.press("Home")
    board.settled()
    names = view.locator(".aw-thumbs-name").first.bounding_box()
    box = view.locator(".aw-thumb[tabindex='0']").bounding_box()
    assert board.get("head") == 0 and box["x"] >= names["x"] + names["width"] - 1


def test_thumbnails_are_hatched_and_as_bright_as_their_weights(board):
    widget = browser_widget()
    view = board.mount(widget)
    shown = image(view, ".aw-thumbs canvas")
    cell = view.locator(".aw-thumb").nth(5).bounding_box()  # layer 1, head 1
    canvas = view.locator(".aw-thumbs canvas").bounding_box()
    left, top = (round(cell[k] - canvas[k]) for k in ("x", "y"))
    size = int(cell["width"])
    colours = expected(widget._maps[1, 1]).reshape(5, 5, 3)
    for row, column in [(0, 0), (2, 1), (4, 3)]:
        y, x = (int((i + 0.5) * size / 5) for i in (row, column))
        assert np.abs(shown[top + y, left + x, :3] - colours[row, column]).max() <= 8
    corner = shown[top : top + size // 5, left + 4 * size // 5 : left + size].reshape(-1, 4)
    assert len({tuple(p) for p in corner}) == 2  # ground and lines


def test_tokens_are_text_and_carry_their_language(board):
    weights = heads(2, 2, 5, 5)
    board.mount(HeadBrowser(weights, HOSTILE, names=["<b>one</b>", "two"]), "all")
    board.mount(SnapshotWidget(weights, [1, 2], HOSTILE), "film")
    board.unfold_all()
    assert board.page.locator("main img, main b").count() == 0
    labels = board.page.locator(".all .aw-map-queries bdi").all_inner_texts()
    assert labels == ["<img src=x …", "cost$5", "a⏎b", "(empty)", "مرحبا"]
    assert board.page.locator(".all .aw-hb-name").inner_text() == "<b>one</b>, head 0"
    board.mount(browser_widget(), "cjk")
    label = board.page.locator(".cjk .aw-map-keys bdi", has_text="中国")
    assert label.get_attribute("lang") == "zh-Hans"


# ------------------------------------------------------------------ a run


def test_the_slider_walks_through_the_run(board):
    widget = film(step=0, head=1)
    view = board.mount(widget)
    slider = view.get_by_role("slider", name="Step")
    for key, step in [("ArrowRight", 10), ("End", 200), ("ArrowLeft", 40), ("Home", 0)]:
        slider.press(key)
        board.settled()
        assert board.get("step") == step
    slider.press("ArrowRight")
    board.settled()
    widget.step = 10
    assert np.abs(pixels(view)[:, :3] - expected(widget.weights())).max() <= 8
    assert slider.get_attribute("aria-valuetext") == "training step 10, loss 1.25"
    assert view.locator(".aw-sn-title").inner_text() == "Step 10, head 1, loss 1.25"
    dot = view.locator(".aw-sn-dot").evaluate("(n) => [n.style.left, n.style.top]")
    assert [float(place.rstrip("%")) for place in dot] == [5.0, 50.0]
    view.get_by_role("gridcell", name="head 2").click()
    board.settled()
    assert board.get("head") == 2


def test_the_run_plays_when_asked_and_stops_at_its_end(board):
    clock = board.page.clock
    clock.install()
    view = board.mount(film(step=0))
    clock.run_for(600)
    assert board.get("step") == 0  # never by itself
    play = view.get_by_role("button", name="Play")
    play.click()
    clock.run_for(3000)
    expect(view.locator(".aw-sn-title")).to_contain_text("Step 200")
    expect(play).to_be_visible()
    view = board.mount(SnapshotWidget(heads(90, 1, 2, 2), range(90), step=89), "long")
    view.get_by_role("button", name="Play").click()  # again from the start
    expect(view.get_by_role("button", name="Pause")).to_be_visible()
    view.get_by_role("button", name="Pause").click()
    stopped = board.get("step", "long")
    clock.run_for(1500)
    assert board.get("step", "long") == stopped < 89


def test_with_reduced_motion_the_button_goes_one_step(open_board):
    board = open_board(reduced_motion="reduce")
    board.page.clock.install()
    view = board.mount(film(step=0))
    view.get_by_role("button", name="Next step").evaluate("(b) => { b.click(); b.click(); }")
    board.page.clock.run_for(1500)
    assert board.get("step") == 40  # two presses, two steps, and none by itself
    view.get_by_role("button", name="Next step").click()
    view.get_by_role("button", name="First step").click()
    assert board.get("step") == 0


# ------------------------------------------------------------------ both


def test_two_views_stay_in_step_and_cleanup_leaves_nothing(board):
    board.page.clock.install()
    for name, widget, trait, value, selector, text in [
        ("all", browser_widget(), "layer", 2, ".aw-hb-name", "layer 2, head 0"),
        ("film", film(), "step", 10, ".aw-sn-title", "Step 10, head 0, loss 1.25"),
    ]:
        views = board.mount(widget, name, views=2)
        board.set(trait, value, name)
        assert views.locator(selector).all_inner_texts() == [text, text]
        if name == "film":
            views.get_by_role("button", name="Play").first.click()
        model = f"afm.models.{name}"
        board.page.evaluate(f"{model}.cleanups.forEach((clean) => clean())")
        assert board.page.evaluate(f"{model}.count()") == 0
        assert board.page.locator(f".view.{name} > *").count() == 0
        left = board.get("step", name) if name == "film" else 0
        board.page.clock.run_for(1500)
        assert (board.get("step", name) if name == "film" else 0) == left


def test_small_ones_have_only_what_they_need(board):
    view = board.mount(HeadBrowser(heads(1, 7)))
    expect(view.locator(".aw-thumb")).to_have_count(0)
    expect(view.get_by_role("slider", name="Query")).to_be_hidden()
    one = board.mount(SnapshotWidget(heads(1, 1, 2, 2), [7]), "one")
    expect(one.locator(".aw-sn-play")).to_be_hidden()
    assert one.locator(".aw-sn-loss").count() == 0


def test_forced_colours_keep_the_maps(open_board):
    board = open_board(forced_colors="active")
    view = board.mount(browser_widget())
    adjust = view.locator(".aw-map-area, .aw-thumbs canvas").evaluate_all(
        "(nodes) => nodes.map((n) => getComputedStyle(n).forcedColorAdjust)"
    )
    assert adjust == ["none", "none"] or set(adjust) == {"none"}
    outline = view.locator(".aw-thumb[aria-selected=true]").evaluate(
        "(n) => getComputedStyle(n).outlineStyle"
    )
    assert outline == "solid"


@pytest.mark.parametrize(
    ("keys", "query"), [(["ArrowDown", "ArrowDown"], 3), (["ArrowDown", "ArrowUp"], 1)]
)
def test_two_keys_before_the_next_frame_are_both_heard(board, keys, query):
    view = board.mount(browser_widget(query=1))
    view.locator(".aw-map-area").evaluate(
        """(area, keys) => { for (const key of keys) {
             area.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
           } }""",
        keys,
    )
    board.settled()
    assert board.get("query") == query
