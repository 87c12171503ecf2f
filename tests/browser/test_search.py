"""The search of the built book: what readers type finds its place, over http and from a file."""

import gzip
import json
import re

import pytest
from playwright.sync_api import expect
from search_queries import QUERIES
from test_pages import axe

#: kB after gzip of all that a search loads: two thirds of a first visit's budget.
SEARCH = 230
FIRST_THREE = """(queries) => queries.map((query) => bookFind(query).results.slice(0, 3).map(
  ({ id }) => {
    const { place, page } = bookPlaces[id];
    return { page: page.u, ids: place.ids, title: place.t, first: page.s[0] === place };
  }))"""


@pytest.fixture(scope="module")
def book(html) -> dict:
    text = (html / "search-sections.js").read_text(encoding="utf-8")
    return json.loads(re.fullmatch(r"bookSearch\((.*)\);\s*", text, re.S)[1])


def is_place(found: dict, wanted: str) -> bool:
    number, _, part = wanted.partition("#")
    if not re.search(rf"(^|/){number}-", found["page"]):
        return False
    names = [*found["ids"], found["title"].split(" · ")[0].lower()]
    return part.lower() in names or part in names if part else found["first"]


def shown(results: list[dict]) -> str:
    return "; ".join(f"{one['page']} {one['title'][:50]!r}" for one in results) or "nothing"


def searched(open_page, site, query):
    """The search page when it shows what it has found."""
    visit = open_page(f"{site}search.html?q={query}")
    expect(visit.page.locator("#search-results li").first).to_be_visible()
    return visit


def test_each_query_finds_its_place_among_the_first_three(site, open_page):
    visit = searched(open_page, site, "attention")
    answers = visit.page.evaluate(FIRST_THREE, list(QUERIES))
    missed = [
        f"{query!r}: {wanted} is not in: {shown(results)}"
        for (query, wanted), results in zip(QUERIES.items(), answers, strict=True)
        if not any(is_place(one, wanted) for one in results)
    ]
    assert len(QUERIES) >= 60 and not missed, "\n".join(missed)
    assert visit.complaints == []


def test_each_term_of_the_glossary_is_found_by_both_of_its_names(site, open_page, book):
    entries = [place for page in book["pages"] for place in page["s"] if place.get("k") == "term"]
    names = [(name, entry["t"]) for entry in entries for name in entry["t"].split(" · ")]
    assert len(names) > 100
    page = searched(open_page, site, "attention").page
    answers = page.evaluate(FIRST_THREE, [name for name, _ in names])
    missed = [
        f"{name!r}: {shown(results)}"
        for (name, title), results in zip(names, answers, strict=True)
        if title not in [one["title"] for one in results]
    ]
    assert not missed, "\n".join(missed)


def test_every_place_of_the_search_exists(html, book):
    for page in book["pages"]:
        ids = set(re.findall(r'\bid="([^"]*)"', (html / page["u"]).read_text(encoding="utf-8")))
        for number, place in enumerate(page["s"]):
            assert place["t"], f"{page['u']}: a place without a title: {place['x'][:60]}"
            assert number == 0 or place["ids"][0] in ids, f"{page['u']}#{place['ids'][0]}"


@pytest.mark.parametrize("way", ["http", "file"])
def test_a_result_shows_what_it_is_about(html, site, open_page, way):
    address = f"{site}search.html" if way == "http" else (html / "search.html").as_uri()
    visit = open_page(f"{address}?q=sinusoidal%20encoding")
    page = visit.page
    first = page.locator("ul.search > li").first
    expect(first.get_by_role("link")).to_be_visible()
    expect(first.locator(".context mark").first).to_contain_text("encoding", ignore_case=True)
    expect(page.locator("#search-progress[role=status]")).to_contain_text(
        "found for “sinusoidal encoding”."
    )
    asked = len(visit.requests)
    field = page.get_by_label("What to look for")
    expect(field).to_have_value("sinusoidal encoding")
    field.fill("注意力")
    expect(page.locator("#search-progress[role=status]")).to_contain_text("found for “注意力”.")
    marked = page.locator("ul.search .context mark [lang=zh-Hans]").first
    expect(marked).to_have_text("注意力")
    assert visit.requests[asked:] == [], "another search fetches nothing"
    first.get_by_role("link").click()
    expect(page.locator("main h1")).to_be_visible()
    assert visit.complaints == []


def test_what_is_not_there_is_said_with_a_way_on(site, open_page):
    page = open_page(f"{site}search.html?q=zzqxv").page
    told = page.locator("#search-progress[role=status]")
    expect(told).to_contain_text("Nothing found for “zzqxv”.")
    expect(told).to_contain_text("the term in English")
    expect(page.locator("#search-results li")).to_have_count(0)
    page.get_by_label("What to look for").fill("softmax zzqxv")
    expect(told).to_contain_text("No place has all the words")
    expect(page.locator("#search-results li").first).to_contain_text("softmax", ignore_case=True)
    page.get_by_label("What to look for").fill("<img src=x onerror=alert(1)>")
    expect(told).to_contain_text("<img src=x onerror=alert(1)>")
    page.get_by_label("What to look for").fill("")
    expect(told).to_be_empty()


def test_many_results_come_in_two_steps_and_the_focus_goes_on(site, open_page):
    page = open_page(f"{site}search.html?q=attention").page
    links = page.locator("ul.search > li > a")
    expect(links).to_have_count(20)
    page.get_by_role("button", name="more").press("Enter")
    expect(links.nth(20)).to_be_focused()
    expect(page.get_by_role("button", name="more")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_results_are_readable_on_a_small_phone(site, open_page, scheme):
    visit = open_page(f"{site}search.html?q=masked%20softmax", width=320, scheme=scheme)
    expect(visit.page.locator("mark.highlighted").first).to_be_visible()
    assert axe(visit.page, scheme) == []
    assert visit.page.evaluate("document.scrollingElement.scrollWidth") <= 320


def test_all_that_a_search_loads_stays_within_its_budget(site, html, open_page):
    before = open_page(f"{site}search.html").requests
    assert not [url for url in before if "search-sections" in url], "nothing is looked for yet"
    visit = searched(open_page, site, "mask")
    sizes = {
        url: len(gzip.compress((html / url.removeprefix(site).partition("?")[0]).read_bytes(), 9))
        for url in dict.fromkeys(visit.requests)
        if not url.endswith("woff2")
    }
    assert sum(sizes.values()) <= SEARCH * 1000, sizes
