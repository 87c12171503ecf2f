"""Trait types whose errors say what was expected, what came and what to do."""

import math
import numbers
from typing import Any, NoReturn

import traitlets


def _refuse(trait: traitlets.TraitType, obj: Any, expected: str, value: Any, cure: str) -> NoReturn:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    raise traitlets.TraitError(
        f"{type(obj).__name__}.{trait.name}: expected {expected}, "
        f"got {shown} ({type(value).__name__}). {cure}"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


class WholeNumber(traitlets.Int):
    """An int in [lowest, highest]; True is not 1 here, and 64.0 is not 64."""

    def __init__(self, default: int, lowest: int, highest: int):
        super().__init__(default)
        self.lowest, self.highest = lowest, highest

    def validate(self, obj: Any, value: Any) -> int:
        expected = f"a whole number from {self.lowest} to {self.highest}"
        if not isinstance(value, numbers.Integral) or isinstance(value, bool):
            cure = "Convert it with int(...)."
            _refuse(self, obj, expected, value, cure)
        if not self.lowest <= int(value) <= self.highest:
            _refuse(self, obj, expected, value, "Choose a value inside the range.")
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
        if value is None or not _is_number(value):
            _refuse(self, obj, self._expected(), value, "Convert it with float(...).")
        number = float(value)
        too_low = self.above is not None and number <= self.above
        if not math.isfinite(number) or too_low or not self.lowest <= number <= self.highest:
            _refuse(self, obj, self._expected(), value, "Choose a value inside the range.")
        return number


class NumberList(traitlets.List):
    """A list of finite floats of a stated length; tensors and arrays of one axis are copied."""

    def __init__(self, default: list[float], *, longest: int):
        super().__init__(traitlets.Float(), default)
        self.longest = longest

    def set(self, obj: Any, value: Any) -> None:
        traitlets.Instance.set(self, obj, value)  # List.set turns the text "ab" into ["ab"]

    def validate(self, obj: Any, value: Any) -> list[float]:
        expected = f"a list of 1 to {self.longest} finite numbers"
        items = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(items, (list, tuple)):
            _refuse(self, obj, expected, value, "Pass one row of scores, such as [0.05, 0.1, 5.8].")
        if not 1 <= len(items) <= self.longest:
            _refuse(self, obj, expected, value, f"This list has {len(items)} numbers.")
        for position, item in enumerate(items):
            if not _is_number(item) or not math.isfinite(item):
                cure = f"Number {position + 1} of the list is {item!r}."
                if item == -math.inf:
                    cure += " A blocked key has no score: leave it out of the list."
                _refuse(self, obj, expected, value, cure)
        return [float(item) for item in items]


class TextList(traitlets.List):
    """A list of str, drawn literally; an array of str is copied."""

    def __init__(self, default: list[str]):
        super().__init__(traitlets.Unicode(), default)

    def set(self, obj: Any, value: Any) -> None:
        traitlets.Instance.set(self, obj, value)  # List.set turns the text "ab" into ["ab"]

    def validate(self, obj: Any, value: Any) -> list[str]:
        expected = "a list of str, one for each score"
        value = value.tolist() if hasattr(value, "tolist") else value
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            _refuse(self, obj, expected, value, "Split the text into tokens first.")
        for position, item in enumerate(value):
            if not isinstance(item, str):
                cure = f"Label {position + 1} is {item!r}: convert it with str(...)."
                _refuse(self, obj, expected, value, cure)
        return list(value)
