"""How long a build took, and where: ``timing.json`` beside the site.

What a page's execution took is what jupyter-cache stored with its outputs: for a page that this
build did not execute, the seconds of the execution that made them. The steps between are taken from
Sphinx's own events. ``python -m bookext.timing_report`` makes the table from it.
"""

import os
import time
from datetime import UTC
from pathlib import Path

import psutil  # of ipykernel, without which nothing is executed
from jupyter_cache import get_cache

from bookext.ahead import kernels
from bookext.timing_report import budget, store


class Clock:
    """The moments of one build, in the order of Sphinx's events."""

    def __init__(self):
        self.began = started()
        self.moments: dict[str, float] = {}
        self.read: list[str] = []

    def note(self, name: str) -> None:
        self.moments[name] = time.time()

    def between(self, first: str, last: str) -> float:
        return self.moments[last] - self.moments[first]


def started() -> float:
    """When this process began: what is imported before Sphinx starts belongs to the build."""
    created = psutil.Process().create_time()
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return created
    # Linux counts from its boot, which it knows to a second only; how long ago, it knows exactly.
    ago = time.clock_gettime(time.CLOCK_BOOTTIME) - (created - psutil.boot_time())
    return time.time() - ago


def executions(app, began: float) -> dict[str, dict]:
    """What each page's execution took, and whether it came after ``began``, in this build."""
    env = app.env
    recent = executed_since(env.mystnb_config.execution_cache_path, began)
    found = {}
    for docname, data in sorted(getattr(env, "nb_metadata", {}).items()):
        done = data.get("exec_data")
        if done and done.get("runtime") is not None and docname in env.found_docs:
            found[docname] = {
                "seconds": round(done["runtime"], 2),
                "budget": budget(docname),
                "this_build": str(Path(env.doc2path(docname))) in recent
                or (done["method"] != "cache" and done["mtime"] >= began),
            }
    return found


def executed_since(cache: str, began: float) -> set[str]:
    """The files whose execution was stored since ``began`` (the times of the cache are UTC)."""
    if not cache or not os.path.isdir(cache):
        return set()
    records = get_cache(cache).list_cache_records()
    return {r.uri for r in records if r.created.replace(tzinfo=UTC).timestamp() >= began}


def steps(clock: Clock, pages: dict[str, dict], ahead: bool) -> dict[str, float]:
    """The seconds of a build, one step after the other."""
    executing = clock.between("look", "executed")
    reading = clock.between("executed", "read")
    if not ahead:  # a single page is executed where it is read
        alone = sum(page["seconds"] for page in pages.values() if page["this_build"])
        executing, reading = executing + alone, max(0.0, reading - alone)
    return {
        "start": clock.moments["look"] - clock.began,
        "execution": executing,
        "reading": reading,
        "writing": clock.between("read", "written"),
        "finishing": clock.between("written", "finished"),
    }


def setup(app):
    clock = Clock()

    def finish(app, exception):
        clock.note("finished")
        if exception is not None or app.builder.format != "html" or "read" not in clock.moments:
            return
        pages = executions(app, clock.moments["look"])
        new = sum(page["this_build"] for page in pages.values())
        at_a_time = min(kernels(app), new)
        took = {
            "finished": clock.moments["finished"],
            "total": clock.moments["finished"] - clock.began,
            "steps": steps(clock, pages, ahead=at_a_time > 1),
            "kernels": at_a_time,
            "read": len(clock.read),
            "pages": pages,
        }
        store(Path(app.outdir).parent / "timing.json", "book", took)

    def look(app, env, docnames):
        clock.note("look")
        clock.read = list(docnames)

    # Sphinx calls those of a lower number first: "look" before bookext.ahead, "finish" after all.
    app.connect("env-before-read-docs", look, priority=0)
    app.connect("env-before-read-docs", lambda *_: clock.note("executed"), priority=1000)
    app.connect("env-updated", lambda *_: clock.note("read"), priority=1000)
    app.connect("build-finished", lambda *_: clock.note("written"), priority=0)
    app.connect("build-finished", finish, priority=1000)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
