"""The execution cache: another state of what the chapters run on means another folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_book import SPHINX

from bookext import cache


@pytest.fixture
def tree(tmp_path):
    package = tmp_path / "attnkit"
    (package / "widgets").mkdir(parents=True)
    (package / "masks.py").write_text("x = 1\n")
    (package / "widgets" / "core.js").write_text("export const a = 1;\n")
    (tmp_path / "requirements.txt").write_text("torch==2.13.0\n")
    (tmp_path / "requirements-model.txt").write_text("a-model==0.1.0\n")
    return tmp_path


def test_the_same_state_has_the_same_fingerprint(tree):
    assert cache.fingerprint(tree) == cache.fingerprint(tree)


@pytest.mark.parametrize(
    "name",
    [
        "attnkit/masks.py",
        "attnkit/widgets/core.js",
        "requirements.txt",
        "requirements-model.txt",
        "attnkit/new.py",
    ],
)
def test_a_changed_or_new_file_changes_the_fingerprint(tree, name):
    before = cache.fingerprint(tree)
    with (tree / name).open("a") as file:
        file.write("# changed\n")
    assert cache.fingerprint(tree) != before


def test_a_renamed_file_changes_the_fingerprint(tree):
    before = cache.fingerprint(tree)
    (tree / "attnkit" / "masks.py").rename(tree / "attnkit" / "mask.py")
    assert cache.fingerprint(tree) != before


def test_chapters_and_compiled_files_do_not_count(tree):
    before = cache.fingerprint(tree)
    (tree / "chapters").mkdir()
    (tree / "chapters" / "01.md").write_text("text\n")
    (tree / "attnkit" / "__pycache__").mkdir()
    (tree / "attnkit" / "__pycache__" / "masks.cpython-311.pyc").write_bytes(b"\1")
    assert cache.fingerprint(tree) == before


def test_what_measures_the_chapters_is_not_what_they_run_on(tree):
    before = cache.fingerprint(tree)
    for folder in ("attnkit/verify", "attnkit/data"):
        (tree / folder).mkdir()
    (tree / "attnkit/verify/run.py").write_text("x = 1\n")
    (tree / "attnkit/data/printed.json").write_text("{}\n")
    assert cache.fingerprint(tree) == before
    (tree / "attnkit/verified.py").write_text("x = 1\n")
    assert cache.fingerprint(tree) != before


def test_the_number_of_threads_counts_and_the_callers_choice_stands(tree, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "7")
    cache.fix_threads()
    assert os.environ["OMP_NUM_THREADS"] == cache.THREADS
    assert os.environ["MKL_NUM_THREADS"] == "7"
    before = cache.fingerprint(tree)
    monkeypatch.setenv("OMP_NUM_THREADS", "9")
    assert cache.fingerprint(tree) != before


def test_the_latest_states_are_kept(tmp_path):
    for age in range(6):
        (tmp_path / f"state{age}").mkdir()
        os.utime(tmp_path / f"state{age}", (1000 - age, 1000 - age))
    cache.prune(tmp_path, keep=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["state0", "state1"]


def test_a_build_that_warned_warns_again(tmp_path):
    source = tmp_path / "book"
    source.mkdir()
    (source / "conf.py").write_text('extensions = ["myst_nb", "bookext.cache"]\n')
    (source / "index.md").write_text("# A page\n\n{ref}`nowhere`\n")
    root = Path(cache.__file__).parents[1]
    command = [sys.executable, "-c", SPHINX, "-W", "-n", "--keep-going", source, tmp_path / "out"]
    environment = os.environ | {"PYTHONPATH": str(root)}
    for _ in range(2):
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert run.returncode != 0
        assert "index.md:3: WARNING" in run.stderr and "nowhere" in run.stderr
