"""How `make test` shares the tests out to its processes: in pieces, what takes long first.

A file is a piece, because its fixtures are dear (a browser, a small book). Where one file has most
of the work, the tests of one page are a piece. A long piece that begins last leaves others idle.

Some pieces compute, and some wait: for a browser's next frame, for a file. The two kinds are given
out side by side, so that there is always something to compute while others wait.
"""

import contextlib
import importlib
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Mapping

import pytest

sys.modules.setdefault("rfc3987_syntax", None)  # bookext/kernels.py says why

#: Tests with a page of the book in brackets, ``test_x[chapters/01-name]``: each page is a piece.
BY_PAGE = re.compile(
    r"(tests/notebooks/test_nbval\.py::test_chapter|tests/browser/test_(?:accessibility_)?pages\.py::)"
    r".*\[(\S+)\]"
)

#: What waits more than it computes.
WAITS = "tests/browser/"

#: Seconds of a test that waits, and of one that computes; of each chapter that runs again.
WAITING, COMPUTING, CHAPTER = 0.8, 0.05, 30
#: A piece of few tests may still build a book or start a kernel.
LEAST = 4


def piece(nodeid: str) -> str:
    """What a test is run together with, in one process and in order."""
    found = BY_PAGE.match(nodeid)
    if not found:
        return nodeid.partition("::")[0]
    return " ".join(found.groups()).replace("test_accessibility_pages", "test_pages")


def seconds(name: str, tests: int) -> float:
    """About how long a piece of so many tests takes."""
    if name.startswith("tests/notebooks/test_nbval.py::test_chapter"):
        return CHAPTER
    return max(LEAST, tests * (WAITING if name.startswith(WAITS) else COMPUTING))


def in_order(pieces: Mapping[str, int]) -> list[str]:
    """Long pieces before short ones, those that wait and those that compute in even shares.

    ``pieces`` has the number of tests of each."""
    length = {name: seconds(name, tests) for name, tests in pieces.items()}
    begins: dict[str, float] = {}
    for waits in (False, True):
        names = [name for name in pieces if name.startswith(WAITS) == waits]
        done, whole = 0.0, sum(length[name] for name in names)
        for name in sorted(names, key=length.__getitem__, reverse=True):
            begins[name] = done / whole
            done += length[name]
    return sorted(begins, key=begins.__getitem__)


def pytest_configure(config: pytest.Config) -> None:
    """Kernels that tests start need no ports; ``make test`` ends with a table of its times.

    By name: both are the course's, and attnkit's sdist has this file without them.
    """
    # A shell without job control starts with Ctrl-C ignored whatever it starts in the background.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("bookext.kernels").without_ports()
    if "TESTS_BEGAN" in os.environ:
        config.pluginmanager.import_plugin("times")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each piece in one row, the rows in order."""
    pieces = Counter(piece(item.nodeid) for item in items)
    place = {name: n for n, name in enumerate(in_order(pieces))}
    items.sort(key=lambda item: place[piece(item.nodeid)])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """xdist's own way of whole files, with our pieces (its groups by mark are lost on the way)."""
    from xdist.scheduler import LoadScopeScheduling

    class Pieces(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return piece(nodeid)

    config.option.loadscopereorder = False  # the order is that of collection
    return Pieces(config, log)
