"""Exercises whose answer is a set of letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np

from attnkit.checks import _failures
from attnkit.checks._engine import Arrays, Misconception
from attnkit.checks._recording import (
    CALL_SECONDS,
    given_back,
    quiet,
    read_text,
    text_array,
    time_limit,
)
from attnkit.checks._verdict import Verdict


@dataclass(frozen=True)
class Option:
    """A letter, what it says, and a small case: input, then two results that must be equal.

    ``case()`` returns (example, before, after); the option belongs to the right answer when
    before equals after, so the key of the exercise is computed, not typed.
    """

    letter: str
    text: str
    case: Callable[[], tuple[Mapping[str, object], np.ndarray, np.ndarray]]

    @property
    def right(self) -> bool:
        _, before, after = self.case()
        return before.shape == after.shape and bool(np.allclose(before, after))

    def shown(self) -> tuple[Mapping[str, object], Mapping[str, object]]:
        """The example of the option and what it gives."""
        example, before, after = self.case()
        return example, {"weights before": before, "weights after": after}


class Finding(NamedTuple):
    """Whether a statement holds, an example, and what it shows: arrays, or words for a text."""

    holds: bool
    example: Mapping[str, object]
    found: Mapping[str, object]


@dataclass(frozen=True)
class Statement:
    """A letter, what it states, and what speaks for it or against it.

    It belongs to the right answer when ``look().holds``: computed on a small example where one can
    show it, and from the chapter's measurements, in words, where none can (:func:`measured`).
    """

    letter: str
    text: str
    look: Callable[[], Finding]

    @property
    def right(self) -> bool:
        return self.look().holds

    def shown(self) -> tuple[Mapping[str, object], Mapping[str, object]]:
        """The example of the statement and what it shows."""
        finding = self.look()
        return finding.example, finding.found


def measured(holds: bool, what: str) -> Callable[[], Finding]:
    """For a statement that a measurement of the chapter decides: ``what`` sums it up in words."""
    return lambda: Finding(holds, {}, {"measured": what})


@dataclass(frozen=True)
class Slip(Misconception):
    """A wrong choice with a name: one letter too many or missing, or a rule for the whole set."""

    letter: str = ""
    rule: Callable[[frozenset[str], frozenset[str]], bool] | None = None

    def fits(self, chosen: frozenset[str], right: frozenset[str]) -> bool:
        if self.rule is not None:
            return self.rule(chosen, right)
        return (self.letter in chosen) != (self.letter in right)


@dataclass(frozen=True)
class ChoiceExercise:
    """An exercise with lettered options. The answer: a set, list or tuple of letters, or a string.

    The first of ``misconceptions`` that fits the chosen letters names the answer.
    """

    id: str
    title: str
    link: str
    options: tuple[Option | Statement, ...]
    misconceptions: tuple[Slip, ...]
    sections: Mapping[str, str]

    @cached_property
    def key(self) -> frozenset[str]:
        """The letters of the right answer."""
        return frozenset(option.letter for option in self.options if option.right)

    def probe(self, answer: object) -> dict[str, np.ndarray]:
        """Record which letters the answer names, and what else it holds."""
        known = [option.letter for option in self.options]
        try:
            with given_back(), quiet(), time_limit(CALL_SECONDS):
                letters, strange = _letters(answer, known)
        except KeyboardInterrupt:
            raise
        except BaseException:
            letters, strange = None, []
        if letters is None:
            return {"answer/record": text_array({"status": "type", "type": type(answer).__name__})}
        flags = np.array([letter in letters for letter in known], dtype=np.uint8)
        record = {"status": "chosen", "strange": strange[:5]}
        return {"answer/record": text_array(record), "answer/letters": flags}

    def diagnose(self, arrays: Arrays) -> Verdict:
        """Turn recorded letters into a verdict."""
        letters = "".join(option.letter for option in self.options)
        try:
            record = read_text(arrays["answer/record"])
            if record.get("status") == "type":
                message = (
                    f"The answer is a set of letters, for example {{'A', 'B'}}, and this is "
                    f"{record.get('type')}."
                )
                return self._verdict("wrong-type", message)
            flags = np.asarray(arrays["answer/letters"])
            if flags.shape != (len(letters),) or not isinstance(record["strange"], list):
                raise ValueError("not a record of a choice")
        except (KeyError, ValueError, TypeError):
            return self._verdict("unreadable-record", _failures.COMMON["unreadable-record"])
        if record["strange"]:
            named = ", ".join(str(item) for item in record["strange"])
            message = _failures.COMMON["not-an-option"].format(
                strange=named, letters=", ".join(letters)
            )
            return self._verdict("not-an-option", message)
        chosen = frozenset(letter for letter, flag in zip(letters, flags, strict=True) if flag)
        if not chosen:
            return self._verdict("not-written-yet", "There is no answer yet: choose your letters.")
        if chosen == self.key:
            return Verdict(self.id, True, "right", "Right: these letters and no other.")
        slip = next(slip for slip in self.misconceptions if slip.fits(chosen, self.key))
        return self._explain(slip, chosen)

    def _explain(self, slip: Slip, chosen: frozenset[str]) -> Verdict:
        wrong = chosen ^ self.key
        letter = slip.letter or min(wrong)
        example, found = next(o for o in self.options if o.letter == letter).shown()
        more = len(wrong) - 1
        message = slip.message
        if slip.letter and more:
            message += f" ({more} more of your choices {'needs' if more == 1 else 'need'} a look.)"
        return self._verdict(
            slip.name, message, slip.link, {f"option {letter}": self._text(letter), **example},
            found, {f"option {letter}": "chosen" if letter in chosen else "not chosen"},
        )  # fmt: skip

    def _text(self, letter: str) -> str:
        return next(option.text for option in self.options if option.letter == letter)

    def _verdict(self, name: str, message: str, link: str = "", *parts: Mapping) -> Verdict:
        link = link or self.link
        example, expected, got = parts or ({}, {}, {})
        return Verdict(
            self.id, False, name, message, example, expected, got, link,
            self.sections.get(link, link),
        )  # fmt: skip


def _letters(answer: object, known: list[str]) -> tuple[set[str] | None, list[str]]:
    """Letters that the answer names and words that are none; None for an answer of no use.

    "A, C", "A and C", "ac", {"A", "C"}, ["a)", "c)"] and {"A": True, "B": False, "C": True} all
    mean the same. "A-C" may mean two letters or three, and is none.
    """
    if isinstance(answer, Mapping) and all(isinstance(v, bool) for v in answer.values()):
        answer = [letter for letter, chosen in answer.items() if chosen]
    if answer is None or answer is ...:
        return set(), []
    if isinstance(answer, bytes) or not isinstance(answer, Iterable):
        return None, []
    items = [answer[:1000]] if isinstance(answer, str) else list(islice(answer, 100))
    if not all(isinstance(item, str) for item in items):
        return None, []
    letters, strange = set(), []
    for word in re.findall(
        r"\w+(?:[ \t]*[-\u2013\u2014\u2026][ \t]*\w+)+|\w+", " ".join(items).upper()
    ):
        if set(word) <= set(known):
            letters |= set(word)
        elif word != "AND":
            strange.append(word[:20])
    return letters, strange
