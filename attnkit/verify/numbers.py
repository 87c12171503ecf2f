"""The numbers of a printed text, and whether one that is measured now is near enough.

A printed number carries its own precision: ``0.84`` says a hundredth, ``84`` a whole, ``1e-07`` a
tenth of a millionth. The least that a comparison allows is one unit of the last printed digit.
"""

import ast
import re
from dataclasses import dataclass
from decimal import Decimal

NUMBER = re.compile(
    r"""(?<![\w.])                          # not inside a name: d64, v1.2
        [-−+]?
        (?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)
        (?:\.\d*)?(?:[eE][-+]?\d+)?
        (?![\w])""",
    re.X,
)
#: Relative: where more digits are printed than a float32 holds, the machine's sums decide the rest.
FLOAT = 1e-5
#: A number printed below this is what rounding has left of zero: its size is the machine's.
ERROR, TIMES = 1e-5, 10

KINDS = {
    "exact": "the same in every setting that was tried: a count must be equal, a rounded number "
    "may differ by one in its last digit",
    "rounded": "sums of floats, in the order in which this machine adds them: one in the last "
    "digit, or 4 times the spread that was seen",
    "trained": "a training run on this machine, which amplifies the 7th digit: one in the last "
    "digit, or 4 times the spread that was seen",
    "time": "a ratio of times, on a machine that does nothing else: within a factor of two",
    "clock": "a time of this machine: shown beside the printed one, not judged",
    "recorded": "read again from a recorded run in attnkit/data and compared, NOT measured; "
    "python -m experiments.NAME, in the repository, makes it again",
}
MARGIN = 4  # so many times the spread that was seen between settings of one machine


@dataclass(frozen=True)
class Number:
    """A number as it is printed."""

    text: str

    @property
    def value(self) -> float:
        return float(self._plain)

    @property
    def unit(self) -> float:
        """One unit of the last printed digit."""
        exponent = Decimal(self._plain).as_tuple().exponent
        return float(Decimal(1).scaleb(int(exponent)))

    @property
    def whole(self) -> bool:
        return re.fullmatch(r"[-+]?\d+", self._plain) is not None

    @property
    def _plain(self) -> str:
        return self.text.replace(",", "").replace("−", "-").removeprefix("+")


def numbers(text: str) -> list[Number]:
    """The numbers of a text, in order.

    >>> [number.text for number in numbers("chapter 3: 1,024 of d64, -0.5 and 1e-07")]
    ['3', '1,024', '-0.5', '1e-07']
    """
    return [Number(match.group()) for match in NUMBER.finditer(text)]


def printed(value: str, format: str) -> str:
    """A glued value as the page prints it: ``value`` is its repr, as the notebook keeps it.

    >>> printed("84.37946", ".0f"), printed("'two'", ""), printed("1234567", ",")
    ('84', 'two', '1,234,567')
    """
    try:
        parsed = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    return f"{parsed:{format}}"


def tolerance(number: Number, kind: str, spread: float = 0.0, *, counted: bool = False) -> float:
    """How far a number may be from the printed one. ``counted``: it is no rounded float."""
    if kind == "clock":
        return float("inf")
    if kind == "recorded" or (kind == "exact" and counted):
        return 0.0
    if kind == "time":  # upwards; within() allows as much downwards
        return abs(number.value)
    error = TIMES * abs(number.value) if abs(number.value) < ERROR else 0.0
    return max(number.unit, MARGIN * spread, FLOAT * abs(number.value), error)


def within(
    found: Number, number: Number, kind: str, spread: float = 0.0, *, counted: bool = False
) -> bool:
    """Whether the number found now is near enough to the printed one.

    >>> within(Number("0.85"), Number("0.84"), "rounded")
    True
    >>> within(Number("85"), Number("84"), "exact", counted=True)
    False
    """
    if kind == "time":
        low, high = sorted((abs(found.value), abs(number.value)))
        return high <= 2 * low + number.unit
    allowed = tolerance(number, kind, spread, counted=counted)
    return abs(found.value - number.value) <= allowed * (1 + 1e-9)


def reason(number: Number, kind: str, spread: float = 0.0, *, counted: bool = False) -> str:
    """The tolerance in words, short enough for a line."""
    if kind in ("clock", "time"):
        return "not judged" if kind == "clock" else "factor 2"
    allowed = tolerance(number, kind, spread, counted=counted)
    return f"±{allowed:.2g}" if allowed else "equal"
