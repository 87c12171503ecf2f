"""Checks of the exercises: they say not only *that* an answer is wrong but what lies behind it.

``check`` is what a chapter calls. It is made of two halves: ``probe`` calls the answer in the
student's process and writes everything down as plain arrays; ``diagnose`` reads the arrays, and
needs neither the student's code nor the student's process. In between they may travel as
safetensors (``to_bytes``, ``from_bytes``).

>>> def score_variance(d_key, std):
...     return d_key * std**2
>>> check("ch3-variance", score_variance).name
'std-taken-for-variance'

Each ``chapterNN_topic`` module lists its exercises in ``EXERCISES``; a new file is all that a new
chapter needs. A call runs at most three seconds where the system has a Unix timer and the check
runs in the main thread; elsewhere an endless loop has to be interrupted by hand.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import NamedTuple

import numpy as np

from attnkit.checks._engine import AnyExercise
from attnkit.checks._failures import COMMON
from attnkit.checks._verdict import Verdict

__all__ = [
    "MisconceptionRow",
    "Verdict",
    "check",
    "common_failures",
    "diagnose",
    "exercise_ids",
    "from_bytes",
    "misconceptions",
    "probe",
    "to_bytes",
]


class MisconceptionRow(NamedTuple):
    """A named wrong answer: exercise id, name, message, and the label of the section to read."""

    id: str
    name: str
    message: str
    link: str


def check(id: str, answer: object) -> Verdict:
    """Probe and diagnose an answer: a function, or letters, as the exercise wants it.

    A wrong answer gives a :class:`Verdict` that says so; nothing is raised, whatever the answer
    does, except KeyboardInterrupt.

    Raises:
        ValueError: for an id that no exercise has.
    """
    return diagnose(id, probe(id, answer))


def probe(id: str, answer: object) -> dict[str, np.ndarray]:
    """Call an answer on the inputs of its exercise and record what it does, as numeric arrays.

    What it prints is swallowed, its arguments are copies, and random states are given back.

    Raises:
        ValueError: for an id that no exercise has.
    """
    return _exercise(id).probe(answer)


def diagnose(id: str, arrays: Mapping[str, np.ndarray]) -> Verdict:
    """Say what recorded arrays show: a pure function that runs no code of the student's.

    Raises:
        ValueError: for an id that no exercise has.
    """
    return _exercise(id).diagnose(arrays)


def to_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Recorded arrays as a safetensors file in memory."""
    from safetensors.numpy import save

    return save(dict(arrays))


def from_bytes(data: bytes) -> dict[str, np.ndarray]:
    """The arrays of :func:`to_bytes`.

    Raises:
        ValueError: when the bytes are no safetensors file.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return load(data)
    except (SafetensorError, KeyError, TypeError) as error:
        message = f"expected the bytes of to_bytes(probe(...)), got {len(data)} bytes: {error}"
        raise ValueError(message) from error


def exercise_ids() -> list[str]:
    """The ids that ``check`` knows, in the order of the chapters."""
    return list(_exercises())


def misconceptions() -> tuple[MisconceptionRow, ...]:
    """Every named wrong answer of every exercise."""
    return tuple(
        MisconceptionRow(exercise.id, wrong.name, wrong.message, wrong.link)
        for exercise in _exercises().values()
        for wrong in exercise.misconceptions
    )


def common_failures() -> dict[str, str]:
    """Names and messages of the failures that any exercise can have."""
    return dict(COMMON)


@cache
def _exercises() -> dict[str, AnyExercise]:
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name[:1] != "_")
    found = [e for name in names for e in import_module(f"{__name__}.{name}").EXERCISES]
    by_id = {exercise.id: exercise for exercise in found}
    assert len(by_id) == len(found), "two exercises have the same id"
    return by_id


def _exercise(id: str) -> AnyExercise:
    known = _exercises()
    if id in known:
        return known[id]
    near = get_close_matches(str(id), known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"no exercise has the id {id!r}.{hint} Known ids: {', '.join(known)}")
