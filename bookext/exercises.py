"""The exercises of a page: where each begins and ends, and which cells are in it."""

import re
from dataclasses import dataclass, field

from bookext.source import Cell, Page

_FENCE = re.compile(r"^\s*(`{3,}|:{3,})\s*\{exercise-(start|end)\}\s*(.*?)\s*$")
_LABEL = re.compile(r"^\s*:?label:\s*(\S+)")


@dataclass
class Exercise:
    """``first`` and ``last`` are the lines, from 1, of the two directives; ``cells`` the indices of
    the cells between them in the page."""

    title: str
    label: str
    first: int
    last: int
    cells: list[int] = field(default_factory=list)

    def holds(self, line: int) -> bool:
        return self.first <= line <= self.last


def exercises(page: Page) -> list[Exercise]:
    """Every gated exercise of a page; one that is never closed goes on to the end."""
    found: list[Exercise] = []
    opened: Exercise | None = None
    for number, text in enumerate(page.lines, 1):
        if not (match := _FENCE.match(text)):
            continue
        _, gate, title = match.groups()
        if gate == "start":
            labels = map(_LABEL.match, page.lines[number : number + 4])
            label = next((label.group(1) for label in labels if label), "")
            opened = Exercise(title, label, number, len(page.lines))
            found.append(opened)
        elif opened:
            opened.last, opened = number, None
    for exercise in found:
        inside = enumerate(page.cells)
        exercise.cells = [i for i, cell in inside if cell.kind == "code" and _in(exercise, cell)]
    return found


def _in(exercise: Exercise, cell: Cell) -> bool:
    return exercise.holds(cell.line)
