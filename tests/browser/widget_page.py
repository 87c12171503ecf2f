"""A page with nothing but widgets on it, for the widget tests."""

from pathlib import Path

from attnkit.widgets import assets

AFM = (Path(__file__).parents[1] / "js" / "afm.js").read_text(encoding="utf-8")
SHELL = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Widgets</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body {{ margin: 0; background: #fff; color: #111 }}
html[data-theme=dark] body {{ background: #14181e; color: #eee }} main {{ padding: 8px }}</style>
</head><body><main><h1>Widgets</h1></main><script>{afm}</script></body></html>"""


def state(widget):
    """The traits that the browser gets, as the saved state of a page holds them."""
    held = widget.get_state()
    return {k: v for k, v in held.items() if not k.startswith(("_model", "_view", "_esm", "_css"))}


def load_module(page, source, name="own"):
    """What an ES module exports, as window.own or another name."""
    page.evaluate(
        """async ([source, name]) => {
             const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
             window[name] = await import(url);
           }""",
        [source, name],
    )


def load_functions(page, widget, *functions):
    """Functions of a widget's joined module, which exports `render` alone, as window.own."""
    load_module(page, f"{assets.esm(widget)}\nexport {{ {', '.join(functions)} }};")


class WidgetPage:
    """Mounts widgets on a Playwright page; `errors` holds whatever the console complained of."""

    def __init__(self, page):
        self.page = page
        self.errors = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda m: self.errors.append(m.text) if m.type in ("error", "warning") else None,
        )
        page.set_content(SHELL.format(afm=AFM))

    def mount(self, widget, name="w", views=1):
        self.page.evaluate(
            "([name, esm, css, state, views]) => afm.mount(name, esm, css, state, views)",
            [name, widget._esm, widget._css, state(widget), views],
        )
        return self.page.locator(f".view.{name}")

    def set(self, trait, value, name="w"):
        """What Python does when a trait is set."""
        self.set_all({trait: value}, name)

    def set_in_turn(self, trait, *values, name="w"):
        """One value in each frame: a machine that is slow to ask for the next makes no pause."""
        self.page.evaluate(
            """async ([name, trait, values]) => {
                 for (const value of values) {
                   afm.models[name].set(trait, value);
                   await new Promise((done) => requestAnimationFrame(done));
                 }
                 return afm.settled();
               }""",
            [name, trait, values],
        )

    def set_all(self, traits, name="w"):
        self.page.evaluate(
            """([name, traits]) => {
                 const model = afm.models[name];
                 for (const [key, value] of Object.entries(traits)) model.set(key, value);
                 return afm.settled();
               }""",
            [name, traits],
        )

    def unfold_all(self):
        """Open every box on the page; what is made when a box is opened is there afterwards."""
        self.page.evaluate(UNFOLD_ALL)
        self.settled()

    def get(self, trait, name="w"):
        return self.page.evaluate("([n, t]) => afm.models[n].get(t)", [name, trait])

    def settled(self):
        self.page.evaluate("afm.settled()")


def unfold(summary):
    """Click on a box's summary and wait until its `toggle` was heard: that comes after the click.

    Listeners are called in turn, so a table that is made when it is opened is there."""
    listen = """(node) => ({ heard: new Promise((done) =>
      node.closest("details").addEventListener("toggle", done, { once: true })) })"""
    box = summary.evaluate_handle(listen)
    summary.click()
    box.evaluate("(box) => box.heard")


def spoken(live, act):
    """What the region said when `act` was done, and the milliseconds from the last input to it.

    Both are taken on the page: a slow machine makes the pause longer, never shorter."""
    listen = """(node) => {
      let last = performance.now();
      const heard = () => { last = performance.now(); };
      for (const kind of ["input", "click"]) addEventListener(kind, heard, true);
      return { said: new Promise((done) => {
        new MutationObserver((_, watch) => {
          if (!node.textContent) return; // what was said before has had its time
          watch.disconnect();
          done([node.textContent, performance.now() - last]);
        }).observe(node, { childList: true, characterData: true, subtree: true });
      }) };
    }"""
    watch = live.evaluate_handle(listen)
    act()
    return watch.evaluate("(watch) => watch.said")


#: Opens every box at once; its promise waits, as `unfold` does, for each `toggle`.
UNFOLD_ALL = """() => Promise.all(
  [...document.querySelectorAll("details:not([open])")].map((box) => new Promise((done) => {
    box.addEventListener("toggle", done, { once: true });
    box.open = true;
  })),
).then(() => {})"""


def check_heads_scroll_inside(board, width):
    """A table of 12 heads on a phone: the page keeps its width, the last head can be reached."""
    assert board.page.evaluate("document.documentElement.scrollWidth") == width
    room = board.page.locator(".aw-thumbs-scroll")
    sizes = room.evaluate("(n) => [n.scrollWidth, n.clientWidth]")
    assert sizes[0] > sizes[1]
    board.page.get_by_role("gridcell").first.focus()
    board.page.keyboard.press("End")
    board.settled()
    box, around = board.page.locator(".aw-thumb[tabindex='0']").bounding_box(), room.bounding_box()
    assert board.get("head") == 11 and box["width"] >= 24
    assert box["x"] + box["width"] <= around["x"] + around["width"] + 1
