"""404.html as a server hands it out: for any address, at any depth, below a sub-path."""

from pathlib import Path

import pytest
from conftest import QuietHandler, serving
from playwright.sync_api import expect
from test_pages import OPEN_ALL, axe


class PagesHandler(QuietHandler):
    """What is not there is answered with 404.html, as GitHub Pages does it."""

    def send_error(self, code, message=None, explain=None):
        if code != 404:
            return super().send_error(code, message, explain)
        page = Path(self.directory, "404.html").read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(page)


@pytest.fixture(scope="module")
def host(html):
    with serving(html, answers=PagesHandler) as address:
        yield address


@pytest.mark.parametrize("missing", ["nothing.html", "any/deep/path/", "chapters/old.html?a=b"])
def test_the_links_of_not_found_lead_into_the_book_from_any_depth(host, html, open_page, missing):
    page = open_page(host + missing).page
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    assert page.evaluate("getComputedStyle(document.body).margin") == "0px", "the style sheet came"
    chapters = page.get_by_role("navigation", name="Chapters").get_by_role("link")
    assert chapters.count() > 20
    for address in page.evaluate("[...document.links].map((link) => link.href)"):
        if address.startswith(host):
            path = address.removeprefix(host).partition("#")[0]
            assert not path or (html / path).is_file(), address
    assert page.url == host + missing
    page.get_by_label("What to look for").fill("ALiBi")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{host}search.html?q=ALiBi")
    expect(page.locator("ul.search > li").first).to_be_visible()


def test_not_found_works_by_keyboard_and_on_a_small_phone_in_both_colours(host, open_page):
    address = f"{host}any/deep/path.html"
    for scheme in ("light", "dark"):
        page = open_page(address, width=320, height=640, scheme=scheme).page
        page.evaluate(OPEN_ALL)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 320
        assert axe(page, scheme) == []
        assert page.locator("html").get_attribute("data-theme") == scheme
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id === 'main-content'")
    assert page.url == f"{address}#main-content", "the skip link stays on the page"
    page.keyboard.press("Tab")
    expect(page.get_by_label("What to look for")).to_be_focused()


def test_not_found_says_something_without_scripts(host, open_page):
    page = open_page(f"{host}nothing.html", java_script_enabled=False).page
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    assert page.locator("noscript p:visible").inner_text().startswith("The search needs JavaScript")
