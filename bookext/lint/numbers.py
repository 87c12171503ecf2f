"""Find bare numbers in prose: those that nothing measures, cites or defines.

A number may stand in prose when it is glued (``{glue:text}``), in a sentence with a ``{cite}``, in
mathematics, code, a link target, a label or an exercise's text (the data that the exercise gives),
when it numbers something (chapter 3, section 2, figure 4, a leading "3." in a heading, 2nd), when
it is a year or part of a name (MiniLM-L6, float16, GPT-2), or when the author has marked it as
given, in a comment line directly before the paragraph, list, table or directive:

    % given: 64 (d_k of the example), 5-8 minutes
    % given on this page: 512 (d_model)

Number words ("three heads") are never reported.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bookext.lint.walk import DIRECTIVE, FENCES, OPAQUE, option_lines
from bookext.source import tokens_of

MINUS = r"\-\u2212"  # hyphen-minus, minus
DASH = MINUS + r"\u2010-\u2014"
NUMBER = re.compile(
    rf"""(?<![\w$])[+±{DASH}]?\$?
        (?:\d{{1,3}}(?:[,\u00a0\u2009\u202f]\d{{3}})+|\d+)(?:\.\d+)?(?:[eE][+{MINUS}]?\d+)?
        |(?<![\w.])\.\d+""",
    re.X,
)
UNITS = "x|×|k|K|M|G|T|B|s|ms|µs|us|ns|h|d|kB|KB|MB|GB|TB|px|Hz|GHz|bits?|nats?|min|nd"
#: What may follow a number directly; anything else (4D, 3rd) makes it part of a name.
ATTACHED = re.compile(rf"(?:{UNITS})?(?![^\W_])")
NAMES = (
    r"chapters?|sections?|parts?|appendix|appendices|figures?|figs?\.|tables?|equations?|eqs?\.|"
    r"exercises?|questions?|footnotes?|notes?|steps?|pages?|pp?\.|§+|versions?|python|cells?|"
    r"rows?|columns?|tokens?|positions?|quer(?:y|ies)|keys?|axis|axes|items?|options?|lines?|weeks?"
)
NUMBERED = re.compile(
    rf"(?:^|[\s(\[])(?:{NAMES})\s*\(?(?:[\d.]+\s*(?:,|and|or|to|&|[{DASH}])\s*)*$", re.I
)
NAME_BEFORE = re.compile(rf"[A-Za-z]\w*[.{DASH}]$")
YEAR = re.compile(r"(?:19[5-9]\d|20[0-3]\d)\Z")
YEAR_BEFORE = re.compile(
    r"(?:\b(?:years?|in|of|since|from|until|by|after|before|and|al\.)|\b[A-Z]\w+,?|[(,])\s*$"
)
COUNTED = re.compile(
    r"\s*(?:steps?|tokens?|epochs?|keys?|quer(?:y|ies)|pairs?|words?|sentences?|parameters?|"
    r"samples?|runs?|seeds?|times|heads?|rows?|columns?|dimensions?|components?|values?|examples?)\b"
)
#: 2-d, 3-dimensional, 3.2.1, the 1990s.
IN_A_NAME = re.compile(r"-d(?:im\w*)?\b|(?:\.\d+)+(?!\d)", re.I)
SENTENCE_END = re.compile(
    r"(?<!\bal)(?<!e\.g)(?<!i\.e)(?<!\bcf)(?<!\bvs)(?<!\bFig)[.!?][\"'”’)\]]*\s+|[。！？]"
)
GIVEN = re.compile(r"given( on this page)?\s*:\s*(.*)", re.I)
PLACEHOLDER, CITED = "\ufffc", "\ufffd"
INVISIBLE = {"myst_target", "footnote_anchor", "footnote_ref"}
CITES = re.compile(r"cite(?::\w+)?$|footcite")
EXERCISE = re.compile(r"exercise(-start|-end)?$")


@dataclass
class Sentence:
    """A sentence: its characters, each with the line that it stands on."""

    text: str
    lines: list[int]

    @property
    def cited(self) -> bool:
        return CITED in self.text


def bare_numbers(text: str, first_line: int = 1) -> list[tuple[int, str]]:
    """(line, number) of every bare number in a Markdown text that begins on ``first_line``."""
    everywhere: set[str] = set()
    found = list(_scan(text, first_line, frozenset(), everywhere, [False]))
    return [(line, number) for line, number in found if plain(number) not in everywhere]


def _scan(text, first_line, given, everywhere, in_exercise) -> Iterator[tuple[int, str]]:
    tokens = tokens_of(text)
    allowed, level, context = given, 0, ""
    for token in tokens:
        line = first_line + (token.map[0] if token.map else 0)
        if token.type == "myst_line_comment":
            for comment in token.content.splitlines() or [token.content]:
                if match := GIVEN.match(comment.strip().lstrip("%").strip()):
                    numbers = {plain(m.group()) for m in NUMBER.finditer(match.group(2))}
                    everywhere |= numbers if match.group(1) else set()
                    allowed = allowed | numbers
            continue
        if token.type in FENCES and (match := DIRECTIVE.match(token.info)):
            yield from _directive(token, match, line, allowed, everywhere, in_exercise)
        elif token.type == "heading_open":
            context = "heading"
        elif token.type == "inline" and not in_exercise[0]:
            for sentence in sentences(token, line):
                if not sentence.cited:
                    yield from _numbers(sentence, allowed, heading=context == "heading")
            context = ""
        level += token.nesting
        if level == 0:  # a `% given:` line speaks of the next block only
            allowed = given


def _directive(token, match, line, allowed, everywhere, in_exercise):
    name, argument = match.groups()
    if EXERCISE.match(name):
        in_exercise[0] = name == "exercise-start"
        return
    if name in OPAQUE:
        return
    lines = token.content.splitlines()
    skip = option_lines(lines)
    if argument and name not in {"figure", "image", "solution", "solution-start", "card-link"}:
        yield from _scan(argument, line, allowed, everywhere, in_exercise)
    body = "\n".join(lines[skip:])
    yield from _scan(body, line + 1 + skip, allowed, everywhere, in_exercise)


def sentences(token, line: int) -> Iterator[Sentence]:
    """The sentences of an inline token. Code, maths and roles leave a placeholder behind, so that
    what touches them is not taken apart."""
    text, lines = "", []

    def add(piece: str):
        nonlocal text
        text += piece
        lines.extend([line] * len(piece))

    address = False
    for child in token.children or []:
        if child.type == "text":
            add(PLACEHOLDER if address else child.content)
        elif child.type in {"link_open", "link_close"}:
            address = child.type == "link_open" and child.info == "auto"
        elif child.type in {"softbreak", "hardbreak"}:
            line += 1
            add(" ")
        elif child.type not in INVISIBLE and not child.nesting:
            cited = child.type == "myst_role" and CITES.match(child.meta.get("name", ""))
            add(CITED if cited else PLACEHOLDER)
            line += child.content.count("\n")
    first = 0
    for end in [*(match.end() for match in SENTENCE_END.finditer(text)), len(text)]:
        yield Sentence(text[first:end], lines[first:end])
        first = end


def plain(number: str) -> str:
    """A number without sign, currency, thousands separators."""
    return re.sub(rf"^[+±${DASH}]+|[,\u00a0\u2009\u202f](?=\d{{3}})", "", number.strip())


def _numbers(sentence: Sentence, allowed, heading: bool) -> Iterator[tuple[int, str]]:
    text = sentence.text
    for match in NUMBER.finditer(text):
        number, before, after = match.group(), text[: match.start()], text[match.end() :]
        digits = plain(number)
        numbering = heading and not before.strip() and ("." in number or after[:1] == ".")
        if digits in allowed or numbering:
            continue
        if IN_A_NAME.match(after) or re.search(r"\d\.\d*$", before):
            continue
        if YEAR.match(digits) and digits[-1] == "0" and re.match(r"s\b", after):
            continue  # the 1990s
        if NUMBERED.search(before) or not ATTACHED.match(after):
            continue
        if re.search(r"[^\W\d_]$", before) or NAME_BEFORE.search(before):
            continue  # GPT-2, MiniLM-L6, v1.2
        if (
            YEAR.match(digits)
            and not COUNTED.match(after)
            and (YEAR_BEFORE.search(before) or not before.strip())
        ):
            continue
        yield sentence.lines[match.start()], number.strip()
