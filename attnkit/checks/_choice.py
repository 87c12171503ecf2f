"""Exercises whose answer is a set of letters."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from attnkit.checks import _failures
from attnkit.checks._engine import Arrays, Misconception
from attnkit.checks._letters import read_letters
from attnkit.checks._recording import (
    CALL_SECONDS,
    given_back,
    read_text,
    text_array,
    time_limit,
    type_name,
)
from attnkit.checks._silence import quiet
from attnkit.checks._verdict import Verdict

#: A letter that stands for an option in the message of a slip.
_MARKED = re.compile(r"\{([A-Z])\}")


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
    """A wrong choice with a name: one letter too many or missing, or a rule for the whole set.

    ``letter`` and the letters that a rule compares are those of the book. A letter in the message
    stands in braces, "begin with {E}", so that it can follow its option in a varied copy.
    """

    letter: str = ""
    rule: Callable[[frozenset[str], frozenset[str]], bool] | None = None

    @property
    def text(self) -> str:
        return _MARKED.sub(r"\1", self.message)

    def lettered(self, letters: Mapping[str, str]) -> Slip:
        """The same slip where the options have other letters: book's letter → letter there."""
        message = _MARKED.sub(lambda found: f"{{{letters.get(found[1], found[1])}}}", self.message)
        rule, of_book = self.rule, {new: old for old, new in letters.items()}

        def as_in_the_book(chosen: frozenset[str], right: frozenset[str]) -> bool:
            sets = (frozenset(of_book[letter] for letter in some) for some in (chosen, right))
            return rule is not None and rule(*sets)

        return replace(
            self, message=message, letter=letters.get(self.letter, ""),
            rule=None if rule is None else as_in_the_book,
        )  # fmt: skip

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
    letters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.letters:
            book = {option.letter: option.letter for option in self.options}
            object.__setattr__(self, "letters", book)

    @property
    def given(self) -> dict[str, object]:
        """Empty, since what varies are the letters."""
        return {}

    def varied(self, code: str) -> ChoiceExercise:
        """The exercise with its options in the order of one copy, lettered anew from A on.

        ``letters`` maps the book's letters to those of the copy.

        Raises:
            ValueError: for an exercise that is varied already.
        """
        if any(old != new for old, new in self.letters.items()):
            raise ValueError(f"{self.id} is varied already: vary the book's own")
        if not code:
            return self
        order, rng = list(self.options), random.Random(f"{self.id}/{code}")
        # random() is the one method whose sequence Python promises to keep.
        for last in range(len(order) - 1, 0, -1):
            other = int(rng.random() * (last + 1))
            order[last], order[other] = order[other], order[last]
        names = [option.letter for option in self.options]
        letters = {option.letter: name for option, name in zip(order, names, strict=True)}
        return replace(
            self,
            options=tuple(replace(option, letter=letters[option.letter]) for option in order),
            misconceptions=tuple(slip.lettered(letters) for slip in self.misconceptions),
            letters={name: letters[name] for name in names},
        )

    @cached_property
    def key(self) -> frozenset[str]:
        """The letters of the right answer."""
        return frozenset(option.letter for option in self.options if option.right)

    def probe(self, answer: object) -> dict[str, np.ndarray]:
        """Record which letters the answer names, and what else it holds."""
        known = [option.letter for option in self.options]
        try:
            with given_back(), quiet(), time_limit(CALL_SECONDS):
                letters, strange = read_letters(answer, known)
        except KeyboardInterrupt:
            raise
        except BaseException:
            letters, strange = None, []
        if letters is None:
            return {"answer/record": text_array({"status": "type", "type": type_name(answer)})}
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
        fits = (slip for slip in self.misconceptions if slip.fits(chosen, self.key))
        slip = next(fits, Slip("wrong", "These are not the letters.", self.link))
        return self._explain(slip, chosen)

    def _explain(self, slip: Slip, chosen: frozenset[str]) -> Verdict:
        wrong = chosen ^ self.key
        letter = slip.letter or min(wrong)
        example, found = next(o for o in self.options if o.letter == letter).shown()
        more = len(wrong) - 1
        message = slip.text
        if slip.letter and more:
            message += f" ({more} more of your choices {'needs' if more == 1 else 'need'} a look.)"
        return self._verdict(
            slip.name, message, slip.link, {f"option {letter}": self._text(letter), **example},
            found, {f"option {letter}": "chosen" if letter in chosen else "not chosen"},
        )  # fmt: skip

    def _text(self, letter: str) -> str:
        return next(option.text for option in self.options if option.letter == letter)

    def _verdict(self, name: str, message: str, link: str = "", *parts: Mapping) -> Verdict:
        return _failures.of_parts(self, name, message, link, *parts)
