"""How `make test` shares the tests out to its processes: in pieces, what takes long first.

A file is a piece, because its fixtures are dear (a browser, a small book). Where one file has most
of the work, the tests of one page are a piece. A long piece that begins last leaves others idle.

Some pieces compute, and some wait: for a browser's next frame, for a file. The two kinds are given
out side by side, so that there is always something to compute while others wait.
"""

import re
import sys
from collections.abc import Iterable

import pytest

sys.modules.setdefault("rfc3987_syntax", None)  # bookext/kernels.py says why

#: Tests with a page of the book in brackets, ``test_x[chapters/01-name]``: each page is a piece.
BY_PAGE = re.compile(
    r"(tests/notebooks/test_nbval\.py::test_chapter|tests/browser/test_pages\.py::).*\[(\S+)\]"
)

#: What waits more than it computes.
WAITS = "tests/browser/"

#: Seconds that a piece takes, by the beginning of its name; what is not named takes `SHORT`.
SECONDS = {
    "tests/notebooks/test_nbval.py::test_chapter": 30,
    "tests/browser/test_widgets": 40,
    "tests/browser/test_pages.py::": 10,
}
SHORT = 4


def piece(nodeid: str) -> str:
    """What a test is run together with, in one process and in order."""
    found = BY_PAGE.match(nodeid)
    return " ".join(found.groups()) if found else nodeid.partition("::")[0]


def seconds(name: str) -> int:
    """About how long a piece takes."""
    return max((s for start, s in SECONDS.items() if name.startswith(start)), default=SHORT)


def in_order(pieces: Iterable[str]) -> list[str]:
    """Long pieces before short ones, those that wait and those that compute in even shares."""
    kinds: dict[bool, list[str]] = {False: [], True: []}
    for name in sorted(pieces, key=seconds, reverse=True):
        kinds[name.startswith(WAITS)].append(name)
    begins: dict[str, float] = {}
    for names in kinds.values():
        done, whole = 0, sum(map(seconds, names))
        for name in names:
            begins[name] = done / whole
            done += seconds(name)
    return sorted(begins, key=begins.__getitem__)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each piece in one row, the rows in order."""
    names = dict.fromkeys(piece(item.nodeid) for item in items)
    place = {name: n for n, name in enumerate(in_order(names))}
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
