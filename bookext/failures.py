"""A cell that fails names its file and line.

myst-nb says only which page could not be executed. The kernel's traceback knows the cell and the
line in it, which is enough to find the line in the source.
"""

import re
from pathlib import Path

from myst_nb.core.execute.base import ExecutionError
from myst_nb.sphinx_ import Parser

from bookext.source import Page, SourceError, read_page

FRAME = re.compile(r"Cell In\s*\[(\d+)\](?:, |, line |:)\s*(?:line )?(\d+)")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class NotebookParser(Parser):
    """myst-nb's parser, with errors that say where."""

    def parse(self, inputstring, document):
        try:
            super().parse(inputstring, document)
        except ExecutionError as error:
            path = Path(self.env.doc2path(self.env.docname))
            raise failure(path, Path(self.env.srcdir), error.__cause__ or error) from None


def failure(path: Path, root: Path, error: BaseException) -> SourceError:
    """What the build says of a page in which a cell failed."""
    said = ANSI.sub("", str(error))
    line = line_of_failure(read_page(path), said)
    where = path.relative_to(root).as_posix()
    return SourceError(where, line, f"this cell fails: {last_line(said)}\n\n{said}")


def line_of_failure(page: Page, said: str) -> int:
    """The line of the source file where the cell failed, as well as the traceback tells."""
    cells = [cell for cell in page.cells if cell.kind == "code" and cell.source.strip()]
    frames = [(int(count), int(line)) for count, line in FRAME.findall(said)]
    if frames:
        count = max(count for count, _ in frames)  # the cell that was running called the others
        line = next(line for number, line in frames if number == count)
        if count <= len(cells):
            return cells[count - 1].body + line
    found = (cell for cell in cells if cell.source.strip() in said)
    return next((cell.line for cell in found), 1)


def last_line(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if re.match(r"\w+(\.\w+)*(:|$)", line)]
    return lines[-1] if lines else "see the traceback"


def setup(app):
    app.add_source_parser(NotebookParser, override=True)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
