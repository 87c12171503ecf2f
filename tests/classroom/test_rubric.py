"""The form for open answers keeps what a person has typed, whatever happens to the file."""

import csv
import shutil
from dataclasses import replace

import pytest
from class_samples import RIGHT, STUBS, WRONG, Class, assignment, notebook

from classroom.assignment import ClassroomError, load
from classroom.rubric_page import prose


@pytest.fixture
def school(tmp_path):
    made = Class(tmp_path)
    made.hand_in("ada", notebook(RIGHT))
    made.hand_in("bo", notebook(WRONG))
    made.grade()
    return made


def form(school):
    return school.to.parent / "rubric.csv"


def rows(school, delimiter=","):
    with open(form(school), encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def save(school, found, delimiter=",", encoding="utf-8"):
    with open(form(school), "w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(found)


def typed(school, *points, comment=""):
    found = rows(school)
    for row, value in zip(found, points, strict=False):
        row["points"], row["comment"] = value, comment
    return found


def open_points(school):
    with open(school.to, encoding="utf-8-sig", newline="") as file:
        return {row["student"]: row["open"] for row in csv.DictReader(file)}


def test_a_row_for_each_student_question_and_criterion(school):
    assert [(r["student"], r["for"], r["max"], r["points"]) for r in rows(school)] == [
        ("ada", "Names the secret criterion", "1", ""), ("ada", "Says why", "3", ""),
        ("bo", "Names the secret criterion", "1", ""), ("bo", "Says why", "3", ""),
    ]  # fmt: skip


def test_filled_points_count_and_stay(school):
    save(school, typed(school, "1", "2.5", comment="see line 2,\nand below"))
    done = school.grade()
    assert done.runs == 0 and not done.look
    assert open_points(school) == {"ada": "3.5", "bo": ""}
    kept = rows(school)
    assert [r["points"] for r in kept] == ["1", "2.5", "", ""]
    assert kept[0]["comment"] == "see line 2,\nand below"
    assert "2.5 of 3 points: see line 2" in school.page("ada")
    first = form(school).read_bytes()
    school.grade()
    assert form(school).read_bytes() == first


def test_new_students_and_sorted_rows_lose_nothing(school):
    save(school, typed(school, "1", "2", "0", "3")[::-1])
    school.hand_in("abe", notebook(RIGHT))
    school.grade()
    assert open_points(school) == {"abe": "", "ada": "3", "bo": "3"}
    assert [(r["student"], r["points"]) for r in rows(school)] == [
        ("abe", ""), ("abe", ""), ("ada", "1"), ("ada", "2"), ("bo", "0"), ("bo", "3"),
    ]  # fmt: skip


def test_points_of_a_student_who_is_gone_are_kept_and_count_again(school):
    save(school, typed(school, "1", "2", comment="good"))
    shutil.move(school.submissions / "ada", school.folder / "ada")
    done = school.grade()
    assert "belong to no answer here" in done.look[0]
    assert [r["points"] for r in rows(school) if r["student"] == "ada"] == ["1", "2"]
    shutil.move(school.folder / "ada", school.submissions / "ada")
    assert not school.grade().look
    assert open_points(school)["ada"] == "3"


@pytest.mark.parametrize(("delimiter", "encoding"), [(";", "utf-8-sig"), ("\t", "utf-16")])
def test_a_form_saved_by_a_spreadsheet_is_read(school, delimiter, encoding):
    found = typed(school, "0,5", "3")
    for row in found:
        row["my own column"] = "kept"
    save(school, found, delimiter, encoding)
    school.grade()
    assert open_points(school)["ada"] == "3.5"
    assert rows(school, delimiter)[0]["my own column"] == "kept"


@pytest.mark.parametrize("wrong", ["4", "-1", "good", "nan", "inf", "1/2"])
def test_points_that_cannot_be_are_named_and_left_as_they_are(school, wrong):
    save(school, typed(school, "1", wrong))
    done = school.grade()
    assert "row 3" in done.look[0] and repr(wrong) in done.look[0] and "0 to 3" in done.look[0]
    assert open_points(school)["ada"] == ""
    assert rows(school)[1]["points"] == wrong


def test_numbers_that_a_spreadsheet_shortens_are_still_the_students(school):
    school.hand_in("007", notebook(RIGHT))
    school.grade()
    found = rows(school)
    for row in found:
        if row["student"] == "007":
            row.update(student="7", points="1")
    save(school, found)
    school.grade()
    assert open_points(school)["007"] == "2"
    assert {r["student"] for r in rows(school)} == {"007", "ada", "bo"}


def test_an_answer_that_was_not_written_has_no_points_unless_given(school):
    school.hand_in("bo", notebook({"explain": STUBS["explain"]}))
    school.grade()
    assert open_points(school)["bo"] == "0"
    assert rows(school)[2]["answer"] == "not-written-yet"
    save(school, typed(school, "", "", "1", "0"))
    school.grade()
    assert open_points(school)["bo"] == "1"


def test_what_is_no_form_is_left_alone(school):
    form(school).write_text("my,notes\n1,2\n", encoding="utf-8")
    with pytest.raises(ClassroomError, match="no column 'question'"):
        school.grade()
    assert form(school).read_text("utf-8") == "my,notes\n1,2\n"


def test_the_page_shows_answers_beside_solution_and_criteria(school):
    page = (school.to.parent / "rubric.html").read_text("utf-8")
    assert "The secret of the model solution." in page and "Names the secret criterion" in page
    assert "It is &lt;b&gt;bold&lt;/b&gt; &amp; so on." in page and "<b>" not in page
    assert "word for word as the model solution" in page  # ada's
    assert "row 2 ·" in page and "row 4 ·" in page
    school.grade()
    assert (school.to.parent / "rubric.html").read_text("utf-8") == page


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('explanation = """\n  One.\n  Two.\n"""', "One.\nTwo."),
        ('explanation = "stub"\nexplanation = "answer"', "answer"),
        (r"explanation = '1 \\ d'", r"1 \ d"),
        (r"explanation = '\d'", r"\d"),
        ("explanation = f'{1}'", None),
        ("x = 3", None),
        ("def f(): pass", None),
        ("explanation =", None),
        ("", None),
    ],
)
def test_a_text_given_to_a_name_is_shown_as_text(source, said):
    assert prose(source) == said


def test_without_open_questions_there_is_no_form(tmp_path):
    made = Class(tmp_path)
    checked = tuple(q for q in load(made.assignment).questions if q.kind == "checked")
    assignment(made.assignment, questions=checked)
    made.hand_in("ada", notebook(RIGHT))
    made.grade()
    assert open_points(made) == {"ada": ""} and not form(made).exists()


def test_a_new_weight_of_an_open_question_scales_what_was_given(school):
    save(school, typed(school, "1", "2"))
    changed = tuple(
        replace(q, points=8.0) if q.kind == "open" else q for q in load(school.assignment).questions
    )
    assignment(school.assignment, questions=changed)
    assert school.grade().runs == 0
    assert open_points(school)["ada"] == "6"
