"""A small book, built as the course is, for tests of what bookext makes of a page."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
    format_version: 0.13
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

"""
CONF = """
extensions = ["myst_nb", {extensions}]
myst_enable_extensions = ["amsmath", "dollarmath", "colon_fence", "attrs_inline"]
nb_execution_mode = {execute!r}
nb_execution_timeout = 300
html_theme = {theme!r}
project = "Small"
exclude_patterns = ["_build"]
{extra}
"""
#: Sphinx without a grammar that takes longer to load than a small book to build (kernels.py).
SPHINX = (
    "import sys; sys.modules.setdefault('rfc3987_syntax', None);"
    "from bookext.kernels import without_ports; without_ports();"
    "from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"
)


@dataclass
class Built:
    status: int
    log: str
    folder: Path

    def page(self, name: str = "index") -> str:
        return (self.folder / f"{name}.html").read_text(encoding="utf-8")


def build(
    folder: Path,
    pages: dict[str, str],
    *,
    parts: tuple[str, ...] = (),
    execute: bool = False,
    theme: str = "basic",
    extra: str = "",
) -> Built:
    """Build ``pages`` (name without suffix -> Markdown) with some parts of bookext, ``-W -n``."""
    extensions = ", ".join(repr(f"bookext.{part}") for part in parts)
    mode = "force" if execute else "off"
    (folder / "conf.py").write_text(
        CONF.format(extensions=extensions, execute=mode, theme=theme, extra=extra), encoding="utf-8"
    )
    for name, text in pages.items():
        page = folder / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text((NOTEBOOK if execute else "") + text, encoding="utf-8")
    command = [sys.executable, "-c", SPHINX, "-W", "-n", "--keep-going", "-q"]
    done = subprocess.run(
        [*command, "-b", "html", str(folder), str(folder / "_build")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
    )
    return Built(done.returncode, done.stdout + done.stderr, folder / "_build")
