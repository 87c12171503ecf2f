"""The widgets for people who do not see them, or who have no mouse: read as a screen reader would.

One page with every widget on it, in the states that differ; each test asks something of all.
"""

import re

import pytest
from deletion_samples import deletion_widget
from map_samples import causal, heads, words
from numeral_samples import translation_widget
from test_widgets_controls import widgets_of_all_kinds
from widget_page import WidgetPage, spoken

from attnkit.widgets import (
    HeadBrowser,
    SnapshotWidget,
    SoftmaxWidget,
    TemperatureWidget,
)

HEARD = "[aria-live], [role=status], [role=alert], output"
#: Moves a slider by three steps within one task; which regions did not wait for a pause?
HASTY = """([slider, heard]) => {
  const hasty = [];
  const watch = new MutationObserver((changes) => hasty.push(...changes.map(({ target }) =>
    (target.closest ? target : target.parentElement).closest(heard).className)));
  for (const node of document.querySelectorAll(heard))
    watch.observe(node, { childList: true, characterData: true, subtree: true });
  const there = Number(slider.value), way = there > Number(slider.min) ? -1 : 1;
  for (const by of [1, 2, 1]) {
    slider.value = String(there + by * way);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  }
  return afm.settled().then(() => (watch.disconnect(), hasty.filter((name) => name !== "aw-live")));
}"""
#: Presses the buttons of each widget, the last first (it leads out of a step), and tells after
#: which the focus was nowhere, or in another widget. Radio buttons are one tab stop.
PRESS_ALL = """async () => {
  const lost = [];
  let pressed = 0;
  for (const view of document.querySelectorAll(".view")) {
    const done = new Set();
    for (;;) {
      const all = [...view.querySelectorAll("button:not(:disabled, [role=radio])")];
      const button = all.filter((one) => one.checkVisibility({ visibilityProperty: true })
        && !done.has(one.textContent)).at(-1);
      if (!button) break;
      const text = button.textContent;
      done.add(text);
      button.focus();
      button.click();
      await afm.settled();
      pressed += 1;
      const at = document.activeElement;
      const kept = view.contains(at) && at.getClientRects().length;
      if (!kept) lost.push(`${view.className}: ${text}`);
    }
  }
  return [pressed, lost];
}"""


@pytest.fixture(scope="module")
def everything(browser) -> WidgetPage:
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    board = WidgetPage(context.new_page())
    widgets_of_all_kinds(board)
    yield board
    assert board.errors == []
    context.close()


def test_every_table_has_a_name_and_every_row_a_head(everything):
    wrong = everything.page.evaluate(
        """() => [...document.querySelectorAll(".aw-root table")].flatMap((table) => [
             ...(table.getAttribute("aria-label") || table.caption ? [] : [table.className]),
             ...[...table.tBodies[0].rows].filter((row) => !row.querySelector("th[scope=row]"))
               .map((row) => row.innerText)])"""
    )
    assert wrong == []


def test_what_has_a_role_has_a_name(everything):
    wrong = everything.page.evaluate(
        """() => [...document.querySelectorAll(".aw-root :is([role=img], [role=group],"
             + "[role=grid], [role=radiogroup], [role=application], [role=list])")]
             .filter((node) => !node.getAttribute("aria-label")).map((node) => node.className)"""
    )
    assert wrong == []
    assert everything.page.locator(".aw-root fieldset:not(:has(legend))").count() == 0


def test_a_slider_is_named_apart_from_its_value(everything):
    """A name that moved with the value would be read anew with each step, and the value twice."""
    names = re.findall(r'- slider "([^"]*)"', everything.page.locator("main").aria_snapshot())
    assert len(names) > 40
    assert not [name for name in names if re.search(r"[:=] ?[\d,.]+$", name)]


def test_nothing_is_announced_while_a_slider_is_dragged(everything):
    for slider in everything.page.locator(".view .aw-range:visible:enabled").all():
        handle = slider.element_handle()
        hasty = everything.page.evaluate(HASTY, [handle, HEARD])
        assert hasty == [], slider.evaluate("(node) => node.closest('.view').className")


def test_all_that_takes_the_focus_shows_it(everything):
    """Each kind of control once; a line of 2 px or more that was not there before."""
    unseen = everything.page.evaluate(
        """() => {
          const seen = new Set(), unseen = [];
          for (const node of document.querySelectorAll(
            ".aw-root :is(button, input, select, summary, [tabindex])")) {
            const kind = node.closest(".aw-root").className + node.tagName + node.className;
            if (!node.checkVisibility({ visibilityProperty: true }) || node.disabled) continue;
            if (seen.has(kind)) continue;
            seen.add(kind);
            node.focus({ focusVisible: true });
            const { outlineStyle, outlineWidth } = getComputedStyle(node);
            if (outlineStyle === "none" || Number.parseFloat(outlineWidth) < 2)
              unseen.push(node.outerHTML.slice(0, 120));
          }
          return unseen;
        }"""
    )
    assert unseen == []


def test_what_is_said_stands_in_the_page_only_while_it_is_news(open_board):
    board = open_board()
    board.page.clock.install()
    view = board.mount(SoftmaxWidget())
    live = view.locator(".aw-live")
    assert live.text_content() == ""
    view.get_by_role("slider", name="Temperature").press("Home")
    board.page.clock.run_for(2_000)
    assert live.text_content().startswith("Temperature 0.05.")
    board.page.clock.run_for(30_000)
    assert live.text_content() == ""


@pytest.mark.parametrize("widget", [SoftmaxWidget, TemperatureWidget])
def test_words_keep_their_language_when_they_are_said(board, widget):
    view = board.mount(widget())
    live = view.locator(".aw-live")
    slider = view.get_by_role("slider", name="Temperature")
    said, _ = spoken(live, lambda: slider.press("Home"))
    assert "中国" in said
    assert live.locator("[lang=zh-Hans]").all_text_contents()[:3] == ["我", "爱", "中国"]


def test_a_map_says_where_the_reader_stands(board):
    masked = heads(2, 3, 5, 5, mask=causal(5))
    view = board.mount(HeadBrowser(masked, words(5), mask=causal(5), query=2))
    area = view.get_by_role("application")
    described = area.get_attribute("aria-description")
    assert described == view.locator(".aw-hb-reading").text_content()
    area.focus()
    board.page.keyboard.press("ArrowDown")
    board.settled()
    assert board.get("query") == 3
    assert area.get_attribute("aria-description") == described, "it would be read as a new name"
    board.page.keyboard.press("Tab")
    board.settled()
    assert area.get_attribute("aria-description") == view.locator(".aw-hb-reading").text_content()


def test_a_share_is_called_a_weight(board):
    view = board.mount(SoftmaxWidget())
    row = view.locator(".aw-row").last
    assert (
        row.locator(".aw-share").evaluate("(share) => share.previousElementSibling.textContent")
        == "weight "
    )


def test_without_motion_nothing_moves(open_board):
    board = open_board(reduced_motion="reduce")
    film = board.mount(SnapshotWidget(heads(3, 1, 4, 4), [0, 5, 9], words(4)), "film")
    board.mount(SoftmaxWidget(), "soft")
    board.mount(translation_widget(), "word")
    board.mount(deletion_widget(), "deletion")
    moving = board.page.evaluate(
        """() => [...document.getAnimations(), ...[...document.querySelectorAll(".aw-root *")]
             .filter((node) => getComputedStyle(node).transitionDuration.split(", ")
               .some((time) => Number.parseFloat(time) > 0))].map(String)"""
    )
    assert moving == []
    assert board.get("step", "film") in (0, 9), "a film does not start by itself"
    before = board.get("step", "film")
    film.locator(".aw-sn-play").click()
    board.settled()
    assert board.get("step", "film") != before


def test_the_focus_is_never_lost(everything):
    """A button that goes away, or that is switched off by its own press, hands the focus on."""
    pressed, lost = everything.page.evaluate(PRESS_ALL)
    assert lost == []
    assert pressed > 60
