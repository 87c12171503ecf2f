"""Which of the steps that hold an answer in work here: found out by taking them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from classroom import sandbox
from classroom.sandbox import AS_ROOT, STEPS, Guard, Refused, Unsafe

_NEED_A_USER_NAMESPACE = STEPS[1:5]


def possible() -> frozenset[str]:
    """The steps that make sense here; whether they work is another matter."""
    root = os.getuid() == 0
    every = frozenset(STEPS) if sandbox.LINUX else frozenset({"limits", "memory", "own-user"})
    return every - ({"user-namespace"} if root else {"own-user"})


def tried(guard: Guard, uid: int, folder: str) -> tuple[Guard, dict[str, str]]:
    """The guard with the steps that work here, and why the others do not, by step.

    All steps are taken together, in processes that do nothing else; what is refused is left out and
    the rest is tried again.

    Raises:
        Unsafe: when an answer would have the rights of root, or when something else goes wrong
            than a step that is refused.
    """
    refused: dict[str, str] = {}
    steps = guard.steps & possible()
    while True:
        # Landlock takes the place of files of one's own.
        guard = replace(guard, steps=steps - {"landlock"} if "own-files" in steps else steps)
        if os.getuid() == 0 and "own-user" not in guard.steps:
            raise Unsafe(AS_ROOT + refused.get("own-user", ""))
        answer = _attempt(guard, uid, folder)
        if answer is None:
            return guard, refused
        name, why = answer
        if name not in guard.steps:
            raise Unsafe(f"what holds answers in does not work here: {name} {why}")
        gone = {name, *(_NEED_A_USER_NAMESPACE if name == "user-namespace" else ())} & steps
        refused.update(dict.fromkeys(gone, why))
        steps -= gone


def _attempt(guard: Guard, uid: int, folder: str) -> tuple[str, str] | None:
    """Take the steps in two processes like those of an answer; what is refused first, or None."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            _taken(lambda: _both(guard, uid, folder, write), write)
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        text = pipe.read().decode("utf-8", "replace")
    os.waitpid(pid, 0)
    name, _, why = text.partition("\n")
    if name == "unsafe":
        raise Unsafe(why)
    return None if text == "ok" else (name, why or "the process ended")


def _both(guard: Guard, uid: int, folder: str, write: int) -> None:
    guard.watch()
    inner = os.fork()
    if inner == 0:
        try:
            if _taken(lambda: guard.arm(uid, folder), write):
                os.write(write, b"ok")
        finally:
            os._exit(0)
    os.waitpid(inner, 0)


def _taken(act: Callable[[], None], write: int) -> bool:
    """Whether nothing went wrong; what did is written down."""
    try:
        act()
    except Exception as error:
        name, why = "", repr(error)
        if isinstance(error, Unsafe):
            name, why = "unsafe", str(error)
        elif isinstance(error, Refused):
            name, why = error.args
        os.write(write, f"{name}\n{why}".encode())
        return False
    return True
