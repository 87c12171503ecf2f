"""What pyproject.toml cannot say of attnkit's distributions: whose tests, and the same bytes.

With ``SOURCE_DATE_EPOCH`` set, the same sources give the same wheel and the same sdist, byte for
byte, whatever the checkout's times and modes are. ``make package`` sets it.
"""

import ast
import gzip
import os
import tarfile
import time
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

#: Packages of the course, which no distribution of attnkit has.
COURSE = {"benchmarks", "bookext", "classroom", "experiments", "release"}


def imported(file: Path) -> set[str]:
    """The first part of the name of each module that a file imports."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
    return {name.partition(".")[0] for name in names}


def own_tests(offered: set[Path], there: set[Path]) -> set[Path]:
    """Of the tests and helpers offered, those that import nothing of the course.

    A helper that is ``there`` and not offered is the course's, and so is who imports it; a helper
    that no test of ours imports has no work here."""
    needs = {file: imported(file) for file in offered}
    course = COURSE | {file.stem for file in there - offered}
    kept = set(offered)
    while gone := {file for file in kept if needs[file] & course}:
        kept -= gone
        course |= {file.stem for file in gone}
    while idle := {
        file
        for file in kept
        if not file.name.startswith(("test_", "conftest."))
        and not any(file.stem in needs[user] for user in kept)
    }:
        kept -= idle
    return kept


class Source(sdist):
    """A source distribution with attnkit's own tests, in an archive without times and owners."""

    def make_distribution(self) -> None:
        names = {name: Path(name) for name in self.filelist.files}
        offered = {path for path in names.values() if path.parts[0] == "tests"}
        dropped = offered - own_tests(offered, set(Path("tests").glob("*.py")))
        self.filelist.files = [name for name, path in names.items() if path not in dropped]
        super().make_distribution()

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **_) -> str:
        if format != "gztar":
            raise ValueError(f"attnkit's sdist is a .tar.gz (format gztar), got {format}")
        moment = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))

        def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
            member.mtime, member.mode = moment, 0o755 if member.isdir() else 0o644
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            return member

        target = f"{base_name}.tar.gz"
        with (
            open(target, "wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=moment) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for path in [Path(base_dir), *sorted(Path(base_dir).rglob("*"))]:
                archive.add(path, recursive=False, filter=plain)
        return target


class Package(build_py):
    """The package with one mode for all files, whatever the checkout's are."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for file in self.get_outputs(include_bytecode=False):
                os.chmod(file, 0o644)


setup(cmdclass={"sdist": Source, "build_py": Package})
