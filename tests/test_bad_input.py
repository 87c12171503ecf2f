"""Bad chapters: each fails the build, or the lint, with a message that names file and line."""

import re

import pytest
from edition_book import HEADER, SmallBook

from bookext.failures import line_of_failure
from bookext.lint import lint
from bookext.source import read_page

TOP = HEADER.count("\n")
CELL = "```{code-cell} ipython3\n%s\n```\n"
PIXEL = (
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6364"
    "60f85f0f00028701c0eb47ba920000000049454e44ae426082"
)
STATIC = {
    # what: (page, line of the message, words of the message)
    "reference to nothing": ("# T\n\nSee {ref}`nowhere`.\n", 3, "nowhere"),
    "link to nothing": ("# T\n\nText\nand [x](#nowhere).\n", (3, 4), "nowhere"),
    "page that does not exist": ("# T\n\nSee {doc}`missing`.\n", 3, "missing"),
    "work that is not in the bibliography": ("# T\n\nSee {cite}`nobody2000`.\n", 3, "nobody2000"),
    "value that nothing glues": ("# T\n\nIt is {glue:text}`nothing`.\n", 3, "nothing"),
    "unknown directive": ("# T\n\n```{nosuch}\n```\n", 3, "nosuch"),
    "unknown role": ("# T\n\nA {nosuch}`x`.\n", 3, "nosuch"),
    "unknown option": ("# T\n\n```{note}\n:colour: red\n\nx\n```\n", (3, 4), "colour"),
    "file that does not exist": ("# T\n\n![a picture](none.png)\n", 3, "none.png"),
    "picture without text": ("# T\n\n![](pic.png)\n", 3, "alt"),
    "nested cell": ("# T\n\n:::{note}\n" + CELL % "1" + ":::\n", (3, 4), "nested"),
}


@pytest.fixture(scope="module")
def static_log(tmp_path_factory):
    """All bad pages in one book: Sphinx goes on and reports each."""
    names = {what: f"p{number}" for number, what in enumerate(STATIC)}
    toc = "\n".join(names.values())
    pages = {f"{names[what]}.md": HEADER + text for what, (text, _, _) in STATIC.items()}
    pages["index.md"] = f"# Index\n\n```{{toctree}}\n{toc}\n```\n"
    book = SmallBook(
        tmp_path_factory.mktemp("bad"),
        pages,
        nb_execution_mode="off",
        parts=("failures", "public", "kernel_only", "notebooks", "alttext"),
    )
    (book.folder / "pic.png").write_bytes(bytes.fromhex(PIXEL))
    done = book.build()
    assert done.returncode not in (0, None)
    return names, done.stdout


@pytest.mark.parametrize("what", STATIC)
def test_build_names_file_and_line(what, static_log):
    names, log = static_log
    _, lines, words = STATIC[what]
    lines = lines if isinstance(lines, tuple) else (lines,)
    places = [rf"{names[what]}(\.md)?" + f":{TOP + n}\\b" for n in lines]
    found = [line for line in log.splitlines() if words in line]
    assert any(re.search(place, line) for place in places for line in found), log


FAILING = HEADER + "# T\n\n" + CELL % "x = 1\n\ndef f():\n    return x / 0" + "\n"
FAILING += CELL % ":tags: [remove-cell]\n\ny = 2\nf()"


def test_failing_cell_is_named_with_its_line(tmp_path):
    book = SmallBook(tmp_path, {"index.md": FAILING}, parts=("failures", "public", "notebooks"))
    done = book.build()
    line = FAILING.splitlines().index("f()") + 1
    assert done.returncode not in (0, None)
    assert f"index.md:{line}: this cell fails: ZeroDivisionError: division by zero" in done.stdout
    assert not (book.html / "notebooks").exists()


def test_line_of_a_failure_without_frames():
    page = read_page("a.md", FAILING)
    timeout = "A cell timed out\n-------------------\ny = 2\nf()\n-------------------"
    assert line_of_failure(page, timeout) == FAILING.splitlines().index(":tags: [remove-cell]")
    assert line_of_failure(page, "no idea") == 1


LINTED = {
    "a header key is missing": (
        HEADER.replace("    format_name: myst\n", "") + "# T\n\n" + CELL % "1",
        1,
        "lacks 'jupytext.text_representation.format_name'",
    ),
    "a cell of 21 lines": (HEADER + CELL % "\n".join("a = 1" for _ in range(21)), TOP + 1, "21"),
    "a bare number": (HEADER + "# T\n\nIt is 0.95.\n", TOP + 3, "'0.95'"),
    "an image without alt": (HEADER + "# T\n\n![](a.png)\n", TOP + 3, "no alt text"),
    "cell options that are no YAML": (
        HEADER + "# T\n\n" + CELL % ":tags: [a\n\n1",
        TOP + 3,
        "metadata cannot be read",
    ),
    "block metadata that is no JSON": (HEADER + "# T\n\n+++ {x\n\nText\n", TOP + 3, "be read"),
    "a header that is no YAML": ("---\na: [\n---\n# T\n", 2, "not valid YAML"),
    "a header that is a list": ("---\n- a\n---\n# T\n", 2, "mapping"),
}


@pytest.mark.parametrize("what", LINTED)
def test_lint_names_file_and_line(what):
    text, line, words = LINTED[what]
    findings = lint("ch/a.md", text)
    assert any(f.startswith(f"ch/a.md:{line}: [") and words in f for f in findings), findings


@pytest.mark.parametrize("text", ["", "\n\n", "---\n---\n", "text\0nul\n", "\ufeff# T\n"])
def test_lint_survives_odd_files(text):
    assert isinstance(lint("a.md", text), list)
