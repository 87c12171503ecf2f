"""The public edition: graded solutions become stubs, hidden tests vanish.

The full source is executed once. Before a page's doctree is pickled, its graded cells are replaced,
so that pages, search index and everything derived from the doctree come from the stripped tree.
The same functions strip MyST files and notebooks. nbgrader's own markers and stubs are used:

    ### BEGIN SOLUTION ... ### END SOLUTION          in cells with nbgrader ``solution: true``
    ### BEGIN HIDDEN TESTS ... ### END HIDDEN TESTS  in cells with nbgrader ``grade: true``

No output of a solution or check cell is shown: it was produced by the real solution.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform

from bookext.source import Cell, SourceError, read_page

EDITIONS = ("public", "instructor")
STUB = {
    "code": "{0}# YOUR CODE HERE\n{0}raise NotImplementedError()",
    "markdown": "{0}YOUR ANSWER HERE",
}
STUBBED = re.compile(r"YOUR (CODE|ANSWER) HERE")
MARKER = re.compile(r"^(\s*)(?:#+|<!--)\s*(BEGIN|END) (SOLUTION|HIDDEN TESTS)\s*(?:-->)?\s*$")
NEARLY = re.compile(
    r"^\s*(?:#+|//|<!--)\s*(begin|end)[\s_-]*(the\s+)?(solutions?|hidden[\s_-]*tests?)\b", re.I
)
NEEDS = {"SOLUTION": "solution", "HIDDEN TESTS": "grade"}


class MarkerError(ValueError):
    """A solution or hidden-test marker is wrong; ``offset`` is its 0-based line in the cell."""

    def __init__(self, offset: int, message: str):
        super().__init__(message)
        self.offset, self.message = offset, message


def regions(source: str, nbgrader: dict | None) -> list[tuple[str, int, int, str]]:
    """The marked regions of a cell: (kind, first line, last line, indentation)."""
    found, opened = [], None
    for offset, line in enumerate(source.splitlines()):
        match = MARKER.match(line)
        if not match:
            if NEARLY.match(line):
                raise MarkerError(
                    offset,
                    f"{line.strip()!r} looks like a marker but is none; write exactly "
                    "'### BEGIN SOLUTION', '### END SOLUTION', '### BEGIN HIDDEN TESTS' or "
                    "'### END HIDDEN TESTS'",
                )
            continue
        indent, word, kind = match.groups()
        if not (nbgrader or {}).get(NEEDS[kind]):
            raise MarkerError(
                offset,
                f"'{word} {kind}' in a cell whose metadata does not say "
                f"'nbgrader: {{{NEEDS[kind]}: true}}'; it would be published: add the metadata "
                "or remove the marker",
            )
        if word == "BEGIN":
            if opened:
                raise MarkerError(
                    offset,
                    f"'BEGIN {kind}' inside the region that was opened {offset - opened[1]} lines "
                    f"above; close that one first with '### END {opened[0]}'",
                )
            opened = (kind, offset, indent)
        elif not opened or opened[0] != kind:
            raise MarkerError(offset, f"'END {kind}' without a 'BEGIN {kind}' before it")
        else:
            found.append((kind, opened[1], offset, opened[2]))
            opened = None
    if opened:
        raise MarkerError(
            opened[1], f"'BEGIN {opened[0]}' is never closed: add '### END {opened[0]}'"
        )
    answered = any(kind == "SOLUTION" for kind, *_ in found) or STUBBED.search(source)
    if (nbgrader or {}).get("solution") and not answered:
        raise MarkerError(
            0,
            "a cell with 'nbgrader: {solution: true}' holds no '### BEGIN SOLUTION' ... "
            "'### END SOLUTION': its answer would be published",
        )
    return found


def strip_cell(source: str, nbgrader: dict | None, kind: str = "code") -> str | None:
    """The public text of a cell, or None when nothing but hidden tests was in it."""
    lines, hidden = source.splitlines(), False
    for region, first, last, indent in reversed(regions(source, nbgrader)):
        if region == "SOLUTION":
            lines[first : last + 1] = STUB[kind].format(indent).splitlines()
        else:
            lines[first : last + 1] = []
            hidden = True
    text = "\n".join(lines).strip("\n")
    said = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return None if hidden and not said else re.sub(r"\n{3,}", "\n\n", text) if hidden else text


def stripped(cell: Cell, path) -> str | None:
    """``strip_cell`` for a cell of a file; a wrong marker names file and line."""
    try:
        return strip_cell(cell.source, cell.nbgrader, cell.kind)
    except MarkerError as error:
        raise SourceError(path, cell.body + error.offset + 1, error.message) from None


def graded(metadata: dict) -> bool:
    """Whether the outputs of a cell with this metadata come from, or judge, a graded solution."""
    nbgrader = metadata.get("nbgrader") or {}
    return bool(nbgrader.get("solution") or nbgrader.get("grade"))


def strip_markdown(text: str, path: Path | str, *, kinds=("code", "markdown", "raw"), pad=False):
    """A MyST file's public text. With ``pad`` the number of lines stays (for Sphinx' messages)."""
    page = read_page(path, text)
    lines = list(page.lines)
    for cell in reversed(page.cells):
        public = stripped(cell, path)
        if cell.kind not in kinds or public == cell.source:
            continue
        if public is None:
            first, last, new = cell.start, cell.end, []
            while last < len(lines) and not lines[last].strip():
                last += 1
        else:
            first, new = cell.body, public.splitlines()
            last = first + len(cell.source.splitlines())
        if pad:
            new += [""] * (last - first - len(new))
        lines[first:last] = new
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def secrets(text: str, path: Path | str = "source.md") -> list[str]:
    """Every line of a MyST file that the public edition must not show, without its indentation."""
    found = []
    for cell in read_page(path, text).cells:
        lines = cell.source.splitlines()
        for _, first, last, _ in regions(cell.source, cell.nbgrader):
            found += [line.strip() for line in lines[first + 1 : last] if line.strip()]
    return found


def strip_prose(app, docname, source):
    """Check every marker; take the solutions out of Markdown cells before they are parsed."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".md":
        return
    where = path.relative_to(app.srcdir).as_posix()
    public = strip_markdown(source[0], where, kinds=("markdown", "raw"), pad=True)
    source[0] = public if app.config.bookext_edition == "public" else unmarked(source[0], where)


def unmarked(text: str, path: Path | str) -> str:
    """A MyST file with the markers of its Markdown cells, which would be headings, blanked."""
    page = read_page(path, text)
    for cell in page.cells:
        if cell.kind == "markdown":
            for number in range(cell.body, cell.end):
                page.lines[number] = MARKER.sub("", page.lines[number])
    return "\n".join(page.lines) + "\n"


class StripGradedCells(SphinxTransform):
    """Replace graded code cells in the doctree, before it is pickled."""

    default_priority = 1

    def apply(self, **kwargs):
        if self.config.bookext_edition != "public":
            return
        for node in list(self.document.findall(is_code_cell)):
            metadata = node.get("cell_metadata") or {}
            if not metadata.get("nbgrader"):
                continue
            for code in list(node.findall(is_source)):
                block = code.children[0]
                public = strip_cell(block.rawsource or block.astext(), metadata["nbgrader"])
                if public is None:
                    node.parent.remove(node)
                    break
                block.rawsource = public
                block.children = []
                block += nodes.Text(public)
            if graded(metadata):
                remove_outputs(node)


def is_code_cell(node) -> bool:
    return getattr(node, "attributes", {}).get("nb_element") == "cell_code"


def is_source(node) -> bool:
    return getattr(node, "attributes", {}).get("nb_element") == "cell_code_source"


def remove_outputs(cell) -> None:
    """Take the outputs of a code cell out of the doctree."""
    for child in list(cell.children):
        if child.attributes.get("nb_element") == "cell_code_output":
            cell.remove(child)


def check_config(app, config):
    if config.bookext_edition not in EDITIONS:
        raise ExtensionError(
            f"bookext_edition must be one of {', '.join(EDITIONS)}, it is "
            f"{config.bookext_edition!r}"
        )
    if Path(app.outdir) in Path(app.doctreedir).parents:
        raise ExtensionError(
            f"the pickled doctrees ({app.doctreedir}) lie inside the published folder "
            f"({app.outdir}); build with -d and a folder outside it"
        )


def setup(app):
    app.add_config_value("bookext_edition", "public", "env", [str])
    app.connect("config-inited", check_config)
    app.connect("source-read", strip_prose, priority=100)
    app.add_transform(StripGradedCells)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
