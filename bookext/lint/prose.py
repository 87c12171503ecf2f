"""Prose: glued numbers, images that say what they show, exercises that end."""

import ast
import re
from collections.abc import Iterator

from bookext.lint.numbers import bare_numbers
from bookext.lint.walk import DIRECTIVE, FENCES, Finding, directives, inlines, option_lines
from bookext.public import MARKER
from bookext.source import Page

GLUE_ROLE = re.compile(r"glue(?::\w+)?$")


def numbers(page: Page) -> Iterator[Finding]:
    """No number in prose that nothing measures, cites or defines (see bookext.numbers)."""
    text = "\n".join(page.lines[page.header_end :])
    for line, number in bare_numbers(text, page.header_end + 1):
        yield (
            line,
            "number",
            f"the bare number {number!r}: measure it in a cell and write {{glue:text}}, cite it in "
            "the same sentence, put a definition into mathematics, or mark it with the line "
            f"'% given: {number} (why)' before the paragraph",
        )


def images(page: Page) -> Iterator[Finding]:
    """Every image says in words what it shows."""
    for line, token in inlines(page):
        if token.type == "image" and not token.content.strip():
            cure = "write what it shows: ![text](file)"
            yield line, "alt", f"the image {token.attrs.get('src')!r} has no alt text; {cure}"
        elif token.type in {"html_inline", "html_block"}:
            yield from _html(token.content, line)
        elif token.type in FENCES and (match := DIRECTIVE.match(token.info)):
            name, argument = match.groups()
            body = token.content.splitlines()
            options = "\n".join(body[: option_lines(body)])
            if name in {"image", "figure"} and not re.search(r"^:?alt:\s*\S", options, re.M):
                yield line, "alt", f"the {name} {argument!r} has no alt text; add ':alt: text'"


def _html(text: str, line: int) -> Iterator[Finding]:
    for tag in re.findall(r"<img\b[^>]*>", text, re.I):
        if not re.search(r"\balt\s*=\s*(\"[^\"]+\"|'[^']+')", tag):
            yield line, "alt", f'{tag} has no alt text; add alt="what it shows"'


def glue(page: Page) -> Iterator[Finding]:
    """Every glued name that the prose uses is glued by a cell of the page."""
    known, patterns = set(), []
    for cell in page.cells:
        if cell.kind != "code" or "glue" not in cell.source:
            continue
        try:
            tree = ast.parse(cell.source)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and _name(node.func) == "glue" and node.args):
                continue
            name = node.args[0]
            if isinstance(name, ast.Constant):
                known.add(name.value)
            elif isinstance(name, ast.JoinedStr):
                parts = (
                    re.escape(str(p.value)) if isinstance(p, ast.Constant) else ".+"
                    for p in name.values
                )
                patterns.append(re.compile("".join(parts)))
            else:
                patterns.append(re.compile(".+"))
    for line, name in _glue_uses(page):
        if name not in known and not any(pattern.fullmatch(name) for pattern in patterns):
            yield (
                line,
                "glue",
                f"nothing glues {name!r} on this page; add glue({name!r}, value, display=False) to "
                "a remove-cell",
            )


def _name(func: ast.expr) -> str:
    return getattr(func, "id", getattr(func, "attr", ""))


def _glue_uses(page: Page) -> Iterator[tuple[int, str]]:
    for line, token in inlines(page):
        if token.type == "myst_role" and GLUE_ROLE.match(token.meta.get("name", "")):
            yield line, token.content.split(":", 1)[0]
        elif token.type in FENCES and (match := DIRECTIVE.match(token.info)):
            name, argument = match.groups()
            if GLUE_ROLE.match(name) and not re.search(r"^:doc:", token.content, re.M):
                yield line, argument.strip()


def exercises(page: Page) -> Iterator[Finding]:
    """Gated exercises and solutions are opened and closed in turn, and have labels."""
    opened: tuple[str, int] | None = None
    found = list(directives(page))
    labels = {
        match.group(1)
        for _, info, body, _ in found
        if info.startswith("{exercise") and (match := re.search(r"^:?label:\s*(\S+)", body, re.M))
    }
    for line, info, body, _ in found:
        match = re.match(r"\{(exercise|solution)(-start|-end)?\}\s*(\S*)", info)
        if not match:
            continue
        kind, gate, target = match.groups()
        if kind == "solution" and gate != "-end" and target not in labels:
            yield line, "exercise", f"no exercise on this page has the label {target!r}"
        if kind == "exercise" and gate != "-end" and not re.search(r"^:?label:\s*\S", body, re.M):
            yield line, "exercise", "an exercise without label; add ':label: ex-name'"
        if gate == "-start":
            if opened:
                yield (
                    line,
                    "exercise",
                    f"'{{{kind}-start}}' while the {opened[0]} of line {opened[1]} is still open; "
                    f"close it with '{{{opened[0]}-end}}'",
                )
            opened = (kind, line)
        elif gate == "-end":
            if not opened or opened[0] != kind:
                yield line, "exercise", f"'{{{kind}-end}}' without '{{{kind}-start}}' before it"
            opened = None
    if opened:
        yield opened[1], "exercise", f"this {opened[0]} is never closed: add '{{{opened[0]}-end}}'"
    for number, text in enumerate(page.lines, 1):
        if MARKER.match(text) and not any(
            cell.body < number <= cell.end for cell in page.cells if cell.nbgrader
        ):
            yield number, "nbgrader", f"{text.strip()!r} outside a graded cell would be published"
