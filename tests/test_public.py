"""The public edition: what is graded is not in the site, and the test that says so can fail."""

import json
import zipfile
from pathlib import Path

import pytest
from edition_book import HEADER, ROOT, SmallBook
from leaks import hidden_lines, hidden_words, leaks

from bookext.lint import pages
from bookext.public import MarkerError, secrets, strip_cell, strip_markdown

SOLUTION = {"solution": True, "grade": False}
CHECK = {"solution": False, "grade": True}
CHAPTER = (
    HEADER
    + '''\
# Chapter

```{code-cell} ipython3
import math
```

```{exercise-start} Sum
:label: ex-sum
```
Write `total`.

```{code-cell} ipython3
---
nbgrader: {grade: false, grade_id: total, locked: false, schema_version: 3, solution: true}
---
def total(values):
    """Their sum."""
    ### BEGIN SOLUTION
    zebraword = math.fsum(values) + 0.0
    print("striped giraffe")
    return zebraword
    ### END SOLUTION
total([1, 2])
```

```{code-cell} ipython3
---
nbgrader: {grade: true, grade_id: t1, locked: true, points: 1, schema_version: 3, solution: false}
---
print("visible check", total([5, 3]))
### BEGIN HIDDEN TESTS
assert total([40, 2]) == 42, "okapiword"
### END HIDDEN TESTS
```

```{code-cell} ipython3
---
nbgrader: {grade: true, grade_id: t2, locked: true, points: 1, schema_version: 3, solution: false}
---
# only hidden
### BEGIN HIDDEN TESTS
print("quaggaword", total([7, 8]))
### END HIDDEN TESTS
```

```{exercise-end}
```

+++ {"nbgrader": OPEN}

Explain the *lines* below.

### BEGIN SOLUTION
The tapirword explains itself, and {ref}`ex-sum` too.
### END SOLUTION

+++

After the answer.

```{solution} ex-sum
Ungraded and *worked*: it stays.
```
'''
)  # fmt: skip
OPEN = {"grade": True, "grade_id": "open", "locked": False, "points": 2, "schema_version": 3}
CHAPTER = CHAPTER.replace("OPEN", json.dumps(OPEN | {"solution": True}))
SECRETS = ("zebraword", "giraffe", "okapiword", "quaggaword", "tapirword")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    pages = {"index.md": "# Index\n\n```{toctree}\nch/one\n```\n", "ch/one.md": CHAPTER}
    return SmallBook(tmp_path_factory.mktemp("book"), pages).built()


def test_page_shows_stubs_in_place_of_solutions(book):
    text = book.page("ch/one.html")
    assert "YOUR CODE HERE" in text and "NotImplementedError" in text
    assert "YOUR ANSWER HERE" in text and "Explain the <em>lines</em>" in text
    assert "Their sum." in text, "what surrounds the solution stays"
    assert "visible check" in text and "Ungraded and <em>worked</em>" in text
    assert not [secret for secret in SECRETS if secret in text]


def test_no_output_of_a_graded_cell_is_shown(book):
    text = book.page("ch/one.html")
    assert "visible check 8" not in text and "<pre>3" not in text
    assert "striped" not in text


def test_hidden_test_cells_vanish(book):
    assert "only hidden" not in book.page("ch/one.html")
    assert "nbgrader" not in book.page("ch/one.html")


def test_nothing_leaks(book):
    assert leaks(book.html, {Path("one.md"): CHAPTER}) == []
    for folder in (book.html, book.folder / "_build" / ".doctrees"):
        for path in folder.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            assert not [s for s in SECRETS if s.encode() in content], path


def test_the_full_source_was_executed(book):
    (executed,) = book.folder.glob("_build/executed/ch/one.ipynb")
    text = executed.read_text("utf-8")
    assert "striped giraffe" in text and "quaggaword 15" in text


def test_instructor_edition_shows_everything(tmp_path):
    book = SmallBook(
        tmp_path,
        {"index.md": CHAPTER},
        bookext_edition="instructor",
    ).built()
    text = book.page("index.html")
    assert [secret for secret in SECRETS if secret not in text] == []
    assert "YOUR CODE HERE" not in text and leaks(book.html, {Path("index.md"): CHAPTER})


WAYS = {
    "page.html": lambda s: f"<p><span>{s[:9]}</span>&#32;<b>{s[9:]}</b></p>",
    "escaped.html": lambda s: s.replace('"', "&quot;").replace("<", "&lt;"),
    "data.js": lambda s: f"const a = {json.dumps(s)}",
    "twice.json": lambda s: json.dumps({"a": json.dumps([s + "\n"])}),
    "_sources/one.md.txt": lambda s: f"    {s}\n",
    "notebooks/one.ipynb": lambda s: json.dumps({"source": [s, "x"]}),
    "one.doctree": lambda s: f"\0{s}\0",
}


@pytest.mark.parametrize("name", WAYS)
def test_canary_a_planted_line_is_found(tmp_path, name):
    pages = {Path("one.md"): CHAPTER}
    for line in hidden_lines(pages).values():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(WAYS[name](line), "utf-8")
        assert f"{name}: {line}" in leaks(tmp_path, pages)
    assert len(hidden_lines(pages)) == 6


def test_canary_in_a_zip_and_in_the_search_index(tmp_path):
    pages = {Path("one.md"): CHAPTER}
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("a/one.md", CHAPTER)
    assert any(leak.startswith("all.zip!a/one.md: ") for leak in leaks(tmp_path, pages))
    index = {"terms": {"zebraword": 0, "sum": 0}, "titleterms": {}}
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})", "utf-8")
    (tmp_path / "search-sections.js").write_text('bookSearch({"x":"A Zebraword."});', "utf-8")
    found = leaks(tmp_path, pages)
    for name in ("searchindex.js", "search-sections.js"):
        assert f"{name}: the word zebraword" in found
    assert set(SECRETS) <= hidden_words(pages)


def test_stub_keeps_the_indentation():
    source = "class A:\n    def f(self):\n        ### BEGIN SOLUTION\n        return 1\n"
    source += "        ### END SOLUTION\n    g = 2"
    assert strip_cell(source, SOLUTION) == (
        "class A:\n    def f(self):\n        # YOUR CODE HERE\n"
        "        raise NotImplementedError()\n    g = 2"
    )


def test_several_regions_and_none():
    two = "### BEGIN SOLUTION\na = 1\n### END SOLUTION\nb = 2\n" * 2
    assert strip_cell(two, SOLUTION).count("raise NotImplementedError()") == 2
    assert strip_cell("a = 1\n\n\n\nb", None) == "a = 1\n\n\n\nb"
    assert strip_cell("a\n### BEGIN HIDDEN TESTS\nb\n### END HIDDEN TESTS", CHECK) == "a"
    assert strip_cell("### BEGIN HIDDEN TESTS\nb\n### END HIDDEN TESTS", CHECK) is None


@pytest.mark.parametrize(
    "source, nbgrader, line, words",
    [
        ("a\n### BEGIN SOLUTION\nb", SOLUTION, 1, "never closed"),
        ("a\n### END SOLUTION", SOLUTION, 1, "without a 'BEGIN SOLUTION'"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION", SOLUTION, 1, "inside the region"),
        ("### BEGIN SOLUTION\n### END HIDDEN TESTS", CHECK | SOLUTION, 1, "does not say"),
        (
            "### BEGIN SOLUTION\n### END HIDDEN TESTS",
            {"grade": True, "solution": True},
            1,
            "'END HIDDEN TESTS' without",
        ),
        ("a = 1", SOLUTION, 0, "would be published"),
        ("a\n### BEGIN SOLUTION\n### END SOLUTION", None, 1, "does not say"),
        ("### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS", SOLUTION, 0, "does not say"),
        ("## begin solution\na\n## end solution", SOLUTION, 0, "looks like a marker"),
        ("# BEGIN_SOLUTION", SOLUTION, 0, "looks like a marker"),
    ],
)
def test_broken_markers_are_named(source, nbgrader, line, words):
    with pytest.raises(MarkerError, match=words) as error:
        strip_cell(source, nbgrader)
    assert error.value.offset == line


def test_broken_marker_fails_the_build_with_file_and_line(tmp_path):
    text = CHAPTER.replace("    ### END SOLUTION\n", "", 1)
    line = text.splitlines().index("    ### BEGIN SOLUTION") + 1
    process = SmallBook(tmp_path, {"index.md": "# I", "ch/one.md": text}).build()
    assert process.returncode != 0
    assert f"ch/one.md:{line}: 'BEGIN SOLUTION' is never closed" in process.stdout


def test_doctrees_inside_the_site_are_refused(tmp_path):
    book = SmallBook(tmp_path, {"index.md": "# I\n"})
    process = book.sphinx()
    assert process.returncode != 0 and "lie inside the published folder" in process.stdout


def test_source_download_is_stripped_and_keeps_its_lines():
    public = strip_markdown(CHAPTER, "one.md")
    assert secrets(CHAPTER) and not secrets(public.replace("raise", ""))
    assert not [secret for secret in SECRETS if secret in public]
    assert "# only hidden" not in public and "t2" not in public
    padded = strip_markdown(CHAPTER, "one.md", pad=True)
    assert len(padded.splitlines()) == len(CHAPTER.splitlines())
    assert padded.splitlines().index("After the answer.") == CHAPTER.splitlines().index(
        "After the answer."
    )


def test_the_real_site_leaks_nothing():
    sources = {path: path.read_text("utf-8") for path in pages(ROOT)}
    site = ROOT / "_build" / "html"
    assert (site / "index.html").exists(), "no _build/html: run `make book` first"
    package = "\n".join(path.read_text("utf-8") for path in (ROOT / "attnkit").glob("*.py"))
    assert leaks(site, sources, package) == []
