"""The whole book as one PDF: title page, contents with page numbers, every page of the site.

The document is printed, the pages of its headings are read back, written into the contents, and it
is printed again; if that moved anything, once more.
"""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from os.path import relpath
from pathlib import Path

from playwright.sync_api import Browser
from pypdf import PdfReader

from bookext.pdf import chromium, compose
from bookext.pdf.finish import finish

STYLE = Path(__file__).with_name("whole.css")
SHEETS = ("book.css", "widget-host.css", "sphinx-design.min.css", "print.css")
MARKS = ("mark.svg", "mark.png")
#: Printed at most so often until the numbers of the contents hold.
PASSES = 4
STEPS = 4  # composed, printed, printed with page numbers, finished
NUMBER = """(numbers) => {
  for (const place of document.querySelectorAll("[data-page-of]")) {
    place.textContent = numbers[place.dataset.pageOf];
  }
}"""


class Unsettled(RuntimeError):
    """The page numbers of the contents could not be made true."""


@dataclass(frozen=True)
class Book:
    """What the title page and the metadata say."""

    site: Path
    root: str
    title: str
    author: str
    licence: str
    subtitle: str = ""
    address: str = ""
    language: str = "en"


def described(site: Path, root: str, config: dict) -> Book:
    """The book of a built site; what the configuration does not say is read off the first page."""
    front = (site / f"{root}.html").read_text(encoding="utf-8")

    def read(pattern: str) -> str:
        found = re.search(pattern, front)
        return html.unescape(found[1]) if found else ""

    canonical = read(r'<link rel="canonical" href="([^"]*)"')
    return Book(
        site=site,
        root=root,
        title=config["title"],
        author=config.get("author", ""),
        licence=config.get("sphinx", {}).get("config", {}).get("bookext_licence", ""),
        subtitle=read(r'<meta name="description" content="([^"]*?[.?!])(?= |")'),
        address=canonical.removesuffix(f"{root}.html"),
        language=read(r'<html[^>]* lang="([^"]*)"') or "en",
    )


def document(book: Book, to_site: str) -> tuple[str, list[str]]:
    """The HTML of the whole book, and the ids that its contents name."""
    pages = compose.pages(book.site, book.root)
    for page in pages:
        compose.fill(page, book.site, pages, to_site, book.address)
    named = [id_ for page in pages for id_ in (page.id, *(id_ for id_, _ in sections(page)))]
    sheets = [name for name in SHEETS if (book.site / "_static" / name).is_file()]
    links = "".join(f'<link rel="stylesheet" href="{to_site}_static/{n}">\n' for n in sheets)
    articles = "".join(
        f'<article class="text" id="{page.id}">{chapter_number(page)}{page.body}</article>\n'
        for page in pages
    )
    text = (
        f'<!DOCTYPE html>\n<html lang="{book.language}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(book.title)}</title>\n"
        f'<meta name="author" content="{html.escape(book.author)}">\n{links}'
        f"<style>\n{STYLE.read_text(encoding='utf-8')}{running_titles(book, pages)}</style>\n"
        f'<script src="{to_site}_static/print.js" defer></script>\n</head>\n<body>\n<main>\n'
        f"{title_page(book, to_site)}{contents(pages)}{articles}</main>\n</body>\n</html>\n"
    )
    return text, named


def sections(page: compose.Page) -> list[tuple[str, str]]:
    """The sections that the contents name: those of numbered chapters."""
    return page.sections if page.number else []


def chapter_number(page: compose.Page) -> str:
    return f'<p class="chapter-number">Chapter {page.number}</p>' if page.number else ""


def running_titles(book: Book, pages: list[compose.Page]) -> str:
    """A named sort of sheet for each page of the site, its title at the top."""
    rules = [f"@page {{ @top-right {{ content: {quoted(book.title)} }} }}"]
    for number, page in enumerate(pages):
        title = f"{page.number}  {page.title}" if page.number else page.title
        rules.append(
            f'[id="{page.id}"] {{ page: p{number} }} '
            f"@page p{number} {{ @top-left {{ content: {quoted(title)} }} }}"
        )
    return "\n".join(rules)


def quoted(title: str) -> str:
    """A title as CSS writes a text; it stands in HTML, where ``<`` would end the style."""
    words = html.unescape(re.sub(r"<[^>]*>", "", title))
    return json.dumps(words, ensure_ascii=False).replace("<", r"\3c ")


def title_page(book: Book, to_site: str) -> str:
    mark = next((name for name in MARKS if (book.site / "_static" / name).is_file()), None)
    picture = f'<img class="mark" src="{to_site}_static/{mark}" alt="">' if mark else ""
    address = html.escape(book.address)
    lines = [
        f'<p class="subtitle">{html.escape(book.subtitle)}</p>' if book.subtitle else "",
        f'<p class="author">{html.escape(book.author)}</p>',
        f'<p class="small">{html.escape(book.licence[0].upper() + book.licence[1:])}.</p>'
        if book.licence
        else "",
        f'<p class="small"><a class="printed" href="{address}">{address}</a></p>'
        if address
        else "",
        '<p class="small">Printed from the pages of the book. A widget stands here as it begins; '
        "code that only draws is left out; answers and hints are at the end of a chapter.</p>",
    ]
    return (
        f'<section class="title-page">{picture}<h1>{html.escape(book.title)}</h1>{"".join(lines)}'
        "</section>\n"
    )


def contents(pages: list[compose.Page]) -> str:
    lines, part = [], ""
    for page in pages:
        if page.part != part:
            part = page.part
            lines.append(f'<p class="part">{part}</p>')
        number = f'<span class="number">{page.number}</span>' if page.number else ""
        lines.append(_line("chapter", page.id, number + page.title))
        lines += [_line("section", id_, title) for id_, title in sections(page)]
    return f'<nav class="contents"><h1>Contents</h1><div>{"".join(lines)}</div></nav>\n'


def _line(kind: str, id_: str, title: str) -> str:
    title = re.sub(r' id="[^"]*"', "", title)
    return (
        f'<p class="{kind}"><a href="#{id_}"><span class="title">{title}</span>'
        f'<span class="page-number" data-page-of="{id_}">000</span></a></p>'
    )


def page_numbers(file: Path, ids: list[str]) -> dict[str, int]:
    """id → the page, from 1, on which it is printed."""
    reader = PdfReader(file)
    places = {
        name.removeprefix("/"): reader.get_destination_page_number(place)
        for name, place in reader.named_destinations.items()
    }
    lost = [id_ for id_ in ids if places.get(id_) is None]
    if lost:
        raise Unsettled(
            f"The contents name {', '.join(lost[:3])}, which {file.name} does not hold."
        )
    return {id_: places[id_] + 1 for id_ in ids}


def make(browser: Browser, book: Book, target: Path, paper: str, tell: Callable[[], None]) -> None:
    """Write the PDF; ``tell`` is called after each of STEPS steps."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = target.with_suffix(".html")
    text, ids = document(book, Path(relpath(book.site, target.parent)).as_posix() + "/")
    source.write_text(text, encoding="utf-8")
    tell()
    try:
        with chromium.opened(browser, source) as page:
            shown: dict[str, int] = {}
            for _ in range(PASSES):
                chromium.to_pdf(page, target, paper)
                tell()
                numbers = page_numbers(target, ids)
                if numbers == shown:
                    break
                page.evaluate(NUMBER, numbers)
                shown = numbers
            else:
                raise Unsettled(
                    f"The contents moved the pages that they number in {PASSES} prints running. "
                    "Give .page-number in bookext/pdf/whole.css a fixed width."
                )
    finally:
        source.unlink()
    finish(target, book.author)
    tell()
