"""rubric.html: every open answer beside the model solution and the criteria, to read in a row.

The order is that of rubric.csv, so that one reads here and types there, going down in both.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence

from classroom.assignment import Assignment, Question
from classroom.pages import block, many, page, text
from classroom.planning import Graded
from classroom.rubric import Form, criteria
from classroom.tables import number

STYLE = """
:root { --wide: 84rem; }
nav ol { padding-left: 1.3rem; }
nav.students { display: flex; flex-wrap: wrap; gap: .25rem .9rem; margin: .6rem 0 0; }
.question { border-top: 2px solid var(--edge); margin-top: 2.5rem; }
.question > h2 { margin-top: 1rem; }
.card h3 { font-family: var(--sans); font-size: 1rem; }
.card:target { outline: 3px solid var(--link); }
.text { white-space: pre-line; max-width: 42rem; }
.key { background: var(--paper); } .key h3 { margin: .9rem 0 .4rem; }
.key h3:first-child { margin-top: 0; } .card .head { margin-bottom: .5rem; }
.marks { padding-left: 1.3rem; margin: .5rem 0; }
@media (min-width: 60rem) {
  .beside { display: grid; grid-template-columns: minmax(0, 4fr) minmax(0, 5fr); gap: 1.6rem; }
  .key { position: sticky; top: .8rem; align-self: start; max-height: calc(100vh - 1.6rem);
    overflow: auto; }
}
"""


def rubric_page(assignment: Assignment, graded: Sequence[Graded], form: Form) -> str:
    """The whole page."""
    questions = [question for question in assignment.questions if question.kind == "open"]
    of = {q.id: [one for one in graded if one.question.id == q.id] for q in questions}
    checked = {(one.student, one.question.exercise): one for one in graded if one.question.check}
    left = sum(map(_unread, of.values()))
    total = sum(map(len, of.values()))
    items = "".join(
        f'<li><a href="#q{n}">{text(q.title)}</a> <span class="quiet small">'
        f"{many(_unread(of[q.id]), 'answer')} to read</span></li>"
        for n, q in enumerate(questions, start=1)
    )
    top = (
        f'<p class="over">For the instructor · {text(assignment.name)}</p>\n<h1>Open answers</h1>\n'
        f"<p>{left} of {many(total, 'answer')} wait to be read. Type points and comments into "
        "rubric.csv, whose rows stand in the order of this page, and run grade again: nothing that "
        "is filled in is overwritten, and nothing is run again.</p>\n"
        f'<nav aria-label="Questions"><ol>{items}</ol></nav>'
    )
    parts = (_question(n, q, of[q.id], form, checked) for n, q in enumerate(questions, start=1))
    body = "\n".join(parts) or "<p>This assignment has no open questions.</p>"
    foot = "<p>Holds solutions and names: not for the class.</p>"
    return page(f"Open answers: {assignment.name}", top, body, foot, STYLE)


def _unread(answers: Sequence[Graded]) -> int:
    return sum(one.diagnosis == "not-read-yet" for one in answers)


def _question(n: int, question: Question, answers: list[Graded], form: Form, checked: dict) -> str:
    solution = "".join(_shown(source) for source in map(without_rubric, question.solutions))
    rules = "".join(
        f"<li>{text(c.text)} <span class='points'>({number(c.points)})</span></li>"
        for c in criteria(question)
    )
    written = [one for one in answers if one.answers and one.diagnosis != "not-written-yet"]
    others = [one for one in answers if one not in written]
    links = "".join(
        f'<a href="#{_anchor(n, answers, one)}">{text(one.student)}{_tick(one)}</a>'
        for one in written
    )
    cards = "\n".join(_answer(n, answers, one, form, checked) for one in written)
    without = ", ".join(f"{text(one.student)} ({text(one.diagnosis)})" for one in others)
    more = f'<p class="quiet">Nothing to read: {without}. They have 0 points.</p>' if others else ""
    return (
        f'<section class="question" id="q{n}" aria-labelledby="q{n}-title">\n'
        f'<h2 id="q{n}-title">{n}. {text(question.title)}</h2>\n'
        f'<p class="quiet"><code>{text(question.id)}</code> · {text(question.notebook)} · '
        f'{number(question.points)} points</p>\n<nav class="students" aria-label="Students, '
        f'question {n}">{links}</nav>\n<div class="beside">\n<div class="key card" tabindex="0" '
        f'role="region" aria-label="Criteria and solution, question {n}">\n<h3>Criteria</h3>\n'
        f'<ol class="marks">{rules}</ol>\n<h3>Model solution</h3>\n{solution}</div>\n'
        f"<div>{cards}{more}</div>\n</div>\n</section>"
    )


def _anchor(n: int, answers: list[Graded], one: Graded) -> str:
    return f"q{n}-{answers.index(one) + 1}"


def _tick(one: Graded) -> str:
    return " ✓" if one.diagnosis == "read" else ""


def _answer(n: int, answers: list[Graded], one: Graded, form: Form, checked: dict) -> str:
    place = one.student, one.question.id
    row = form.lines.get(place)
    given = "" if one.points is None else f"{number(one.points)} of "
    check = checked.get((one.student, one.question.exercise))
    says = (
        f'<p class="small quiet">The check of this exercise: <code>{text(check.diagnosis)}</code>'
        f"{'' if check.note == '' else '; note: ' + text(check.note)}</p>"
        if check
        else ""
    )
    marks = form.marks.get(place, [])
    comments = "".join(
        f"<li>{'–' if m.points is None else number(m.points)} of {number(m.criterion.points)}"
        f"{': ' + text(m.comment) if m.comment else ''}</li>"
        for m in marks
    )
    seen = any(m.points is not None or m.comment for m in marks)
    note = "".join(f'<p class="small is-warn">Note: {text(n)}</p>' for n in _notes(one, answers))
    return (
        f'<article class="card {"good" if one.diagnosis == "read" else ""}" '
        f'id="{_anchor(n, answers, one)}">\n<div class="head"><h3>{text(one.student)}</h3>'
        f'<span class="quiet small">row {row} · {given}{number(one.question.points)} points</span>'
        f"</div>\n{''.join(map(_shown, one.answers))}{says}{note}"
        f"{f'<ol class=marks>{comments}</ol>' if seen else ''}\n</article>"
    )


def _notes(one: Graded, answers: Sequence[Graded]) -> list[str]:
    """What stands out in an answer, and whose text is the same."""
    twins = [other.student for other in answers if other is not one and _same(other, one)]
    if without_rubric("\n".join(one.question.solutions)).split() == "\n".join(one.answers).split():
        twins = ["the model solution"]
    said = [f"word for word as {', '.join(twins[:5])}"] if twins else []
    return [*([one.note] if one.note else []), *said]


def _same(first: Graded, second: Graded) -> bool:
    return "\n".join(first.answers).split() == "\n".join(second.answers).split()


def _shown(source: str) -> str:
    """A cell: as text when it only gives a name to a text, else as code."""
    said = prose(source)
    return block(source) if said is None else f'<p class="text">{text(said)}</p>'


def prose(source: str) -> str | None:
    """The text that a cell assigns to a name, or None for anything else."""
    try:
        body = ast.parse(source).body
        texts = [node.value.value for node in body if isinstance(node, ast.Assign)]  # type: ignore
    except (SyntaxError, ValueError, RecursionError, MemoryError, AttributeError):
        return None
    if len(texts) != len(body) or not texts or not isinstance(texts[-1], str):
        return None
    return textwrap.dedent(texts[-1]).strip()


def without_rubric(solution: str) -> str:
    """A solution without its markers and rubric lines, which stand beside it."""
    lines = [
        line for line in solution.splitlines() if not line.strip().startswith(("### ", "# rubric"))
    ]
    return "\n".join(lines).strip("\n")
