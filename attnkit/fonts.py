"""Fonts for labels in any script: found label by label, and said once where there is none.

Matplotlib draws a character that no font of a text has as a box and warns of each. Here the fonts
that a label needs are looked for among all that are installed, also those that came after
matplotlib made its list; what no font has is replaced before it is drawn. matplotlib is imported
when a label is drawn.
"""

from __future__ import annotations

import sys
import unicodedata
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

from attnkit.labels import shortened, visible

#: Tried in this order for Chinese; then whatever font has the character.
CHINESE_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Noto Sans CJK JP",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "SimHei",
    "Arial Unicode MS",
)
#: Their glyphs are boxes, or coloured bitmaps that matplotlib cannot draw.
_NO_LETTERS = ("last resort", "lastresort", "blank", "fallback", "color emoji", "colour emoji")
#: What Latin letters are drawn in; every matplotlib has it.
_FIRST = "DejaVu Sans"
#: What to install, by kind of character.
_CURES = {
    "Chinese": (
        "Install one: the package fonts-noto-cjk (Debian, Ubuntu), google-noto-sans-cjk-fonts "
        "(Fedora), noto-fonts-cjk (Arch), font-noto-sans-cjk-sc (Homebrew)."
    ),
    "emoji": (
        "Install one without colours, which matplotlib can draw: the package fonts-symbola "
        "(Debian, Ubuntu), or Noto Emoji from Google Fonts."
    ),
    "other": "Install one that has them: the Noto fonts (fonts-noto-core on Debian, Ubuntu).",
}
#: Families that were found beyond the Chinese ones, in the order they were needed.
_others: list[str] = []
_warned: set[str] = set()


def families(labels: Sequence[str] = ()) -> list[str]:
    """The font families for a text: the one that is set, then those that these labels need.

    >>> families(["key"])[-1] in families(["注意"])
    True
    """
    from matplotlib import rcParams

    first = list(rcParams["font.family"])
    if all(label.isascii() for label in labels):
        return first
    needed = _search(set(map(ord, "".join(labels))) - _drawn_by(first))[0]
    return [*first, *(name for name in needed if name not in first)]


def installed() -> list[str]:
    """DejaVu Sans, the installed Chinese fonts, and those that :func:`drawable` has needed."""
    found = _entries()
    return [name for name in (_FIRST, *CHINESE_FONTS, *_others) if name in found]


def drawable(labels: Sequence[str], longest: int = 24, *, warn: bool = False) -> list[str]:
    """Labels that an installed font can draw; others become ``token 3``, never boxes.

    Args:
        labels: The tokens, as they are.
        longest: Columns from which on a label is shortened.
        warn: Say, once for each kind of character, what to install.
    """
    shown = [shortened(visible(label), longest) for label in labels]
    if all(label.isascii() for label in shown):
        return shown
    missing = _search(set(map(ord, "".join(shown))) - _charmap_of(_FIRST))[1]
    if missing and warn:
        _say(missing)
    return [
        f"token {i}" if missing and not missing.isdisjoint(map(ord, label)) else label
        for i, label in enumerate(shown, start=1)
    ]


def spelled(text: str) -> str:
    """A title, with the code of each character that no installed font has; the cure is said once.

    >>> spelled("loss of run 3")
    'loss of run 3'
    """
    if text.isascii() and text.isprintable():
        return text
    missing = _search({ord(c) for c in text if not c.isspace()} - _charmap_of(_FIRST))[1]
    if missing:
        _say(missing)
    return "".join(f"[U+{ord(c):04X}]" if ord(c) in missing else c for c in text)


def _say(missing: set[int]) -> None:
    kinds: dict[str, list[str]] = {}
    for code in sorted(missing):
        kinds.setdefault(_kind(code), []).append(chr(code))
    for kind in kinds.keys() - _warned:
        _warned.add(kind)
        characters = ", ".join(f"{c} (U+{ord(c):04X})" for c in kinds[kind][:3])
        characters += " and others" if len(kinds[kind]) > 3 else ""
        warnings.warn(
            f"No installed font has {characters}: such labels are drawn as their number, token 1, "
            f"token 2, …, titles with its code, and the alternative text holds the tokens in full. "
            f"{_CURES[kind]}",
            stacklevel=_outside(),
        )


def _outside() -> int:
    """How many calls up the line stands that asked for the picture."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "attnkit":
        frame, level = frame.f_back, level + 1
    return level


def _kind(code: int) -> str:
    name = unicodedata.name(chr(code), "")
    if name.startswith(("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH", "IDEOGRAPHIC")):
        return "Chinese"
    return "emoji" if unicodedata.category(chr(code)) in ("So", "Sk") else "other"


def _search(codes: set[int]) -> tuple[list[str], set[int]]:
    """Families that together have these characters, and the characters that none has."""
    left, chosen = set(codes), []

    def take(name: str) -> None:
        if left and not left.isdisjoint(_charmap_of(name)):
            left.difference_update(_charmap_of(name))
            chosen.append(name)

    for name in (*CHINESE_FONTS, *_others):
        take(name)
    if left:
        _add_new_fonts()
        for name in (*CHINESE_FONTS, *sorted(_entries())):
            if name in chosen or any(bad in name.lower() for bad in _NO_LETTERS):
                continue
            take(name)
    _others.extend(n for n in chosen if n not in _others and n not in CHINESE_FONTS and n != _FIRST)
    return chosen, left


def _drawn_by(family_names: Sequence[str]) -> set[int]:
    """The characters of the families that are set; "sans-serif" stands for the first it finds."""
    from matplotlib.font_manager import FontProperties, findfont

    known: set[int] = set()
    for family in family_names:
        try:
            path = findfont(FontProperties(family=[family]), fallback_to_default=False)
        except ValueError:
            continue
        known |= _charmap(str(path), getattr(path, "face_index", 0))
    return known


def _entries() -> dict[str, Any]:
    """Upright fonts by family, that of the regular weight where there are several."""
    from matplotlib.font_manager import fontManager

    found: dict[str, Any] = {}
    for entry in fontManager.ttflist:
        if entry.style == "normal" and (entry.name not in found or entry.weight == 400):
            found[entry.name] = entry
    return found


def _charmap_of(family: str) -> frozenset[int]:
    entry = _entries().get(family)
    return _charmap(str(entry.fname), getattr(entry, "index", 0)) if entry else frozenset()


@cache
def _charmap(path: str, index: int) -> frozenset[int]:
    from matplotlib import ft2font

    try:
        font = ft2font.FT2Font(path, face_index=index) if index else ft2font.FT2Font(path)
        return frozenset(font.get_charmap())
    except (OSError, RuntimeError, TypeError):  # moved, broken, of a kind FreeType does not read
        return frozenset()


@cache
def _add_new_fonts() -> None:
    """Fonts installed after matplotlib made its list, which it keeps for good, are added to it."""
    from matplotlib import font_manager

    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    for path in font_manager.findSystemFonts():
        if path not in known:
            try:
                font_manager.fontManager.addfont(path)
            except (OSError, RuntimeError, ValueError, NotImplementedError):
                continue
