"""Walk through a page's directives and inline text at any depth, with the lines of the file."""

import re
from collections.abc import Iterator

from bookext.source import Page, tokens_of

#: A finding of a rule: line, name of the rule, message with the cure.
Finding = tuple[int, str, str]
FENCES = {"fence", "colon_fence"}
DIRECTIVE = re.compile(r"\{([^}]+)\}\s*(.*)")
#: Directives whose body is not prose.
OPAQUE = set(
    "math code code-block code-cell raw-cell sourcecode literalinclude raw mermaid toctree "
    "bibliography tableofcontents contents autofunction autoclass automodule eval-rst include "
    "image glue glue:figure glue:math iframe only index testcode doctest".split()
)


def directives(page: Page) -> Iterator[tuple[int, str, str, bool]]:
    """(line, info, body, at top level) of every fence of the file, at any depth."""

    def walk(text: str, first: int, depth: int):
        level = 0
        for token in tokens_of(text, inline=False):
            level += token.nesting
            if token.type in FENCES:
                line = first + token.map[0]
                yield line, token.info.strip(), token.content, depth == 0 and level == 0
                match = DIRECTIVE.match(token.info)
                if match and not match.group(1).startswith("code") and match.group(1) != "math":
                    yield from walk(token.content, line + 1, depth + 1)

    yield from walk("\n".join(page.lines[page.header_end :]), page.header_end + 1, 0)


def inlines(page: Page):
    """(line, token) of every inline child, HTML block and directive, at any depth."""

    def walk(text: str, first: int):
        for token in tokens_of(text):
            line = first + (token.map[0] if token.map else 0)
            if token.type in FENCES and (match := DIRECTIVE.match(token.info)):
                yield line, token
                if match.group(1) not in OPAQUE:
                    body = token.content.splitlines()
                    skip = option_lines(body)
                    yield from walk("\n".join(body[skip:]), line + 1 + skip)
            elif token.type == "html_block":
                yield line, token
            for child in token.children or []:
                line += child.type in {"softbreak", "hardbreak"}
                yield line, child

    yield from walk("\n".join(page.lines[page.header_end :]), page.header_end + 1)


def option_lines(lines: list[str]) -> int:
    """The number of lines that a directive's options take."""
    if lines and lines[0].startswith("---"):
        return next((i + 1 for i, x in enumerate(lines) if i and x.startswith("---")), len(lines))
    return next((i for i, x in enumerate(lines) if not x.startswith(":")), len(lines))
