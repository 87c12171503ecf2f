"""How names are written, and which are written nearly alike."""

from __future__ import annotations

import hashlib
import unicodedata
from functools import lru_cache


def normal(name: str) -> str:
    """A name as the task has it: in Unicode's form NFC, with single spaces inside and none around.

    >>> normal("  Co\\u0302te  d’Ivoire ") == "C\\u00f4te d’Ivoire"
    True

    Raises:
        TypeError: The name is not a str.
    """
    if not isinstance(name, str):
        raise TypeError(f"a name must be a str, got {name!r} ({type(name).__name__}).")
    return " ".join(unicodedata.normalize("NFC", name).split())


def alike(name: str) -> str:
    """What names share that differ only in case, accents, strokes, spaces and punctuation.

    >>> alike("Côte d’Ivoire"), alike("Cote D'ivoire"), alike("Łódź")
    ('cotedivoire', 'cotedivoire', 'lodz')
    """
    letters = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return "".join(_bare(letter) for letter in letters if letter.isalnum()) or name


@lru_cache(maxsize=4096)
def _bare(letter: str) -> str:
    """ø → o: some letters do not come apart into a base and an accent, but their name says both."""
    if letter == "\u0131":  # dotless i
        return "i"
    base = unicodedata.name(letter, "").split(" WITH ")[0]
    try:
        return unicodedata.lookup(base)
    except KeyError:
        return letter


def bits(text: str) -> int:
    """64 bits of a text, the same in every process, as Python's hash is not."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
