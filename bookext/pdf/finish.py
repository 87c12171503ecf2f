"""What Chromium leaves undone in a PDF: the author, and titles that are twice in the outline."""

from pathlib import Path

from pypdf import PdfWriter
from pypdf.generic import NameObject, TextStringObject


def once(title: str) -> str:
    """A title without its repetition: Chromium says it twice where a heading moved to a new sheet.

    >>> once("SummarySummary"), once("Masks")
    ('Summary', 'Masks')
    """
    half = title[: len(title) // 2]
    return half if half * 2 == title else title


def finish(file: Path, author: str) -> None:
    """Append what is missing; what is there, tags included, stays byte for byte."""
    writer = PdfWriter(file, incremental=True)
    writer.add_metadata({"/Author": author})
    outline = writer.root_object.get("/Outlines")
    pending = [outline.get_object().get("/First")] if outline else []
    while pending:
        found = pending.pop()
        if found is None:
            continue
        entry = found.get_object()
        title = entry.get("/Title", "")
        if once(title) != title:
            entry[NameObject("/Title")] = TextStringObject(once(title))
        pending += [entry.get("/First"), entry.get("/Next")]
    writer.write(file)
