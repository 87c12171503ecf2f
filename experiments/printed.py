"""What the book printed, for ``python -m attnkit.verify``: attnkit/data/printed.json.

    python -m experiments.printed                 after `make book`: values and kinds of every page
    python -m experiments.printed --chapter 3     kinds of one page found anew, all others kept
    python -m experiments.printed --values        the values alone; every kind stays as it is known

The values come from the built book (`_build/executed`). A number's kind is what moves it when a
page is run in variations (experiments/varied.py). In this order, the first that is true decides:

    clock, time   the clock moves it: by about as much as the clock runs faster, or not
    recorded      a change of the recorded run moves it; or it is read from one, and the variation
                  cannot show it (a count, a name, a number that a broken cell no longer gave)
    trained       a shake of the parameters in training moves it
    rounded       it moves between settings of one machine
    exact         nothing moves it
"""

import argparse
import json
import sys
from pathlib import Path

from attnkit.verify import numbers as n
from attnkit.verify.measure import Result
from attnkit.verify.pages import Source, UnknownPage, select, sources
from attnkit.verify.record import FILE, Glued, Printed, Record, RecordError, Shown, load, of_build
from experiments.flow import behind, follow, pictured
from experiments.variations import has_numbers
from experiments.varied import all_of

EXECUTED = Path("_build/executed")
FAST = 30  # a time that the clock of a thousandfold speed moves by more is a time, else a ratio
Values = list[float | str]


def records() -> frozenset[str]:
    """The files of attnkit/data that hold numbers of a run."""
    found = [p for p in FILE.parent.glob("*.json") if p != FILE]
    return frozenset(p.name for p in found if has_numbers(json.loads(p.read_text("utf-8"))))


def scripts(names: frozenset[str]) -> dict[str, str]:
    """Recorded file → the script of experiments/ that makes it, as it says itself."""
    texts = {p.stem: p.read_text("utf-8") for p in Path("experiments").glob("*.py")}
    return {
        name: script
        for name in sorted(names)
        for script, text in sorted(texts.items())
        if f'"{name.removesuffix(".json")}' in text or f"data/{name}" in text or f'"{name}' in text
    }


def values_of(value: str) -> Values:
    """What of a glued value can move: itself, or the numbers in its words, or the words."""
    try:
        return [float(value)]
    except ValueError:
        return [number.value for number in n.numbers(value)] or [value]


def moved(before: Values, after: Values | None) -> list[bool]:
    """Which of the values differ; all of them where there are not as many any more."""
    if after is None or len(after) != len(before):
        return [after is not None] * len(before)
    return [a != b for a, b in zip(before, after, strict=True)]


def kind_of(
    place: int, before: Values, found: dict[str, Values | None], read: bool, whole: bool
) -> str:
    """The kind of one number: the first variation in order that moves it."""

    def moves(name: str) -> bool:
        return name in found and moved(before, found[name])[place]

    if moves("clock"):
        after = found["clock"] or []
        same = len(after) == len(before) and isinstance(before[place], float)
        factor = abs(after[place] / (before[place] or 1e-9)) if same else FAST + 1  # type: ignore
        return "clock" if max(factor, 1 / max(factor, 1e-9)) > FAST else "time"
    changed = moves("records") or moves("counts")
    lost = any(name in found and found[name] is None for name in ("records", "counts"))
    if changed or (read and (whole or lost)):
        return "recorded"
    if moves("kick"):
        return "trained"
    return "rounded" if moves("other") else "exact"


def spread_of(place: int, before: Values, found: dict[str, Values | None]) -> float:
    """How far the number was seen to move between settings of one machine."""
    steps = [0.0]
    for name in ("plain", "other"):
        after = found.get(name)
        if after and len(after) == len(before):
            a, b = before[place], after[place]
            steps += [abs(a - b)] if isinstance(a, float) and isinstance(b, float) else []
    return float(f"{max(steps):.2g}")


def classify(source: Source, page: Printed, runs: dict[str, Result], known: frozenset[str]) -> None:
    """Give each number of a page its kind, spread and the records that it comes from."""
    files = known & set(runs["plain"].used["json"])
    arrays = runs["plain"].used["arrays"]
    glued, printed = follow(source.page, files)
    seen = pictured(source.page, files)
    page.seconds = runs["plain"].seconds
    for name, value in page.glued.items():
        read = behind(name, glued)
        found = {k: _glued(r, name) for k, r in runs.items()}
        _kind_of_glued(value, found, read, arrays)
    for shown in page.shown:
        read = (printed if shown.part == "text" else seen).get(shown.cell, frozenset())
        found = {k: _shown(r, shown) for k, r in runs.items()}
        _kinds_of_shown(shown, found, read, arrays)


def _glued(result: Result, name: str) -> Values | None:
    return values_of(result.glued[name]) if name in result.glued else None


def _shown(result: Result, shown: Shown) -> Values | None:
    texts = [o.text for o in result.outputs if (o.cell, o.part) == (shown.cell, shown.part)]
    return [number.value for number in n.numbers(texts[0])] if texts else None


def _kind_of_glued(value: Glued, found: dict, read: frozenset[str], arrays: list[str]) -> None:
    before = values_of(value.value)
    whole = not any(isinstance(v, float) and v != int(v) for v in before)
    kinds = [kind_of(i, before, found, bool(read), whole) for i in range(len(before))]
    value.kind = min(kinds, key=ORDER.index)
    value.spread = max(spread_of(i, before, found) for i in range(len(before)))
    value.records = sorted(read or arrays) if value.kind == "recorded" else []


def _kinds_of_shown(shown: Shown, found: dict, read: frozenset[str], arrays: list[str]) -> None:
    listed = n.numbers(shown.text)
    before: Values = [number.value for number in listed]
    places = range(len(before))
    shown.kinds = [kind_of(i, before, found, bool(read), listed[i].whole) for i in places]
    shown.spreads = [spread_of(i, before, found) for i in places]
    shown.records = sorted(read or arrays) if "recorded" in shown.kinds else []


#: Of several numbers in one value, the first of these kinds is that of the value.
ORDER = ["clock", "time", "recorded", "trained", "rounded", "exact"]


def made(chosen: list[Source], values_only: bool = False) -> Record:
    """The record of the built book, with the kinds of the chosen pages found anew."""
    try:
        before = load()
    except RecordError:
        before = Record({})
    everything = sources()
    record = of_build(EXECUTED, everything, before)
    if not values_only:
        known = records()
        runs = all_of([s for s in chosen if s.slug in record.pages])
        for source in chosen:
            classify(source, record.pages[source.slug], runs[source.slug], known)
        record.scripts = scripts(known)
    return record


def main() -> int:
    said = argparse.ArgumentParser(
        prog="python -m experiments.printed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    said.add_argument("--chapter", action="append", default=[], metavar="N")
    said.add_argument("--values", action="store_true", help="keep every kind as it is known")
    options = said.parse_args()
    if not EXECUTED.is_dir():
        print(f"There is no {EXECUTED}: build the book first (make book).", file=sys.stderr)
        return 2
    try:
        chosen = select(options.chapter, sources())
    except UnknownPage as error:
        print(error, file=sys.stderr)
        return 2
    record = made(chosen, options.values)
    FILE.write_text(record.dumps(), "utf-8", newline="\n")
    numbers = sum(len(p.glued) + sum(len(s.kinds) for s in p.shown) for p in record.pages.values())
    print(f"{FILE.name}: {len(record.pages)} pages, {numbers:,} numbers, {record.digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
