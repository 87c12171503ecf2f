"""Trait types whose errors say what was expected, what came and what to do."""

import math
import numbers
from typing import Any, NoReturn

import traitlets


def refuse(trait: traitlets.TraitType, obj: Any, expected: str, value: Any, cure: str) -> NoReturn:
    """Raise the TraitError of a trait: what was expected, what came, what to do."""
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    raise traitlets.TraitError(
        f"{type(obj).__name__}.{trait.name}: expected {expected}, "
        f"got {shown} ({type(value).__name__}). {cure}"
    )


def is_number(value: Any) -> bool:
    """A real number; True is none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


class WholeNumber(traitlets.TraitType):
    """An int in [lowest, highest]; True is not 1 here, and 64.0 is not 64."""

    def __init__(self, default: int | None, lowest: int, highest: int, *, allow_none: bool = False):
        super().__init__(default_value=default, allow_none=allow_none)
        self.lowest, self.highest = lowest, highest

    def validate(self, obj: Any, value: Any) -> int | None:
        if value is None and self.allow_none:
            return None
        expected = f"a whole number from {self.lowest} to {self.highest}"
        expected += " or None" if self.allow_none else ""
        if not isinstance(value, numbers.Integral) or isinstance(value, bool):
            cure = "Convert it with int(...)."
            refuse(self, obj, expected, value, cure)
        if not self.lowest <= int(value) <= self.highest:
            refuse(self, obj, expected, value, "Choose a value inside the range.")
        return int(value)


class Number(traitlets.TraitType):
    """A finite float; with `above`, greater than it; with `lowest` and `highest`, in between."""

    def __init__(
        self,
        default: float | None,
        *,
        above: float | None = None,
        lowest: float = -math.inf,
        highest: float = math.inf,
        allow_none: bool = False,
    ):
        super().__init__(default_value=default, allow_none=allow_none)
        self.above, self.lowest, self.highest = above, lowest, highest

    def _expected(self) -> str:
        if self.above is not None:
            return f"a finite number greater than {self.above:g}"
        if math.isinf(self.highest):
            return "a finite number"
        return f"a number from {self.lowest:g} to {self.highest:g}" + (
            " or None" if self.allow_none else ""
        )

    def validate(self, obj: Any, value: Any) -> float | None:
        if value is None and self.allow_none:
            return None
        if value is None or not is_number(value):
            refuse(self, obj, self._expected(), value, "Convert it with float(...).")
        number = float(value)
        too_low = self.above is not None and number <= self.above
        if not math.isfinite(number) or too_low or not self.lowest <= number <= self.highest:
            refuse(self, obj, self._expected(), value, "Choose a value inside the range.")
        return number


class Choice(traitlets.TraitType):
    """One of a few words."""

    def __init__(self, default: str, words: tuple[str, ...]):
        super().__init__(default_value=default)
        self.words = words

    def validate(self, obj: Any, value: Any) -> str:
        if not isinstance(value, str) or value not in self.words:
            expected = "one of " + ", ".join(map(repr, self.words))
            refuse(self, obj, expected, value, "The words are written exactly so.")
        return value


class PlainList(traitlets.List):
    """A list that takes what it is given: traitlets would turn the text "ab" into ["ab"]."""

    def set(self, obj: Any, value: Any) -> None:
        traitlets.Instance.set(self, obj, value)


class NumberList(PlainList):
    """A list of finite floats of a stated length; tensors and arrays of one axis are copied.

    With `shares`, no number is below 0 and one at least above it.
    """

    def __init__(
        self, default: list[float], *, longest: int, shortest: int = 1, shares: bool = False
    ):
        super().__init__(traitlets.Float(), default)
        self.shortest, self.longest, self.shares = shortest, longest, shares

    def validate(self, obj: Any, value: Any) -> list[float]:
        expected = f"a list of {self.shortest} to {self.longest} finite numbers"
        if self.shares:
            expected += " of at least 0, not all of them 0"
        items = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(items, (list, tuple)):
            row = (
                "shares, such as [5, 10, 80]" if self.shares else "scores, such as [0.05, 0.1, 5.8]"
            )
            refuse(self, obj, expected, value, f"Pass one row of {row}.")
        if not self.shortest <= len(items) <= self.longest:
            refuse(self, obj, expected, value, f"This list has {len(items)} numbers.")
        for position, item in enumerate(items):
            if not is_number(item) or not math.isfinite(item):
                cure = f"Number {position + 1} of the list is {item!r}."
                if item == -math.inf:
                    cure += " A blocked key has no score: leave it out of the list."
                refuse(self, obj, expected, value, cure)
            if self.shares and item < 0:
                refuse(self, obj, expected, value, f"Share {position + 1} is negative.")
        if self.shares and not any(items):
            refuse(self, obj, expected, value, "Nothing has no ratio: ask for something.")
        return [float(item) for item in items]


class TextList(PlainList):
    """A list of str, drawn literally; an array of str is copied."""

    def __init__(self, default: list[str]):
        super().__init__(traitlets.Unicode(), default)

    def validate(self, obj: Any, value: Any) -> list[str]:
        expected = "a list of str, one for each score"
        value = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            refuse(self, obj, expected, value, "Split the text into tokens first.")
        for position, item in enumerate(value):
            if not isinstance(item, str):
                cure = f"Label {position + 1} is {item!r}: convert it with str(...)."
                refuse(self, obj, expected, value, cure)
        return list(value)


class Places(PlainList):
    """Places in a sequence, in rising order, each once; sets and tuples are copied."""

    def __init__(self) -> None:
        super().__init__(traitlets.Int(), [])

    def validate(self, obj: Any, value: Any) -> list[int]:
        expected = "a list of places, such as [0, 2]"
        items = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(items, (list, tuple, set, frozenset, range)):
            refuse(self, obj, expected, value, "Put a single place into a list.")
        for item in items:
            if not isinstance(item, numbers.Integral) or isinstance(item, bool) or item < 0:
                refuse(self, obj, expected, value, f"{item!r} is no place: they count from 0.")
        return sorted({int(item) for item in items})


def same_length(proposal: dict, *names: str) -> list:
    """The proposed list, if it is as long as the lists `names` of the same widget.

    For a cross-validator: ``@validate("scores", "labels")``.
    """
    widget, value, name = proposal["owner"], proposal["value"], proposal["trait"].name
    for other in names:
        length = len(getattr(widget, other))
        if other != name and length != len(value):
            first = names[0]
            kind = (other, first) if name == first else (name, first)
            together = " and ".join(names) if len(names) == 2 else ", ".join(names)
            both = "both" if len(names) == 2 else "all"
            raise traitlets.TraitError(
                f"{type(widget).__name__}.{name}: expected as many {kind[0]} as {kind[1]}, got "
                f"{len(value)} {name} beside {length} {other}. Set {both} ({together}) inside "
                "`with widget.hold_trait_notifications():`."
            )
    return value


def numbered(scores: Any) -> list[str] | None:
    """Labels for scores that came without: token 1, token 2 …; None where nothing can be told."""
    items = scores.tolist() if hasattr(scores, "tolist") else scores
    if not isinstance(items, (list, tuple)):
        return None
    return [f"token {i + 1}" for i in range(len(items))]
