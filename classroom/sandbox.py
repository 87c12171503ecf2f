"""What holds one answer in: steps that the process of an answer takes before it runs any of it.

A step that the system refuses is left out for every answer; :mod:`classroom.trying` finds out
which work, by taking them. On Linux these are namespaces, a small file system, limits, another
user, filters; on other systems the limits alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from classroom import filters, linux, tree

LINUX = sys.platform == "linux"
#: The steps, in the order in which they are taken. The first two belong to the process that
#: watches, the others to that of the answer.
STEPS = (
    "user-namespace",
    "process-namespace",
    "own-files",
    "network-namespace",
    "memory-namespace",
    "limits",
    "memory",
    "no-new-privileges",
    "own-user",
    "landlock",
    "system-calls",
)
#: What the process of an answer writes before it runs any of it.
ARMED = b"A"
AS_ROOT = (
    "the grader runs as root and cannot become another user to run answers; with root's rights "
    "they are not run. Run the grader as an ordinary user. "
)
AS_ANOTHER = (
    "the grader runs as root, answers run as another user, and that user cannot read what they "
    "need. Run the grader as an ordinary user, or have Python and this project where everybody can "
    "read them. Closed are "
)


class Limits(NamedTuple):
    """What one answer may use: seconds by the clock, memory and files in megabytes (of memory, for
    all its processes together where the system tells), printed kilobytes, processes and threads.

    An endless loop in a function costs three seconds, because the check itself stops it; these
    seconds are for what it cannot stop, and an experiment has to fit into them."""

    seconds: float = 40
    memory_mb: int = 1024
    output_kb: int = 256
    processes: int = 16
    files_mb: int = 32


@dataclass(frozen=True)
class Guard:
    """How answers are held in here: the steps to take, the limits, and what they may see."""

    steps: frozenset[str]
    limits: Limits
    visible: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    root: str = ""
    """An empty folder: the place where an answer's file system is put together."""

    def watch(self) -> None:
        """What the process that starts an answer does first."""
        if not LINUX:
            return
        linux.adopt_orphans()
        uid, gid = os.getuid(), os.getgid()
        if "user-namespace" in self.steps:
            with _step("user-namespace"):
                linux.unshare(linux.NEWUSER)
                linux.map_self(uid, gid)
        if "process-namespace" in self.steps:
            with _step("process-namespace"):
                linux.unshare(linux.NEWPID)

    def arm(self, uid: int, folder: str) -> None:
        """What the process of an answer does before it runs any of it.

        ``uid`` is the user to become, where "own-user" is a step; ``folder`` is where the answer
        may write if it has no files of its own.

        Raises:
            Refused: with the step that the system refuses.
        """
        work = folder
        acts: dict[str, Callable[[], None]] = {
            "own-files": lambda: self._own_files(),
            "network-namespace": lambda: linux.unshare(linux.NEWNET),
            "memory-namespace": lambda: linux.unshare(linux.NEWIPC | linux.NEWUTS),
            "limits": lambda: limit(self.limits, alone="own-user" in self.steps or self._apart),
            "memory": lambda: limit_memory(self.limits.memory_mb),
            "no-new-privileges": linux.no_new_privileges,
            "own-user": lambda: become(uid),
            "landlock": lambda: filters.restrict_files(
                [*self.visible, "/proc/self"], [folder, *tree.DEVICES]
            ),
            "system-calls": lambda: filters.refuse_calls(
                signals="process-namespace" not in self.steps
            ),
        }
        if "own-files" in self.steps:
            work = tree.WORK
        for step, act in acts.items():
            if step in self.steps:
                with _step(step):
                    act()
        if os.getuid() == 0:
            raise Unsafe(AS_ROOT)
        needed = (os.__file__, *(path for path in self.visible if path not in tree.SYSTEM))
        closed = [path for path in needed if not os.access(path, os.R_OK)]
        if closed:
            raise Unsafe(AS_ANOTHER + ", ".join(closed))
        if self._apart:
            linux.drop_capabilities()
        if LINUX:
            linux.die_with_parent(signal.SIGKILL)
        os.chdir(work)
        os.umask(0o077)
        _clear_environment(work)

    @property
    def _apart(self) -> bool:
        return "user-namespace" in self.steps

    def _own_files(self) -> None:
        linux.unshare(linux.NEWNS)
        processes = "process-namespace" in self.steps
        tree.build(self.root, self.visible, self.hidden, self.limits.files_mb, processes)


class Refused(Exception):
    """A step that the system does not allow: its name, and why."""


class Unsafe(Exception):
    """No answer may be run here; the message says why."""


@contextlib.contextmanager
def _step(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise Refused(name, str(error)) from error


def become(uid: int) -> None:
    """Be another user, of no group, for good (root gives up all three of its numbers)."""
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)


def limit(limits: Limits, *, alone: bool) -> None:
    """Set the limits of this process and of those it starts.

    ``alone``: nobody else runs as this user, so that all processes of the user may be counted.
    """
    import resource  # there is none on Windows, where this module is read all the same

    seconds, mega = int(limits.seconds) + 2, 1 << 20
    processes = limits.processes + (0 if alone else running_now())
    for name, soft, hard in (
        ("RLIMIT_CORE", 0, 0),
        ("RLIMIT_CPU", seconds, seconds + 2),
        ("RLIMIT_FSIZE", limits.files_mb * mega, limits.files_mb * mega),
        ("RLIMIT_NOFILE", 256, 256),
        ("RLIMIT_NPROC", processes, processes),
        ("RLIMIT_MEMLOCK", 0, 0),
        ("RLIMIT_MSGQUEUE", 0, 0),
    ):
        which = getattr(resource, name, None)  # not every system has all of them
        if which is not None:
            most = resource.getrlimit(which)[1]
            if most != resource.RLIM_INFINITY:
                soft, hard = min(soft, most), min(hard, most)
            resource.setrlimit(which, (soft, hard))


def limit_memory(megabytes: int) -> None:
    """So much memory on top of what is mapped already."""
    import resource

    if not LINUX:  # macOS knows the name and does not keep to it
        raise OSError("this system limits no memory")
    memory, mega = mapped() + (megabytes << 20), 1 << 20
    # The upper bound leaves room to say that there was none.
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory + 64 * mega))


def mapped() -> int:
    """Bytes of address space that this process has already."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")


def running_now() -> int:
    """How many threads this user has already, roughly; where the system does not tell, plenty."""
    uid, count = os.getuid(), 0
    try:
        for entry in os.scandir("/proc"):
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and entry.stat().st_uid == uid:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
    except OSError:
        return 500
    return count


def _clear_environment(work: str) -> None:
    kept = {key: os.environ[key] for key in ("LANG", "LC_ALL", "TZ") if key in os.environ}
    os.environ.clear()
    os.environ.update(kept, HOME=work, TMPDIR=work, PATH="/usr/bin:/bin", OMP_NUM_THREADS="1")


def free_users(count: int, first: int = 61184, last: int = 65000) -> Sequence[int]:
    """Numbers of users that nobody is at present."""
    span = last - first
    taken = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir("/proc"):
            with contextlib.suppress(OSError):
                taken.add(entry.stat().st_uid)
    start = (os.getpid() * 37) % span
    every = (first + (start + offset) % span for offset in range(span))
    free = (uid for uid in every if uid not in taken)
    return [next(free) for _ in range(count)]
