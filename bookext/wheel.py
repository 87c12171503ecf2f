"""The package of this very book, beside it: ``wheels/attnkit-<version>-py3-none-any.whl``.

attnkit is on no package index, so that a notebook can install it from the site alone. The wheel is
built from this tree with the backend that pyproject.toml names, without network and without an
environment of its own, from a copy, so that nothing of it stays in the tree. The numbers that
``attnkit.verify`` compares with are those that this build has printed. The same sources and
outputs give the same bytes; it is built again only when they have changed.
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
from bookext.executed import folder as executed_folder

logger = logging.getLogger(__name__)

#: What a wheel is made of; what is not there is not asked for.
SOURCES = (
    "attnkit",
    "chapters",
    "intro.md",
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
#: Writes what the chapters have printed, for attnkit.verify.
RECORD = """
import sys
from pathlib import Path
from attnkit.verify.pages import sources
from attnkit.verify.record import Record, load, of_build
known = load()
made = of_build(Path(sys.argv[1]), sources(), known)
record = Record(known.pages | made.pages, known.scripts)
Path(sys.argv[2]).write_text(record.dumps(), "utf-8", newline="\\n")
"""
PRINTED = Path("attnkit", "data", "printed.json")
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


def state(root: Path, executed: Path) -> str:
    """A hash of all of them, of the outputs of this build, and of what builds."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    outputs = sorted(executed.rglob("*.ipynb")) if (root / PRINTED).exists() else []
    parts = [(path.as_posix(), root / path) for path in files(root)]
    parts += [(path.relative_to(executed).as_posix(), path) for path in outputs]
    for name, path in parts:
        digest.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def run(program: str, *arguments: Path, folder: Path) -> None:
    """Run a few lines of Python in a folder, in a process of their own.

    Raises:
        RuntimeError: with what they said.
    """
    process = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    if process.returncode:
        raise RuntimeError(process.stderr.strip()[-1000:])


def build(root: Path, target: Path, executed: Path) -> Path:
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
        if (root / PRINTED).exists() and executed.is_dir():
            run(RECORD, executed.resolve(), copy / PRINTED, folder=root)
        run(BUILD, Path(temporary), folder=copy)
        (made,) = Path(temporary).glob("*.whl")
        target.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(made, target / made.name))


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
    stamp, executed = folder.parent.parent / ".wheel.json", executed_folder(app)
    wanted = {"name": name, "state": state(root, executed)}
    known = json.loads(stamp.read_text("utf-8")) if stamp.exists() else {}
    if known != wanted or not (folder / name).exists():
        shutil.rmtree(folder, ignore_errors=True)
        try:
            made = build(root, folder, executed)
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
