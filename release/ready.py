"""Whether this tree can go out as the version it says: ``python -m release.ready``.

Nothing is published here; CONTRIBUTING.md has the steps. Each line that is printed is something to
mend first.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

from release.contents import faults
from release.versions import ROOT, disagreements, unreleased, version

CANONICAL = re.compile(r'<link rel="canonical" href="https?://')


def work_tree(root: Path = ROOT) -> list[str]:
    """What Git says of the tree: what is not committed, a version that is tagged already."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else f"git: {done.stderr.strip()}"

    found = []
    if changed := git("status", "--porcelain"):
        found.append(
            f"not committed: {', '.join(line.split()[-1] for line in changed.split(chr(10)))}"
        )
    tag = f"v{version(root)}"
    if git("tag", "--list", tag) and git("rev-list", "-n", "1", tag) != git("rev-parse", "HEAD"):
        found.append(f"{tag} is another commit already; raise the version in pyproject.toml")
    return found


def changelog(root: Path = ROOT) -> list[str]:
    """Versions that disagree, and changes that belong to no version."""
    found = disagreements(root)
    if unreleased(root):
        found.append(f"CHANGELOG.md: what is under Unreleased belongs to {version(root)}")
    return found


def packages(dist: Path, root: Path = ROOT) -> list[str]:
    """What is wrong with the wheel and the sdist in a folder."""
    wheel = dist / f"attnkit-{version(root)}-py3-none-any.whl"
    sdist = dist / f"attnkit-{version(root)}.tar.gz"
    missing = [file.name for file in (wheel, sdist) if not file.exists()]
    if missing:
        return [f"{dist} has no {' and no '.join(missing)}; run: make package"]
    return faults(wheel, sdist, root)


def site(html: Path) -> list[str]:
    """What is wrong with the built book: it has to know the address at which it will stand."""
    start = html / "index.html"
    if not start.exists():
        return [f"{html} has no book; run: COURSE_URL=https://… make book"]
    if not CANONICAL.search(start.read_text(encoding="utf-8")):
        return [
            f"the book in {html} has no address of its own; run: COURSE_URL=https://… make book"
        ]
    return []


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.ready", description=__doc__)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    options = parser.parse_args(arguments)
    found = [*work_tree(), *changelog(), *packages(options.dist), *site(options.site)]
    print("\n".join(f"- {line}" for line in found) or f"{version()} can go out")
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
