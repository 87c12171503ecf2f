"""Run nbval, strict, over executed notebooks, in a pytest of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@dataclass
class Result:
    """What came out for one notebook, or for all of them together."""

    executed: int = 0
    compared: int = 0
    failures: list[dict] = field(default_factory=list)


@dataclass
class Run:
    status: int
    log: str
    notebooks: dict[str, Result]

    @property
    def total(self) -> Result:
        results = self.notebooks.values()
        return Result(
            sum(r.executed for r in results),
            sum(r.compared for r in results),
            [failure for r in results for failure in r.failures],
        )


def threads(folder: Path) -> dict[str, str]:
    """The number of threads that the book was made with, as its notebooks remember it."""
    for path in sorted(folder.rglob("*.ipynb")):
        return dict(nbformat.read(path, as_version=4).metadata.get("bookext", {}))
    return {}


def run_nbval(folder: Path, report: Path, book: Path = ROOT, timeout: int = 300) -> Run:
    """Execute every notebook below ``folder`` again and compare with the stored outputs."""
    command = [sys.executable, "-m", "pytest", "-c", str(HERE / "nbval.ini")]
    command += ["--rootdir", str(folder), "-p", "compared", "-q", "--color=no"]
    command += ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", str(timeout)]
    command += ["--nbval-sanitize-with", str(HERE / "sanitize.cfg"), str(folder)]
    paths = [str(HERE), str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = os.environ | threads(folder) | {"PYTHONPATH": os.pathsep.join(paths)}
    env |= {"NBVAL_REPORT": str(report), "NBVAL_EXECUTED": str(folder), "NBVAL_BOOK": str(book)}
    env.pop("PYTEST_ADDOPTS", None)
    report.unlink(missing_ok=True)
    done = subprocess.run(
        command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    results: dict[str, Result] = {}
    for cell in json.loads(report.read_text("utf-8")) if report.exists() else []:
        result = results.setdefault(cell["notebook"], Result())
        result.executed += cell["outcome"] != "skipped"
        result.compared += cell["compared"]
        if cell["outcome"] == "failed":
            result.failures.append(cell)
    return Run(done.returncode, done.stdout, results)
