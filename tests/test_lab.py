"""`make lab`: notebooks of one's own that follow the book and are never taken away."""

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from bookext.lab import __main__ as lab
from bookext.lab.copies import GIVEN, digest, renew

ROOT = Path(__file__).resolve().parents[1]


def write(path: Path, *codes: str, note: str = "# Title") -> None:
    cells = [nbformat.v4.new_markdown_cell(note), *map(nbformat.v4.new_code_cell, codes)]
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)


def codes(path: Path) -> list[str]:
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A built book of two notebooks, and the folder of a learner who has been given both."""
    built, mine = tmp_path / "built", tmp_path / "mine"
    write(built / "01-one.ipynb", "x = 1", "raise NotImplementedError")
    write(built / "02-two.ipynb", "y = 2")
    assert renew(built, mine) == []
    assert codes(mine / "01-one.ipynb") == ["x = 1", "raise NotImplementedError"]
    return built, mine


def run(path: Path) -> None:
    """What JupyterLab does to a notebook that is run and saved: outputs, counts, metadata."""
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["language_info"] = {"name": "python", "version": "3.12.1"}
    for count, cell in enumerate(c for c in notebook.cells if c.cell_type == "code"):
        cell.execution_count = count + 1
        cell.outputs = [nbformat.v4.new_output("stream", text="ran")]
        cell.metadata["execution"] = {"iopub.status.busy": "now"}
    nbformat.write(notebook, path)


def test_an_untouched_copy_follows_the_book(folders):
    built, mine = folders
    write(built / "02-two.ipynb", "y = 3")
    assert renew(built, mine) == ["02-two.ipynb: brought up to date"]
    assert codes(mine / "02-two.ipynb") == ["y = 3"]
    write(built / "02-two.ipynb", "y = 4")
    renew(built, mine)
    assert codes(mine / "02-two.ipynb") == ["y = 4"]


def test_a_copy_that_was_only_run_follows_the_book_and_keeps_its_outputs_until_then(folders):
    built, mine = folders
    run(mine / "02-two.ipynb")
    before = (mine / "02-two.ipynb").read_bytes()
    assert renew(built, mine) == []
    assert (mine / "02-two.ipynb").read_bytes() == before
    write(built / "02-two.ipynb", "y = 3")
    renew(built, mine)
    assert codes(mine / "02-two.ipynb") == ["y = 3"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda cells: cells[2].update(source="answer = 42"), id="an answer"),
        pytest.param(lambda cells: cells[0].update(source="# Title\n\nmy note"), id="a note"),
        pytest.param(lambda cells: cells.append(nbformat.v4.new_code_cell("z")), id="one more"),
        pytest.param(lambda cells: cells.insert(1, nbformat.v4.new_code_cell("")), id="empty"),
        pytest.param(lambda cells: cells.pop(1), id="one less"),
        pytest.param(lambda cells: cells.reverse(), id="another order"),
    ],
)
def test_what_a_learner_changed_is_kept_whatever_the_book_does(folders, change):
    built, mine = folders
    path = mine / "01-one.ipynb"
    notebook = nbformat.read(path, as_version=4)
    change(notebook.cells)
    nbformat.write(notebook, path)
    kept = path.read_bytes()
    assert renew(built, mine) == []  # nothing newer: no word about it
    write(built / "01-one.ipynb", "x = 5")
    for _ in range(2):
        (said,) = renew(built, mine)
        assert "yours is kept" in said and "another name" in said
        assert path.read_bytes() == kept
    path.rename(mine / "my-one.ipynb")
    assert renew(built, mine) == []
    assert codes(path) == ["x = 5"] and (mine / "my-one.ipynb").read_bytes() == kept


def test_a_change_that_was_taken_back_is_none(folders):
    built, mine = folders
    write(mine / "01-one.ipynb", "mine")
    renew(built, mine)
    write(mine / "01-one.ipynb", "x = 1", "raise NotImplementedError")
    write(built / "01-one.ipynb", "x = 5")
    assert renew(built, mine) == ["01-one.ipynb: brought up to date"]


def test_files_of_a_learner_and_notebooks_that_left_the_book_stay(folders):
    built, mine = folders
    (mine / "data.csv").write_text("1,2")
    (built / "02-two.ipynb").unlink()
    renew(built, mine)
    assert (mine / "data.csv").read_text() == "1,2" and codes(mine / "02-two.ipynb") == ["y = 2"]


@pytest.mark.parametrize("left", ["", "{", '{"cells": 3}', "[]"])
def test_a_broken_file_is_not_written_over(folders, left):
    built, mine = folders
    (mine / "01-one.ipynb").write_text(left)
    write(built / "01-one.ipynb", "x = 5")
    assert len(renew(built, mine)) == 1
    assert (mine / "01-one.ipynb").read_text() == left


@pytest.mark.parametrize("record", [None, "", "{", "[]"])
def test_without_a_record_everything_that_differs_is_kept(folders, record):
    built, mine = folders
    (mine / GIVEN).unlink()
    if record is not None:
        (mine / GIVEN).write_text(record)
    write(built / "01-one.ipynb", "x = 5")
    assert len(renew(built, mine)) == 1
    assert codes(mine / "01-one.ipynb") == ["x = 1", "raise NotImplementedError"]
    assert set(json.loads((mine / GIVEN).read_text())) == {"02-two.ipynb"}


def test_a_notebook_reads_the_same_in_both_ways_of_writing_its_lines(tmp_path):
    write(tmp_path / "a.ipynb", "x = 1\ny = 2")
    notebook = json.loads((tmp_path / "a.ipynb").read_text())
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    (tmp_path / "b.ipynb").write_text(json.dumps(notebook))
    assert digest(tmp_path / "a.ipynb") == digest(tmp_path / "b.ipynb") is not None


def test_without_a_book_it_says_what_to_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lab, "NOTEBOOKS", tmp_path / "nothing")
    monkeypatch.setattr(lab, "MINE", tmp_path / "mine")
    assert lab.main([]) == 1
    assert "make book" in capsys.readouterr().err
    assert not (tmp_path / "mine").exists()


def started(monkeypatch, tmp_path, *arguments: str) -> list[str]:
    """The command that starts JupyterLab."""
    write(tmp_path / "built" / "intro.ipynb", "1")
    monkeypatch.setattr(lab, "NOTEBOOKS", tmp_path / "built")
    monkeypatch.setattr(lab, "MINE", tmp_path / "mine")
    calls: list[list[str]] = []
    monkeypatch.setattr(lab, "become", lambda command: calls.append(command) or 0)
    assert lab.main(list(arguments)) == 0
    return calls[0]


def test_a_learner_gets_the_folder_with_the_copies_and_other_arguments_reach_jupyterlab(
    monkeypatch, tmp_path
):
    command = started(monkeypatch, tmp_path, "--no-browser", "--port=9000")
    assert command[0] == sys.executable and command[-2:] == ["--no-browser", "--port=9000"]
    assert f"--ServerApp.root_dir={tmp_path / 'mine'}" in command
    assert (tmp_path / "mine" / "intro.ipynb").exists()


@pytest.mark.skipif(os.name != "posix", reason="Windows cannot replace a program")
def test_jupyterlab_takes_the_place_of_the_program_that_starts_it():
    """Or a terminal that ends this program would leave a server behind."""
    says = [sys.executable, "-c", "import os; print(os.getpid())"]
    starts = f"from bookext.lab.__main__ import become; become({says!r})"
    program = subprocess.Popen([sys.executable, "-c", starts], cwd=ROOT, stdout=subprocess.PIPE)
    assert int(program.communicate()[0]) == program.pid


def test_copies_alone_start_nothing(monkeypatch, tmp_path, capsys):
    write(tmp_path / "built" / "intro.ipynb", "1")
    monkeypatch.setattr(lab, "NOTEBOOKS", tmp_path / "built")
    monkeypatch.setattr(lab, "MINE", tmp_path / "mine")
    monkeypatch.setattr(lab, "become", lambda command: pytest.fail("it started JupyterLab"))
    assert lab.main(["--copies"]) == 0
    assert codes(tmp_path / "mine" / "intro.ipynb") == ["1"]
    assert str(tmp_path / "mine") in capsys.readouterr().out


def test_whoever_writes_chapters_gets_them_and_no_copies(monkeypatch, tmp_path):
    command = started(monkeypatch, tmp_path, "--chapters")
    assert f"--ServerApp.root_dir={ROOT}" in command
    assert not (tmp_path / "mine").exists()


def settings(name: str) -> dict:
    """What JupyterLab is told, all files of a folder together."""
    files = (lab.SETTINGS / name).glob("*.json")
    return {key: value for f in files for key, value in json.loads(f.read_text()).items()}


def test_plain_notebooks_are_shown_by_jupyterlab_alone_and_chapters_as_notebooks():
    """jupyterlab_myst shows the directives of chapters, and formulas inside of <details> as TeX."""
    assert settings("notebooks")["disabledExtensions"]["jupyterlab-myst"] is True
    opened = settings("chapters")
    assert "disabledExtensions" not in opened
    viewers = opened["@jupyterlab/docmanager-extension:plugin"]["defaultViewers"]
    assert viewers == {"markdown": "Jupytext Notebook", "myst": "Jupytext Notebook"}


def make(*arguments: str) -> str:
    """What make would do."""
    command = ["make", "--dry-run", "--no-print-directory", *arguments]
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_make_lab_builds_the_book_where_there_is_none_or_a_page_is_newer(tmp_path):
    stamp = tmp_path / "built"
    assert "jupyter-book build" in make("lab", f"BUILT={stamp}")
    stamp.touch()
    assert "jupyter-book build" not in (now := make("lab", f"BUILT={stamp}"))
    assert "bookext.lab" in now and "--chapters" not in now and "--copies" not in now
    assert "bookext.lab --copies" in make("my-notebooks", f"BUILT={stamp}")
    os.utime(stamp, (0, 0))
    assert "jupyter-book build" in make("lab", f"BUILT={stamp}")


def test_make_lab_source_needs_no_book(tmp_path):
    said = make("lab-source", f"BUILT={tmp_path / 'none'}")
    assert "bookext.lab --chapters" in said and "jupyter-book build" not in said
