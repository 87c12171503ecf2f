"""``binder/`` beside the published pages: what Binder builds the branch of the site with."""

import shutil
from pathlib import Path


def publish(app, exception) -> None:
    """Copy the folder, its rights too (``postBuild`` is a program)."""
    source, target = Path(app.srcdir, "binder"), Path(app.outdir, "binder")
    if exception or app.builder.name not in {"html", "dirhtml"} or not source.is_dir():
        return
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


def setup(app):
    app.connect("build-finished", publish, priority=600)
    return {"version": "0.1", "parallel_read_safe": True, "parallel_write_safe": True}
