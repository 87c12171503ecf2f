"""Tokens as labels: drawn literally, white space and what cannot be seen made visible."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

#: Joiners are part of words in Persian and Hindi and of emoji: named only where they join nothing.
_JOINERS = "\u200c\u200d"
#: Categories of characters that show nothing: spaces, controls, format marks, lone surrogates.
_UNSEEN = {"Zs", "Zl", "Zp", "Cc", "Cf", "Cs"}
_LINE_ENDS = str.maketrans({"\n": "⏎", "\r": "⏎", "\t": "⇥"})


def visible(text: str) -> str:
    """A label with its white space, and characters that show nothing, made visible.

    >>> visible(" the"), visible("\\n"), visible(""), visible("a\\u200bb")
    ('␣the', '⏎', '(empty)', 'a[U+200B]b')
    """
    if not text:
        return "(empty)"
    shown = text.replace("\r\n", "\n").translate(_LINE_ENDS)
    if shown.strip(" ") != shown:
        shown = shown.replace(" ", "␣")
    if shown.isprintable() and not unicodedata.combining(shown[0]):
        return shown
    shown = "".join(
        character if character in _JOINERS and 0 < i < len(shown) - 1 else _named(character)
        for i, character in enumerate(shown)
    )
    # A mark that has no letter of its own would sit on whatever stands before the label.
    return f"◌{shown}" if unicodedata.combining(shown[0]) else shown


def _named(character: str) -> str:
    if character == " " or unicodedata.category(character) not in _UNSEEN:
        return character
    return f"[U+{ord(character):04X}]"


def width(text: str) -> int:
    """Columns of a text in a terminal: Chinese characters and emoji take two, marks none.

    >>> width("key"), width("中国"), width("e\\u0301")
    (3, 4, 1)
    """
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character) or character in _JOINERS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def shortened(text: str, longest: int = 24) -> str:
    """A text of at most ``longest`` columns, with an ellipsis for what was cut off.

    >>> shortened("internationalisation", 8)
    'interna…'
    """
    if width(text) <= longest:
        return text
    shown, left = [], longest - 1
    for character in text:
        left -= _columns(character)
        if left < 0:
            break
        shown.append(character)
    return "".join(shown) + "…"


def named(tokens: Sequence[str], places: Sequence[int] | None = None) -> list[str]:
    """Tokens in words: made visible, and with their position where one stands more than once.

    >>> named(["the", "cat", "the"])
    ['the (0)', 'cat', 'the (2)']
    """
    seen = [visible(token) for token in tokens]
    count = Counter(seen)
    chosen = range(len(seen)) if places is None else places
    return [f"{seen[i]} ({i})" if count[seen[i]] > 1 else seen[i] for i in chosen]
