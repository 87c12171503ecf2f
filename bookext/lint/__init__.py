"""Lint of the chapters: ``python -m bookext.lint [files]``; without files, all pages of _toc.yml.

Prints ``file:line: [rule] what is wrong; the cure`` and exits with 1 when it has found something,
2 when a file cannot be read. The rules are the functions in ``RULES``.
"""

import sys
from pathlib import Path

import yaml

from bookext.lint.cells import cells
from bookext.lint.exercises import exercise_cells
from bookext.lint.header import header
from bookext.lint.nbgrader import nbgrader
from bookext.lint.prose import exercises, glue, images, numbers
from bookext.lint.variations import variations
from bookext.source import SourceError, read_page

RULES = [header, cells, numbers, images, glue, nbgrader, exercises, exercise_cells, variations]


def lint(path: Path | str, text: str | None = None) -> list[str]:
    """Every finding of a file, as ``file:line: [rule] message``, in the order of the lines."""
    try:
        page = read_page(path, text)
    except SourceError as error:
        return [f"{error.path}:{error.line}: [source] {error.message}"]
    found = {finding for rule in RULES for finding in rule(page)}
    return [f"{path}:{line}: [{rule}] {message}" for line, rule, message in sorted(found)]


def pages(root: Path) -> list[Path]:
    """The Markdown files of the table of contents below ``root``."""
    toc = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    names: list[str] = []

    def walk(node):
        if isinstance(node, dict):
            names.extend(str(node[key]) for key in ("root", "file") if key in node)
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(toc)
    files = (root / (name if name.endswith(".md") else name + ".md") for name in names)
    return [file for file in files if file.exists()]


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if "-h" in arguments or "--help" in arguments:
        print(__doc__)
        return 0
    try:
        files = [Path(name) for name in arguments] or pages(Path("."))
        findings = [finding for file in files for finding in lint(file)]
    except (OSError, UnicodeDecodeError) as error:
        print(f"cannot read: {error}", file=sys.stderr)
        return 2
    print(*findings, sep="\n", end="\n" if findings else "")
    print(f"{len(files)} pages, {len(findings)} findings", file=sys.stderr)
    return bool(findings)
