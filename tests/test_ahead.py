"""Pages executed side by side: the outputs are as ever, each page runs once, no kernel is left."""

import os
import signal
import time

import nbformat
import pytest
from edition_book import FORKS, HEADER, SmallBook, run_sphinx

PARTS = ("cache", "failures", "ahead", "public", "kernel_only", "notebooks")
#: Seconds until what is waited for will not come any more; a machine may be busy.
PATIENCE = 300
CELL = "```{{code-cell}} ipython3\n{}\n```\n\n"


def page(title: str, *cells: str) -> str:
    return HEADER + f"# {title}\n\n" + "".join(CELL.format(cell) for cell in cells)


def book(folder, pages: dict[str, str], **conf) -> SmallBook:
    """Pages of a folder ``ch``, with an index that lists them."""
    toc = "\n".join(f"ch/{name}" for name in pages)
    pages = {f"ch/{name}.md": text for name, text in pages.items()}
    pages["index.md"] = f"# Index\n\n```{{toctree}}\n{toc}\n```\n"
    return SmallBook(folder, pages, parts=PARTS, **{"bookext_kernels": 2} | conf)


def once(name: str) -> str:
    """A cell that adds a line to a file each time it is executed."""
    return f"with open('{name}.runs', 'a') as file:\n    print('run', file=file)"


ALL_KINDS = [
    "import os\nfrom pathlib import Path\nprint(Path.cwd().name, os.environ['OMP_NUM_THREADS'])",
    "import sys\nprint('a')\nprint('b', flush=True)\n6 * 7",
    "from IPython.display import publish_display_data as show\n"
    "show({'text/plain': 'x'}, {'image/png': {'alt': 'four bars'}})",
    ":tags: [raises-exception]\n\n1 / 0",
    "import ipywidgets\nslider = ipywidgets.IntSlider(3, description='k')\nslider",
]


def stored(made: SmallBook, name: str):
    """The cells of an executed notebook with all that a second execution repeats."""
    file = made.folder / "_build" / "executed" / "ch" / f"{name}.ipynb"
    notebook = nbformat.read(file, as_version=4)
    for cell in notebook.cells:  # a kernel sends what is printed in as many messages as it likes
        printed = [o for o in cell.get("outputs", []) if o.output_type == "stream"]
        cell["printed"] = [
            "".join(o.text for o in printed if o.name == name) for name in ("stdout", "stderr")
        ]
        cell["outputs"] = [o for o in cell.get("outputs", []) if o not in printed]
    said = str(notebook.cells).replace(str(made.folder), "")
    for id in notebook.metadata.get("widgets", {}).get(WIDGETS, {}).get("state", {}):
        said = said.replace(id, "id")
    state = notebook.metadata.pop("widgets")[WIDGETS]["state"].values()
    return said, sorted(model["model_name"] for model in state), notebook.metadata


WIDGETS = "application/vnd.jupyter.widget-state+json"


def test_the_outputs_are_those_of_a_build_without_it(tmp_path):
    pages = {name: page(name, *ALL_KINDS, f"print('{name}')") for name in ("one", "two")}
    ahead = book(tmp_path / "ahead", pages).built()
    serial = book(tmp_path / "serial", pages, bookext_kernels=1).built()
    for name in pages:
        assert stored(ahead, name) == stored(serial, name)
        assert f"'{name}\\n'" in stored(ahead, name)[0] and "ch 1\\n" in stored(ahead, name)[0]


def test_two_pages_run_at_the_same_time(tmp_path):
    meet = (
        "import time\nfrom pathlib import Path\nPath('{0}').touch()\nstart = time.monotonic()\n"
        "while not Path('{1}').exists():\n    assert time.monotonic() < start + 240, 'alone'"
    )
    pages = {"one": page("One", meet.format("a", "b")), "two": page("Two", meet.format("b", "a"))}
    book(tmp_path, pages).built()


def test_a_page_runs_once_and_again_only_when_its_code_has_changed(tmp_path):
    made = book(tmp_path, {name: page(name, once(name)) for name in ("one", "two", "three")})
    made.built()
    made.write("ch/one.md", page("another title", once("one")))
    made.write("ch/two.md", page("two", once("two"), "1"))
    made.write("ch/three.md", page("three", once("three"), "2"))
    made.built()
    runs = {file.stem: len(file.read_text().split()) for file in (tmp_path / "ch").glob("*.runs")}
    assert runs == {"one": 1, "two": 2, "three": 2}


def test_a_cell_that_fails_fails_the_build_and_loses_no_other_page(tmp_path):
    bad = page("Bad", "x = 1", "def f():\n    return x / 0\n\nf()")
    made = book(tmp_path, {"bad": bad, "good": page("Good", once("good"))})
    done = made.build()
    line = bad.splitlines().index("f()") + 1
    assert done.returncode not in (0, None)
    assert f"ch/bad.md:{line}: this cell fails: ZeroDivisionError: division by zero" in done.stdout
    assert "return x / 0" in done.stdout, "the traceback"
    made.write("ch/bad.md", page("Mended", once("bad")))
    made.built()
    assert (tmp_path / "ch" / "good.runs").read_text().split() == ["run"]


def test_after_a_failure_no_page_begins_and_the_build_ends(tmp_path):
    here = "import time\nfrom pathlib import Path\n"
    wait = "while not Path('fails').exists():\n    time.sleep(0.05)"
    rest = {f"p{n}": page(f"P{n}", f"{here}Path('p{n}.began').touch()\n{wait}") for n in range(6)}
    made = book(tmp_path, {"bad": page("Bad", f"{here}Path('fails').touch()\n1 / 0"), **rest})
    arguments = ["-d", str(tmp_path / "doctrees"), str(made.folder), str(made.html)]
    log = tmp_path / "build.log"
    build = FORKS.Process(target=run_sphinx, args=(arguments, str(log), str(tmp_path)))
    build.start()
    build.join(PATIENCE)
    ended = build.exitcode
    build.kill()
    assert ended not in (0, None), "it waits for pages that will never begin"
    assert len(list((tmp_path / "ch").glob("*.began"))) < len(rest)
    assert "ZeroDivisionError" in log.read_text()


def test_a_page_that_cannot_be_read_is_named_as_ever(tmp_path):
    bad = page("Bad", ":tags: [a\n\n1")
    done = book(tmp_path, {"bad": bad, "a": page("A", "1"), "b": page("B", "1")}).build()
    assert done.returncode not in (0, None)
    assert "bad.md" in done.stdout and "could not be read" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
def test_an_interrupted_build_ends_and_leaves_no_kernel(tmp_path):
    wait = "import os, time\nopen(f'{os.getpid()}.pid', 'w').close()\ntime.sleep(600)"
    made = book(tmp_path, {n: page(n, wait) for n in ("one", "two")})
    arguments = ["-d", str(tmp_path / "doctrees"), str(made.folder), str(made.html)]
    log = tmp_path / "build.log"
    build = FORKS.Process(target=run_sphinx, args=(arguments, str(log), str(tmp_path)))
    build.start()
    pids = until(lambda: [int(file.stem) for file in (tmp_path / "ch").glob("*.pid")], 2)
    os.kill(build.pid, signal.SIGINT)
    build.join(PATIENCE)
    assert build.exitcode not in (0, None), log.read_text()
    until(lambda: [pid for pid in pids if not alive(pid)], 2)


def until(found, number: int) -> list[int]:
    """Wait until so many are found."""
    end = time.monotonic() + PATIENCE
    while len(result := found()) < number:
        assert time.monotonic() < end, f"only {result}"
        time.sleep(0.05)
    return result


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
