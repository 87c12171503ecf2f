"""Every chapter executed a second time: each cell must print what it printed for the book.

nbval compares the outputs of the executed notebooks under ``_build/executed`` (a notebook fresh
from its source has none, and passes whatever is printed). The canaries show that it can say no.
"""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from nbval_run import ROOT, Result, Run, run_nbval

from bookext.lint import pages
from bookext.source import read_page

EXECUTED = ROOT / "_build" / "executed"
PAGES = [
    path.relative_to(ROOT).with_suffix("").as_posix()
    for path in pages(ROOT)
    if any(cell.kind == "code" for cell in read_page(path).cells)
]
#: Chapters, which train models: each is a piece of work of its own (tests/conftest.py).
LONG = [name for name in PAGES if re.match(r"chapters/\d\d-", name)]


@pytest.fixture(scope="module")
def short(tmp_path_factory) -> Run:
    """The other pages: a run costs more than any of them."""
    names = [name for name in PAGES if name not in LONG]
    return second_run(names, tmp_path_factory.mktemp("nbval"))


def second_run(names: list[str], folder: Path) -> Run:
    missing = [name for name in names if not (EXECUTED / f"{name}.ipynb").is_file()]
    assert not missing, f"{EXECUTED} lacks {missing}: build the book first (make book)"
    return run_nbval(EXECUTED, names, folder / "report.json")


def explain(name: str, result: Result) -> str:
    """Each failed cell with the line of the chapter where it stands."""
    cells = [cell for cell in read_page(ROOT / f"{name}.md").cells if cell.kind == "code"]
    said = []
    for failure in result.failures:
        line = cells[failure["cell"]].line if failure["cell"] < len(cells) else 1
        said.append(f"{name}.md:{line}: {failure['message']}\n{failure['details']}")
    return "\n\n".join(said)


def prints_the_same_again(name: str, run: Run, capsys) -> None:
    result = run.notebooks.get(f"{name}.ipynb")
    assert result, f"nbval did not run {name}.ipynb:\n{run.log}"
    with capsys.disabled():
        print(f"\n  {name}: {result.executed} cells executed, {result.compared} compared", end=" ")
    assert not result.failures, "\n" + explain(name, result)
    assert result.compared, f"{name}.md: no cell has an output that could be compared"
    assert run.status == any(other.failures for other in run.notebooks.values()), run.log


@pytest.mark.parametrize("name", LONG)
def test_chapter_prints_the_same_again(name, tmp_path, capsys):
    prints_the_same_again(name, second_run([name], tmp_path), capsys)


@pytest.mark.parametrize("name", [name for name in PAGES if name not in LONG])
def test_page_prints_the_same_again(name, short, capsys):
    prints_the_same_again(name, short, capsys)


def test_no_executed_notebook_is_left_out():
    files = [file.relative_to(EXECUTED) for file in EXECUTED.rglob("*.ipynb")]
    assert {file.with_suffix("").as_posix() for file in files} == set(PAGES)
    assert LONG


def cell(source: str, *outputs, **metadata):
    return new_code_cell(source, execution_count=1, outputs=list(outputs), metadata=metadata)


def stream(text: str):
    return new_output("stream", name="stdout", text=text)


def result(text: str):
    return new_output("execute_result", {"text/plain": text}, execution_count=1)


def picture(alt: str):
    data = {"text/plain": "<Figure size 640x480 with 1 Axes>", "image/png": "aaaa"}
    return new_output("display_data", data, metadata={"image/png": {"alt": alt}})


SHOW = (
    "from IPython.display import publish_display_data as show\n"
    "show({'text/plain': '<Figure size 640x480 with 1 Axes>', 'image/png': 'bbbb'},"
    " {'image/png': {'alt': 'four bars'}})"
)
CANARIES = {
    "right": [cell("print(1 + 1)", stream("2\n")), cell("0.1234567890", result("0.123456"))],
    "wrong-stream": [cell("print(1 + 1)", stream("3\n"))],
    "wrong-result": [cell("1 + 1", result("3"))],
    "wrong-digit": [cell("0.12345", result("0.12344"))],
    "missing": [cell("1 + 1; None", result("2"))],
    "raises": [cell("1 / 0")],
    "wrong-alt": [cell(SHOW, picture("five bars"))],
    "right-alt": [cell(SHOW, picture("four bars"))],
    "address": [cell("object()", result("<object at 0x7f0000000000>"))],
    "ignored": [cell("1", result("2"), tags=["nbval-ignore-output"])],
    "no-outputs": [new_code_cell("print(1 + 1)"), new_code_cell("2")],
    "only-a-picture": [cell("1;", picture(""))],
}
EXPECTED = {  # executed, compared, failed
    "right": (2, 2, 0),
    "wrong-stream": (1, 1, 1),
    "wrong-result": (1, 1, 1),
    "wrong-digit": (1, 1, 1),
    "missing": (1, 1, 1),
    "raises": (1, 0, 1),
    "wrong-alt": (1, 1, 1),
    "right-alt": (1, 1, 0),
    "address": (1, 1, 0),
    "ignored": (1, 0, 0),
    "no-outputs": (2, 0, 0),
    "only-a-picture": (1, 0, 1),
}


@pytest.fixture(scope="module")
def canaries(tmp_path_factory) -> Run:
    folder = tmp_path_factory.mktemp("canaries")
    for name, cells in CANARIES.items():
        if name == "only-a-picture":
            cells[0].outputs[0].metadata = {}
        nbformat.write(new_notebook(cells=cells), folder / f"{name}.ipynb")
    return run_nbval(folder, CANARIES, folder / "report.json", book=folder)


@pytest.mark.parametrize("name", CANARIES)
def test_canary(name, canaries):
    result = canaries.notebooks[f"{name}.ipynb"]
    assert (result.executed, result.compared, len(result.failures)) == EXPECTED[name], canaries.log


def test_canaries_fail_the_run_and_show_the_cell(canaries):
    assert canaries.status == 1
    assert "print(1 + 1)" in canaries.log and "Cell outputs differ" in canaries.log
    (failure,) = canaries.notebooks["wrong-stream.ipynb"].failures
    assert "print(1 + 1)" in failure["details"] and "3" in failure["details"]
