"""A table of heads as text and as HTML."""

from __future__ import annotations

import math
from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from attnkit.patterns.kinds import KINDS, Measure

if TYPE_CHECKING:
    from attnkit.patterns.table import HeadTable

#: Of more heads than these the text leaves out the middle ones.
MOST_ROWS = 24
#: What is shown of a row, and what it is called.
COLUMNS = {
    "previous": "previous",
    "same": "same",
    "next": "next",
    "induction": "induction",
    "sink": "first key",
    "local_focus": "local",
    "concentration": "largest",
    "normalized_entropy": "entropy/max",
    "effective_keys": "eff. keys",
    "mean_distance": "distance",
}


def text(table: HeadTable) -> str:
    """The table in columns, the value of the uniform head in parentheses."""
    columns = _columns(table)
    rows = list(table)
    half = MOST_ROWS // 2
    shown = rows if len(rows) <= MOST_ROWS else [*rows[:half], *rows[-half:]]
    lines = [["layer", "head", *columns.values(), "kind"]]
    for row in shown:
        cells = [_pair(getattr(row, name)) for name in columns]
        lines.append([str(row.layer), str(row.head), *cells, row.kind])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    said = [
        "  ".join(
            cell.ljust(width) if i == len(line) - 1 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    if len(shown) < len(rows):
        said.insert(half + 1, f"… {len(rows) - len(shown)} heads left out …")
    return "\n".join([f"{_summary(table)}: mean (uniform head)", *said, _counts(table)])


def html(table: HeadTable) -> str:
    """The table, to be scrolled where it is large; colours come from the page."""
    columns = _columns(table)
    names = ["layer", "head", "kind", *columns.values()]  # the kind in sight on a narrow page
    right = 'style="text-align:right;white-space:nowrap"'
    head = "".join(f'<th scope="col" {right}>{escape(name)}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row" {right}>{row.layer}</th><th scope="row" {right}>{row.head}</th>'
        + f"<td {right}>{escape(row.kind)}</td>"
        + "".join(f"<td {right}>{_html_cell(getattr(row, name))}</td>" for name in columns)
        + "</tr>"
        for row in table
    )
    caption = f"{_summary(table)}: mean ± standard deviation over the inputs (uniform head). "
    return (
        '<div class="attn-heads" role="region" tabindex="0" aria-label="Table of heads" '
        'style="max-height:32em;overflow:auto">'
        '<table style="color:inherit;background:none">'
        '<caption style="text-align:left;color:inherit">'
        f"{escape(caption + _counts(table))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _columns(table: HeadTable) -> dict[str, str]:
    """Without those that no head has."""
    return {
        name: said
        for name, said in COLUMNS.items()
        if not all(math.isnan(getattr(row, name).mean) for row in table)
    }


def _summary(table: HeadTable) -> str:
    counts = {row.queries for row in table}
    least, most = min(counts), max(counts)
    queries = f"{most:,} queries" if least == most else f"{least:,} to {most:,} queries"
    layers, heads = table.shape
    inputs = "1 input" if table.inputs == 1 else f"{table.inputs:,} inputs"
    return f"{layers} × {heads} heads, {inputs}, {queries}"


def _counts(table: HeadTable) -> str:
    counts = Counter(row.kind for row in table)
    said = "Kinds: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]) + "."
    least = table.thresholds.queries
    if any(row.queries < least for row in table):
        said += f" Of fewer than {least:g} queries nothing is said."
    return said


def _pair(measure: Measure) -> str:
    if math.isnan(measure.mean):
        return "none"
    return f"{_number(measure.mean)} ({_number(measure.baseline)})"


def _html_cell(measure: Measure) -> str:
    if math.isnan(measure.mean):
        return "none"
    spread = "" if math.isnan(measure.sd) else f" ± {_number(measure.sd)}"
    return f"{_number(measure.mean)}{spread} <small>({_number(measure.baseline)})</small>"


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
