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
UNIFORM = "uniform head"
RIGHT = 'style="text-align:right;white-space:nowrap"'


def text(table: HeadTable) -> str:
    """The table in columns, the uniform head first."""
    columns = _columns(table)
    one = _one_baseline(table, columns)
    rows = list(table)
    half = MOST_ROWS // 2
    shown = rows if len(rows) <= MOST_ROWS else [*rows[:half], *rows[-half:]]
    lines = [["layer", "head", "kind", *columns.values()]]
    if one:
        lines.append(["", "", UNIFORM, *map(_number, one)])
    for row in shown:
        cells = [_cell(getattr(row, name), not one) for name in columns]
        lines.append([str(row.layer), str(row.head), row.kind, *cells])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    said = [_line(line, widths) for line in lines]
    if len(shown) < len(rows):
        said.insert(len(said) - half, f"… {len(rows) - len(shown)} heads left out …")
    means = "means" if one else f"mean ({UNIFORM})"
    return "\n".join([f"{_summary(table)}: {means}", *said, _counts(table)])


def html(table: HeadTable) -> str:
    """The table, to be scrolled where it is large; colours come from the page."""
    columns = _columns(table)
    one = _one_baseline(table, columns)
    names = ["layer", "head", "kind", *columns.values()]
    head = "".join(f'<th scope="col" {RIGHT}>{escape(name)}</th>' for name in names)
    body = ""
    if one:
        cells = "".join(f"<td {RIGHT}>{_number(value)}</td>" for value in one)
        body = f'<tr><th scope="row" colspan="3" {RIGHT}>{UNIFORM}</th>{cells}</tr>'
    for row in table:
        cells = "".join(
            f"<td {RIGHT}>{_html_cell(getattr(row, name), not one)}</td>" for name in columns
        )
        body += (
            f'<tr><th scope="row" {RIGHT}>{row.layer}</th><th scope="row" {RIGHT}>{row.head}</th>'
            f"<td {RIGHT}>{escape(row.kind)}</td>{cells}</tr>"
        )
    what = "mean ± standard deviation over the inputs"
    caption = f"{_summary(table)}: {what}{'' if one else f' ({UNIFORM})'}. {_counts(table)}"
    return (
        '<div class="attn-heads" role="group" tabindex="0" aria-label="Table of heads" '
        'style="max-height:32em;overflow:auto"><table style="color:inherit;background:none">'
        '<caption style="text-align:left;color:inherit"><div style="position:sticky;left:0;'
        f'width:max-content;max-width:min(36em,80vw)">{escape(caption)}</div></caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _columns(table: HeadTable) -> dict[str, str]:
    """Without those that no head has."""
    return {
        name: said
        for name, said in COLUMNS.items()
        if not all(math.isnan(getattr(row, name).mean) for row in table)
    }


def _one_baseline(table: HeadTable, columns: dict[str, str]) -> list[float]:
    """The baseline of each column, if all heads have the same; else nothing."""
    found = []
    for name in columns:
        first, *others = (getattr(row, name).baseline for row in table)
        if not all(math.isclose(first, other, rel_tol=1e-9) for other in others):
            return []
        found.append(first)
    return found


def _summary(table: HeadTable) -> str:
    counts = {row.queries for row in table}
    least, most = min(counts), max(counts)
    queries = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    layers, heads = table.shape
    inputs = "1 input" if table.inputs == 1 else f"{table.inputs:,} inputs"
    return f"{layers} × {heads} heads, {inputs}, {queries} {'query' if most == 1 else 'queries'}"


def _counts(table: HeadTable) -> str:
    counts = Counter(row.kind for row in table)
    said = "Kinds: " + ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind]) + "."
    least = table.thresholds.queries
    if any(row.queries < least for row in table):
        said += f" Of fewer than {least:g} queries nothing is said."
    return said


def _line(cells: list[str], widths: list[int]) -> str:
    """Numbers to the right; the kind, which comes third, to the left."""
    placed = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
    placed[2] = cells[2].ljust(widths[2])
    return "  ".join(placed).rstrip()


def _cell(measure: Measure, baseline: bool) -> str:
    if math.isnan(measure.mean):
        return "none"
    return _number(measure.mean) + (f" ({_number(measure.baseline)})" if baseline else "")


def _html_cell(measure: Measure, baseline: bool) -> str:
    if math.isnan(measure.mean):
        return "none"
    spread = "" if math.isnan(measure.sd) else f" ± {_number(measure.sd)}"
    beside = f" <small>({_number(measure.baseline)})</small>" if baseline else ""
    return f"{_number(measure.mean)}{spread}{beside}"


def _number(value: float) -> str:
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}"
