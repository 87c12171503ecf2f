"""A class is graded: every one gets a line, nothing is run twice, and a second run waits."""

import csv
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from class_samples import FILE, RIGHT, STUBS, WRONG, Class, assignment, cell, notebook

import attnkit
from classroom import planning
from classroom.assignment import ClassroomError, load
from classroom.results import STORE, Store, locked
from classroom.session import hidden
from classroom.tables import safe
from classroom.worker import Ran


@pytest.fixture
def school(tmp_path):
    return Class(tmp_path)


def table(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def students(school) -> dict[str, dict[str, str]]:
    return {row["student"]: row for row in table(school.to)}


def diagnoses(school, student: str) -> dict[str, str]:
    rows = table(school.to.with_name("grades-questions.csv"))
    return {row["question"]: row["diagnosis"] for row in rows if row["student"] == student}


def test_every_submission_has_its_line_and_its_diagnoses(school):
    school.hand_in("ada", notebook(RIGHT))
    school.hand_in("bo", notebook(WRONG))
    school.hand_in("cut", b'{"cells": [')
    school.hand_in("stub", notebook({}))
    kernel = notebook(RIGHT)
    kernel["metadata"]["kernelspec"] = {"language": "R"}
    school.hand_in("r", kernel)
    (school.submissions / "nobody").mkdir()
    done = school.grade()
    rows = students(school)
    assert list(rows) == ["ada", "bo", "cut", "nobody", "r", "stub"]
    assert {row["variance-test"] for row in rows.values()} == {"2", "0"}
    assert [rows[s]["total"] for s in rows] == ["4", "0", "0", "0", "0", "0"]
    assert diagnoses(school, "ada") == {
        "variance-test": "right", "letters-test": "right", "explain": "not-read-yet",
    }  # fmt: skip
    assert diagnoses(school, "bo")["variance-test"] == "std-taken-for-variance"
    assert diagnoses(school, "bo")["letters-test"] == "softmax-ignores-scale"
    for student, name in {"cut": "not-json", "nobody": "empty", "stub": "not-written-yet"}.items():
        assert set(diagnoses(school, student).values()) == {name}
    assert set(diagnoses(school, "r").values()) == {"wrong-kernel"}
    assert done.look == [f"cut: {FILE}: not-json", f"r: {FILE}: wrong-kernel"]
    assert rows["cut"]["needs a look"] and not rows["bo"]["needs a look"]


def test_the_columns_are_those_that_the_help_names(school):
    school.hand_in("ada", notebook(RIGHT))
    school.grade()
    assert list(students(school)["ada"]) == [
        "student", "total", "max", "percent", "checked", "open", "variance-test", "letters-test",
        "explain", "needs a look", "notes",
    ]  # fmt: skip
    assert school.to.read_bytes().startswith(b"\xef\xbb\xbf")


def test_percent_waits_for_the_open_answers(school):
    school.hand_in("ada", notebook(RIGHT))
    school.hand_in("bo", notebook(WRONG | {"explain": STUBS["explain"]}))
    school.grade()
    ada, bo = students(school).values()
    assert (ada["total"], ada["checked"], ada["open"], ada["percent"]) == ("4", "4", "", "")
    assert (bo["total"], bo["open"], bo["percent"]) == ("0", "0", "0")


def test_a_stub_a_missing_cell_and_a_double_one_are_not_run(school):
    school.hand_in("stub", notebook({}))
    gone = notebook(RIGHT)
    gone["cells"] = [c for c in gone["cells"] if c["metadata"]["nbgrader"]["grade_id"] != "letters"]
    school.hand_in("gone", gone)
    twice = notebook(RIGHT)
    twice["cells"].append(cell("variance", RIGHT["variance"]))
    school.hand_in("twice", twice)
    done = school.grade()
    assert diagnoses(school, "gone")["letters-test"] == "missing-cell"
    assert diagnoses(school, "twice")["variance-test"] == "duplicated-cell"
    assert students(school)["twice"]["variance-test"] == "0"
    assert students(school)["twice"]["letters-test"] == "2"
    assert len(school.workers.jobs) == 2  # gone's variance, twice's letters
    assert done.look == [
        "gone: letters-test: missing-cell",
        "twice: variance-test: duplicated-cell",
    ]


def test_the_set_up_is_the_instructors_and_the_results_are_hidden(school):
    school.hand_in("ada", notebook(RIGHT))
    school.grade()
    assert school.workers.setups == [("import math\n",)]
    hidden = {path.name for path in school.workers.hidden}
    assert {"submitted", "week", ".grades", "feedback", "rubric.csv", "grades.csv"} <= hidden


def test_what_an_answer_needs_is_not_hidden_wherever_grade_is_called(tmp_path):
    root = Path(attnkit.__file__).parents[1]
    paths = hidden(root, tmp_path, root / "grades.csv")
    needed = (Path(attnkit.__file__).parent, Path(sys.prefix), Path(sys.base_prefix))
    assert not any(need.resolve().is_relative_to(path) for path in paths for need in needed)
    assert {tmp_path.resolve(), root / "grades.csv", root / ".grades"} <= set(paths)


def test_a_set_up_cell_that_is_meant_to_fail_is_left_out(school):
    path = school.assignment / "instructor" / FILE
    plain = json.loads(path.read_text("utf-8"))
    plain["cells"][0]["metadata"]["tags"] = ["raises-exception"]
    path.write_text(json.dumps(plain), "utf-8")
    school.hand_in("ada", notebook(RIGHT))
    school.grade()
    assert school.workers.setups == [()]


# ------------------------------------------------------------------------- the store of results


def test_the_same_answer_is_run_once_and_a_second_call_runs_nothing(school):
    for student in ("ada", "bo"):
        school.hand_in(student, notebook(RIGHT))
    assert school.grade().runs == 2
    before = school.to.read_bytes()
    assert school.grade().runs == 0 == len(school.workers.jobs)
    assert school.to.read_bytes() == before


def test_new_points_need_no_run(school):
    school.hand_in("ada", notebook(RIGHT))
    school.grade()
    path = school.assignment / "questions.json"
    plain = json.loads(path.read_text("utf-8"))
    plain["questions"][0]["points"] = 7.5
    path.write_text(json.dumps(plain), "utf-8")
    assert school.grade().runs == 0
    row = students(school)["ada"]
    assert (row["variance-test"], row["total"], row["max"]) == ("7.5", "9.5", "13.5")


def test_a_changed_answer_check_or_set_up_is_run_again(school, monkeypatch):
    school.hand_in("ada", notebook(RIGHT))
    school.grade()
    school.hand_in("ada", notebook(RIGHT | {"letters": WRONG["letters"]}))
    assert school.grade().runs == 1
    instructor = school.assignment / "instructor" / FILE
    instructor.write_text(
        instructor.read_text("utf-8").replace("import math", "import cmath"), "utf-8"
    )
    assert school.grade().runs == 2
    monkeypatch.setattr(planning, "code_version", lambda bank: "another attnkit")
    assert school.grade().runs == 2
    monkeypatch.undo()
    assert school.grade().runs == 0


def test_what_was_run_before_a_stop_is_kept(school):
    for student in ("ada", "bo"):
        school.hand_in(student, notebook(RIGHT if student == "ada" else WRONG))
    school.workers.stop_after = 3
    with pytest.raises(KeyboardInterrupt):
        school.grade()
    school.workers.stop_after = None
    assert school.grade().runs == 1
    assert students(school)["ada"]["total"] == "4"


def test_a_damaged_result_is_run_again(school):
    school.hand_in("ada", notebook(RIGHT))
    school.grade()
    first, second = sorted((school.to.parent / STORE).rglob("*.result"))
    first.write_bytes(first.read_bytes()[:-1])
    second.write_bytes(b"")
    assert school.grade().runs == 2
    assert students(school)["ada"]["total"] == "4"


def test_a_failure_of_our_own_is_no_zero_and_is_not_kept(school):
    school.hand_in("ada", notebook(RIGHT))
    school.workers.instead = {"std**4": Ran("", "worker-failed", b"", "", None, 0.0)}
    done = school.grade()
    row = students(school)["ada"]
    assert (row["variance-test"], row["checked"], row["total"]) == ("", "", "2")
    assert "ada: variance-test: worker-failed" in done.look
    assert "not graded yet" in school.page("ada")
    school.workers.instead = {}
    assert school.grade().runs == 1
    assert students(school)["ada"]["variance-test"] == "2"


def test_records_that_are_no_records_stop_nobody(school):
    school.hand_in("ada", notebook(RIGHT))
    school.hand_in("bo", notebook(WRONG))
    school.workers.instead = {"std**4": Ran("", "recorded", b"\xff" * 9, "", None, 0.0)}
    school.grade()
    assert diagnoses(school, "ada")["variance-test"] == "unreadable-record"
    assert students(school)["ada"]["variance-test"] == "0"
    assert diagnoses(school, "bo")["variance-test"] == "std-taken-for-variance"


def test_a_stub_left_below_an_answer_is_told(school):
    school.hand_in("ada", notebook(RIGHT | {"variance": RIGHT["variance"] + "\n# YOUR CODE HERE"}))
    said = "NotImplementedError: "
    school.workers.instead = {"std**4": Ran("", "raised-outside", b"", said, 3, 0.0)}
    school.grade()
    assert diagnoses(school, "ada")["variance-test"] == "not-written-yet"


def test_of_several_cells_those_that_are_stubs_are_told(school):
    made = load(school.assignment)
    both = replace(made.questions[0], answers=("letters", "variance"), stubs=(STUBS["letters"], ""))
    assignment(school.assignment, questions=(both,))
    school.hand_in("ada", notebook({"variance": RIGHT["variance"]}))
    said = "NotImplementedError: "
    school.workers.instead = {"std**4": Ran("", "raised-outside", b"", said, 3, 0.0)}
    school.grade()
    row = table(school.to.with_name("grades-questions.csv"))[0]
    assert row["diagnosis"] == "not-written-yet" and "no answer yet in letters:" in row["message"]


def test_a_second_run_waits_and_a_dead_one_does_not_block(school):
    school.hand_in("ada", notebook(RIGHT))
    folder = school.to.parent / STORE
    with locked(folder), pytest.raises(ClassroomError, match=r"Another grade .*process \d+"):
        school.grade()
    (folder / "lock").write_text('{"process": 1, "since": "yesterday"}', "utf-8")
    assert school.grade().runs == 2


def test_the_store_is_closed_to_other_users(tmp_path):
    Store(tmp_path / STORE)
    assert (tmp_path / STORE).stat().st_mode & 0o077 == 0


# ---------------------------------------------------------------------------- wrong places, notes


def test_results_among_the_submissions_are_refused(school):
    school.hand_in("ada", notebook(RIGHT))
    for place in (school.submissions / "grades.csv", school.submissions / "out" / "grades.csv"):
        school.to = place
        with pytest.raises(ClassroomError, match="among the submissions"):
            school.grade()
    assert not (school.submissions / STORE).exists()


def test_an_assignment_that_does_not_fit_is_refused(school, tmp_path):
    school.hand_in("ada", notebook(RIGHT))
    made = load(school.assignment)
    assignment(school.assignment, questions=(replace(made.questions[0], check="ch99-x"),))
    with pytest.raises(ClassroomError, match="ch99-x"):
        school.grade()
    assignment(school.assignment)
    (school.assignment / "instructor" / FILE).unlink()
    with pytest.raises(ClassroomError, match="set-up cells"):
        school.grade()


@pytest.mark.parametrize(
    ("source", "note"),
    [
        ("from attnkit.checks import _engine", "mentions attnkit.checks internals"),
        ("x = 'attnkit.checks.chapter03_scale'", "mentions attnkit.checks internals"),
        ("import attnkit.checks as c", "mentions attnkit.checks internals"),
        ("from attnkit import scaled_dot_product_attention", 
         "imports attnkit's own scaled_dot_product_attention"),
        ("import sys", "imports sys"),
        ("().__class__.__mro__", "mentions __mro__"),
        ("from attnkit.checks import check", ""),
        ("import numpy as np", ""),
    ],
)  # fmt: skip
def test_what_stands_out_is_noted_and_costs_nothing(school, source, note):
    school.hand_in("ada", notebook(RIGHT | {"variance": f"{source}\n{RIGHT['variance']}"}))
    school.grade()
    row = table(school.to.with_name("grades-questions.csv"))[0]
    assert (row["note"], row["points"]) == (note, "2")


@pytest.mark.parametrize(
    "text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\n=1", "\uff1d1"]
)
def test_no_text_is_a_formula(text):
    assert safe(text).startswith("'") and len(safe(text).splitlines()) == 1


def test_names_that_are_formulas_are_safe_in_every_table(school):
    school.hand_in("=1+1", notebook(WRONG))
    school.grade()
    for name in ("grades.csv", "grades-questions.csv", "rubric.csv"):
        assert not any(
            value.startswith("=")
            for row in table(school.to.with_name(name))
            for value in row.values()
        )
    assert "'=1+1" in students(school)


def test_two_assignments_do_not_share_a_folder_of_results(school):
    school.hand_in("ada", notebook(RIGHT))
    school.grade()
    assignment(school.assignment, name="ch4")
    school.to = school.to.with_name("week2.csv")
    with pytest.raises(ClassroomError, match="results of another assignment, ch3, "):
        school.grade()
    assignment(school.assignment)
    school.grade()
    school.assignment = school.assignment.rename(school.assignment.with_name("another"))
    with pytest.raises(ClassroomError, match="moved to another place"):
        school.grade()


def test_an_answer_that_nobody_types_is_not_run(school):
    school.hand_in("ada", notebook(RIGHT | {"variance": "x = " + "-" * 60_000 + "1"}))
    school.grade()
    assert diagnoses(school, "ada")["variance-test"] == "too-long"
    assert len(school.workers.jobs) == 1


def test_python_does_not_fall_over_an_answer_that_is_read_for_notes(school):
    hard = ["x=" + "not " * 12_000 + "1", "(" * 49_000, "1" + "+1" * 24_000, "x = '\\d'"]
    for number, source in enumerate(hard):
        school.hand_in(f"s{number}", notebook(RIGHT | {"explain": source}))
    assert len(school.grade().submissions) == len(hard)


def test_a_failure_of_our_own_says_why_once(school):
    for student in ("ada", "bo", "cy"):
        school.hand_in(student, notebook(RIGHT))
    school.workers.instead = {"std**4": Ran("", "worker-failed", b"", "no room", None, 0.0)}
    look = school.grade().look
    assert look[0].startswith("3 answers: ") and look[0].endswith("no room") and len(look) == 4
