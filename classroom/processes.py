"""Finding and ending processes: those below one, those of a user."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Sequence


def below(pid: int) -> list[int]:
    """The processes that this one started, and those they started; empty where it is not told."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        children = _children(waiting.pop())
        found += children
        waiting += children
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:
                children += map(int, file.read().split())
    return children


def began(pid: int) -> str:
    """When a process began, in the system's own count; empty when it is gone.

    The number of a process is given to another one after its end; number and beginning are not."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[19]
    return ""


def memory_together(pids: Sequence[int]) -> int:
    """Bytes that these processes have for themselves; what they share is counted once."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as file:
            total += sum(map(int, re.findall(r"^Pss_(?:Anon|Shmem):\s+(\d+)", file.read(), re.M)))
    return total * 1024


def end_all_below(pid: int, seconds: float = 5.0) -> None:
    """Kill everything below a process of ours and wait for it; orphans come to us (Linux)."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        left = below(pid)
        for child in left:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not left:
            return
        time.sleep(0.002)


def end_all_of(uid: int) -> None:
    """Kill every process of a user, by being that user: no new one can slip through."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(uid)
            # The one call that could end everything, if this were still root.
            for _ in range(100 if os.getuid() == os.geteuid() == uid != 0 else 0):
                os.kill(-1, signal.SIGKILL)  # ProcessLookupError when none is left
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
