"""How an answer ended, from what its process has written and from its exit status."""

from __future__ import annotations

import os
import signal
from typing import NamedTuple

from classroom import wire
from classroom.sandbox import ARMED, Limits

LONGEST_HEADER, LONGEST_RECORD = 4_000, 8 << 20
LONGEST_DETAIL = 400
#: What the process of an answer may say of itself; the rest is for the keeper to say.
SAID = frozenset(
    {"recorded", "syntax-error", "raised-outside", "name-not-defined", "too-much-memory",
     "too-many-processes", "ended-the-process", "no-record"}
)  # fmt: skip
#: Exit status of an answer's process that could not write its record.
CANNOT_WRITE = 3


class Ending(NamedTuple):
    """How an answer ended; ``arrays`` only when it was recorded."""

    status: str
    detail: str = ""
    line: int | None = None
    arrays: bytes = b""


class Exit(NamedTuple):
    """How a process ended: its status, seconds of computing, the most memory in megabytes."""

    code: int
    computed: float
    megabytes: float


def ending_of(record: bytes, end: Exit, limits: Limits) -> Ending:
    """What the record says, or else what the exit status says."""
    if record[:1] != ARMED:
        why = (
            record.decode("utf-8", "replace").strip()
            or f"the process ended before it began ({end.code})"
        )
        return Ending("worker-failed", why)
    if len(record) > 1:
        return said(record[1:])
    if not os.WIFSIGNALED(end.code):
        status = os.WEXITSTATUS(end.code)
        if status == CANNOT_WRITE:
            return Ending("no-record", "the record could not be written")
        return Ending("ended-the-process", f"exit status {status}")
    number = os.WTERMSIG(end.code)
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    killed = number == signal.SIGKILL
    if number == signal.SIGXCPU or (killed and end.computed > limits.seconds):
        return Ending("too-slow", f"{end.computed:.0f} seconds of computing")
    if killed and end.megabytes > limits.memory_mb / 2:
        return Ending("too-much-memory", f"ended by the system at {end.megabytes:.0f} MB")
    return Ending("ended-the-process", name)


def said(data: bytes) -> Ending:
    frames = wire.Frames(LONGEST_HEADER, LONGEST_RECORD)
    try:
        header, body = next(iter(frames.feed(data)))
        status, detail, line = header["status"], header["detail"], header["line"]
    except (wire.WireError, StopIteration, KeyError):
        return Ending("no-record", "the record cannot be read")
    number = line if type(line) is int and 0 < line < 10**6 else None
    if not isinstance(status, str) or status not in SAID or not isinstance(detail, str):
        return Ending("no-record", "the record cannot be read")
    clean = "".join(c if c.isprintable() else " " for c in detail[:LONGEST_DETAIL])
    return Ending(status, clean, number, body if status == "recorded" else b"")
