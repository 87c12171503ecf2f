"""``python -m classroom assign``: an assignment folder of some chapters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from nbformat import NotebookNode

from bookext.instructor import METADATA, digest
from classroom.assignment import QUESTIONS, Assignment, ClassroomError, Notebook, load
from classroom.notebooks import read, student_copy, text
from classroom.questions import questions

ROOT = Path(__file__).resolve().parents[1]


def assign(
    chapters: Sequence[str],
    to: Path,
    *,
    seed_from: Iterable[str] = (),
    bank: Path | None = None,
    root: Path = ROOT,
) -> Assignment:
    """Make the assignment folder ``to`` of some chapters: ``3``, ``03``, ``ch3``, a file's name.

    Raises:
        ClassroomError: when a chapter is unknown, has no exercises, is named twice, is not built or
            was changed since; when ``to`` holds something that is no such assignment.
    """
    pages = [chapter(name, root) for name in chapters]
    if twice := next((page.stem for page in pages if pages.count(page) > 1), None):
        raise ClassroomError(f"{twice} is named twice; name each chapter once")
    built = {page.stem: instructor_notebook(page, root) for page in pages}
    made = _assignment(built, to)
    _may_write(made)
    _write(made, built)
    return made


# ------------------------------------------------------------------------------------ the chapters


def chapter(name: str, root: Path = ROOT) -> Path:
    """The source file of the chapter that somebody calls ``name``."""
    known = sorted((root / "chapters").glob("*.md"))
    wanted = name.strip().lower().removesuffix(".md")
    number = re.fullmatch(r"(?:ch|chapter)?\s*0*(\d+)", wanted)
    prefix = f"{int(number[1]):02d}-" if number else f"{wanted}-"
    found = [p for p in known if p.stem == wanted or p.stem.startswith(prefix)]
    if len(found) != 1:
        names = ", ".join(p.stem for p in known if p.stem[:1].isdigit())
        raise ClassroomError(f"there is no chapter {name!r}. Chapters: {names}")
    return found[0]


def instructor_notebook(page: Path, root: Path) -> NotebookNode:
    """The notebook with solutions that the last build made of a chapter."""
    path = root / "_build" / "instructor" / f"{page.stem}.ipynb"
    source = page.read_text("utf-8")
    if "nbgrader:" not in source:
        raise ClassroomError(f"chapter {page.stem} has no exercises; name one that has")
    if not path.exists():
        raise ClassroomError(f"{path} is not there: build the book first (make book)")
    notebook = read(path)
    if notebook.metadata[METADATA]["source"] != digest(source):
        raise ClassroomError(
            f"chapter {page.stem} has changed since the book was built: build it again (make book)"
        )
    return notebook


# -------------------------------------------------------------------------------------- the folder


def _assignment(built: dict[str, NotebookNode], to: Path) -> Assignment:
    asked = [q for name, book in built.items() for q in questions(book, f"{name}.ipynb")]
    return Assignment(
        name="-".join(_short(name) for name in built),
        notebooks=tuple(_notebook(name, book) for name, book in built.items()),
        questions=tuple(asked),
        folder=Path(to),
    )


def _short(name: str) -> str:
    number = name.partition("-")[0]
    return f"ch{int(number)}" if number.isdigit() else number


def _notebook(name: str, notebook: NotebookNode) -> Notebook:
    said = notebook.metadata[METADATA]
    return Notebook(
        f"{name}.ipynb", said["title"], said["chapter"], tuple(said["setup"]), said["source"]
    )


def _may_write(made: Assignment) -> None:
    """Only a new folder, an empty one, or the same assignment again."""
    folder = made.folder
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / QUESTIONS).is_file():
        raise ClassroomError(f"{folder} holds other things; name a new or an empty folder")
    if (other := load(folder).name) != made.name:
        raise ClassroomError(
            f"{folder} is the assignment {other!r}, not {made.name!r}; name another folder"
        )


def _write(made: Assignment, built: dict[str, NotebookNode]) -> None:
    made.folder.mkdir(parents=True, exist_ok=True)
    made.save()
    for name, notebook in built.items():
        file = f"{name}.ipynb"
        student = student_copy(notebook, assignment=made.name, file=file)
        _put(made.folder / "instructor" / file, text(notebook))
        _put(made.folder / "student" / file, text(student))


def _put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", newline="\n")
