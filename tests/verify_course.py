"""A course of a few small pages with its own copy of attnkit, for the tests of attnkit.verify.

Everything of the package is linked but ``verify`` and ``data``, so that the copy takes itself for a
checkout of its own, and a test may put another module in the place of one.
"""

import os
import subprocess
import sys
from pathlib import Path

from attnkit.verify import record
from attnkit.verify.pages import Source
from attnkit.verify.source import read

ROOT = Path(__file__).parent.parent
HEADER = "---\njupytext: {text_representation: {format_name: myst}}\n---\n"
CELL = "```{{code-cell}} ipython3\n:tags: [{tags}]\n\n{code}\n```\n"


def cell(code: str, *tags: str) -> str:
    return CELL.format(tags=", ".join(tags), code=code)


SET_UP = cell(
    "import json\nfrom importlib.resources import files\n\nimport pytest\nimport torch\n"
    "from myst_nb import glue\n\nfrom attnkit import scaled_dot_product_attention",
    "remove-cell",
)
GOOD = (
    f"{HEADER}\n# A small page\n\n{SET_UP}\nIt is {{glue:text}}`good-weight:.2f` of "
    "{glue:text}`good-count`.\n\n## Numbers\n\n"
    + cell(
        "query = torch.tensor([[2.0, 0, 0, 0]])\n"
        "weights = scaled_dot_product_attention(query, torch.eye(4), torch.eye(4)).weights\n"
        "glue('good-weight', weights[0, 0].item(), display=False)\n"
        "glue('good-count', 4, display=False)\n"
        "glue('good-unused', 5, display=False)\n"
        "assert weights.argmax() == 0\n"
        "with pytest.raises(ValueError, match='d_key'):\n"
        "    scaled_dot_product_attention(query, torch.eye(3), torch.eye(3))",
        "remove-cell",
    )
    + cell("print('row 1 of 2')\nweights.round(decimals=3)")
    + cell("1 / 0", "raises-exception")
    + "```{code-cell} ipython3\n---\nnbgrader:\n  grade: false\n  solution: true\n---\n"
    "### BEGIN SOLUTION\nsecret_of_the_page = 42\n### END SOLUTION\n```\n"
    + cell("secret_of_the_page", "kernel-only")
)
BROKEN = (
    f"{HEADER}\n# A page that breaks\n\n{SET_UP}\n{{glue:text}}`bad-first` "
    "{glue:text}`bad-last:.1f`\n\n"
    + cell("glue('bad-first', 1, display=False)\nassert 1 + 1 == 3, 'no'\nassert 2 == 2")
    + "\n## Later\n\n"
    + cell("print(7)\nmissing_name")
    + cell("glue('bad-last', 2.5, display=False)")
)
LACKING = f"{HEADER}\n# A page that lacks\n\n{SET_UP}\n" + cell(
    "import not_installed_here\nprint(3)"
)
PAGES = {"01-good": GOOD, "02-broken": BROKEN, "03-lacking": LACKING}


def course(folder: Path, pages: dict[str, str] | None = None) -> Path:
    """Make the course; its record is what ``printed`` gives for the small page."""
    package = folder / "attnkit"
    package.mkdir(parents=True)
    for path in (ROOT / "attnkit").iterdir():
        if path.name not in ("verify", "data", "__pycache__"):
            os.symlink(path, package / path.name)
    for name in ("verify", "data"):
        (package / name).mkdir()
        for path in (ROOT / "attnkit" / name).iterdir():
            if path.suffix in (".py", ".css", ".json", ".safetensors"):
                target = package / name / path.name
                # what finds its folder by its own place is copied
                if name == "verify" or path.name == "printed.json":
                    target.write_bytes(path.read_bytes())
                else:
                    os.symlink(path, target)
    (folder / "chapters").mkdir()
    (folder / "_toc.yml").write_text("")
    for slug, text in (pages or PAGES).items():
        (folder / "chapters" / f"{slug}.md").write_text(text, "utf-8")
    (package / "data" / "printed.json").write_text(printed(pages or PAGES).dumps(), "utf-8")
    return folder


def printed(pages: dict[str, str]) -> record.Record:
    """What the small page prints, worked out by hand: e / (e + 3) is .4754."""
    made = {}
    for slug, text in pages.items():
        page = read(text)
        made[slug] = record.Printed(page.title, page.digest, seconds=[0.1] * len(page.run))
    good = made.get("01-good")
    if good:
        good.glued = {
            "good-weight": record.Glued("0.47536", [".2f"], "rounded"),
            "good-count": record.Glued("4", [""], "exact"),
        }
        text = "row 1 of 2\ntensor([[0.4750, 0.1750, 0.1750, 0.1750]])"
        kinds, spreads = ["exact"] * 2 + ["rounded"] * 4, [0.0] * 6
        good.shown = [record.Shown(2, "text", text, "Numbers", kinds, spreads)]
    if "02-broken" in made:
        made["02-broken"].glued = {
            "bad-first": record.Glued("1", [""], "exact"),
            "bad-last": record.Glued("2.5", [".1f"], "exact"),
        }
    return record.Record(made, {})


def verify(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """``python -m attnkit.verify`` of that course, from a folder of its own."""
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, "-m", "attnkit.verify", *arguments],
        cwd=elsewhere,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def source(folder: Path, slug: str) -> Source:
    return Source(folder / "chapters" / f"{slug}.md")
