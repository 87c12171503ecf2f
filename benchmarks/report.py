"""What a section of the benchmark hands back, and how it is printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Settings(NamedTuple):
    """What every section is told."""

    seed: int
    #: A few seconds in all, to see that it runs; the ratios scatter more.
    quick: bool
    #: The clock of the timings: ``time.perf_counter``, or ``time.process_time`` on a busy machine.
    clock: Callable[[], float]


class Table(NamedTuple):
    """A section's result: a table, and a sentence for each target that was missed."""

    title: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    missed: Sequence[str]


def markdown(table: Table) -> str:
    """The table as Markdown, padded so that it reads well in a terminal too."""
    lines = [list(table.columns), *(list(row) for row in table.rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.columns))]
    text = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |"
            for line in lines]  # fmt: skip
    text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join((f"## {table.title}", "", table.note, "", *text))
