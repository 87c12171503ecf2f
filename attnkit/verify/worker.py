"""Run the cells of one page in this process and say what they gave: ``python -m … worker PAGE``.

Each line on the standard output is one event in JSON. The cells run in IPython without a kernel, as
they do in the book: the last expression of a cell is shown, tensors and tables as they are printed.
Pictures are drawn only as far as their description needs.
"""

import contextlib
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from attnkit.verify import standins
from attnkit.verify.claims import CONTEXT, Claims, Watch
from attnkit.verify.source import Cell, Page, read

Say = Callable[..., None]
#: What the display shows before plain text, and is no text: a widget, a picture.
PICTURED = ("application/vnd.jupyter.widget-view+json", "image/png", "image/svg+xml")


class _Words(HTMLParser):
    """The text of a table or a sentence in HTML, cells apart."""

    def __init__(self):
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data):
        self.words.append(data)

    def handle_endtag(self, tag):
        if tag in ("td", "th", "tr", "p", "div", "caption"):
            self.words.append("\n" if tag == "tr" else " ")


def words_of(data: dict[str, Any], metadata: dict[str, Any]) -> tuple[str, str]:
    """Whether it is a "picture" or a "text", and what can be read of it: description or words."""
    alt = metadata.get("image/png", {}).get("alt")
    if any(kind in data for kind in PICTURED):
        return "picture", alt or ""
    if "text/html" in data:
        parser = _Words()
        parser.feed("".join(data["text/html"]))
        lines = "".join(parser.words).splitlines()
        return "text", "\n".join(" ".join(line.split()) for line in lines).strip()
    return "text", "".join(data.get("text/plain", "")).strip()


class Runner:
    """The cells of a page in one IPython shell."""

    def __init__(self, page: Page, say: Say):
        self.page, self.say = page, say
        self.claims = Claims()
        self.shown: list[tuple[str, str]] = []
        self.shell = _shell()
        self.shell.display_trap.hook = self.show
        self.shell.user_ns[CONTEXT] = self.claims.context
        standins.install(self.glue)

    def glue(self, name: str, variable: Any, display: bool = True) -> None:
        text = self.shell.display_formatter.format(variable)[0].get("text/plain", "")
        self.say("glued", name=name, value=text)

    def show(self, value: Any) -> None:
        """What IPython does with the last expression of a cell."""
        if value is not None:
            self.shown.append(words_of(*self.shell.display_formatter.format(value)))

    def run(self, stop: bool = True) -> None:
        """Run the cells in order, to the first that raises; with ``stop=False`` all of them."""
        for number, cell in enumerate(self.page.run):
            began = time.monotonic()
            error = self._run(number, cell)
            self.say("cell", cell=number, seconds=round(time.monotonic() - began, 2))
            if error is not None:
                self.say("raised", **error, cell=number, line=cell.line, section=cell.section)
                if stop:
                    break
        for line in sorted(self.claims.held - set(self.claims.failed)):
            self.say("claim", line=line, held=True)
        for line, (claim, what) in sorted(self.claims.failed.items()):
            self.say("claim", line=line, held=False, claim=claim, what=what)

    def _run(self, number: int, cell: Cell) -> dict[str, str] | None:
        """Run one cell; what it raised, if the book does not raise it too."""
        from IPython.utils.capture import capture_output

        self.shown = []
        expected = "raises-exception" in cell.tags
        self.shell.ast_transformers = [] if expected else [Watch(cell.source, cell.line)]
        with capture_output() as shown:
            result = self.shell.run_cell(cell.source)
            pictures = _pictures()
        error = result.error_before_exec or result.error_in_exec
        if cell.shows:
            texts = [shown.stdout.strip()]
            found = [words_of(out.data, out.metadata or {}) for out in shown.outputs] + self.shown
            texts += [words for kind, words in found if kind == "text"]
            pictures += [words for kind, words in found if kind == "picture" and words]
            if error is not None and expected:
                texts.append(f"{type(error).__name__}: {error}")
            for kind, text in (("text", "\n".join(filter(None, texts))), *_each(pictures)):
                if text:
                    self.say("output", cell=number, part=kind, text=text, section=cell.section)
        if error is None or (expected and not isinstance(error, ModuleNotFoundError)):
            return None
        if not isinstance(error, Exception):
            raise error
        return {
            "error": f"{type(error).__name__}: {error}",
            "needs": missing(error),
        }


def _each(pictures: list[str]) -> list[tuple[str, str]]:
    return [(f"picture {n}" if n else "picture", text) for n, text in enumerate(pictures)]


def missing(error: Exception) -> str:
    """The package whose lack the error tells of, as one imports it, or ""."""
    if isinstance(error, ModuleNotFoundError):
        return (error.name or "").split(".")[0]
    found = re.search(r"pip install .*?([\w-]+)==", str(error))
    return found[1] if found and isinstance(error, FileNotFoundError) else ""


def _shell() -> Any:
    """An IPython that keeps no history, reads no profile, and prints no traceback."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.showtraceback = shell.showsyntaxerror = lambda *args, **kwargs: None
    shell.enable_gui = lambda gui=None: None
    return shell


def _pictures() -> list[str]:
    """What is said of each figure that the cell left open; then they are closed, as in the book."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None:
        return []
    from attnkit.plots.shown import text_of

    texts = [text_of(plt.figure(number)) for number in plt.get_fignums()]
    plt.close("all")
    return texts


def _quiet() -> None:
    """No window, and no word about it: a figure is described, not shown."""
    os.environ["MPLBACKEND"] = "Agg"
    warnings.filterwarnings("ignore", message=".*non-interactive.*cannot be shown.*")


def main(
    path: str, prepare: Callable[[], Callable[[], dict[str, Any]]] = lambda: dict, stop: bool = True
) -> int:
    """Run the page in this file. ``prepare`` is called before it; what that returns, after it."""
    channel = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)  # what the cells write past Python goes with the errors

    def say(event: str, **what: Any) -> None:
        channel.write(json.dumps({"event": event, **what}) + "\n")

    page = read(Path(path).read_text("utf-8"))
    _quiet()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IPYTHONDIR"] = folder
        with contextlib.chdir(folder):  # a cell that writes a file leaves none behind
            try:
                runner = Runner(page, say)
            except ModuleNotFoundError as error:
                needs = missing(error)
                say("raised", error=str(error), needs=needs, cell=0, line=1, section="")
                return 0
            finish = prepare()
            runner.run(stop)
            say("used", **finish())
    say("end")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
