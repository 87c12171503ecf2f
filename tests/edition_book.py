"""Small books for the tests of bookext: Sphinx and a kernel, no torch, no theme."""

import multiprocessing
import os
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
HEADER = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
    format_version: 0.13
    jupytext_version: 1.19.6
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
---

"""
CONF = """\
project = "Small"
extensions = ["myst_nb", "sphinx_design", "sphinx_exercise", "sphinxcontrib.bibtex", "_edition"]
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_cache_path = "{cache}"
nb_merge_streams = True
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath",
                          "substitution"]
html_theme = "basic"
html_copy_source = False
exclude_patterns = ["_build"]
numfig = True
root_doc = "index"
"""
EXTENSION = """\
from importlib import import_module
PARTS = {parts}
def setup(app):
    for part in PARTS:
        import_module("bookext." + part).setup(app)
"""
BIB = """\
@inproceedings{vaswani2017attention,
  author = {Vaswani, Ashish and Shazeer, Noam and Parmar, Niki},
  title = {Attention Is All You Need}, booktitle = {NeurIPS}, year = {2017}}
@article{bahdanau2015neural,
  author = {Bahdanau, Dzmitry and Cho, Kyunghyun}, title = {Align \\& Translate},
  journal = {ICLR}, year = {2015}}
"""


#: A server that has imported Sphinx once and forks for each build: a second instead of ten.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    "sphinx.cmd.build sphinx.builders.html myst_nb.sphinx_ext sphinx_design sphinx_exercise "
    "sphinxcontrib.bibtex jupyter_cache.executors.utils nbclient bookext.notebooks".split()
)


class Done(NamedTuple):
    """How a build ended: exit code and all that it said."""

    returncode: int | None
    stdout: str


def run_sphinx(arguments: list[str], log: str, folder: str) -> None:
    """In the forked process: build, with everything that is said in the file ``log``."""
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(target, 1)
    os.dup2(target, 2)
    sys.stdout = sys.stderr = open(1, "w", encoding="utf-8", buffering=1, closefd=False)
    sys.path[:0] = [folder, str(ROOT)]
    paths = [str(ROOT), folder, os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    warnings.simplefilter("default")
    from sphinx.cmd.build import main

    from bookext.kernels import without_ports

    without_ports()
    sys.exit(main(arguments))


class SmallBook:
    """A book in ``folder``; ``build`` runs Sphinx in a process of its own."""

    def __init__(self, folder: Path, pages: dict[str, str], **conf):
        self.folder, self.html = folder, folder / "_build" / "html"
        parts = conf.pop("parts", ("public", "kernel_only", "notebooks"))
        self.write("conf.py", CONF.format(cache=folder / "_build" / ".cache"))
        with (folder / "conf.py").open("a", encoding="utf-8") as file:
            file.writelines(f"{key} = {value!r}\n" for key, value in conf.items())
        self.write("_edition.py", EXTENSION.format(parts=list(parts)))
        self.write("references.bib", BIB)
        for name, text in pages.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def build(self, *options: str) -> Done:
        """Build with ``-W -n --keep-going``, as the Makefile does."""
        doctrees = str(self.folder / "_build" / ".doctrees")
        return self.sphinx("-W", "-n", "--keep-going", *options, "-d", doctrees)

    def sphinx(self, *options: str) -> Done:
        log = self.folder / "build.log"
        arguments = ["-b", "html", "-q", "--no-color", *options, str(self.folder), str(self.html)]
        process = FORKS.Process(target=run_sphinx, args=(arguments, str(log), str(self.folder)))
        process.start()
        process.join(300)
        return Done(process.exitcode, log.read_text("utf-8"))

    def built(self) -> "SmallBook":
        process = self.build()
        assert process.returncode == 0, process.stdout
        return self

    def page(self, name: str) -> str:
        return (self.html / name).read_text("utf-8")
