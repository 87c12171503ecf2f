"""Export the executed notebook of every page: ``_build/executed/<docname>.ipynb``.

It is the execution that made the book, taken from the execution cache (or from myst-nb's own
folder when the book is built without one), so nothing runs twice. A stamp of source
and cache tells whether the exported file is still right, so a build that reads no page loses none.
"""

import hashlib
import json
import os
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from myst_nb.core.read import read_myst_markdown_notebook

from bookext.source import EXTENSIONS, Page, SourceError

STAMPS = ".stamps.json"
#: Kept in each notebook, so that nbval runs it with as many threads.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


def folder(app) -> Path:
    return Path(app.outdir).parent / "executed"


def export(app, pages: dict[str, Page]) -> None:
    """Write what is missing or out of date, remove what belongs to no page any more."""
    if app.config.nb_execution_mode == "off":
        return
    target = folder(app)
    target.mkdir(parents=True, exist_ok=True)
    stamps = target / STAMPS
    old = json.loads(stamps.read_text("utf-8")) if stamps.exists() else {}
    new = {}
    for docname, page in pages.items():
        file = target / f"{docname}.ipynb"
        new[docname] = stamp(app, docname, page)
        if not file.exists() or old.get(docname) != new[docname]:
            file.parent.mkdir(parents=True, exist_ok=True)
            notebook = executed(app, docname, page)
            file.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    for file in target.rglob("*.ipynb"):
        if file.relative_to(target).with_suffix("").as_posix() not in pages:
            file.unlink()
    stamps.write_text(json.dumps(new, indent=1, sort_keys=True), encoding="utf-8")


def stamp(app, docname: str, page: Page) -> str:
    digest = hashlib.sha256("\n".join(page.lines).encode())
    digest.update(str(app.env.mystnb_config.execution_cache_path).encode())
    if app.config.nb_execution_mode != "cache":
        made = _myst_nb_file(app, docname)
        digest.update(str(made.stat().st_mtime_ns if made.exists() else 0).encode())
    return digest.hexdigest()


def executed(app, docname: str, page: Page) -> nbformat.NotebookNode:
    """The notebook of a page with the outputs that are in the book."""
    if app.config.nb_execution_mode == "cache":
        config = app.env.myst_config.copy(enable_extensions=set(EXTENSIONS))
        source = read_myst_markdown_notebook("\n".join(page.lines), config, path=page.path)
        cache = get_cache(app.env.mystnb_config.execution_cache_path)
        try:
            _, notebook = cache.merge_match_into_notebook(source)
        except KeyError:
            raise SourceError(
                page.path, 1, "the execution cache has no outputs for this page; build it again"
            ) from None
    else:
        made = _myst_nb_file(app, docname)
        if not made.exists():
            raise SourceError(page.path, 1, f"the page was not executed: {made} is missing")
        notebook = nbformat.reads(made.read_text("utf-8"), as_version=4)
    notebook.metadata.pop("source_map", None)
    notebook.metadata["bookext"] = {k: os.environ[k] for k in THREADS if k in os.environ}
    notebook.nbformat_minor = 5
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
    return notebook


def _myst_nb_file(app, docname: str) -> Path:
    return Path(app.env.mystnb_config.output_folder) / f"{docname}.ipynb"
