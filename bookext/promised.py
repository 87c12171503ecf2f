"""Every address that the build has generated leads to a file of this build; else it is a warning.

Sphinx checks the references that authors write. Downloads, launch links, the wheel that a notebook
installs and links into the published site are made here, so they are looked up here, in the folder
that is published: all of them after everything is written, in every build.
"""

import html
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from sphinx.util import logging

from bookext.address import Repository, repository
from bookext.launch import WHOLE
from bookext.offline import FOLDER, site_files

logger = logging.getLogger(__name__)

HREF = re.compile(r'<a\b[^>]*?\bhref="([^"]*)"')
GENERATED = re.compile(r"(^|/)(notebooks|sources|wheels)/|\.(ipynb|whl|zip)$")
WHEEL = re.compile(r'[^\s"\'`\[\]()]*wheels/[^\s"\'`\[\]()]+\.whl')
ADDRESS = re.compile(r'https?://[^\s"\'`<>()\[\]\\]+')


def wrong(folder: Path, site: str, place: Repository | None, wheel: str) -> Iterator[str]:
    """What leads nowhere, as sentences that name the file."""
    linked: set[Path] = set()
    for page in sorted(folder.rglob("*.html")):
        name = page.relative_to(folder).as_posix()
        for link in map(html.unescape, HREF.findall(page.read_text("utf-8"))):
            target = leads_to(link, page, folder, site, place)
            if target is None:
                continue
            linked.add(target.resolve())
            if not target.is_file():
                yield f"{name}: {link} leads to no file of the book"
    for notebook in sorted(folder.glob("notebooks/*.ipynb")):
        name = notebook.relative_to(folder).as_posix()
        if notebook.resolve() not in linked:
            yield f"{name}: no page links it"
        for link in sorted(installed(notebook)):
            target = (
                folder / link.removeprefix(site)
                if site and link.startswith(site)
                else notebook.parent / link
            )
            if target.name != wheel or not target.is_file():
                yield f"{name}: installs {link}, and the book has {wheel or 'no wheel'}"
        for link in sorted(links_into(notebook, site)):
            if not (folder / unquote(urlsplit(link[len(site) :]).path or "index.html")).is_file():
                yield f"{name}: {link} leads to no file of the book"
    yield from missing_in_archive(folder)


def leads_to(link: str, page: Path, folder: Path, site: str, place: Repository | None):
    """The file that a generated link promises; None for every other link."""
    parts = urlsplit(link)
    if not parts.scheme and not parts.netloc:
        path = unquote(parts.path)
        return page.parent / path if GENERATED.search(path) else None
    if site and link.startswith(site):
        path = unquote(urlsplit(link[len(site) :]).path)
        return folder / path if GENERATED.search(path) else None
    if place is None:
        return None
    project = f"{place.owner}/{place.name}"
    path = unquote(parts.path)
    if "urlpath" in (query := parse_qs(parts.query)) and project in path:
        return folder / unquote(query["urlpath"][0].removeprefix("lab/tree/"))
    start = f"/github/{project}/blob/{place.branch}/"
    return folder / path.removeprefix(start) if path.startswith(start) else None


def strings(notebook: Path) -> Iterator[str]:
    for cell in json.loads(notebook.read_text("utf-8"))["cells"]:
        yield "".join(cell["source"])


def installed(notebook: Path) -> set[str]:
    """The wheels that a notebook or its first note installs."""
    return {link for text in strings(notebook) for link in WHEEL.findall(text)}


def links_into(notebook: Path, site: str) -> set[str]:
    """The pages and files of the published site that a notebook links."""
    if not site:
        return set()
    found = (link for text in strings(notebook) for link in ADDRESS.findall(text))
    return {link.rstrip(".,") for link in found if link.startswith(site)} - {site}


def missing_in_archive(folder: Path) -> Iterator[str]:
    archive = folder / WHOLE
    if not archive.is_file():
        return
    with zipfile.ZipFile(archive) as opened:
        names = set(opened.namelist())
    for name in site_files(folder):
        if f"{FOLDER}/{name}" not in names:
            yield f"{WHOLE}: {name} is not in it"


def check(app, exception) -> None:
    if exception or app.builder.name not in {"html", "dirhtml"}:
        return
    config = app.config
    asked = Path(app.outdir), config.html_baseurl, repository(config), config.bookext_wheel
    for sentence in wrong(*asked):
        logger.warning("%s", sentence)


def setup(app):
    app.connect("build-finished", check, priority=960)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
