"""What a reader takes from the site: every link leads to a file, and the notebook installs itself.

Two small books with a package of their own: one that is published, and one that is not.
"""

import json
import re
import subprocess
import venv
import zipfile
from pathlib import Path

import nbformat
import pip
import pytest
from edition_book import HEADER, SmallBook
from package import PACKAGE, PYPROJECT, VERIFY

from bookext.address import read_repository
from bookext.offline import pack
from bookext.promised import wrong
from bookext.wheel import build, state

PARTS = "address public wheel notebooks instructor launch binder offline promised".split()
SITE = "https://course.example/book/"
WHEEL = "wheels/attnkit-7.8.9-py3-none-any.whl"
REPOSITORY = {
    "repository_url": "https://github.com/owner/name.git",
    "launch_buttons": {
        "colab_url": "https://colab.example",
        "binderhub_url": "https://binder.example",
    },
}
INDEX = "# Index\n\n```{toctree}\nch/one\nch/plain\n```\n"
ONE = (
    HEADER
    + """\
# One

See {doc}`plain`.

```{code-cell} ipython3
from attnkit import total

answer = total([40, 2])
print(answer)
```

```{code-cell} ipython3
---
nbgrader: {grade: false, grade_id: s, locked: false, schema_version: 3, solution: true}
---
### BEGIN SOLUTION
answer = 1
### END SOLUTION
```
"""
)
PLAIN = HEADER + "# Plain\n\n```{code-cell} ipython3\nimport math\nmath.pi\n```\n"


def small(folder: Path, **conf) -> SmallBook:
    pages = {"index.md": INDEX, "ch/one.md": ONE, "ch/plain.md": PLAIN, **PACKAGE}
    pages["binder/postBuild"] = "#!/bin/sh\n"
    book = SmallBook(folder, pages, parts=PARTS, nb_execution_mode="off", **conf)
    (folder / "binder" / "postBuild").chmod(0o755)
    return book.built()


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """It has no address and no repository."""
    return small(tmp_path_factory.mktemp("book"))


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    conf = {"html_baseurl": SITE, "html_theme_options": REPOSITORY, "html_title": "Plain"}
    return small(tmp_path_factory.mktemp("published"), **conf)


def notebook(book, name="one", folder="html/notebooks"):
    path = book.folder / "_build" / folder / f"{name}.ipynb"
    return nbformat.reads(path.read_text("utf-8"), as_version=4)


def line(book, page) -> str:
    return re.search(r'<p class="page-downloads">.*?</p>', book.page(page), re.S)[0]


# --- the line under the title ---------------------------------------------------------------------


def test_the_line_stands_under_the_title_and_names_what_there_is(book, published):
    assert re.search(r'</h1>\s*<p class="page-downloads">', book.page("ch/one.html"))
    words = re.sub("<.*?>", "", line(published, "ch/one.html"))
    assert words == "Open in Colab Open in Binder Download: notebook · MyST source"
    words = re.sub("<.*?>", "", line(book, "ch/one.html"))
    assert words == "Download: notebook · MyST source", "nothing of Colab and Binder"
    words = re.sub("<.*?>", "", line(published, "index.html"))
    assert words == "Download: MyST source · whole course (zip)", "a page without code"


def test_links_of_the_line(published):
    found = dict(
        re.findall(r'<a [^>]*?href="([^"]*)"[^>]*>([^<]*)', line(published, "ch/one.html"))
    )
    assert {words: url for url, words in found.items()} == {
        "Open in Colab": (
            "https://colab.example/github/owner/name/blob/gh-pages/notebooks/one.ipynb"
        ),
        "Open in Binder": (
            "https://binder.example/v2/gh/owner/name/gh-pages"
            "?urlpath=lab%2Ftree%2Fnotebooks%2Fone.ipynb"
        ),
        "notebook": "../notebooks/one.ipynb",
        "MyST source": "../sources/one.md",
    }


def test_a_notebook_says_which_course_and_page_it_is_of(published):
    assert notebook(published).cells[0].source.startswith("> From **Plain**: One. [The page](")
    named_as_the_course = notebook(published, "plain").cells[0].source
    assert named_as_the_course.startswith("> **Plain**. [The page](")


# --- what a notebook installs ---------------------------------------------------------------------


def test_a_notebook_installs_from_the_site_or_from_beside_it(book, published):
    note, install = notebook(published).cells[:2]
    assert f'pip install "attnkit[book] @ {SITE}{WHEEL}"' in note.source
    assert f'site = "{SITE}{WHEEL}"' in install.source and f'"../{WHEEL}"' in install.source
    assert 'needs = ["attnkit"]' in install.source
    assert "[book]" not in install.source, "what Colab has stays as it is"
    assert len(install.source.splitlines()) <= 20
    note, install = notebook(book).cells[:2]
    assert f'pip install "../{WHEEL}[book]"' in note.source and "http" not in install.source[:500]
    assert f'book = "../{WHEEL}"' in install.source and "@" not in install.source


def test_a_notebook_that_needs_nothing_installs_nothing(published):
    plain = notebook(published, "plain")
    assert "pip" not in json.dumps(plain.cells)


def test_a_class_gets_the_cell_from_a_published_book_alone(book, published):
    sources = [cell.source for cell in notebook(book, folder="instructor").cells]
    assert not [source for source in sources if "pip install" in source or "find_spec" in source]
    complete = notebook(published, folder="instructor")
    assert "find_spec" in complete.cells[1].source
    setup = complete.metadata.attention_measured.setup
    names = [cell.source.split("\n")[0] for cell in complete.cells if cell.id in setup]
    assert names == ["from attnkit import total"], "the grader installs nothing"


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Path:
    """The Python of an environment that has pip, and neither the course nor a kernel."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)  # which would unpack one: ten times as long
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "pip").symlink_to(Path(pip.__file__).parent)
    return folder / "bin" / "python"


def run(python: Path, folder: Path, cells) -> subprocess.CompletedProcess:
    """The code cells, one after the other, with the network out of reach."""
    program = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    program = program.replace("### BEGIN SOLUTION", "").replace("raise NotImplementedError()", "")
    return subprocess.run(
        [python, "-I", "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        env={"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": "/dev/null", "PIP_NO_CACHE_DIR": "1"},
    )


def test_the_cell_installs_once_from_the_unpacked_course(book, bare, tmp_path):
    cells = notebook(book).cells
    alone = run(bare, tmp_path, cells)
    assert alone.returncode and "unpack the whole course" in alone.stderr, "no wheel beside it"
    zipfile.ZipFile(book.html / "attention-measured.zip").extractall(tmp_path)
    folder = tmp_path / "attention-measured" / "notebooks"
    first = run(bare, folder, cells)
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines() == ["Installing attnkit (this can take some minutes)", "42"]
    again = run(bare, folder, cells)
    assert (again.stdout, again.stderr) == ("42\n", ""), "where all is there, it does nothing"


@pytest.mark.parametrize(
    ("installed", "older"),
    {
        "7.8.8": True,
        "7.7.10": True,
        "0.9.0": True,
        "7.8": True,
        "7.8.9": False,
        "7.8.9.post1": False,
        "7.8.10": False,
        "7.10.0": False,
        "10.0": False,
        "": False,
        None: False,
    }.items(),
)
def test_an_older_attnkit_is_named_and_left_alone(published, bare, tmp_path, installed, older):
    (tmp_path / "attnkit").mkdir()
    (tmp_path / "attnkit" / "__init__.py").write_text("total = sum\n")
    if installed is not None:  # else a folder on the path, which nobody installed
        named = f"Name: attnkit\nVersion: {installed}\n" if installed else ""
        (tmp_path / "attnkit-0.dist-info").mkdir()
        (tmp_path / "attnkit-0.dist-info" / "METADATA").write_text(named)
    alone = f"import sys\nsys.path[-1:] = [{str(tmp_path)!r}]  # in place of site-packages"
    paths = nbformat.v4.new_code_cell(alone)
    said = run(bare, tmp_path, [paths, *notebook(published).cells])
    line = f'attnkit {installed} is older than this notebook. Renew it: %pip install "attnkit @ '
    assert (said.stdout, said.stderr) == (f'{line}{SITE}{WHEEL}"\n' * older + "42\n", "")


# --- the wheel and the course as one file ---------------------------------------------------------


def test_the_wheel_is_that_of_the_tree(book):
    with zipfile.ZipFile(book.html / WHEEL) as wheel:
        names = wheel.namelist()
        assert wheel.read("attnkit/sums.py").decode() == PACKAGE["attnkit/sums.py"]
    assert {name.split("/")[0] for name in names} == {"attnkit", "attnkit-7.8.9.dist-info"}
    assert not list(book.folder.glob("*.egg-info")) and not (book.folder / "build").exists()


def test_the_wheel_has_the_numbers_that_this_build_has_printed(tmp_path):
    executed = tmp_path / "executed"
    for name, text in {**PACKAGE, **VERIFY, "executed/ch/one.ipynb": "{}"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    before = state(tmp_path, executed)
    with zipfile.ZipFile(build(tmp_path, tmp_path / "out", executed)) as wheel:
        assert wheel.read("attnkit/data/printed.json").decode() == "{'kept': 1, 'one': 2}"
    assert (tmp_path / "attnkit" / "data" / "printed.json").read_text() == "committed"
    (executed / "ch" / "one.ipynb").write_text("{} ")
    assert state(tmp_path, executed) != before, "other outputs, another wheel"


def test_the_course_as_one_file(published):
    with zipfile.ZipFile(published.html / "attention-measured.zip") as archive:
        names = archive.namelist()
        front = archive.read("attention-measured/index.html").decode()
        read_me = archive.read("attention-measured/READ-ME.txt").decode()
    inside = {name.removeprefix("attention-measured/") for name in names}
    assert {"index.html", "ch/one.html", "notebooks/one.ipynb", "sources/one.md", WHEEL} <= inside
    assert not {name for name in inside if name.startswith("binder") or name.endswith(".zip")}
    assert "whole course" not in front and "MyST source" in front, "it does not hold itself"
    assert 'href="attention-measured.zip"' in published.page("index.html")
    assert SITE in read_me and "open index.html" in read_me


def test_binder_gets_its_folder_with_the_site(published):
    assert (published.html / "binder" / "postBuild").stat().st_mode & 0o111, "a program"


def test_a_second_build_makes_the_same_bytes_and_only_what_changed(published):
    paths = [published.html / name for name in (WHEEL, "attention-measured.zip")]
    before = [(path.stat().st_mtime_ns, path.read_bytes()) for path in paths]
    published.built()
    assert [path.stat().st_mtime_ns for path in paths] == [time for time, _ in before]
    for path in paths:
        path.unlink()
    published.built()
    assert [path.read_bytes() for path in paths] == [data for _, data in before]


def test_a_changed_package_is_built_again_and_its_old_wheel_goes(published):
    file = published.write("pyproject.toml", PYPROJECT.format(version="8.0.0"))
    source = published.write("attnkit/sums.py", PACKAGE["attnkit/sums.py"] + "# changed\n")
    try:
        published.built()
        (wheel,) = published.html.glob("wheels/*")
        assert wheel.name == "attnkit-8.0.0-py3-none-any.whl"
        assert wheel.name in notebook(published).cells[1].source
        assert "# changed" in zipfile.ZipFile(wheel).read("attnkit/sums.py").decode()
        archive = zipfile.ZipFile(published.html / "attention-measured.zip")
        assert archive.read(f"attention-measured/wheels/{wheel.name}") == wheel.read_bytes()
    finally:
        file.write_text(PACKAGE["pyproject.toml"], "utf-8")
        source.write_text(PACKAGE["attnkit/sums.py"], "utf-8")
        published.built()


def test_the_archive_does_not_depend_on_when_files_were_made(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("x")
    assert pack(folder, tmp_path / "a.zip", "hello")
    first = (tmp_path / "a.zip").read_bytes()
    (folder / "index.html").touch(0o600)
    assert not pack(folder, tmp_path / "a.zip", "hello"), "nothing has changed"
    assert pack(folder, tmp_path / "b.zip", "hello")
    assert (tmp_path / "b.zip").read_bytes() == first
    assert pack(folder, tmp_path / "a.zip", "other words")


# --- every generated address is looked up ---------------------------------------------------------


def found(book, site="", place=None) -> list[str]:
    return list(wrong(book.html, site, place, WHEEL.rpartition("/")[2]))


def test_what_leads_nowhere_is_a_warning_at_the_end_of_the_build(book):
    config = book.folder / "conf.py"
    kept = config.read_text("utf-8")
    config.write_text(
        kept + "def setup(app):\n    app.connect('build-finished', lose)\n"
        "def lose(app, error):\n"
        "    import pathlib\n"
        "    pathlib.Path(app.outdir, 'sources', 'plain.md').unlink()\n"
    )
    try:
        process = book.build()
        assert process.returncode == 1, "-W"
        assert "ch/plain.html: ../sources/plain.md leads to no file of the book" in process.stdout
    finally:
        config.write_text(kept)
        book.built()


@pytest.mark.parametrize(
    "file, old, new, said",
    [
        ("ch/one.html", "../sources/one.md", "../sources/two.md", "one.html: ../sources/two.md"),
        ("ch/one.html", '/notebooks/one.ipynb" download', '/x.ipynb" download', "/x.ipynb leads"),
        (
            "ch/one.html",
            "blob/gh-pages/notebooks/one.ipynb",
            "blob/gh-pages/ch/one.md",
            "one.md le",
        ),
        ("ch/one.html", "%2Fnotebooks%2Fone", "%2Fnotebooks%2Ftwo", "Fnotebooks%2Ftwo.ipynb leads"),
        ("index.html", "attention-measured.zip", "attention.zip", "attention.zip leads to no file"),
        ("notebooks/one.ipynb", "attnkit-7.8.9-", "attnkit-7.8.8-", "installs ../wheels/attnkit-7"),
        ("notebooks/one.ipynb", SITE + "wheels", SITE + "x/wheels", "installs https://course.exa"),
        ("notebooks/one.ipynb", "ch/plain.html", "ch/plane.html", "ch/plane.html leads to no file"),
    ],
)
def test_a_wrong_address_is_named(published, file, old, new, said):
    place = read_repository("owner/name")
    assert found(published, SITE, place) == []
    path = published.html / file
    kept = path.read_text("utf-8")
    assert old in kept
    path.write_text(kept.replace(old, new), "utf-8")
    try:
        assert [one for one in found(published, SITE, place) if said in one]
    finally:
        path.write_text(kept, "utf-8")


def test_a_file_that_the_archive_lacks_is_named(book):
    late = book.html / "late.txt"
    late.write_text("x")
    assert found(book) == ["attention-measured.zip: late.txt is not in it"]
    late.unlink()
    assert found(book) == []


def test_a_wheel_that_cannot_be_built_fails_the_build_and_says_why(book):
    file = book.folder / "pyproject.toml"
    file.write_text(PACKAGE["pyproject.toml"].replace("dependencies = []", "dependencies = 1"))
    try:
        process = book.build()
        assert process.returncode == 1
        assert "the wheel of attnkit could not be built" in process.stdout
        assert "project.dependencies" in process.stdout
    finally:
        file.write_text(PACKAGE["pyproject.toml"], "utf-8")
        book.built()
