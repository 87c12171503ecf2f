"""What a check found out: readable in a terminal, in a notebook, and by a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

import numpy as np


def show(value: object) -> str:
    """A value as short text: arrays with four digits, long ones cut in the middle."""
    if isinstance(value, np.ndarray):
        if value.ndim == 0:
            return show(value.item())
        if value.dtype.kind == "f":
            value = value + 0.0  # −0.0 is written as 0
        return np.array2string(value, precision=4, threshold=60, edgeitems=2, separator=", ")
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _table(values: Mapping[str, object]) -> list[tuple[str, str]]:
    return [(name, show(value)) for name, value in values.items()]


@dataclass(frozen=True, repr=False)
class Verdict:
    """The diagnosis of one answer.

    ``name`` is ``"right"``, the name of a misconception (see :func:`attnkit.checks.misconceptions`)
    or of a failure that any exercise can have (:func:`attnkit.checks.common_failures`).
    ``message`` says in one or two sentences what to think about, ``example`` is the smallest input
    on which the answer is wrong, ``expected`` and ``got`` are the results there, and ``link`` is
    the label of the section to read again. A Verdict shows itself as text and as HTML.
    """

    id: str
    passed: bool
    name: str
    message: str
    example: Mapping[str, object] = field(default_factory=dict)
    expected: Mapping[str, object] = field(default_factory=dict)
    got: Mapping[str, object] = field(default_factory=dict)
    link: str = ""
    link_text: str = ""

    def __bool__(self) -> bool:
        return self.passed

    def require(self) -> None:
        """Raise AssertionError with the diagnosis, unless the answer is right.

        Returns nothing: a graded cell that ends with a value is read by nbgrader as partial credit.
        """
        if not self.passed:
            raise AssertionError(str(self))

    def to_dict(self) -> dict:
        """Everything as plain text, lists and numbers, ready for JSON."""
        parts = {
            key: {name: _plain(value) for name, value in getattr(self, key).items()}
            for key in ("example", "expected", "got")
        }
        plain = {"id": self.id, "passed": self.passed, "name": self.name, "message": self.message}
        return {**plain, **parts, "link": self.link, "link_text": self.link_text}

    def _headline(self) -> str:
        return f"{self.id}: right" if self.passed else f"{self.id}: not yet ({self.name})"

    def __str__(self) -> str:
        lines = [self._headline(), self.message]
        for title, values in self._sections():
            for name, text in _table(values):
                head = f"  {title} {name} = "
                lines.append(head + text.replace("\n", "\n" + " " * len(head)))
        if self.link:
            lines.append(f"  read again: {self.link_text or self.link} ({self.link})")
        return "\n".join(lines)

    __repr__ = __str__

    def _sections(self) -> list[tuple[str, Mapping[str, object]]]:
        return [("for", self.example), ("expected", self.expected), ("got", self.got)]

    def _repr_html_(self) -> str:
        # No colour of its own but the bar: text and background come from the page, dark or light.
        mark = "✓" if self.passed else "✗"
        bar = "#2e8b6f" if self.passed else "#b9770e"
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left;vertical-align:top">'
            f"{escape(title)} {escape(name)}</th>"
            f'<td style="text-align:left"><pre style="margin:0;white-space:pre-wrap;'
            f'background:none;border:0;color:inherit">{escape(text)}</pre></td></tr>'
            for title, values in self._sections()
            for name, text in _table(values)
        )
        table = f'<table style="color:inherit;background:none">{rows}</table>' if rows else ""
        link = ""
        if self.link:
            text = escape(self.link_text or self.link)
            link = (
                f'<p style="margin:.3em 0 0">Read again: '
                f'<a href="#{escape(self.link)}" style="text-decoration:underline">{text}</a></p>'
            )
        return (
            f'<div class="attn-verdict" role="group" aria-label="{escape(self._headline())}" '
            f'style="border-left:.3em solid {bar};padding:.3em .8em;color:inherit">'
            f'<p style="margin:0"><strong><span aria-hidden="true">{mark} </span>'
            f"{escape(self._headline())}</strong></p>"
            f'<p style="margin:.3em 0">{escape(self.message)}</p>{table}{link}</div>'
        )


def _plain(value: object) -> object:
    if isinstance(value, np.ndarray | np.generic):
        # JSON knows no nan: it travels as text.
        return _plain(value.tolist())
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, bool | int | float | str) else str(value)
