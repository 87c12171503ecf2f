"""What an experiment's prediction may be, and how a prediction is written down as plain text."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from attnkit.checks._failures import COMMON
from attnkit.checks._read_numbers import is_missing
from attnkit.checks._recording import as_array, type_name

#: Name and message of what is wrong with a prediction.
Trouble = tuple[str, str]
_NONE = ["none", None]
_CHARACTERS, _ENTRIES = 40, 20


def plain(value: object) -> list:
    """A prediction as [kind, value] that JSON can carry, cut to what a record has room for.

    Kinds: "none", "bool", "number", "text", "map" (by the text of the key), "list", "other".
    """
    if is_missing(value) and not isinstance(value, Mapping):
        return _NONE
    if isinstance(value, Mapping):
        return ["map", {_key(k): _entry(v) for k, v in islice(value.items(), _ENTRIES)}]
    if getattr(value, "ndim", 0) == 1:
        value = list(value)  # type: ignore
    if isinstance(value, list | tuple) and len(value) != 1:
        return ["list", [_entry(entry) for entry in value[:_ENTRIES]]]
    return _entry(value)


def _entry(value: object) -> list:
    if is_missing(value):
        return _NONE
    if isinstance(value, str):
        return ["text", value.strip()[:_CHARACTERS]]
    try:
        array = as_array(value)
    except (TypeError, ValueError, RuntimeError):
        return ["other", type_name(value)]
    if array.size == 1:
        number = array.item()
        return ["bool", number] if array.dtype == bool else ["number", float(number)]
    return ["other", type_name(value)]


def _key(key: object) -> str:
    """1, 1.0, numpy's 1 and "1" are one key."""
    try:
        number = float(key)  # type: ignore
    except (TypeError, ValueError):
        return str(key).strip().casefold()[:_CHARACTERS]
    return str(int(number)) if number.is_integer() else str(number)


def shown(prediction: list) -> str:
    """A prediction as text."""
    kind, value = prediction
    if kind == "number":
        return f"{value:.6g}"
    if kind == "text":
        return repr(value)
    if kind == "map":
        return "{" + ", ".join(f"{key}: {shown(part)}" for key, part in value.items()) + "}"
    if kind == "list":
        return "[" + ", ".join(shown(part) for part in value) + "]"
    return str(value)


def _no_prediction(wanted: str, missing: str = "") -> Trouble:
    return "no-prediction", COMMON["no-prediction"].format(missing=missing, wanted=wanted)


def _out_of_range(prediction: list, wanted: str) -> Trouble:
    values = {"shown": shown(prediction), "wanted": wanted}
    return "prediction-out-of-range", COMMON["prediction-out-of-range"].format(**values)


def _wrong_type(prediction: list, wanted: str) -> Trouble:
    kind, value = prediction
    got = value if kind == "other" else {"map": "a dict", "list": "a list"}.get(kind, kind)
    return "wrong-type", f"The prediction is {wanted}, and this is {got}: {shown(prediction)}."


@dataclass(frozen=True)
class Between:
    """A prediction that is a number from ``low`` to ``high``, both included."""

    low: float
    high: float

    @property
    def wanted(self) -> str:
        """What the prediction has to be, in words."""
        return f"a number from {self.low:g} to {self.high:g}"

    def example(self) -> float:
        """A prediction that is in order."""
        return (self.low + self.high) / 2

    def trouble(self, prediction: list) -> Trouble | None:
        """Name and message of what is wrong with a recorded prediction."""
        kind, value = prediction
        if kind == "none":
            return _no_prediction(self.wanted)
        if kind == "text" and value.endswith("%") and self.high == 1:
            return "in-percent", COMMON["in-percent"]
        if kind != "number":
            return _wrong_type(prediction, self.wanted)
        if self.low <= value <= self.high:
            return None
        if self.high == 1 and 1 < value <= 100 and self.low <= value / 100:
            return "in-percent", COMMON["in-percent"]
        return _out_of_range(prediction, self.wanted)


@dataclass(frozen=True, init=False)
class OneOf:
    """A prediction that is one of a few words or numbers; case and blanks do not matter."""

    choices: tuple[Hashable, ...]

    def __init__(self, *choices: Hashable) -> None:
        object.__setattr__(self, "choices", choices)

    @property
    def wanted(self) -> str:
        """What the prediction has to be, in words."""
        *most, last = (repr(choice) for choice in self.choices)
        return f"{', '.join(most)} or {last}"

    def example(self) -> Hashable:
        """A prediction that is in order."""
        return self.choices[0]

    def trouble(self, prediction: list) -> Trouble | None:
        """Name and message of what is wrong with a recorded prediction."""
        kind, value = prediction
        if kind == "none":
            return _no_prediction(self.wanted)
        known = {(k, _fold(v)) for k, v in map(plain, self.choices)}
        if kind in ("text", "number", "bool") and (kind, _fold(value)) in known:
            return None
        kinds = {k for k, _ in known}
        wrong = _out_of_range if kind in kinds else _wrong_type
        return wrong(prediction, self.wanted)


def _fold(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else value


@dataclass(frozen=True)
class Each:
    """A prediction for each of several keys: a dict, or a list in the order of the keys."""

    keys: tuple[Hashable, ...]
    part: Between | OneOf

    @property
    def wanted(self) -> str:
        """What the prediction has to be, in words."""
        return f"a dict with {', '.join(map(repr, self.keys))}, for each {self.part.wanted}"

    def example(self) -> dict:
        """A prediction that is in order."""
        return {key: self.part.example() for key in self.keys}

    def trouble(self, prediction: list) -> Trouble | None:
        """Name and message of what is wrong with a recorded prediction."""
        kind, value = prediction
        if kind == "none":
            return _no_prediction(self.wanted)
        if kind == "list" and len(value) == len(self.keys):
            value = dict(zip(map(_key, self.keys), value, strict=True))
        elif kind != "map":
            return _wrong_type(prediction, self.wanted)
        missing = [key for key in self.keys if value.get(_key(key), _NONE)[0] == "none"]
        if missing:
            return _no_prediction(self.wanted, f" for {', '.join(map(repr, missing))}")
        for key in self.keys:
            trouble = self.part.trouble(value[_key(key)])
            if trouble is not None:
                return trouble[0], f"For {key!r}: {trouble[1]}"
        return None
