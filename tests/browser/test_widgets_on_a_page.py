"""The course's widgets under the book's own static host: opened from a disk, with no kernel."""

import json
from pathlib import Path

import ipywidgets
import pytest
from cost_samples import CURVES as COSTS
from cost_samples import cost_widget
from deletion_samples import deletion_widget, examples
from heads_samples import heads_widget
from map_samples import causal, heads, words
from numeral_samples import length_widget, translation, translation_widget
from playwright.sync_api import expect
from threshold_samples import threshold_widget, two_models
from widget_page import WidgetPage

from attnkit.widgets import (
    BottleneckGame,
    DeletionWidget,
    HeadBrowser,
    MaskEditor,
    PositionWidget,
    ScalingWidget,
    SnapshotWidget,
    SoftmaxWidget,
    TemperatureWidget,
    TranslationWidget,
)
from attnkit.widgets.base import WIDTHS
from bookext.widgets import page_state, script

HOST = Path(__file__).parents[2] / "bookext" / "assets" / "widget-host.js"


CURVES = {
    "fixed vector": {4: (1.0, 0.9, 1.0), 8: (0.6, 0.5, 0.7), 12: (0.0, 0.0, 0.1)},
    "attention": {4: (1.0, 1.0, 1.0), 8: (1.0, 0.9, 1.0), 12: (0.9, 0.8, 1.0)},
}


def write_page(path, widgets, models):
    """A page as bookext/widgets.py writes it: views, the state they need, the host."""
    saved = {m.model_id: {"model_name": m._model_name, "state": m.get_state()} for m in models}
    state = json.loads(json.dumps(page_state(saved, [w.model_id for w in widgets])))
    views = "".join(
        '<div class="attn-widget"><img class="picture" alt="">'
        + script(
            "application/vnd.jupyter.widget-view+json",
            {"model_id": w.model_id, "version_major": 2, "version_minor": 0},
        )
        + "</div>"
        for w in widgets
    )
    path.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title><main>{views}'
        f"{script('application/vnd.jupyter.widget-state+json', state)}</main>"
        f"<script>{HOST.read_text(encoding='utf-8')}</script></html>",
        encoding="utf-8",
    )


def test_widgets_live_on_a_page_without_a_kernel(browser, tmp_path):
    scaling, softmax, twin = ScalingWidget(revealed=True), SoftmaxWidget(), SoftmaxWidget()
    link = ipywidgets.jslink((softmax, "temperature"), (twin, "temperature"))
    ratios, game = TemperatureWidget(), BottleneckGame(CURVES)
    classes = two_models()
    order, name, cost = PositionWidget(), deletion_widget(), cost_widget()
    shown = [scaling, scaling, softmax, twin, ratios, game, game, classes, order, name, cost]
    models = [scaling, softmax, twin, ratios, game, classes, order, name, cost, link]
    write_page(tmp_path / "page.html", shown, models)
    page = browser.new_page()
    complaints, requests = [], []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("request", lambda r: requests.append(r.url))
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".attn-widget[data-attn-state=live]")).to_have_count(11)

    # One widget shown twice is one widget.
    page.get_by_role("slider", name="Key dimension d_k").first.press("End")
    for field in page.get_by_label("Key dimension d_k, exact value").all():
        expect(field).to_have_value("1024")
    # Two widgets that Python linked in the browser stay linked; the third is on its own.
    page.get_by_role("slider", name="Temperature T").first.press("Home")
    for i, value in enumerate(["0.05", "0.05", "1"]):
        expect(page.get_by_label("Temperature T, exact value").nth(i)).to_have_value(value)
    # Two views of one game: each has its own steps, both show the curves and the rounds.
    page.get_by_role("button", name="Show me the models’ curves").first.click()
    expect(page.get_by_role("button", name="Show me the models’ curves")).to_have_count(0)
    expect(page.locator(".aw-game-plot .aw-band")).to_have_count(4)
    # Classes are computed on the page.
    page.get_by_role("slider", name="Positions: lift").press("Home")
    expect(page.locator(".aw-th-changed").first).to_be_visible()
    page.get_by_label("Doubled exponent").check()
    expect(page.locator(".aw-position")).to_contain_text("39 of 64")
    page.get_by_role("button", name="Delete the most attended").click()
    expect(page.locator(".aw-del-gone")).to_have_count(1)
    page.get_by_role("slider", name="Tokens n").press("End")
    expect(page.locator(".aw-cost")).to_contain_text("not run")
    # Arrays travel once though two widgets carry them, and nothing is fetched.
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "blob:", "data:"))] == []
    page.close()


@pytest.fixture(scope="module")
def blank(browser):
    """A window whose page each test replaces by its own."""
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    yield page
    page.close()


@pytest.mark.parametrize(
    "widget",
    [
        ScalingWidget(),
        ScalingWidget(revealed=True),
        ScalingWidget(revealed=True, prediction=0.3, d_k=256, scale=False),
        SoftmaxWidget(),
        *(SoftmaxWidget([i / 10 for i in range(n)]) for n in (1, 12, 13, 64)),
        *(
            TemperatureWidget(
                [i / 3 for i in range(n)],
                list("abcdefghijkl")[:n],
                [0.05 * (i + 1) for i in range(n)],
            )
            for n in (3, 4, 5, 12)
        ),
        TemperatureWidget(),
        BottleneckGame(CURVES),
        BottleneckGame(CURVES, revealed=True),
        *(translation_widget(example=i) for i in range(5)),
        TranslationWidget([translation(305)]),
        length_widget(),
        length_widget(length=1),
        length_widget((1, 2, 3)),
        heads_widget(),
        heads_widget(revealed=True),
        heads_widget(revealed=True, num_heads=32, prediction=4),
        MaskEditor(),
        MaskEditor(preset="window + padding"),
        MaskEditor(["a", "b"]),
        MaskEditor([f"t{i}" for i in range(12)], preset="two-sided window"),
        MaskEditor(mask=[[(i * j + i) % 3 > 0 for j in range(8)] for i in range(8)]),
        HeadBrowser(heads(2, 4, 9, 9, mask=causal(9)), words(9), mask=causal(9)),
        HeadBrowser(heads(3, 12, 31, 31), words(31)),
        HeadBrowser(heads(2, 2, 5, 13), words(5), words(13)),
        HeadBrowser(heads(7, 3), scale="head"),
        SnapshotWidget(heads(4, 3, 9, 9), [0, 10, 20, 30], words(9), losses=[3, 2, 1, 0.5]),
        SnapshotWidget(heads(4, 13, 5), [0, 10, 20, 30], words(13), losses=[3, 2, 1, 0.5]),
        SnapshotWidget(heads(2, 1, 3, 3, mask=causal(3)), [0, 9], mask=causal(3)),
        threshold_widget(),
        threshold_widget(12, 12, 31, layer=3, head=2),
        threshold_widget(1, 1, 4, maps=False),
        two_models(),
        two_models(model="small", rule="simple"),
        PositionWidget(),
        PositionWidget(2, 2),
        cost_widget(),
        cost_widget(COSTS[:1]),
        cost_widget([(f"mechanism {i}", COSTS[i % 5][1]) for i in range(12)], shown=[]),
        deletion_widget(),
        deletion_widget(1, [0, 4]),
        deletion_widget(1, range(10)),
        DeletionWidget(examples()[:1]),
        DeletionWidget(examples()[2:3], 0, [1]),
        PositionWidget(512, 512, position=511, pair=255, doubled=True),
    ],
    ids=lambda widget: repr(widget)[:40],
)
def test_the_stated_heights_are_those_of_the_live_widget(blank, widget):
    page = blank
    board = WidgetPage(page)
    view = board.mount(widget)
    page.evaluate("document.querySelector('.view').style.display = 'flow-root'")
    page.evaluate("document.querySelector('main').style.padding = 0")
    for width, rem in zip(WIDTHS, widget.heights(), strict=True):
        pixels = max(288, 16 * width + (8 if width == 42 else 0))  # two columns start at 42.1 rem
        page.evaluate("(w) => { document.querySelector('main').style.width = `${w}px`; }", pixels)
        board.settled()
        live = view.bounding_box()["height"]
        assert abs(live - 16 * rem) <= 0.06 * live, f"{pixels} px: {live} px, stated {16 * rem}"
    assert board.errors == []


LOOKS = """() => [...document.querySelectorAll(".one .aw-root, .one .aw-root *")].map((node) => {
  const box = node.getBoundingClientRect();
  const style = getComputedStyle(node);
  return [node.className.baseVal ?? node.className, box.x, box.y, box.width, box.height,
          style.color, style.backgroundColor, style.fontWeight].join();
})"""


@pytest.mark.parametrize(
    "make",
    [
        lambda: ScalingWidget(revealed=True),
        SoftmaxWidget,
        lambda: TemperatureWidget(revealed=True),
        lambda: BottleneckGame(CURVES, revealed=True),
        translation_widget,
        length_widget,
        MaskEditor,
        lambda: heads_widget(revealed=True),
        lambda: HeadBrowser(heads(2, 9, 5, 5, mask=causal(5)), words(5), mask=causal(5)),
        lambda: SnapshotWidget(heads(4, 3, 5, 5), [0, 1, 2, 3], words(5), losses=[3, 2, 1, 0.5]),
        two_models,
        PositionWidget,
        deletion_widget,
        cost_widget,
    ],
)
def test_style_sheets_that_come_later_change_nothing(open_board, make):
    """Each widget brings the shared style sheet along: the last one stands behind all others."""
    board = open_board(viewport={"width": 360, "height": 800})
    board.mount(make(), "one")
    before = board.page.evaluate(LOOKS)
    for css in dict.fromkeys([length_widget()._css, HeadBrowser._css, MaskEditor._css]):
        board.page.evaluate(
            """(css) => document.head.append(
                 Object.assign(document.createElement("style"), { textContent: css }))""",
            css,
        )
    board.settled()
    after = board.page.evaluate(LOOKS)
    assert [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]][:3] == []
