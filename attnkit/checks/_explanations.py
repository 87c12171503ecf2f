"""How long an explanation is: its text is read by a person and never recorded."""

from __future__ import annotations

import re

from attnkit.checks._recording import type_name

#: What the chapters' cells hold before a learner writes.
_STUBS = {"", "two or three sentences", "your explanation"}
#: Han characters, kana and hangul are written without blanks between words.
_TOGETHER = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_WORD = re.compile(r"\w+(?:['\u2019.,\u00b7-]\w+)*")
#: Nothing behind this many characters is counted.
_LONGEST = 200_000


def words(text: str) -> int:
    """The number of words; where words are written together, two characters count as one.

    >>> words("It learns almost as fast: 0.95 against 0.97.")
    8
    >>> words("没有缩放也能学会")
    4
    """
    text = text[:_LONGEST]
    together = len(_TOGETHER.findall(text))
    return len(_WORD.findall(_TOGETHER.sub(" ", text))) + (together + 1) // 2


def read_explanation(explanation: object) -> dict:
    """A record of an explanation: its status ("words", "none", "type") and its number of words."""
    if explanation is None or explanation is ...:
        return {"status": "none"}
    if not isinstance(explanation, str):
        return {"status": "type", "type": type_name(explanation)}
    if explanation[:_LONGEST].strip(" \t\r\n.\u2026!\"'").casefold() in _STUBS:
        return {"status": "none"}
    return {"status": "words", "words": words(explanation)}
