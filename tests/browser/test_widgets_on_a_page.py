"""The course's widgets under the book's own static host: opened from a disk, with no kernel."""

import json
from pathlib import Path

import ipywidgets
from playwright.sync_api import expect

from attnkit.widgets import ScalingWidget, SoftmaxWidget
from bookext.widgets import page_state, script

HOST = Path(__file__).parents[2] / "bookext" / "assets" / "widget-host.js"


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


def test_both_widgets_live_on_a_page_without_a_kernel(browser, tmp_path):
    scaling, softmax, twin = ScalingWidget(revealed=True), SoftmaxWidget(), SoftmaxWidget()
    link = ipywidgets.jslink((softmax, "temperature"), (twin, "temperature"))
    shown = [scaling, scaling, softmax, twin]
    write_page(tmp_path / "page.html", shown, [scaling, softmax, twin, link])
    page = browser.new_page()
    complaints, requests = [], []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("request", lambda r: requests.append(r.url))
    page.goto((tmp_path / "page.html").as_uri())
    expect(page.locator(".attn-widget[data-attn-state=live]")).to_have_count(4)

    # One widget shown twice is one widget.
    page.get_by_role("slider", name="Key dimension d_k").first.press("End")
    for field in page.get_by_label("Key dimension d_k, exact value").all():
        expect(field).to_have_value("1024")
    # Two widgets that Python linked in the browser stay linked.
    page.get_by_role("slider", name="Temperature T").first.press("Home")
    for field in page.get_by_label("Temperature T, exact value").all():
        expect(field).to_have_value("0.05")
    # Arrays travel once though two widgets carry them, and nothing is fetched.
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "blob:", "data:"))] == []
    page.close()
