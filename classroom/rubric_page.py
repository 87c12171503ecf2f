"""rubric.html: every open answer beside the model solution and the criteria, to read in a row.

The order is that of rubric.csv, so that one reads here and types there, going down in both.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence

from classroom.assignment import Assignment, Question
from classroom.notes import parsed
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
    checked = {(one.student, one.question.exercise): one for one in graded if one.question.check}
    asked = [question for question in assignment.questions if question.kind == "open"]
    of: dict[str, list[Graded]] = {question.id: [] for question in asked}
    for one in graded:
        if one.question.id in of:
            of[one.question.id].append(one)
    parts = [_Part(n, q, of[q.id], form, checked) for n, q in enumerate(asked, start=1)]
    left, total = sum(part.unread for part in parts), sum(map(len, of.values()))
    items = "".join(
        f'<li><a href="#q{part.n}">{text(part.question.title)}</a> <span class="quiet small">'
        f"{many(part.unread, 'answer')} to read</span></li>"
        for part in parts
    )
    top = (
        f'<p class="over">For the instructor · {text(assignment.name)}</p>\n<h1>Open answers</h1>\n'
        f"<p>{left} of {many(total, 'answer')} wait to be read. Type points and comments into "
        "rubric.csv, whose rows stand in the order of this page, and run grade again: nothing that "
        "is filled in is overwritten, and nothing is run again.</p>\n"
        f'<nav aria-label="Questions"><ol>{items}</ol></nav>'
    )
    body = "\n".join(part.html() for part in parts)
    foot = "<p>Holds solutions and names: not for the class.</p>"
    return page(f"Open answers: {assignment.name}", top, body, foot, STYLE)


class _Part:
    """One question with its answers."""

    def __init__(
        self, n: int, question: Question, answers: Sequence[Graded], form: Form, checked: Mapping
    ):
        self.n, self.question, self.form, self.checked = n, question, form, checked
        with_text = [one.answers and one.diagnosis != "not-written-yet" for one in answers]
        self.written = [one for one, said in zip(answers, with_text, strict=True) if said]
        self.others = [one for one, said in zip(answers, with_text, strict=True) if not said]
        self.unread = sum(one.diagnosis == "not-read-yet" for one in answers)
        self.same: dict[str, list[str]] = {}
        for one in self.written:
            self.same.setdefault(_words(one.answers), []).append(one.student)

    def html(self) -> str:
        q, n = self.question, self.n
        links = "".join(
            f'<a href="#q{n}-{place}">{text(one.student)}{_tick(one)}</a>'
            for place, one in enumerate(self.written, start=1)
        )
        cards = "\n".join(self.card(place, one) for place, one in enumerate(self.written, start=1))
        return (
            f'<section class="question" id="q{n}" aria-labelledby="q{n}-title">\n'
            f'<h2 id="q{n}-title">{n}. {text(q.title)}</h2>\n'
            f'<p class="quiet"><code>{text(q.id)}</code> · {text(q.notebook)} · '
            f'{number(q.points)} points</p>\n<nav class="students" aria-label="Students, question '
            f'{n}">{links}</nav>\n<div class="beside">\n{self.key()}\n'
            f"<div>{cards}{self.nothing()}</div>\n</div>\n</section>"
        )

    def key(self) -> str:
        """Criteria and solution, which stay in sight."""
        rules = "".join(
            f"<li>{text(c.text)} <span class='points'>({number(c.points)})</span></li>"
            for c in criteria(self.question)
        )
        solution = "".join(map(self.shown, map(without_rubric, self.question.solutions)))
        return (
            '<div class="key card" tabindex="0" role="region" aria-label="Criteria and solution, '
            f'question {self.n}">\n<h3>Criteria</h3>\n<ol class="marks">{rules}</ol>\n'
            f"<h3>Model solution</h3>\n{solution}</div>"
        )

    def nothing(self) -> str:
        """Who has no answer that one could read."""
        who = ", ".join(f"{text(one.student)} ({text(one.diagnosis)})" for one in self.others)
        return f'<p class="quiet">Nothing to read: {who}. They have 0 points.</p>' if who else ""

    def card(self, place: int, one: Graded) -> str:
        """One student's answer, what stands out in it, and what it was given."""
        given = "" if one.points is None else f"{number(one.points)} of "
        row = self.form.lines.get((one.student, one.question.id))
        notes = "".join(f'<p class="small is-warn">Note: {text(n)}</p>' for n in self.notes(one))
        good = "good" if one.diagnosis == "read" else ""
        return (
            f'<article class="card {good}" id="q{self.n}-{place}">\n<div class="head">'
            f'<h3>{text(one.student)}</h3><span class="quiet small">row {row} · {given}'
            f"{number(one.question.points)} points</span></div>\n"
            f"{''.join(map(self.shown, one.answers))}{self.check(one)}{notes}{self.marks(one)}\n"
            "</article>"
        )

    def shown(self, source: str) -> str:
        """A cell: as text when it is Markdown or only gives a name to a text, else as code."""
        said = source if "YOUR ANSWER HERE" in "".join(self.question.stubs) else prose(source)
        return block(source) if said is None else f'<p class="text">{text(said)}</p>'

    def notes(self, one: Graded) -> list[str]:
        """What stands out in an answer, and whose text is the same."""
        twins = [name for name in self.same[_words(one.answers)] if name != one.student]
        if _words([without_rubric("\n".join(self.question.solutions))]) == _words(one.answers):
            twins = ["the model solution"]
        more = f" and {len(twins) - 5} more" if len(twins) > 5 else ""
        said = [f"word for word as {', '.join(twins[:5])}{more}"] if twins else []
        return [*([one.note] if one.note else []), *said]

    def check(self, one: Graded) -> str:
        """What the check of the same exercise found."""
        found = self.checked.get((one.student, one.question.exercise))
        if found is None:
            return ""
        name = f"<code>{text(found.diagnosis)}</code>"
        return f'<p class="small quiet">The check of this exercise: {name}</p>'

    def marks(self, one: Graded) -> str:
        """The points and comments of the form."""
        marks = self.form.marks.get((one.student, one.question.id), [])
        if not any(mark.points is not None or mark.comment for mark in marks):
            return ""
        items = "".join(
            f"<li>{'–' if m.points is None else number(m.points)} of {number(m.criterion.points)}"
            f"{': ' + text(m.comment) if m.comment else ''}</li>"
            for m in marks
        )
        return f'<ol class="marks">{items}</ol>'


def _tick(one: Graded) -> str:
    return " ✓" if one.diagnosis == "read" else ""


def _words(sources: Sequence[str]) -> str:
    return " ".join("\n".join(sources).split())


def prose(source: str) -> str | None:
    """The text that a cell assigns to a name, or None for anything else."""
    tree = parsed(source)
    body = tree.body if tree else []
    values = [node.value for node in body if isinstance(node, ast.Assign)]
    texts = [value.value for value in values if isinstance(value, ast.Constant)]
    if len(texts) != len(body) or not texts or not isinstance(texts[-1], str):
        return None
    return textwrap.dedent(texts[-1]).strip()


def without_rubric(solution: str) -> str:
    """A solution without its markers and rubric lines, which stand beside it."""
    lines = [
        line for line in solution.splitlines() if not line.strip().startswith(("### ", "# rubric"))
    ]
    return "\n".join(lines).strip("\n")
