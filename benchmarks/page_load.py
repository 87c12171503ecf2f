"""How a chapter loads on a slow phone, beside a default jupyter-book build of the same chapter.

``python -m benchmarks.page_load`` builds the default book, serves both from this machine, loads
them in turn in fresh contexts (nothing is cached) with a slowed processor and network, writes
``docs/page-load.json`` and the tables of ``docs/page-load.md``. ``make book`` comes first; npm,
node and openssl are needed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import time
from datetime import date
from importlib import metadata
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks import default_book, two_sites
from bookext.pdf.chromium import FLAGS, find

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "_build" / "page-load"
RECORD = ROOT / "docs" / "page-load.json"
PAGE = ROOT / "docs" / "page-load.md"
#: What the script writes of the page stands between these.
MARKS = "<!-- measured -->", "<!-- until here -->"
CHAPTERS = ("chapters/03-scaled-dot-product", "chapters/07-pattern-analysis")

#: Lighthouse's slow 4G and its phone (width, height, pixel ratio).
CPU, MEGABIT, LATENCY = 4, 1.6, 150
VIEWPORT, PIXELS = {"width": 412, "height": 823}, 1.75
#: A page has come to rest after so many seconds without a long task and without a request.
QUIET, PATIENCE = 5, 120

OBSERVE = """() => {
  const seen = (window.__seen = { paints: {}, tasks: [], shifts: [], largest: 0 });
  const watch = (type, take) => new PerformanceObserver((list) =>
    list.getEntries().forEach(take)).observe({ type, buffered: true });
  watch("paint", (e) => (seen.paints[e.name] = e.startTime));
  watch("longtask", (e) => seen.tasks.push([e.startTime, e.duration]));
  watch("largest-contentful-paint", (e) => (seen.largest = e.startTime));
  watch("layout-shift", (e) => e.hadRecentInput || seen.shifts.push([e.startTime, e.value]));
}"""
STATE = "() => ({ ...window.__seen, now: performance.now() })"

#: What is measured: name, unit, what divides it.
MEASURES = {
    "first_paint": ("First contentful paint", "s", 1000),
    "blocking": ("Total blocking time", "ms", 1),
    "shift": ("Cumulative layout shift", "", 1),
    "largest_paint": ("Largest contentful paint", "s", 1000),
    "bytes": ("On the wire", "kB", 1000),
    "requests": ("Requests", "", 1),
}


def blocking_time(first: float, tasks: list[list[float]]) -> float:
    """Of every task after the first paint, what is over 50 ms (a task across it counts from it)."""
    parts = (start + length - max(start, first) for start, length in tasks)
    return sum(max(0.0, part - 50) for part in parts)


def layout_shift(shifts: list[list[float]]) -> float:
    """The largest sum of a session: shifts less than a second apart, in five seconds at most."""
    worst = total = 0.0
    began = last = float("-inf")
    for when, value in shifts:
        if when - last > 1000 or when - began > 5000:
            began, total = when, 0.0
        total, last = total + value, when
        worst = max(worst, total)
    return worst


def load(browser: Browser, url: str) -> dict[str, float]:
    """Load a page in a context of its own until it has come to rest."""
    context = browser.new_context(
        viewport=VIEWPORT, device_scale_factor=PIXELS, is_mobile=True, ignore_https_errors=True
    )
    page = context.new_page()
    session = context.new_cdp_session(page)
    pending, sizes = set(), []
    session.on("Network.requestWillBeSent", lambda e: pending.add(e["requestId"]))
    session.on("Network.loadingFailed", lambda e: pending.discard(e["requestId"]))

    def finished(event):
        pending.discard(event["requestId"])
        sizes.append(event["encodedDataLength"])

    session.on("Network.loadingFinished", finished)
    session.send("Network.enable")
    session.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": LATENCY,
            "downloadThroughput": MEGABIT * 1e6 / 8,
            "uploadThroughput": MEGABIT * 1e6 / 16,
        },
    )
    session.send("Emulation.setCPUThrottlingRate", {"rate": CPU})
    page.add_init_script(f"({OBSERVE})()")
    page.goto(url, wait_until="load", timeout=PATIENCE * 1000)
    end = time.monotonic() + PATIENCE
    busy = time.monotonic()
    count = 0
    while time.monotonic() - busy < QUIET:
        if time.monotonic() > end:
            sys.exit(f"{url} has not come to rest after {PATIENCE} s: {pending}")
        page.wait_for_timeout(250)
        seen = page.evaluate(STATE)
        if pending or len(seen["tasks"]) > count:
            busy, count = time.monotonic(), len(seen["tasks"])
    context.close()
    first = seen["paints"]["first-contentful-paint"]
    return {
        "first_paint": first,
        "blocking": blocking_time(first, seen["tasks"]),
        "shift": layout_shift(seen["shifts"]),
        "largest_paint": seen["largest"],
        "bytes": sum(sizes),
        "requests": sum(size > 0 for size in sizes),
    }


def measure(runs: int, chapters: list[str]) -> dict:
    """Both sites in turn; who is first alternates."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    sites = {
        "default": default_book.build(FOLDER / "default", chapters),
        "ours": ROOT / "_build" / "html",
    }
    found = {chapter: {name: [] for name in sites} for chapter in chapters}
    with two_sites.serving(sites, FOLDER) as (address, flags, missing), sync_playwright() as played:
        browser = played.chromium.launch(executable_path=find(), args=[*FLAGS, *flags])
        version = browser.version
        for run in range(runs):
            for chapter in chapters:
                for name in sorted(sites, reverse=bool(run % 2)):
                    print(f"run {run + 1} of {runs}: {chapter}, {name}", file=sys.stderr)
                    found[chapter][name].append(load(browser, f"{address}{name}/{chapter}.html"))
        browser.close()
    return {
        "date": date.today().isoformat(),
        "runs": runs,
        "machine": machine(),
        "load": round(os.getloadavg()[1], 1),
        "versions": versions() | {"Chromium": version},
        "throttling": {"cpu": CPU, "megabit": MEGABIT, "latency": LATENCY, **VIEWPORT},
        "not found": sorted(set(missing)),
        "chapters": {
            chapter: {
                name: {key: summary([one[key] for one in loads]) for key in MEASURES}
                for name, loads in both.items()
            }
            for chapter, both in found.items()
        },
    }


def summary(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def machine() -> str:
    return f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def versions() -> dict[str, str]:
    packages = ("jupyter-book", "sphinx-book-theme", "Sphinx", "anywidget")
    own = {name: metadata.version(name) for name in packages}
    files = (FOLDER / "cdn").glob("*/package/package.json")
    packed = [json.loads(file.read_text("utf-8")) for file in files]
    return own | {f"{one['name']} (npm)": one["version"] for one in packed}


def table(both: dict[str, dict]) -> str:
    """One chapter's medians, with least and most of the runs."""
    lines = ["| | default build | this book |", "|---|---|---|"]
    for key, (name, unit, by) in MEASURES.items():
        digits = 3 if key == "shift" else 2 if unit == "s" else 0
        cells = []
        for site in ("default", "ours"):
            median, low, high = (both[site][key][k] / by for k in ("median", "low", "high"))
            spread = f" ({low:,.{digits}f} to {high:,.{digits}f})" if high > low else ""
            cells.append(f"{median:,.{digits}f}{' ' + unit if unit else ''}{spread}")
        lines.append(f"| {name} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def report(record: dict) -> str:
    """When, where and with what it was measured, and a table for each chapter."""
    used = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    lines = [
        f"{record['date']}; {record['runs']} loads of each; {record['machine']}, load average "
        f"{record['load']}. {used}."
    ]
    for chapter, both in record["chapters"].items():
        lines += ["", f"## `{chapter}`", "", table(both)]
    if record["not found"]:
        lines += ["", f"Asked for in vain: {', '.join(record['not found'])}."]
    return "\n".join(lines)


def fill(page: str, text: str) -> str:
    """The page with what was measured in its place."""
    before, _, rest = page.partition(MARKS[0])
    _, mark, after = rest.partition(MARKS[1])
    if not mark:
        sys.exit(f"{PAGE} has no place for the tables: {' … '.join(MARKS)}")
    return f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page_load", description=__doc__)
    parser.add_argument("chapters", nargs="*", default=list(CHAPTERS), metavar="CHAPTER")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args(arguments)
    record = measure(options.runs, options.chapters)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    PAGE.write_text(fill(PAGE.read_text("utf-8"), report(record)), "utf-8")
    print(report(record))


if __name__ == "__main__":
    main()
