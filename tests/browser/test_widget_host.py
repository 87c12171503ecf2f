"""Widgets on the static page, in a browser: no kernel, no network, from a disk and from a server.

A tiny book (fixtures/widget_book) is built once, as a reader would get it.
"""

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

BOOK = Path(__file__).parent / "fixtures" / "widget_book"
ROOT = Path(__file__).parents[2]
SHOWN = 15  # views on live.md
CANNOT_START = "This widget could not start on this page."
ELSEWHERE = "This widget wants code from another site, and this page loads nothing from there."
NEEDS_NOTEBOOK = "This control needs a running notebook."
NEEDS_SCRIPT = "This widget needs JavaScript; what stands here is its state at the start."


#: Sphinx and myst-nb take seconds to import: all builds in one process. The second one starts from
#: the execution cache alone, the others from the doctrees of the first.
BUILDS = """
import contextlib, sys
sys.modules.setdefault("rfc3987_syntax", None)  # bookext/kernels.py says why
from bookext.kernels import without_ports
from sphinx.cmd.build import main
without_ports()
for builder, out, trees in [
    ("html", "site/deep/er", "trees"),
    ("html", "again", "other-trees"),
    ("text", "text", "trees"),
    ("latex", "latex", "trees"),
    ("epub", "epub", "trees"),
]:
    with open(out.replace("/", "-") + ".log", "w") as log:
        with contextlib.redirect_stdout(log), contextlib.redirect_stderr(log):
            cache = ["-D", "nb_execution_cache_path=cache"]
            code = main(["--no-color", "-b", builder, "-d", trees, *cache, "source", out])
    if code:
        sys.exit(open(log.name).read())
"""


class Book:
    """The fixture book as built: `html` is deep in a site, the other formats are in `folder`."""

    def __init__(self, folder):
        shutil.copytree(BOOK, folder / "source")
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        run = subprocess.run(
            [sys.executable, "-c", BUILDS],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": path},
            text=True,
            capture_output=True,
        )
        assert run.returncode == 0, run.stderr
        self.folder = folder
        self.html = folder / "site" / "deep" / "er"
        (folder / "site" / "favicon.ico").touch()  # browsers ask the root for it

    def log(self, out):
        return (self.folder / f"{out}.log").read_text("utf-8")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return Book(tmp_path_factory.mktemp("widgets"))


@pytest.fixture(scope="module")
def server(book):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(book.folder / "site"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/deep/er/"
        server.shutdown()


class Visit:
    """An open page, with what it asked for and what it complained about."""

    def __init__(self, page, address):
        self.page, self.requests, self.complaints = page, [], []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append((message.type, message.text)))
        page.on("pageerror", lambda error: self.complaints.append(("exception", str(error))))
        page.goto(address)
        self.settle()

    def settle(self):
        """Wait until each widget is live or has said why it is not."""
        self.page.wait_for_function(
            """() => [...document.querySelectorAll(".attn-widget")].every(
                 (place) => ["live", "static"].includes(place.dataset.attnState))"""
        )

    def widget(self, alt, nth=0):
        return self.page.locator(f".attn-widget:has(> .attn-picture img[alt='{alt}'])").nth(nth)

    def view(self, alt, nth=0):
        return self.widget(alt, nth).locator("> .attn-mount")

    def notes(self, alt, nth=0):
        return self.widget(alt, nth).locator("> .attn-note").all_inner_texts()

    def add(self, esm, state=None, buffers=(), name="added"):
        """Put one more widget on the page."""
        self.page.evaluate(
            """([name, state, buffers]) => {
              const put = (kind, data) => {
                const script = document.createElement("script");
                script.type = `application/vnd.jupyter.widget-${kind}+json`;
                script.textContent = JSON.stringify(data);
                document.body.append(script);
              };
              put("state", { state: { [name]: { state, buffers } } });
              put("view", { model_id: name });
              attnWidgets.mount();
            }""",
            [name, {"_esm": esm} | (state or {}), list(buffers)],
        )
        return self.page.locator("body > .attn-widget").last.locator("> .attn-mount")

    def heard(self, count):
        """The complaints, as soon as there are `count`: the browser sends them in its own time."""
        deadline = time.monotonic() + 30
        while len(self.complaints) < count and time.monotonic() < deadline:
            self.page.wait_for_timeout(20)
        return [text for _, text in self.complaints]

    def calls(self, about):
        return [call for call in self.page.evaluate("calls") if call.startswith(about)]


@pytest.fixture
def context(browser):
    context = browser.new_context()
    yield context
    context.close()


@pytest.fixture
def live(book, context):
    return Visit(context.new_page(), (book.html / "live.html").as_uri())


@pytest.fixture
def broken(book, context):
    return Visit(context.new_page(), (book.html / "sub" / "broken.html").as_uri())


def saved_state(page):
    text = page.read_text("utf-8")
    mime = re.escape("application/vnd.jupyter.widget-state+json")
    scripts = re.findall(f'<script type="{mime}">(.*?)</script>', text, re.DOTALL)
    assert len(scripts) <= 1
    return json.loads(scripts[0]) if scripts else None


# ------------------------------------------------------------------------------------ healthy pages


@pytest.mark.parametrize("way", ["file", "http"])
def test_every_widget_lives_without_a_kernel_and_asks_nobody(way, book, server, context):
    folder = book.html.as_uri() + "/" if way == "file" else server
    visit = Visit(context.new_page(), folder + "live.html")
    states = visit.page.locator(".attn-widget").evaluate_all(
        "places => places.map((place) => place.dataset.attnState)"
    )
    assert states == ["live"] * SHOWN
    assert visit.page.locator(".attn-picture:visible").count() == 0
    assert visit.complaints == []
    strangers = [url for url in visit.requests if not url.startswith((folder, "blob:"))]
    assert strangers == []
    assert folder + "_static/widget-host.js" in [url.split("?")[0] for url in visit.requests]


def test_default_export_may_be_an_object_a_function_or_asynchronous(live):
    assert live.view("counter").inner_text() == "count 7"
    assert live.view("function").inner_text() == "seen one"
    assert live.view("function", 1).inner_text() == "seen two"
    assert live.view("async").inner_text() == "ready true"
    assert live.view("old form").inner_text() == "rendered the old way"


def test_a_module_is_imported_once_initialized_per_model_rendered_per_view(live):
    assert (
        live.calls("counter") == ["counter imported", "counter initialize"] + ["counter render"] * 2
    )
    assert live.calls("function") == ["function imported"] + ["function called"] * 2
    assert live.calls("twin") == ["twin imported"] + ["twin called"] * 2
    assert live.view("twin", 1).inner_text() == "seen four"


def test_two_views_of_one_model_stay_in_step(live):
    live.view("counter", 1).locator("button").click()
    assert live.view("counter", 0).inner_text() == "count 8"
    live.view("counter", 0).locator("button").press("Enter")
    assert live.view("counter", 1).inner_text() == "count 9"


def test_change_events_are_backbones(live):
    assert live.page.evaluate("""() => {
      const [model, heard] = [counter, []];
      const note = (...arguments_) => heard.push(["count", model.get("count"), arguments_.length]);
      model.on("change:count", note);
      model.on("change", () => heard.push("change"));
      model.on("change:other change:list", () => heard.push("other or list"));
      model.on("msg:custom", () => heard.push("message"));
      model.set("count", model.get("count"));           // equal: no event
      model.set("list", [1, { a: [2] }]);
      model.set("list", [1, { a: [2] }]);               // equal all the way down: no event
      heard.push("-");
      model.set({ count: 20, other: 1 });               // several at once: one "change"
      heard.push("-");
      model.on("change:other", () => model.set("count", model.get("other") * 10));
      model.on("change:other", () => heard.push("later"));
      model.set("other", 3);                            // a handler sets more
      heard.push("-");
      model.off("change:count", note);
      model.set("count", 1);
      heard.push("-");
      model.off();
      model.set("count", 2);
      return heard;
    }""") == [
        "other or list",
        "change",
        "-",
        ["count", 20, 0],
        "other or list",
        "change",
        "-",
        "other or list",
        ["count", 30, 0],
        "later",
        "change",
        "-",
        "change",
        "-",
    ]
    # `off()` of one owner leaves the views their own handlers.
    assert live.view("counter").inner_text() == "count 2"


def test_a_handler_that_throws_does_not_silence_the_others(live):
    live.page.evaluate(
        """() => {
          counter.on("change:first", () => { throw new Error("on purpose"); });
          counter.on("change:first", () => counter.set("count", 40));
          counter.set("first", 1);
        }"""
    )
    assert live.view("counter").inner_text() == "count 40"
    assert live.heard(1) == ["on purpose"]


def test_binary_traits_arrive_as_data_views_and_can_be_set(live):
    assert live.view("binary").inner_text() == "true -2.25 51966 0"
    live.page.evaluate(
        """() => {
          const bytes = (number) => {
            const view = new DataView(new ArrayBuffer(8));
            view.setFloat32(4, number, true);
            return view;
          };
          globalThis.heard = 0;
          binary.on("change:raw", () => heard++);
          binary.set("raw", bytes(0.5));
          binary.set("raw", bytes(0.5));
        }"""
    )
    assert live.view("binary").inner_text() == "true 0.5 51966 0"
    assert live.page.evaluate("heard") == 1


def test_a_widget_holds_other_widgets(live):
    parent = live.view("parent")
    assert parent.locator("p").inner_text() == "child 7, samples.Asynchronous, true"
    assert parent.locator("div").inner_text() == "ready true"
    live.view("counter").locator("button").click()
    assert parent.locator("p").inner_text() == "child 8, samples.Asynchronous, true"
    assert "saved state" in parent.get_attribute("data-lost")


def test_any_string_arrives_as_it_was(live):
    assert live.view("text").text_content() == "</script><!-- <script> 中国 😀 &amp;"


def test_style_sheets_are_put_once_and_layout_and_classes_are_kept(live):
    colour = "element => getComputedStyle(element).color"
    assert live.view("counter").locator("button").evaluate(colour) == "rgb(1, 2, 3)"
    sheets = live.page.locator("style").all_text_contents()
    assert sum("rgb(1, 2, 3)" in sheet for sheet in sheets) == 1
    assert sum("rgb(4, 5, 6)" in sheet for sheet in sheets) == 1
    assert live.view("text").evaluate("el => [el.style.width, el.classList.contains('mine')]") == [
        "50%",
        True,
    ]


def test_links_made_in_the_browser_work_there(live):
    value = {alt: live.view(alt).locator("input") for alt in ("left", "right", "third")}
    assert [value[alt].input_value() for alt in value] == ["5", "5", "5"]
    value["right"].fill("11")
    assert [value[alt].input_value() for alt in value] == ["11", "11", "11"]
    value["third"].fill("12")
    assert [value[alt].input_value() for alt in value] == ["11", "11", "12"]


def test_what_needs_a_kernel_says_so_and_the_rest_works(live):
    assert live.view("kernel").inner_text() == (
        'experimental.invoke("_double") needs a running notebook.'
    )
    assert live.notes("kernel") == ["Part of what this widget does needs a running notebook."]
    assert live.view("kernel").get_attribute("data-message") is None


def test_a_render_that_waits_for_the_reader_is_shown(live):
    view = live.add(
        """export default { async render({ el }) {
          const button = el.appendChild(document.createElement("button"));
          button.textContent = "start";
          await new Promise((done) => button.addEventListener("click", done));
          button.textContent = "started";
        } };"""
    )
    view.locator("button").click()
    expect(view).to_have_text("started")


def test_a_widget_is_laid_out_unseen_until_it_is_ready(live):
    view = live.add(
        """export default { async render({ el }) {
          globalThis.before = [getComputedStyle(el).visibility, el.offsetWidth > 200];
          await new Promise((done) => setTimeout(done, 50));
          el.textContent = "ready";
        } };"""
    )
    view.wait_for()
    assert live.page.evaluate("before") == ["hidden", True]


def test_stale_buffers_and_deep_ones(live):
    """The kernel tells where a buffer was; a later value may have no such place any more."""
    view = live.add(
        """export default { render({ model, el }) {
          const bytes = (view) => Array.from(new Uint8Array(view.buffer)).join();
          el.textContent = bytes(model.get("a")[1].b) + " " + model.get("c");
        } };""",
        {"a": [0, {}], "c": 5},
        [
            {"path": ["a", 1, "b"], "encoding": "base64", "data": "AP8="},
            {"path": ["c", 0, "d"], "encoding": "base64", "data": "AP8="},
            {"path": ["gone", "x"], "encoding": "base64", "data": "AP8="},
        ],
    )
    expect(view).to_have_text("0,255 5")


def test_a_widget_that_never_becomes_ready_says_so(live):
    live.page.evaluate(
        """() => {
          const real = window.setTimeout;  // ten seconds are patience enough for a reader
          window.setTimeout = (call, ms, ...rest) => real(call, ms === 10_000 ? 20 : ms, ...rest);
        }"""
    )
    live.add("export default { initialize: () => new Promise(() => {}), render() {} };")
    note = live.page.locator("body > .attn-widget > .attn-note")
    note.wait_for()
    assert note.inner_text() == CANNOT_START


def test_a_failure_after_unmounting_does_not_touch_the_place(live):
    live.add(
        """export default { async render({ el }) {
          await new Promise((done) => (globalThis.fail = done));
          throw new Error("late");
        } };"""
    )
    live.page.wait_for_function("() => Boolean(globalThis.fail)")
    place = live.page.locator("body > .attn-widget")
    live.page.evaluate("() => { attnWidgets.unmount(); fail(); }")
    live.page.wait_for_timeout(50)
    assert place.locator(".attn-note").count() == 0
    assert place.locator(".attn-mount").count() == 0


def test_a_child_that_fails_is_over_and_the_parent_lives(live):
    live.add(
        """export default { render({ signal }) {
          signal.addEventListener("abort", () => (globalThis.over = (globalThis.over ?? 0) + 1));
          throw new Error("on purpose");
        } };""",
        name="child",
    )
    live.settle()
    parent = live.add(
        """export default { async render({ model, el, signal, host }) {
          const child = await host.getWidget("anywidget:child");
          await child.render({ el, signal }).catch((error) => (el.textContent = error.message));
          el.dataset.over = over;
        } };""",
        name="parent",
    )
    live.settle()
    assert parent.inner_text() == "on purpose"
    assert parent.get_attribute("data-over") == "2"  # its own view's and this one


def test_a_stock_control_in_other_peoples_state_needs_a_notebook(live):
    live.add(None, {"_model_name": "IntSliderModel", "value": 3})
    live.settle()
    assert live.page.locator("body > .attn-widget > .attn-note").inner_text() == NEEDS_NOTEBOOK


def test_a_model_without_saved_state_is_told(live):
    live.page.evaluate(
        """() => {
          const mime = "application/vnd.jupyter.widget-view+json";
          const script = Object.assign(document.createElement("script"), { type: mime });
          script.textContent = '{"model_id": "nowhere"}';
          document.body.append(script);
          attnWidgets.mount();
        }"""
    )
    live.settle()
    note = live.page.locator(".attn-note").last.inner_text()
    assert note == "The saved state of this widget is missing on this page."


def test_a_widget_with_a_name_is_a_named_group(live):
    assert live.page.get_by_role("group", name="A counter").count() == 2
    assert live.view("text").get_attribute("role") is None


# ------------------------------------------------------------------------------------ ends of lives


def test_unmounting_cleans_up_and_shows_the_picture_and_mounting_again_works(live):
    live.page.evaluate("attnWidgets.unmount(document.querySelector('.attn-widget'))")
    assert live.calls("counter view") == [
        "counter view cleanup, aborted: false",
        "counter view over",
    ]
    assert live.widget("counter").locator("img").is_visible()
    assert live.view("counter").count() == 0
    live.view("counter", 1).locator("button").click()
    live.page.evaluate("attnWidgets.mount()")
    live.settle()
    assert live.view("counter").inner_text() == "count 8"
    assert live.calls("counter initialize") == ["counter initialize"]
    assert len(live.calls("counter render")) == 3


def test_a_replaced_view_script_takes_the_place_of_the_old_view(live):
    live.page.evaluate(
        """() => {
          const places = [...document.querySelectorAll(".attn-widget")];
          const script = (place) => place.querySelector("script");
          const copy = script(places[2]).cloneNode(true);
          script(places[0]).replaceWith(copy);
          attnWidgets.mount();
        }"""
    )
    live.settle()
    assert live.view("counter").inner_text() == "seen one"
    assert live.calls("counter view cleanup") == ["counter view cleanup, aborted: false"]


def test_leaving_the_page_ends_views_and_models(live, book):
    hide = "persisted => dispatchEvent(new PageTransitionEvent('pagehide', { persisted }))"
    live.page.evaluate(hide, True)  # into the back-forward cache: nothing ends
    assert live.calls("counter view") == []
    live.page.evaluate(hide, False)
    assert live.calls("counter view cleanup") == ["counter view cleanup, aborted: false"] * 2
    assert live.calls("counter model") == ["counter model cleanup", "counter model over"]


def test_a_page_that_lists_everything_twice_mounts_once(book, context):
    text = (book.html / "live.html").read_text("utf-8")
    host = re.search(r"<script[^>]*widget-host\.js[^>]*></script>", text)[0]
    state = re.search(r'<script type="[^"]*widget-state\+json">.*?</script>', text, re.DOTALL)[0]
    (book.html / "twice.html").write_text(text.replace("</body>", state + host + "</body>"))
    visit = Visit(context.new_page(), (book.html / "twice.html").as_uri())
    assert visit.page.locator("script[src*=widget-host]").count() == 2
    assert visit.page.locator(".attn-mount").count() == SHOWN
    assert len(visit.calls("counter render")) == 2
    assert len(visit.calls("counter initialize")) == 1
    assert visit.complaints == []


def test_a_view_script_without_our_markup_is_mounted_too(book, context):
    """As other exporters write it, nbconvert for one."""
    text = (book.html / "live.html").read_text("utf-8")
    view = re.search(r'<script type="[^"]*widget-view\+json">.*?</script>', text, re.DOTALL)[0]
    body = f"<body><article>{view}</article>"
    (book.html / "bare.html").write_text(re.sub("<body.*?>", body, text, count=1))
    visit = Visit(context.new_page(), (book.html / "bare.html").as_uri())
    assert visit.page.locator("article > .attn-widget > .attn-mount").inner_text() == "count 7"
    assert visit.complaints == []


# --------------------------------------------------------------------------- what cannot be mounted


def test_a_failing_widget_keeps_its_picture_and_its_neighbours_live(broken):
    for alt in ("drawn", "syntax", "rejects", "initialize", "empty", "renderless"):
        assert broken.widget(alt).locator("img").is_visible(), alt
        assert broken.notes(alt) == [CANNOT_START], alt
        assert broken.view(alt).count() == 0, alt
    assert broken.page.evaluate("drawnOver") is True
    wordy = broken.page.locator(".attn-widget", has_text="Wordy(<of> & few)")
    assert wordy.locator(".attn-note").inner_text() == CANNOT_START
    broken.view("counter").locator("button").click()
    assert broken.view("counter").inner_text() == "count 4"
    # Who writes the widget finds the cause in the console, once a widget.
    complaints = broken.heard(8)
    assert len(complaints) == 7 + 1  # the eighth: a style sheet that asks another site
    assert sum("on purpose" in text for text in complaints) == 4


def test_nothing_is_ever_loaded_from_another_site(broken, book):
    assert [url for url in broken.requests if "elsewhere" in url] == []
    for alt in ("address", "importing", "parent"):
        assert broken.notes(alt) == [ELSEWHERE], alt
        assert broken.widget(alt).locator("img").is_visible(), alt
    assert broken.view("styled").inner_text() == "plain"
    warnings = [line for line in book.log("site-deep-er").splitlines() if "WARNING:" in line]
    assert len(warnings) == 3
    assert all("broken.md" in w and "Put the code itself into _esm" in w for w in warnings)


def test_a_stock_control_says_that_it_needs_a_notebook(broken):
    for text in ("IntSlider(", "VBox("):
        place = broken.page.locator(".attn-widget", has_text=text)
        assert place.locator("pre").is_visible()
        assert place.locator(".attn-note").all_inner_texts() == [NEEDS_NOTEBOOK]


def test_without_javascript_the_picture_and_a_line_stay(book, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((book.html / "live.html").as_uri())
    assert page.locator(".attn-picture img:visible").count() == SHOWN
    assert page.locator("noscript .attn-note:visible").all_inner_texts() == [NEEDS_SCRIPT] * SHOWN
    context.close()


def test_paper_shows_the_picture(live):
    live.page.emulate_media(media="print")
    assert live.widget("counter").locator("img").is_visible()
    assert not live.view("counter").is_visible()


# ------------------------------------------------------------------------------------ what is built


def test_the_picture_keeps_its_place_and_its_words(book, broken):
    image = broken.widget("drawn").locator("img")
    assert image.get_attribute("src").endswith(".svg")
    assert [image.get_attribute(name) for name in ("width", "height")] == ["71", "37"]
    image = broken.widget("syntax").locator("img")
    assert image.get_attribute("src").endswith(".png")
    assert [image.get_attribute(name) for name in ("width", "height")] == ["43", "29"]


def test_a_height_that_is_asked_for_is_kept_free_before_the_widget_is_there(book, live):
    page = (book.html / "live.html").read_text("utf-8")
    assert page.count('style="--attn-height: 151px"') == 1
    height = "element => getComputedStyle(element).minHeight"
    assert live.widget("text").evaluate(height) == "151px"
    assert live.widget("counter").evaluate(height) in ("auto", "0px")


def test_the_page_carries_what_its_views_need_and_no_more(book):
    state = saved_state(book.html / "live.html")
    models = state["state"].values()
    # those shown (one of them twice), the one that the parent holds, two links, one layout
    assert len(models) == SHOWN - 1 + 1 + 2 + 1
    assert "quokka" not in json.dumps(state)
    assert not any("_view_name" in model["state"] for model in models)
    assert sum("width" in model["state"] for model in models) == 1
    assert [text.count("zebrafish") for text in state["texts"].values()].count(40) == 1
    assert "zebrafish" not in json.dumps(state["state"])
    [text] = [model for model in models if str(model["state"].get("text")).startswith("</script>")]
    assert text["state"]["unset"] is None


def test_pages_without_live_widgets_load_no_host(book):
    assert "widget-host.js" in (book.html / "live.html").read_text("utf-8")
    plain = (book.html / "plain.html").read_text("utf-8")
    assert "widget-host.js" not in plain
    assert NEEDS_NOTEBOOK in plain
    assert saved_state(book.html / "plain.html") is None
    assert "widget-host" not in (book.html / "index.html").read_text("utf-8")
    for page in book.html.rglob("*.html"):
        assert not re.search(r'(src|<link[^>]*href)="(https?:)?//', page.read_text("utf-8")), page


def test_the_search_index_holds_no_code_of_widgets(book):
    index = (book.html / "search-sections.js").read_text("utf-8")
    assert "neighbour" in index
    assert "zebrafish" not in index
    assert "addeventlistener" not in index.lower()


def test_a_second_build_from_the_cache_lives_too(book, context):
    assert book.log("again").count("Using cached notebook") == 3
    visit = Visit(context.new_page(), (book.folder / "again" / "live.html").as_uri())
    visit.view("counter").locator("button").click()
    assert visit.view("counter", 1).inner_text() == "count 8"


@pytest.mark.parametrize("builder", ["text", "latex", "epub"])
def test_other_formats_get_the_picture_or_the_words(builder, book):
    if builder == "text":
        text = (book.folder / "text" / "live.txt").read_text("utf-8")
        assert "Counter()" in text
        assert NEEDS_NOTEBOOK not in text
    elif builder == "latex":
        assert list((book.folder / "latex").glob("*.png"))
        [tex] = (book.folder / "latex").glob("*.tex")
        assert tex.read_text("utf-8").count("includegraphics") >= SHOWN
    else:
        page = (book.folder / "epub" / "live.xhtml").read_text("utf-8")
        assert page.count('alt="counter"') == 2
        assert "application/vnd.jupyter" not in page
        assert "widget-host" not in page
