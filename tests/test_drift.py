"""The weekly run with newest versions: what is let go, what is held, and what its report says."""

import json

from release import drift, outcome
from release.versions import ROOT

PINNED = """# a comment
torch==2.13.0
pyright[nodejs]==1.1.414
jupyter-book==1.0.4.post1
sphinx_design==0.8.0
"""


def test_pins_are_let_go_within_what_is_promised_or_held():
    text = drift.let_go(PINNED, {"torch": ">=2.6,<3"})
    assert text.splitlines() == [
        "torch>=2.6,<3",
        "pyright[nodejs]",
        "jupyter-book==1.0.4.post1",
        "sphinx_design",
    ]


def test_every_pin_of_the_course_is_read():
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(drift.pins(text)) == len(lines) > 40
    promised = drift.ranges()
    names = {drift.canonical(name) for name in drift.pins(text)}
    assert promised.keys() <= names, "a dependency of attnkit is not pinned"
    assert promised["torch"].startswith(">=") and ",<" in promised["torch"]


def test_the_table_says_what_is_newer_and_what_holds_it_back():
    found = {"torch": "2.14.0+cpu", "pyright": "1.1.414", "jupyter-book": "1.0.4.post1"}
    rows = drift.table(PINNED, found, {"torch": "3.0.0", "jupyter-book": "2.1.0"})
    text = drift.report(rows, [drift.Step("setup", True, "")], [], None)
    lines = {line.split(" | ")[0]: line for line in text.splitlines() if line.startswith("| ")}
    assert lines["| torch"].startswith("| torch | 2.13.0 | **2.14.0+cpu** | 3.0.0 | held back by")
    assert lines["| pyright"] == "| pyright | 1.1.414 | 1.1.414 | 1.1.414 |  |"
    assert "held: 1 by decision" in lines["| jupyter-book"]
    assert "not installed" in lines["| sphinx_design"]
    assert text.startswith("Python 3.") and "1 of 4 packages are newer than their pins" in text
    assert "everything passes" in text


def test_a_build_for_the_processor_alone_is_no_drift():
    rows = drift.table("torch==2.13.0\n", {"torch": "2.13.0+cpu"}, {})
    assert "0 of 1 packages" in drift.report(rows, [], [], None)


def test_steps_that_fail_are_named_with_the_end_of_what_they_said(tmp_path):
    run = drift.Run(tmp_path / "new" / "folder", tmp_path)
    assert run.step("good", "true")
    assert not run.step("bad", "sh", "-c", 'seq 1 90; echo "$WHY"; exit 3', WHY="because")
    text = drift.report([], run.steps, ["tests.test_masks::test_one"], None)
    assert "not passed: bad" in text and "- good: passed" in text and "- bad: **failed**" in text
    tail = text.partition("```text\n")[2].partition("\n```")[0].splitlines()
    assert tail[-2:] == ["90", "because"] and len(tail) == 30
    assert "- `tests.test_masks::test_one`" in text
    assert (tmp_path / "new" / "folder" / "bad.log").read_text().startswith("1\n2\n")


def test_failed_tests_are_read_from_what_pytest_wrote(tmp_path):
    (tmp_path / "tests.xml").write_text(
        '<testsuites><testsuite><testcase classname="tests.a" name="one"/>'
        '<testcase classname="tests.a" name="two[x]"><failure/></testcase>'
        '<testcase classname="tests.b" name="three"><error/></testcase></testsuite></testsuites>'
    )
    assert outcome.failures(tmp_path / "tests.xml") == ["tests.a::two[x]", "tests.b::three"]
    assert outcome.failures(tmp_path / "none.xml") == []


def line(name, within):
    return {
        "name": name,
        "printed": ".90",
        "found": ".91" if within else ".75",
        "tolerance": "± .02",
        "within": within,
    }


def test_numbers_that_moved_are_listed(tmp_path):
    pages = [
        {"label": "1 RNN", "why": "", "failed": [], "lines": [line("ch1-a", True)]},
        {
            "label": "3 Scaled",
            "why": "cell 7 raised ValueError",
            "failed": [{"code": "assert x"}],
            "lines": [line("ch3-a", False)],
        },
    ]
    (tmp_path / "numbers.json").write_text(json.dumps({"pages": pages}))
    found = outcome.moved(tmp_path / "numbers.json")
    assert found.summary == (
        "2 numbers of 2 pages compared with what the book prints; 3 to look at:"
    )
    assert found.lines == [
        "3 Scaled: cell 7 raised ValueError",
        "3 Scaled, ch3-a: printed .90, now .75 (± .02)",
        "3 Scaled: a claim no longer holds",
    ]
    assert outcome.moved(tmp_path / "none.json") is None
    assert "ch3-a: printed .90" in drift.report([], [], [], found)


def test_of_many_numbers_the_first_are_listed_and_the_rest_counted(tmp_path):
    page = {"label": "1 RNN", "why": "", "failed": [], "lines": [line("a", False)] * 70}
    (tmp_path / "numbers.json").write_text(json.dumps({"pages": [page]}))
    found = outcome.moved(tmp_path / "numbers.json")
    assert len(found.lines) == 61 and found.lines[-1] == "and 10 more"
