"""Run nbval, strict, over executed notebooks, in a pytest of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from bookext import kernels

#: As long as a cell may take when the book is built (``_config.yml``).
CELL_SECONDS = 900
HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@dataclass
class Result:
    """What came out for one notebook."""

    executed: int = 0
    compared: int = 0
    failures: list[dict] = field(default_factory=list)


@dataclass
class Run:
    status: int
    log: str
    notebooks: dict[str, Result]


def threads(folder: Path) -> dict[str, str]:
    """The number of threads that the book was made with, as its notebooks remember it."""
    for path in sorted(folder.rglob("*.ipynb")):
        return dict(nbformat.read(path, as_version=4).metadata.get("bookext", {}))
    return {}


def run_nbval(folder: Path, names: Iterable[str], report: Path, book: Path = ROOT) -> Run:
    """Execute notebooks of ``folder`` again, in turn, and compare with the stored outputs.

    ``names`` are their paths in ``folder`` without suffix, as Sphinx names pages.
    """
    command = [sys.executable, "-m", "pytest", "-c", str(HERE / "nbval.ini")]
    command += ["--rootdir", str(folder), "-p", "compared", "-q", "--color=no"]
    command += ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", str(CELL_SECONDS)]
    command += ["--nbval-kernel-startup-timeout", str(CELL_SECONDS)]
    command += ["--nbval-sanitize-with", str(HERE / "sanitize.cfg")]
    command += [str(folder / f"{name}.ipynb") for name in names]
    paths = [str(HERE), str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = os.environ | threads(folder) | kernels.profile(ROOT)
    env["PYTHONPATH"] = os.pathsep.join(paths)
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
