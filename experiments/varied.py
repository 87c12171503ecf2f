"""Run every page in variations, and keep what each gave: what `experiments.printed` learns from.

    plain    one thread; notes what the page reads, whether it trains, whether it reads the clock
    other    two threads, PyTorch's kernels for any processor (sums are added in another order), and
             a rounding error after each training step: how far a number may move between machines
    records  the floats that the page reads from a recorded run are changed
    counts   the same with the whole numbers of the record
    kick     parameters are shaken after each training step: what moves depends on training
    clock    the clock runs a thousand times as fast, unevenly: what moves is a time

A run is kept below `_build/varied` until the page's code changes. All of them take some twenty
minutes on two cores.
"""

import json
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from attnkit.verify.measure import Output, Result, measure
from attnkit.verify.pages import Source

FOLDER = Path("_build/varied")
OTHER = {
    "OMP_WAIT_POLICY": "PASSIVE",  # on a busy machine threads that spin take hours
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "DNNL_MAX_CPU_ISA": "SSE41",
}


def kept(source: Source, name: str) -> Path:
    return FOLDER / f"{source.slug}-{source.page.digest}-{name}.json"


def run(source: Source, name: str, weights: Iterable[str] = ()) -> Result:
    """One variation of a page, run now or read from the last time."""
    file = kept(source, name)
    if file.exists():
        held = json.loads(file.read_text("utf-8"))
        held.pop("lines", None)
        held["outputs"] = [Output(**each) for each in held["outputs"]]
        return Result(**held)
    other = name == "other"
    worker = ("-m", "experiments.variations", name, *weights)
    result = measure(source, 2 if other else 1, worker=worker, extra=OTHER if other else None)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(asdict(result)), "utf-8")
    return result


def wanted(source: Source) -> list[str]:
    """The variations that can move a number of this page."""
    used = run(source, "plain").used
    names = ["records"] * bool(used["json"] or used["arrays"]) + ["counts"] * bool(used["json"])
    # A History has the seconds of its steps, so a page that trains may print them.
    names += ["clock"] * (used["clock"] or used["trains"]) + ["kick"] * used["trains"]
    return ["plain", *names, "other"]


def variations(source: Source) -> dict[str, Result]:
    weights = run(source, "plain").used["weights"]
    return {n: run(source, n, weights if n == "records" else ()) for n in wanted(source)}


def all_of(sources: list[Source], jobs: int | None = None) -> dict[str, dict[str, Result]]:
    """The variations of many pages, some side by side."""
    with ThreadPoolExecutor(jobs or min(2, os.cpu_count() or 1)) as pool:
        return {
            s.slug: found for s, found in zip(sources, pool.map(variations, sources), strict=True)
        }
