"""Run small pieces of code under guard, with certain steps: ``python held.py < order > said``.

A process of its own, because it forks, and pytest's may have threads.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from classroom import keeper, sandbox, tree, trying, wire
from classroom.protection import ROOT


def main() -> None:
    order = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o711)
        (folder / "root").mkdir()
        guard = sandbox.Guard(
            steps=frozenset(order["steps"]),
            limits=sandbox.Limits(*order["limits"]),
            visible=tree.visible([ROOT / "attnkit", Path(order["shown"])]),
            hidden=tuple(order["hidden"]),
            root=str(folder / "root"),
        )
        uid = sandbox.free_users(1)[0]
        guard, refused = trying.tried(guard, uid, str(folder))
        said = {}
        for key, code in order["codes"].items():
            work = folder / "work" / key
            work.mkdir(parents=True)
            if "own-user" in guard.steps:
                os.chown(work, uid, uid)
            said[key] = held(guard, uid, str(work), code)
    alive = [pid for pid in Path("/proc").glob("[0-9]*") if order["mark"] in name_of(pid)]
    found = {"steps": sorted(guard.steps), "refused": refused, "said": said, "alive": len(alive)}
    print(json.dumps(found))


def name_of(process: Path) -> str:
    """What a running process calls itself."""
    try:
        status = (process / "status").read_text()
    except OSError:
        return ""
    return "" if "State:\tZ" in status else status.splitlines()[0]


def held(guard: sandbox.Guard, uid: int, folder: str, code: str) -> dict:
    """How a piece of code ends; what it leaves in ``said`` is the detail."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.close(read)
        keeper.keep(guard, uid, folder, write, lambda: lambda record: run(code, record))
    os.close(write)
    with open(read, "rb") as pipe:
        ((header, _),) = wire.Frames().feed(pipe.read())
    os.wait()
    return header


def run(code: str, record: int) -> None:
    space: dict = {"said": None}
    try:
        exec(code, space)
    except BaseException as error:
        space["said"] = f"{type(error).__name__}: {error}"
    header = {"status": "raised-outside", "detail": str(space["said"]), "line": None}
    wire.write(record, wire.pack(header))
    os._exit(0)


if __name__ == "__main__":
    main()
