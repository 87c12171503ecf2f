"""What pyproject.toml cannot say of attnkit's distributions: whose tests, the same bytes, and the
code of the chapters, without a solution, which ``python -m attnkit.verify`` runs.

With ``SOURCE_DATE_EPOCH`` set, the same sources give the same wheel and the same sdist, byte for
byte, whatever the checkout's times and modes are. ``make package`` sets it.
"""

import ast
import gzip
import importlib.util
import os
import sys
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


#: Where the package has copies of the chapters; ``attnkit/verify/pages.py`` reads them.
PAGES = Path("attnkit/verify/chapters")


def pages() -> dict[str, str]:
    """Name → text of what the package carries of each chapter that executes something.

    From the chapters themselves, or, in an sdist, from the copies that were made for it."""
    copied = sorted(PAGES.glob("*.md"))
    if not Path("chapters").is_dir():
        return {path.name: path.read_text(encoding="utf-8") for path in copied}
    # By its path: importing attnkit would need torch, which is not there while a wheel is built.
    place = Path("attnkit/verify/source.py")
    spec = importlib.util.spec_from_file_location("attnkit_verify_source", place)
    reader = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = reader  # dataclasses look their module up
    spec.loader.exec_module(reader)
    texts = [(path.name, path.read_text(encoding="utf-8")) for path in chapters()]
    return {name: reader.strip(text) for name, text in texts if reader.read(text).run}


def chapters() -> list[Path]:
    found = [Path("intro.md"), *sorted(Path("chapters").glob("*.md"))]
    return [path for path in found if path.is_file()]


def write_pages(root: str | Path) -> None:
    """Put the chapters' code into the package below ``root``."""
    for name, text in pages().items():
        file = Path(root) / PAGES / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        os.chmod(file, 0o644)


class Source(sdist):
    """A source distribution with attnkit's own tests, in an archive without times and owners."""

    def make_release_tree(self, base_dir, files) -> None:
        super().make_release_tree(base_dir, files)
        write_pages(base_dir)

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
            write_pages(self.build_lib)


setup(cmdclass={"sdist": Source, "build_py": Package})
