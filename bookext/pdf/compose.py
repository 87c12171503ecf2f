"""One HTML document of all articles of the built site, in the order of its list of chapters.

Ids get the name of their page in front; a link to a page of the book becomes a link to its article,
any other link of the site an address, or plain words where the site has none.
"""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from posixpath import basename, dirname, join, normpath
from urllib.parse import unquote, urlsplit

ARTICLE = re.compile(r'<article class="text">(.*)</article>', re.S)
CHAPTERS = re.compile(r'<nav id="chapters".*?</nav>', re.S)
ENTRY = re.compile(
    r'class="caption-text">(?P<part>.*?)</span>'
    r'|<a [^>]*href="(?P<href>[^"#]+)[^"]*">(?P<title>.*?)</a>',
    re.S,
)
#: Labels before a heading: left behind on the sheet before, they would lead links there.
ANCHORED = re.compile(r'((?:<span id="[^"]*"></span>\s*)+)(<h[1-6]>)')
LEFT_OUT = ("script", "noscript", "style")
REFERRING = ("for", "aria-labelledby", "aria-describedby", "aria-controls")
VOID = ("img", "br", "hr", "input", "wbr", "col", "source", "link", "meta")


@dataclass
class Page:
    """A page of the site as it stands in the book."""

    name: str  # "chapters/04-masks"
    title: str  # HTML
    part: str
    body: str = ""
    sections: list[tuple[str, str]] = field(default_factory=list)  # id, title as HTML

    @property
    def id(self) -> str:
        return basename(self.name)

    @property
    def number(self) -> str:
        found = re.match(r"(\d+)-", self.id)
        return str(int(found[1])) if found else ""


class Rewriter(HTMLParser):
    """Writes what it reads, but for scripts, and with ids and links as ``attribute`` says."""

    def __init__(self, attribute: Callable[[str, str, str], str | None]):
        super().__init__(convert_charrefs=False)
        self.attribute = attribute
        self.written: list[str] = []
        self._skipping = 0

    def handle_starttag(self, tag, attrs):
        if tag in LEFT_OUT:
            self._skipping += 1
        if self._skipping:
            return
        kept = [(name, self.attribute(tag, name, value or "")) for name, value in attrs]
        words = [f'{name}="{html.escape(value)}"' for name, value in kept if value is not None]
        self.written.append(f"<{' '.join([tag, *words])}>")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if tag in LEFT_OUT:
            self._skipping -= 1
        elif not self._skipping:
            self.written.append(f"</{tag}>")

    def handle_data(self, data):
        if not self._skipping:
            self.written.append(data)

    def handle_entityref(self, name):
        self.handle_data(f"&{name};")

    def handle_charref(self, name):
        self.handle_data(f"&#{name};")


def pages(site: Path, root: str) -> list[Page]:
    """The root and every page of its list of chapters, without their bodies."""
    listed = CHAPTERS.search((site / f"{root}.html").read_text(encoding="utf-8"))
    if listed is None:
        raise ValueError(f"{site / root}.html has no list of chapters: it is no page of this book.")
    found, part = [Page(root, "Start", "")], ""
    for entry in ENTRY.finditer(listed[0]):
        if entry["part"]:
            part = entry["part"]
        elif entry["href"].endswith(".html"):
            found.append(Page(entry["href"].removesuffix(".html"), entry["title"].strip(), part))
    return found


def fill(page: Page, site: Path, among: list[Page], to_site: str, address: str) -> None:
    """Read the body of a page; ``to_site`` leads from the document to the site's files."""
    text = (site / f"{page.name}.html").read_text(encoding="utf-8")
    article = ARTICLE.search(text)
    if article is None:
        raise ValueError(f"{page.name}.html has no article: it is no page of this book.")
    ids = {other.name: other.id for other in among}

    def attribute(tag: str, name: str, value: str) -> str | None:
        if name == "id":
            return f"{page.id}--{value}"
        if name in REFERRING:
            return " ".join(f"{page.id}--{one}" for one in value.split())
        if name == "src":
            return value if ":" in value else to_site + normpath(join(dirname(page.name), value))
        if name == "href" and tag == "a":
            return link(value)
        return None if name in ("loading", "decoding", "download") else value

    def link(value: str) -> str | None:
        parts = urlsplit(value)
        if parts.scheme or parts.netloc:
            return value
        path = normpath(join(dirname(page.name), parts.path)) if parts.path else f"{page.name}.html"
        target = ids.get(path.removesuffix(".html"))
        if target and path.endswith(".html"):
            return f"#{target}--{unquote(parts.fragment)}" if parts.fragment else f"#{target}"
        return address + path if address else None

    rewriter = Rewriter(attribute)
    rewriter.feed(article[1])
    rewriter.close()
    page.body = ANCHORED.sub(r"\2\1", "".join(rewriter.written))
    if page.name == among[0].name:  # its own title is the book's, which the title page has
        page.body = re.sub(
            r"(<h1>).*?(</h1>)", rf"\1{page.title}\2", page.body, count=1, flags=re.S
        )
    page.sections = [
        (
            found[1],
            re.sub(r'<a class="headerlink".*?</a>|</?a\b[^>]*>', "", found[2], flags=re.S).strip(),
        )
        for found in re.finditer(
            r'<section[^>]*id="([^"]*)"[^>]*>\s*<h2>(?:<span id="[^"]*"></span>\s*)*(.*?)</h2>',
            page.body,
            re.S,
        )
    ]
