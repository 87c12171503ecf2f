"""Build attnkit as wheel and sdist, and look into both: ``python -m release.package [FOLDER]``.

Only files that Git knows are packed, in a copy of their own: neither a stray file of a work tree
nor what an earlier build left behind gets in. The wheel is built from the unpacked sdist, as an
index's users would, with the setuptools of this environment. The same sources give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from release.contents import faults
from release.versions import ROOT, moment

#: What distributions of attnkit are made from.
TREES = ("attnkit", "chapters", "docs", "tests")
SUFFIXES = {".py", ".toml", ".in", ".txt", ".md", ".cff", ""}


def sources(root: Path = ROOT) -> list[str]:
    """The files that a distribution may be made from, relative to the root."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, check=False, text=True
    )
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.rstrip("\0").split("\0")
    else:  # unpacked from an archive
        names = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    return sorted(name for name in names if _meant(Path(name)) and (root / name).is_file())


def _meant(path: Path) -> bool:
    if len(path.parts) == 1:
        return path.suffix in SUFFIXES and not path.name.startswith(".")
    return path.parts[0] in TREES and "__pycache__" not in path.parts


def build(to: Path, root: Path = ROOT) -> tuple[Path, Path]:
    """Build both into a folder; the wheel and the sdist."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(moment(root))}
    environment.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory() as made:
        copy = Path(made) / "attnkit"
        for name in sources(root):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, copy / name)
        out, unpacked = Path(made) / "dist", Path(made) / "unpacked"
        sdist = out / _hook("build_sdist", copy, out, environment)
        with tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
        (tree,) = unpacked.iterdir()
        wheel = out / _hook("build_wheel", tree, out, environment)
        to.mkdir(parents=True, exist_ok=True)
        return (
            Path(shutil.copyfile(wheel, to / wheel.name)),
            Path(shutil.copyfile(sdist, to / sdist.name)),
        )


def _hook(name: str, tree: Path, out: Path, environment: dict[str, str]) -> str:
    """Call a hook of the build backend as pip does, in a process of its own; the file it made."""
    out.mkdir(exist_ok=True)
    code = f"from setuptools import build_meta as b; print(b.{name}({str(out)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"attnkit does not build:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout.split()[-1]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.package", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("dist"))
    folder = parser.parse_args(arguments).folder
    wheel, sdist = build(folder)
    for file in (wheel, sdist):
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{file}  {file.stat().st_size / 1e6:.1f} MB  sha256 {digest}")
    found = faults(wheel, sdist)
    print("\n".join(found), end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
