"""The letters that an answer names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice


def read_letters(answer: object, known: list[str]) -> tuple[set[str] | None, list[str]]:
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
