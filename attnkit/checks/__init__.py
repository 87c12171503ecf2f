"""Checks of the exercises: they say not only *that* an answer is wrong but what lies behind it.

``check`` is what a chapter calls. It is made of two halves: ``probe`` calls the answer in the
student's process and writes everything down as plain arrays; ``diagnose`` reads the arrays, and
needs neither the student's code nor the student's process. In between they may travel as
safetensors (``to_bytes``, ``from_bytes``).

>>> def score_variance(d_key, std):
...     return d_key * std**2
>>> check("ch3-variance", score_variance).name
'std-taken-for-variance'

There are four kinds of exercise. The answer is a function (:class:`FunctionExercise`), a set of
letters (:class:`ChoiceExercise`), numbers found by hand (:class:`NumbersExercise`) or an experiment
(:class:`ExperimentExercise`). Each ``chapterNN_topic`` module lists its exercises in ``EXERCISES``;
a new file is all that a new chapter needs. An instructor's own questions are files of the same
form in a folder of their own (:func:`load_bank`, with a complete one). A copy of an exercise whose
data differ from the book's has a code, ``variation``.

A call runs at most three seconds, one of an experiment as long as its exercise says, where the
system has a Unix timer and the check runs in the main thread; elsewhere an endless loop has to be
interrupted by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from attnkit.checks._bank import BankError
from attnkit.checks._choice import ChoiceExercise, Finding, Option, Slip, Statement, measured
from attnkit.checks._engine import FunctionExercise, Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._failures import COMMON
from attnkit.checks._kinds import AnyExercise
from attnkit.checks._numbers import NumbersExercise
from attnkit.checks._predictions import Between, Each, OneOf
from attnkit.checks._registry import book as _exercises  # noqa: F401 (the tests' name for it)
from attnkit.checks._registry import exercise, exercise_ids, known, load_bank
from attnkit.checks._verdict import Verdict

__all__ = [
    "AnyExercise",
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


def misconceptions() -> tuple[MisconceptionRow, ...]:
    """Every named wrong answer of every exercise, those of banks included.

    Raises:
        BankError: for a bank of the environment that cannot be loaded.
    """
    return tuple(
        MisconceptionRow(some.id, wrong.name, wrong.text, wrong.link)
        for some in known().values()
        for wrong in some.misconceptions
    )


def common_failures() -> dict[str, str]:
    """Names and messages of the failures that any exercise can have."""
    return dict(COMMON)
