"""Which exercises there are: those of the chapters and those of an instructor's own bank."""

from __future__ import annotations

import os
import pkgutil
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path

from attnkit.checks._bank import banks_of_environment, read_bank
from attnkit.checks._kinds import AnyExercise

#: Exercises of banks by the folder that they come from.
_BANKS: dict[Path, dict[str, AnyExercise]] = {}


@cache
def book() -> dict[str, AnyExercise]:
    """The exercises of the chapters by id."""
    names = sorted(
        m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if m.name[:1] != "_"
    )
    found = [e for name in names for e in import_module(f"attnkit.checks.{name}").EXERCISES]
    by_id = {exercise.id: exercise for exercise in found}
    assert len(by_id) == len(found), "two exercises have the same id"
    return by_id


def exercise_ids() -> list[str]:
    """The ids that ``check`` knows, in the order of the chapters; those of banks come last."""
    return list(known())


def known() -> dict[str, AnyExercise]:
    """The book's exercises and those of all banks, the environment's included."""
    for folder in banks_of_environment():
        if folder not in _BANKS:
            load_bank(folder)
    found = dict(book())
    for bank in _BANKS.values():
        found |= bank
    return found


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
    ids = book() if id in book() else known()
    if id in ids:
        return ids[id].varied(variation)
    near = get_close_matches(str(id), ids, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"no exercise has the id {id!r}.{hint} Known ids: {', '.join(ids)}")


def load_bank(folder: str | os.PathLike[str]) -> list[str]:
    """Register the exercises of an instructor's own files; return their ids.

    Every ``*.py`` file of the folder that assigns ``EXERCISES`` is run, by its path: ``sys.path``
    and the modules of the caller stay as they are, so that a file cannot import its neighbours. An
    id has letters, digits, - and _. Loading a folder again replaces what came from
    it. Folders named in the environment variable ``ATTNKIT_BANK`` (with ``os.pathsep`` between
    them) are loaded when an id is asked for that the book does not have.

    A complete file: one question, by hand, with two wrong answers that have a name.

    >>> from attnkit.checks import Misconception, NumbersExercise
    >>> TOTAL = NumbersExercise(
    ...     id="mine-average",
    ...     title="What attention returns",
    ...     link="ch3-soft-lookup",
    ...     sections={"ch3-soft-lookup": "a lookup that averages"},
    ...     given={"weights": (0.2, 0.8), "values": (10, 20)},
    ...     draw=lambda rng: {
    ...         "weights": rng.choice([(0.1, 0.9), (0.3, 0.7), (0.6, 0.4)]),
    ...         "values": (rng.randint(1, 9), rng.randint(11, 30)),
    ...     },
    ...     results=("output",),
    ...     right=lambda weights, values: sum(w * v for w, v in zip(weights, values)),
    ...     misconceptions=(
    ...         Misconception(
    ...             "hard-lookup",
    ...             "This is the value with the largest weight. Attention mixes all values.",
    ...             "ch3-soft-lookup",
    ...             wrong=(lambda weights, values: values[weights.index(max(weights))],),
    ...         ),
    ...         Misconception(
    ...             "weights-ignored",
    ...             "This is the plain mean: each value counts by its weight.",
    ...             "ch3-soft-lookup",
    ...             wrong=(lambda weights, values: sum(values) / 2,),
    ...         ),
    ...     ),
    ... )
    >>> EXERCISES = (TOTAL,)

    Before it goes to a class: the right answer passes, each wrong one has its name, no two of them
    give the same number (``clash`` says which do), and a copy has values of its own.

    >>> TOTAL.diagnose(TOTAL.probe(18)).name, TOTAL.diagnose(TOTAL.probe(15)).name
    ('right', 'weights-ignored')
    >>> TOTAL.clash()
    ''
    >>> TOTAL.varied("a copy").given
    {'weights': (0.3, 0.7), 'values': (1, 28)}

    Raises:
        BankError: for a folder that does not exist, a file that does not run, an ``EXERCISES``
            that holds something else, and an id that exists already. Nothing is registered then.
    """
    path = Path(folder).resolve()
    taken = {id: "the book" for id in book()}
    for other, bank in _BANKS.items():
        taken |= {id: str(other) for id in bank if other != path}
    _BANKS[path] = read_bank(path, taken)
    return list(_BANKS[path])
