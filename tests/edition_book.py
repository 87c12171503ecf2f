"""Small books for the tests of bookext: Sphinx and a kernel, no torch, no theme."""

import os
import re
import subprocess
import sys
from pathlib import Path

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


class SmallBook:
    """A book in ``folder``; ``build`` runs Sphinx in a process of its own, as the Makefile does."""

    def __init__(self, folder: Path, pages: dict[str, str], **conf):
        self.folder, self.html = folder, folder / "_build" / "html"
        parts = conf.pop("parts", ("public", "kernel_only"))
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

    def build(self, *options: str) -> subprocess.CompletedProcess:
        """Build with ``-W -n --keep-going``; returns the process with its output in ``stdout``."""
        command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "-n", "--keep-going", "-q"]
        doctrees = self.folder / "_build" / ".doctrees"
        command += [*options, "-d", str(doctrees), str(self.folder), str(self.html)]
        return self.run(command)

    def run(self, command: list[str]) -> subprocess.CompletedProcess:
        paths = [str(ROOT), str(self.folder), os.environ.get("PYTHONPATH", "")]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "NO_COLOR": "1"}
        process = subprocess.run(
            command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        process.stdout = re.sub(r"\x1b\[[0-9;]*m", "", process.stdout)
        return process

    def built(self) -> "SmallBook":
        process = self.build()
        assert process.returncode == 0, process.stdout
        return self

    def page(self, name: str) -> str:
        return (self.html / name).read_text("utf-8")
