"""What the class handed in: which files are whose, and which notebook of the assignment each is.

    SUB/<student>/[…/]NN-name.ipynb     a folder for each student; nbgrader's submitted/ too
    SUB/<student>_NN-name.ipynb         files side by side, as a learning platform gives them
    SUB/<student>.ipynb

Links are not followed. A notebook is recognised by its metadata, else by the ids of its answer
cells, else by its name, so that a renamed one is found.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm

from classroom.assignment import Assignment, ClassroomError
from classroom.reading import Read, Trouble, clean, of_answers, read_notebook, trouble
from classroom.variation import folder_of

#: Folders that belong to Jupyter or to a Mac's archive; so does all that begins with a dot.
IGNORED = ("__MACOSX",)
MOST_FILES = 500
DEEPEST = 8
#: What a file manager, Jupyter or a learning platform adds to the name of a second copy.
COPY = r"(?:[-_ ]?(?:\(\d+\)|\d+)|[-_ ]copy\d*)?"


@dataclass
class Submission:
    """All that one student handed in. ``notebooks`` says for each file of the assignment what was
    read; ``notes`` are for the instructor, and those in ``look`` ask for a look."""

    student: str
    notebooks: dict[str, Read | Trouble] = field(default_factory=dict)
    variation: str = ""
    notes: list[str] = field(default_factory=list)
    look: list[str] = field(default_factory=list)


def find(folder: Path, assignment: Assignment) -> list[Submission]:
    """Every student of a folder, by name, and those of the assignment who handed in nothing.

    Raises:
        ClassroomError: when the folder cannot be read or holds neither folders nor notebooks.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise ClassroomError(
            f"{folder} cannot be read ({error.strerror}): name the folder that holds what the "
            "students handed in."
        ) from None
    folders = {folder_of(id): id for id in assignment.variations}
    found: dict[str, list[Path]] = {}
    for entry in entries:
        if _ignored(entry.name):
            continue
        flat = entry.name.lower().endswith(".ipynb")
        if flat or entry.is_dir() or entry.is_symlink():
            student = _student_of(entry.name, assignment) if flat else entry.name
            student = _plain(folders.get(student, student))
            found.setdefault(student, []).append(Path(entry.path))
    if not found:
        raise ClassroomError(
            f"{folder} holds no notebook and no folder of a student. A submission is "
            "<student>/<notebook>.ipynb or <student>_<notebook>.ipynb; unpack archives first."
        )
    bar = tqdm(sorted(found.items()), desc="reading", unit="student", disable=None, delay=2)
    submissions = [_submission(student, paths, assignment) for student, paths in bar]
    return _with_variations(submissions, assignment)


def _ignored(name: str) -> bool:
    return name.startswith(".") or name in IGNORED


def _plain(name: str) -> str:
    """A name as text: letters composed (a Mac's archive has them in parts), no line breaks."""
    text = unicodedata.normalize("NFC", clean(name))
    return "".join(sign if sign.isprintable() else "�" for sign in text)


def _student_of(name: str, assignment: Assignment) -> str:
    stem = name[: -len(".ipynb")]
    for notebook in sorted(assignment.notebooks, key=lambda n: -len(n.file)):
        ending = re.escape(Path(notebook.file).stem)
        if match := re.fullmatch(rf"(.+?)[_ ]+{ending}{COPY}", stem, re.I | re.S):
            return match[1]
    return stem


# ---------------------------------------------------------------------------------- one student


def _submission(student: str, paths: list[Path], assignment: Assignment) -> Submission:
    made = Submission(student)
    files = [file for path in paths for file in _files(path, made)]
    notebooks = [
        file for file in files if _is_notebook(file) or (file in paths and file.is_symlink())
    ]
    if extra := [_plain(file.name) for file in files if file not in notebooks]:
        (made.notes if notebooks else made.look).append("also there, not read: " + _some(extra))
    candidates: dict[str, list[Read | Trouble]] = {}
    strays: list[Trouble] = []
    for file in notebooks:
        read = read_notebook(file)
        which = _which(file, read, assignment)
        if which is not None:
            candidates.setdefault(which, []).append(_checked(read))
            _note_name(made, file, which)
        elif isinstance(read, Trouble):
            strays.append(read)
        else:
            told = f" ({read.assignment})" if read.assignment else ""
            strays.append(trouble("other-assignment", which=told))
    for notebook in assignment.notebooks:
        here = candidates.get(notebook.file, [])
        made.notebooks[notebook.file] = _one(here, notebook.file, made) or _none(strays, files)
    if strays and not any(t in strays for t in made.notebooks.values()):
        made.notes.append("not read: " + _some([f"a notebook ({t.name})" for t in strays]))
    return made


def _files(path: Path, made: Submission) -> Iterator[Path]:
    """The files below a path, in order; what cannot be entered gets a note."""
    if path.is_symlink() or not path.is_dir() or _is_notebook(path):
        yield path
        return
    count = 0
    for folder, folders, names in os.walk(path, onerror=lambda error: _shut(made, error)):
        folders[:] = sorted(name for name in folders if not _ignored(name))
        here = Path(folder)
        if len(here.relative_to(path).parts) >= DEEPEST:
            folders.clear()
        inside = [n for n in folders if n.lower().endswith(".ipynb") or (here / n).is_symlink()]
        folders[:] = [name for name in folders if name not in inside]
        for name in sorted([*names, *inside]):
            if _ignored(name):
                continue
            count += 1
            if count > MOST_FILES:
                made.look.append(f"more than {MOST_FILES} files: the others were not read")
                return
            yield here / name


def _shut(made: Submission, error: OSError) -> None:
    made.look.append(f"a folder cannot be read ({error.strerror})")


def _is_notebook(file: Path) -> bool:
    return file.name.lower().endswith(".ipynb")


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _which(file: Path, read: Read | Trouble, assignment: Assignment) -> str | None:
    """The notebook of the assignment that a file is."""
    if isinstance(read, Read):
        known = {n.file for n in assignment.notebooks}
        shared = {n: sum(1 for _ in of_answers(read, _ids(assignment, n))) for n in known}
        if read.notebook in known and read.assignment == assignment.name:
            return read.notebook
        best = max(sorted(shared), key=lambda n: shared[n], default="")
        return best if shared.get(best) else None
    name = unicodedata.normalize("NFC", clean(file.stem)).lower()
    named = [n.file for n in assignment.notebooks if Path(n.file).stem.lower() in name]
    if len(assignment.notebooks) == 1:
        named = named or [assignment.notebooks[0].file]
    return max(named, key=len, default=None)


def _ids(assignment: Assignment, notebook: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(id for q in assignment.of(notebook) for id in q.answers))


def _checked(read: Read | Trouble) -> Read | Trouble:
    if isinstance(read, Read) and read.language:
        return trouble("wrong-kernel", language=read.language)
    return read


def _note_name(made: Submission, file: Path, which: str) -> None:
    if Path(which).stem.lower() not in file.stem.lower() and made.student != _plain(file.stem):
        made.notes.append(f"{_plain(file.name)} was recognised as {which}")


def _one(here: list[Read | Trouble], notebook: str, made: Submission) -> Read | Trouble | None:
    """Which of several files is scored: the readable one that has the name, or all say the same."""
    reads = [read for read in here if isinstance(read, Read)]
    if len(here) < 2 or not reads:
        return here[0] if here else None
    stem = Path(notebook).stem.lower()
    named = [
        r for r in reads if re.fullmatch(rf"(?:.*[_ ])?{re.escape(stem)}", r.path.stem.lower())
    ]
    for chosen in (named, reads):
        if chosen and all(read.answers == chosen[0].answers for read in chosen):
            made.notes.append(
                f"{len(here)} files for {notebook}: {_plain(chosen[0].path.name)} counts"
            )
            return chosen[0]
        if chosen is named and named:
            break
    names = _some(sorted(_plain(read.path.name) for read in reads))
    return trouble("two-files", count=len(reads), files=names)


def _none(strays: list[Trouble], files: list[Path]) -> Trouble:
    """Why there is no such notebook: another one is there, or nothing is."""
    if strays:
        return strays[0]
    names = [_plain(file.name) for file in files if not _is_notebook(file)]
    return trouble("empty", more=f" Only this is there: {_some(names)}." if names else "")


# ---------------------------------------------------------------------------- whose data it is


def _with_variations(submissions: list[Submission], assignment: Assignment) -> list[Submission]:
    """Give each student the code of the data that their notebook has, and say what is odd."""
    codes = {_plain(id): code for id, code in assignment.variations.items()}
    said = {s.student: _named_students(s) for s in submissions}
    claims = Counter(id for s in submissions if s.student not in codes for id in said[s.student])
    for made in submissions:
        others = [id for id in said[made.student] if id != made.student]
        if made.student in codes or not codes:
            made.variation = codes.get(made.student, "")
            made.look += [f"the notebook was made for {id}" for id in others]
        elif len(others) == 1 and others[0] in codes:
            made.variation = codes[others[0]]
            made.notes.append(f"graded with the data of {others[0]}, whom the notebook names")
            if claims[others[0]] > 1 or others[0] in said:
                made.look.append(f"several submissions have the notebook of {others[0]}")
        elif any(isinstance(read, Read) for read in made.notebooks.values()):
            made.look.append("whose data it has is unknown: graded with the book's own")
    absent = sorted(set(codes) - {s.student for s in submissions} - set(claims))
    empty = {n.file: trouble("empty", more="") for n in assignment.notebooks}
    nothing = [Submission(id, dict(empty), codes[id]) for id in absent]
    return sorted([*submissions, *nothing], key=lambda made: made.student)


def _named_students(made: Submission) -> list[str]:
    """The ids that the notebooks name, each once."""
    reads = [read for read in made.notebooks.values() if isinstance(read, Read)]
    return sorted({_plain(read.student) for read in reads if read.student})
