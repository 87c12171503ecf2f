"""What a training run has measured, step by step: a table that shows itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

#: Of more rows than these, the middle ones are left out where a history is shown.
MOST_ROWS = 12


class Row(NamedTuple):
    """One step of a training run.

    >>> Row(100, 0.25, 0.006, 0.9, 5.0).loss
    0.25
    """

    #: Updates made so far, 1 in the first row.
    step: int
    #: The loss of this step's batch, before its update.
    loss: float
    #: The learning rate of this update.
    lr: float
    #: The validation after this update; nan where none was made.
    validation: float
    #: Seconds of training up to here, interruptions left out.
    seconds: float


class History:
    """The rows of a training run, first to last.

    It iterates as :class:`Row`, is drawn by ``plots.history(h)``, and shows itself as a table in a
    notebook. What it shows leaves the seconds out, so that two runs of a cell show the same.

    >>> nan = float("nan")
    >>> history = History([Row(1, 3.5, 0.001, nan, 0.1), Row(2, 0.5, 0.001, 0.75, 0.2)])
    >>> history
    History(2 steps, loss 3.5 to 0.5, best validation 0.75 at step 2)
    >>> [row.loss for row in history], history[-1].validation
    ([3.5, 0.5], 0.75)
    """

    def __init__(self, rows: Iterable[tuple[int, float, float, float, float]]) -> None:
        self._rows = tuple(Row(*row) for row in rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> Row:
        return self._rows[index]

    @property
    def best(self) -> Row | None:
        """The row of the highest validation, of equal ones the first; None without any."""
        measured = [row for row in self if not math.isnan(row.validation)]
        return max(measured, key=lambda row: row.validation, default=None)

    def to_dict(self) -> dict[str, list]:
        """The columns by name, ready for JSON: None where no validation was made."""
        columns: dict[str, list] = {
            name: [row[i] for row in self] for i, name in enumerate(Row._fields)
        }
        columns["validation"] = [None if math.isnan(v) else v for v in columns["validation"]]
        return columns

    def __repr__(self) -> str:
        return f"History({self._summary()})"

    def _summary(self) -> str:
        if not self._rows:
            return "no steps"
        steps = "1 step" if len(self) == 1 else f"{len(self)} steps"
        said = f"{steps}, loss {self[0].loss:.3g} to {self[-1].loss:.3g}"
        if self.best is not None:
            said += f", best validation {self.best.validation:.3g} at step {self.best.step}"
        return said

    def _repr_html_(self) -> str:
        # No colour of its own: text and background come from the page, dark or light.
        measured = self.best is not None
        rows = [row for row in self if row.step == 1 or not math.isnan(row.validation)]
        rows = rows if measured else list(self)
        half = MOST_ROWS // 2
        shown = rows if len(rows) <= MOST_ROWS else [*rows[:half], *rows[-half:]]
        names = ["step", "loss", "learning rate", *(["validation"] if measured else [])]
        head = "".join(f'<th scope="col" style="text-align:right">{name}</th>' for name in names)
        body = "".join(
            (_gap(shown[i - 1], row, len(names)) if i else "") + _html_row(row, measured)
            for i, row in enumerate(shown)
        )
        return (
            '<table class="attn-history" style="color:inherit;background:none">'
            f'<caption style="text-align:left;color:inherit">{escape(self._summary())}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _html_row(row: Row, measured: bool) -> str:
    validation = "none" if math.isnan(row.validation) else f"{row.validation:.4g}"
    cells = [f"{row.loss:.4g}", f"{row.lr:.3g}", *([validation] if measured else [])]
    return (
        f'<tr><th scope="row" style="text-align:right">{row.step}</th>'
        + "".join(f'<td style="text-align:right">{cell}</td>' for cell in cells)
        + "</tr>"
    )


def _gap(before: Row, after: Row, width: int) -> str:
    """The row that says how many steps are left out between two that are shown."""
    left_out = after.step - before.step - 1
    if not left_out:
        return ""
    steps = "1 step" if left_out == 1 else f"{left_out} steps"
    return f'<tr><td colspan="{width}" style="text-align:center">… {steps} left out …</td></tr>'
