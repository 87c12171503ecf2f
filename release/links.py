"""Ask every address outside that the sources name: ``python -m release.links [REPORT]``.

The sources are all of what people read: chapters, bibliography, README and its like, decisions.
Sphinx's own link checker asks, once for each address, with retries and respect for hosts that want
to be asked slowly; no chapter is executed. The report names file and line of each dead address.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from release.versions import ROOT

PATTERNS = ("*.md", "*.bib", "NOTICE", "CITATION.cff", "chapters/*.md", "docs/**/*.md")
PATTERNS += ("bookext/templates/*.html",)
ADDRESS = re.compile(r"""https?://[^\s"'<>`\\{}\[\]|]+""")
DOI = re.compile(r"^\s*doi\s*=\s*\{([^}]+)\}", re.MULTILINE | re.IGNORECASE)
EPRINT = re.compile(r"^\s*eprint\s*=\s*\{(\d{4}\.\d{4,5})\}", re.MULTILINE | re.IGNORECASE)

#: What is not asked, and why.
IGNORED = {
    r"https?://(localhost|127\.0\.0\.1)(:\d+)?(/.*)?": "the reader's own machine",
    r"https?://(\w+\.)*example\.(org|com)(/.*)?": "reserved for examples",
    r"https://(owner\.github\.io|github\.com/owner)/.*": "stands for the reader's own address",
    r"http://www\.w3\.org/2000/svg": "a name, not an address",
}
#: Publishers that turn programs away (403, 418): a person reaches them.
GUARDED = {r"https://doi\.org/10\.1109/.*": "IEEE turns programs away"}
#: Of Sphinx's answers, those that say that a reader finds nothing.
DEAD = {"broken", "timeout"}
#: What a host says of an address that has moved for good.
MOVED = {301, 308}

CONF = """
project = "links"
linkcheck_ignore = {ignore!r}
linkcheck_retries = 3
linkcheck_timeout = 30
linkcheck_workers = 8
linkcheck_report_timeouts_as_broken = False
linkcheck_anchors = True
linkcheck_anchors_ignore_for_url = [r"https://github\\.com/.*"]  # GitHub writes them by script
user_agent = "Mozilla/5.0 (compatible; link check of Attention, Measured)"
"""


class Place(NamedTuple):
    """Where an address stands."""

    file: str
    line: int


class Answer(NamedTuple):
    """What became of an address: Sphinx's word for it, what the host said, and by which number."""

    address: str
    status: str
    info: str
    code: int = 0


def in_text(text: str, *, bibliography: bool = False) -> Iterator[tuple[str, int]]:
    """Every address of a text with its line; in a bibliography, what a DOI or a number means."""
    found = [(match[0], match.start()) for match in ADDRESS.finditer(text)]
    if bibliography:
        found += [(f"https://doi.org/{m[1]}", m.start(1)) for m in DOI.finditer(text)]
        found += [(f"https://arxiv.org/abs/{m[1]}", m.start(1)) for m in EPRINT.finditer(text)]
    for address, at in found:
        if "…" in address:
            continue  # stands for something
        address = address.rstrip(".,;:!?*")
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(".,;:")
        yield address, text.count("\n", 0, at) + 1


def collect(root: Path = ROOT) -> dict[str, list[Place]]:
    """Every address that the sources name, and where."""
    places: dict[str, list[Place]] = {}
    for pattern in PATTERNS:
        for file in sorted(root.glob(pattern)):
            text = file.read_text(encoding="utf-8")
            name = file.relative_to(root).as_posix()
            for address, line in in_text(text, bibliography=file.suffix == ".bib"):
                places.setdefault(address, []).append(Place(name, line))
    return places


def ask(addresses: list[str], ignored: Mapping[str, str] = IGNORED | GUARDED) -> list[Answer]:
    """What Sphinx's link checker says of each."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "conf.py").write_text(CONF.format(ignore=list(ignored)), encoding="utf-8")
        page = "\n".join(f"* `{n} <{address}>`__" for n, address in enumerate(addresses))
        (folder / "index.rst").write_text(f"Links\n=====\n\n{page}\n", encoding="utf-8")
        command = [sys.executable, "-m", "sphinx", "-q", "-b", "linkcheck", ".", "out"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        result = folder / "out" / "output.json"
        if not result.exists():
            raise RuntimeError(f"Sphinx checked nothing:\n{done.stderr.strip()[-3000:]}")
        rows = [json.loads(line) for line in result.read_text(encoding="utf-8").splitlines()]
    answers = {
        row["uri"]: Answer(*(row[k] for k in ("uri", "status", "info", "code"))) for row in rows
    }
    return [answers.get(a, Answer(a, "broken", "not asked")) for a in addresses]


def report(places: Mapping[str, list[Place]], answers: list[Answer]) -> str:
    """The answers for people, what is dead first."""
    dead = [answer for answer in answers if answer.status in DEAD]
    moved = [answer for answer in answers if answer.code in MOVED]
    counts: dict[str, int] = {}
    for answer in answers:
        counts[answer.status] = counts.get(answer.status, 0) + 1
    lines = [f"{len(answers)} addresses: " + ", ".join(f"{n} {s}" for s, n in counts.items()), ""]
    for title, rows in (("Nothing is found there", dead), ("Moved for good", moved)):
        if rows:
            lines += [
                f"## {title}",
                "",
                "| address | where | what the host says |",
                "|---|---|---|",
            ]
            for answer in rows:
                where = ", ".join(f"`{p.file}:{p.line}`" for p in places[answer.address])
                said = " ".join(answer.info.split()).replace("|", "\\|")[:200]
                lines.append(f"| {answer.address} | {where} | {said} |")
            lines.append("")
    lines += ["Not asked:", ""]
    lines += [f"- `{pattern}`: {why}" for pattern, why in (IGNORED | GUARDED).items()]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m release.links", description=__doc__)
    parser.add_argument("report", nargs="?", type=Path, help="write the report here, too")
    parser.add_argument("--list", action="store_true", help="print the addresses and ask nobody")
    options = parser.parse_args(arguments)
    places = collect()
    if options.list:
        for address, where in places.items():
            print(address, *(f"{place.file}:{place.line}" for place in where))
        return 0
    answers = ask(list(places))
    text = report(places, answers)
    print(text, end="")
    if options.report:
        options.report.write_text(text, encoding="utf-8")
    return int(any(answer.status in DEAD for answer in answers))


if __name__ == "__main__":
    raise SystemExit(main())
