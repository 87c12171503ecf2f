"""Read a chapter's MyST source: its header, its cells with their lines, its Markdown tokens.

Cells are cut exactly as myst-nb cuts them (tests/test_lint.py compares the two), but each knows the
lines that it occupies in the file, so that a message can name them and a line can be replaced.
"""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from markdown_it.renderer import RendererHTML
from myst_nb.core.read import MystMetadataParsingError, _read_cell_metadata, _read_fenced_cell
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from sphinx.errors import SphinxError

EXTENSIONS = {"amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"}


class SourceError(SphinxError):
    """Something in a source file is wrong; the message begins with file and line."""

    category = "Error in a source file"

    def __init__(self, path, line: int, message: str):
        super().__init__(f"{path}:{line}: {message}")
        self.path, self.line, self.message = path, line, message


@dataclass
class Cell:
    """One cell; ``start`` and ``end`` are the 0-based lines of the file that it occupies."""

    kind: str
    source: str
    metadata: dict[str, Any]
    start: int
    end: int
    body: int
    language: str = ""

    @property
    def line(self) -> int:
        """The line of the file to name in a message, from 1."""
        return self.start + 1

    @property
    def tags(self) -> list[str]:
        tags = self.metadata.get("tags") or []
        return [tags] if isinstance(tags, str) else [str(tag) for tag in tags]

    @property
    def nbgrader(self) -> dict[str, Any] | None:
        return self.metadata.get("nbgrader")


@dataclass
class Page:
    path: Path
    lines: list[str]
    header: dict[str, Any] = field(default_factory=dict)
    header_end: int = 0
    cells: list[Cell] = field(default_factory=list)

    @property
    def is_notebook(self) -> bool:
        """Whether myst-nb reads the file as a notebook and executes it."""
        jupytext = self.header.get("jupytext") or {}
        form = (jupytext.get("text_representation") or {}).get("format_name")
        return form == "myst" or self.header.get("file_format") == "mystnb"


@cache
def _parser(inline: bool):
    disabled = [] if inline else ["inline"]
    config = MdParserConfig(enable_extensions=set(EXTENSIONS), disable_syntax=disabled)
    return create_md_parser(config, RendererHTML)


def tokens_of(text: str, *, inline: bool = True):
    """The markdown-it tokens of a text, with the course's MyST extensions."""
    return _parser(inline).parse(text + "\n", {})


def read_page(path: Path | str, text: str | None = None) -> Page:
    """Read a source file (or ``text`` in its place) into header and cells."""
    path = Path(path)
    text = path.read_text("utf-8") if text is None else text
    page = Page(path, text.splitlines())
    tokens = tokens_of(text, inline=False)
    start = 0
    if tokens and tokens[0].type == "front_matter":
        token = tokens.pop(0)
        start = page.header_end = token.map[1]
        try:
            page.header = yaml.safe_load(token.content) or {}
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = 2 + (mark.line if mark else 0)
            problem = getattr(error, "problem", None) or str(error)
            raise SourceError(path, line, f"the header is not valid YAML: {problem}") from None
        if not isinstance(page.header, dict):
            raise SourceError(path, 2, "the header must be a YAML mapping (key: value)")

    metadata: dict[str, Any] = {}

    def flush(end: int):
        body = page.lines[start:end]
        blank = next((i for i, line in enumerate(body) if line.strip()), len(body))
        source = "\n".join(body[blank:]).rstrip()
        if source:
            page.cells.append(Cell("markdown", source, metadata, start, end, start + blank))

    level = 0
    for index, token in enumerate(tokens):
        level += token.nesting
        if level != 0 or token.map is None:
            continue
        first, last = token.map
        kind = _cell_kind(token)
        if kind:
            flush(first)
            options, body = _read(path, token, _read_fenced_cell, kind.title())
            content = len(token.content.splitlines())
            language = token.info.split("}", 1)[1].strip() if "}" in token.info else ""
            at = first + 1 + content - len(body)
            cell = Cell(kind, "\n".join(body), options, first, last, at, language)
            page.cells.append(cell)
            metadata, start = {}, last
        elif token.type == "myst_block_break":
            flush(first)
            metadata = _read(path, token, _read_cell_metadata, index)
            start = last
    flush(len(page.lines))
    return page


def _cell_kind(token) -> str:
    if token.type != "fence":
        return ""
    if token.info.startswith("{code-cell}"):
        return "code"
    return "raw" if token.info.startswith("{raw-cell}") else ""


def _read(path: Path, token, reader, label):
    try:
        return reader(token, 0, label) if reader is _read_fenced_cell else reader(token, label)
    except (MystMetadataParsingError, yaml.YAMLError) as error:
        line = token.map[0] + 1
        said = " ".join(str(error).split())
        raise SourceError(path, line, f"the cell's metadata cannot be read: {said}") from None
