"""The whole course as one file, for reading without a network: ``attention-measured.zip``.

Unpacked it is a folder with the site, the notebooks and the wheel that they install attnkit from;
``index.html`` opens as a file, with every widget live. The archive has fixed dates, rights and
order, so the same site gives the same bytes; its comment says what it was made from, and while that
is the same nothing is written.
"""

import hashlib
import re
import zipfile
from pathlib import Path

from bookext.launch import WHOLE

FOLDER = "attention-measured"
#: Made for a server, or for Binder; and the archive itself.
LEFT_OUT = re.compile(
    r"(\.buildinfo|\.nojekyll|404\.html|sitemap\.xml|robots\.txt|CNAME|binder/.*|[^/]*\.zip)"
)
#: Links to what is not in the archive.
ONLINE = re.compile(r'<span class="online">.*?</span>', re.S)
#: Packed already.
PACKED = {".whl", ".png", ".jpg", ".gif", ".woff2", ".webp", ".gz"}
DATE = (1980, 1, 1, 0, 0, 0)
READ_ME = """\
{title}

To read: open index.html in a browser. Everything works without a network, the widgets too.

To run a chapter: open its file in the folder "notebooks" with JupyterLab or VS Code, under
Python 3.11 or newer. Its first cell installs what is missing: attnkit from the folder "wheels",
PyTorch and others from the network, once.

The folder "sources" holds the pages as MyST Markdown.
{address}
{licence}
"""


def site_files(folder: Path) -> list[str]:
    """Every file of the site that goes into the archive, in order."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if not LEFT_OUT.fullmatch(name))


def packed(path: Path) -> bytes:
    """A file as the archive has it: pages without links to the archive itself."""
    data = path.read_bytes()
    if path.suffix == ".html" and b'class="online"' in data:
        return ONLINE.sub("", data.decode("utf-8")).encode("utf-8")
    return data


def made_from(folder: Path, names: list[str], read_me: str) -> str:
    """A hash of all that goes in, and of how."""
    digest = hashlib.sha256(Path(__file__).read_bytes() + read_me.encode())
    for name in names:
        digest.update(f"{name}\0".encode() + hashlib.sha256((folder / name).read_bytes()).digest())
    return digest.hexdigest()


def pack(folder: Path, target: Path, read_me: str) -> bool:
    """Write the archive of a site's folder, unless it is there already; says whether it was."""
    names = site_files(folder)
    state = made_from(folder, names, read_me).encode()
    if zipfile.is_zipfile(target):
        with zipfile.ZipFile(target) as old:
            if old.comment == state:
                return False
    new = target.with_suffix(".new")
    with zipfile.ZipFile(new, "w") as archive:
        add(archive, "READ-ME.txt", read_me.encode("utf-8"))
        for name in names:
            add(archive, name, packed(folder / name))
        archive.comment = state
    new.replace(target)
    return True


def add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(f"{FOLDER}/{name}", DATE)
    entry.create_system, entry.external_attr = 3, 0o644 << 16  # the same on every system
    done = Path(name).suffix in PACKED
    entry.compress_type = zipfile.ZIP_STORED if done else zipfile.ZIP_DEFLATED
    archive.writestr(entry, data, compresslevel=9)


def publish(app, exception) -> None:
    if exception or app.builder.name not in {"html", "dirhtml"}:
        return
    config = app.config
    title = " ".join((config.html_title or config.project).split())
    address = f"\nThe course on the web: {config.html_baseurl}" if config.html_baseurl else ""
    licence = f"\nLicence: {getattr(config, 'bookext_licence', '')}."
    read_me = READ_ME.format(title=title, address=address, licence=licence)
    folder = Path(app.outdir)
    pack(folder, folder / WHOLE, re.sub(r"\n{3,}", "\n\n", read_me))


def setup(app):
    app.add_config_value("bookext_offline", True, "html", [bool])
    app.connect("build-finished", publish, priority=950)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
