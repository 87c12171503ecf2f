"""Downloads of each page: a plain notebook and its MyST source, both of the edition being built.

``notebooks/<name>.ipynb`` is Markdown that any viewer shows (bookext.markdown) and code that runs
from top to bottom. It holds no outputs: the page is the place to read results, a notebook the place
to make them (predict, then measure); it stays small, the same source gives the same bytes, and no
output can tell a solution. Stubs and checks carry the tag ``raises-exception``, so that "run all"
goes on behind a question that is not answered yet.

``sources/<name>.md`` is the page's MyST text without graded solutions and hidden tests.
"""

import base64
import hashlib
import mimetypes
import posixpath
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import nbformat

from bookext.executed import export
from bookext.install import install_cells, install_line
from bookext.markdown import Writer, raw_myst
from bookext.needs import needs
from bookext.public import graded, strip_markdown, stripped
from bookext.references import references
from bookext.setup_cells import set_up
from bookext.source import Cell, Page, SourceError, read_page

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
NBGRADER = ("grade", "grade_id", "locked", "points", "schema_version", "solution", "task")
HIDDEN_TAGS = {"remove-cell", "hide-input"}


def name_of(docname: str) -> str:
    return docname.rsplit("/", 1)[-1]


class PageNotebook:
    """Makes the plain notebook of one resolved page."""

    def __init__(self, app, docname: str, doctree, page: Page):
        self.app, self.docname, self.doctree, self.page = app, docname, doctree, page
        self.uri = app.builder.get_target_uri(docname)
        self.public = app.config.bookext_edition == "public"
        self.attachments: dict[str, dict[str, str]] = {}
        self.where = page.path
        self.writer = Writer(str(self.where), self.link, self.image, self.number, self.anchors)

    def make(self) -> nbformat.NotebookNode:
        self.cells: list[nbformat.NotebookNode] = []
        self.text: list[str] = [self.first_note()]
        self.waiting = [i for i, cell in enumerate(self.page.cells) if cell.kind == "code"]
        self.answer: Cell | None = None
        for kind, line, content in self.writer.stream(self.doctree):
            self.hidden_before(line, content if kind == "cell" else None)
            if kind == "cell":
                self.code(content)
                self.waiting.remove(content)
                continue
            inside = self.answer_at(line)
            new = inside is not self.answer or kind == "heading"
            if new or len(self.text) == 1 == len(self.cells):
                self.flush()
            self.answer = inside
            self.text.append(content)
        self.flush()
        self.answer = None
        self.hidden_before(len(self.page.lines) + 1, None)
        if said := references(self.app, self.docname):
            self.text = ["## References", said]
            self.flush()
        self.add_installation()
        notebook = nbformat.v4.new_notebook(cells=self.cells)
        notebook.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
        notebook.nbformat_minor = 5
        self.name_cells()
        nbformat.validate(notebook)
        return notebook

    # ------------------------------------------------------------------------------------ the cells

    def add_installation(self) -> None:
        """Behind the first note: what installs the packages, and a line that says so."""
        config, root = self.app.config, Path(self.app.srcdir)
        wheel = getattr(config, "bookext_wheel", "")
        if not wheel or not self.installs():
            return
        code = [cell.source for cell in self.cells if cell.cell_type == "code"]
        asked = needs(code, root), wheel, config.html_baseurl, root
        if said := install_line(*asked):
            self.cells[0].source += f"\n>\n> {said}"
        for cell in reversed(install_cells(*asked)):
            new = nbformat.v4.new_code_cell(cell, metadata={"jupyter": {"source_hidden": True}})
            self.cells.insert(1, new)

    def installs(self) -> bool:
        """Whether the notebook goes to readers, who may have nothing."""
        return True

    def hidden_before(self, line: int, index: int | None) -> None:
        """The cells that the page does not show and that stand before this place."""
        for waiting in list(self.waiting):
            cell = self.page.cells[waiting]
            if waiting < index if index is not None else cell.line < line:
                self.flush()
                self.code(waiting)
                self.waiting.remove(waiting)

    def answer_at(self, line: int) -> Cell | None:
        """The Markdown cell with nbgrader metadata that a line belongs to."""
        cells = (c for c in self.page.cells if c.kind == "markdown" and c.nbgrader)
        return next((c for c in cells if c.start < line <= c.end), None)

    def flush(self) -> None:
        text = "\n\n".join(self.text)
        self.text = []
        if not text.strip():
            return
        if leak := raw_myst(text):
            raise SourceError(self.where, 1, f"MyST would reach the notebook raw: {leak!r}")
        cell = nbformat.v4.new_markdown_cell(self.words(text))
        if self.answer is not None:
            cell.metadata["nbgrader"] = metadata(self.answer, "markdown")
        used = {name: data for name, data in self.attachments.items() if f":{name})" in text}
        if used:
            cell["attachments"] = used
        self.cells.append(cell)

    def code(self, index: int) -> None:
        cell = self.page.cells[index]
        self.flush()
        source = self.program(cell)
        if source is None or not source.strip():
            return
        if not cell.nbgrader:
            source = set_up(source, hidden="remove-cell" in cell.tags)
            if not source:
                return
        new = nbformat.v4.new_code_cell(source)
        if HIDDEN_TAGS & set(cell.tags) and not cell.nbgrader:
            new.metadata["jupyter"] = {"source_hidden": True}
        if cell.nbgrader:
            new.metadata["nbgrader"] = metadata(cell, "code")
        if "raises-exception" in cell.tags or (self.public and graded(cell.metadata)):
            new.metadata["tags"] = ["raises-exception"]
        self.cells.append(new)

    def program(self, cell: Cell) -> str | None:
        """What the notebook shows of a code cell; None for nothing."""
        return stripped(cell, self.where) if self.public else cell.source

    def words(self, text: str) -> str:
        """What the notebook shows of a Markdown cell, which may be an answer's."""
        return text

    def name_cells(self) -> None:
        """Ids that depend on nothing but the cells' own text."""
        seen: dict[str, int] = {}
        for cell in self.cells:
            key = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:12]
            seen[key] = seen.get(key, 0) + 1
            cell["id"] = key if seen[key] == 1 else f"{key}-{seen[key]}"

    def first_note(self) -> str:
        config = self.app.config
        title = self.app.env.titles[self.docname].astext()
        course = " ".join((config.html_title or config.project).split())
        parts = [f"From **{course}**: {title}." if title != course else f"**{course}**."]
        if config.html_baseurl:
            parts.append(f"[The page]({urljoin(config.html_baseurl, self.uri)}) shows the results.")
        if config.bookext_licence:
            parts.append(f"Licence: {config.bookext_licence}.")
        return "> " + " ".join(parts)

    # ---------------------------------------------------------------------------- what Writer asks

    def link(self, node) -> str | None:
        address = node.get("refuri")
        if address is None:
            address = f"{self.uri}#{node['refid']}" if "refid" in node else None
        elif not urlsplit(address).scheme:
            path, _, anchor = address.partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(self.uri), path))
            path = self.uri if address.startswith("#") else path
            address = f"{path}#{anchor}" if anchor else path
        else:
            return address
        if address is None:
            return None
        if self.app.config.html_baseurl:
            return urljoin(self.app.config.html_baseurl, address)
        page = address.partition("#")[0]
        others = {self.app.builder.get_target_uri(name): name for name in notebook_pages(self.app)}
        if page == self.uri or page not in others:
            return None
        return f"{name_of(others[page])}.ipynb"

    def anchors(self, section) -> list[str]:
        """The labels of a section: what a check says links to them, in the notebook too."""
        labels = self.app.env.get_domain("std").anonlabels.values()
        known = {place for docname, place, *_ in labels if docname == self.docname}
        return [place for place in section.get("ids", []) if place in known]

    def image(self, node) -> str:
        uri = node["uri"]
        if urlsplit(uri).scheme:
            return uri
        path = Path(self.app.srcdir, uri.lstrip("/"))
        if not path.exists():
            path = Path(self.app.srcdir, posixpath.dirname(self.docname), uri)
        data = path.read_bytes()
        name = f"{hashlib.sha256(data).hexdigest()[:12]}{path.suffix}"
        mime = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        text = data.decode("utf-8") if mime == "image/svg+xml" else base64.b64encode(data).decode()
        self.attachments[name] = {mime: text}
        return f"attachment:{name}"

    def number(self, node) -> str:
        kind = {"figure": "figure", "table": "table"}.get(type(node).__name__, "exercise")
        numbers = self.app.env.toc_fignumbers.get(self.docname, {}).get(kind, {})
        found = next((numbers[name] for name in node.get("ids", []) if name in numbers), ())
        return ".".join(map(str, found))


def metadata(cell: Cell, kind: str) -> dict:
    kept = {key: cell.nbgrader[key] for key in NBGRADER if key in (cell.nbgrader or {})}
    return kept | {"cell_type": kind}


# ------------------------------------------------------------------------------------ Sphinx events


def notebook_pages(app) -> dict[str, Page]:
    """Every page with code cells; read once in a build."""
    if not hasattr(app, "bookext_pages"):
        app.bookext_pages = {}
        for docname in sorted(app.env.found_docs):
            path = Path(app.env.doc2path(docname))
            if path.suffix == ".md":
                page = read_page(path)
                page.path = path.relative_to(app.srcdir)
                if page.is_notebook and any(cell.kind == "code" for cell in page.cells):
                    app.bookext_pages[docname] = page
        check_names(app.env.found_docs)
    return app.bookext_pages


def check_names(docnames) -> None:
    seen: dict[str, str] = {}
    for docname in sorted(docnames):
        other = seen.setdefault(name_of(docname), docname)
        if other != docname:
            raise SourceError(
                docname, 1, f"its downloads would have the names of those of {other}; rename a page"
            )


def makes_downloads(app) -> bool:
    return app.builder.name in {"html", "dirhtml"}


def write_notebook(app, doctree, docname: str) -> None:
    if not makes_downloads(app) or docname not in notebook_pages(app):
        return
    notebook = PageNotebook(app, docname, doctree, notebook_pages(app)[docname]).make()
    write(notebook_path(app, docname), nbformat.writes(notebook) + "\n")


def notebook_path(app, docname: str) -> Path:
    return Path(app.outdir, "notebooks", f"{name_of(docname)}.ipynb")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")


def finish(app, exception) -> None:
    """Sources, executed notebooks, and the notebooks of pages that this build did not write."""
    if exception or not makes_downloads(app):
        return
    pages = notebook_pages(app)
    export(app, pages)
    for docname in pages:
        if not notebook_path(app, docname).exists():
            app.env.get_and_resolve_doctree(docname, app.builder)
    sources = {}
    for docname in app.env.found_docs:
        path = Path(app.env.doc2path(docname))
        if path.suffix == ".md":
            text, where = path.read_text("utf-8"), path.relative_to(app.srcdir)
            public = app.config.bookext_edition == "public"
            text = strip_markdown(text, where) if public else text
            sources[name_of(docname)] = text
            write(Path(app.outdir, "sources", f"{name_of(docname)}.md"), text)
    kept = {f"{name_of(docname)}.ipynb" for docname in pages} | {f"{n}.md" for n in sources}
    for folder in ("notebooks", "sources"):
        for file in Path(app.outdir, folder).glob("*.*"):
            if file.name not in kept:
                file.unlink()


def setup(app):
    app.add_config_value("bookext_licence", "MIT", "html", [str])
    app.connect("doctree-resolved", write_notebook, priority=100)
    app.connect("build-finished", finish)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
