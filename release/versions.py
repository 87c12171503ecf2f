"""The version: written in pyproject.toml, and the same wherever else it has to stand."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RELEASE = re.compile(r"^## (\d+\.\d+\.\d+) - (\d{4}-\d\d-\d\d)$", re.MULTILINE)


def project(root: Path = ROOT) -> dict[str, Any]:
    """The table ``project`` of pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def version(root: Path = ROOT) -> str:
    """The version of attnkit and of the course; pyproject.toml is the one place of it."""
    return project(root)["version"]


def cited(root: Path = ROOT) -> tuple[str, date]:
    """Version and date in CITATION.cff."""
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    found = dict(re.findall(r'^(version|date-released): *"?([^"\s]+)"?$', text, re.MULTILINE))
    return found["version"], date.fromisoformat(found["date-released"])


def changes(root: Path = ROOT) -> list[tuple[str, date]]:
    """Versions and dates in CHANGELOG.md, the newest first."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    return [(number, date.fromisoformat(day)) for number, day in RELEASE.findall(text)]


def unreleased(root: Path = ROOT) -> str:
    """What CHANGELOG.md has under *Unreleased*."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    return text.partition("## Unreleased")[2].partition("\n## ")[0].strip()


def moment(root: Path = ROOT) -> int:
    """The second that everything of a release is dated with: the beginning of its day."""
    day = cited(root)[1]
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def disagreements(root: Path = ROOT) -> list[str]:
    """Every place whose version or date is not that of pyproject.toml and CITATION.cff."""
    wanted, (number, day), released = version(root), cited(root), changes(root)
    faults = []
    if number != wanted:
        faults.append(f"CITATION.cff has version {number}, pyproject.toml {wanted}")
    if not released:
        faults.append("CHANGELOG.md has no line such as '## 1.0.0 - 2026-12-01'")
    elif released[0][0] != wanted:
        faults.append(f"CHANGELOG.md begins with {released[0][0]}, pyproject.toml has {wanted}")
    elif released[0][1] != day:
        faults.append(f"CHANGELOG.md dates {wanted} {released[0][1]}, CITATION.cff {day}")
    days = [then for _, then in released]
    if days != sorted(days, reverse=True):
        faults.append("CHANGELOG.md: the newest version comes first")
    return faults
