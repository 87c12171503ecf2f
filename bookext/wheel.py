"""The package of this very book, beside it: ``wheels/attnkit-<version>-py3-none-any.whl``.

attnkit is on no package index, so that a notebook can install it from the site alone. The wheel is
built from this tree with the backend that pyproject.toml names, without network and without an
environment of its own, from a copy, so that nothing of it stays in the tree. The same sources give
the same bytes; it is built again only when they have changed.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from sphinx.util import logging

from bookext.cache import IGNORED_PARTS

logger = logging.getLogger(__name__)

#: What a wheel is made of; what is not there is not asked for.
SOURCES = (
    "attnkit",
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "docs/attnkit.md",
    "docs/licences",
    "LICENSE",
    "NOTICE",
)
BUILD = """
import sys, tomllib
from importlib import import_module
with open("pyproject.toml", "rb") as file:
    system = tomllib.load(file)["build-system"]
sys.path[:0] = system.get("backend-path", [])
import_module(system["build-backend"]).build_wheel(sys.argv[1])
"""
#: The first moment that a zip archive can tell.
EPOCH = "315532800"


def version(root: Path) -> str:
    """The package's version, which pyproject.toml says; "" where there is no package."""
    file = root / "pyproject.toml"
    if not file.is_file() or not (root / "attnkit").is_dir():
        return ""
    return tomllib.loads(file.read_text("utf-8")).get("project", {}).get("version", "")


def wheel_name(root: Path) -> str:
    """The file that the notebooks ask for, known before it is built."""
    number = version(root)
    return f"attnkit-{number}-py3-none-any.whl" if number else ""


def files(root: Path) -> list[Path]:
    """Every file that a wheel is made of, relative to the root."""
    found = []
    for source in SOURCES:
        path = root / source
        inside = path.rglob("*") if path.is_dir() else [path]
        found += [p for p in inside if p.is_file() and not IGNORED_PARTS & set(p.parts)]
    return sorted(path.relative_to(root) for path in found)


def state(root: Path) -> str:
    """A hash of all of them, and of what builds."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for path in files(root):
        digest.update(f"{path.as_posix()}\0".encode())
        digest.update(hashlib.sha256((root / path).read_bytes()).digest())
    return digest.hexdigest()


def build(root: Path, target: Path) -> Path:
    """Build the wheel of a tree into a folder.

    Raises:
        RuntimeError: with what the backend said.
    """
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "source")
        for path in files(root):
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / path, copy / path)
            (copy / path).chmod(0o644)  # whatever the checkout made of it: it is in the archive
        process = subprocess.run(
            [sys.executable, "-c", BUILD, temporary],
            cwd=copy,
            env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
        )
        made = list(Path(temporary).glob("*.whl"))
        if process.returncode or len(made) != 1:
            raise RuntimeError(process.stderr.strip()[-1000:] or "no wheel was made")
        target.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(made[0], target / made[0].name))


# ------------------------------------------------------------------------------------ Sphinx events


def name_it(app, config):
    """Before pages are read: their notebooks name the wheel."""
    config.bookext_wheel = wheel_name(Path(app.srcdir))


def publish(app, exception) -> None:
    """Build the wheel when it is missing or its sources changed; wheels of other versions go."""
    name = app.config.bookext_wheel
    if exception or app.builder.name not in {"html", "dirhtml"} or not name:
        return
    root, folder = Path(app.srcdir), Path(app.outdir, "wheels")
    stamp = folder.parent.parent / ".wheel.json"
    wanted = {"name": name, "state": state(root)}
    known = json.loads(stamp.read_text("utf-8")) if stamp.exists() else {}
    if known != wanted or not (folder / name).exists():
        shutil.rmtree(folder, ignore_errors=True)
        try:
            made = build(root, folder)
        except RuntimeError as error:
            logger.warning("the wheel of attnkit could not be built: %s", error)
            return
        if made.name != name:
            logger.warning("the wheel is called %s; the notebooks ask for %s", made.name, name)
            return
        stamp.write_text(json.dumps(wanted), "utf-8")
    for file in folder.glob("*"):
        if file.name != name:
            file.unlink()


def setup(app):
    app.add_config_value("bookext_wheel", "", "html", [str])
    app.connect("config-inited", name_it)
    app.connect("build-finished", publish, priority=600)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
