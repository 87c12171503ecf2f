"""The header that makes a page a notebook, and keeps it one."""

import re
from collections.abc import Iterator

from bookext.lint.walk import Finding, directives
from bookext.source import Page

HEADER = {
    ("jupytext", "text_representation", "extension"): ".md",
    ("jupytext", "text_representation", "format_name"): "myst",
    ("jupytext", "text_representation", "format_version"): None,
    ("jupytext", "text_representation", "jupytext_version"): None,
    ("kernelspec", "display_name"): None,
    ("kernelspec", "language"): "python",
    ("kernelspec", "name"): "python3",
}
KNOWN_KEYS = {"jupytext", "kernelspec"}


def header(page: Page) -> Iterator[Finding]:
    """A notebook page has a complete header; one that is not complete is silently not executed."""
    code = next(
        (line for line, info, _, _ in directives(page) if info.startswith("{code-cell}")), None
    )
    if code is None and "jupytext" not in page.header and "kernelspec" not in page.header:
        return
    for path, wanted in HEADER.items():
        value = page.header
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        name = ".".join(path)
        if value is None:
            example = f", for instance '{path[-1]}: {wanted}'" if wanted else ""
            yield 1, "header", f"the header lacks '{name}'{example}: the page would not be executed"
        elif wanted and value != wanted:
            yield (
                _line(page, path[-1]),
                "header",
                f"'{name}' must be {wanted!r}, it is {value!r}",
            )
    for key in ("mystnb", "myst"):
        if isinstance(page.header.get("jupyter"), dict) and key in page.header["jupyter"]:
            yield _line(page, key), "header", f"'{key}' below 'jupyter:' is ignored; unindent it"
    if isinstance(page.header.get("jupyter"), dict):
        yield _line(page, "jupyter"), "header", "a header below 'jupyter:' is ignored; unindent it"
    extra = [key for key in page.header if key not in KNOWN_KEYS | {"jupyter", "file_format"}]
    kept = str((page.header.get("jupytext") or {}).get("notebook_metadata_filter", ""))
    names = {name.strip() for name in kept.split(",")}
    for key in extra:
        if key not in names and "all" not in names:
            wanted = ",".join(sorted({*extra, *names} - {""}))
            yield (
                _line(page, key),
                "header",
                f"'{key}' is lost when the page is edited as a notebook; add "
                f"'notebook_metadata_filter: {wanted}' below 'jupytext:'",
            )


def _line(page: Page, key: str) -> int:
    pattern = re.compile(rf"\s*{re.escape(key)}\s*:")
    lines = enumerate(page.lines[: page.header_end], 1)
    return next((number for number, line in lines if pattern.match(line)), 1)
