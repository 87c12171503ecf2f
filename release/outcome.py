"""What a run of the tests and of the measurements left behind, read for a report."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

#: Of numbers that moved, so many are listed; the file has them all.
MOST = 60


class Moved(NamedTuple):
    """What the measurements say: one sentence, and a line for each number outside its tolerance."""

    summary: str
    lines: list[str]


def failures(results: Path) -> list[str]:
    """The tests that failed, from a file that pytest's --junitxml has written."""
    if not results.exists():
        return []
    cases = ET.parse(results).getroot().iter("testcase")
    return [
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]


def moved(numbers: Path) -> Moved | None:
    """Numbers outside their tolerance, from a file of ``python -m attnkit.verify --json``."""
    if not numbers.exists():
        return None
    pages = json.loads(numbers.read_text(encoding="utf-8"))["pages"]
    lines, measured = [], 0
    for page in pages:
        measured += len(page["lines"])
        if page["why"]:
            lines.append(f"{page['label']}: {page['why']}")
        lines += [
            f"{page['label']}, {line['name']}: printed {line['printed']}, now {line['found']} "
            f"({line['tolerance']})"
            for line in page["lines"]
            if not line["within"]
        ]
        lines += [f"{page['label']}: a claim no longer holds" for _ in page["failed"]]
    summary = f"{measured} numbers of {len(pages)} pages compared with what the book prints; "
    summary += f"{len(lines)} to look at:" if lines else "all within their tolerances."
    rest = len(lines) - MOST
    return Moved(summary, lines[:MOST] + ([f"and {rest} more"] if rest > 0 else []))
