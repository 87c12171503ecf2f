"""The file system of one answer: Python, the packages, a little room to write, and nothing else.

Homes, other submissions, the assignment and the book's sources are not in it. It is put together in
a mount namespace of its own and is gone with it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from classroom import linux

WORK = "/answer"
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/opt/conda",
          "/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/fonts")  # fmt: skip
_SPARE = "/.room"


def visible(packages: Iterable[Path]) -> tuple[str, ...]:
    """What an answer has to see: the system's libraries, Python, where packages are found, and
    ``packages`` that lie among other things (the project's own folder holds solutions too)."""
    packages = [Path(package).resolve() for package in packages]
    project = {package.parent for package in packages}
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths = {path for path in sys.path if path and os.path.isdir(path)}
    paths = {path for path in paths if Path(path).resolve() not in project}
    everything = {*SYSTEM, *prefixes, *paths, *map(str, packages)}
    everything |= {os.path.realpath(path) for path in everything}
    there = {path for path in everything if os.path.lexists(path) and path != "/"}
    # What is below another of them is seen with it.
    return tuple(sorted(path for path in there if there.isdisjoint(map(str, Path(path).parents))))


def build(
    root: str, shown: Sequence[str], hidden: Sequence[str], megabytes: int, processes: bool
) -> None:
    """Make the file system at ``root`` (an empty folder) and move into it."""
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("none", root, "tmpfs", options="mode=755,size=1m")
    os.mkdir(root + _SPARE)
    room = f"mode=755,size={megabytes}m,nr_inodes=4096"
    linux.mount("none", root + _SPARE, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, room)
    for place in ("/tmp", WORK):
        os.mkdir(root + _SPARE + place)
        os.chmod(root + _SPARE + place, 0o1777)
        os.mkdir(root + place)
        linux.bind(root + _SPARE + place, root + place)
    for path in shown:
        _show(root, path)
    for path in hidden:
        _hide(root, path)
    _devices(root)
    if processes:
        os.mkdir(root + "/proc")
        with contextlib.suppress(OSError):  # refused where the container's own is cut down
            linux.mount("proc", root + "/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV)
    linux.call("umount2", os.fsencode(root + _SPARE), 2)
    linux.read_only(root, below=False)
    linux.new_root(root)


def _show(root: str, path: str) -> None:
    """The same path in the new file system, read-only; a link stays a link."""
    target = root + path
    os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
    if os.path.islink(path):
        os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.makedirs(target, mode=0o755, exist_ok=True)
    else:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    linux.bind(path, target)
    linux.read_only(target)


def _hide(root: str, path: str) -> None:
    """An empty folder, or an empty file, in its place."""
    target = root + os.path.realpath(path)
    if os.path.isdir(target):
        linux.mount("none", target, "tmpfs", linux.MS_RDONLY, "mode=555,size=4k")
    elif os.path.exists(target):
        linux.bind(os.devnull, target)


def _devices(root: str) -> None:
    os.makedirs(root + "/dev", exist_ok=True)
    for path in DEVICES:
        os.close(os.open(root + path, os.O_CREAT | os.O_WRONLY, 0o644))
        linux.bind(path, root + path)
    for link, target in (("/dev/shm", "/tmp"), ("/var/tmp", "/tmp"), ("/dev/fd", "/proc/self/fd")):
        os.makedirs(os.path.dirname(root + link), exist_ok=True)
        os.symlink(target, root + link)
