"""Where in the book a section is: its title, and its address when the book's is known."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from attnkit import checks
from classroom.assignment import Assignment, ClassroomError
from classroom.planning import Graded

CHAPTERS = Path(__file__).resolve().parent.parent / "chapters"


class Section(NamedTuple):
    """A section to read again; ``address`` is empty when nobody said where the book is."""

    label: str = ""
    title: str = ""
    address: str = ""


class Sections:
    """Finds the sections of an assignment in a book at ``book``.

    Raises:
        ClassroomError: for an address that is none.
    """

    def __init__(self, assignment: Assignment, book: str = ""):
        if book and urlsplit(book).scheme not in ("http", "https", "file"):
            raise ClassroomError(
                f"--book {book}: the address of the book's first page is expected, for example "
                "https://example.org/attention/"
            )
        self.book = re.sub(r"(/index\.html|/)?$", "/", book, count=1) if book else ""
        self.pages = {_number(n.chapter): n.chapter for n in assignment.notebooks}

    def of(self, graded: Graded) -> Section:
        """The section to read for a result: none for a right one, or where none is named."""
        outcome, question = graded.outcome, graded.question
        if graded.diagnosis in ("right", "read", "not-read-yet"):
            return Section()
        label = (outcome.link if outcome else "") or question.link
        title = (outcome.section if outcome else "") or _titles().get(label, "")
        if not title:
            return Section()
        page = self.pages.get(_number(label)) or _chapters().get(_number(label), "")
        address = f"{self.book}chapters/{quote(page)}.html#{quote(label)}"
        return Section(label, title, address if self.book and page else "")


def _number(name: str) -> int:
    """The number of the chapter of ``03-name`` and of the label ``ch3-name``."""
    found = re.match(r"(?:ch)?(\d+)-", name)
    return int(found[1]) if found else 0


@cache
def _chapters() -> dict[int, str]:
    return {_number(path.stem): path.stem for path in sorted(CHAPTERS.glob("[0-9]*.md"))}


@cache
def _titles() -> dict[str, str]:
    """The titles of the sections that the exercises link to."""
    exercises = (checks.exercise(id) for id in checks.exercise_ids())
    return {label: title for e in exercises for label, title in e.sections.items()}
