"""Pictures: text from the output's metadata, a size, and a build that fails without a text."""

import re
import struct
import zlib

from small_book import build

from bookext.alttext import pixel_size

DRAW = """
```{code-cell}
import matplotlib.pyplot as plt
from attnkit import plots
plots.style()
fig, ax = plt.subplots()
ax.plot([0, 1], [3, 4])
plots.alt(ax, "The line <rises> & ends at 4.");
```
"""
PIXEL = """
```{code-cell}
from IPython.display import Image
Image(data=bytes.fromhex("%s"), format="png"%s)
```
"""


def png(width: int, height: int, per_metre: int | None = None) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    size = chunk(b"pHYs", struct.pack(">IIB", per_metre, per_metre, 1)) if per_metre else b""
    pixels = chunk(b"IDAT", zlib.compress((b"\0" + b"\xff" * width) * height))
    return b"\x89PNG\r\n\x1a\n" + head + size + pixels + chunk(b"IEND", b"")


def test_outputs_and_markdown_have_text_size_and_late_loading(tmp_path):
    (tmp_path / "dot.png").write_bytes(png(30, 20))
    pages = {"index": "# Page\n" + DRAW + "\n![A dot](dot.png)\n\n```{image} dot.png\n:alt: B\n```"}
    built = build(tmp_path, pages, parts=("alttext",), execute=True)
    assert built.status == 0, built.log
    figure, dot, other = re.findall(r"<img[^>]*>", built.page())
    assert 'alt="The line &lt;rises&gt; &amp; ends at 4."' in figure
    assert re.search(r'width="6\d\d" height="3\d\d"', figure), "CSS pixels, not those of the file"
    assert "loading=" not in figure, "the first picture is wanted at once"
    for image in (dot, other):
        assert 'width="30" height="20"' in image
        assert 'loading="lazy"' in image and 'decoding="async"' in image


BARE = {
    "markdown": "![](dot.png)",
    "directive": "```{image} dot.png\n```",
    "figure": "```{figure} dot.png\n\nA caption is no text.\n```",
    "html": '<img src="dot.png">',
    "inline": 'Some <img src="dot.png" alt=""/> text',
}


def test_a_picture_without_text_fails_the_build_with_file_and_line(tmp_path):
    (tmp_path / "dot.png").write_bytes(png(3, 2))
    pages = {name: f"---\norphan: true\n---\n# Page\n\n{text}\n" for name, text in BARE.items()}
    decorative = '# Page\n\n<img src="dot.png" alt="" role="presentation">\n'
    built = build(tmp_path, {"index": decorative, **pages}, parts=("alttext",))
    assert built.status != 0
    for name in BARE:
        assert f"{name}.md:6: WARNING: image without alternative text: " in built.log
    assert built.log.count("WARNING") == len(BARE), "a decorative picture may say so"
    assert "dot.png" in built.log and "plots.alt" in built.log


def test_an_output_without_text_fails_the_build_at_its_cell(tmp_path):
    picture = png(3, 2).hex()
    cells = PIXEL % (picture, "") + PIXEL % (picture, ", alt='A dot.'")
    built = build(tmp_path, {"index": "# Page\n" + cells}, parts=("alttext",), execute=True)
    assert built.status != 0
    assert built.log.count("without alternative text") == 1, "IPython's own alt counts as well"
    assert "index.md:17: WARNING: image without alternative text" in built.log
    assert 'alt="A dot."' in built.page()


def test_pixel_size_counts_the_resolution_only_when_it_is_finer_than_the_screen(tmp_path):
    for per_metre, expected in [(None, (300, 150)), (2835, (300, 150)), (7559, (150, 75))]:
        path = tmp_path / "dot.png"
        path.write_bytes(png(300, 150, per_metre))
        assert pixel_size(path) == expected
