"""Look for what the public edition must not show, in every file of a built site."""

import html
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from bookext.public import secrets, strip_markdown

#: In a wheel, the package itself: many solutions build it. What verify carries is looked at.
PACKAGE = re.compile(r"\.whl!attnkit/(?!verify/chapters/)")
SHORTEST = 8  # characters without blanks; shorter lines (")", "return x") say nothing


def squeeze(text: str) -> str:
    """Without blanks and backslashes: JSON may add any number of them."""
    return re.sub(r"[\s\\]+", "", text)


def spellings(text: str) -> set[str]:
    """A text squeezed as it is, and as a reader of HTML sees it, JSON's \\uXXXX undone."""
    text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match.group(1), 16)), text)
    return {squeeze(text), squeeze(html.unescape(re.sub(r"<[^>]*>", "", text)))}


def hidden_lines(pages: dict[Path, str]) -> dict[str, str]:
    """Line without blanks → line, for every line that is hidden and stands in no public text."""
    public = squeeze("\n".join(strip_markdown(text, path) for path, text in pages.items()))
    hidden = {squeeze(line): line for p, text in pages.items() for line in secrets(text, p)}
    return {k: v for k, v in hidden.items() if len(k) >= SHORTEST and k not in public}


def hidden_words(pages: dict[Path, str], reference: str = "") -> set[str]:
    """Words of the hidden lines that stand in no public text: for the search index.

    ``reference`` is what pages take from elsewhere: the docstrings of the API reference.
    """
    public = {
        word
        for path, text in pages.items()
        for word in re.findall(r"\w{4,}", strip_markdown(text, path).lower())
    }
    public |= set(re.findall(r"[^\W_]{4,}", reference.lower()))
    # The index holds stems: "faster" on a page is "fast" in it.
    public = {word[:length] for word in public for length in range(4, len(word) + 1)}
    lines = (line for path, text in pages.items() for line in secrets(text, path))
    return {word for line in lines for word in re.findall(r"\w{4,}", line.lower())} - public


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder with its content, those in zip files too."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield from unpacked(path.relative_to(folder).as_posix(), path.read_bytes())


def unpacked(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, content
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from unpacked(f"{name}!{member}", archive.read(member))


def leaks(site: Path, pages: dict[Path, str], reference: str = "") -> list[str]:
    """``file: hidden line`` for every hidden line, or word of the search index, in the site."""
    lines, words = hidden_lines(pages), hidden_words(pages, reference)
    found = []
    for name, content in files(site):
        if PACKAGE.search(name):
            continue
        texts = spellings(content.decode("utf-8", "replace"))
        found += [f"{name}: {line}" for k, line in lines.items() if any(k in t for t in texts)]
        if name.endswith("searchindex.js"):
            index = json.loads(re.search(rb"\{.*\}", content, re.S).group())
            terms = {*index["terms"], *index["titleterms"]}
            found += [f"{name}: the word {word}" for word in sorted(words & terms)]
        if name.endswith("search-sections.js"):
            terms = set(re.findall(r"\w{4,}", content.decode("utf-8").lower()))
            found += [f"{name}: the word {word}" for word in sorted(words & terms)]
    return found
