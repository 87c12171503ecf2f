"""The notebooks that readers download: every name that a cell uses is defined above it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAIN = ROOT / "_build" / "html" / "notebooks"


def undefined_names(notebook: Path) -> str:
    """What ruff says of names without a definition; notebooks are read cell by cell."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache"]
    run = subprocess.run(
        [*command, "--select", "F821", "--output-format", "concise", str(notebook)],
        capture_output=True,
        text=True,
    )
    return "" if run.returncode == 0 else run.stdout + run.stderr


def test_no_downloaded_notebook_uses_a_name_that_its_hidden_cells_defined():
    notebooks = sorted(PLAIN.glob("*.ipynb"))
    if not notebooks:
        pytest.fail(f"no notebooks in {PLAIN.relative_to(ROOT)}: run `make book` first")
    found = {file.name: undefined_names(file) for file in notebooks}
    assert not any(found.values()), "\n".join(found.values())


def test_a_name_without_definition_is_found(tmp_path):
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}}
    file = tmp_path / "bad.ipynb"
    file.write_text(json.dumps(notebook | {"cells": [cell | {"source": 'glue("x", 1)'}]}))
    assert "glue" in undefined_names(file)
    file.write_text(json.dumps(notebook | {"cells": [cell | {"source": "glue = print\nglue(1)"}]}))
    assert undefined_names(file) == ""
