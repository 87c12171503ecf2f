"""Chinese numerals and English number words: a writer, a reader, and which came from which.

A Chinese numeral groups digits by four, English by three, so that 万 (10⁴) and 亿 (10⁸) have no
English word of their own and "thousand" and "million" no Chinese one.

The rules are those of the written form, without the spoken 两 for 二:

- A digit is followed by its unit, 十 百 千; a group by 万 or 亿. Within a group the units repeat.
- Zeros between two digits are one 零, however many they are; at the end of a group they are silent.
  A group of zeros between two others is one 零 too: 100,001,000 is 一亿零一千.
- At the head of a numeral, 十 needs no 一 before it: 十二 but 一百一十二.
- Above 10¹² the groups repeat under 亿: 一万亿 is 10¹².

They agree with the rule set ``spellout-cardinal`` of Unicode CLDR for zh below 10¹², where that set
goes over to 兆. The English words follow British use: "and" before tens and ones, no hyphens.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from attnkit import expect

LARGEST = 10**15 - 1
LONGEST = 29  # characters of LARGEST
DIGITS = "零一二三四五六七八九"
UNITS = ("", "十", "百", "千")
#: What each character stands for.
GLOSSES = {
    **{character: str(value) for value, character in enumerate(DIGITS)},
    "零": "0, a gap",
    "十": "10",
    "百": "100",
    "千": "1,000",
    "万": "10⁴",
    "亿": "10⁸",
}
ONES = "zero one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = ["", "", *"twenty thirty forty fifty sixty seventy eighty ninety".split()]
SCALES = ["", "thousand", "million", "billion", "trillion"]
#: Every English word that a number can need, with its kind.
WORD_KINDS = {
    **dict.fromkeys(ONES, "digit"),
    **dict.fromkeys(TEENS, "teen"),
    **dict.fromkeys(TENS[2:], "tens"),
    "hundred": "hundred",
    **dict.fromkeys(SCALES[1:], "scale"),
    "and": "and",
}
VARIANTS = str.maketrans({"〇": "零", "萬": "万", "億": "亿"})
_GROUP = re.compile(
    r"零?(?:(D)千)?零?(?:(D)百)?零?(?:(D?)十)?零?(D)?".replace("D", f"[{DIGITS[1:]}]")
)


class _Character(NamedTuple):
    """A character, the power of ten it stands at, and whether it is a digit, a unit or a gap."""

    text: str
    place: int
    kind: str


def to_chinese(number: int) -> str:
    """Write a number in Chinese characters.

    >>> to_chinese(120304), to_chinese(100001000), to_chinese(0)
    ('十二万零三百零四', '一亿零一千', '零')

    Args:
        number: From 0 to 10¹⁵ − 1.

    Raises:
        TypeError: The number is not an integer.
        ValueError: It is negative or has more than 15 digits.
    """
    return "".join(character.text for character in _written(_checked(number)))


def from_chinese(text: str) -> int:
    """Read a Chinese numeral; the exact inverse of :func:`to_chinese`.

    >>> from_chinese("十二万零三百零四")
    120304

    Understood too: 两 before 百, 千, 万 or 亿, 〇, the traditional 萬 and 億, and 一十 at the head.

    Args:
        text: A numeral, without spaces around or inside it.

    Raises:
        TypeError: The text is not a str.
        ValueError: It is empty, has a character that is no numeral, or is not well formed.
    """
    plain = standard_form(text)
    if len(plain) > 2 * LONGEST:
        raise ValueError(f"numerals of at most {LONGEST} characters are read, got {len(plain)}.")
    value = _value(plain)
    if value is None:
        raise ValueError(f"{text!r} is not a well-formed numeral.{_readable_part(plain)}")
    if value > LARGEST or to_chinese(value) != plain:
        raise ValueError(f"{text!r} is not a well-formed numeral. {_meant(plain, value)}")
    return value


def standard_form(text: str) -> str:
    """The characters of a numeral with variants replaced: 两百 is 二百, 一十二 is 十二.

    Raises:
        TypeError: The text is not a str.
        ValueError: It is empty or has a character that is no numeral.
    """
    if not isinstance(text, str):
        written = type(text) is int and 0 <= text <= LARGEST
        cure = f" to_chinese({text}) writes it." if written else ""
        raise TypeError(f"a numeral must be a str, got {type(text).__name__}.{cure}")
    if not text:
        raise ValueError("a numeral needs at least one character, got an empty string.")
    plain = re.sub(r"两(?=[百千万亿])", "二", text.translate(VARIANTS))
    for position, character in enumerate(plain):
        if character not in GLOSSES:
            raise ValueError(
                f"{text!r} has {text[position]!r} at position {position + 1}, which is no numeral. "
                f"Known characters: {' '.join(GLOSSES)}."
                + (" 两 stands before 百, 千, 万 or 亿 only." if character == "两" else "")
            )
    return plain[1:] if plain.startswith("一十") else plain


def to_english(number: int) -> list[str]:
    """Write a number in English words, as British use has them, without hyphens and commas.

    >>> " ".join(to_english(120304))
    'one hundred and twenty thousand three hundred and four'

    Raises:
        TypeError: The number is not an integer.
        ValueError: It is negative or has more than 15 digits.
    """
    return [word for word, _, _ in _english(_checked(number))]


def word_sources(number: int) -> list[tuple[int, ...]]:
    """For each English word, where in the Chinese numeral it comes from.

    A digit comes from its character, "twenty" from digit and unit, "twelve" from both digits and
    the unit of the tens, "hundred" from the unit at its power of ten. Scale words and "and" come
    from no character in particular, and have an empty tuple: 十二万 (12 · 10⁴) is 120 *thousand*.

    >>> to_chinese(12000), to_english(12000), word_sources(12000)
    ('一万二千', ['twelve', 'thousand'], [(0, 1, 2), ()])

    Returns:
        For each word of ``to_english(number)`` the ascending indices of ``to_chinese(number)``.

    Raises:
        TypeError: The number is not an integer.
        ValueError: It is negative or has more than 15 digits.
    """
    number = _checked(number)
    written = _written(number)
    at = {(c.place, c.kind): i for i, c in enumerate(written)}
    found = []
    for _, digits, units in _english(number):
        # 十二: the head 十 has no digit before it and stands for it
        indices = {at.get((place, "digit"), at.get((place, "unit"))) for place in digits}
        indices |= {at[place, "unit"] for place in units if (place, "unit") in at}
        found.append(tuple(sorted(i for i in indices if i is not None)))
    return found


def word_kind(word: str) -> str:
    """The class of an English number word: digit, teen, tens, hundred, scale or and.

    Raises:
        ValueError: It is no number word.
    """
    if word not in WORD_KINDS:
        raise ValueError(f"{word!r} is no number word. Known words: {' '.join(WORD_KINDS)}.")
    return WORD_KINDS[word]


def _checked(number: int) -> int:
    number = expect.integer("number", number)
    if number > LARGEST:
        got = f"{number:,}" if number < 1000 * LARGEST else "one of more than 18 digits"
        raise ValueError(f"number must be at most 10¹⁵ − 1, got {got}.")
    return number


def _written(number: int) -> list[_Character]:
    if number == 0:
        return [_Character("零", 0, "digit")]
    characters = _grouped(number, 0)
    head = [c.text for c in characters[:2]]
    return characters[1:] if head == ["一", "十"] else characters


def _grouped(number: int, place: int) -> list[_Character]:
    """The characters of a number > 0 whose last digit stands at 10 to the ``place``."""
    for size, unit in ((8, "亿"), (4, "万"), (3, "千"), (2, "百"), (1, "十")):
        high, low = divmod(number, 10**size)
        if not high:
            continue
        characters = [*_grouped(high, place + size), _Character(unit, place + size, "unit")]
        # 一万亿零五千万: the 亿 of 一万亿 stands for a group of zeros too
        if low and (low < 10 ** (size - 1) or (unit == "亿" and high % 10**4 == 0)):
            characters.append(_Character("零", place, "gap"))
        return characters + _grouped(low, place) if low else characters
    return [_Character(DIGITS[number], place, "digit")]


def _english(number: int) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Each word with the powers of ten whose digit, and whose unit, it comes from."""
    if number == 0:
        return [("zero", (0,), ())]
    words = []
    for group in reversed(range(len(SCALES))):
        value, place = number // 1000**group % 1000, 3 * group
        if not value:
            continue
        hundreds, rest = divmod(value, 100)
        if hundreds:
            words.append((ONES[hundreds], (place + 2,), ()))
            words.append(("hundred", (), (place + 2,)))
        if rest and (hundreds or (group == 0 and words)):
            words.append(("and", (), ()))
        tens, ones = divmod(rest, 10)
        if tens == 1:
            words.append((TEENS[ones], (place + 1, place) if ones else (place + 1,), (place + 1,)))
        elif tens:
            words.append((TENS[tens], (place + 1,), (place + 1,)))
        if ones and tens != 1:
            words.append((ONES[ones], (place,), ()))
        if group:
            words.append((SCALES[group], (), ()))
    return words


def _value(plain: str) -> int | None:
    """The value of a numeral that may have a 零 too many or too few; None when there is none."""
    if plain == "零":
        return 0
    for size, unit in ((8, "亿"), (4, "万")):
        high, found, low = plain.rpartition(unit)
        if found:
            above, below = _value(high), _value(low) if low else 0
            fits = above and below is not None and below < 10**size
            return above * 10**size + below if fits and above is not None else None
    match = _GROUP.fullmatch(plain)
    if match is None or plain.endswith("零"):
        return None
    thousands, hundreds, tens, ones = match.groups()
    tens = "一" if tens == "" else tens
    digits = (DIGITS.index(digit) if digit else 0 for digit in (thousands, hundreds, tens, ones))
    value = 0
    for digit in digits:
        value = 10 * value + digit
    return value


def _readable_part(plain: str) -> str:
    for end in range(len(plain) - 1, 0, -1):
        if _value(plain[:end]) is not None:
            return f" It can be read up to {plain[:end]!r}; {plain[end:]!r} cannot follow."
    return f" It cannot begin with {plain[0]!r}."


def _meant(plain: str, value: int) -> str:
    if value > LARGEST:
        return "Numbers of at most 15 digits are read."
    meant = f"{value:,} is written {to_chinese(value)}."
    unit = next((u for u in ("百", "千", "万", "亿") if plain[-2:-1] == u), None)
    if unit and plain[-1] in DIGITS[1:]:
        place = {"百": 2, "千": 3, "万": 4, "亿": 8}[unit] - 1
        spoken = value + DIGITS.index(plain[-1]) * (10**place - 1)
        meant += f" If the spoken short form of {spoken:,} was meant, write {to_chinese(spoken)}."
    return meant
