"""Code cells: short, tagged from the short list, executed, without tricks."""

import re
from collections.abc import Iterator

from bookext.exercises import rubric_line
from bookext.lint.walk import Finding, directives
from bookext.source import Page

MAX_LINES = 20
TAGS = {"remove-cell", "hide-input", "raises-exception", "nbval-ignore-output", "kernel-only"}
FORBIDDEN_TAGS = {
    "skip-execution": "a cell that is not executed rots; make it quick, or tag it kernel-only",
    "hide-output": "show the output, or hide the cell with remove-cell",
    "remove-input": "readers see every line behind an output; use hide-input",
    "remove-output": "assign the value, or tag the cell kernel-only",
    "hide-cell": "use hide-input, or remove-cell for set-up and asserts",
}
INSTALL = re.compile(r"^\s*[!%]{1,2}\s*(pip|conda|mamba|uv|apt|apt-get)\b|^\s*!")
WARNINGS = re.compile(
    r"\b(filterwarnings|simplefilter|catch_warnings)\s*\(|PYTHONWARNINGS|%%capture"
)


def cells(page: Page) -> Iterator[Finding]:
    """Code cells: short, tagged from the short list, executed, without tricks."""
    for line, info, _, top in directives(page):
        if not info.startswith("{code-cell}"):
            continue
        if not top:
            yield (
                line,
                "nested-cell",
                "a code cell inside a directive, a list or a quotation is never executed; put it "
                "at the margin, between '{exercise-start}' and '{exercise-end}' if need be",
            )
        if not info.removeprefix("{code-cell}").strip():
            yield (
                line,
                "cell-language",
                "no language; write '{code-cell} ipython3'",
            )
    for index, cell in enumerate(page.cells):
        if cell.kind != "code":
            continue
        lines = cell.source.splitlines()
        length = sum(1 for text in lines if text.strip() and not rubric_line(text))
        if length > MAX_LINES:
            yield (
                cell.line,
                "cell-length",
                f"the cell has {length} lines, at most {MAX_LINES} are allowed; split it, or move "
                "what is not the point into attnkit",
            )
        for tag in cell.tags:
            if tag in FORBIDDEN_TAGS:
                yield cell.line, "tag", f"the tag {tag!r} is not allowed: {FORBIDDEN_TAGS[tag]}"
            elif tag not in TAGS:
                yield cell.line, "tag", f"unknown tag {tag!r}; known: {', '.join(sorted(TAGS))}"
        if isinstance(cell.metadata.get("tags"), str):
            yield cell.line, "tag", "write tags as a list: ':tags: [remove-cell]'"
        for offset, text in enumerate(cell.source.splitlines()):
            if INSTALL.match(text):
                yield (
                    cell.body + offset + 1,
                    "install",
                    f"{text.strip()!r}: no shell commands in cells; requirements.txt is the place",
                )
            if WARNINGS.search(text):
                yield (
                    cell.body + offset + 1,
                    "warnings",
                    f"{text.strip()!r} hides warnings from the reader; cure their cause",
                )
        if "raises-exception" in cell.tags and not _raises_beside(page, index):
            yield (
                cell.line,
                "raises",
                "'raises-exception' also passes when nothing is raised; put a remove-cell with "
                "'with pytest.raises(...)' on the same call right after it",
            )


def _raises_beside(page: Page, index: int) -> bool:
    after = [cell for cell in page.cells[index + 1 :] if cell.kind == "code"][:1]
    before = [cell for cell in page.cells[:index] if cell.kind == "code"][-1:]
    return any("remove-cell" in c.tags and "pytest.raises" in c.source for c in after + before)
