"""Kernels of the book start with the book's profile, whoever builds it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from bookext import kernels

RUN = """
import nbformat, sys
from bookext.kernels import without_ports
from nbclient import NotebookClient

without_ports()
cells = [nbformat.v4.new_code_cell(source) for source in sys.argv[1:]]
notebook = nbformat.v4.new_notebook(cells=cells)
NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
print(notebook.cells[-1].outputs[0]["data"]["text/plain"])
"""
LOADED = "sys.modules.get('rfc3987_syntax') is not None"


@pytest.fixture
def run(tmp_path):
    """Run cells in a kernel of somebody who has a profile of his own; what the last one shows."""
    startup = tmp_path / "home" / ".ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "mine.py").write_text("answer = 'from my profile'")

    def run(*cells: str, **environment: str) -> tuple[str, str]:
        env = {k: v for k, v in os.environ.items() if k != "IPYTHONDIR"} | environment
        env |= {"HOME": str(tmp_path / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", RUN, *cells]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        return done.stdout.strip(), done.stderr

    return run


def test_a_profile_of_ones_own_is_not_read(run, tmp_path):
    assert run("'answer' in dir()")[0] == "True"
    assert run("'answer' in dir()", **kernels.profile(tmp_path)) == ("False", "")


def test_glue_does_not_load_the_grammar_of_addresses(run, tmp_path):
    glue = "from myst_nb import glue; glue('name', 3, display=False)"
    shown, said = run(glue, f"import sys; {LOADED}", **kernels.profile(tmp_path))
    assert shown == "False" and said == ""


def test_a_kernel_needs_no_port_that_another_process_could_take():
    connected = "from ipykernel.connect import get_connection_info as all\nall(unpack=True)"
    shown = f"{connected}['transport']", f"{connected}['ip']"
    notebook = new_notebook(cells=[new_code_cell(source) for source in shown])
    NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
    transport, place = (eval(cell.outputs[0]["data"]["text/plain"]) for cell in notebook.cells)
    assert transport == "ipc" and Path(place).is_absolute()
    assert not set(Path(place).parent.glob(f"{Path(place).name}*")), "nothing is left of it"
