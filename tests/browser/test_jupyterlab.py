"""JupyterLab as `make lab` starts it: answers unfold, a widget and its kernel stay in step."""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from conftest import PATIENCE
from playwright.sync_api import Page, expect

from bookext.lab.__main__ import command

ROOT = Path(__file__).resolve().parents[2]
DETAILS = "<details>\n<summary>The question</summary>\n\nThe *answer*: $x^2$.\n\n</details>"
CODES = [
    "from attnkit.widgets import SoftmaxWidget\n\nw = SoftmaxWidget(temperature=2.0)\nw",
    'print("T is", w.temperature)',
    "w.temperature = 0.5",
]


def own_folders(folder: Path) -> dict[str, str]:
    """Jupyter with nothing of whoever runs the tests: no settings, no history."""
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    names += ("JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")
    return {name: str(folder / name) for name in names} | {"PYTHONPATH": str(ROOT)}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """JupyterLab on a free port, with one notebook; it and its kernels end with the test."""
    work = tmp_path / "work"
    work.mkdir()
    cells = [nbformat.v4.new_markdown_cell(DETAILS), *map(nbformat.v4.new_code_cell, CODES)]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, work / "one.ipynb")
    folders = own_folders(tmp_path)
    more = ["--no-browser", "--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"]
    more += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with open(tmp_path / "log", "w") as log:
        server = subprocess.Popen(
            command(work, "one.ipynb", "notebooks", more),
            env={**os.environ, **folders},
            stdout=log,
            stderr=log,
        )
    try:
        yield running(server, Path(folders["JUPYTER_RUNTIME_DIR"]), tmp_path / "log")
    finally:
        server.terminate()
        server.wait(timeout=4 * PATIENCE / 1000)


def running(server: subprocess.Popen, runtime: Path, log: Path) -> str:
    """The notebook's address, when the server has written where it is."""
    until = time.monotonic() + 4 * PATIENCE / 1000
    while time.monotonic() < until and server.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            text = file.read_text()
            said = json.loads(text) if text.rstrip().endswith("}") else {}  # half of it
            if said.get("port"):
                return f"{said['url']}lab/tree/one.ipynb?token={said['token']}"
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")


def run(page: Page, number: int) -> None:
    """Run a code cell with the button, as soon as the cell is the active one."""
    cell = page.locator(".jp-CodeCell").nth(number)
    cell.locator(".cm-content").click()
    expect(cell).to_have_class(re.compile(r"\bjp-mod-active\b"))
    page.get_by_role("button", name="Run this cell and advance").click()


def test_answers_unfold_and_a_widget_and_its_kernel_stay_in_step(address, open_page):
    page = open_page(address).page
    # A cell that is run before the kernel is there is never run: the status bar knows.
    expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible(timeout=4 * PATIENCE)
    summary = page.get_by_text("The question", exact=True)
    answer = page.locator("details mjx-container")  # a formula, set; jupyterlab_myst leaves TeX
    expect(answer).to_be_hidden()
    summary.click()
    expect(answer).to_be_visible()

    run(page, 0)
    field = page.get_by_label("Temperature T, exact value")
    expect(field).to_have_value("2")
    page.get_by_role("slider", name="Temperature T").press("ArrowRight")
    expect(field).not_to_have_value("2")

    run(page, 1)
    said = page.locator(".jp-OutputArea-output pre")
    expect(said).to_have_text(f"T is {float(field.input_value())}\n")
    run(page, 2)
    expect(field).to_have_value("0.5")
