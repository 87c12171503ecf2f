"""A model's words beside the right ones: which are right, wrong, missing or too many.

The alignment is one of least edits, so that one missing word does not make all that follow wrong.
"""

from collections.abc import Sequence
from typing import NamedTuple

RIGHT, WRONG, MISSING, EXTRA, BLANK = "=x-+ "


class Slot(NamedTuple):
    """One place of an answer: what is there, and the word (that which is missing, too)."""

    kind: str
    word: str


def align(words: Sequence[str], right: Sequence[str]) -> list[Slot]:
    """Align an answer with the right words; a wrong, missing or extra word costs 1.

    >>> slots = align(["two", "and", "five"], ["two", "hundred", "and", "six"])
    >>> "".join(slot.kind for slot in slots)
    '=-=x'
    """
    n_right, n_words = len(right), len(words)
    # cost[i][j]: fewest edits between right[i:] and words[j:], so that the way back runs forwards
    cost = [[0] * (n_words + 1) for _ in range(n_right + 1)]
    for i in range(n_right, -1, -1):
        for j in range(n_words, -1, -1):
            if i == n_right or j == n_words:
                cost[i][j] = n_right - i + n_words - j
            else:
                both = cost[i + 1][j + 1] + (words[j] != right[i])
                cost[i][j] = min(both, 1 + cost[i + 1][j], 1 + cost[i][j + 1])
    slots, i, j = [], 0, 0
    while i < n_right or j < n_words:
        left = cost[i][j]
        if i < n_right and j < n_words and left == cost[i + 1][j + 1] + (words[j] != right[i]):
            slots.append(Slot(RIGHT if words[j] == right[i] else WRONG, words[j]))
            i, j = i + 1, j + 1
        elif i < n_right and left == 1 + cost[i + 1][j]:
            slots.append(Slot(MISSING, right[i]))
            i += 1
        else:
            slots.append(Slot(EXTRA, words[j]))
            j += 1
    return slots


def errors(slots: Sequence[Slot]) -> int:
    """How many words are wrong, missing or too many."""
    return sum(slot.kind in (WRONG, MISSING, EXTRA) for slot in slots)


def in_columns(
    right: Sequence[str], answers: Sequence[Sequence[Slot]]
) -> tuple[list[Slot], list[list[Slot]]]:
    """The right words and the answers, padded with blanks to the same number of places.

    Every right word then stands in the same place as what each answer has for it.

    >>> first, (second,) = in_columns(["one"], [align(["one", "one"], ["one"])])
    >>> [slot.kind for slot in first], [slot.kind for slot in second]
    (['=', ' '], ['=', '+'])
    """
    # before[a][i]: the extra words of answer a in front of right word i (or at the end)
    before = [[[] for _ in range(len(right) + 1)] for _ in answers]
    own = [[] for _ in answers]
    for extras, placed, slots in zip(before, own, answers, strict=True):
        for slot in slots:
            if slot.kind == EXTRA:
                extras[len(placed)].append(slot)
            else:
                placed.append(slot)
    blank = Slot(BLANK, "")
    columns: list[Slot] = []
    padded = [[] for _ in answers]
    for i in range(len(right) + 1):
        most = max((len(extras[i]) for extras in before), default=0)
        columns += [blank] * most
        for row, extras, placed in zip(padded, before, own, strict=True):
            row += extras[i] + [blank] * (most - len(extras[i])) + placed[i : i + 1]
        columns += [Slot(RIGHT, right[i])] if i < len(right) else []
    return columns, padded
