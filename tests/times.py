"""The table at the end of ``make test``: how long each part took, and which files took longest.

The seconds are pytest's own durations (set-up, test and clearing up), added up over all processes;
lint and book have theirs in ``_build/timing.json``, where this table is left as numbers.
"""

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from bookext import timing_report
from bookext.timing_report import TESTS, load, row, store

FILE = Path(__file__).resolve().parents[1] / timing_report.FILE
#: Set by ``make test``: when it began. Without it tests/conftest.py leaves this plugin out.
BEGAN = "TESTS_BEGAN"
FOLDERS = ("classroom", "browser", "notebooks")
SLOWEST = 8


def part(nodeid: str) -> str:
    """The part of the suite that a test belongs to."""
    folder = nodeid.split("/")[1]
    return folder if folder in FOLDERS else "unit"


class Times:
    """A plugin that adds up what each test took, wherever it ran."""

    def __init__(self, began: float, file: Path = FILE):
        self.began, self.file = began, file
        self.started = time.time()
        self.tests: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.tests[report.nodeid] += report.duration

    def took(self, processes: int) -> dict:
        """All that the table says."""
        parts = {name: {"tests": 0, "work": 0.0} for name in ("unit", *FOLDERS)}
        files: Counter[str] = Counter()
        for nodeid, seconds in self.tests.items():
            found = parts[part(nodeid)]
            found["tests"] += 1
            found["work"] += seconds
            files[nodeid.partition("::")[0]] += seconds
        now = time.time()
        stored = load(self.file)
        before = {  # of this very run
            name: stored[name]["total"]
            for name in ("lint", "book")
            if stored.get(name, {}).get("finished", 0) >= self.began
        }
        return {
            "finished": now,
            "total": now - self.began,
            "before": before,
            "pytest": now - self.started,
            "processes": processes,
            "parts": parts,
            "files": dict(files.most_common(SLOWEST)),
            "slowest": dict(self.tests.most_common(SLOWEST)),
        }

    def pytest_terminal_summary(self, terminalreporter, config) -> None:
        took = self.took(getattr(config.option, "numprocesses", None) or 1)
        store(self.file, "test", took)
        terminalreporter.section("how long it took")
        terminalreporter.write_line(table(took))


def table(took: dict) -> str:
    """By part, then the slowest files and tests; at most 80 columns."""
    lines = [f"{'':<34} {'seconds':>8} {'budget':>7}"]
    lines += [row(name, seconds) for name, seconds in took["before"].items()]
    tests = sum(found["tests"] for found in took["parts"].values())
    lines.append(row("pytest", took["pytest"], None, f"{tests:,d} tests"))
    rest = took["total"] - took["pytest"] - sum(took["before"].values())
    lines.append(row("set-up, starting", rest))
    lines.append(row("total", took["total"], TESTS))
    lines += ["", f"Seconds in tests, {took['processes']} processes together"]
    for name, found in took["parts"].items():
        lines.append(row(name, found["work"], None, f"{found['tests']:,d} tests"))
    for title, slowest in (("files", took["files"]), ("tests", took["slowest"])):
        lines += ["", f"Slowest {title}"]
        for name, seconds in slowest.items():
            short = name.removeprefix("tests/").split("/")[-1]
            lines.append(f"{seconds:8,.1f}  {short:.70}")
    return "\n".join(lines)


def pytest_configure(config: pytest.Config) -> None:
    """In the process that collects what all others report."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Times(float(os.environ[BEGAN])))
