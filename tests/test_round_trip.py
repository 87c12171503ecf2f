"""A chapter that is opened in JupyterLab and saved there is the chapter that was opened."""

from pathlib import Path

import jupytext
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("chapters/*.md")), ROOT / "intro.md"]
NOTEBOOKS = [page for page in PAGES if page.read_text("utf-8").startswith("---\njupytext:")]


def saved(text: str, edit=None) -> str:
    """What is on disk when JupyterLab has opened a chapter, run it, perhaps edited, and saved."""
    notebook = jupytext.reads(text, fmt="md:myst")
    notebook.metadata["language_info"] = {"name": "python", "version": "3.12.1"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.execution_count = 1
            cell.outputs = [nbformat.v4.new_output("stream", text="ran")]
            cell.metadata["execution"] = {"iopub.status.busy": "now"}
            cell.metadata["trusted"] = True
    if edit is not None:
        edit(notebook.cells)
    return jupytext.writes(notebook, fmt="md:myst")


def lines(text: str) -> list[str]:
    """Without empty ones: jupytext puts one behind each cell."""
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_saving_a_chapter_changes_none_of_its_lines(page):
    text = page.read_text("utf-8")
    assert lines(saved(text)) == lines(text)


def test_every_chapter_is_among_them():
    assert {f"{n:02d}" for n in range(1, 13)} <= {page.stem[:2] for page in NOTEBOOKS}


def test_an_edit_changes_its_own_line_alone():
    text = (ROOT / "chapters" / "03-scaled-dot-product.md").read_text("utf-8")

    def edit(cells):
        cells[-1].source += "\n\nOne more."

    assert lines(saved(text, edit)) == [*lines(text), "One more."]


@pytest.mark.parametrize(
    "lost", ["mystnb: {execution_timeout: 9}", "myst: {substitutions: {a: b}}"]
)
def test_what_saving_loses_is_seen(lost):
    """jupytext drops these keys of a file; the lint of headers refuses them."""
    text = NOTEBOOKS[0].read_text("utf-8").replace("kernelspec:", f"{lost}\nkernelspec:", 1)
    assert lines(saved(text)) != lines(text)
