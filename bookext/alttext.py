"""Every picture of the book has an alternative text, a size, and waits until it is needed.

An output may carry its text in its metadata, ``{"image/png": {"alt": "..."}}``, as
``attnkit.plots`` makes it; myst-nb takes only the size from there. A picture that has none, be it
an output, Markdown or HTML, is a warning with file and line, which fails the build (``-W``).
"""

import struct
from html.parser import HTMLParser
from pathlib import Path

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.util import logging

from bookext.places import placed

logger = logging.getLogger(__name__)

CURE = (
    "Say in one or two sentences what it shows: `![the text](…)` or `:alt:` in Markdown, "
    "`attnkit.plots.alt(ax, text)` in a code cell that draws with matplotlib, "
    '`display(…, metadata={"image/png": {"alt": text}})` for any other output.'
)
CSS_PIXELS_PER_INCH = 96
_render_image = NbElementRenderer.render_image


def render_image(self: NbElementRenderer, data: MimeData) -> list[nodes.Element]:
    """myst-nb's, and the alternative text out of the output's metadata."""
    images = _render_image(self, data)
    text = data.output_metadata.get(data.mime_type, {}).get("alt")
    for image in images:
        if isinstance(text, str) and text.strip():
            image["alt"] = " ".join(text.split())
        image.source = str(self.renderer.document["source"])
        image.line = data.line
    return images


class _ImagesWithoutAlt(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        hidden = values.get("role") == "presentation" or values.get("aria-hidden") == "true"
        if tag == "img" and not hidden and not (values.get("alt") or "").strip():
            self.found.append((values.get("src") or "")[:60])

    handle_startendtag = handle_starttag


def check(app, doctree, docname):
    """Warn of each picture without a text; give the others their size."""
    if app.builder.format != "html":
        return
    for number, image in enumerate(doctree.findall(nodes.image)):
        if not str(image.get("alt", "")).strip():
            _warn(app, image, docname, Path(image["uri"]).name)
        image["eager"] = number == 0
    for raw in doctree.findall(nodes.raw):
        if "html" in raw.get("format", "").split():
            parser = _ImagesWithoutAlt()
            parser.feed(raw.astext())
            for source in parser.found:
                _warn(app, raw, docname, f"<img src={source!r}>")


def _warn(app, node, docname, name):
    logger.warning(
        "image without alternative text: %s. %s",
        name,
        CURE,
        location=(docname, _line(node, Path(app.env.doc2path(docname)), name)),
        type="alttext",
    )


def _line(node, source: Path, name: str) -> int | None:
    """The line of the node or of what holds it, or below that the first that names the picture."""
    place = placed(node)
    if place is not node and isinstance(place, nodes.section) and source.suffix == ".md":
        lines = source.read_text(encoding="utf-8").splitlines()
        for number, text in enumerate(lines[place.line :], start=place.line + 1):
            if name in text:
                return number
    return place.line


def pixel_size(path: Path) -> tuple[int, int] | None:
    """Width and height in CSS pixels: a PNG's own resolution counts, as matplotlib writes it."""
    data = path.read_bytes()
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        from sphinx.util.images import get_image_size

        return get_image_size(path)
    width, height = struct.unpack(">II", data[16:24])
    scale = 1.0
    found = data.find(b"pHYs", 0, data.find(b"IDAT"))
    if found > 0:
        per_metre, _, unit = struct.unpack(">IIB", data[found + 4 : found + 13])
        per_inch = per_metre * 0.0254
        if unit == 1 and per_inch > CSS_PIXELS_PER_INCH:
            scale = CSS_PIXELS_PER_INCH / per_inch
    return max(1, round(width * scale)), max(1, round(height * scale))


def _attributes(translator, node) -> str:
    """Known size and late loading: the page does not jump, and pictures below the fold wait."""
    said = ' decoding="async"'
    if not node.get("eager"):
        said += ' loading="lazy"'
    if "width" in node or "height" in node or "scale" in node:
        return said
    path = Path(translator.builder.srcdir) / node.get("candidates", {}).get("*", node["uri"])
    size = pixel_size(path) if path.is_file() else None
    return said + (f' width="{size[0]}" height="{size[1]}"' if size else "")


def visit_image(translator, node):
    attributes = _attributes(translator, node)
    type(translator).visit_image(translator, node)
    translator.body[-1] = translator.body[-1].replace("<img ", f"<img{attributes} ", 1)


def depart_image(translator, node):
    type(translator).depart_image(translator, node)


def setup(app):
    NbElementRenderer.render_image = render_image
    app.add_node(nodes.image, override=True, html=(visit_image, depart_image))
    app.connect("doctree-resolved", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
