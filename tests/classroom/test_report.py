"""The class as a whole: counted right, without names, from tables that a spreadsheet had open."""

import re

import pytest
from class_samples import RIGHT, STUBS, WRONG, Class, notebook

from classroom.assignment import ClassroomError
from classroom.report import read_report
from classroom.report_page import bins, report_page
from classroom.scores import questions_path


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    made = Class(tmp_path_factory.mktemp("class"))
    for number in range(5):
        made.hand_in(f"right{number}", notebook(RIGHT))
    for number in range(3):
        made.hand_in(f"wrong{number}", notebook(WRONG))
    made.hand_in("stub", notebook(RIGHT | {"variance": STUBS["variance"]}))
    made.hand_in("broken", b"{")
    (made.submissions / "nobody").mkdir()
    made.grade(book="https://example.org/")
    return made


@pytest.fixture(scope="module")
def report(school):
    return read_report(school.to)


@pytest.fixture(scope="module")
def page(report):
    return report_page(report, "grades")


def test_every_question_is_counted(report):
    assert (report.students, report.empty, report.look) == (11, 1, 1)
    assert "1 submission needs a look" in report_page(report, "grades")
    variance, letters, explain = report.questions
    assert (variance.students, variance.right, variance.nothing) == (10, 5, 2)
    assert [(m.name, m.count, m.named) for m in variance.mistakes] == [
        ("std-taken-for-variance", 3, True)
    ]
    assert (letters.right, letters.nothing) == (6, 1)
    assert (explain.open, explain.unread, explain.nothing) == (True, 9, 1)


def test_the_misconceptions_worth_a_talk_come_first(report, page):
    assert [m.name for _, m in report.worth_talking_about] == [
        "std-taken-for-variance", "softmax-ignores-scale",
    ]  # fmt: skip
    assert "3 of 10 (30 %)" in page and 'href="https://example.org/chapters/03-' in page


def test_hardest_are_questions_whose_points_are_known(report):
    assert [q.id for q in report.hardest] == ["variance-test", "letters-test"]


def test_every_picture_has_words_with_its_numbers(page):
    pictures = re.findall(r'<svg width="100%"[^>]*aria-label="([^"]+)"', page)
    assert len(pictures) == 4 and page.count('role="img"') == 4
    assert pictures[0] == (
        "About variance, 10 students: 5 right, 3 std-taken-for-variance, "
        "2 no answer, or not readable"
    )
    # 5 have the 4 points of 8 that are known, one has 2, four have none
    assert (
        pictures[3] == "Students by share of the points. 0 to 10 %: 4, 20 to 30 %: 1, 50 to 60 %: 5"
    )


def test_no_name_is_shown(page, school):
    assert not re.search(r"right\d|wrong\d|nobody|broken", page)
    few = read_report(school.to)
    assert "may still point to them" not in page
    small = report_page(few.__class__(**{**vars(few), "students": 4}), "grades")
    assert "may still point to them" in small


def test_numbers_and_delimiters_of_a_spreadsheet_are_read(school, report, tmp_path):
    for path in (school.to, questions_path(school.to)):
        text = path.read_text("utf-8-sig").replace(",", ";").replace("2.5", "2,5")
        (tmp_path / path.name).write_text(text, "utf-8-sig")
    assert read_report(tmp_path / school.to.name).shares == report.shares


def test_tables_that_are_not_ours_are_refused(school, tmp_path):
    other = tmp_path / "grades.csv"
    with pytest.raises(ClassroomError, match="is not there"):
        read_report(other)
    other.write_text("name,points\nada,3\n", "utf-8")
    with pytest.raises(ClassroomError, match="no column 'student'"):
        read_report(other)
    other.write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    with pytest.raises(ClassroomError, match=r"grades\.csv"):
        read_report(other)
    other.write_bytes(school.to.read_bytes())
    with pytest.raises(ClassroomError, match=r"grades-questions\.csv is not there"):
        read_report(other)


def test_only_addresses_become_links(school, tmp_path):
    for path in (school.to, questions_path(school.to)):
        text = path.read_text("utf-8-sig").replace("https://example.org/", "javascript:alert(1)//")
        (tmp_path / path.name).write_text(text, "utf-8-sig")
    page = report_page(read_report(tmp_path / school.to.name), "<b>")
    assert "javascript:" not in page and "<b>" not in page


def test_bins_are_closed_above():
    assert bins([0, 0.099, 0.1, 0.3, 0.95, 1.0]) == [2, 1, 0, 1, 0, 0, 0, 0, 0, 2]
