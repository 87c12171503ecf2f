"""Run the answers of a class, each held in by itself, from processes that are ready beforehand.

:class:`Workers` starts one process per notebook that imports PyTorch and runs the set-up cells
once; every answer then runs in a copy of it (a fork), which costs milliseconds. What comes back is
arrays and small texts. No student's code runs in the process that calls this.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from attnkit import checks
from classroom.process import Broken, Process
from classroom.protection import FAILURES, need_fork
from classroom.sandbox import STEPS, Limits

__all__ = ["Job", "Limits", "Ran", "Workers"]

#: Seconds for an answer on top of its own, before we take it that nothing will come.
GRACE_SECONDS = 20.0


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
        self._process: Process | None = None
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
                process.send(number, job._asdict())
            for header, arrays in process.receive(longest):
                job = sent.pop(header["number"])
                yield job, _ran(job, header, arrays)

    def _ready(self) -> Process:
        if self._process is None:
            process = Process()
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
