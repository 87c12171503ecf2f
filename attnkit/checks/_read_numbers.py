"""Numbers as a learner writes them down, read as arrays by the names of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnkit.checks._recording import TooLarge, as_array, type_name

_MISSING = object()


def read_numbers(answer: object, names: Sequence[str]) -> tuple[dict, dict[str, np.ndarray]]:
    """What the answer is, as a small record, and its numbers as arrays when there are all.

    The record's status is "numbers", "not-yet" (None, ``...``, empty), "count", "text", "type" or
    "size".
    """
    if is_missing(answer):
        return {"status": "not-yet"}, {}
    parts = _parts(answer, names)
    if parts is None:
        return _strange(answer, "The answer"), {}
    if isinstance(parts, int):
        return {"status": "count", "count": parts}, {}
    there = {name: part for name, part in parts.items() if not is_missing(part)}
    if len(there) < len(names):
        return {"status": "count", "count": len(there)}, {}
    arrays = {}
    for name, part in there.items():
        try:
            arrays[name] = as_array(part)
        except TooLarge as error:
            return {"status": "size", "shape": error.shape, "result": name}, {}
        except (TypeError, ValueError, RuntimeError):
            return _strange(part, name), {}
    return {"status": "numbers"}, arrays


def is_missing(value: object) -> bool:
    """None, ``...``, blank text, an empty list, or a list of nothing but these."""
    if value is None or value is ... or value is _MISSING:
        return True
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, list | tuple | dict | set):
        entries = value.values() if isinstance(value, dict) else value
        return all(is_missing(entry) for entry in entries)
    return False


def _parts(answer: object, names: Sequence[str]) -> dict[str, object] | int | None:
    """The answer's parts by name, or how many there are; None when it has none."""
    if isinstance(answer, Mapping):
        by_key = {_plain(key): value for key, value in answer.items()}
        return {name: by_key.get(_plain(name), _MISSING) for name in names}
    if len(names) == 1:
        return {names[0]: answer}
    if isinstance(answer, str | bytes | set | frozenset):
        return None
    if isinstance(answer, list | tuple):
        while len(answer) == 1 and isinstance(answer[0], list | tuple):
            answer = answer[0]
        entries = list(answer)
    else:
        try:
            array = as_array(answer)
        except (TypeError, ValueError, RuntimeError):
            return None
        while array.ndim > 1 and len(array) == 1:
            array = array[0]
        entries = list(array) if array.ndim else [array]
    if len(entries) != len(names):
        return len(entries)
    return dict(zip(names, entries, strict=True))


def _plain(key: object) -> str:
    return str(key).strip().casefold().replace(" ", "_")


def _strange(part: object, name: str) -> dict:
    texts = [part] if isinstance(part, str) else part if isinstance(part, list | tuple) else []
    status = "text" if any(isinstance(entry, str) for entry in texts) else "type"
    return {"status": status, "type": type_name(part), "result": name}
