"""One notebook that somebody else wrote, read without trusting anything in it.

Only JSON is parsed and only text is kept: the sources of the cells with a grade_id, and what the
notebook says of itself. Outputs are dropped. A file that cannot be read gives a :class:`Trouble`
with a name; nothing is raised, whatever the file holds.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

#: Bytes. A chapter with all its figures has below two million; parsing this many is a second.
LARGEST = 20 * 2**20
MOST_CELLS = 5000
#: Characters of an answer. More are not written by hand, and Python's parser may fail on them.
LONGEST_ANSWER = 50_000
OURS = "attention_measured"

#: What can be wrong with a file, or with a cell of it: name → what it means and what to do.
TROUBLES: dict[str, str] = {
    "empty": "No notebook was handed in.{more}",
    "unreadable": "The file cannot be read: {why}. A plain copy of the notebook is needed.",
    "too-large": "The file has {size}; above {limit} it is not opened. Clear the outputs (in "
    "JupyterLab: Edit, Clear Outputs of All Cells), save, and hand it in again.",
    "not-json": "The file is not JSON ({why}), so it is no notebook: perhaps cut short on its way, "
    "or a web page that was saved. Save the notebook in Jupyter and hand in the .ipynb file.",
    "not-a-notebook": "The file is JSON, but no notebook: {why}. Hand in the .ipynb file.",
    "wrong-kernel": "The notebook says that its language is {language}; the answers are Python. "
    "Choose a Python kernel, save, and hand it in again.",
    "other-assignment": "The notebook belongs to something else{which}: none of the answer cells "
    "of this assignment is in it, or the metadata that names them is lost.",
    "two-files": "There are {count} files for this notebook, with different answers: {files}. "
    "Which one counts? Hand in only that one.",
    "missing-cell": "The answer cell {ids} is not in the notebook: deleted, or its metadata is "
    "lost. Copy the answer into a fresh copy of the notebook and hand that in.",
    "duplicated-cell": "The answer cell {ids} stands in the notebook {count} times: a copied or "
    "split cell keeps its id. No copy is scored. Delete all but one, save, and hand it in again; "
    "for notes, insert a new cell.",
    "too-long": "The answer has {count} characters; one of more than {limit} is not run.",
    "not-written-yet": "There is no answer yet: the cell is as it was handed out.",
}


class Trouble(NamedTuple):
    """Why something was not graded: its name, and a message for the person who puts it right."""

    name: str
    message: str


def trouble(name: str, **values: object) -> Trouble:
    """A :class:`Trouble` with its message filled in."""
    return Trouble(name, TROUBLES[name].format(**values))


@dataclass(frozen=True)
class Read:
    """A notebook that could be read: ``answers`` holds every source that bears a grade_id."""

    path: Path
    answers: Mapping[str, tuple[str, ...]]
    assignment: str = ""
    notebook: str = ""
    student: str = ""
    #: the language that the notebook names; empty for Python or none
    language: str = field(default="", compare=False)


def read_notebook(path: Path) -> Read | Trouble:
    """Read one file; links are not followed and a file above ``LARGEST`` bytes is not opened."""
    try:
        data = _bytes(path)
    except OSError as error:
        return trouble("unreadable", why=clean(error.strerror or str(error)))
    if isinstance(data, Trouble):
        return data
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError) as error:
        return trouble("not-json", why=_short(error))
    except MemoryError:
        return trouble("too-large", size=megabytes(len(data)), limit="what this machine can hold")
    del data
    return _notebook(path, plain)


def _bytes(path: Path) -> bytes | Trouble:
    """The bytes of a regular file: opening a pipe would wait for ever, a link may lead anywhere."""
    before = os.lstat(path)
    if stat.S_ISLNK(before.st_mode):
        return trouble("unreadable", why="it is a link, and links are not followed")
    if stat.S_ISDIR(before.st_mode):
        return trouble("unreadable", why="it is a folder")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        now = os.fstat(file.fileno())
        if not stat.S_ISREG(now.st_mode):
            return trouble("unreadable", why="it is no ordinary file")
        if now.st_size > LARGEST:
            return trouble("too-large", size=megabytes(now.st_size), limit=megabytes(LARGEST))
        return file.read(LARGEST + 1)


def _notebook(path: Path, plain: object) -> Read | Trouble:
    cells = _cells(plain)
    if isinstance(cells, str):
        return trouble("not-a-notebook", why=cells)
    if len(cells) > MOST_CELLS:
        return trouble("too-large", size=f"{len(cells):,} cells", limit=f"{MOST_CELLS:,} cells")
    answers: dict[str, list[str]] = {}
    for cell in cells:
        id = _dict(_dict(_dict(cell).get("metadata")).get("nbgrader")).get("grade_id")
        if isinstance(id, str):
            answers.setdefault(clean(id), []).append(_source(cell))
    said = _dict(_dict(plain).get("metadata"))
    ours = {key: clean(v) for key, v in _dict(said.get(OURS)).items() if isinstance(v, str)}
    of = {key: ours.get(key, "") for key in ("assignment", "notebook", "student")}
    found = {id: tuple(sources) for id, sources in answers.items()}
    return Read(path, found, **of, language=_language(said))


def _cells(plain: object) -> list | str:
    """The cells of any nbformat, or what is wrong."""
    if not isinstance(plain, dict):
        return f"it holds {_kind(plain)}"
    if isinstance(plain.get("cells"), list):
        return plain["cells"]
    sheets = plain.get("worksheets")  # nbformat 3 and before
    if isinstance(sheets, list):
        of_sheets = [_dict(sheet).get("cells") for sheet in sheets]
        return [cell for cells in of_sheets if isinstance(cells, list) for cell in cells]
    return "it has no list of cells"


def _source(cell: Mapping) -> str:
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    return clean(source).replace("\r\n", "\n") if isinstance(source, str) else ""


def _language(metadata: Mapping) -> str:
    """The first language that the notebook names and that is not Python."""
    kernel, info = _dict(metadata.get("kernelspec")), _dict(metadata.get("language_info"))
    named = [kernel.get("language"), info.get("name")]
    if not any(isinstance(name, str) and name for name in named):
        known = re.match(r"(ir|julia|bash|javascript|deno|xcpp|octave)\b", str(kernel.get("name")))
        named = [known[1]] if known else []
    others = (clean(name) for name in named if isinstance(name, str) and name)
    return next((name[:40] for name in others if not re.match(r"i?python", name, re.I)), "")


def _dict(value: object) -> Mapping:
    return value if isinstance(value, dict) else {}


def _kind(value: object) -> str:
    kinds = {list: "a list", str: "a text", type(None): "nothing", bool: "true or false"}
    return kinds.get(type(value), "a number")


def clean(text: str) -> str:
    """Text that any file can hold: a lone surrogate, which UTF-8 cannot write, becomes �."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape" if _bytes_inside(text) else "replace").decode(
            "utf-8", "replace"
        )
    return text


def _bytes_inside(text: str) -> bool:
    """Whether every surrogate stands for a byte that a file name could not decode."""
    return all("\udc80" <= sign <= "\udcff" for sign in text if "\ud800" <= sign <= "\udfff")


def _short(error: BaseException) -> str:
    return clean(str(error)).splitlines()[0][:120] if str(error) else type(error).__name__


def megabytes(size: int) -> str:
    return f"{size / 2**20:.0f} MB"


def written(source: str, stub: str) -> bool:
    """Whether a cell holds more than its stub, or than nothing at all."""
    return bool(_lines(source)) and _lines(source) != _lines(stub)


def _lines(source: str) -> list[str]:
    return [line.rstrip() for line in source.splitlines() if line.strip()]


def of_answers(read: Read, ids: tuple[str, ...]) -> Iterator[str]:
    """The ids that a notebook has."""
    return (id for id in ids if id in read.answers)
