"""What the cost widget is given, and how its numbers are written."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from attnkit.widgets import pairs
from attnkit.widgets.traits import is_number

MOST_CURVES, MOST_SIZES, LONGEST_NAME = 12, 40, 40
#: Unit, and the unit of a thousand of them.
UNITS = {"time": ("ms", "s"), "memory": ("MB", "GB")}


class Cost(NamedTuple):
    """What was measured at one n: milliseconds (median, lowest, highest) and peak megabytes."""

    milliseconds: float
    low: float
    high: float
    megabytes: float | None

    def value(self, quantity: str) -> float | None:
        """The median time in milliseconds, or the peak memory in megabytes."""
        return self.milliseconds if quantity == "time" else self.megabytes


def significant(value: float, digits: int = 3) -> str:
    """A number in so many significant digits, without an exponent, as `significant` in cost.js.

    >>> significant(0.012345), significant(1234.5), significant(2.0, 2)
    ('0.0123', '1,230', '2.0')
    """
    size = math.floor(math.log10(value)) if value else 0
    rounded = float(f"{value:.{digits - 1}e}")
    size = math.floor(math.log10(rounded)) if rounded else size
    return f"{rounded:,.{max(0, digits - 1 - size)}f}"


def amount(value: float, quantity: str) -> str:
    """Milliseconds or megabytes for reading.

    >>> amount(11.84, "time"), amount(2512.0, "time"), amount(0.0581, "memory")
    ('11.8 ms', '2.51 s', '0.0581 MB')
    """
    small, large = UNITS[quantity]
    return (
        f"{significant(value)} {small}" if value < 999.5 else f"{significant(value / 1000)} {large}"
    )


def span(low: float, high: float) -> str:
    """Lowest to highest time in one unit: that of the highest.

    >>> span(11.5, 12.13), span(830.0, 1210.0)
    ('11.5–12.1 ms', '0.830–1.21 s')
    """
    top = amount(high, "time")
    return f"{significant(low if top.endswith('ms') else low / 1000)}–{top}"


def checked_curves(curves: Any) -> dict[str, dict[int, Cost]]:
    """Name → n → cost, n rising."""
    expected = f"a list of 1 to {MOST_CURVES} pairs (name, {{n: (milliseconds, low, high, MB)}})"
    items = list(curves.items()) if isinstance(curves, Mapping) else curves
    if isinstance(items, str) or not isinstance(items, Sequence):
        cure = 'For example [("full attention", {1024: (11.8, 11.5, 12.1, 4.2)})].'
        pairs.refuse(TypeError, "CostWidget.curves", expected, curves, cure)
    if not 1 <= len(items) <= MOST_CURVES:
        cure = "More lines cannot be told apart."
        pairs.refuse(ValueError, "CostWidget.curves", expected, f"{len(items)} of them", cure)
    found: dict[str, dict[int, Cost]] = {}
    for i, item in enumerate(items):
        where = f"CostWidget.curves[{i}]"
        if not isinstance(item, (tuple, list)) or len(item) != 2:
            cure = "Pass each curve as (name, {n: (milliseconds, low, high, megabytes)})."
            pairs.refuse(TypeError, where, "a pair (name, dict)", item, cure)
        name, costs = item
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
            cure = "The names are shown to readers."
            pairs.refuse(ValueError, where, f"a name of 1 to {LONGEST_NAME} characters", name, cure)
        if name in found:
            pairs.refuse(ValueError, where, "a name of its own", name, "Two curves have it.")
        if not isinstance(costs, Mapping) or not 1 <= len(costs) <= MOST_SIZES:
            expected = f"a dict of 1 to {MOST_SIZES} n → (milliseconds, low, high, megabytes)"
            cure = "Leave out an n that was not run."
            pairs.refuse(ValueError, f"{where} {name!r}", expected, costs, cure)
        found[name] = {n: _cost(f"{where} {name!r}", n, costs[n]) for n in sorted(costs, key=_rank)}
    return found


def _rank(n: Any) -> Any:
    return (0, n) if is_number(n) else (1, str(n))


def _cost(where: str, n: Any, value: Any) -> Cost:
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        cure = "A JSON file makes texts of them: {int(n): … for n, … in items}."
        pairs.refuse(TypeError, where, "whole numbers n from 1 on", n, cure)
    given: Any = value if isinstance(value, (tuple, list)) and len(value) == 4 else (None,) * 4
    median, low, high, memory = given
    right = all(map(_above_0, (median, low, high))) and (memory is None or _above_0(memory))
    if not right or not low <= median <= high:
        expected = "(milliseconds, low, high, megabytes) with 0 < low ≤ milliseconds ≤ high"
        cure = "Megabytes are above 0, or None where they were not measured."
        pairs.refuse(ValueError, f"{where} at n = {n}", expected, value, cure)
    return Cost(float(median), float(low), float(high), None if memory is None else float(memory))


def _above_0(value: Any) -> bool:
    return is_number(value) and 0 < value < math.inf
