"""A chapter that is opened in JupyterLab and saved there is the chapter that was opened."""

from pathlib import Path

import jupytext
import nbformat
import pytest
import yaml

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


def parts(text: str) -> tuple[dict, list[str]]:
    """What the header says, however it is wrapped, and the lines that are not empty.

    jupytext writes the header anew and puts an empty line behind each cell.
    """
    _, header, body = text.split("---\n", 2)
    return yaml.safe_load(header), [line for line in body.splitlines() if line.strip()]


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_saving_a_chapter_changes_none_of_its_lines(page):
    text = page.read_text("utf-8")
    assert parts(saved(text)) == parts(text)


def test_every_chapter_is_among_them():
    assert {f"{n:02d}" for n in range(1, 13)} <= {page.stem[:2] for page in NOTEBOOKS}


def test_an_edit_changes_its_own_line_alone():
    text = (ROOT / "chapters" / "03-scaled-dot-product.md").read_text("utf-8")

    def edit(cells):
        cells[-1].source += "\n\nOne more."

    header, lines = parts(text)
    assert parts(saved(text, edit)) == (header, [*lines, "One more."])


def test_what_saving_loses_is_seen():
    """jupytext drops a file's own keys of MyST where the header does not say to keep them."""
    text = NOTEBOOKS[0].read_text("utf-8").replace("  notebook_metadata_filter: myst\n", "", 1)
    assert "\nmyst:\n" in text
    assert parts(saved(text)) != parts(text)
