"""One execution cache per state of what the chapters run on.

jupyter-cache looks at the code of a notebook and at nothing else, so a changed ``attnkit`` would
leave stale outputs behind. The folder of the cache is therefore named by a hash of the package, the
requirements and the versions of Python; another state means another folder, and Sphinx, which sees a
changed configuration value, reads every chapter again.
"""

import hashlib
import platform
from pathlib import Path

#: What a chapter's outputs depend on besides its own cells.
SOURCES = ("attnkit", "requirements.txt")
IGNORED_SUFFIXES = {".pyc", ".typed"}


def fingerprint(root: Path) -> str:
    """A short hash of every file that the chapters' outputs depend on."""
    digest = hashlib.sha256(platform.python_version().encode())
    for source in SOURCES:
        path = root / source
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            if file.suffix in IGNORED_SUFFIXES or not file.exists():
                continue
            digest.update(file.relative_to(root).as_posix().encode() + b"\0")
            digest.update(file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def set_cache_path(app, config):
    root = Path(app.srcdir)
    config.nb_execution_cache_path = str(root / "_build" / ".execution" / fingerprint(root))


def setup(app):
    app.connect("config-inited", set_cache_path, priority=400)
