"""Run pages in fresh processes and collect what they give, some side by side.

Each page has a process of its own with a given number of threads. Pages that compare times run
alone: beside another process a ratio of times says something about the machine's load.
"""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from attnkit.verify.pages import CHECKOUT, Source

WORKER = ("-m", "attnkit.verify.worker")
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass
class Output:
    """What a cell shows on the page: ``part`` is "text", or a picture's description."""

    cell: int
    part: str
    text: str
    section: str = ""


@dataclass
class Result:
    """What a page gave on this machine."""

    slug: str
    glued: dict[str, str] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    held: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    raised: dict[str, Any] | None = None
    used: dict[str, Any] = field(default_factory=dict)
    ended: bool = False

    def take(self, event: dict[str, Any]) -> None:
        kind = event.pop("event")
        if kind == "glued":
            self.glued[event["name"]] = event["value"]
        elif kind == "output":
            self.outputs.append(Output(**event))
        elif kind == "cell":
            self.seconds.append(event["seconds"])
        elif kind == "claim":
            self.held += event["held"]
            self.failed += [] if event["held"] else [event]
        elif kind == "raised":
            self.raised = event
        elif kind == "used":
            self.used = event
        self.ended = self.ended or kind == "end"


def environment(threads: int, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The process sees this very package first, whatever else is installed."""
    path = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
    mine = {"PYTHONPATH": path, "PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}
    mine["PYTHONSAFEPATH"] = "1"  # no module of the folder that one happens to be in
    mine |= dict.fromkeys(THREADS, str(threads))
    return {**os.environ, **mine, **(extra or {})}


def measure(
    source: Source,
    threads: int = 1,
    *,
    tell: Callable[[Result], None] = lambda result: None,
    started: Callable[[subprocess.Popen], None] = lambda process: None,
    worker: Sequence[str] = WORKER,
    extra: Mapping[str, str] | None = None,
) -> Result:
    """Run one page to its end. ``tell`` is called after each event, with what there is so far."""
    result = Result(source.slug)
    process = subprocess.Popen(
        [sys.executable, "-X", "utf8", *worker, str(source.path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=environment(threads, extra),
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    with process:  # closes its pipes
        started(process)
        assert process.stdout and process.stderr
        said: list[str] = []
        reader = threading.Thread(target=said.extend, args=(process.stderr,), daemon=True)
        reader.start()
        for line in process.stdout:
            result.take(json.loads(line))
            tell(result)
        reader.join(timeout=5)
    if not result.ended and result.raised is None:
        last = next((line.strip() for line in reversed(said) if line.strip()), "no word")
        what = f"the process ended with status {process.returncode}: {last[:200]}"
        result.raised = {"error": what, "needs": "", "cell": len(result.seconds), "section": ""}
    return result


def measure_all(
    sources: Iterable[Source],
    alone: Callable[[Source], bool],
    *,
    threads: int,
    jobs: int,
    tell: Callable[[Source, Result, bool], None],
) -> None:
    """Run pages, ``jobs`` at a time, those that are to be ``alone`` first and one by one.

    ``tell(source, result, done)`` is called in the caller's thread. An interruption ends the
    processes and goes on to the caller, who keeps what was told.
    """
    todo = list(sources)
    events: queue.Queue[tuple[Source, Result, bool]] = queue.Queue()
    running: dict[str, subprocess.Popen] = {}
    single = [s for s in todo if alone(s)]
    shared = [s for s in todo if not alone(s)]

    def one(source: Source) -> None:
        def started(process):
            running[source.slug] = process

        try:
            result = measure(
                source, threads, tell=lambda r: events.put((source, r, False)), started=started
            )
        except (
            Exception
        ) as error:  # no process to be had, half a line: or the caller waits for ever
            said = f"{type(error).__name__}: {error}"
            result = Result(source.slug)
            result.raised = {"error": said, "needs": "", "cell": 0, "section": ""}
        events.put((source, result, True))

    try:
        for group, width in ((single, 1), (shared, jobs)):
            waiting, busy = list(group), 0
            while waiting or busy:
                while waiting and busy < width:
                    threading.Thread(target=one, args=(waiting.pop(0),), daemon=True).start()
                    busy += 1
                source, result, done = events.get()
                busy -= done
                tell(source, result, done)
    finally:
        for process in running.values():
            if process.poll() is None:
                process.kill()
