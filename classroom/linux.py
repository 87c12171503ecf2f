"""The system calls of Linux that hold a process in. Each raises OSError when it is refused.

Python 3.11 has none of them. What they do: unshare(2), mount(2), mount_setattr(2), pivot_root(2),
prctl(2), capset(2).
"""

from __future__ import annotations

import ctypes
import os
import platform
from functools import cache

NEWNS, NEWUTS, NEWIPC = 0x00020000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_RDONLY, MS_NOSUID, MS_NODEV = 1, 2, 4
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 32, 4096, 16384, 1 << 18
_DETACH = 2
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_SET_PDEATHSIG, _CAPBSET_DROP, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS = 1, 24, 36, 38
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR = 442


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object) -> int:
    """A function of the C library, by name; OSError with its name when it returns −1."""
    result = getattr(_libc(), name)(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def syscall(number: int, *arguments: object) -> int:
    """A system call that the C library has no function for."""
    longs = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return call("syscall", ctypes.c_long(number), *longs)


def prctl(option: int, *arguments: object) -> int:
    longs = [ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments]
    return call("prctl", option, *longs, *[ctypes.c_ulong(0)] * (4 - len(longs)))


def unshare(flags: int) -> None:
    call("unshare", flags)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    text = [os.fsencode(t) for t in (source, target, kind)]
    call("mount", *text, ctypes.c_ulong(flags), os.fsencode(options))


def bind(source: str, target: str) -> None:
    """Show ``source``, and what is mounted below it, at ``target`` as well."""
    mount(source, target, flags=MS_BIND | MS_REC)


def read_only(target: str, *, below: bool = True) -> None:
    """Nothing can be written to this mount any more (nor to those below it), and no set-uid."""
    attributes = (ctypes.c_uint64 * 4)(MS_RDONLY | MS_NOSUID, 0, 0, 0)
    try:
        flags = _AT_RECURSIVE if below else 0
        size = ctypes.sizeof(attributes)
        path = os.fsencode(target)
        syscall(_MOUNT_SETATTR, _AT_FDCWD, path, flags, ctypes.byref(attributes), size)
    except OSError:  # before Linux 5.12: without the mounts below, keeping flags that are locked
        kept = os.statvfs(target).f_flag & (MS_NOSUID | MS_NODEV | os.ST_NOEXEC)
        flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | kept
        mount("none", target, flags=flags)


def new_root(folder: str) -> None:
    """Make a mounted folder the root of everything; what was outside is gone."""
    os.chdir(folder)
    syscall(_PIVOT_ROOT[platform.machine()], b".", b".")
    call("umount2", b".", _DETACH)
    os.chdir("/")


def no_new_privileges() -> None:
    prctl(_SET_NO_NEW_PRIVS, 1)


def die_with_parent(signal: int) -> None:
    prctl(_SET_PDEATHSIG, signal)


def adopt_orphans() -> None:
    """Processes below this one whose parents end become its children."""
    prctl(_SET_CHILD_SUBREAPER, 1)


def drop_capabilities() -> None:
    """Give up every right of root, those of a user namespace included."""
    for number in range(64):
        try:
            prctl(_CAPBSET_DROP, number)
        except OSError:  # after the last one
            break
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    call("capset", ctypes.byref(header), ctypes.byref(nothing))


def map_self(uid: int, gid: int) -> None:
    """In a fresh user namespace: be who one was."""
    for file, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{file}", "w") as handle:
            handle.write(text)
