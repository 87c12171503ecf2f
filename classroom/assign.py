"""``python -m classroom assign``: an assignment folder of some chapters, or of one's own questions.

What is made where: :mod:`classroom.assignment`. Student notebooks are the same, byte for byte,
whenever and wherever they are made of the same sources.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from attnkit import checks
from bookext.instructor import METADATA, digest
from classroom.assignment import Assignment, ClassroomError, Notebook
from classroom.bank import Bank, open_bank
from classroom.folder import BANK, Sources, may_write, write
from classroom.notebooks import read
from classroom.questions import questions
from classroom.variation import variations

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

    ``seed_from`` are the ids of students, each of whom gets data of their own; ``bank`` is a folder
    of the instructor's own questions, which come in addition (or alone). The same assignment may be
    made again in its folder: what else is in there stays, so do points that were changed in
    questions.json, and students of earlier runs keep their copies.

    Raises:
        ClassroomError: when a chapter is unknown, has no exercises, is named twice, is not built or
            was changed since; when something in the bank is wrong; when ``to`` holds something that
            is not this assignment. Then nothing is written.
    """
    pages = [chapter(name, root) for name in chapters]
    if not pages and bank is None:
        raise ClassroomError("nothing to assign: name a chapter, such as 3, or --bank DIR")
    if twice := next((page.stem for page in pages if pages.count(page) > 1), None):
        raise ClassroomError(f"{twice} is named twice; name each chapter once")
    own_folder = Path(bank) if bank else None
    for page in pages:
        if own_folder and (own_folder / page.name).exists():
            raise ClassroomError(f"--bank: {bank}/{page.name} has the name of a chapter; rename it")
    built = {page.stem: instructor_notebook(page, root) for page in pages}
    own = open_bank(bank) if bank else Bank(Path(), {}, {})
    known = {id: checks.exercise(id) for id in checks.exercise_ids()} | dict(own.exercises)
    sources = Sources({**built, **own.notebooks}, known, own)
    made = _assignment(sources, to, variations(seed_from), name_of(pages, bank))
    made = may_write(made, root)
    write(made, sources)
    return made


# ------------------------------------------------------------------------------------ the chapters


def chapter(name: str, root: Path = ROOT) -> Path:
    """The source file of the chapter that somebody calls ``name``.

    Raises:
        ClassroomError: when there is none; the message lists the chapters.
    """
    known = sorted((root / "chapters").glob("*.md"))
    wanted = name.strip().lower().removesuffix(".md").removeprefix("chapters/")
    number = re.fullmatch(r"(?:ch|chapter)?[ -]?0*(\d+)", wanted)
    prefix = f"{int(number[1]):02d}-" if number else f"{wanted}-"
    found = [p for p in known if p.stem == wanted or p.stem.startswith(prefix)]
    if len(found) != 1:
        names = ", ".join(p.stem for p in known if p.stem[:1].isdigit())
        raise ClassroomError(f"there is no chapter {name!r}. Chapters: {names}")
    return found[0]


def instructor_notebook(page: Path, root: Path) -> NotebookNode:
    """The notebook with solutions that the last build made of a chapter.

    Raises:
        ClassroomError: when it has no exercises, is not built, or was changed since.
    """
    path = root / "_build" / "instructor" / f"{page.stem}.ipynb"
    source = page.read_text("utf-8")
    if "grade_id" not in source:
        raise ClassroomError(f"chapter {page.stem} has no exercises; name one that has")
    if not path.exists():
        raise ClassroomError(f"{path} is not there: build the book first (make book)")
    try:
        notebook = read(path)
        built_from = notebook.metadata[METADATA]["source"]
    except (ValueError, KeyError) as error:
        raise ClassroomError(f"{path} cannot be read ({error}): build the book again") from None
    if built_from != digest(source):
        raise ClassroomError(
            f"chapter {page.stem} has changed since the book was built: build it again (make book)"
        )
    return notebook


# ---------------------------------------------------------------------------------- the assignment


def name_of(pages: Sequence[Path], bank: Path | None) -> str:
    """``ch3-ch4``: from what it is made of, and not from where; nbgrader takes it as a name."""
    numbers = (page.stem.partition("-")[0] for page in pages)
    names = [f"ch{int(n)}" if n.isdigit() else n for n in numbers]
    own = re.sub(r"[^A-Za-z0-9_]+", "-", Path(bank).resolve().name).strip("-") if bank else ""
    return "-".join([*names, *([f"bank-{own}"] if bank else [])])


def _assignment(sources: Sources, to: Path, students: Mapping[str, str], name: str) -> Assignment:
    asked = [
        question
        for page, notebook in sources.notebooks.items()
        for question in questions(notebook, f"{page}.ipynb", sources.known)
    ]
    counted = Counter(question.id for question in asked)
    if twice := next((q for q in reversed(asked) if counted[q.id] > 1), None):
        raise ClassroomError(
            f"{twice.notebook}: the cell id {twice.id!r} is used in another notebook of this "
            "assignment too; give it a name of its own"
        )
    return Assignment(
        name=name,
        notebooks=tuple(_notebook(n, book) for n, book in sources.notebooks.items()),
        questions=tuple(asked),
        variations=dict(students),
        bank=BANK if sources.bank.notebooks else "",
        folder=Path(to),
    )


def _notebook(name: str, notebook: NotebookNode) -> Notebook:
    said: dict[str, Any] = notebook.metadata[METADATA]
    return Notebook(
        f"{name}.ipynb", said["title"], said["chapter"], tuple(said["setup"]), said["source"]
    )
