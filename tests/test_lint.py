"""The lint of the chapters: every rule with something bad, which it names, and something good."""

import re
from pathlib import Path

import jupytext
import pytest
from myst_nb.core.read import read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig

from bookext.lint import lint, main, pages
from bookext.lint.numbers import bare_numbers
from bookext.source import EXTENSIONS, read_page

ROOT = Path(__file__).parent.parent
HEADER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
    format_version: 0.13
    jupytext_version: 1.19.6
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
---

"""
FIRST = HEADER.count("\n") + 1  # the line of the file on which a body begins
GRADED = """\
```{code-cell} ipython3
---
nbgrader:
  grade: false
  grade_id: a
  locked: false
  schema_version: 3
  solution: true
---
def f():
    ### BEGIN SOLUTION
    return 42
    ### END SOLUTION
```
"""
CELL = "```{code-cell} ipython3\n%s\n```\n"
TAGGED = "```{code-cell} ipython3\n:tags: [%s]\n\n%s\n```\n"


def rules(body: str, header: str = HEADER) -> list[tuple[int, str]]:
    """(line of the body, rule) of every finding."""
    found = []
    for finding in lint("page.md", header + body):
        place, message = finding.split(": [", 1)
        name, line = place.split(":")
        assert name == "page.md"
        found.append((int(line) - header.count("\n"), message.split("]")[0]))
    return found


GOOD = {
    "prose": "# Title\n\nThree heads and `64` or $d_k = 64$.\n",
    "glued": TAGGED % ("remove-cell", "glue('x', 1, display=False)")
    + "\nIt is {glue:text}`x:.2f`.\n",
    "glued in a loop": TAGGED % ("remove-cell", "for n in 1, 2:\n    glue(f'x-{n}', n)")
    + "\nIt is {glue:text}`x-2:.2f` or\n\n```{glue:figure} x-1\nA caption\n```\n",
    "glued elsewhere": "```{glue:figure} x\n:doc: other\n```\n",
    "twenty lines": CELL % "\n\n".join(f"a = {n}" for n in range(20)),
    "tags": TAGGED % ("hide-input", "1"),
    "raises": TAGGED % ("raises-exception", "1 / 0")
    + TAGGED % ("remove-cell", "with pytest.raises(ZeroDivisionError):\n    1 / 0"),
    "a word like a filter": CELL % "filterwarnings = 3\n'!pip'",
    "images": "![what it shows](a.png)\n\n```{figure} a.png\n:alt: what\n\nCaption\n```\n"
    '\n<img src="a" alt="b">\n',
    "image options as a block": "```{figure} a.png\n---\nalt: what\n---\nCaption\n```\n",
    "solution": GRADED,
    "exercise": "```{exercise-start}\n:label: ex-a\n```\nAdd 100.\n\n"
    + CELL % "1"
    + "```{exercise-end}\n```\n\n:::{solution} ex-a\n:class: dropdown\n\nYes.\n:::\n",
    "a code block that shows a cell": "````md\n```{code-cell}\n!pip\n```\n````\n",
}
BAD = {
    "21 lines": (CELL % "\n\n".join(f"a = {n}" for n in range(21)), [(1, "cell-length")]),
    "no language": ("Text\n\n```{code-cell}\n1\n```\n", [(3, "cell-language")]),
    "nested in a directive": (
        ":::{note}\n```{code-cell} ipython3\n1\n```\n:::\n",
        [(2, "nested-cell")],
    ),
    "indented in a list": ("- a\n\n  ```{code-cell} ipython3\n  1\n  ```\n", [(3, "nested-cell")]),
    "in a quotation": ("> ```{code-cell} ipython3\n> 1\n> ```\n", [(1, "nested-cell")]),
    "twice nested": (
        "::::{note}\n:::{tip}\n```{code-cell} ipython3\n1\n```\n:::\n::::\n",
        [(3, "nested-cell")],
    ),
    "forbidden tag": (TAGGED % ("skip-execution", "1"), [(1, "tag")]),
    "hidden output": (TAGGED % ("hide-output", "1"), [(1, "tag")]),
    "unknown tag": (TAGGED % ("hide_input", "1"), [(1, "tag")]),
    "tags not a list": ("```{code-cell} ipython3\n:tags: hide-input\n\n1\n```\n", [(1, "tag")]),
    "pip": (CELL % "x = 1\n!pip install x", [(3, "install")]),
    "pip magic": (CELL % "%pip install x", [(2, "install")]),
    "warning filter": (CELL % "1\nwarnings.simplefilter('ignore')", [(3, "warnings")]),
    "warning context": (CELL % "with warnings.catch_warnings():\n    pass", [(2, "warnings")]),
    "nothing raised": (TAGGED % ("raises-exception", "1"), [(1, "raises")]),
    "image without alt": ("Text\nand ![](a.png)\n", [(2, "alt")]),
    "figure without alt": ("\n```{figure} a.png\nCaption\n```\n", [(2, "alt")]),
    "image in a note": (":::{note}\n\n![](a.png)\n:::\n", [(3, "alt")]),
    "html image": ('<img src="a">\n', [(1, "alt")]),
    "html image, empty alt": ('Text <img src="a" alt="">\n', [(1, "alt")]),
    "never glued": ("A\n{glue:text}`x:.2f`\n", [(2, "glue")]),
    "glued figure missing": ("```{glue:figure} x\nCaption\n```\n", [(1, "glue")]),
    "glued under another name": (
        TAGGED % ("remove-cell", "glue('y', 1)") + "\n{glue:text}`x`\n",
        [(7, "glue")],
    ),
    "exercise without end": ("```{exercise-start}\n:label: ex-a\n```\nText\n", [(1, "exercise")]),
    "end without exercise": ("Text\n\n```{exercise-end}\n```\n", [(3, "exercise")]),
    "exercise without label": ("```{exercise}\nText\n```\n", [(1, "exercise")]),
    "exercise in exercise": (
        "```{exercise-start}\n:label: ex-a\n```\n\n" * 2 + "```{exercise-end}\n```\n",
        [(5, "exercise")],
    ),
    "solution closed as exercise": (
        "```{solution-start} ex-a\n```\n\n```{exercise-end}\n```\n",
        [(1, "exercise"), (4, "exercise")],
    ),
    "solution of no exercise": ("\n```{solution} ex-b\nYes.\n```\n", [(2, "exercise")]),
    "duplicate grade_id": (GRADED + "\n" + GRADED, [(16, "nbgrader")]),
    "missing grade_id": (GRADED.replace("  grade_id: a\n", ""), [(1, "nbgrader")]),
    "old schema": (GRADED.replace("version: 3", "version: 1"), [(1, "nbgrader")]),
    "text for a truth": (GRADED.replace("grade: false", "grade: 'no'"), [(1, "nbgrader")]),
    "locked solution": (GRADED.replace("locked: false", "locked: true"), [(1, "nbgrader")]),
    "no points": (
        GRADED.replace("grade: false", "grade: true"),
        [(1, "nbgrader")],
    ),
    "no markers": (re.sub(r" *### .*\n", "", GRADED), [(10, "nbgrader")]),
    "begin without end": (GRADED.replace("    ### END SOLUTION\n", ""), [(11, "nbgrader")]),
    "end without begin": (GRADED.replace("    ### BEGIN SOLUTION\n", ""), [(12, "nbgrader")]),
    "misspelt marker": (GRADED.replace("END SOLUTION", "END SOLUTIONS"), [(13, "nbgrader")]),
    "marker without metadata": (
        CELL % "### BEGIN SOLUTION\nx = 1\n### END SOLUTION",
        [(2, "nbgrader"), (2, "nbgrader"), (4, "nbgrader")],
    ),
    "hidden test in a solution cell": (
        GRADED.replace("```\n", "### BEGIN HIDDEN TESTS\n1\n### END HIDDEN TESTS\n```\n"),
        [(14, "nbgrader")],
    ),
    "stub is no Python": (
        GRADED.replace("    ###", "###"),
        [(12, "nbgrader")],
    ),
    "a number": ("# T\n\nIt is 0.95\nor 12 %.\n", [(3, "number"), (4, "number")]),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_good_page_has_no_finding(name):
    assert lint("page.md", HEADER + GOOD[name]) == []


@pytest.mark.parametrize("name", BAD)
def test_bad_page_is_named_with_its_line(name):
    body, expected = BAD[name]
    found = rules(body)
    assert set(found) == set(expected)


@pytest.mark.parametrize(
    "removed, key",
    [
        ("    extension: .md\n", "jupytext.text_representation.extension"),
        ("    format_name: myst\n", "jupytext.text_representation.format_name"),
        ("    format_version: 0.13\n", "jupytext.text_representation.format_version"),
        ("    jupytext_version: 1.19.6\n", "jupytext.text_representation.jupytext_version"),
        ("  display_name: Python 3 (ipykernel)\n", "kernelspec.display_name"),
        ("  language: python\n", "kernelspec.language"),
        ("  name: python3\n", "kernelspec.name"),
    ],
)
def test_missing_header_key_is_named(removed, key):
    header = HEADER.replace(removed, "")
    assert header != HEADER
    (finding,) = lint("page.md", header + CELL % "1")
    assert finding.startswith("page.md:1: [header]") and f"'{key}'" in finding


def test_no_header_at_all_is_reported_only_for_pages_with_code():
    assert lint("page.md", "# Title\n\nText.\n") == []
    assert len(lint("page.md", "# Title\n\n" + CELL % "1")) == 7


def test_header_below_jupyter_is_ignored_by_sphinx_and_refused():
    nested = HEADER.replace("---\njupytext", "---\njupyter:\njupytext").replace("\n", "\n  ")
    text = "---\njupyter:\n" + nested.split("jupyter:\n", 1)[1].replace("  ---", "---", 1)
    assert "page.md:2: [header] a header below 'jupyter:' is ignored; unindent it" in lint(
        "page.md", text + "\n" + CELL % "1"
    )


def test_broken_yaml_names_its_line():
    header = HEADER.replace("  language: python\n", "  language: [python\n")
    (finding,) = lint("page.md", header + CELL % "1")
    assert finding.startswith("page.md:10: [source]") or finding.startswith("page.md:11: [source]")


@pytest.mark.parametrize("kept", [True, False])
def test_the_lint_on_extra_header_keys_says_what_jupytext_does(kept):
    extra = "mystnb:\n  execution_timeout: 60\nmyst:\n  substitutions: {a: b}\n---\n\n"
    text = HEADER.removesuffix("---\n\n") + extra + CELL % "1"
    if kept:
        text = text.replace("kernelspec", "  notebook_metadata_filter: myst,mystnb\nkernelspec", 1)
    notebook = jupytext.writes(jupytext.reads(text, "md:myst"), "ipynb")
    again = jupytext.writes(jupytext.reads(notebook, "ipynb"), "md:myst")
    assert ("execution_timeout" in again) == ("substitutions" in again) == kept
    assert [f.split(":")[1] for f in lint("page.md", text)] == ([] if kept else ["12", "14"])


NUMBERS = {
    "§ 3.2.1 of the paper, in the 1990s and the year 2030, on a 2-d array.": [],
    "It was 3-dimensional; in 2000 runs, in 2012 seeds": ["2000", "2012"],
    # text: what is found
    "It is 0.95, .5, 1e-3, 12,000 and -3.": ["0.95", ".5", "1e-3", "12,000", "-3"],
    "5x faster, 30ms, 30 %, $20, ×5": ["5", "30", "30", "$20", "5"],
    "5\u201310 of the heads": ["5", "10"],
    "layer 0, head 2": ["0", "2"],
    "2048 tokens in 2000 steps": ["2048", "2000"],
    "**49** and [47](48)": ["49", "47"],
    "万亿 10 的": ["10"],
    "# 95 % of heads\n\n## 2 of 3": ["95", "2", "3"],
    "chapter 3, chapters 4 and 5, section 2.1, Figure 3, equation (3), §3.2, query 2": [],
    "3rd, 4D, GPT-2, MiniLM-L6-v2, float16, v1.2, Python 3.11": [],
    "In 2017, Vaswani et al. 2017 (2015)": [],
    "`45` $46$ {glue:text}`a:.2f` {ref}`x-5` <https://a.b/9> [a](b9)": [],
    "three heads, thirty per cent": [],
    "```python\n1\n```\n\n```{math}\n2\n```\n\n$$\n3\n$$": [],
    "(ch-3)=\n# Title": [],
    "It fell by 0.15 {cite}`x`. But 48 heads.": ["48"],
    "Two of 48 heads. It fell by 0.15\nin {cite:p}`x`.": ["48"],
    "See e.g. 5 in {cite}`x`.": [],
    "% given: 64 (d_k), 5-8 minutes\n64 in 5-8 minutes, not 65.\n\n64": ["65", "64"],
    "% given: 64\n- 64\n- 64\n\nOr 64": ["64"],
    "% given: 64\n\n:::{note}\n64 or\n\n65\n:::\n\n64": ["65", "64"],
    "% given on this page: 512 (d_model)\n\n512\n\n512": [],
    "% given on this page: 1,000 (m)\n\n1,000": [],
    "512\n\n% given on this page: 512": [],
    ":::{note} Title 13\n:class: x1\n\nBody 14\n:::": ["13", "14"],
    "```{figure} a3.png\n:alt: 5\n\nCaption 6\n```": ["6"],
    "| a | b |\n|---|---|\n| 12 | x |": ["12"],
    "```{exercise-start}\n:label: ex-1\n```\nAdd 100.\n\n```{exercise-end}\n```\n\nAnd 5": ["5"],
    "```{exercise}\n:label: ex-1\n\nAdd 100.\n```": [],
    "```{solution} ex-1\nIt is 7.\n```": ["7"],
    "Text[^1].\n\n[^1]: Foot 18": ["18"],
    "> 3 heads": ["3"],
    "a\n: 3 heads": ["3"],
}


@pytest.mark.parametrize("text", NUMBERS)
def test_bare_numbers(text):
    assert sorted(number for _, number in bare_numbers(text)) == sorted(NUMBERS[text])


def test_bare_number_in_a_deep_directive_names_its_line():
    text = "Text\n\n::::{note}\n:class: x\n\n:::{tip} A\nSome\nmore 95\n:::\n::::\n"
    assert bare_numbers(text, first_line=10) == [(17, "95")]


def test_cells_are_cut_as_myst_nb_cuts_them():
    text = HEADER + "# T\n\n" + GRADED + '\n+++\n\nA\n\n+++ {"x": 1}\n\nB\n' + TAGGED % ("a", "1")
    text += ":::{note}\n```{code-cell} x\n1\n```\n:::\n\n```{raw-cell}\nx\n```\n\n\n"
    ours = read_page("page.md", text).cells
    theirs = read_myst_markdown_notebook(text, MdParserConfig(enable_extensions=EXTENSIONS))
    assert [(c.kind, c.source, c.metadata) for c in ours] == [
        (c.cell_type, c.source, dict(c.metadata)) for c in theirs.cells
    ]
    lines = text.splitlines()
    for cell in ours:
        assert (
            lines[cell.body : cell.body + len(cell.source.splitlines())] == cell.source.splitlines()
        )


def test_command_line(tmp_path, capsys):
    bad, good = tmp_path / "bad.md", tmp_path / "good.md"
    bad.write_text("# T\n\nIt is 95 %.\n", "utf-8")
    good.write_text("# T\n\nText.\n", "utf-8")
    assert main([str(good)]) == 0
    assert main([str(good), str(bad)]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{bad}:3: [number] the bare number '95'") and "% given: 95" in out
    assert main([str(tmp_path / "none.md")]) == 2
    assert "none.md" in capsys.readouterr().err


def test_the_chapters_have_no_findings():
    files = pages(ROOT)
    assert len(files) >= 2
    findings = [finding for file in files for finding in lint(file)]
    assert not findings, "\n" + "\n".join(findings)
