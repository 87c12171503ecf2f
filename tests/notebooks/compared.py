"""Plugin of the inner pytest: count the cells whose outputs nbval really compares.

nbval leaves pictures out (image/png, image/jpeg), widget ids, and by default the outputs' metadata.
The metadata holds the alt text of a figure, numbers included, so here it is compared too: a figure
is compared by what it says in words. A bare ``<Figure size ...>`` says nothing and is not counted.
"""

import json
import os
import re
import sys
from pathlib import Path

sys.modules.setdefault("rfc3987_syntax", None)  # bookext/kernels.py says why

import nbval.plugin as nbval  # noqa: E402
import pytest  # noqa: E402

from bookext import kernels  # noqa: E402

REPORT = os.environ["NBVAL_REPORT"]
BOOK = Path(os.environ["NBVAL_BOOK"])
EXECUTED = Path(os.environ["NBVAL_EXECUTED"])
SAYS_NOTHING = re.compile(r"\s*(<[\w.]*(Figure|Axes)[^>]*>)?\s*")

cells: list[dict] = []


def values(item) -> list[str]:
    """What of the stored outputs of a cell takes part in the comparison."""
    found = []
    for output in item.cell.outputs:
        flat = {**output, **output.get("data", {})}
        flat.pop("data", None)
        for key, value in flat.items():
            if key not in item.parent.skip_compare and value not in ({}, None):
                found.append(value if isinstance(value, str) else json.dumps(value))
    return [value for value in found if not SAYS_NOTHING.fullmatch(value)]


class Kernel(nbval.RunningKernel):
    """A kernel in the folder of the chapter's source, as when the book was built."""

    def __init__(self, name, cwd, **options):
        source = BOOK / Path(cwd).relative_to(EXECUTED)
        super().__init__(name, cwd=str(source if source.is_dir() else cwd), **options)


def pytest_configure(config):
    kernels.without_ports()
    nbval.RunningKernel = Kernel


def pytest_collection_modifyitems(items):
    for item in items:
        item.parent.skip_compare = tuple(k for k in item.parent.skip_compare if k != "metadata")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    result = (yield).get_result()
    if result.when == "call" or (result.when == "setup" and not result.passed):
        run = item.cell.execution_count is not None
        cells.append(
            {
                "notebook": str(item.parent.path.relative_to(EXECUTED)),
                "cell": item.cell_num,
                "outcome": result.outcome,
                "compared": bool(run and item.options["check"] and values(item)),
                "message": str(call.excinfo.value) if call.excinfo else "",
                "details": result.longreprtext if result.failed else "",
            }
        )


def pytest_sessionfinish():
    Path(REPORT).write_text(json.dumps(cells), "utf-8")
