"""The report as a page with pictures: bars that are as wide as the window, drawn as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from classroom.pages import link, many, page, text
from classroom.report import SMALL_CLASS, Mistake, QuestionReport, Report
from classroom.tables import number

#: Colours of the named mistakes of one question, then one for all others.
TONES = ("m1", "m2", "m3")
STYLE = """
/* Blue against warm tones: told apart by every eye. Pieces are in the order of their names. */
:root { --wide: 56rem; --right: light-dark(#0b5680, #86c5ea);
  --m1: light-dark(#b04a12, #f0a06a); --m2: light-dark(#7a5f00, #d9c06a);
  --m3: light-dark(#93407a, #e3a8d0); --other: light-dark(#63676d, #a3a8af); }
svg rect { stroke: var(--paper); stroke-width: 1.5; }
.right { fill: var(--right); } .m1 { fill: var(--m1); } .m2 { fill: var(--m2); }
.m3 { fill: var(--m3); } .other { fill: var(--other); }
.part { fill: var(--m2); }
svg .none { fill: none; stroke: var(--edge); stroke-width: 1; stroke-dasharray: 3 2; }
svg text { font: 600 13px var(--sans); fill: var(--ink); } svg .on { fill: var(--paper); }
svg .axis { font-weight: 400; fill: var(--muted); }
.row { margin: 1.3rem 0; } .row svg { margin: .35rem 0; }
th .quiet, th code { font-weight: 400; } .wide th:first-child { min-width: 9rem; }
.names { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; padding: 0; margin: 0;
  font-size: .9rem; } .names svg { display: inline-block; margin: 0 .3rem 0 0; }
"""


def report_page(report: Report, name: str) -> str:
    """The whole page."""
    here = report.students - report.empty
    top = (
        f'<p class="over">Class report · {text(name)}</p>\n<h1>What the class knows</h1>\n<p>'
        f"{many(here, 'student')} handed in"
        f"{f', {report.empty} did not' if report.empty else ''}. Mean total {report.mean:.1f}, "
        f"median {report.median:.1f}, of {number(report.most)} points.{_unread(report)}</p>"
    )
    body = "\n".join(
        [_talk(report), _picture(report), _totals(report), _hardest(report), _all(report)]
    )
    return page(f"Class report: {name}", top, body, _foot(report), STYLE)


def _unread(report: Report) -> str:
    if not report.unread:
        return ""
    return f" {many(report.unread, 'open answer')} wait to be read, so totals may still grow."


def percent(count: int, of: int) -> str:
    """A share as text."""
    return f"{100 * count / of:.0f} %" if of else "–"


# ---------------------------------------------------------------------------------- the parts


def _talk(report: Report) -> str:
    cards = "\n".join(
        f'<article class="card warn"><div class="head"><h3>{text(q.title)}</h3>'
        f'<span class="points">{m.count} of {q.students} ({percent(m.count, q.students)})</span>'
        f'</div>\n<p class="state"><code>{text(m.name)}</code></p><p>{text(m.message)}</p>'
        f"{_read_on(m)}</article>"
        for q, m in report.worth_talking_about
    )
    if not cards:
        hard = report.hardest[:1]
        cards = "<p>No named misconception is shared by several students." + (
            f" The question with the fewest points is “{text(hard[0].title)}”.</p>"
            if hard
            else "</p>"
        )
    return f"<section><h2>Worth ten minutes in the next class</h2>\n{cards}</section>"


def _read_on(mistake: Mistake) -> str:
    if not mistake.section:
        return ""
    return f"<p>Read together: {_section(mistake)}</p>"


def _section(mistake: Mistake) -> str:
    known = mistake.address.startswith(("https://", "http://", "file://"))
    return link(mistake.address if known else "", mistake.section)


def parts(q: QuestionReport) -> list[tuple[str, str, int]]:
    """The pieces of a question's bar: class of colour, name, number of students."""
    if q.open:
        pieces = [("right", "full points", q.right), ("part", "part or none of them", q.partly),
                  ("other", "not read yet", q.unread)]  # fmt: skip
    else:
        named = [m for m in q.mistakes if m.named]
        shown = list(zip(TONES, named, strict=False))
        rest = sum(m.count for m in q.mistakes) - sum(m.count for _, m in shown)
        pieces = [("right", "right", q.right), *((tone, m.name, m.count) for tone, m in shown),
                  ("other", "wrong in other ways", rest)]  # fmt: skip
    pieces.append(("none", "no answer, or not readable", q.nothing))
    return [piece for piece in pieces if piece[2]]


def _picture(report: Report) -> str:
    rows = "\n".join(_row(q) for q in report.questions)
    return (
        "<section><h2>How each question went</h2>\n<p>Each bar is the class: right answers, then "
        f"the most frequent misconceptions by name, then the rest.</p>\n{rows}</section>"
    )


def _row(q: QuestionReport) -> str:
    pieces = parts(q)
    said = ", ".join(f"{count} {name}" for _, name, count in pieces) or "no answers"
    marks, at = [], 0.0
    for tone, _, count in pieces:
        wide = 100 * count / q.students
        marks.append(f'<rect class="{tone}" x="{at:.3f}%" y="1" width="{wide:.3f}%" height="24"/>')
        if wide >= 4:  # a narrower piece has its number in the list of names
            on = "on" if tone != "none" else ""
            marks.append(
                f'<text class="{on}" x="{at + wide / 2:.3f}%" y="18" text-anchor="middle">'
                f"{count}</text>"
            )
        at += wide
    names = "".join(
        f'<li><svg width="12" height="12" aria-hidden="true"><rect class="{tone}" x="1" y="1" '
        f'width="10" height="10"/></svg>{text(name)}: {count} ({percent(count, q.students)})</li>'
        for tone, name, count in pieces
    )
    return (
        f'<div class="row"><h3>{text(q.title)}</h3><p class="quiet small"><code>{text(q.id)}</code>'
        f' · {number(q.most)} points</p>\n<svg width="100%" height="26" role="img" '
        f'aria-label="{text(q.title)}, {many(q.students, "student")}: {text(said)}">'
        f"{''.join(marks)}</svg>\n"
        f'<ul class="names">{names}</ul></div>'
    )


def bins(shares: Sequence[float], count: int = 10) -> list[int]:
    """How many shares from 0 to 1 fall into each of equal parts; 1 is in the last."""
    places = [min(count - 1, int(share * count + 1e-9)) for share in shares]
    return [places.count(place) for place in range(count)]


def _totals(report: Report) -> str:
    counts = bins(report.shares)
    high, base = max([*counts, 1]), 140
    marks = []
    for place, count in enumerate(counts):
        tall = (base - 24) * count / high
        marks.append(
            f'<rect class="right" x="{place * 10 + 0.6}%" y="{base - tall:.1f}" width="8.8%" '
            f'height="{tall:.1f}"/>'
            f'<text x="{place * 10 + 5}%" y="{base - tall - 6:.1f}" text-anchor="middle">'
            f"{count or ''}</text>"
        )
    ticks = "".join(
        f'<text class="axis" x="{share}%" y="{base + 18}" text-anchor="{anchor}">{share} %</text>'
        for share, anchor in ((0, "start"), (50, "middle"), (100, "end"))
    )
    edges = list(pairwise(range(0, 101, 10)))
    said = ", ".join(
        f"{low} to {up} %: {count}" for (low, up), count in zip(edges, counts, strict=True) if count
    )
    return (
        "<section><h2>Totals</h2>\n<p>Students by their share of the points.</p>\n"
        f'<svg width="100%" height="{base + 24}" role="img" aria-label="Students by share of the '
        f'points. {said or "Nobody"}">{"".join(marks)}<line x1="0" x2="100%" y1="{base}" '
        f'y2="{base}" stroke="var(--edge)"/>{ticks}</svg></section>'
    )


def _hardest(report: Report) -> str:
    rows = "".join(
        f"<tr><th scope='row'>{text(q.title)}<br><code>{text(q.id)}</code></th>"
        f"<td class='n'>{q.mean or 0:.1f} of {number(q.most)}</td>"
        f"<td class='n'>{100 * (q.mean or 0) / q.most:.0f} %</td></tr>"
        for q in report.hardest[:5]
    )
    return (
        "<section><h2>Hardest questions</h2>\n<table><thead><tr><th>question</th><th class='n'>"
        f"mean points</th><th class='n'>share</th></tr></thead><tbody>{rows}</tbody></table>"
        "</section>"
    )


def _all(report: Report) -> str:
    pairs = [(q, m) for q in report.questions for m in q.mistakes]
    pairs.sort(key=lambda pair: (not pair[1].named, -pair[1].count))
    rows = "".join(
        f"<tr><th scope='row'><code>{text(m.name)}</code><br><span class='quiet small'>"
        f"{text(q.title)}</span></th><td class='n'>{m.count} <span class='quiet'>"
        f"{percent(m.count, q.students)}</span></td><td>{text(m.message)}"
        f"{'<br>' + _section(m) if m.section else ''}</td></tr>"
        for q, m in pairs
    )
    if not rows:
        return "<section><h2>All diagnoses</h2><p>No answer is wrong.</p></section>"
    return (
        '<section><h2>All diagnoses</h2>\n<div class="scroll" tabindex="0" role="region" '
        'aria-label="All diagnoses"><table class="wide"><thead><tr><th>diagnosis</th>'
        '<th class="n">students</th><th>what lies behind it</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _foot(report: Report) -> str:
    look = ""
    if report.look:
        look = (
            f"<p>{many(report.look, 'submission needs', 'submissions need')} a look: see that "
            "column of grades.csv.</p>"
        )
    here = report.students - report.empty
    few = ""
    if here < SMALL_CLASS:
        few = (
            f" In a class of {here} a mistake that one or two made may still point to them: think "
            "before you show this page."
        )
    return (
        f"{look}<p>Names of students are not shown.{few} One mistake is named at a time, so a "
        "share is a lower bound: an answer with two mistakes usually counts among the others.</p>"
    )
