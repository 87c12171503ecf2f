"""A chapter as jupyter-book builds it with its defaults: the peer of ``benchmarks.page_load``.

The same source, the same executed outputs (from this book's execution cache), without ``bookext``
and without any setting that is not needed to understand the source. The other pages are there with
their titles and labels alone: they are what the navigation and the references of the measured page
lead to, and no request of it asks for more of them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Citations lead to it.
BIBLIOGRAPHY = "chapters/a08-bibliography"
#: What the chapters are written in; nothing of how they look.
CONFIG = """\
title: "Attention, Measured"
author: The authors of Attention, Measured
only_build_toc_files: true
execute:
  execute_notebooks: cache
  cache: "{cache}"
  timeout: 300
parse:
  myst_enable_extensions: [amsmath, attrs_inline, colon_fence, deflist, dollarmath, substitution]
bibtex_bibfiles: [references.bib]
sphinx:
  extra_extensions: [sphinx_exercise]
  config:
    bibtex_reference_style: author_year
"""


def execution_cache() -> Path:
    """The outputs that the built book shows."""
    states = sorted((ROOT / "_build" / ".execution").glob("*"), key=lambda p: p.stat().st_mtime)
    if not states:
        sys.exit("no executed chapter: run `make book` first")
    return states[-1]


def outline(text: str, name: str) -> str:
    """Title and labelled headings of a page."""
    titled = re.findall(r"(?:^\([\w-]+\)=\n)?^# .*\n", text, flags=re.MULTILINE)[:1]
    labelled = re.findall(r"^\([\w-]+\)=\n##+ .*\n", text, flags=re.MULTILINE)
    return "\n".join([*(titled or [f"# {name}\n"]), *labelled])


def build(folder: Path, chapters: list[str]) -> Path:
    """Build ``chapters`` (``chapters/03-name``) into ``folder``; returns the site."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "chapters").mkdir(parents=True)
    shutil.copytree(execution_cache(), folder / "cache")
    for name in ("_toc.yml", "references.bib"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "_config.yml").write_text(CONFIG.format(cache=folder / "cache"), "utf-8")
    for path in [ROOT / "intro.md", *sorted((ROOT / "chapters").glob("*.md"))]:
        name = path.relative_to(ROOT).with_suffix("").as_posix()
        text = path.read_text("utf-8")
        if name not in (*chapters, BIBLIOGRAPHY):
            text = outline(text, name)
        (folder / f"{name}.md").write_text(text, "utf-8")
    log = folder / "build.log"
    with log.open("w", encoding="utf-8") as said:
        run = f"from jupyter_book.cli.main import main; main(['build', {str(folder)!r}])"
        done = subprocess.run([sys.executable, "-c", run], cwd=folder, stdout=said, stderr=said)
    text = log.read_text("utf-8")
    html = folder / "_build" / "html"
    missing = [name for name in chapters if not (html / f"{name}.html").is_file()]
    if done.returncode or missing or "Executing notebook" in text:
        sys.exit(f"the default book was not built from the stored outputs; see {log}")
    return html
