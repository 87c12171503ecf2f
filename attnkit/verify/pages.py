"""The pages that can be verified: the chapters of a checkout, or the copies in a wheel."""

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from attnkit.verify.source import Page, read

PACKAGE = Path(__file__).resolve().parent.parent
CHECKOUT = PACKAGE.parent
COPIES = Path(__file__).resolve().parent / "chapters"
START = "intro"


class UnknownPage(ValueError):
    """A chapter was asked for that does not exist; the message lists those that do."""


def number_of(slug: str) -> str:
    """3, a7, or the slug of a page without a number."""
    match = re.match(r"(a?)0*(\d+)-", slug)
    return match[1] + match[2] if match else slug


class Source:
    """A page of the course: where its code is, and how one may call it."""

    def __init__(self, path: Path):
        self.path, self.slug = path, path.stem

    def __repr__(self) -> str:
        return f"Source({self.slug})"

    @cached_property
    def page(self) -> Page:
        return read(self.path.read_text("utf-8"))

    @property
    def number(self) -> str:
        return number_of(self.slug)

    @property
    def label(self) -> str:
        """For a table: "3 Scaled dot-product attention"."""
        number = "" if self.number == self.slug else f"{self.number} "
        return f"{number}{self.page.title}"

    def answers_to(self, name: str) -> bool:
        name = re.sub(r"^(chapters?|appendix|ch)[ /-]*(?=a?\d)", "", name.strip().lower())
        name = re.sub(r"^(a?)0*(\d+)$", r"\1\2", name.removesuffix(".md"))
        slug = self.slug.lower()
        return name in {slug, self.number, slug.partition("-")[2] or slug}


def in_checkout() -> bool:
    """Whether the package stands in the course's repository."""
    return (CHECKOUT / "chapters").is_dir() and (CHECKOUT / "_toc.yml").is_file()


def sources() -> list[Source]:
    """Every page that executes something, in the order of the book."""
    if in_checkout():
        paths = [CHECKOUT / f"{START}.md", *sorted((CHECKOUT / "chapters").glob("*.md"))]
    else:
        paths = sorted(COPIES.glob("*.md"), key=lambda path: (path.stem != START, path.stem))
    found = [Source(path) for path in paths if path.is_file()]
    return [source for source in found if source.page.run]


def select(names: Iterable[str], among: list[Source]) -> list[Source]:
    """The pages of these names, in the order of the book; all of them where no name is given.

    Raises:
        UnknownPage: A name belongs to no page.
    """
    names = list(names)
    unknown = [name for name in names if not any(s.answers_to(name) for s in among)]
    if unknown:
        listed = "\n".join(f"  {s.number:>5}  {s.slug:<24} {s.page.title}" for s in among)
        raise UnknownPage(
            f"There is no chapter {', '.join(map(repr, unknown))} with numbers to measure. Give a "
            f"number or a name of these:\n{listed}"
        )
    return [s for s in among if not names or any(s.answers_to(name) for name in names)]
