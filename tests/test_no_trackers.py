"""No file of the built book names another machine as the place of something that a page loads."""

import re
from pathlib import Path

import pytest

HTML = Path(__file__).parents[1] / "_build" / "html"
AWAY = r"(?:https?:|wss?:)?//"
#: Elements that load by themselves; links for people to follow (`a`, canonical ones) do not.
LOADING = re.compile(
    rf"""<(?:script|img|iframe|video|audio|source|track|embed|input|image|use)\b[^>]*?
         \s(?:src|srcset|href|xlink:href|poster)\s*=\s*["']?\s*{AWAY}
       | <object\b[^>]*?\sdata\s*=\s*["']?\s*{AWAY}
       | <form\b[^>]*?\saction\s*=\s*["']?\s*{AWAY}
       | <[^>]*?\sping\s*=
       | <link\b(?=[^>]*\srel\s*=\s*["']?[^"'>]*
           (?:stylesheet|icon|preload|prefetch|preconnect|dns-prefetch|manifest|modulepreload))
         [^>]*?\shref\s*=\s*["']?\s*{AWAY}""",
    re.I | re.X,
)
IN_CSS = re.compile(rf"""(?:url\(\s*|@import\s+)["']?\s*{AWAY}""", re.I)
IN_CODE = re.compile(
    rf"""(?:\bfetch|\bimport|\bimportScripts|\bsendBeacon|\bWebSocket|\bEventSource|\bWorker
          |\.open|\bImage)\s*\([^)"'`]*["'`][^"'`]*?{AWAY}
       | (?:\.src|\.href|\bfrom)\s*=?\s*["'`]{AWAY}""",
    re.I | re.X,
)
PATTERNS = {
    ".html": (LOADING, IN_CSS),
    ".css": (IN_CSS,),
    ".js": (IN_CODE,),
    ".svg": (LOADING, IN_CSS),
}


def named(name: str, text: str) -> list[str]:
    """The places of a file that would be fetched from another machine."""
    found = (m for p in PATTERNS.get(Path(name).suffix, ()) for m in p.finditer(text))
    return [f"{name}: {m[0][:120]}" for m in found]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<script async src="https://count.example/t.js"></script>'),
        ("a.html", '<img alt="" width=1 src=//count.example/p.gif>'),
        ("a.html", '<link rel="preconnect" href="https://fonts.example">'),
        ("a.html", '<link href="https://fonts.example/a.css" rel="stylesheet">'),
        ("a.html", '<a href="b.html" ping="https://count.example">b</a>'),
        ("a.html", "<style>@import 'https://fonts.example/a.css';</style>"),
        ("a.css", "body { background: url( https://count.example/p.gif ) }"),
        ("a.js", 'navigator.sendBeacon("https://count.example", data)'),
        ("a.js", 'await fetch(`https://count.example/${x}`, { method: "POST" })'),
        ("a.js", 'new Image().src = "//count.example/p.gif"'),
        ("a.js", 'import x from "https://cdn.example/x.js"'),
    ],
)
def test_what_would_be_fetched_is_seen(name, text):
    assert named(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.html", '<a href="https://arxiv.org/abs/1706.03762">paper</a>'),
        ("a.html", '<link rel="canonical" href="https://someone.example/a.html">'),
        ("a.html", '<script src="_static/book.js?v=1"></script> see https://arxiv.org'),
        ("a.js", 'createElementNS("http://www.w3.org/2000/svg", "path") // https://docs.example'),
        ("a.svg", '<svg xmlns="http://www.w3.org/2000/svg"></svg>'),
    ],
)
def test_links_and_names_are_none(name, text):
    assert not named(name, text)


def test_no_file_of_the_book_loads_anything_from_elsewhere():
    if not (HTML / "index.html").is_file():
        pytest.fail("The book is not built. Run `make book` first.", pytrace=False)
    files = [file for file in sorted(HTML.rglob("*")) if file.suffix in PATTERNS]
    assert len(files) > 30
    found = [
        one
        for file in files
        for one in named(
            file.relative_to(HTML).as_posix(), file.read_text(encoding="utf-8", errors="replace")
        )
    ]
    assert not found, "\n".join(found)
