"""Exercises done by hand: the answer is numbers, and the given values may differ by copy."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from attnkit.checks import _failures, _recording
from attnkit.checks._compare import fitted, named
from attnkit.checks._engine import Arrays, Misconception, Seen, Trial
from attnkit.checks._number_failures import without_a_name, without_numbers
from attnkit.checks._read_numbers import read_numbers
from attnkit.checks._recording import (
    given_back,
    read_text,
    text_array,
    time_limit,
    type_name,
)
from attnkit.checks._silence import quiet
from attnkit.checks._verdict import Verdict

#: So many draws are tried before an author is told that the wrong answers cannot be kept apart.
DRAWS = 500
#: What a wrong answer of an author's may raise on given values for which it makes no sense.
_NO_RESULT = (ValueError, ArithmeticError, LookupError, TypeError)

Results = dict[str, np.ndarray]


@dataclass(frozen=True)
class NumbersExercise:
    """An exercise done by hand: the answer is a number, or several.

    Several come as a list, tuple or array in the order of ``results``, or as a dict by name. Every
    number may be off by ``tolerance``: what two decimals allow. ``right(**given)`` computes the
    answer, the ``wrong`` functions of the misconceptions take the same arguments.

    ``given`` holds the values that the book prints, plain Python numbers, texts, tuples or lists.
    ``draw(rng)`` returns others of the same names for a copy of the exercise: values for which two
    wrong answers, or a wrong one and the right one, cannot be told apart are drawn again.
    """

    id: str
    title: str
    link: str
    sections: Mapping[str, str]
    given: Mapping[str, object]
    draw: Callable[[random.Random], Mapping[str, object]]
    results: tuple[str, ...]
    right: Callable
    misconceptions: tuple[Misconception, ...]
    tolerance: float = 0.01
    code: str = ""
    book: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        strange = [name for name, value in self.given.items() if not _is_plain(value)]
        if strange:
            raise ValueError(
                f"{self.id}: {', '.join(strange)} of the given values must be written into a "
                "notebook: use numbers, texts, tuples and lists, not arrays"
            )

    def varied(self, code: str) -> NumbersExercise:
        """The exercise with the values of one copy; the book's own for the code "".

        Raises:
            ValueError: when no draw keeps right and wrong answers apart.
        """
        book = self.given if self.book is None else self.book
        if code == self.code:
            return self
        if not code:
            return replace(self, given=book, code="", book=None)
        rng, clash = random.Random(f"{self.id}/{code}"), ""
        for _ in range(DRAWS):
            given = self.draw(rng)
            if set(given) != set(book):
                raise ValueError(f"{self.id}: draw gives {list(given)}, expected {list(book)}")
            copy = replace(self, given={k: given[k] for k in book}, code=code, book=book)
            clash = copy.clash()
            if not clash:
                return copy
        raise ValueError(f"{self.id}: in {DRAWS} draws {clash}. Draw from more values, or others.")

    def clash(self) -> str:
        """Which two answers are the same within the tolerance, in words; empty when none."""
        before: list[tuple[str, Results]] = []
        for name, outcome in self._rivals():
            if outcome is None or not all(np.isfinite(array).all() for array in outcome.values()):
                return f"{name!r} has no finite result"
            for other, another in before:
                if name != other and not _apart(outcome, another, 2 * self.tolerance):
                    return f"{other!r} and {name!r} have the same result"
            before.append((name, outcome))
        return ""

    def _rivals(self) -> Iterator[tuple[str, Results | None]]:
        yield "right", self.outcome(self.right)
        if self.book is not None:
            yield "right in the book", self.outcome(self.right, self.book)
        for wrong in self.misconceptions:
            for form in wrong.wrong:
                yield wrong.name, self.outcome(form)

    def outcome(self, function: Callable, given: Mapping | None = None) -> Results | None:
        """What a function gives for the given values, by name; None when they make no sense."""
        try:
            with np.errstate(all="ignore"):
                outcome = function(**(self.given if given is None else given))
            return {k: np.asarray(a, dtype=float) for k, a in named(outcome, self.results).items()}
        except _NO_RESULT:
            return None

    def probe(self, answer: object) -> dict[str, np.ndarray]:
        """Record the numbers of the answer, or why there are none."""
        try:
            with given_back(), quiet(), time_limit(_recording.CALL_SECONDS):
                record, arrays = read_numbers(answer, self.results)
        except KeyboardInterrupt:
            raise
        except BaseException:
            record, arrays = {"status": "type", "type": type_name(answer)}, {}
        return {"answer/record": text_array(record)} | {
            f"answer/{name}": array for name, array in arrays.items()
        }

    def diagnose(self, arrays: Arrays) -> Verdict:
        """Turn recorded numbers into a verdict."""
        try:
            record = read_text(arrays["answer/record"])
            if record.get("status") != "numbers":
                return without_numbers(self, record)
            got = {name: np.asarray(arrays[f"answer/{name}"]) for name in self.results}
            if any(array.dtype.kind not in "biuf" for array in got.values()):
                raise ValueError("not numbers")
        except (KeyError, ValueError, TypeError, AttributeError):
            return _failures.unreadable(self)
        got = {name: array.astype(np.float64) for name, array in got.items()}
        right = self.outcome(self.right)
        assert right is not None, f"{self.id}: right has no result for {self.given}"
        if self.near(got, right):
            return Verdict(self.id, True, "right", f"Right, within {self.tolerance:g}.")
        for wrong in self.misconceptions:
            form = self._form(wrong, got, right)
            if form is not None:
                return self._named(wrong, form, got)
        return without_a_name(self, got, right)

    def near(self, got: Arrays, wanted: Results | None) -> bool:
        """Whether all numbers are these, within the tolerance."""
        if wanted is None:
            return False
        return not _apart(wanted, got, self.tolerance)

    def _form(self, wrong: Misconception, got: Results, right: Results) -> Callable | None:
        """The function of a misconception that gives these numbers."""
        fits = (form for form in wrong.wrong if self.near(got, self.outcome(form)))
        if wrong.when is None:
            return next(fits, None)
        seen = Seen(Trial("given", self.given), {"status": "returned"}, got, right)
        return next(fits, self.right) if wrong.when([seen]) else None

    @cached_property
    def _another_case(self) -> NumbersExercise | None:
        cases = (self.varied(f"{self.code}/shown {n}") for n in range(20))
        return next((case for case in cases if case.given != self.given), None)

    def _named(self, wrong: Misconception, form: Callable, got: Results) -> Verdict:
        """Shows the mistake on other values: the right numbers stay for the learner to find."""
        case, parts = self._another_case, (self.given, {}, got)
        if case is not None and form is not self.right:
            example = {f"{name} (another case)": value for name, value in case.given.items()}
            parts = example, case.outcome(case.right) or {}, case.outcome(form) or {}
        return _failures.of_parts(self, wrong.name, wrong.text, wrong.link, *parts)


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple | list):
        return all(_is_plain(entry) for entry in value)
    return type(value) in (bool, int, float, str)


def _apart(one: Results, other: Arrays, distance: float) -> bool:
    """Whether a number is farther off than this, or of another shape, or none at all."""
    for name, array in one.items():
        fit = fitted(other[name], array.shape)
        # Not "some are farther": nan is neither near nor far.
        if fit is None:
            return True
        with np.errstate(all="ignore"):
            near = np.abs(fit - array) <= distance + 1e-9 + 1e-6 * np.abs(array)
        if not near.all():
            return True
    return False
