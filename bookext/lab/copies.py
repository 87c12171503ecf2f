"""A learner's own copies of the book's notebooks: brought up to date, and never taken away.

A copy is the learner's as soon as one of its cells was changed, added, moved or removed. Outputs do
not count (running the cells brings them back), nor does what JupyterLab writes into a notebook's
metadata when it only opens it. What was given out is remembered in the folder itself, so that a
copy that nobody touched can follow the book, and one that somebody did is kept.
"""

import hashlib
import json
import shutil
from pathlib import Path

GIVEN = ".given.json"  # name of a notebook -> digest of what the book gave
MISSING = "There are no notebooks in {}: `make book` makes them (or `jupyter-book build .`)."


def renew(built: Path, mine: Path) -> list[str]:
    """Copy the notebooks of the book to where a learner works; says what it did to which."""
    notebooks = sorted(built.glob("*.ipynb"))
    if not notebooks:
        raise FileNotFoundError(MISSING.format(built))
    mine.mkdir(parents=True, exist_ok=True)
    given, said = read_given(mine), []
    for source in notebooks:
        copy, new = mine / source.name, digest(source)
        if not copy.exists():
            shutil.copyfile(source, copy)
        elif (present := digest(copy)) == new:
            pass  # the same cells, with the learner's outputs
        elif present is not None and present == given.get(source.name):
            shutil.copyfile(source, copy)
            said.append(f"{source.name}: brought up to date")
        else:
            if given.get(source.name) != new:
                said.append(
                    f"{source.name}: yours is kept, and the book has a newer one; "
                    "give yours another name and start again to have both"
                )
            continue
        given[source.name] = new
        write_given(mine, given)
    return said


def digest(notebook: Path) -> str | None:
    """What the cells say, as a number; None for a file that is no notebook (any more)."""
    try:
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        said = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError):
        return None
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def read_given(mine: Path) -> dict[str, str]:
    """What was given out; nothing, where the record is missing or broken: then all is kept."""
    try:
        given = json.loads((mine / GIVEN).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return given if isinstance(given, dict) else {}


def write_given(mine: Path, given: dict[str, str]) -> None:
    """Through a second file: with half a record every copy would count as changed."""
    new = mine / f"{GIVEN}.new"
    new.write_text(json.dumps(given, indent=1, sort_keys=True) + "\n", "utf-8")
    new.replace(mine / GIVEN)
