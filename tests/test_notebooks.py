"""The downloads: plain notebooks that run, executed notebooks that survive, stripped sources."""

import json
import re

import nbformat
import pytest
from edition_book import HEADER, SmallBook
from nbclient import NotebookClient

from bookext.markdown import raw_myst
from bookext.setup_cells import STAND_IN, set_up

PIXEL = (
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6364"
    "60f85f0f00028701c0eb47ba920000000049454e44ae426082"
)
CHAPTER = (
    HEADER
    + r"""
(ch)=
# Dot *products*

% a comment
Cited {cite}`vaswani2017attention`, also {cite:t}`bahdanau2015neural`.
Value {glue:text}`a:.2f`, {ref}`sec`, {numref}`fig`, {eq}`eq1`, {doc}`other`, {ref}`ex-sum`,
{ref}`here <other-label>`, [我]{lang=zh-Hans}, $x_1|$, a note[^1], <https://a.b/c>, 5 * 3 * 2, $5,
\<b>, `{ref}`, {abbr}`AB (Ab bb)`, {term}`foo`.

```{code-cell} ipython3
:tags: [remove-cell]

from myst_nb import glue

base = 40
glue("a", base / 32, display=False)
assert base == 40
```

(sec)=
## Section

```{note}
Body

- a

  b
```

```{admonition} Check *yourself*
:class: dropdown
Answer $x$
```

```{admonition} What *is* $x$, in \$?
:class: dropdown
Two
```

```{figure} pic.png
:name: fig
:alt: a [grey] pixel

Caption
```

```{math}
:label: eq1
a = b
```

| a | b |
|:--|--:|
| `x\|y` | $\|x\|$ |

Term
: Definition

````{exercise-start} Sum
:label: ex-sum
````
Write it.

```{code-cell} ipython3
---
nbgrader: {grade: false, grade_id: s, locked: false, schema_version: 3, solution: true}
---
def total(values):
    ### BEGIN SOLUTION
    return sum(values)
    ### END SOLUTION
```

```{code-cell} ipython3
:tags: [kernel-only]

print("live")
```

```{code-cell} ipython3
---
nbgrader: {grade: true, grade_id: t, locked: true, points: 1, schema_version: 3, solution: false}
tags: [remove-cell]
---
assert total([base, 2]) == 42
### BEGIN HIDDEN TESTS
assert total([1]) == 1
### END HIDDEN TESTS
```

````{exercise-end}
````

```{solution} ex-sum
:class: dropdown

Worked.
```

::::{grid} 2
:::{grid-item-card} Card
:link: other
:link-type: doc

Body
:::
::::

::::{tab-set}
:::{tab-item} Tab
inside
:::
::::

```{glossary}
foo
  A foo
```

```{code-cell} ipython3
:tags: [hide-input]

last = base + 1
print(last)
```

[^1]: The *note*.
"""
)
OTHER = (
    HEADER + "(other-label)=\n# Other\n\nText {ref}`ex-sum`.\n\n```{code-cell} ipython3\n1\n```\n"
)
INDEX = "# Index\n\n```{toctree}\nch/one\nch/other\nrefs\n```\n"
REFS = "# Refs\n\n```{bibliography}\n```\n"


PARTS = ("address", "public", "kernel_only", "notebooks", "launch")


def small(folder, chapter=CHAPTER, **conf) -> SmallBook:
    pages = {"index.md": INDEX, "ch/one.md": chapter, "ch/other.md": OTHER, "refs.md": REFS}
    book = SmallBook(folder, pages, parts=PARTS, **conf)
    (folder / "ch" / "pic.png").write_bytes(bytes.fromhex(PIXEL))
    return book


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return small(tmp_path_factory.mktemp("book")).built()


def load(book, name="one"):
    text = (book.html / "notebooks" / f"{name}.ipynb").read_text("utf-8")
    return nbformat.reads(text, as_version=4)


@pytest.fixture(scope="module")
def notebook(book):
    return load(book)


def text_of(notebook):
    return "\n\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


PLAIN = {
    "title": "# Dot *products*",
    "parenthetical citation": "Cited (Vaswani *et al.*, 2017), also Bahdanau and Cho (2015).",
    "glued value": "Value 1.25,",
    "references": "Section, Fig. 1, (1), [Other](other.ipynb), Exercise 1,",
    "reference with a text": "[here](other.ipynb)",
    "mathematics": "$x_1|$",
    "footnote": "a note<sup>1</sup>",
    "footnote's text": "<sup>1</sup> The *note*.",
    "address": "[https://a.b/c](https://a.b/c)",
    "what Markdown would eat": r"5 \* 3 \* 2, \$5",
    "a tag that is text": "&lt;b>",
    "code that looks like a role": "`{ref}`",
    "abbreviation": "AB (Ab bb)",
    "admonition": "> **Note**\n>\n> Body\n>\n> - a\n>\n>   b",
    "dropdown with a formula": (
        "What *is* $x$, in \\$?\n\n<details>\n<summary>Answer</summary>\n\nTwo\n\n</details>"
    ),
    "dropdown": "<details>\n<summary>Check <em>yourself</em></summary>\n\nAnswer $x$\n\n</details>",
    "figure": "![a \\[grey\\] pixel](attachment:",
    "caption": "**Figure 1.** Caption",
    "equation": "$$\na = b \\tag{1}\n$$",
    "table": "| a | b |\n| :-- | --: |\n| `x\\|y` | $\\|x\\|$ |",
    "definition": "- **Term**: Definition",
    "exercise": "### Exercise 1 (Sum)\n\nWrite it.",
    "solution": "<summary>Solution to Exercise 1 (Sum)</summary>\n\nWorked.",
    "card": "**Card**\n\nBody\n\n[Other](other.ipynb)",
    "tab": "**Tab**\n\ninside",
    "glossary": "- **foo**: A foo",
    "reference list": "## References\n\n- Dzmitry Bahdanau and Kyunghyun Cho. Align & translate.",
}


@pytest.mark.parametrize("what", PLAIN)
def test_rendered_down(notebook, what):
    assert PLAIN[what] in text_of(notebook)


def test_nothing_of_myst_is_left(notebook):
    text = text_of(notebook)
    assert raw_myst(text) is None
    for trace in (":::", "{cite", "{glue", "{ref}`s", "(ch)=", "% a comment", "lang=zh-Hans}"):
        assert trace not in text


@pytest.mark.parametrize(
    "text, raw",
    [
        ("```{note}\nx\n```", "```{note"),
        (":::{tip}\nx\n:::", ":::{tip"),
        ("see {ref}`x`", "{ref}`"),
        ("(label)=\n", "(label)="),
        ("[a]{lang=zh}", "]{lang=zh}"),
        ("`{ref}` and ``{ref}`x` ``", None),
        ("```python\n{a}`b`\n```\n$x_{a}$ `b`", None),
    ],
)
def test_raw_myst_is_seen(text, raw):
    found = raw_myst(text)
    assert (found or "").startswith(raw or "") and (found is None) == (raw is None)


def test_valid_small_and_without_outputs(book, notebook):
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert not [cell for cell in code(notebook) if cell.outputs or cell.execution_count]
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    (picture,) = [cell for cell in notebook.cells if cell.get("attachments")]
    (name,) = picture.attachments
    assert f"attachment:{name}" in picture.source


def test_set_up_stays_and_asserts_go(notebook):
    sources = [cell.source for cell in code(notebook)]
    assert sources[0] == "base = 40" and code(notebook)[0].metadata.jupyter.source_hidden
    assert not [source for source in sources if "glue" in source or "myst_nb" in source]
    assert code(notebook)[-1].metadata.jupyter.source_hidden, "hide-input"


def test_graded_cells(notebook):
    stub, live, check = code(notebook)[1:4]
    assert "raise NotImplementedError()" in stub.source and "sum(values)" not in stub.source
    assert stub.metadata.nbgrader.grade_id == "s" and stub.metadata.tags == ["raises-exception"]
    assert check.source == "assert total([base, 2]) == 42" and check.metadata.nbgrader.grade
    assert live.source == 'print("live")' and not live.metadata


def test_order_of_text_and_hidden_cells(notebook):
    kinds = [re.sub("<a id=.*></a>\n\n", "", c.source).split("\n")[0] for c in notebook.cells]
    assert kinds.index("base = 40") < kinds.index("## Section")
    assert kinds.index("### Exercise 1 (Sum)") < kinds.index("def total(values):")
    assert kinds[0].startswith("> From **Small documentation**: Dot products. Licence: ")


def run(notebook, tmp_path):
    where = {"metadata": {"path": str(tmp_path)}}
    # a kernel sends what is printed in as many messages as it likes
    NotebookClient(notebook, timeout=120, coalesce_streams=True, resources=where).execute()
    return {
        cell.metadata.get("nbgrader", {}).get("grade_id", cell.source.split("\n")[0]): [
            output.get("ename", output.output_type) for output in cell.outputs
        ]
        for cell in code(notebook)
    }


def test_a_label_is_a_place_in_the_notebook(notebook):
    """A check links to "#sec": where its verdict is read, that has to lead somewhere."""
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert '<a id="sec"></a>\n\n## Section' in text
    assert text.count("<a id=") == len(set(re.findall(r'<a id="([^"]+)">', text)))


def test_runs_from_top_to_bottom_with_stubs_and_with_solutions(notebook, tmp_path):
    done = run(nbformat.from_dict(json.loads(json.dumps(notebook))), tmp_path)
    assert done["t"] == ["NotImplementedError"] and done["last = base + 1"] == ["stream"]
    filled = nbformat.from_dict(json.loads(json.dumps(notebook)))
    for cell in code(filled):
        cell.metadata.pop("tags", None)
        cell.source = cell.source.replace("raise NotImplementedError()", "return sum(values)")
    assert run(filled, tmp_path)["t"] == []


def test_second_build_changes_no_byte_and_loses_no_file(book):
    folder = book.folder / "_build"
    paths = [*book.html.glob("notebooks/*"), *book.html.glob("sources/*")]
    paths += folder.glob("executed/**/*.ipynb")
    assert {p.name for p in paths} == {"one.ipynb", "other.ipynb"} | {
        f"{name}.md" for name in ("index", "one", "other", "refs")
    }
    before = {path: path.read_bytes() for path in paths}
    for victim in ("executed/ch/one.ipynb", "html/notebooks/other.ipynb", "html/sources/one.md"):
        (folder / victim).unlink()
    (book.html / "notebooks" / "old.ipynb").write_text("{}")
    (folder / "executed" / "old.ipynb").write_text("{}")
    book.built()
    assert {path: path.read_bytes() for path in paths} == before
    assert not (book.html / "notebooks" / "old.ipynb").exists()
    assert not (folder / "executed" / "old.ipynb").exists()


def test_executed_notebook_holds_the_outputs_of_the_book(book):
    path = book.folder / "_build" / "executed" / "ch" / "one.ipynb"
    notebook = nbformat.reads(path.read_text("utf-8"), as_version=4)
    nbformat.validate(notebook)
    outputs = [o.get("text", "") for cell in code(notebook) for o in cell.outputs]
    assert "live\n" in outputs and "41\n" in outputs
    assert "source_map" not in notebook.metadata
    assert "BEGIN HIDDEN TESTS" in path.read_text("utf-8"), "the full source"


def test_kernel_only_output_is_not_on_the_page(book):
    page = book.page("ch/one.html")
    assert "print" in page and "<pre>live" not in page
    note = re.search(r'<p class="kernel-only-note">(.*?)</p>', page, re.S).group(1)
    assert "Runs in the" in note and 'href="../notebooks/one.ipynb"' in note


def test_every_page_links_its_downloads(book):
    page = book.page("ch/one.html")
    assert 'href="../notebooks/one.ipynb" download' in page
    assert 'href="../sources/one.md" download' in page
    assert 'href="sources/refs.md"' in book.page("refs.html")
    assert "notebooks/" not in book.page("refs.html"), "a page without code has no notebook"


def test_links_lead_to_the_published_pages_when_there_is_an_address(tmp_path):
    book = small(tmp_path, html_baseurl="https://course.example/").built()
    text = text_of(load(book))
    assert "[The page](https://course.example/ch/one.html)" in text
    assert "[Exercise 1](https://course.example/ch/one.html#ex-sum)" in text
    assert "[(1)](https://course.example/ch/one.html#equation-eq1)" in text


@pytest.mark.parametrize(
    "bad, words",
    [
        ("```{nosuch} x\ntext\n```\n", "Unknown directive type: 'nosuch'"),
        ("A\n{nosuch}`x`\n", 'Unknown interpreted text role "nosuch"'),
        ("```{hlist}\n- a\n- b\n```\n", "'hlist' has no plain Markdown form"),
        ("A {manpage}`ls(1)` and\n{centered}`x`\n", "role"),
    ],
)
def test_unknown_directive_or_role_fails_the_build(tmp_path, bad, words):
    text = OTHER.replace("(other-label)=\n", "").replace("{ref}`ex-sum`", "x") + "\n" + bad
    book = SmallBook(tmp_path, {"index.md": text}, nb_execution_mode="off")
    process = book.build()
    line = text.splitlines().index(bad.splitlines()[0]) + 1
    assert process.returncode != 0 and words in process.stdout
    assert re.search(rf"index\.md:({line}|{line + 1})\b", process.stdout), process.stdout


def test_two_pages_with_one_name_are_refused(tmp_path):
    index = "# I\n\n```{toctree}\na/one\nb/one\n```\n"
    pages = {"index.md": index, "a/one.md": "# A\n", "b/one.md": "# B\n"}
    process = SmallBook(tmp_path, pages).build()
    assert process.returncode != 0 and "those of a/one; rename a page" in process.stdout


SETUP = {
    # hidden cell: what the notebook keeps
    "import torch\n\nx = 1  # why\n\n\n\nassert x\ny = 2": "import torch\n\nx = 1  # why\n\ny = 2",
    "from myst_nb import glue\nglue('a', 1)\nassert 1": "",
    "import pytest\n\nwith pytest.raises(ValueError):\n    f()": "",
    "import pytest, math\nwith pytest.raises(ValueError):\n    f()": "import math",
    "with pytest.warns(UserWarning, match='w'), open(a) as b:\n    f()\nx = 1": "x = 1",
    "with captured() as maps:\n    assert f(x) == y": (
        "with captured() as maps:\n    assert f(x) == y"
    ),
    "with no_grad():\n    assert f(x) == y\nx = 1": "x = 1",
    "torch.testing.assert_close(a, b)\nnp.testing.assert_allclose(a, b)": "",
    "for k in 1, 2:\n    glue(f'a{k}', k)\n    assert k": "",
    "for k in 1, 2:\n    x = k\n    assert x": "for k in 1, 2:\n    x = k\n    assert x",
    "# only a comment\nassert x": "",
    "import pytest\nfrom myst_nb import glue\n\nx = 1\n%xmode Minimal\nassert x": (
        "x = 1\n%xmode Minimal"
    ),
    "%%capture\nassert x": "%%capture\nassert x",
    "x = 1; assert x": "x = 1; assert x",
    "from myst_nb import glue\ndef g():\n    glue('a', 1)": STAND_IN
    + "\ndef g():\n    glue('a', 1)",
}


@pytest.mark.parametrize("source", SETUP)
def test_what_is_kept_of_a_hidden_cell(source):
    assert set_up(source, hidden=True) == SETUP[source]


def test_asserts_of_a_visible_cell_stay():
    assert set_up("glue('a', 1)\nassert x", hidden=False) == "assert x"
