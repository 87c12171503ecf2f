"""Watches one answer: a process between the preloaded one and the one that runs the answer.

It reads what comes out, counts time, printed text and memory, ends everything that the answer has
started, and says how it ended. What the answer's process has written is hostile until proved
otherwise.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from classroom import wire
from classroom.endings import (
    LONGEST_DETAIL,
    LONGEST_HEADER,
    LONGEST_RECORD,
    Ending,
    Exit,
    ending_of,
)
from classroom.processes import below, end_all_below, end_all_of, memory_together
from classroom.sandbox import ARMED, LINUX, Guard, Refused

#: How often time and memory are looked at, in seconds.
TICK = 0.05
#: What the answer's process does itself before the answer begins; it gives what runs the answer,
#: to be called with the place for the record.
Prepare = Callable[[], Callable[[int], NoReturn]]


@dataclass
class _Pipes:
    """What the keeper has read so far."""

    record: bytearray
    printed: int = 0
    record_open: bool = True


def keep(guard: Guard, uid: int, folder: str, result: int, prepare: Prepare) -> NoReturn:
    """In a fresh fork: run an answer in another, and write how it ended to ``result``."""
    code = 1
    try:
        started = time.monotonic()
        ending = _watched(guard, uid, folder, result, prepare)
        header = {
            "status": ending.status,
            "detail": ending.detail,
            "line": ending.line,
            "seconds": round(time.monotonic() - started, 4),
        }
        wire.write(result, wire.pack(header, ending.arrays))
        code = 0
    finally:
        os._exit(code)


def _watched(guard: Guard, uid: int, folder: str, result: int, prepare: Prepare) -> Ending:
    try:
        guard.watch()
    except Refused as refused:
        return Ending("worker-failed", ": ".join(refused.args))
    record, record_end = os.pipe()
    printed, printed_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become_the_answer(guard, uid, folder, record_end, printed_end, prepare)
    for fd in (record_end, printed_end):
        os.close(fd)
    for fd in (record, printed):
        os.set_blocking(fd, False)
    pipes = _Pipes(bytearray())
    why, ended = _follow(guard, pid, pipes, record, printed, result)
    if ended is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        ended = _wait(pid, None)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    end_all_below(os.getpid())
    if "own-user" in guard.steps and "process-namespace" not in guard.steps:
        end_all_of(uid)
    _drain(record, pipes)
    assert ended is not None
    return why or ending_of(bytes(pipes.record), ended, guard.limits)


def _become_the_answer(
    guard: Guard, uid: int, folder: str, record: int, printed: int, prepare: Prepare
) -> NoReturn:
    """Everything that comes before the first line of the student's."""
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for fd, target in ((null, 0), (printed, 1), (printed, 2)):
            os.dup2(fd, target)
        record = os.dup2(record, 3)
        _close_from(4)
        try:
            guard.arm(uid, folder)
            run = prepare()
        except Exception as error:
            os.write(record, f" {': '.join(map(str, error.args))}".encode()[:LONGEST_DETAIL])
            os._exit(1)
        os.write(record, ARMED)
        run(record)
    finally:
        os._exit(1)


def _close_from(first: int) -> None:
    try:
        fds = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        fds = [first + 2000]
    os.closerange(first, max(fds) + 1)


def _follow(
    guard: Guard, pid: int, pipes: _Pipes, record: int, printed: int, result: int
) -> tuple[Ending | None, Exit | None]:
    """Read and count until the answer has ended or has to be ended.

    Returns why it has to be, and how it has ended if it has by itself.
    """
    limits, begin = guard.limits, time.monotonic()
    poll = select.poll()
    poll.register(record, select.POLLIN)
    poll.register(printed, select.POLLIN)
    poll.register(result, 0)  # an error when nobody reads any more
    looked = begin
    while True:
        events = dict(poll.poll(TICK * 1000))
        if result in events:
            os._exit(_abandoned(pid))
        if record in events and not _read(record, pipes):
            poll.unregister(record)
            pipes.record_open = False
        if len(pipes.record) > LONGEST_RECORD + LONGEST_HEADER:
            return Ending("no-record", "the record is too long"), None
        if not pipes.record_open or _complete(pipes.record):
            ended = _wait(pid, 0.0 if _complete(pipes.record) else TICK)
            if ended or _complete(pipes.record):
                return None, ended
        if printed in events:
            pipes.printed += _count(printed, poll)
        if pipes.printed > limits.output_kb * 1024:
            return Ending("too-much-output", f"more than {limits.output_kb} kB"), None
        now = time.monotonic()
        if now - begin > limits.seconds:
            return Ending("too-slow", f"more than {limits.seconds:g} seconds"), None
        if now - looked >= TICK:
            looked = now
            ended = _wait(pid, 0.0)
            if ended:
                return None, ended
            if _too_large(limits.memory_mb):
                return Ending("too-much-memory", f"more than {limits.memory_mb} MB"), None


def _too_large(megabytes: int) -> bool:
    """Whether several processes together use more than one may; a single one has its own limit."""
    processes = below(os.getpid())
    return len(processes) > 1 and memory_together(processes) > (megabytes << 20)


def _read(fd: int, pipes: _Pipes) -> bool:
    """Take what is there; False at the end."""
    with contextlib.suppress(BlockingIOError):
        data = os.read(fd, 1 << 18)
        pipes.record += data
        return bool(data)
    return True


def _drain(fd: int, pipes: _Pipes) -> None:
    while len(pipes.record) <= LONGEST_RECORD + LONGEST_HEADER:
        try:
            data = os.read(fd, 1 << 18)
        except BlockingIOError:
            return
        if not data:
            return
        pipes.record += data


def _count(fd: int, poll: select.poll) -> int:
    try:
        data = os.read(fd, 1 << 16)
    except BlockingIOError:
        return 0
    if not data:
        poll.unregister(fd)
    return len(data)


def _complete(record: bytearray) -> bool:
    """Whether a whole frame is there, or one that cannot become whole."""
    start = len(ARMED)
    if len(record) < start + wire.LENGTHS.size:
        return False
    header, body = wire.LENGTHS.unpack_from(record, start)
    if header > LONGEST_HEADER or body > LONGEST_RECORD:
        return True
    return len(record) >= start + wire.LENGTHS.size + header + body


def _wait(pid: int, seconds: float | None) -> Exit | None:
    """How the process has ended, if it ends within so many seconds."""
    until = time.monotonic() + (seconds or 0)
    while True:
        found, code, usage = os.wait4(pid, 0 if seconds is None else os.WNOHANG)
        if found:
            size = usage.ru_maxrss / (1024 if LINUX else 1 << 20)
            return Exit(code, usage.ru_utime + usage.ru_stime, size)
        if time.monotonic() >= until:
            return None
        time.sleep(0.001)


def _abandoned(pid: int) -> int:
    """The preloaded process is gone: end the answer and go as well."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    end_all_below(os.getpid())
    return 1
