"""The tables at the end of ``make book`` and ``make test``, from ``_build/timing.json``.

python -m bookext.timing_report              the table of the last build
python -m bookext.timing_report lint CMD ..  run a command and remember how long it took
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

#: Seconds: an execution, by chapter; of all pages together; a build with and without executions;
#: all tests with lint and book.
PAGE, LONG_PAGE, LONG_CHAPTERS = 30, 60, ("01", "07")
ALL_PAGES, COLD, WARM, TESTS = 300, 480, 15, 1200

FILE = Path("_build") / "timing.json"
STEPS = {
    "start": "imports, configuration",
    "execution": "execution",
    "reading": "reading",
    "writing": "writing, search index",
    "finishing": "downloads, clearing up",
}


def budget(docname: str) -> int:
    """The seconds that the execution of a page may take, two pages side by side."""
    found = re.match(r"chapters/(\d\d)-", docname)
    return LONG_PAGE if found and found[1] in LONG_CHAPTERS else PAGE


def load(file: Path) -> dict:
    """What was stored; nothing, if that is no JSON any more."""
    try:
        return json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def store(file: Path, section: str, took: dict) -> None:
    """Replace one section of the file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(load(file) | {section: took}, indent=1) + "\n", "utf-8")


def row(name: str, seconds: float, limit: float | None = None, note: str = "") -> str:
    """One line; what is over its limit says by how much."""
    over = seconds - limit if limit is not None else 0
    said = [f"OVER by {over:.1f}"] * (over > 0) + [note] * bool(note)
    allowed = "" if limit is None else f"{limit:,d}"
    return f"{name:<34.34} {seconds:8,.1f} {allowed:>7}  {', '.join(said)}".rstrip()


def book_table(book: dict) -> str:
    """Execution by chapter against its budget, then the build step by step."""
    pages = book["pages"]
    new = sum(page["this_build"] for page in pages.values())
    lines = [f"{'Execution':<34} {'seconds':>8} {'budget':>7}"]
    rest = []
    for name, page in pages.items():
        late = page["seconds"] > page["budget"]
        if re.match(r"chapters/\d\d-", name) or late:
            note = "" if page["this_build"] else "cached"
            title = name.removeprefix("chapters/")
            lines.append(row(title, page["seconds"], page["budget"], note))
        else:
            rest.append(page)
    if rest:
        note = "" if all(page["this_build"] for page in rest) else "cached"
        lines.append(row(f"{len(rest)} other pages", sum(p["seconds"] for p in rest), None, note))
    lines.append(
        row(f"all {len(pages)} pages", sum(p["seconds"] for p in pages.values()), ALL_PAGES)
    )
    lines += ["", f"{'Build':<34} {'seconds':>8} {'budget':>7}"]
    notes = {
        "execution": f"{new} pages, {book['kernels']} at a time" if new > 1 else f"{new} pages",
        "reading": f"{book['read']} pages",
    }
    for step, name in STEPS.items():
        lines.append(row(name, book["steps"][step], None, notes.get(step, "")))
    limit, kind = (
        (COLD, "cold") if new else (COLD, "pages read") if book["read"] else (WARM, "warm")
    )
    lines.append(row(f"total, {kind}", book["total"], limit))
    return "\n".join(lines)


def run(section: str, command: list[str]) -> int:
    """Run a command and remember how long it took, if it succeeds."""
    began = time.time()
    status = subprocess.call(command)
    if status == 0:
        store(FILE, section, {"finished": time.time(), "total": time.time() - began})
    return status


def main(arguments: list[str]) -> int:
    if arguments:
        return run(arguments[0], arguments[1:])
    book = load(FILE).get("book")
    if book is None:
        sys.exit(f"{FILE} says nothing of a build; run `make book` first")
    print("\n" + book_table(book))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
