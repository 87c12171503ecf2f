"""Notebooks for instructors: ``_build/instructor/<name>.ipynb``, never below what is published.

They are the plain notebooks of bookext.notebooks with solutions, hidden tests and their markers:
what nbgrader calls the source of an assignment, and what ``python -m classroom assign`` takes the
student's copy from. Every page with graded cells gets one, whatever edition is built, because the
page's file is the source of graded cells and not its doctree, which the public edition strips.

The notebook's metadata says under ``attention_measured`` which exercises there are and which cells
(``setup``) have to run before any answer can.
"""

import ast
import hashlib
import re
import symtable
from pathlib import Path

import nbformat

from bookext.exercises import exercises
from bookext.kernel_only import TAG
from bookext.notebooks import PageNotebook, makes_downloads, name_of, notebook_pages, write
from bookext.public import graded
from bookext.setup_cells import parsed
from bookext.source import Cell, Page

METADATA = "attention_measured"
FAILS = "raises-exception"
_ROLE = re.compile(r"\{[a-z][\w:.+-]*\}`([^`]*)`")


def folder(app) -> Path:
    return Path(app.outdir).parent / "instructor"


def path_of(app, docname: str) -> Path:
    return folder(app) / f"{name_of(docname)}.ipynb"


def is_graded(page: Page) -> bool:
    return any(graded(cell.metadata) for cell in page.cells)


def digest(text: str) -> str:
    """What ``source`` in the metadata is made from: the text of the page's file."""
    return hashlib.sha256(text.encode()).hexdigest()


class InstructorNotebook(PageNotebook):
    """The notebook of one page, complete; links to other pages are left out, unless published."""

    def make(self) -> nbformat.NotebookNode:
        self.exercises = exercises(self.page)
        self.origin: dict[int, Cell] = {}
        self.inside: list[int | None] = []
        self.current: int | None = None
        self.written: list[Cell] = []
        notebook = super().make()
        notebook.metadata[METADATA] = {
            "chapter": name_of(self.docname),
            "title": self.app.env.titles[self.docname].astext(),
            "source": digest(Path(self.app.env.doc2path(self.docname)).read_text("utf-8")),
            "setup": self.setup_ids(),
            "exercises": self.exercise_ids(),
        }
        return notebook

    def hidden_before(self, line: int, index: int | None) -> None:
        """An exercise's text ends a cell: what follows it is not part of it."""
        super().hidden_before(line, index)
        where = next((n for n, e in enumerate(self.exercises) if e.holds(line)), None)
        if where != self.current:
            self.flush()
            self.current = where

    def flush(self) -> None:
        if any(cell is self.answer for cell in self.written):
            self.text = []
        count = len(self.cells)
        super().flush()
        self.inside += [self.current] * (len(self.cells) - count)

    def code(self, index: int) -> None:
        cell = self.page.cells[index]
        self.flush()
        count = len(self.cells)
        super().code(index)
        if len(self.cells) > count:
            self.origin[count] = cell
            holds = (n for n, e in enumerate(self.exercises) if index in e.cells)
            self.inside.append(next(holds, None))

    def installs(self) -> bool:
        """A student on Colab needs it as any reader does; without a site there is no wheel where
        an assignment is, and the instructor says what to install."""
        return bool(self.app.config.html_baseurl)

    def add_installation(self) -> None:
        count = len(self.cells)
        super().add_installation()
        new = len(self.cells) - count
        self.inside[1:1] = [None] * new
        self.origin = {place + new: cell for place, cell in self.origin.items()}

    def program(self, cell: Cell) -> str | None:
        return cell.source

    def words(self, text: str) -> str:
        if self.answer is None:
            return text
        self.written.append(self.answer)
        return _ROLE.sub(r"\1", self.answer.source)

    def name_cells(self) -> None:
        """A graded cell's id is its grade_id: a hash of its text would give letters away."""
        super().name_cells()
        for cell in self.cells:
            cell["id"] = cell.metadata.get("nbgrader", {}).get("grade_id", cell.id)[:64]

    def link(self, node) -> str | None:
        address = super().link(node)
        return None if address and address.partition("#")[0].endswith(".ipynb") else address

    def exercise_ids(self) -> list[dict]:
        found = [{"label": e.label, "title": e.title, "cells": []} for e in self.exercises]
        for cell, number in zip(self.cells, self.inside, strict=False):
            if number is not None:
                found[number]["cells"].append(cell.id)
        return found

    def setup_ids(self) -> list[str]:
        """The cells that every answer may count on: the chapter's own, but for those that take a
        name from an answer, or from a cell that is there to fail."""
        ids: list[str] = []
        doubtful: set[str] = set()
        for place, cell in enumerate(self.cells):
            if place not in self.origin:
                continue
            page_cell = self.origin[place]
            given, used = names(cell.source)
            if page_cell.nbgrader or FAILS in page_cell.tags or used & doubtful:
                doubtful |= given
            elif TAG not in page_cell.tags:
                doubtful -= given
                ids.append(cell.id)
        return ids


def names(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell gives a value at its top level, and those it takes from elsewhere."""
    try:
        table = symtable.symtable(ast.unparse(parsed(source)), "cell", "exec")
    except SyntaxError:  # a cell magic
        return set(), set()
    given = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    used = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    inner = list(table.get_children())
    for scope in inner:
        inner += scope.get_children()
        used |= {s.get_name() for s in scope.get_symbols() if s.is_global() and s.is_referenced()}
    return given, used - given


# ------------------------------------------------------------------------------------ Sphinx events


def graded_pages(app) -> dict[str, Page]:
    return {name: page for name, page in notebook_pages(app).items() if is_graded(page)}


def write_notebook(app, doctree, docname: str) -> None:
    if makes_downloads(app) and docname in graded_pages(app):
        notebook = InstructorNotebook(app, docname, doctree, notebook_pages(app)[docname]).make()
        write(path_of(app, docname), nbformat.writes(notebook) + "\n")


def finish(app, exception) -> None:
    """The notebooks of pages that this build did not write; those of pages that are no more go."""
    if exception or not makes_downloads(app):
        return
    pages = graded_pages(app)
    for docname in pages:
        if not path_of(app, docname).exists():
            app.env.get_and_resolve_doctree(docname, app.builder)
    for file in folder(app).glob("*.ipynb"):
        if file.name not in {f"{name_of(docname)}.ipynb" for docname in pages}:
            file.unlink()


def setup(app):
    app.connect("doctree-resolved", write_notebook, priority=101)
    app.connect("build-finished", finish)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
