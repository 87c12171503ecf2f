"""The break-it lab names tests of ours; they exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_tests_that_the_lab_names_exist():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "chapters/a07-break-it.md").read_text()))
    sources = [path.read_text() for path in (ROOT / "tests").glob("test_*.py")]
    defined = {name for text in sources for name in re.findall(r"^def (test_\w+)", text, re.M)}
    assert len(named) > 10 and named <= defined, named - defined
