"""What has left the book leaves the site: pages and pictures of earlier builds.

Sphinx writes what is new and removes nothing: a renamed chapter would stay published under its
old address, with its old numbers.
"""

from pathlib import Path

#: Pages that no source stands for.
MADE = {"genindex", "search", "index", "404"}


def remove(app, exception):
    """Remove the pages and pictures that no page of today's book accounts for."""
    if exception is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for page in out.rglob("*.html"):
        name = page.relative_to(out).with_suffix("").as_posix()
        if not name.startswith("_") and name not in app.env.found_docs and name not in MADE:
            page.unlink()
    pictures = {name for _, name in app.env.images.values()}
    for picture in (out / "_images").glob("*"):
        if picture.name not in pictures:
            picture.unlink()


def setup(app):
    app.connect("build-finished", remove)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
