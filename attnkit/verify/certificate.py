"""The certificate: one page of HTML that prints on one sheet of A4, and the same for a program.

It names the machine as far as numbers depend on it, and no person, host or folder. It loads
nothing, so it can be kept.
"""

from collections import Counter
from dataclasses import asdict, dataclass
from html import escape
from importlib.resources import files
from typing import Any

from attnkit.verify.compare import MEASURED, Line, Verdict, disturbed
from attnkit.verify.machine import Machine
from attnkit.verify.numbers import KINDS
from attnkit.verify.record import Record
from attnkit.verify.seal import seal

#: More would not fit the sheet: the rest is counted, and is in the file that --json writes.
LISTED = 6
LONGEST = 96


@dataclass(frozen=True)
class Paper:
    """What a certificate is about: ``asked`` of ``pages`` pages, some of them reached."""

    verdicts: list[Verdict]
    machine: Machine
    record: Record
    origin: str
    asked: int
    pages: int
    interrupted: bool

    @property
    def lines(self) -> list[Line]:
        return [line for verdict in self.verdicts for line in verdict.lines]

    @property
    def whole(self) -> bool:
        """Whether every page of the book was reached to its end."""
        reached = len(self.verdicts) == self.pages and not any(v.why for v in self.verdicts)
        return reached and not self.interrupted

    def counts(self) -> Counter[str]:
        return Counter(line.kind for line in self.lines)


def plain(paper: Paper) -> dict[str, Any]:
    """Everything, for a program: each number as it was printed, as it is now, and the verdict."""
    counts = paper.counts()
    return {
        "record": paper.record.digest,
        "compared_with": paper.origin,
        "machine": asdict(paper.machine),
        "whole": paper.whole,
        "interrupted": paper.interrupted,
        "counts": {kind: counts[kind] for kind in KINDS},
        "pages": [asdict(verdict) | {"good": verdict.good} for verdict in paper.verdicts],
    }


def html(paper: Paper) -> str:
    style = files("attnkit.verify").joinpath("certificate.css").read_text("utf-8")
    good = all(verdict.good for verdict in paper.verdicts) and bool(paper.verdicts)
    parts = [_opening(paper), _pages(paper), _outside(paper), _kinds(paper), _foot(paper)]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>Certificate of measurement, {paper.machine.day}: Attention, Measured</title>\n"
        f"<style>\n{style}</style>\n</head>\n"
        f'<body class="{"good" if good else "open"}">\n<main>\n' + "\n".join(parts) + "\n</main>\n"
        "</body>\n</html>\n"
    )


def _opening(paper: Paper) -> str:
    lines = [line for line in paper.lines if line.kind in MEASURED]
    within = sum(line.within for line in lines)
    counts, held = paper.counts(), sum(v.held for v in paper.verdicts)
    claims = held + sum(len(v.failed) for v in paper.verdicts)
    said = [
        f"On {_day(paper.machine.day)}, <strong>{len(lines):,}</strong> numbers that the book "
        f"prints were measured again on the machine named below. <strong>{within:,}</strong> of "
        "them lie within their tolerance."
    ]
    if counts["recorded"]:
        same = sum(line.within for line in paper.lines if line.kind == "recorded")
        said.append(
            f"{counts['recorded']:,} more were read again from recorded runs, "
            f"{_all(same, counts)}: they were compared and <em>not</em> measured."
        )
    if counts["clock"]:
        said.append(f"{counts['clock']:,} are times of a machine, which nothing is held to.")
    said.append(f"Of {claims:,} claims that the chapters assert, {held:,} held.")
    notice = _notice(paper)
    return (
        f"<header>\n{seal(paper.verdicts, within, len(lines))}\n<div>\n"
        '<p class="course">Attention, Measured</p>\n<h1>Certificate of measurement</h1>\n'
        f"<p>{' '.join(said)}</p>\n{notice}</div>\n</header>"
    )


def _all(same: int, counts: Counter[str]) -> str:
    return "all of them as printed" if same == counts["recorded"] else f"{same:,} as printed"


def _notice(paper: Paper) -> str:
    if paper.whole:
        return ""
    words = f"{len(paper.verdicts)} of the {paper.pages} pages with numbers"
    why = "was interrupted and " if paper.interrupted else ""
    stopped = sum(bool(verdict.why) for verdict in paper.verdicts)
    rest = f", {stopped} not to the end" if stopped else ""
    return f'<p class="notice"><strong>In part.</strong> This run {why}reached {words}{rest}.</p>\n'


def _pages(paper: Paper) -> str:
    rows = []
    for verdict in paper.verdicts:
        counts = verdict.counts()
        measured = sum(counts[kind] for kind in MEASURED)
        outside = len(verdict.outside)
        claims = verdict.held + len(verdict.failed)
        mark = "" if verdict.good else ' class="off"'
        why = f" <small>{escape(_cut(verdict.why, 60))}</small>" if verdict.why else ""
        cells = [f"{measured:,}", f"{outside:,}", f"{counts['recorded']:,}"]
        cells += [f"{counts['clock']:,}", f"{verdict.held} of {claims}", f"{verdict.seconds:.0f} s"]
        numbers = "".join(f"<td>{'–' if cell == '0' else cell}</td>" for cell in cells)
        name = f'<th scope="row">{escape(verdict.label)}{why}</th>'
        rows.append(f"<tr{mark}>{name}{numbers}</tr>")
    heads = ("measured", "outside", "read again", "times", "claims", "took")
    head = "".join(f'<th scope="col">{word}</th>' for word in heads)
    return (
        '<table class="pages">\n<caption>Page by page</caption>\n'
        f'<thead><tr><th scope="col">page</th>{head}</tr></thead>\n'
        f"<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>"
    )


def _outside(paper: Paper) -> str:
    items = []
    for verdict in paper.verdicts:
        for line in verdict.outside:
            items.append(
                f"<b>{escape(verdict.label.split()[0])}</b> {escape(_cut(line.name, 44))}: "
                f"printed <b>{escape(_cut(line.printed, 24))}</b>, "
                f"now <b>{escape(_cut(line.found, 24))}</b> "
                f"({line.kind}, {escape(line.tolerance)})"
            )
        for claim in verdict.failed:
            what = f"line {claim['line']}, a claim did not hold: {_cut(claim['claim'], LONGEST)}"
            items.append(f"<b>{escape(verdict.label.split()[0])}</b> {escape(what)}")
    if not items:
        return '<section class="outside"><h2>Outside</h2><p>Nothing lies outside.</p></section>'
    again = disturbed(paper.verdicts)
    said = f"<p>{escape(again[0])} <code>{escape(again[1])}</code></p>" if again else ""
    room = LISTED - 2 if again else LISTED
    more = len(items) - room
    tail = f"<li>and {more:,} more: see the list of all numbers (--json)</li>" if more > 0 else ""
    listed = "".join(f"<li>{item}</li>" for item in items[:room])
    return f'<section class="outside"><h2>Outside</h2><ul>{listed}{tail}</ul>{said}</section>'


def _kinds(paper: Paper) -> str:
    counts = paper.counts()
    rows = [
        f'<tr><th scope="row">{kind}</th><td>{counts[kind]:,}</td><td>{escape(why)}</td></tr>'
        for kind, why in KINDS.items()
        if counts[kind]
    ]
    return (
        '<table class="kinds">\n<caption>What the numbers are, and why each has its tolerance'
        '</caption>\n<thead><tr><th scope="col">kind</th><th scope="col">numbers</th>'
        '<th scope="col">what it depends on</th></tr></thead>\n'
        f"<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>"
    )


def _foot(paper: Paper) -> str:
    here = paper.machine
    facts = {
        "System": f"{here.system}, {here.processor}",
        "Cores": f"{here.cores}, pages run with {here.threads} thread" + "s" * (here.threads > 1),
        "Python": here.python,
        "PyTorch": f"{here.torch}, {here.kernels} kernels",
        "NumPy": here.numpy,
        "attnkit": here.attnkit,
        "Compared with": f"{paper.origin} ({paper.record.digest})",
        "Repeat it": "python -m attnkit.verify",
    }
    listed = "".join(f"<div><dt>{k}</dt><dd>{escape(v)}</dd></div>" for k, v in facts.items())
    return (
        f"<footer>\n<dl>{listed}</dl>\n<p>Numbers in the prose, in what cells print and in the "
        "descriptions of pictures were compared; the pictures themselves and what a reader sets "
        "on a page were not.</p>\n</footer>"
    )


def _cut(text: str, room: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= room else text[: room - 1] + "…"


def _day(iso: str) -> str:
    year, month, day = (int(part) for part in iso.split("-"))
    names = "January February March April May June July August September October November December"
    return f"{day} {names.split()[month - 1]} {year}"
