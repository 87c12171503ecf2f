"""Set what was measured beside what was printed: a line a number, a verdict a page."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from attnkit.verify import numbers as n
from attnkit.verify.measure import Output, Result
from attnkit.verify.pages import number_of
from attnkit.verify.record import Glued, Printed, Shown

#: Kinds that say something about this machine. A recorded number is read, and a clock not judged.
MEASURED = ("exact", "rounded", "trained", "time")


@dataclass(frozen=True)
class Line:
    """A number of the book and what it is now."""

    place: str  # "prose", "output" or "picture"
    name: str
    printed: str
    found: str
    kind: str
    tolerance: str
    within: bool


@dataclass
class Verdict:
    """What became of a page."""

    slug: str
    label: str
    lines: list[Line] = field(default_factory=list)
    missed: int = 0  # numbers that were not reached
    why: str = ""
    held: int = 0
    failed: list[dict] = field(default_factory=list)
    seconds: float = 0.0
    note: str = ""

    @property
    def outside(self) -> list[Line]:
        return [line for line in self.lines if not line.within]

    @property
    def good(self) -> bool:
        """Whether every number of the page was reached and is within, and every claim held."""
        return not (self.outside or self.failed or self.why or self.missed)

    def counts(self) -> Counter[str]:
        return Counter(line.kind for line in self.lines)


def disturbed(verdicts: list[Verdict]) -> tuple[str, str] | None:
    """What to do where times may be the reason, and the line to type; None where they are not."""

    def timed(verdict: Verdict) -> bool:
        outside = any(line.kind == "time" for line in verdict.outside)
        return outside or bool(verdict.failed and verdict.counts().keys() & {"time", "clock"})

    pages = [number_of(verdict.slug) for verdict in verdicts if timed(verdict)]
    if not pages:
        return None
    said = (
        "A ratio of times is outside, or a claim on a page that takes times did not hold. Other "
        "work on this machine does that too: measure again while nothing else runs."
    )
    return said, "python -m attnkit.verify " + " ".join(f"--chapter {page}" for page in pages)


def compare(slug: str, label: str, printed: Printed, result: Result) -> Verdict:
    verdict = Verdict(slug, label, held=result.held, failed=result.failed)
    verdict.seconds = sum(result.seconds)
    for name, glued in printed.glued.items():
        if name in result.glued:
            verdict.lines += _glued(name, glued, result.glued[name])
        else:
            verdict.missed += len(glued.formats)
    found = {(output.cell, output.part): output for output in result.outputs}
    reached = result.raised["cell"] if result.raised else len(result.seconds)
    for shown in printed.shown:
        if shown.cell >= reached:
            verdict.missed += len(shown.kinds)
        else:
            verdict.lines += _shown(shown, found.get((shown.cell, shown.part)))
    if result.raised:
        verdict.why = _why(result.raised)
    return verdict


def _why(raised: dict) -> str:
    if raised["needs"]:
        return f"needs {raised['needs']}"
    where = f"line {raised['line']}" if raised.get("line") else f"cell {raised['cell']}"
    section = f' of "{raised["section"]}"' if raised.get("section") else ""
    return f"stopped at {where}{section}: {raised['error']}"


def counted(value: str) -> bool:
    """Whether a glued value is a whole number or words, and no float that is rounded to print."""
    try:
        return not isinstance(ast.literal_eval(value), float)
    except (ValueError, SyntaxError):
        return True


def _glued(name: str, glued: Glued, value: str) -> Iterator[Line]:
    for form in glued.formats:
        was = n.printed(glued.value, form)
        try:
            now = n.printed(value, form)
        except (ValueError, TypeError):  # another type than the format is for
            now = value
        whole = counted(glued.value)
        pairs = list(zip(n.numbers(was), n.numbers(now), strict=False))
        spread, kind = glued.spread, glued.kind
        same = len(n.numbers(was)) == len(n.numbers(now))
        if not n.numbers(was):
            within, why = was == now or kind == "clock", "equal"
        else:
            within = same and all(n.within(b, a, kind, spread, counted=whole) for a, b in pairs)
            why = n.reason(n.numbers(was)[-1], kind, spread, counted=whole)
        yield Line("prose", name, was, now, kind, why, within)


def _shown(shown: Shown, now: Output | None) -> Iterator[Line]:
    """The numbers of a text, one by one; in order, so the text must have as many as before."""
    place = "output" if shown.part == "text" else "picture"
    name = f"cell {shown.cell + 1}" + (f", {shown.section}" if shown.section else "")
    was, found = n.numbers(shown.text), n.numbers(now.text) if now else []
    if len(was) != len(found):
        judged = set(shown.kinds) <= {"clock"}
        said = f"{len(was)} numbers", f"{len(found)} numbers" if now else "nothing shown"
        yield Line(place, name, *said, max(shown.kinds, key=shown.kinds.count), "equal", judged)
        return
    for before, after, kind, spread in zip(was, found, shown.kinds, shown.spreads, strict=True):
        whole = before.whole
        within = n.within(after, before, kind, spread, counted=whole)
        why = n.reason(before, kind, spread, counted=whole)
        yield Line(place, name, before.text, after.text, kind, why, within)
