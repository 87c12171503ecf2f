"""CSV files that people open in a spreadsheet: written so that no text runs there, read again.

They are UTF-8 with a byte order mark: without it Excel takes names with accents or in Chinese for
another encoding. Moodle and pandas drop the mark; other programs are told "UTF-8 with BOM".
"""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from classroom.assignment import ClassroomError

#: A cell that begins with one of these is a formula for a spreadsheet (the wide ones in Japanese).
FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def safe(value: object) -> str:
    """Text as one line that no spreadsheet takes for a formula; control characters become spaces.

    >>> safe("=1+1"), safe("a\\nb"), safe(2.50)
    ("'=1+1", 'a b', '2.5')
    """
    if value is None:
        return ""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return number(value)
    text = str(value)
    if not text.isprintable():
        text = "".join(sign if sign.isprintable() else " " for sign in text)
    text = text.strip(" ")
    return "'" + text if text.startswith(FORMULA) else text


def number(value: float) -> str:
    """At most three digits behind the point, none that say nothing."""
    return f"{value:.3f}".rstrip("0").rstrip(".")


class Table(NamedTuple):
    """The rows of a CSV, its columns, and what stands between them."""

    rows: list[dict[str, str]]
    columns: Sequence[str]
    delimiter: str = ","


def write_table(
    path: Path,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, object]],
    *,
    delimiter: str = ",",
    as_it_is: Collection[str] = (),
) -> None:
    """Write a CSV; the columns ``as_it_is`` hold what the instructor typed, and keep it."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow([safe(column) for column in columns])
    for row in rows:
        cells = {c: row.get(c) for c in columns}
        writer.writerow([(v or "") if c in as_it_is else safe(v) for c, v in cells.items()])
    write_file(path, out.getvalue(), encoding="utf-8-sig")


def write_file(path: Path, text: str | bytes, encoding: str = "utf-8") -> None:
    """Replace a file at once: who opens it meanwhile sees the old one or the new one, no half.

    Raises:
        ClassroomError: when it cannot be written, e.g. because a spreadsheet holds it open.
    """
    data = text if isinstance(text, bytes) else text.encode(encoding, "replace")
    try:
        if path.is_file() and path.read_bytes() == data:
            return  # as it is: a spreadsheet may hold it open
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        try:
            with open(handle, "wb") as file:
                file.write(data)
            os.chmod(name, 0o644 & ~_umask())
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise ClassroomError(
            f"{path} cannot be written: {error.strerror}. Close it in other programs, or name "
            "another place."
        ) from None


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def read_table(path: Path, needed: Sequence[str], made_by: str) -> Table:
    """Read a CSV as a spreadsheet may have left it: with commas, semicolons or tabs.

    Raises:
        ClassroomError: when it cannot be read or a column is missing; the message names it.
    """
    text = _text(path)
    first = text.partition("\n")[0].strip("\r")
    delimiter = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")
    try:
        rows = [{k: v for k, v in row.items() if isinstance(v, str) and k} for row in reader]
        columns = [column for column in reader.fieldnames or [] if column]
    except csv.Error as error:
        raise ClassroomError(f"{path} is no CSV: {error}") from None
    missing = [column for column in needed if column not in columns]
    if missing:
        raise ClassroomError(
            f"{path} is not what {made_by} writes: it has no column {missing[0]!r}. Its first line "
            f"is {first[:100]!r}."
        )
    return Table(rows, columns, delimiter)


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ClassroomError(f"{path} is not there.") from None
    except OSError as error:
        raise ClassroomError(f"{path} cannot be read: {error.strerror}") from None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):  # Excel's "Unicode text"
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ClassroomError(f"{path} is not UTF-8: save it again as CSV UTF-8.") from None
