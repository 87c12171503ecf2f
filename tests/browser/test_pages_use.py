"""Using a page: keyboard, colours, search, formulas, boxes, paper, and no JavaScript at all.

On a small book that has every element of a chapter, built with the same extensions.
"""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect
from small_book import build
from test_pages import OPEN_ALL, UNREACHABLE, axe
from test_print import CUT_OFF

HERE = Path(__file__).parent
TITLES = ("Scaled dot-product attention", "Second page")
EXTRA = """
extensions += ["sphinx_design", "sphinx_exercise", "sphinx_togglebutton", "sphinx_copybutton"]
html_title = "Small book"
numfig = True
myst_enable_extensions += ["deflist"]
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("elements")
    pages = {
        page.stem: page.read_text(encoding="utf-8")
        for page in (HERE / "fixtures" / "elements").glob("*.md")
    }
    shutil.copy(HERE / "fixtures" / "elements" / "flow.png", folder)
    built = build(
        folder,
        pages,
        parts=("alttext", "mathml", "theme", "search"),
        execute=True,
        theme="sphinx_book_theme",
        extra=EXTRA,
    )
    assert built.status == 0, built.log
    return built.folder


@pytest.fixture(scope="module")
def address(book, serve) -> str:
    return serve(book)


def focused(page) -> str:
    return page.evaluate(
        "(e => e.className + ' ' + (e.ariaLabel || e.textContent).trim().slice(0, 40))"
        "(document.activeElement)"
    )


def test_the_page_with_everything_is_clean(address, open_page):
    for scheme in ("light", "dark"):
        visit = open_page(address, scheme=scheme)
        assert visit.off_site == [] and visit.complaints == []
        assert axe(visit.page, scheme) == []
        assert visit.page.locator("html").get_attribute("data-theme") == scheme


def test_on_a_phone_nothing_is_cut_off_and_all_that_scrolls_is_reached(address, open_page):
    visit = open_page(address, width=320, height=640)
    visit.page.evaluate(OPEN_ALL)
    assert visit.page.evaluate("document.scrollingElement.scrollWidth") <= 320
    assert visit.page.evaluate(UNREACHABLE) == []
    wide = visit.page.locator(".math-scroll[tabindex='0']")
    assert wide.count() >= 2
    wide.last.focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.wait_for_function("document.activeElement.scrollLeft > 0")
    assert axe(visit.page, "phone") == []


def test_the_first_tab_skips_to_the_text(address, open_page):
    page = open_page(address).page
    page.keyboard.press("Tab")
    assert "Skip to the text" in focused(page)
    # It slides in, and the jump is a task of its own: each is waited for, and must come.
    page.wait_for_function("document.activeElement.getBoundingClientRect().top >= 0")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id === 'main-content'")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_colours_follow_the_system_and_the_switch_and_are_kept(address, open_page):
    page = open_page(address, scheme="light").page
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    switch = page.get_by_role("button", name="Colours: as the system")
    switch.focus()
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = page.evaluate(ground)
    assert dark != light
    expect(page.get_by_role("button", name="Colours: dark")).to_have_count(1)
    page.reload()
    assert page.evaluate(ground) == dark
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Colours: dark").press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.get_by_role("button", name="Colours: light").press("Enter")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")


def test_chapters_open_and_close_by_keyboard_on_a_phone(address, open_page):
    page = open_page(address, width=360).page
    toggle = page.get_by_role("button", name="Chapters")
    links = page.get_by_role("navigation", name="Chapters")
    expect(links).to_be_hidden()
    toggle.press("Enter")
    expect(toggle).to_have_attribute("aria-expanded", "true")
    expect(links.get_by_role("link", name="Second page")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    expect(links).to_be_hidden()
    assert page.evaluate("document.activeElement.className").endswith("nav-toggle")


def test_boxes_open_by_keyboard_and_for_a_link_into_them(address, open_page):
    page = open_page(address).page
    boxes = page.locator("article details")
    assert boxes.count() >= 4, "hidden input, two dropdowns, a solution"
    for i in range(boxes.count()):
        summary = boxes.nth(i).locator("summary").first
        assert summary.inner_text().strip()
        summary.press("Enter")
        expect(boxes.nth(i), summary.inner_text()).to_have_attribute("open", "")
    hidden = boxes.locator("code").first
    hidden.evaluate("code => { code.id = 'inside'; code.closest('details').open = false }")
    page.evaluate("location.hash = '#inside'")
    page.wait_for_function("document.getElementById('inside').closest('details').open")


def test_code_is_copied_by_keyboard(address, open_page):
    page = open_page(address, permissions=["clipboard-read", "clipboard-write"]).page
    button = page.get_by_role("button", name="Copy the code").first
    button.press("Enter")
    page.get_by_text("Copied.").wait_for(state="attached")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("import numpy as np") and "Copy" not in copied


@pytest.mark.parametrize(
    ("query", "found", "not_found"),
    [
        ("softmax", "Scaled dot-product attention", "Second page"),
        ("注意力", "Scaled dot-product attention", "Second page"),
        ("机制是什么", "Scaled dot-product attention", "Second page"),
        ("编码器", "Second page", "Scaled dot-product attention"),
        ("码", "Second page", "Scaled dot-product attention"),
        ("编码器 encoder", "Second page", "Scaled dot-product attention"),
        ("机器", None, "Second page"),
    ],
)
def test_search_finds_words_of_both_languages(address, open_page, query, found, not_found):
    visit = open_page(address)
    page = visit.page
    page.keyboard.press("Control+k")
    page.keyboard.type(query)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=*")
    expect(page.locator("#search-progress")).to_contain_text(query)
    places = page.locator("ul.search > li")
    titles = [title for text in places.all_inner_texts() for title in TITLES if title in text]
    assert (found in titles) if found else not titles
    assert not_found not in titles
    if found:
        text = page.locator("ul.search .context").first
        text.wait_for()
        assert "\\" not in text.inner_text(), "no TeX in the excerpt"
    assert visit.complaints == []
    expect(page.locator(".search-page input")).to_have_value(query)


def test_search_works_in_pages_opened_as_files(book, open_page):
    visit = open_page((book / "search.html").as_uri() + "?q=softmax")
    visit.page.locator("ul.search > li .context").first.wait_for()
    assert visit.complaints == []


def test_formulas_are_set_in_their_font_with_brackets_that_stretch(address, open_page):
    page = open_page(address).page
    page.wait_for_function("document.fonts.check('16px \"Latin Modern Math\"')")
    height = "e => e.getBoundingClientRect().height"
    block = page.locator("#equation-eq-attention")
    brackets = [b.evaluate(height) for b in block.locator("mo", has_text="(").all()]
    assert max(brackets) > 2 * min(brackets), brackets
    fraction = block.locator("mfrac").evaluate(height)
    assert max(brackets) >= 0.95 * fraction
    brace = page.locator("#equation-eq-cases mo", has_text="{").first.evaluate(height)
    assert brace > 1.8 * min(brackets)
    root = page.locator("h2 + p msqrt, li msqrt").first
    assert root.evaluate("e => getComputedStyle(e).fontFamily").startswith('"Latin Modern Math"')
    link = page.locator("a[href='#equation-eq-attention']", has_text="(1)").first
    assert link.inner_text() == "(1)"
    assert page.locator("script[src*=mathjax i]").count() == 0


def test_a_page_is_whole_without_javascript(address, open_page):
    page = open_page(address, java_script_enabled=False, width=360).page
    assert page.get_by_role("navigation", name="Chapters").get_by_role("link").first.is_visible()
    assert page.locator(".theme-switch").is_hidden() and page.locator(".nav-toggle").is_hidden()
    assert page.locator("#equation-eq-attention math").is_visible()
    dark = open_page(address, java_script_enabled=False, scheme="dark").page
    colours = [p.evaluate("getComputedStyle(document.body).backgroundColor") for p in (page, dark)]
    assert colours[0] != colours[1]


def test_on_paper_every_tab_and_box_is_there_and_the_frame_is_not(address, open_page):
    page = open_page(address, scheme="dark", width=627).page
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for left_out in (".bar", ".chapters", ".here", ".turn", ".copy", ".sd-tab-set input"):
        assert page.locator(left_out).first.is_hidden(), left_out
    assert page.locator(".sd-tab-content:visible").all_inner_texts() == ["first", "second"]
    for words in ("Hidden text with", "What does doubling", "The note."):
        assert page.get_by_text(words).first.is_visible(), words
    assert page.locator("details.hide .cell_input").first.is_hidden()
    assert (
        page.get_by_text("PyTorch", exact=True).evaluate(
            "link => getComputedStyle(link, '::after').content"
        )
        == '" (https://pytorch.org)"'
    )
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert max(map(int, re.findall(r"\d+", ink))) < 64, "dark ink on paper"
    assert page.evaluate("document.documentElement.scrollWidth") <= 627
    assert page.evaluate(CUT_OFF, 627) == []


def test_whoever_wants_less_motion_gets_none(address, open_page):
    page = open_page(address, reduced_motion="reduce").page
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    assert page.locator(".copy").first.evaluate("e => getComputedStyle(e).transitionDuration") in {
        "0s",
        "0s, 0s",
    }
