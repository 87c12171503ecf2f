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
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attnkit.checks._bank import BankError, banks_of_environment, read_bank
from attnkit.checks._choice import ChoiceExercise, Finding, Option, Slip, Statement, measured
from attnkit.checks._engine import AnyExercise, FunctionExercise, Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._failures import COMMON
from attnkit.checks._numbers import NumbersExercise
from attnkit.checks._predictions import Between, Each, OneOf
from attnkit.checks._verdict import Verdict

__all__ = [
    "BankError",
    "Between",
    "ChoiceExercise",
    "Each",
    "ExperimentExercise",
    "Finding",
    "FunctionExercise",
    "Misconception",
    "MisconceptionRow",
    "NumbersExercise",
    "OneOf",
    "Option",
    "Seen",
    "Slip",
    "Statement",
    "Trial",
    "Verdict",
    "check",
    "common_failures",
    "diagnose",
    "exercise",
    "exercise_ids",
    "from_bytes",
    "load_bank",
    "measured",
    "misconceptions",
    "probe",
    "to_bytes",
]

#: Exercises of banks by the folder that they come from.
_BANKS: dict[Path, dict[str, AnyExercise]] = {}


class MisconceptionRow(NamedTuple):
    """A named wrong answer: exercise id, name, message, and the label of the section to read."""

    id: str
    name: str
    message: str
    link: str


def check(id: str, answer: object, *, variation: str = "") -> Verdict:
    """Probe and diagnose an answer: what it must be is for the exercise to say.

    A wrong answer gives a :class:`Verdict` that says so; nothing is raised, whatever the answer
    does, except KeyboardInterrupt. ``variation`` is the code of a copy whose data differ from the
    book's.

    Raises:
        ValueError: for an id that no exercise has.
    """
    return diagnose(id, probe(id, answer, variation=variation), variation=variation)


def probe(id: str, answer: object, *, variation: str = "") -> dict[str, np.ndarray]:
    """Call an answer on the inputs of its exercise and record what it does, as numeric arrays.

    What it prints is swallowed, its arguments are copies, and random states are given back.

    Raises:
        ValueError: for an id that no exercise has.
    """
    return exercise(id, variation).probe(answer)


def diagnose(id: str, arrays: Mapping[str, np.ndarray], *, variation: str = "") -> Verdict:
    """Say what recorded arrays show: a pure function that runs no code of the student's.

    Raises:
        ValueError: for an id that no exercise has.
    """
    return exercise(id, variation).diagnose(arrays)


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
    """The ids that ``check`` knows, in the order of the chapters; those of banks come last."""
    return list(_known())


def misconceptions() -> tuple[MisconceptionRow, ...]:
    """Every named wrong answer of every exercise."""
    return tuple(
        MisconceptionRow(exercise.id, wrong.name, wrong.text, wrong.link)
        for exercise in _known().values()
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


def _known() -> dict[str, AnyExercise]:
    """The book's exercises and those of all banks, the environment's included."""
    for folder in banks_of_environment():
        if folder not in _BANKS:
            load_bank(folder)
    known = dict(_exercises())
    for bank in _BANKS.values():
        known |= bank
    return known


def exercise(id: str, variation: str = "") -> AnyExercise:
    """The exercise with this id, with the data of one copy where ``variation`` names one.

    ``exercise(id, code).given`` holds the values of that copy by name, and ``letters`` of a
    :class:`ChoiceExercise` which letter each of the book's letters has become.

    Raises:
        ValueError: for an id that no exercise has, and for a bank that cannot be loaded.
        TypeError: for a variation that is not text.
    """
    if not isinstance(variation, str):
        raise TypeError(f"variation is a code, a text; got {type(variation).__name__}")
    # The book's own exercises do not depend on a bank that may be broken.
    known = _exercises() if id in _exercises() else _known()
    if id in known:
        return known[id].varied(variation)
    near = get_close_matches(str(id), known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"no exercise has the id {id!r}.{hint} Known ids: {', '.join(known)}")


def load_bank(folder: str | Path) -> list[str]:
    """Register the exercises of an instructor's own files; return their ids.

    Every ``*.py`` file of the folder that assigns ``EXERCISES`` is run, by its path: ``sys.path``
    and the modules of the caller stay as they are. Loading a folder again replaces what came from
    it. Folders named in the environment variable ``ATTNKIT_BANK`` (with ``os.pathsep`` between
    them) are loaded when an id is asked for that the book does not have.

    Raises:
        BankError: for a folder that does not exist, a file that does not run, an ``EXERCISES``
            that holds something else, and an id that exists already. Then nothing is registered.
    """
    path = Path(folder).resolve()
    taken = {id: "the book" for id in _exercises()}
    for other, bank in _BANKS.items():
        taken |= {id: str(other) for id in bank if other != path}
    _BANKS[path] = read_bank(path, taken)
    return list(_BANKS[path])
