"""What a wheel and an sdist of attnkit hold, and what is missing or too much in them."""

from __future__ import annotations

import email
import re
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

from release.versions import ROOT, version

#: What nobody wants in a wheel besides the package and what says whose it is.
WHEEL_ONLY = re.compile(r"^attnkit/|^attnkit-[\d.]+\.dist-info/")
RUBBISH = re.compile(r"__pycache__|\.py[co]$|\.ipynb|\.DS_Store|~$|(^|/)\.")
#: Beside the licences: what an sdist is built and tested from.
SDIST = {"pyproject.toml", "setup.py", "MANIFEST.in", "CITATION.cff", "CHANGELOG.md", "NOTICE"}
SDIST |= {"LICENSE", "PKG-INFO", "docs/attnkit.md", "requirements.txt", "tests/conftest.py"}
LICENCES = ("LICENSE", "NOTICE", "docs/licences/*.txt")


def in_wheel(wheel: Path) -> dict[str, int]:
    """Name and size of every file of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: info.file_size for info in archive.infolist()}


def in_sdist(sdist: Path) -> dict[str, int]:
    """Name and size of every file of an sdist, without its topmost folder."""
    with tarfile.open(sdist) as archive:
        files = [member for member in archive.getmembers() if member.isfile()]
        return {member.name.partition("/")[2]: member.size for member in files}


def metadata(wheel: Path) -> Message:
    """The core metadata that a wheel gives of itself."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return email.message_from_bytes(archive.read(name))


def package(root: Path) -> set[str]:
    """The files of attnkit in a source tree."""
    files = (path for path in (root / "attnkit").rglob("*") if path.is_file())
    names = (path.relative_to(root).as_posix() for path in files)
    return {name for name in names if not RUBBISH.search(name)}


def faults(wheel: Path, sdist: Path, root: Path = ROOT) -> list[str]:
    """Everything that is wrong with a wheel and an sdist of this tree, in words."""
    inside, source, said = in_wheel(wheel), in_sdist(sdist), metadata(wheel)
    found = []
    for kind, names in (("wheel", inside), ("sdist", source)):
        found += [f"{kind}: without {name}" for name in sorted(package(root) - set(names))]
        found += [f"{kind}: has {name}" for name in sorted(names) if RUBBISH.search(name)]
    found += [f"wheel: has {name}" for name in sorted(inside) if not WHEEL_ONLY.match(name)]
    found += [f"sdist: without {name}" for name in sorted(SDIST - set(source))]
    for pattern in LICENCES:
        for file in root.glob(pattern):
            name = file.relative_to(root).as_posix()
            if not any(inner.endswith(f".dist-info/licenses/{name}") for inner in inside):
                found.append(f"wheel: without the licence file {name}")
            if name not in source:
                found.append(f"sdist: without the licence file {name}")
    if said["Version"] != version(root):
        found.append(f"wheel: version {said['Version']}, pyproject.toml has {version(root)}")
    if relative := re.findall(r"\]\((?!https?://|#)[^)]*\)", str(said.get_payload())):
        found.append(f"README of the package: dead on an index: {', '.join(relative)}")
    return found
