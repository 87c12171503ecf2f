"""``python -m bookext.lab``: the course in JupyterLab.

It opens a learner's own copies of the notebooks, in ``my-notebooks``; with ``--copies`` it makes or
renews these and opens nothing, for VS Code; with ``--chapters`` it opens the chapters, the source
of the book, with solutions and hidden tests. What else stands on the line goes to JupyterLab:
``python -m bookext.lab --no-browser``.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from bookext.lab.copies import renew

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "_build" / "html" / "notebooks"
MINE = ROOT / "my-notebooks"
SETTINGS = Path(__file__).parent / "settings"


def command(folder: Path, first: str, settings: str, more: list[str]) -> list[str]:
    """JupyterLab in a folder, with settings of ours below those that its user has chosen."""
    return [
        *(sys.executable, "-m", "jupyterlab"),
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{first}",
        f"--LabApp.app_settings_dir={SETTINGS / settings}",
        *more,
    ]


def become(starts: list[str]) -> int:
    """JupyterLab in place of this program, so that whoever ends the one ends the other."""
    if os.name == "posix":
        os.execv(starts[0], starts)
    try:
        return subprocess.run(starts).returncode
    except KeyboardInterrupt:  # JupyterLab has heard it too, and says goodbye by itself
        return 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m bookext.lab", description=__doc__)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--copies", action="store_true", help="renew my-notebooks, open nothing")
    way.add_argument("--chapters", action="store_true", help="open the chapters themselves")
    chosen, more = parser.parse_known_args(arguments)
    if chosen.chapters:
        starts = command(ROOT, "chapters", "chapters", more)
    else:
        try:
            said = renew(NOTEBOOKS, MINE)
        except FileNotFoundError as missing:
            print(missing, file=sys.stderr)
            return 1
        print(*said, f"Your notebooks are in {MINE}", sep="\n", flush=True)
        if chosen.copies:
            return 0
        starts = command(MINE, "intro.ipynb", "notebooks", more)
    return become(starts)


if __name__ == "__main__":
    sys.exit(main())
