"""How long it took: what is over its budget is named, and a cached page says so."""

import json
import sys
import time
from types import SimpleNamespace

import pytest
from edition_book import HEADER, SmallBook
from times import Times, table

from bookext import timing_report
from bookext.timing_report import book_table, budget, load, main, store

PARTS = ("cache", "failures", "ahead", "timing")
CELL = "```{{code-cell}} ipython3\n{}\n```\n"


def built(pages: dict[str, tuple[float, bool]], total: float = 400.0, read: int = 28) -> dict:
    """What a build stores: pages with seconds, and whether this build executed them."""
    steps = {"start": 3.0, "execution": 300.0, "reading": 30.0, "writing": 40.0, "finishing": 5.0}
    return {
        "total": total,
        "steps": steps,
        "kernels": 2,
        "read": read,
        "pages": {
            name: {"seconds": seconds, "budget": budget(name), "this_build": new}
            for name, (seconds, new) in pages.items()
        },
    }


def line(text: str, name: str) -> str:
    (found,) = [line for line in text.splitlines() if line.startswith(name)]
    return found


def test_a_page_over_its_budget_is_named_and_by_how_much():
    pages = {
        "chapters/01-rnn-bottleneck": (59.0, True),
        "chapters/03-scaled-dot-product": (31.5, True),
        "chapters/04-masks": (30.0, False),
        "chapters/a01-prerequisites": (4.0, True),
        "chapters/a13-find-the-bugs": (42.0, False),
        "intro": (2.0, True),
    }
    text = book_table(built(pages))
    assert line(text, "03-").split()[1:] == ["31.5", "30", "OVER", "by", "1.5"]
    assert line(text, "a13-").split()[1:] == ["42.0", "30", "OVER", "by", "12.0,", "cached"]
    assert line(text, "01-").split()[1:] == ["59.0", "60"]
    assert line(text, "04-").split()[1:] == ["30.0", "30", "cached"]
    assert line(text, "2 other pages").split()[3:] == ["6.0"]
    assert line(text, "all 6 pages").split()[3:] == ["168.5", "300"]
    assert text.count("OVER") == 2
    assert max(map(len, text.splitlines())) <= 80


def test_all_pages_together_and_the_build_have_budgets_of_their_own():
    many = {f"chapters/{n:02}-name": (28.0, True) for n in range(1, 13)}
    text = book_table(built(many, total=481.0))
    assert line(text, "all 12 pages").endswith("OVER by 36.0")
    assert line(text, "total, cold").endswith("OVER by 1.0")
    cached = {name: (seconds, False) for name, (seconds, _) in many.items()}
    assert line(book_table(built(cached, 14.0, read=0)), "total, warm").split()[2:] == [
        "14.0",
        "15",
    ]
    assert line(book_table(built(cached, 16.0, read=0)), "total, warm").endswith("OVER by 1.0")
    read = line(book_table(built(cached, 16.0)), "total, pages read")
    assert read.split()[3:] == ["16.0", "480"]


@pytest.fixture
def book(tmp_path) -> SmallBook:
    pages = {name: page(name, 1) for name in ("one", "two")}
    toc = "```{toctree}\none\ntwo\nprose\n```\n"
    pages |= {"index.md": f"# Index\n\n{toc}", "prose.md": "# Prose\n"}
    return SmallBook(tmp_path, pages_of(pages), parts=PARTS, bookext_kernels=2)


def pages_of(pages: dict[str, str]) -> dict[str, str]:
    return {name if name.endswith(".md") else f"{name}.md": text for name, text in pages.items()}


def page(name: str, number: int) -> str:
    sleep = f"import time\ntime.sleep(0.3)\n{number}" if name == "two" else str(number)
    return f"{HEADER}# {name}\n\n" + CELL.format(sleep)


def test_a_build_says_what_it_executed_and_what_was_in_the_cache(book):
    file = book.folder / "_build" / "timing.json"
    began = time.time()
    book.built()
    first = load(file)["book"]
    assert {name: page["this_build"] for name, page in first["pages"].items()} == {
        "one": True,
        "two": True,
    }
    assert first["pages"]["two"]["seconds"] >= 0.3
    assert (first["kernels"], first["read"]) == (2, 4)
    assert began - 0.1 <= first["finished"] - first["total"] <= first["finished"] <= time.time()
    assert sum(first["steps"].values()) == pytest.approx(first["total"], abs=0.01)
    assert first["steps"]["execution"] >= 0.3

    store(file, "lint", {"total": 1.0})
    book.write("one.md", page("one", 2))
    book.built()
    second = load(file)["book"]
    assert {name: page["this_build"] for name, page in second["pages"].items()} == {
        "one": True,
        "two": False,
    }
    assert second["pages"]["two"]["seconds"] == first["pages"]["two"]["seconds"]
    assert (second["kernels"], second["read"]) == (1, 1)
    # A single page is executed where it is read; it counts as execution all the same.
    assert second["steps"]["execution"] >= second["pages"]["one"]["seconds"]
    assert sum(second["steps"].values()) == pytest.approx(second["total"], abs=0.01)
    assert load(file)["lint"] == {"total": 1.0}


def test_a_command_is_timed_if_it_succeeds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["lint", sys.executable, "-c", "raise SystemExit(3)"]) == 3
    assert load(timing_report.FILE) == {}
    assert main(["lint", sys.executable, "-c", ""]) == 0
    assert 0 < load(timing_report.FILE)["lint"]["total"] < 60


def test_without_a_build_the_table_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    timing_report.FILE.parent.mkdir()
    timing_report.FILE.write_text("{")
    with pytest.raises(SystemExit, match="run `make book` first"):
        main([])


def test_tests_are_added_up_by_part_and_the_slowest_are_named(tmp_path):
    began = time.time() - 1300
    file = tmp_path / "timing.json"
    store(file, "lint", {"finished": began + 20, "total": 20.0})
    store(file, "book", {"finished": began - 5, "total": 900.0})  # of another day
    times = Times(began, file)
    times.started = time.time() - 700
    for nodeid, durations in {
        "tests/test_masks.py::test_a[1]": [0.5, 1.0],
        "tests/test_masks.py::test_b": [2.0],
        "tests/browser/test_pages.py::test_c[index.html]": [1.0, 30.0, 0.5],
        "tests/notebooks/test_nbval.py::test_d": [45.0],
    }.items():
        for duration in durations:
            times.pytest_runtest_logreport(SimpleNamespace(nodeid=nodeid, duration=duration))
    took = times.took(processes=4)
    text = table(took)
    assert line(text, "unit").split() == ["unit", "3.5", "2", "tests"]
    assert line(text, "browser").split() == ["browser", "31.5", "1", "tests"]
    assert line(text, "classroom").split() == ["classroom", "0.0", "0", "tests"]
    assert line(text, "lint").split() == ["lint", "20.0"]
    assert "book" not in took["before"]
    assert line(text, "total").endswith("OVER by 100.0")
    assert next(iter(took["files"])) == "tests/notebooks/test_nbval.py"
    assert list(took["slowest"].values()) == [45.0, 31.5, 2.0, 1.5]
    assert line(text, "set-up").split()[2:] == ["580.0"]
    assert max(map(len, text.splitlines())) <= 80
    json.dumps(took)
