"""What is printed: a line for each number, 80 columns, on any terminal's code page and width."""

import os
import sys
import unicodedata
from collections.abc import Iterable
from typing import TextIO

from attnkit.verify.compare import MEASURED, Line, Verdict, disturbed
from attnkit.verify.numbers import KINDS

WIDTH = 80
PLAIN = str.maketrans({"±": "+", "…": "~", "–": "-", "×": "x", "·": "-", "−": "-", "’": "'"})


def width(text: str) -> int:
    """Columns that a terminal needs: a Chinese character takes two, a combining mark none."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)


def cut(text: str, room: int) -> str:
    """The text in exactly so many columns."""
    text = " ".join(text.split())
    if width(text) > room:
        while width(text) > room - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (room - width(text))


def columns(stream: TextIO) -> int:
    """Of the terminal that shows a stream, at most 80; 80 where it is a file."""
    try:
        return min(WIDTH, os.get_terminal_size(stream.fileno()).columns or WIDTH)
    except (OSError, ValueError):
        return WIDTH


class Screen:
    """Writes lines to a stream, and what its code page lacks in plain letters."""

    def __init__(self, stream: TextIO | None = None):
        self.stream = stream or sys.stdout

    def write(self, text: str = "") -> None:
        """Where the terminal is narrower than the line, its columns close up."""
        room, text = columns(self.stream), text.rstrip()
        indent = " " * min(len(text) - len(text.lstrip()), 2)
        for line in wrapped(text, indent, room) if width(text) > room else [text]:
            self._write(line)

    def _write(self, text: str) -> None:
        encoding = self.stream.encoding or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            text = text.translate(PLAIN).encode(encoding, "replace").decode(encoding)
        self.stream.write(text + "\n")
        self.stream.flush()


def row(line: Line) -> str:
    """One number: where it stands, as it is printed, what it is now, tolerance, kind."""
    mark = " " if line.within else "!"
    parts = [
        cut(line.name, 30),
        cut(line.printed, 12),
        cut(line.found, 12),
        cut(line.tolerance, 11),
    ]
    return f"{mark} {' '.join(parts)} {line.kind}"


HEADER = f"  {'number':30} {'printed':12} {'now':12} {'tolerance':11} kind"


def page(verdict: Verdict) -> Iterable[str]:
    """Every number of the prose, what the cells show cell by cell, what is outside in full."""
    yield ""
    yield from wrapped(f"{verdict.label}: {summary(verdict)}", "")
    if verdict.note:
        yield from wrapped(verdict.note)
    yield from unmeasured(verdict)
    if not verdict.lines:
        return
    yield HEADER
    yield from (row(line) for line in verdict.lines if line.place == "prose")
    rest = [line for line in verdict.lines if line.place != "prose"]
    places = dict.fromkeys((line.place, line.name) for line in rest)
    for place, name in places:
        lines = [line for line in rest if (line.place, line.name) == (place, name)]
        what = "output" if place == "output" else "description"
        kinds = ", ".join(dict.fromkeys(line.kind for line in lines))
        good = sum(line.within for line in lines)
        yield f"  {cut(name, 22)} {cut(f'{good} of {len(lines)} within, {what}', 30)} {kinds}"
        yield from (row(line) for line in lines if not line.within)
    yield from failed(verdict)


def unmeasured(verdict: Verdict) -> Iterable[str]:
    """Why not all of a page was measured."""
    if verdict.why:
        yield from wrapped(f"not measured{' to its end' * bool(verdict.lines)}: {verdict.why}")


def wrong(verdict: Verdict) -> Iterable[str]:
    """What is outside of a page, and nothing else."""
    if verdict.outside or verdict.failed:
        yield verdict.label
        yield from (row(line) for line in verdict.outside)
        yield from failed(verdict)


def failed(verdict: Verdict) -> Iterable[str]:
    for claim in verdict.failed:
        said = f" ({claim['what']})" if claim["what"] else ""
        yield from wrapped(
            f"! line {claim['line']}, a claim that did not hold: {claim['claim']}{said}"
        )


def wrapped(text: str, indent: str = "  ", room: int = 0) -> Iterable[str]:
    """A sentence in lines as wide as the screen; the second and later ones are indented further."""
    line, room = indent, room or columns(sys.stdout)
    for word in (piece for whole in text.split() for piece in _pieces(whole)):
        if line.strip() and width(line) + 1 + width(word) > room:
            yield line
            line = indent + "  "
        line += f" {word}" if line.strip() else word
    yield line


def _pieces(word: str) -> Iterable[str]:
    """A word, or pieces of one that is longer than a line."""
    while width(word) > WIDTH // 2:
        yield word[: WIDTH // 4]
        word = word[WIDTH // 4 :]
    yield word


def summary(verdict: Verdict) -> str:
    """ "58 measured, 1 outside; 4 read again; 61 of 61 claims held"."""
    counts = verdict.counts()
    measured = sum(counts[kind] for kind in MEASURED)
    parts = [
        f"{measured:,} measured" + f", {len(verdict.outside):,} outside" * bool(verdict.outside)
    ]
    parts += [f"{counts['recorded']:,} read again"] * bool(counts["recorded"])
    parts += [f"{counts['clock']:,} times"] * bool(counts["clock"])
    claims = verdict.held + len(verdict.failed)
    parts += [f"{verdict.held} of {claims} claims held"] * bool(claims)
    parts += [f"{verdict.missed:,} not reached"] * bool(verdict.missed)
    return "; ".join(parts)


def total(verdicts: list[Verdict]) -> Iterable[str]:
    """The table at the end: a line for each page, then what the kinds mean."""
    yield ""
    yield f"{'':36} measured outside  read  times  claims  sec"
    for verdict in verdicts:
        yield _total(verdict.label, [verdict])
        yield from unmeasured(verdict)
    if len(verdicts) > 1:
        yield _total("together", verdicts)
    yield ""
    if again := disturbed(verdicts):
        yield from wrapped(again[0])
        yield f"    {again[1]}"
    present = {line.kind for verdict in verdicts for line in verdict.lines}
    for kind, why in KINDS.items():
        if kind in present:
            yield from wrapped(f"{kind}: {why}")
    yield from wrapped("Pictures are compared by their descriptions, not by their pixels.")


def _total(label: str, verdicts: list[Verdict]) -> str:
    lines = [line for verdict in verdicts for line in verdict.lines]
    measured = sum(line.kind in MEASURED for line in lines)
    outside = sum(len(v.outside) for v in verdicts)
    read = sum(line.kind == "recorded" for line in lines)
    times = sum(line.kind == "clock" for line in lines)
    held = sum(v.held for v in verdicts)
    claims = held + sum(len(v.failed) for v in verdicts)
    seconds = sum(v.seconds for v in verdicts)
    return (
        f"{cut(label, 36)} {measured:8,} {outside:7,} {read:5,} {times:6,} "
        f"{f'{held}/{claims}':>7} {seconds:4.0f}"
    )
