"""Read the code cells of a chapter without Sphinx: its MyST source, or a wheel's stripped copy.

It needs the standard library alone, because the build of the package runs it too, where nothing is
installed. The book reads its chapters with myst-nb; a test holds the two to the same cells.
"""

import hashlib
import re
from dataclasses import dataclass, field

FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<info>.*)$")
CELL = re.compile(r"\{code-cell\}")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
OPTION = re.compile(r"^:(?P<key>[\w-]+):\s*(?P<value>.*)$")
GLUED = re.compile(r"\{glue:text\}`(?P<name>[^`:]+)(?::(?P<format>[^`]*))?`")


@dataclass(frozen=True)
class Cell:
    """A code cell; ``line`` is the line of the file on which its code begins, from 1."""

    source: str
    tags: tuple[str, ...]
    graded: bool
    line: int
    section: str

    @property
    def hidden(self) -> bool:
        """Whether the page shows nothing of it: the set-up, glue and the claims."""
        return "remove-cell" in self.tags

    @property
    def runs(self) -> bool:
        """Whether it is executed here: a graded cell holds a question, and what a ``kernel-only``
        cell shows is on no page (most judge the answer to such a question)."""
        return not self.graded and "kernel-only" not in self.tags

    @property
    def shows(self) -> bool:
        """Whether the page shows what it prints."""
        return self.runs and not {"remove-cell", "remove-output"} & set(self.tags)


@dataclass
class Page:
    """The cells of a page in order, its title, and what it asks ``glue`` for: (name, format)."""

    title: str = ""
    cells: list[Cell] = field(default_factory=list)
    glued: list[tuple[str, str]] = field(default_factory=list)

    @property
    def run(self) -> list[Cell]:
        """The cells that are executed."""
        return [cell for cell in self.cells if cell.runs]

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that change with the code that is executed."""
        code = "\0".join(cell.source for cell in self.run)
        return hashlib.sha256(code.encode()).hexdigest()[:16]


def read(text: str) -> Page:
    """Read a page. A file whose header does not say that it is a notebook has no cells.

    >>> read("---\\njupytext: {text_representation: {format_name: myst}}\\n---\\n# A title").title
    'A title'
    """
    lines = text.splitlines()
    page = Page()
    at, executes = _header(lines)
    section = ""
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence:
            end = _closing(lines, at, fence["fence"])
            if CELL.match(fence["info"]) and executes:
                page.cells.append(_cell(lines, at, end, section))
            else:
                page.glued += _roles("\n".join(lines[at:end]))
            at = end + 1
            continue
        if heading := HEADING.match(lines[at]):
            section = plain(heading[2])
            page.title = page.title or section
        page.glued += _roles(lines[at])
        at += 1
    return page


def strip(text: str) -> str:
    """What the package carries of a page: its headings, and the cells that are executed.

    Of a graded cell nothing is left, neither its solution nor its hidden tests nor its question.
    """
    lines = text.splitlines()
    at, executes = _header(lines)
    kept = [*lines[:at], ""] if executes else []
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if not fence:
            kept += [lines[at], ""] if HEADING.match(lines[at]) else []
            at += 1
            continue
        end = _closing(lines, at, fence["fence"])
        if CELL.match(fence["info"]) and executes and _cell(lines, at, end, "").runs:
            kept += [*lines[at : end + 1], ""]
        at = end + 1
    return "\n".join(kept)


def plain(heading: str) -> str:
    """A heading without its markup."""
    return re.sub(r"\[([^\]]*)\]\{[^}]*\}|[`$*\\]", r"\1", heading).strip()


def _header(lines: list[str]) -> tuple[int, bool]:
    """The first line after the header, and whether the page is a notebook."""
    if not lines or lines[0].strip() != "---":
        return 0, False
    end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() in ("---", "...")), 0)
    return end + 1, any("format_name: myst" in line for line in lines[:end])


def _closing(lines: list[str], start: int, fence: str) -> int:
    """The line that closes a fence: of the same sign, at least as long. Or the end of the file."""
    closes = re.compile(rf"^ {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}\s*$")
    after = range(start + 1, len(lines))
    return next((n for n in after if closes.match(lines[n])), len(lines))


def _cell(lines: list[str], start: int, end: int, section: str) -> Cell:
    body, first = lines[start + 1 : end], 0
    header: list[str] = []
    if body and body[0].strip() == "---":
        first = next(n for n, line in enumerate(body[1:], 1) if line.strip() == "---") + 1
        header = body[1 : first - 1]
    else:
        while first < len(body) and OPTION.match(body[first]):
            header.append(body[first][1:].replace(":", ": ", 1))
            first += 1
    while first < len(body) and not body[first].strip():
        first += 1
    code = "\n".join(body[first:])
    graded = any(re.match(r"\s+(grade|solution): true", line) for line in header)
    return Cell(code, tuple(_tags(header)), graded, start + 2 + first, section)


def _tags(header: list[str]) -> list[str]:
    """The tags, written as ``tags: [a, b]`` or as a list of lines."""
    for number, line in enumerate(header):
        if not line.startswith("tags:"):
            continue
        value = line.removeprefix("tags:").strip()
        if value:
            return re.findall(r"[\w-]+", value)
        rest = (re.match(r"\s*-\s+([\w-]+)", after) for after in header[number + 1 :])
        found = []
        for match in rest:
            if not match:
                break
            found.append(match[1])
        return found
    return []


def _roles(text: str) -> list[tuple[str, str]]:
    return [(match["name"].strip(), match["format"] or "") for match in GLUED.finditer(text)]
