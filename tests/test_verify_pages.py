"""The chapters as attnkit.verify reads them: the cells of the book, no solution, all numbers."""

import json
import subprocess
import sys
from functools import cache

import pytest
from leaks import hidden_lines, squeeze
from verify_course import GOOD

from attnkit.verify.compare import compare
from attnkit.verify.measure import Output, Result
from attnkit.verify.numbers import KINDS, numbers
from attnkit.verify.pages import CHECKOUT, UnknownPage, select, sources
from attnkit.verify.record import load, of_build
from attnkit.verify.source import read, strip
from bookext.public import graded
from bookext.source import read_page

FILES = [CHECKOUT / "intro.md", *sorted((CHECKOUT / "chapters").glob("*.md"))]
TEXTS = {path: path.read_text("utf-8") for path in FILES}
CURE = (
    "attnkit/data/printed.json is not what the pages print. Build the book, then: "
    "python -m experiments.printed (one page alone: --chapter N)"
)


@pytest.fixture(scope="module")
def record():
    return load()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_cells_are_those_of_the_book(path):
    page = read_page(path)
    cells = [cell for cell in page.cells if cell.kind == "code"] if page.is_notebook else []
    wanted = [(c.source.strip("\n"), c.tags, graded(c.metadata)) for c in cells]
    found = read(TEXTS[path]).cells
    assert [(c.source.strip("\n"), list(c.tags), c.graded) for c in found] == wanted
    lines = TEXTS[path].splitlines()
    assert all(lines[c.line - 1] == c.source.split("\n")[0] for c in found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stripped_copy_runs_the_same_cells(path):
    whole, copy = read(TEXTS[path]), read(strip(TEXTS[path]))
    assert copy.digest == whole.digest and len(copy.cells) == len(whole.run)
    assert not whole.run or copy.title == whole.title


def test_the_copies_in_a_package_hold_no_solution():
    hidden = hidden_lines(TEXTS)
    copies = squeeze("\n".join(copied().values()))
    assert len(hidden) > 100 and not [line for key, line in hidden.items() if key in copies]
    whole = squeeze("\n".join(TEXTS.values()))
    assert all(key in whole for key in hidden)  # so a copy that is not stripped would be found
    assert "secret_of_the_page" not in strip(GOOD)


COPIED = """
import json
from pathlib import Path
text = Path("setup.py").read_text("utf-8").replace("\\nsetup(", "\\n_ = dict(")
names = {"__name__": "attnkit_setup"}
exec(compile(text, "setup.py", "exec"), names)
print(json.dumps(names["pages"]()))
"""


@cache
def copied() -> dict[str, str]:
    """What setup.py puts into a wheel. In a process of its own: setuptools does not stand pip."""
    command = [sys.executable, "-c", COPIED]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_every_page_with_code_is_copied():
    assert set(copied()) == {source.path.name for source in sources()}


def test_every_glued_name_of_a_page_is_in_the_record_and_no_other(record):
    on_pages = {(name, form) for text in TEXTS.values() for name, form in read(text).glued}
    kept = {
        (name, form)
        for page in record.pages.values()
        for name, glued in page.glued.items()
        for form in glued.formats
    }
    assert kept == on_pages, CURE


def test_the_record_is_of_these_chapters(record):
    now = {source.slug: source.page.digest for source in sources()}
    assert {slug: page.code for slug, page in record.pages.items()} == now, CURE


def test_the_book_prints_what_is_recorded(record):
    """The built book is one more measurement: of this machine, by the book's own kernels."""
    built = of_build(CHECKOUT / "_build" / "executed", sources(), record)
    wrong = []
    for source in sources():
        page = built.pages[source.slug]
        shown = [Output(s.cell, s.part, s.text, s.section) for s in page.shown]
        glued = {name: each.value for name, each in page.glued.items()}
        result = Result(source.slug, glued, outputs=shown, seconds=[0.0] * len(source.page.run))
        verdict = compare(source.slug, source.label, record.pages[source.slug], result)
        wrong += [f"{source.slug}: {line}" for line in verdict.outside if line.kind != "time"]
        wrong += [f"{source.slug}: {verdict.missed} missing"] * bool(verdict.missed)
    assert not wrong, "\n".join([CURE, *wrong])


def test_every_number_has_a_kind_and_a_recorded_one_its_script(record):
    for slug, page in record.pages.items():
        for shown in page.shown:
            assert len(shown.kinds) == len(shown.spreads) == len(numbers(shown.text)), slug
            assert set(shown.kinds) <= set(KINDS)
        for name, glued in page.glued.items():
            assert glued.kind in KINDS, name
            assert glued.kind != "recorded" or glued.records, name
            for file in glued.records:
                assert (CHECKOUT / "attnkit" / "data" / file).is_file(), (name, file)
    scripts = {path.stem for path in (CHECKOUT / "experiments").glob("*.py")}
    assert set(record.scripts.values()) <= scripts and record.scripts


@pytest.mark.parametrize(
    "name", ["3", "03", "chapter 3", "scaled-dot-product", "03-scaled-dot-product"]
)
def test_a_chapter_has_several_names(name):
    assert [source.number for source in select([name], sources())] == ["3"]


def test_pages_come_in_the_order_of_the_book():
    assert [s.number for s in select(["a07", "10", "2"], sources())] == ["2", "10", "a7"]
    with pytest.raises(UnknownPage, match=r"no chapter '99'.*\n(.*\n)*.*01-rnn-bottleneck"):
        select(["99"], sources())
