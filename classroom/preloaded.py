"""The process that answers are forked from: ``python -m classroom.preloaded``, started by Workers.

It has loaded everything and run the set-up cells before the first answer comes, and holds nothing
that a student must not see: no submissions, no names, no environment of the instructor's.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import selectors
import shutil
import sys
import tempfile
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from classroom import sandbox, tree, trying, wire
from classroom.sandbox import Guard, Limits

_PIECE = 1 << 18


class SetUpFailed(Exception):
    """A set-up cell that raises, or a bank that cannot be loaded."""


@dataclass
class Kept:
    """An answer that is running: the process that watches it, and what that has said so far."""

    pid: int
    slot: int
    number: int
    folder: str
    frames: wire.Frames = field(default_factory=wire.Frames)
    header: dict | None = None
    arrays: bytes = b""

    def hear(self, data: bytes) -> None:
        for header, arrays in self.frames.feed(data):
            self.header, self.arrays = header, arrays


@dataclass
class Place:
    """What the process was started with, ready for answers."""

    guard: Guard
    users: list[int]
    folder: Path
    namespace: dict[str, object]


def main() -> None:
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    frames = wire.Frames()
    order = next(_incoming(source, frames), None)
    if order is None:
        return
    folder = Path(tempfile.mkdtemp(prefix="answers-"))
    folder.chmod(0o711)
    try:
        try:
            place, refused = _prepare(order, folder)
        except (SetUpFailed, sandbox.Unsafe) as failed:
            wire.write(sink, wire.pack({"failed": str(failed)}))
            return
        ready = {"ready": True, "steps": sorted(place.guard.steps), "refused": refused}
        wire.write(sink, wire.pack(ready))
        _serve(place, source, sink, frames)
    finally:
        with contextlib.suppress(RecursionError):
            shutil.rmtree(folder, ignore_errors=True)


def _incoming(fd: int, frames: wire.Frames) -> Iterator[dict]:
    while data := os.read(fd, _PIECE):
        for header, _ in frames.feed(data):
            yield header


def _prepare(order: dict, folder: Path) -> tuple[Place, dict[str, str]]:
    import attnkit

    package = Path(attnkit.__file__).parent
    root = folder / "root"
    root.mkdir(mode=0o755)
    users = list(sandbox.free_users(order["at_once"]))
    guard = Guard(
        steps=frozenset(order["steps"]),
        limits=Limits(*order["limits"]),
        visible=tree.visible([package]),
        hidden=(str(package / "checks"), *order["hide"]),
        root=str(root),
    )
    guard, refused = trying.tried(guard, users[0], str(folder))
    namespace = _set_up(order["setup"], order["bank"])
    return Place(guard, users, folder, namespace), refused


def _set_up(cells: list[str], bank: str | None) -> dict[str, object]:
    """Import what answers need, and run the set-up cells in a module of their own.

    Without what only serves the book: its asserts hold numbers of the text, times among them.
    """
    from bookext.setup_cells import set_up
    from classroom import cells as code

    for name in ("numpy", "torch", "attnkit.checks", "safetensors.numpy", "classroom.answer"):
        importlib.import_module(name)
    import torch

    from attnkit import checks

    torch.set_num_threads(1)
    with contextlib.suppress(ImportError):
        from tqdm import tqdm

        tqdm.monitor_interval = 0
    code.no_book()
    if bank is not None:
        try:
            checks.load_bank(Path(bank))
        except Exception as error:
            raise SetUpFailed(f"the bank {bank} cannot be loaded: {error}") from error
    checks.exercise_ids()
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    vars(module).update(code.stand_ins())
    for number, source in enumerate(cells, 1):
        try:
            kept = set_up(source, hidden=True)
            exec(code.compiled(kept, f"<set-up cell {number}>"), vars(module))
        except BaseException as error:
            first = next((line for line in source.splitlines() if line.strip()), "")
            raise SetUpFailed(
                f"the notebook's set-up cell {number} (it begins with {first[:80]!r}) raises "
                f"{type(error).__name__}: {error}"
            ) from error
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
    gc.collect()
    gc.freeze()
    return vars(module)


def _serve(place: Place, source: int, sink: int, frames: wire.Frames) -> None:
    """Take jobs and hand back how they ended, until nobody sends any more."""
    running: dict[int, Kept] = {}
    free = list(range(len(place.users)))
    with selectors.DefaultSelector() as selector:
        selector.register(source, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                data = os.read(key.fd, _PIECE)
                if key.fd == source:
                    if not data:
                        return _leave(running)
                    for job, _ in frames.feed(data):
                        fd, kept = _start(place, job, free.pop(), [source, sink, *running])
                        running[fd] = kept
                        selector.register(fd, selectors.EVENT_READ)
                elif data:
                    running[key.fd].hear(data)
                else:
                    selector.unregister(key.fd)
                    free.append(running[key.fd].slot)
                    _finish(key.fd, running.pop(key.fd), sink)


def _start(place: Place, job: dict, slot: int, others: list[int]) -> tuple[int, Kept]:
    """Fork the process that watches a job."""
    from classroom import answer, keeper

    number = job["number"]
    folder = str(place.folder / f"{number}")
    uid = place.users[slot]
    os.mkdir(folder, 0o700)
    if "own-user" in place.guard.steps:
        os.chown(folder, uid, uid)
    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        try:
            for fd in (*others, read):
                os.close(fd)
            keeper.keep(
                place.guard, uid, folder, write, lambda: answer.prepare(job, place.namespace)
            )
        finally:
            os._exit(1)
    os.close(write)
    return read, Kept(pid, slot, number, folder)


def _finish(fd: int, kept: Kept, sink: int) -> None:
    os.close(fd)
    os.waitpid(kept.pid, 0)
    with contextlib.suppress(RecursionError):
        shutil.rmtree(kept.folder, ignore_errors=True)
    header = kept.header or {
        "status": "worker-failed",
        "detail": "the process that watched the answer ended",
        "line": None,
        "seconds": 0.0,
    }
    wire.write(sink, wire.pack({**header, "number": kept.number}, kept.arrays))


def _leave(running: dict[int, Kept]) -> None:
    """Nobody reads results any more: whoever watches an answer ends it, and so they all go."""
    for fd, kept in running.items():
        os.close(fd)
        os.waitpid(kept.pid, 0)


if __name__ == "__main__":
    main()
