"""Questions of an instructor's own: asked with the book's, and refused when something is wrong."""

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from edition_book import ROOT

from attnkit import checks
from attnkit.checks._bank import read_bank
from bookext.markdown import raw_myst
from classroom.assign import assign
from classroom.assignment import ClassroomError
from classroom.bank import open_bank
from classroom.variation import vary

EXAMPLE = ROOT / "classroom" / "example_bank"
OWN = read_bank(EXAMPLE, {})


@pytest.fixture(scope="module")
def made(course, tmp_path_factory):
    """A chapter and the example's questions, with a copy for each of two students."""
    to = tmp_path_factory.mktemp("bank") / "week"
    return assign(["3"], to, root=course, bank=EXAMPLE, seed_from=["ada", "bo"])


def text_of(path):
    notebook = nbformat.reads(path.read_text("utf-8"), as_version=4)
    nbformat.validate(notebook)
    return "\n\n".join(cell.source for cell in notebook.cells)


@pytest.mark.parametrize("id", OWN)
def test_every_wrong_answer_of_the_example_has_its_own_name(id):
    exercise = OWN[id]
    numbers = isinstance(exercise, checks.NumbersExercise)
    for wrong in exercise.misconceptions:
        for form in wrong.wrong:
            answer = form(**exercise.given) if numbers else form
            assert exercise.diagnose(exercise.probe(answer)).name == wrong.name
    right = exercise.right(**exercise.given) if numbers else exercise.right
    assert exercise.diagnose(exercise.probe(right)).passed
    assert len(exercise.misconceptions) >= (5 if numbers else 6)


def test_its_questions_come_after_the_chapters(made):
    assert [n.file for n in made.notebooks] == ["03-small.ipynb", "questions.ipynb"]
    assert [q.id for q in made.of("questions.ipynb")] == [
        "bank-effective-keys-test",
        "bank-mix-test",
    ]
    assert made.name == "ch3-bank-example_bank"
    assert "questions of our own" in (made.folder / "handout.html").read_text("utf-8")


def test_students_have_no_check_of_it_and_the_instructor_has_it_in_the_folder(made):
    student = text_of(made.folder / "student" / "ada" / "questions.ipynb")
    assert "check(" not in student and "have no check that runs" in student
    assert "### Exercise 1 (How many keys" in student and not raw_myst(student)
    assert 'check("bank-mix", received)' in text_of(made.folder / "instructor" / "questions.ipynb")
    assert (made.folder / made.bank / "checks.py").read_bytes() == (
        EXAMPLE / "checks.py"
    ).read_bytes()
    assert not list((made.folder / "student").rglob("*.py"))


def test_given_values_differ_by_student_and_the_key_is_right(made):
    key = (made.folder / "answers.csv").read_text("utf-8")
    texts = set()
    for student, code in made.variations.items():
        text = text_of(made.folder / "student" / student / "questions.ipynb")
        copy = OWN["bank-mix"].varied(code)
        assert f"weights = {copy.given['weights']}\nvalues = {copy.given['values']}" in text
        (answer,) = re.findall(rf'^{student},.*,bank-mix-test,".*",(.*)$', key, re.M)
        assert copy.diagnose(copy.probe(float(answer))).passed
        texts.add(answer)
    assert len(texts) == 2


def test_given_values_keep_what_stands_beside_them():
    source = "# données\nweights = [\n    0.2, 0.3, 0.5]  # même\nother = 1; values = [10, 4, -2]"
    cells = [nbformat.v4.new_code_cell(source), nbformat.v4.new_code_cell('check("bank-mix", x)')]
    vary(cells, OWN["bank-mix"], "abc", "here")
    given = OWN["bank-mix"].varied("abc").given
    assert cells[0].source == (
        f"# données\nweights = {given['weights']}  # même\nother = 1; values = {given['values']}"
    )
    assert cells[1].source == 'check("bank-mix", x, variation="abc")'
    with pytest.raises(ClassroomError, match="must be set in the exercise once"):
        vary(cells[1:], OWN["bank-mix"], "abc", "here")


def test_a_bank_alone_is_an_assignment(tmp_path):
    made = assign([], tmp_path / "week", bank=EXAMPLE, root=tmp_path)
    assert made.name == "bank-example_bank"
    assert [n.file for n in made.notebooks] == ["questions.ipynb"]
    plain = json.loads((made.folder / "questions.json").read_text("utf-8"))
    assert plain["bank"] == "bank" and not plain["variations"]


PAGE = (EXAMPLE / "questions.md").read_text("utf-8")
CHECKS = (EXAMPLE / "checks.py").read_text("utf-8")


def line_of(text, part):
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    "old, new, line, words",
    [
        ('check("bank-mix", received).require()', 'check("x", received).require()', 112, "id 'x'"),
        ("points: 3", "points: -1", 58, "a number from 0"),
        ("language: python", "language: perl", 10, "language"),
        ("class: 3 and 2.", "class: 2 and 2.", 20, "have the points 3, 2"),
        ("grade_id: bank-mix\n", "grade_id: mix\n", 89, "belongs to no check"),
        (".require()\n### END", "\n### END", 58, "a hidden test is the one line"),
        ("    ### END SOLUTION\n", "", 47, "never closed"),
    ],
)
def test_what_is_wrong_with_a_page_is_said_with_its_line(tmp_path, old, new, line, words):
    bad = PAGE.replace(old, new)
    assert bad != PAGE
    (tmp_path / "questions.md").write_text(bad, "utf-8")
    (tmp_path / "checks.py").write_text(CHECKS, "utf-8")
    with pytest.raises(ClassroomError) as raised:
        open_bank(tmp_path)
    found = re.findall(
        rf"^{re.escape(str(tmp_path))}/questions\.md:(\d+): ", str(raised.value), re.M
    )
    assert str(line) in found
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "files, words",
    [
        ({}, "no page with questions"),
        ({"a.py": "EXERCISES = 3"}, "a.py: EXERCISES is a tuple"),
        ({"a.py": "EXERCISES = (\n"}, "a.py cannot be read as Python"),
        ({"a.py": CHECKS.replace("bank-mix", "ch3-variance")}, "'ch3-variance' exists already"),
        ({"questions.md": PAGE.split("## Exercises")[0]}, "no exercise with nbgrader metadata"),
        ({"questions.md": PAGE.partition("---\n\n")[2]}, "or no header"),
        ({"README.md": "# Only words\n"}, "no page with questions"),
    ],
)
def test_a_folder_that_is_no_bank(tmp_path, files, words):
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(ClassroomError, match=re.escape(words)):
        open_bank(tmp_path)


def test_what_sphinx_refuses_is_said_with_file_and_line(tmp_path):
    shutil.copy(EXAMPLE / "checks.py", tmp_path)
    text = PAGE.replace("Work out by hand", "{ref}`no-such-place` Work out by hand")
    (tmp_path / "questions.md").write_text(text, "utf-8")
    with pytest.raises(ClassroomError) as raised:
        open_bank(tmp_path)
    place = line_of(text, "Work out")
    assert re.search(rf"questions\.md:{place}: .*no-such-place", str(raised.value))
    assert str(Path(tmp_path)) in str(raised.value), "the instructor's file, not a copy"


def test_a_page_with_the_name_of_a_chapter_is_refused(course, tmp_path):
    bank = tmp_path / "bank"
    bank.mkdir()
    shutil.copy(EXAMPLE / "checks.py", bank)
    shutil.copy(EXAMPLE / "questions.md", bank / "03-small.md")
    with pytest.raises(ClassroomError, match="has the name of a chapter"):
        assign(["3"], tmp_path / "week", root=course, bank=bank)
