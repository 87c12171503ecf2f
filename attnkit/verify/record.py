"""What the book printed: ``attnkit/data/printed.json``, and the same made from a built book.

A page has its glued values, each with the formats in which pages print it, and the texts that its
cells show. Each number has a kind, which says what it depends on, and the spread that was seen
between settings of one machine (``python -m experiments.printed`` finds both).
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from attnkit.verify.numbers import numbers
from attnkit.verify.pages import CHECKOUT, PACKAGE, START, Source, in_checkout
from attnkit.verify.worker import words_of

FILE = PACKAGE / "data" / "printed.json"
#: Of a number that nobody has looked into yet: it is held to its last printed digit.
UNKNOWN = "rounded"
RECORD = "application/papermill.record/"


class RecordError(ValueError):
    """The record is missing or is none; the message says how to make it."""


@dataclass
class Glued:
    """A value of the prose: its repr, and the formats in which it is printed."""

    value: str
    formats: list[str]
    kind: str = UNKNOWN
    spread: float = 0.0
    records: list[str] = field(default_factory=list)


@dataclass
class Shown:
    """What a cell shows: a text, or a picture's description. Its numbers have a kind each."""

    cell: int
    part: str
    text: str
    section: str
    kinds: list[str] = field(default_factory=list)
    spreads: list[float] = field(default_factory=list)
    records: list[str] = field(default_factory=list)


@dataclass
class Printed:
    """A page as the book printed it."""

    title: str
    code: str
    glued: dict[str, Glued] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def times(self) -> bool:
        """Whether times are compared, which another process beside it would disturb."""
        kinds = {glued.kind for glued in self.glued.values()}
        return bool({"time", "clock"} & kinds.union(*(shown.kinds for shown in self.shown)))


@dataclass
class Record:
    pages: dict[str, Printed]
    scripts: dict[str, str] = field(default_factory=dict)  # recorded file: what makes it again

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that change with anything in the record."""
        return hashlib.sha256(self.dumps().encode()).hexdigest()[:12]

    def dumps(self) -> str:
        """One line a page's part, so that a change is readable; kinds that are all equal once."""
        pages = {}
        for slug, page in self.pages.items():
            kept = asdict(page)
            kept["shown"] = [_packed(shown) for shown in kept["shown"]]
            kept["glued"] = {name: _short(glued) for name, glued in kept["glued"].items()}
            pages[slug] = kept
        return _lines({"scripts": self.scripts, "pages": pages}) + "\n"


def loads(text: str) -> Record:
    kept = json.loads(text)
    pages = {}
    for slug, page in kept["pages"].items():
        glued = {name: Glued(**each) for name, each in page["glued"].items()}
        pages[slug] = Printed(
            page["title"], page["code"], glued, [_unpacked(s) for s in page["shown"]]
        )
        pages[slug].seconds = page["seconds"]
    return Record(pages, kept["scripts"])


def load(file: Path = FILE) -> Record:
    """Read a record.

    Raises:
        RecordError: It is missing, or cannot be read.
    """
    try:
        return loads(file.read_text("utf-8"))
    except FileNotFoundError:
        said = "is missing"
    except (ValueError, KeyError, TypeError) as error:
        said = f"cannot be read ({error})"
    raise RecordError(
        f"The record of what the book printed, {file.name}, {said}. Install attnkit again; in a "
        "checkout, build the book and run: python -m experiments.printed"
    )


def of_build(executed: Path, sources: Iterable[Source], kinds: Record) -> Record:
    """The record of a built book: the values of ``_build/executed``, kinds as they are known."""
    sources = list(sources)
    wanted: dict[str, list[str]] = {}
    for source in [*sources, *_without_cells()]:
        for name, form in source.page.glued:
            formats = wanted.setdefault(name, [])
            formats += [form] * (form not in formats)
    pages = {}
    for source in sources:
        folder = executed if source.slug == START else executed / "chapters"
        notebook = folder / f"{source.slug}.ipynb"
        if notebook.is_file():
            cells = json.loads(notebook.read_text("utf-8"))["cells"]
            pages[source.slug] = _printed(source, cells, wanted, kinds.pages.get(source.slug))
    return Record(pages, kinds.scripts)


def _without_cells() -> list[Source]:
    """Pages that run nothing may still print what another page glued."""
    if not in_checkout():
        return []
    found = [Source(path) for path in sorted((CHECKOUT / "chapters").glob("*.md"))]
    return [source for source in found if not source.page.run]


def _printed(
    source: Source, cells: list[dict], wanted: dict[str, list[str]], known: Printed | None
) -> Printed:
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    page = Printed(source.page.title, source.page.digest)
    page.seconds = known.seconds if known else []
    before = {(shown.cell, shown.part): shown for shown in known.shown} if known else {}
    number = -1
    for cell, ran in zip(source.page.cells, code, strict=True):
        if not cell.runs:
            continue
        number += 1
        for name, value in glued_in(ran):
            if name in wanted:
                old = known.glued.get(name) if known else None
                page.glued[name] = Glued(value, wanted[name])
                if old:
                    page.glued[name].kind, page.glued[name].spread = old.kind, old.spread
                    page.glued[name].records = old.records
        for part, text in shown_by(ran) if cell.shows else ():
            shown = Shown(number, part, text, cell.section)
            count = len(numbers(text))
            old = before.get((number, part))
            same = old is not None and len(old.kinds) == count
            shown.kinds = old.kinds if same and old else [UNKNOWN] * count
            shown.spreads = old.spreads if same and old else [0.0] * count
            shown.records = old.records if old else []
            if count:
                page.shown.append(shown)
    return page


def glued_in(cell: dict[str, Any]) -> list[tuple[str, str]]:
    """(name, repr) of what an executed cell glued, in order."""
    found = []
    for output in cell["outputs"]:
        name = output.get("metadata", {}).get("scrapbook", {}).get("name")
        data = output.get("data", {})
        if name is not None:
            text = data.get(RECORD + "text/plain", data.get("text/plain", ""))
            found.append((name, "".join(text)))
    return found


def shown_by(cell: dict[str, Any]) -> list[tuple[str, str]]:
    """(part, text) of what an executed cell shows, as the worker tells it."""
    printed, texts, pictures = "", [], []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            printed += "".join(output["text"]) if output["name"] == "stdout" else ""
        elif output["output_type"] == "error":
            texts.append(f"{output['ename']}: {output['evalue']}")
        elif "scrapbook" not in output.get("metadata", {}):
            kind, words = words_of(output["data"], output.get("metadata", {}))
            (texts if kind == "text" else pictures).append(words)
    text = "\n".join(filter(None, [printed.strip(), *texts]))
    pictures = [("picture" if not n else f"picture {n}", p) for n, p in enumerate(pictures)]
    return [(part, words) for part, words in [("text", text), *pictures] if words]


def _packed(shown: dict[str, Any]) -> dict[str, Any]:
    kinds, spreads = shown.pop("kinds"), shown.pop("spreads")
    shown["kinds"] = kinds[0] if len(set(kinds)) == 1 else kinds
    if any(spreads):
        shown["spreads"] = spreads
    if not shown["records"]:
        del shown["records"]
    return shown


def _short(glued: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in glued.items() if value or key in ("value", "formats")}


def _unpacked(shown: dict[str, Any]) -> Shown:
    count = len(numbers(shown["text"]))
    kinds = shown.pop("kinds")
    shown["kinds"] = [kinds] * count if isinstance(kinds, str) else kinds
    return Shown(**{"spreads": [0.0] * count, **shown})


def _lines(value: Any, depth: int = 0) -> str:
    """JSON with the first levels over lines, the rest on one."""
    if depth < 4 and isinstance(value, dict | list) and value and not _flat(value):
        inner = "\n" + " " * (depth + 1)
        if isinstance(value, dict):
            parts = [f"{json.dumps(k)}: {_lines(v, depth + 1)}" for k, v in value.items()]
            return "{" + ",".join(inner + part for part in parts) + "\n" + " " * depth + "}"
        parts = [_lines(each, depth + 1) for each in value]
        return "[" + ",".join(inner + part for part in parts) + "\n" + " " * depth + "]"
    return json.dumps(value, ensure_ascii=False)


def _flat(value: Any) -> bool:
    each = value.values() if isinstance(value, dict) else value
    return not any(isinstance(one, dict | list) for one in each) or "value" in value
