"""Numerals: the writer, the reader and the word sources, against oracles and the rules restated."""

import functools
import itertools
import random
import re

import cn2an
import num2words
import numpy as np
import pytest
import torch

from attnkit import numerals
from attnkit.numerals import (
    DIGITS,
    GLOSSES,
    LARGEST,
    LONGEST,
    from_chinese,
    standard_form,
    to_chinese,
    to_english,
    word_kind,
    word_sources,
)

VARIANTS = "两〇萬億"
UNIT_VALUES = {"十": 10, "百": 100, "千": 1000}


def patterns(lengths, fills):
    """Numbers with zeros in every set of places; the other digits random, or all 1 in the first."""
    generator = random.Random(12)
    for length in lengths:
        for rest in itertools.product((False, True), repeat=length - 1):
            for fill in range(fills):
                digits = (generator.randint(1, 9) if fill else 1 for _ in range(length))
                kept = (True, *rest)
                yield int("".join(str(d) if k else "0" for d, k in zip(digits, kept, strict=True)))


@functools.cache
def boundaries() -> list[int]:
    """Every set of zeros up to 12 digits, and what lies beside each digit times a power of ten."""
    near = (
        digit * 10**power + step
        for digit in range(1, 10)
        for power in range(15)
        for step in (-10_000, -1000, -10, -1, 0, 1, 10, 1000, 10_000)
    )
    found = {*range(1200), *patterns(range(1, 13), 2), *(n for n in near if 0 <= n <= LARGEST)}
    return sorted({*found, LARGEST})


@functools.cache
def numbers() -> dict[int, str]:
    """More than 10⁵ numbers with their numerals."""
    generator = random.Random(3)
    drawn = (generator.randrange(10 ** generator.randint(5, 15)) for _ in range(66_000))
    return {n: to_chinese(n) for n in {*boundaries(), *patterns(range(13, 16), 1), *drawn}}


def groups(number):
    """The groups of four digits, the lowest first."""
    return [number // 10**power % 10**4 for power in range(0, 16, 4)]


def gaps(number):
    """The groups that follow upon one or more groups of zeros between them and a higher one."""
    filled = [(i, group) for i, group in enumerate(groups(number)) if group]
    return [low for (i, low), (j, _) in itertools.pairwise(filled) if j - i > 1]


def written_by_substitution(number):
    """Write every digit and every unit, then remove what is silent."""
    names = ["", "万", "亿", "万"]
    text = ""
    for i, group in reversed(list(enumerate(groups(number)))):
        for digit, unit in zip(f"{group:04}", "千百十 ", strict=True):
            text += DIGITS[int(digit)] + (unit.strip() if digit != "0" else "")
        text += names[i]
    text = re.sub("零零零零万", "零", text).replace("零零零零亿", "亿零")
    text = re.sub("零+", "零", text)
    text = re.sub("零(?=[万亿])", "", text).strip("零")
    text = re.sub("^亿零?", "", text)
    return re.sub("^一十", "十", text) or "零"


def read_loosely(text):
    """Add up digits times units, in whatever order they come."""
    total = group = digit = 0
    for character in text:
        if character in DIGITS:
            digit = DIGITS.index(character)
        elif character in UNIT_VALUES:
            group, digit = group + (digit or 1) * UNIT_VALUES[character], 0
        elif character == "万":
            total, group, digit = total + (group + digit) * 10**4, 0, 0
        else:
            total, group, digit = (total + group + digit) * 10**8, 0, 0
    return total + group + digit


def is_numeral(text):
    """Whether there is a number that is written so; the value of a numeral is its loose reading."""
    try:
        plain = standard_form(text)
    except ValueError:
        return False
    value = read_loosely(plain)
    return value <= LARGEST and to_chinese(value) == plain


# The writer and the reader


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "零"),
        (2, "二"),
        (10, "十"),
        (12, "十二"),
        (20, "二十"),
        (100, "一百"),
        (101, "一百零一"),
        (110, "一百一十"),
        (112, "一百一十二"),
        (1000, "一千"),
        (1001, "一千零一"),
        (1010, "一千零一十"),
        (1100, "一千一百"),
        (10_000, "一万"),
        (10_001, "一万零一"),
        (10_010, "一万零一十"),
        (11_000, "一万一千"),
        (20_202, "二万零二百零二"),
        (100_000, "十万"),
        (101_000, "十万一千"),
        (120_304, "十二万零三百零四"),
        (1_000_000, "一百万"),
        (1_100_010, "一百一十万零一十"),
        (10_000_000, "一千万"),
        (100_000_000, "一亿"),
        (100_000_001, "一亿零一"),
        (100_001_000, "一亿零一千"),
        (100_010_000, "一亿零一万"),
        (110_000_000, "一亿一千万"),
        (200_003_000, "二亿零三千"),
        (1_000_100_000, "十亿零一十万"),
        (1_200_000_000, "十二亿"),
        (10**12 - 1, "九千九百九十九亿九千九百九十九万九千九百九十九"),
        (10**12, "一万亿"),
        (10**12 + 10**8, "一万零一亿"),
        (10**12 + 5 * 10**7, "一万亿零五千万"),
        (10**12 + 2 * 10**11 + 5 * 10**7, "一万二千亿五千万"),
        (10**12 + 1000, "一万亿零一千"),
        (10**14, "一百万亿"),
    ],
)
def test_numerals_known_by_heart(number, text):
    assert to_chinese(number) == text
    assert from_chinese(text) == number


def test_the_reader_inverts_the_writer():
    assert len(numbers()) > 100_000
    wrong = [(n, text) for n, text in numbers().items() if from_chinese(text) != n]
    assert not wrong


def test_different_numbers_have_different_numerals():
    assert len(set(numbers().values())) == len(numbers())


def test_the_writer_follows_the_rules_stated_differently():
    longer = itertools.islice(patterns(range(13, 16), 1), 0, None, 3)
    for number in (*boundaries(), *longer):
        assert to_chinese(number) == written_by_substitution(number)


def test_the_longest_numeral_is_as_long_as_stated():
    assert len(to_chinese(LARGEST)) == LONGEST == max(map(len, numbers().values()))


@pytest.mark.parametrize("kind", [np.int64, np.uint64, torch.tensor])
def test_integers_of_other_packages_are_numbers(kind):
    assert to_chinese(kind(120304)) == "十二万零三百零四"
    assert to_english(kind(12)) == ["twelve"]
    assert word_sources(kind(12)) == [(0, 1)]


# Oracles


def test_cn2an_agrees_where_it_can_read_itself():
    for number in boundaries():
        if not any(group >= 1000 for group in gaps(number)):
            text = to_chinese(number)
            assert cn2an.an2cn(number) == text
            assert cn2an.cn2an(text) == number


def test_cn2an_forgets_the_zero_between_an_empty_group_and_a_thousand():
    # Its defect, exactly: a group of zeros stands between two others, and the lower has four
    # digits. 100,001,000 becomes 一亿一千, which its own reader refuses, while it reads our form.
    assert cn2an.an2cn(100_001_000) == "一亿一千"
    concerned = [n for n in boundaries() if any(group >= 1000 for group in gaps(n))]
    assert len(concerned) > 200
    for number in concerned:
        text = to_chinese(number)
        assert cn2an.cn2an(text) == number
        theirs = cn2an.an2cn(number)
        assert theirs == re.sub("(?<=[万亿])零(?=.千)", "", text) != text
        if number < 10**12:
            with pytest.raises(ValueError, match=theirs):
                cn2an.cn2an(theirs)


def test_english_words_are_those_of_num2words():
    for number in boundaries():
        theirs = num2words.num2words(number).replace(",", "").replace("-", " ").split()
        assert to_english(number) == theirs, number


def test_every_english_word_has_a_kind():
    used = {word for number in boundaries() for word in to_english(number)}
    assert used == set(numerals.WORD_KINDS)
    examples = {"zero": "digit", "nine": "digit", "ten": "teen", "nineteen": "teen"}
    examples |= {"ninety": "tens", "hundred": "hundred", "trillion": "scale", "and": "and"}
    assert {word: word_kind(word) for word in examples} == examples
    with pytest.raises(ValueError, match=r"'a' is no number word.*hundred"):
        word_kind("a")


def test_every_character_has_a_gloss():
    assert set(GLOSSES) == set("".join(numbers().values()))


# What else is understood, and what is not


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("一十", 10),
        ("一十二", 12),
        ("一十二万零三百零四", 120_304),
        ("一十亿", 10**9),
        ("两百", 200),
        ("两千两百", 2200),
        ("两万两千两百二十二", 22_222),
        ("两亿", 200_000_000),
        ("两萬零两", None),
        ("〇", 0),
        ("一百〇五", 105),
        ("十二萬〇三百〇四", 120_304),
        ("两億〇三千", 200_003_000),
        ("一萬億", 10**12),
    ],
)
def test_variants_are_understood(text, number):
    if number is None:
        with pytest.raises(ValueError, match="两 stands before 百, 千, 万 or 亿 only"):
            from_chinese(text)
    else:
        assert from_chinese(text) == number
        assert standard_form(text) == to_chinese(number)


def test_every_numeral_is_understood_in_its_variant_characters():
    for number in boundaries():
        text = to_chinese(number)
        text = ("一" if text.startswith("十") else "") + text
        text = re.sub("(?<!十)二(?=[百千万亿])", "两", text)
        text = text.replace("零", "〇").replace("万", "萬").replace("亿", "億")
        assert from_chinese(text) == number


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # characters
        ("", "at least one character, got an empty string"),
        (" ", "' ' at position 1, which is no numeral"),
        ("十二 ", "' ' at position 3"),
        ("十,二", "',' at position 2"),
        ("12", "'1' at position 1.*Known characters: 零 一 二"),
        ("１２", "'１' at position 1"),  # noqa: RUF001
        ("twelve", "'t' at position 1"),
        ("负一", "'负' at position 1"),
        ("一点五", "'点' at position 2"),
        ("一百廿", "'廿' at position 3"),
        ("壹佰", "'壹' at position 1"),
        ("一兆", "'兆' at position 2"),
        ("两萬猫", "'猫' at position 3"),
        ("十二\n", r"'\\n' at position 3"),
        ("两", "'两' at position 1.*两 stands before"),
        ("十两", "'两' at position 2.*两 stands before"),
        ("两十", "'两' at position 1.*两 stands before"),
        ("一百零两", "'两' at position 4.*两 stands before"),
        # not well formed
        ("零零", "read up to '零'; '零' cannot follow"),
        ("一二", "read up to '一'; '二' cannot follow"),
        ("二零零五", "read up to '二'; '零零五' cannot follow"),
        ("一〇五", "read up to '一'; '零五' cannot follow"),
        ("十百", "read up to '十'; '百' cannot follow"),
        ("十十", "read up to '十'; '十' cannot follow"),
        ("二十十", "read up to '二十'; '十' cannot follow"),
        ("五百三千", "read up to '五百三'; '千' cannot follow"),
        ("百", "cannot begin with '百'"),
        ("千零一", "cannot begin with '千'"),
        ("万", "cannot begin with '万'"),
        ("亿", "cannot begin with '亿'"),
        ("亿一", "cannot begin with '亿'"),
        ("零万", "up to '零'; '万' cannot follow"),
        ("一万二亿三亿", "is not a well-formed numeral"),
        # readable, but written otherwise
        ("零五", "5 is written 五"),
        ("一百五", "105 is written 一百零五.*spoken short form of 150 was meant, write 一百五十"),
        ("二千五", "2,005 is written 二千零五.*2,500 was meant, write 二千五百"),
        ("一万五", "10,005 is written 一万零五.*15,000 was meant, write 一万五千"),
        ("三亿二", "300,000,002 is written 三亿零二.*320,000,000 was meant, write 三亿二千万"),
        ("一百十二", "112 is written 一百一十二"),
        ("一千十", "1,010 is written 一千零一十"),
        ("一百零十", "110 is written 一百一十"),
        ("一千零零五", "1,005 is written 一千零五"),
        ("一百零五十", "150 is written 一百五十"),
        ("十万零一千", "101,000 is written 十万一千"),
        ("一亿一千", "100,001,000 is written 一亿零一千"),
        ("一万亿五千万", "1,000,050,000,000 is written 一万亿零五千万"),
        ("一百零", "is not a well-formed numeral"),
        ("一万零", "10,000 is written 一万"),
        ("一亿零", "100,000,000 is written 一亿"),
        ("一万万", "100,000,000 is written 一亿"),
        ("一亿零万", "is not a well-formed numeral"),
        # too large
        ("一千万亿", "at most 15 digits"),
        ("一亿亿", "at most 15 digits"),
        ("一亿零一亿", "is not a well-formed numeral"),
        ("九" * 59, "at most 29 characters are read, got 59"),
        pytest.param("亿" * 100_000, "at most 29 characters are read, got 100000", id="endless"),
    ],
)
def test_what_is_no_numeral_is_refused_with_the_cure(text, words):
    with pytest.raises(ValueError, match=words):
        from_chinese(text)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_all_short_strings_are_read_if_and_only_if_a_number_is_written_so(length):
    right = 0
    for characters in itertools.product([*GLOSSES, *VARIANTS], repeat=length):
        right += _read_as_defined("".join(characters))
    assert right >= 11


def test_random_strings_are_read_if_and_only_if_a_number_is_written_so():
    generator = random.Random(5)
    alphabet = [*GLOSSES, *VARIANTS, "十", "百", "千", "零"]
    texts = ("".join(generator.choices(alphabet, k=generator.randint(4, 9))) for _ in range(6000))
    for text in texts:
        _read_as_defined(text)


def test_spoilt_numerals_are_read_if_and_only_if_a_number_is_written_so():
    generator = random.Random(7)
    alphabet = [*GLOSSES, *VARIANTS]
    right = wrong = 0
    for text in generator.sample(sorted(numbers().values()), 6000):
        at = generator.randrange(len(text))
        inserted = generator.choice(["", generator.choice(alphabet), text[-2:], "零"])
        spoilt = text[:at] + inserted + text[at + generator.randint(0, 2) :]
        if _read_as_defined(spoilt):
            right += 1
        else:
            wrong += 1
    assert min(right, wrong) > 500


def _read_as_defined(text):
    if is_numeral(text):
        assert to_chinese(from_chinese(text)) == standard_form(text)
        return True
    try:
        value = from_chinese(text)
    except ValueError as error:
        assert repr(text) in str(error)
        return False
    raise AssertionError(f"{text} was read as {value}")


@pytest.mark.parametrize("function", [to_chinese, to_english, word_sources])
@pytest.mark.parametrize(
    ("number", "error", "words"),
    [
        (-1, ValueError, "number must be at least 0, got -1"),
        (10**15, ValueError, "at most 10¹⁵ − 1, got 1,000,000,000,000,000"),
        pytest.param(10**5000, ValueError, "got one of more than 18 digits", id="5001 digits"),
        (1.0, TypeError, "number must be an integer, got 1.0"),
        (True, TypeError, "number must be an integer, got True"),
        ("十二", TypeError, "number must be an integer, got '十二'"),
        (None, TypeError, "number must be an integer, got None"),
    ],
)
def test_what_is_no_number_is_refused(function, number, error, words):
    with pytest.raises(error, match=words):
        function(number)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (12, r"got int. to_chinese\(12\) writes it\."),
        (-12, r"got int\.$"),
        pytest.param(10**5000, r"got int\.$", id="5001 digits"),
        (True, r"got bool\.$"),
        (None, r"got NoneType\.$"),
        (b"\xe5\x8d\x81", r"got bytes\.$"),
        (["十"], r"got list\.$"),
    ],
)
@pytest.mark.parametrize("function", [from_chinese, standard_form])
def test_what_is_no_text_is_refused(function, value, words):
    with pytest.raises(TypeError, match=f"a numeral must be a str, {words}"):
        function(value)


# Word sources


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "zero←零"),
        (7, "seven←七"),
        (10, "ten←十"),
        (13, "thirteen←十三"),
        (40, "forty←四十"),
        (45, "forty←四十 five←五"),
        (105, "one←一 hundred←百 and five←五"),
        (110, "one←一 hundred←百 and ten←一十"),
        (112, "one←一 hundred←百 and twelve←一十二"),
        (1001, "one←一 thousand and one←一"),
        (10_000, "ten←一万 thousand"),
        (12_000, "twelve←一万二 thousand"),
        (20_000, "twenty←二万 thousand"),
        (100_000, "one←十 hundred←十 thousand"),
        (
            120_304,
            "one←十 hundred←十 and twenty←二万 thousand three←三 hundred←百 and four←四",
        ),
        (130_000, "one←十 hundred←十 and thirty←三万 thousand"),
        (300_000, "three←三 hundred←十 thousand"),
        (1_000_000, "one←一 million"),
        (15_000_000, "fifteen←一千五 million"),
        (100_000_000, "one←一 hundred←亿 million"),
        (1_000_000_000, "one←十 billion"),
        (13_000_000_000, "thirteen←一百三 billion"),
        (700_000_000_000, "seven←七 hundred←千 billion"),
        (13 * 10**12, "thirteen←十三 trillion"),
        (20 * 10**12, "twenty←二十 trillion"),
        (100 * 10**12, "one←一 hundred←百 trillion"),
    ],
)
def test_sources_checked_by_hand(number, expected):
    text = to_chinese(number)
    pairs = zip(to_english(number), word_sources(number), strict=True)
    shown = (word + ("←" + "".join(text[i] for i in at) if at else "") for word, at in pairs)
    assert " ".join(shown) == expected


def test_sources_are_the_digit_beside_and_not_another_one_like_it():
    # 二万二千二百二十二: twenty two thousand two hundred and twenty two
    assert word_sources(22_222) == [(0, 1), (2,), (), (4,), (5,), (), (6, 7), (8,)]


def test_sources_of_all_numbers():
    for number in boundaries():
        text, words = to_chinese(number), to_english(number)
        found = word_sources(number)
        assert len(found) == len(words)
        digits = [i for at in found for i in at if text[i] in DIGITS[1:]]
        assert sorted(digits) == [i for i, c in enumerate(text) if c in DIGITS[1:]], number
        before = ()
        for word, at in zip(words, found, strict=True):
            characters = "".join(text[i] for i in at)
            kind = word_kind(word)
            assert list(at) == sorted(set(at))
            assert "零" not in characters or number == 0
            if kind in ("and", "scale"):
                assert at == ()
                continue
            # neighbours: digit, unit, digit; the 十 at the head lacks its digit
            assert at == tuple(range(at[0], at[0] + len(at)))
            head = at[0] == 0 and text[0] == "十"
            if kind == "digit":
                value = numerals.ONES.index(word)
                assert characters == ("十" if head else DIGITS[value]), number
                assert not head or value == 1
            elif kind == "hundred":
                assert len(at) == 1
                assert at == (before if before == (0,) and text[0] == "十" else (before[0] + 1,))
            elif kind == "tens":
                assert not head
                assert len(at) == 2
                assert characters[0] == DIGITS[numerals.TENS.index(word)]
                assert characters[1] not in DIGITS
            else:
                ones = numerals.TEENS.index(word)
                assert characters.endswith(DIGITS[ones]) if ones else characters[-1] not in DIGITS
                assert characters[0] == ("十" if head else "一")
                assert len(at) == (1 if head else 2) + (ones > 0)
            before = at
