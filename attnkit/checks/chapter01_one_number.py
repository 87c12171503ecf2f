"""Exercise ch1-one-number: a state that is one number, what it holds, and the gradient it lets by.

With a tenth kept at each step the digits stand side by side in the state: all of them can be read
off it, and yet hardly any gradient reaches the first. Small gradient and lost are two things.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from attnkit.checks._engine import Misconception
from attnkit.checks._numbers import NumbersExercise
from attnkit.checks.chapter01_claims import SECTIONS

Digits = Sequence[int]
Numbers = tuple[float, float, float]


def _state(digits: Digits, keep: float) -> float:
    state = 0.0
    for digit in digits:
        state = keep * state + digit
    return state


def _places(digits: Digits, told: float) -> list[int]:
    """The digits behind the state that is told, the one read last first."""
    shifted = round(told * 10 ** (len(digits) - 1))
    return [int(place) for place in str(shifted)]


def _right(keep: float, read: Digits, told: float) -> Numbers:
    return _state(read, keep), keep ** (len(read) - 1), _places(read, told)[-1]


def _but(
    state: Callable[[Digits, float], float] | None = None,
    left: Callable[[Digits, float], float] | None = None,
    first: Callable[[list[int], float], float] | None = None,
) -> Callable[..., Numbers]:
    """The right numbers with some of them replaced."""

    def wrong(keep: float, read: Digits, told: float) -> Numbers:
        right = _right(keep, read, told)
        return (
            state(read, keep) if state else right[0],
            left(read, keep) if left else right[1],
            first(_places(read, told), keep) if first else right[2],
        )

    return wrong


def _all_shrunk_once(digits: Digits, keep: float) -> float:
    return digits[-1] + keep * sum(digits[:-1])


def _added_up(digits: Digits, keep: float) -> float:
    steps = range(len(digits) - 1, 0, -1)
    return digits[-1] + sum(keep * n * digit for n, digit in zip(steps, digits, strict=False))


def _only_one_before(digits: Digits, keep: float) -> float:
    return keep * digits[-2] + digits[-1]


def _backwards(digits: Digits, keep: float) -> float:
    return _state(digits[::-1], keep)


def _inputs_shrunk(digits: Digits, keep: float) -> float:
    """The share is taken of what is read, and the old state stays whole."""
    return keep * sum(digits)


def _draw(rng: random.Random) -> dict[str, object]:
    n = rng.choice((3, 4))
    told = "".join(map(str, rng.sample(range(2, 10), n)))
    read = tuple(rng.sample(range(2, 10), n))
    return {"keep": 0.1, "read": read, "told": float(f"{told[0]}.{told[1:]}")}


ONE_NUMBER = NumbersExercise(
    id="ch1-one-number",
    title="A state of one number",
    link="ch1-gradient",
    sections=SECTIONS,
    given={"keep": 0.1, "read": (2, 7, 5), "told": 4.96},
    draw=_draw,
    results=("state", "left", "first"),
    right=_right,
    tolerance=0.0004,
    misconceptions=(
        Misconception(
            "nothing-shrinks",
            "This is the sum of the digits. At every step the old state is multiplied by keep "
            "before the new digit is added.",
            "ch1-models",
            (
                _but(lambda digits, keep: sum(digits)),
                _but(lambda digits, keep: sum(digits), lambda digits, keep: 1),
            ),
        ),
        Misconception(
            "the-new-digit-shrinks",
            "Here what is read is multiplied by keep. It is the old state that shrinks; the new "
            "digit comes in whole.",
            "ch1-models",
            (
                _but(_inputs_shrunk),
                _but(lambda digits, keep: keep * _state(digits, keep)),
                _but(_inputs_shrunk, lambda digits, keep: 1),
            ),
        ),
        Misconception(
            "shrinks-only-once",
            "Every digit but the last was multiplied by keep once. The first one is in the old "
            "state at every step, and shrinks at every step.",
            "ch1-models",
            (_but(_all_shrunk_once), _but(_all_shrunk_once, lambda digits, keep: keep)),
        ),
        Misconception(
            "steps-added-not-multiplied",
            "Several steps were added up: so many times keep. A share of a share is a product, "
            "keep times keep and so on.",
            "ch1-gradient",
            (
                _but(_added_up),
                _but(left=lambda digits, keep: keep * (len(digits) - 1)),
                _but(_added_up, lambda digits, keep: keep * (len(digits) - 1)),
            ),
        ),
        Misconception(
            "one-step-remembered",
            "This state knows the last two digits only. What it is multiplied by keep is the whole "
            "state before, with all that was in it.",
            "ch1-models",
            (_but(_only_one_before), _but(_only_one_before, lambda digits, keep: 0)),
        ),
        Misconception(
            "last-digit-not-read",
            "One step is missing: the last digit has not been read yet.",
            "ch1-models",
            (_but(lambda digits, keep: _state(digits[:-1], keep)),),
        ),
        Misconception(
            "read-from-the-right",
            "Here the first digit weighs most. The digits are read from the left: the one read "
            "last has not shrunk at all, the first one at every step.",
            "ch1-gradient",
            (
                _but(_backwards),
                _but(_backwards, lambda digits, keep: 1),
                _but(_backwards, first=lambda places, keep: places[0]),
                _but(_backwards, lambda digits, keep: 1, lambda places, keep: places[0]),
            ),
        ),
        Misconception(
            "digit-for-gradient",
            "This is what the first digit adds to the state. The gradient asks how far the state "
            "moves when the digit is changed by a little, whatever the digit is.",
            "ch1-gradient",
            (_but(left=lambda digits, keep: digits[0] * keep ** (len(digits) - 1)),),
        ),
        Misconception(
            "steps-miscounted",
            "Count the multiplications by keep that come after the first digit was read: there is "
            "one for each digit behind it.",
            "ch1-gradient",
            (
                _but(left=lambda digits, keep: keep ** len(digits)),
                _but(left=lambda digits, keep: keep ** (len(digits) - 2)),
            ),
        ),
        Misconception(
            "lost-for-left",
            "This is the part of the gradient that is lost on the way. Asked for is what is left "
            "of it.",
            "ch1-gradient",
            (_but(left=lambda digits, keep: 1 - keep ** (len(digits) - 1)),),
        ),
        Misconception(
            "the-wrong-way-round",
            "This compares the last digit with the first. The chapter divides by the gradient of "
            "the character that was read last, so what is left is below one.",
            "ch1-gradient",
            (_but(left=lambda digits, keep: keep ** (1 - len(digits))),),
        ),
        Misconception(
            "vanished-altogether",
            "Little is left, but not nothing: every step multiplies by keep, and a product of such "
            "numbers is not zero.",
            "ch1-gradient",
            (_but(left=lambda digits, keep: 0),),
        ),
        Misconception(
            "newest-taken-for-first",
            "The digit in front of the point is the one read last: it has not shrunk. The first "
            "one has shrunk most and stands at the very end.",
            "ch1-gradient",
            (_but(first=lambda places, keep: places[0]),),
        ),
        Misconception(
            "taken-for-forgotten",
            "The first digit is not lost. It has shrunk at every step, and it still stands in the "
            "state, at the place that the steps have moved it to.",
            "ch1-budget",
            (
                _but(first=lambda places, keep: 0),
                _but(first=lambda places, keep: places[-1] * keep ** (len(places) - 1)),
            ),
        ),
        Misconception(
            "second-taken-for-first",
            "This digit was read later. Count the places behind the point: a digit moves one place "
            "to the right for each digit that is read after it.",
            "ch1-gradient",
            (
                _but(first=lambda places, keep: places[1]),
                _but(first=lambda places, keep: places[-2]),
            ),
        ),
    ),
)

EXERCISES = (ONE_NUMBER,)
