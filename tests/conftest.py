"""How `make test` shares the tests out to its processes: in pieces, what takes long first.

A file is a piece, because its fixtures are dear (a browser, a small book). Where one file has most
of the work, the tests of one page are a piece. A long piece that begins last leaves others idle.
"""

import re

import pytest

#: Tests with a page of the book in brackets, ``test_x[chapters/01-name]``: each page is a piece.
BY_PAGE = re.compile(
    r"(tests/notebooks/test_nbval\.py::test_chapter|tests/browser/test_pages\.py::).*\[(\S+)\]"
)

#: Files in the order in which their pieces begin; all others follow, as they are collected.
FIRST = ("tests/notebooks/test_nbval.py", "tests/browser/test_pages.py", "tests/browser/")


def piece(nodeid: str) -> str:
    """What a test is run together with, in one process and in order."""
    found = BY_PAGE.match(nodeid)
    return " ".join(found.groups()) if found else nodeid.partition("::")[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each piece in one row, the rows in the order of ``FIRST``."""
    seen: dict[str, int] = {}

    def place(item: pytest.Item) -> tuple[int, int]:
        names = (n for n, start in enumerate(FIRST) if item.nodeid.startswith(start))
        return next(names, len(FIRST)), seen.setdefault(piece(item.nodeid), len(seen))

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """xdist's own way of whole files, with our pieces (its groups by mark are lost on the way)."""
    from xdist.scheduler import LoadScopeScheduling

    class Pieces(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return piece(nodeid)

    config.option.loadscopereorder = False  # the order is that of collection
    return Pieces(config, log)
