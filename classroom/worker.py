"""Run the answers of a class, each held in by itself, from processes that are ready beforehand.

:class:`Workers` starts one process per notebook that imports PyTorch and runs the set-up cells
once; every answer then runs in a copy of it (a fork), which costs milliseconds. What comes back is
arrays and small texts. No student's code runs in the process that calls this.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from select import select
from typing import IO, NamedTuple

from attnkit import checks
from classroom import wire
from classroom.assignment import ClassroomError
from classroom.processes import began, below
from classroom.protection import FAILURES, ROOT, need_fork
from classroom.sandbox import STEPS, Limits

__all__ = ["Job", "Limits", "Ran", "Workers"]

#: Seconds for the set-up cells, and for an answer on top of its own, before we start again.
START_SECONDS, GRACE_SECONDS = 900.0, 20.0


class Job(NamedTuple):
    """One exercise of one submission: ``sources`` are the student's answer cells in order,
    ``expression`` is evaluated behind them and its value probed as ``check``."""

    key: str
    check: str
    variation: str
    sources: tuple[str, ...]
    expression: str


class Ran(NamedTuple):
    """What became of a job: ``status`` is "recorded", and then ``arrays`` holds the bytes of
    ``to_bytes(probe(...))``, or a name of :data:`classroom.protection.FAILURES`."""

    key: str
    status: str
    arrays: bytes
    detail: str
    line: int | None
    seconds: float


class Broken(Exception):
    """The preloaded process has ended or does not answer."""


class Workers:
    """Runs jobs, at most ``at_once`` at a time; a context manager.

    ``setup`` are trusted cells, run once before all answers; ``bank`` is a folder of further
    exercises; ``hide`` are paths that no answer may read. ``steps`` (for tests) are those of
    :data:`classroom.sandbox.STEPS` to take; the ones that the system refuses are left out.
    """

    def __init__(
        self,
        setup: Sequence[str],
        *,
        bank: Path | None = None,
        limits: Limits | None = None,
        at_once: int = 2,
        hide: Sequence[Path] = (),
        steps: Iterable[str] | None = None,
    ) -> None:
        need_fork()
        if at_once < 1:
            raise ValueError(f"at_once must be 1 or more, got {at_once}")
        self.limits = limits or Limits()
        self.at_once = at_once
        self.steps: frozenset[str] = frozenset()
        self._order = {
            "setup": list(setup),
            "bank": None if bank is None else str(Path(bank).resolve()),
            "limits": list(self.limits),
            "at_once": at_once,
            "hide": [str(Path(path).resolve()) for path in hide],
            "steps": sorted(STEPS if steps is None else steps),
        }
        self._process: _Process | None = None
        self._numbers = count()

    def __enter__(self) -> Workers:
        self._ready()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def run(self, jobs: Iterable[Job]) -> Iterator[Ran]:
        """Run jobs and yield what became of each, as they finish: every job once.

        Jobs that differ in nothing but their keys are run once.

        Raises:
            ClassroomError: when a set-up cell raises.
        """
        keys: dict[tuple, list[str]] = {}
        for job in jobs:
            keys.setdefault(tuple(job[1:]), []).append(job.key)
        for job, ran in self._each([Job(str(n), *what) for n, what in enumerate(keys)]):
            for key in keys[tuple(job[1:])]:
                yield ran._replace(key=key)

    def _each(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Ran]]:
        """Every job once: together first; those that something happened to again, by themselves."""
        waiting, again = deque(jobs), deque[Job]()
        while waiting:
            sent: dict[int, Job] = {}
            try:
                for job, ran in self._stream(waiting, sent):
                    if ran.status == "worker-failed":
                        again.append(job)
                    else:
                        yield job, ran
            except Broken:
                again.extend(sent.values())
                self._stop()
            except GeneratorExit:  # nobody wants the rest
                self._stop()
                raise
        for job in again:
            yield job, self._by_itself(job)

    def _by_itself(self, job: Job) -> Ran:
        try:
            return next(ran for _, ran in self._stream(deque([job]), {}))
        except Broken as broken:
            self._stop()
            return Ran(job.key, "worker-failed", b"", str(broken), None, 0.0)

    def _stream(self, waiting: deque[Job], sent: dict[int, Job]) -> Iterator[tuple[Job, Ran]]:
        """Keep the process busy; ``sent`` holds the jobs that it has at any moment."""
        process, longest = self._ready(), self.limits.seconds + GRACE_SECONDS
        while waiting or sent:
            while waiting and len(sent) < self.at_once:
                job = waiting.popleft()
                sent[number := next(self._numbers)] = job
                process.send(number, job)
            for header, arrays in process.receive(longest):
                job = sent.pop(header["number"])
                yield job, _ran(job, header, arrays)

    def _ready(self) -> _Process:
        if self._process is None:
            process = _Process()
            try:
                self.steps = process.start(self._order)
            except BaseException:
                process.stop()
                raise
            self._process = process
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            self._process.stop()
            self._process = None


def _ran(job: Job, header: dict, arrays: bytes) -> Ran:
    """A result as the grader may trust it: a known name, and bytes that are arrays."""
    status, detail = header["status"], header["detail"]
    if status == "recorded":
        try:
            checks.from_bytes(arrays)
        except Exception:  # bytes that a student's process has written may hold anything
            status, detail, arrays = "no-record", "the record cannot be read", b""
    elif status not in FAILURES:
        status, detail = "worker-failed", f"unknown status {status!r}"
    return Ran(job.key, status, arrays, detail, header["line"], header["seconds"])


class _Process:
    """The preloaded process and the pipes to it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="classroom-")
        self._log: IO[bytes] = open(Path(self._folder.name) / "log", "w+b")
        self._frames = wire.Frames()
        Path(self._folder.name).chmod(0o711)  # the users of answers pass through to theirs
        empty = Path(self._folder.name) / "empty"
        empty.mkdir()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "classroom.preloaded"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=empty,
            env=_environment(empty),
            start_new_session=True,
        )
        assert self._process.stdin and self._process.stdout
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()

    def start(self, order: dict) -> frozenset[str]:
        """Have the set-up run; the steps that hold answers in.

        Raises:
            ClassroomError: when a set-up cell raises, or the process does not come up.
        """
        try:
            self._write(order)
            header, _ = self.receive(START_SECONDS)[0]
        except Broken as broken:
            raise ClassroomError(
                f"the process that runs answers does not start ({broken}):\n{self._logged()}"
            ) from None
        if "failed" in header:
            raise ClassroomError(header["failed"])
        return frozenset(header["steps"])

    def send(self, number: int, job: Job) -> None:
        self._write({"number": number, **job._asdict()})

    def _write(self, header: dict) -> None:
        try:
            wire.write(self._to, wire.pack(header))
        except BrokenPipeError:
            raise Broken(self._ending()) from None

    def receive(self, seconds: float) -> list[tuple[dict, bytes]]:
        """At least one frame."""
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            if left <= 0 or not select([self._from], [], [], left)[0]:
                raise Broken(f"it has not answered for {seconds:g} seconds")
            data = os.read(self._from, 1 << 18)
            if not data:
                raise Broken(self._ending())
            try:
                found = list(self._frames.feed(data))
            except wire.WireError as error:
                raise Broken(str(error)) from None
            if found:
                return found

    def _ending(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return f"it has ended with status {self._process.wait(5)}"
        return "it reads no more"

    def _logged(self) -> str:
        self._log.seek(0)
        return self._log.read()[-4000:].decode("utf-8", "replace").strip()

    def stop(self) -> None:
        """End it and everything that it has started."""
        started = {pid: began(pid) for pid in below(self._process.pid)}
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pid, when in started.items():  # gone by now, unless the process was killed
            with contextlib.suppress(OSError):
                if when and began(pid) == when:
                    os.kill(pid, signal.SIGKILL)
        self._log.close()
        with contextlib.suppress(OSError):
            self._folder.cleanup()


def _environment(folder: Path) -> dict[str, str]:
    """What Python needs, and nothing of the caller's: no keys, no names, no paths of a home."""
    kept = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ", "SYSTEMROOT")
    threads = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        **dict.fromkeys(threads, "1"),
        "LANG": "C.UTF-8",
        "PATH": os.defpath,
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "Agg",
        "HOME": str(folder),
        "MPLCONFIGDIR": str(folder),
        "IPYTHONDIR": str(folder),
        "TMPDIR": str(folder.parent),
        "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",
    }
