"""What others read of a page, and the files for who finds nothing: with an address and without."""

import json
import re
import shutil
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from small_book import NOTEBOOK, build

ADDRESS = "https://someone.example/a-course/"
PROJECT = "https://gitlab.com/group/project"
OWN = 'A "good" word, </script> & 注意力.'
HEADER = NOTEBOOK.replace(
    "kernelspec:",
    f"myst:\n  html_meta:\n    description: {json.dumps(OWN, ensure_ascii=False)}\nkernelspec:",
)
PAGES = {
    "intro": "# The book\n\nIt begins here, with $\\frac{a}{\\sqrt{d_k}}$, and goes on for a while."
    "\n\n```{toctree}\nparts/one\nparts/two\n```\n",
    "parts/one": HEADER + "# One `</script>` & more\n\nText.\n\n```{code-cell} ipython3\n1\n```\n",
    "parts/two": "# Two\n\n**The question.** What does one vector cost, if it has to hold all that"
    " came before? It costs something. " + "And the text goes on. " * 20,
}
PARTS = ("address", "mathml", "theme", "search", "reach")


def small(folder, base: str, project: str = ""):
    shutil.rmtree(folder / "jupyter_execute", ignore_errors=True)  # Sphinx would read it
    built = build(
        folder,
        PAGES,
        parts=PARTS,
        theme="sphinx_book_theme",
        extra=f'html_title = "Small book"\nroot_doc = "intro"\nhtml_baseurl = "{base}"\n'
        f'html_theme_options = {{"repository_url": "{project}"}}\n',
    )
    assert built.status == 0, built.log
    return built


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return small(tmp_path_factory.mktemp("published"), ADDRESS, PROJECT + ".git")


@pytest.fixture(scope="module")
def unpublished(published, tmp_path_factory):
    """Built over the other one: what only an address makes must go."""
    return small(published.folder.parent, "")


class Head(HTMLParser):
    """Meta tags by name, links by rel, and every address in the page."""

    def __init__(self, text: str):
        super().__init__()
        self.meta: dict[str, list[str]] = {}
        self.links: dict[str, list[str]] = {}
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in attrs}
        name = values.get("name") or values.get("property")
        if tag == "meta" and name:
            self.meta.setdefault(name, []).append(values["content"])
        if tag == "link":
            self.links.setdefault(values["rel"], []).append(values["href"])
        self.addresses += [values[n] for n in ("href", "src", "action") if values.get(n)]


def data(page: str) -> dict:
    [found] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.S)
    return json.loads(found)


@pytest.fixture(scope="module")
def read(published) -> dict[str, str]:
    names = ["index", *PAGES, "search", "genindex", "404"]
    return {name: published.page(name) for name in names}


def test_a_page_has_its_own_description_or_its_first_sentences_once(read):
    expected = {
        "intro": "It begins here, with a/√d_k, and goes on for a while.",
        "parts/one": OWN,
        "parts/two": "What does one vector cost, if it has to hold all that came before?"
        " It costs something. And the text goes on. And the text goes on. And the text goes on.",
    }
    for name, words in expected.items():
        meta = Head(read[name]).meta
        assert meta["description"] == meta["og:description"] == [words], name
        assert data(read[name])["description"] == words
    assert Head(read["index"]).meta["description"] == [expected["intro"]]


def test_card_and_canonical_addresses_are_those_of_the_page(read):
    for name in ["intro", "parts/one", "parts/two", "genindex"]:
        head = Head(read[name])
        address = f"{ADDRESS}{name}.html"
        assert head.meta["og:url"] == head.links["canonical"] == [address], name
        assert head.meta["og:image"] == [f"{ADDRESS}_static/card.png"]
        assert head.meta["og:image:alt"][0] and head.meta["og:site_name"] == ["Small book"]
        assert head.meta["og:type"] == ["website" if name == "intro" else "article"]
        assert head.meta["twitter:card"] == ["summary_large_image"]
    assert Head(read["parts/one"]).meta["og:title"] == ["One </script> & more"]


def test_the_front_door_says_that_the_start_page_is_the_page(read):
    head = Head(read["index"])
    assert head.links["canonical"] == head.meta["og:url"] == [f"{ADDRESS}intro.html"]
    assert "0; url=intro.html" in read["index"]
    assert head.meta["og:title"] == ["Small book"]


def test_pages_that_are_no_text_are_not_to_be_indexed(read):
    for name in ("search", "404"):
        head = Head(read[name])
        assert head.meta["robots"] == ["noindex"] and "canonical" not in head.links, name
        assert "application/ld+json" not in read[name]


def test_the_data_of_a_page_is_part_of_the_course(read):
    course, page = data(read["intro"]), data(read["parts/one"])
    assert (course["@type"], page["@type"]) == ("Course", "LearningResource")
    assert page["name"] == "One </script> & more"
    assert page["isPartOf"]["url"] == course["url"] == f"{ADDRESS}intro.html"
    assert page["url"] == f"{ADDRESS}parts/one.html"
    for one in (course, page):
        assert one["@context"] == "https://schema.org" and one["inLanguage"] == "en"
        assert one["license"] == "https://creativecommons.org/licenses/by/4.0/"


def test_every_address_of_the_sitemap_is_there_and_none_is_missing(published):
    tree = ElementTree.parse(published.folder / "sitemap.xml")
    name = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    found = [one.text for one in tree.iterfind(f"{name}url/{name}loc")]
    assert found == [f"{ADDRESS}{page}.html" for page in sorted(PAGES)]
    for address in found:
        assert (published.folder / address.removeprefix(ADDRESS)).is_file()
    robots = (published.folder / "robots.txt").read_text()
    assert f"Sitemap: {ADDRESS}sitemap.xml" in robots.splitlines()


def test_not_found_has_links_from_the_root_of_the_host_where_the_address_is_known(published, read):
    within = [a for a in Head(read["404"]).addresses if not a.startswith(("https:", "#"))]
    for address in within:
        assert address.startswith("/a-course/"), address
        target = address.removeprefix("/a-course/").partition("?")[0]
        assert (published.folder / target).is_file(), address
    assert "/a-course/parts/two.html" in within and "XMLHttpRequest" not in read["404"]


def test_not_found_is_in_no_list_and_not_in_the_search(published):
    for name in ("sitemap.xml", "search-sections.js"):
        assert "404" not in (published.folder / name).read_text(encoding="utf-8"), name


def test_without_an_address_no_page_claims_one(read, unpublished):
    for name in [*PAGES, "index", "404", "genindex"]:
        head = Head(unpublished.page(name))
        assert not {"og:url", "og:image"} & head.meta.keys(), name
        assert "canonical" not in head.links
        assert head.meta["og:title"][0] and head.meta["twitter:card"] == ["summary"]
        assert ADDRESS not in unpublished.page(name)
    assert not (unpublished.folder / "sitemap.xml").exists()
    assert not (unpublished.folder / "robots.txt").exists()
    links = Head(unpublished.page("404")).addresses
    assert "parts/two.html" in links and not [one for one in links if one.startswith("/")]


def test_the_foot_of_each_page_links_the_project_where_it_is_known(read, unpublished):
    for name in [*PAGES, "search", "genindex", "404"]:
        assert f'<a href="{PROJECT}">The project</a>' in read[name], name
        assert "The project<" not in unpublished.page(name), name


def test_each_page_says_once_how_wide_it_is(read):
    for name in [*PAGES, "search", "genindex", "404"]:
        (said,) = Head(read[name]).meta["viewport"]
        assert "width=device-width" in said, name


def test_icons_are_there(published, read):
    for name in read:
        links = Head(read[name]).links
        for address in [*links["icon"], *links["apple-touch-icon"]]:
            path = address.removeprefix("/a-course/")
            assert (published.folder / name).parent.joinpath(path).resolve().is_file(), name
