"""The store that makes grading restartable: one small file for each result, named by what was run.

The name is a hash of everything a result depends on: the exercise, the student's data, the answer
cells, the expression, the set-up cells, the limits, and the code of attnkit and of the question
bank. A changed answer or check is therefore run again and nothing else is; points are not part of
it. A file is written beside its place and moved there, so that a killed run leaves whole files.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import attnkit
from classroom.assignment import ClassroomError

FORMAT = 1
STORE = ".grades"


@dataclass(frozen=True)
class Outcome:
    """What came of one job: the worker's status and, of a record, the diagnosis as text."""

    status: str
    seconds: float
    name: str
    message: str
    passed: bool = False
    example: Sequence[Sequence[str]] = ()
    expected: Sequence[Sequence[str]] = ()
    got: Sequence[Sequence[str]] = ()
    link: str = ""
    section: str = ""
    detail: str = ""
    line: int | None = None


def code_version(bank: Path | None) -> str:
    """A hash of all code that can change a result: attnkit, and the questions of a bank."""
    folders = [Path(attnkit.__file__).parent, *([bank] if bank else [])]
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            if "__pycache__" not in path.parts:
                digest.update(path.relative_to(folder).as_posix().encode() + b"\0")
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def key_of(*parts: object) -> str:
    """The name of a result: a hash of the JSON of what it depends on."""
    plain = json.dumps([FORMAT, *parts], ensure_ascii=True)
    return hashlib.sha256(plain.encode()).hexdigest()


class Store:
    """Results by key, each with the arrays that it was read from."""

    def __init__(self, folder: Path):
        self.folder = folder / "results"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            os.chmod(folder, 0o700)  # a student's process, run as somebody else, may not look
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
        except OSError as error:
            raise ClassroomError(
                f"{folder} cannot be made ({error.strerror}): name another place with --to."
            ) from None

    def get(self, key: str) -> Outcome | None:
        """The stored result; None when there is none or the file is damaged."""
        try:
            head, _, arrays = self._path(key).read_bytes().partition(b"\n")
            plain = json.loads(head)
            if plain.pop("sha256") != hashlib.sha256(arrays).hexdigest():
                return None
            return Outcome(**plain)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None

    def put(self, key: str, outcome: Outcome, arrays: bytes) -> None:
        """Keep a result."""
        plain = {**asdict(outcome), "sha256": hashlib.sha256(arrays).hexdigest()}
        path = self._path(key)
        path.parent.mkdir(exist_ok=True)
        writing = path.with_suffix(f".{os.getpid()}")
        writing.write_bytes(json.dumps(plain).encode() + b"\n" + arrays)
        os.replace(writing, path)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.result"

    def known(self, keys: Iterable[str]) -> dict[str, Outcome]:
        """Those of the keys that have a result."""
        pairs = ((key, self.get(key)) for key in keys)
        return {key: outcome for key, outcome in pairs if outcome is not None}


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second run out. The system itself lets go of the lock of a process that has ended.

    Raises:
        ClassroomError: when another run is at work here; the message names its process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "lock"
    with open(path, "a+", encoding="utf-8") as file:
        if not _take(file):
            raise ClassroomError(
                f"Another grade is writing there ({_said(path)}). Wait until it is done, or give "
                "this one another place with --to."
            )
        file.seek(0)
        file.truncate()
        file.write(json.dumps({"process": os.getpid(), "since": time.strftime("%H:%M:%S")}))
        file.flush()
        yield


def _said(path: Path) -> str:
    try:
        said: Mapping = json.loads(path.read_text("utf-8"))
        return f"process {said['process']}, since {said['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "it has only just begun"


def _take(file) -> bool:
    """Take the system's lock on an open file; it is not inherited by programs that we start."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            file.seek(2**20)  # behind the text, which stays readable
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
