"""The preloaded process, seen from the one that grades: how it starts, is asked, and is ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from select import select
from typing import IO

from classroom import wire
from classroom.assignment import ClassroomError
from classroom.processes import began, below
from classroom.protection import ROOT

#: Seconds for the set-up cells.
START_SECONDS = 900.0


class Broken(Exception):
    """The preloaded process has ended or does not answer."""


class Process:
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

    def send(self, number: int, job: Mapping) -> None:
        self._write({"number": number, **job})

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
