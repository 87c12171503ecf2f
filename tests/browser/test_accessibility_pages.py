"""Every page for people who enlarge it, hold it sideways, do not see it, or want it to stand still.

What axe cannot judge. The visits are those of the other tests of pages (`first_look`, `from_disk`).
"""

import re

import pytest
from test_pages import OPEN_ALL, WIDE

#: The spacing that WCAG 1.4.12 lets a reader set.
SPACED = (
    "* { line-height: 1.5 !important; letter-spacing: 0.12em !important;"
    " word-spacing: 0.16em !important } p { margin-bottom: 2em !important }"
)
ENLARGED = "html { font-size: 200% !important }"
#: Text that is cut off by the box it is in. A token's label is short on purpose (its name is read
#: below the map), and a formula's box is as tall as its line, its signs are not.
CUT = """() => [...document.querySelectorAll("body *")].filter((node) => {
  const style = getComputedStyle(node);
  if (!node.getClientRects().length || style.visibility === "hidden" || !node.textContent.trim())
    return false;
  if (node.closest(".unseen, .aw-hidden, .aw-live, svg, math, .math, .math-scroll, .aw-token, " +
    ".aw-mask-of, [aria-hidden=true], .aw-hb-bar-name, .aw-who, .aw-row, .aw-cost-numbers"))
    return false;
  const cut = (axis, more) => /hidden|clip/.test(style[axis]) && more > 4;
  return cut("overflowX", node.scrollWidth - node.clientWidth)
    || cut("overflowY", node.scrollHeight - node.clientHeight);
}).map((node) => node.outerHTML.slice(0, 120))"""
SMALL = """() => [...document.querySelectorAll("body *")].filter((node) =>
  node.getClientRects().length && Number.parseFloat(getComputedStyle(node).fontSize) < 11.99
  && [...node.childNodes].some((part) => part.nodeType === 3 && part.data.trim())
  && !node.closest("svg, math")).map((node) => node.outerHTML.slice(0, 120))"""
MOVES = """() => [...document.getAnimations().map((one) => String(one.effect?.target?.className)),
  ...[...document.querySelectorAll("body *")].filter((node) => {
    const style = getComputedStyle(node);
    return style.animationName !== "none" || style.transitionDuration.split(", ").some((time) =>
      Number.parseFloat(time) > 0);
  }).map((node) => node.outerHTML.slice(0, 120))]"""
CHINESE = r"""() => {
  const found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const place = walk.currentNode.parentElement;
    if (!/\p{Script=Han}/u.test(walk.currentNode.data) || place.closest("script, style")) continue;
    if (!place.closest("[lang]").lang.startsWith("zh")) found.push(place.outerHTML.slice(0, 120));
  }
  return found;
}"""
#: What is focused by the Tab key and says nothing of itself.
NAMELESS = """() => [...document.querySelectorAll("[tabindex='0']")].filter((node) =>
  node.getClientRects().length && !node.getAttribute("aria-label")
  && !node.matches("button, input, select, [role=radio]"))
  .map((node) => node.outerHTML.slice(0, 120))"""


def restyled(page, css: str) -> None:
    page.evaluate(
        "(css) => { const style = document.getElementById('restyled') ?? Object.assign("
        "document.head.appendChild(document.createElement('style')), { id: 'restyled' });"
        " style.textContent = css; }",
        css,
    )


def test_enlarged_or_spaced_out_no_text_is_lost(whole_page, first_look):
    """200 % of text alone, the spacing of WCAG 1.4.12, and the narrowest phone."""
    page = first_look(whole_page, 1280).page
    page.evaluate(OPEN_ALL)
    for width, css in [(1280, ENLARGED), (1280, SPACED), (320, SPACED), (320, "")]:
        page.set_viewport_size({"width": width, "height": 800})
        restyled(page, css)
        where = f"at {width} px, {css[:20]}"
        assert page.evaluate(WIDE, width) == [], where
        assert page.evaluate(CUT) == [], where
        if not css:
            assert page.evaluate(SMALL) == [], where
    restyled(page, "")
    page.set_viewport_size({"width": 1280, "height": 800})


def test_each_heading_and_link_makes_sense_alone(whole_page, first_look):
    tree = first_look(whole_page, 1280).page.locator("body").aria_snapshot()
    names = re.findall(r'- \'?(?:link|heading|button) "([^"]*)"', tree)
    assert len(names) > 4
    assert not [name for name in names if re.fullmatch(r"(#|here|Link|\d{4}\w?|¶|)", name)]
    first = [name for name in re.findall(r'- \'?heading "([^"]*)" \[level=1\]', tree)]
    assert len(first) == 1
    tables = re.findall(r'^( *)- row "[^"]*":\n\1  - (\w+)', tree, re.M)
    assert {kind for _, kind in tables} <= {"columnheader", "rowheader"}, "a row without a name"


def test_landmarks_are_told_apart(whole_page, first_look):
    tree = first_look(whole_page, 1280).page.locator("body").aria_snapshot()
    landmarks = re.findall(
        r"^ *- ((?:banner|main|navigation|search|contentinfo|region)\b[^:\n]*)", tree, re.M
    )
    assert len(landmarks) == len(set(landmarks)), landmarks
    assert sum(one.startswith(("main", "banner", "contentinfo")) for one in landmarks) == 3


def test_what_the_tab_key_reaches_has_a_name(whole_page, first_look):
    page = first_look(whole_page, 360).page
    page.evaluate(OPEN_ALL)
    assert page.evaluate(NAMELESS) == []


def test_chinese_is_read_as_chinese(whole_page, first_look):
    page = first_look(whole_page, 360).page
    assert page.evaluate(CHINESE) == []


def test_without_motion_nothing_moves(whole_page, from_disk):
    assert from_disk(whole_page).page.evaluate(MOVES) == []


@pytest.mark.parametrize("page", ["intro.html"])
def test_on_its_side_a_phone_shows_the_text(site, open_page, page):
    """The bar scrolls away, and what is focused or linked to is never below it."""
    visit = open_page(site + page, width=640, height=320)
    bar = visit.page.locator(".bar")
    assert bar.evaluate("(bar) => getComputedStyle(bar).position") == "static"
    visit.page.set_viewport_size({"width": 640, "height": 800})
    assert bar.evaluate("(bar) => getComputedStyle(bar).position") == "sticky"
    last = visit.page.locator("article a").last
    last.focus()
    visit.page.keyboard.press("Shift+Tab")
    below, focused = (
        visit.page.evaluate(f"document.{what}.getBoundingClientRect().{side}")
        for what, side in [("querySelector('.bar')", "bottom"), ("activeElement", "top")]
    )
    assert focused >= below - 1
