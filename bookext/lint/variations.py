"""Exercises whose data differ from student to student: the text must fit every copy.

``python -m classroom assign --seed-from`` gives the options of a choice another order and other
letters, and the given values of an exercise by hand other values. A sentence that names a letter or
repeats a given number would then be wrong.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bookext.exercises import Exercise, exercises, hidden_test
from bookext.lint.walk import Finding
from bookext.source import Page

RULE = "variation"
_ITEM = re.compile(r"^- \*\*([A-Z])\*\*\s")
_LETTER = re.compile(r"\*\*([A-Z])\*\*|(?<![\w$\\{`/−-])([B-HJ-Z])(?![\w$}`'’(/_-])")
_MATHS = re.compile(r"\$[^$]*\$|`[^`]*`")
_NUMBER = re.compile(r"(?<![\w.,])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)")


def variations(page: Page, known: Mapping[str, Any] | None = None) -> Iterator[Finding]:
    """No letter of an option and no given number outside the place where it is varied."""
    if not any(isinstance(cell.nbgrader, dict) for cell in page.cells):
        return
    if known is None:
        from attnkit import checks

        known = {id: checks.exercise(id) for id in checks.exercise_ids()}
    for exercise in exercises(page):
        tests = (hidden_test(page.cells[index].source) for index in exercise.cells)
        ids = [test[0] for test in tests if test and test[0] in known]
        for check in (known[id] for id in ids):
            if getattr(check, "letters", {}):
                yield from _letters(page, exercise, list(check.letters))
            if hasattr(check, "draw"):
                yield from _given(page, exercise, check)


def _prose(page: Page, exercise: Exercise) -> Iterator[tuple[int, str]]:
    """(line, text) of an exercise outside cells, comments and directives."""
    cells = [page.cells[index] for index in exercise.cells]
    for number in range(exercise.first + 2, exercise.last):
        text = page.lines[number - 1]
        inside = any(cell.start < number <= cell.end for cell in cells)
        if not inside and not text.startswith(("%", "```", "~~~", ":")):
            yield number, text


def _letters(page: Page, exercise: Exercise, letters: list[str]) -> Iterator[Finding]:
    listed = []
    for line, text in _prose(page, exercise):
        if item := _ITEM.match(text):
            listed.append(item[1])
            text = text[item.end() :]
        for found in _LETTER.finditer(_MATHS.sub(" ", text)):
            if (letter := found[1] or found[2]) in letters:
                yield (
                    line,
                    RULE,
                    f"the text names option {letter}, which has another letter in a student's "
                    "copy (assign --seed-from); say it without a letter",
                )
    if listed != letters:
        yield (
            exercise.first,
            RULE,
            f"the options of the check are {', '.join(letters)}; the list '- **A** …' in the text "
            f"has {', '.join(listed) or 'none'}",
        )


def _given(page: Page, exercise: Exercise, check: Any) -> Iterator[Finding]:
    set_to: dict[str, list[object]] = {name: [] for name in check.given}
    for index in exercise.cells:
        cell = page.cells[index]
        if cell.nbgrader:
            continue
        for name, value in _assigned(cell.source):
            if name in set_to:
                set_to[name].append(value)
    for name, values in set_to.items():
        if len(values) != 1 or values[0] != _plain(check.given[name]):
            yield (
                exercise.first,
                RULE,
                f"the given value {name!r} of {check.id!r} must be set once in a cell of the "
                f"exercise, as '{name} = {check.given[name]!r}' (it is varied there); found "
                f"{', '.join(map(repr, values)) or 'none'}",
            )
    numbers = {float(n) for value in check.given.values() for n in _numbers(value)}
    for line, text in _prose(page, exercise):
        for found in _NUMBER.finditer(text):
            if float(found[0].replace(",", "").replace("−", "-")) in numbers:
                yield (
                    line,
                    RULE,
                    f"the text repeats the given number {found[0]}, which is another one in a "
                    "student's copy (assign --seed-from); let the cell say it",
                )


def _assigned(source: str) -> Iterator[tuple[str, object]]:
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                yield node.targets[0].id, ast.literal_eval(node.value)
            except ValueError:
                yield node.targets[0].id, ast.unparse(node.value)


def _plain(value: object) -> object:
    return ast.literal_eval(repr(value))


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, bool | str):
        return
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _numbers(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _numbers(one)
