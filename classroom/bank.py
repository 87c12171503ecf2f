"""An instructor's own questions: a folder of pages in the chapters' format, and of checks.

The pages (``*.md``) are built by Sphinx as the book's are, but nothing is executed, so that their
notebooks hold plain Markdown. The checks (``*.py`` with ``EXERCISES``) are those of
:func:`attnkit.checks.load_bank`. ``classroom/example_bank`` is one to begin with.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nbformat import NotebookNode

from attnkit import checks
from attnkit.checks._bank import read_bank
from bookext.exercises import exercises as exercise_spans
from bookext.instructor import is_graded
from bookext.lint.cells import cells
from bookext.lint.exercises import exercise_cells
from bookext.lint.header import header
from bookext.lint.nbgrader import nbgrader
from bookext.lint.prose import exercises
from bookext.source import Page, SourceError, read_page
from classroom.assignment import ClassroomError
from classroom.notebooks import read

ROOT = Path(__file__).resolve().parents[1]
NOT_COPIED = shutil.ignore_patterns("*.py", "__pycache__", ".*", "_build")
CONF = """\
project = html_title = {name!r}
extensions = ["myst_nb", "sphinx_design", "sphinx_exercise", "bookext.public",
              "bookext.kernel_only", "bookext.notebooks", "bookext.instructor"]
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath",
                          "substitution"]
nb_execution_mode = "off"
bookext_licence = ""
html_theme = "basic"
html_copy_source = False
exclude_patterns = ["_build"]
numfig = True
root_doc = "bank-of-questions"
"""


@dataclass(frozen=True)
class Bank:
    """``exercises`` by id, and the instructor's ``notebooks`` by the name of their page."""

    folder: Path
    exercises: Mapping[str, Any]
    notebooks: Mapping[str, NotebookNode]


def open_bank(folder: Path) -> Bank:
    """Read the checks of a bank and build its pages.

    Raises:
        ClassroomError: when something in it is wrong; the message begins with file and line.
    """
    folder = Path(folder)
    taken = {id: "the book" for id in checks.exercise_ids()}
    try:
        own = read_bank(folder, taken)
    except ValueError as error:
        raise ClassroomError(f"--bank: {error}") from None
    pages = {page.path.stem: page for page in _pages(folder)}
    if not pages:
        raise ClassroomError(
            f"--bank: {folder} has no page with questions: expected *.md files in the format of "
            "the chapters; classroom/example_bank has one"
        )
    found = [f for page in pages.values() for f in _findings(page, {*taken, *own})]
    if found:
        raise ClassroomError("--bank: questions that cannot be asked:\n" + "\n".join(found))
    return Bank(folder, own, _built(folder, list(pages)))


def _pages(folder: Path) -> list[Page]:
    """Every page that has questions; a README beside them has none."""
    found = []
    for path in sorted(folder.glob("*.md")):
        try:
            page = read_page(path)
        except (SourceError, OSError, UnicodeDecodeError) as error:
            raise ClassroomError(f"--bank: {path} cannot be read: {error}") from None
        asks = any(page.cells[i].nbgrader for e in exercise_spans(page) for i in e.cells)
        if asks and page.is_notebook:
            found.append(page)
        elif page.is_notebook or is_graded(page):
            raise ClassroomError(
                f"--bank: {path}:1: no exercise with nbgrader metadata on this page, or no header "
                "as the chapters have; compare it with classroom/example_bank/questions.md"
            )
    return found


def _findings(page: Page, known: set[str]) -> list[str]:
    rules = [header, cells, nbgrader, exercises]
    found = {f for rule in rules for f in rule(page) if f[1] != "cell-length"}
    found |= set(exercise_cells(page, known))
    return [f"{page.path}:{line}: {message}" for line, _, message in sorted(found)]


def _built(folder: Path, names: list[str]) -> dict[str, NotebookNode]:
    with TemporaryDirectory(prefix="bank-") as temporary:
        source = Path(temporary).resolve() / "pages"
        shutil.copytree(folder, source, ignore=NOT_COPIED)
        (source / "conf.py").write_text(CONF.format(name=folder.resolve().name), "utf-8")
        listed = "\n".join(names)
        index = f"# Questions\n\n```{{toctree}}\n{listed}\n```\n"
        (source / "bank-of-questions.md").write_text(index, "utf-8")
        for path in source.glob("*.md"):  # a README is no page
            if path.stem not in {*names, "bank-of-questions"}:
                path.unlink()
        _sphinx(source, folder)
        return {n: read(source / "_build" / "instructor" / f"{n}.ipynb") for n in names}


def _sphinx(source: Path, folder: Path) -> None:
    built = source / "_build"
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "--no-color", "-W",
               "--keep-going", "-d", built / "doctrees", source, built / "html"]  # fmt: skip
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = (done.stderr or done.stdout).replace(str(source), str(folder))
        said = re.sub(r"^WARNING: ", "", said.strip(), flags=re.M)
        raise ClassroomError(f"--bank: the pages of {folder} cannot be built:\n{said}")
