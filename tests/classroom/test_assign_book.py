"""Every chapter of the built book as an assignment, with a copy for each of two students."""

import ast
import csv
import re
from pathlib import Path

import nbformat
import pytest
from leaks import hidden_lines, squeeze

from attnkit import checks
from bookext.instructor import names
from bookext.lint import pages
from bookext.setup_cells import set_up
from classroom.assign import ROOT, assign

CHAPTERS = [path for path in pages(ROOT) if re.match(r"\d\d-", path.name)]
ITEM = re.compile(r"^- \*\*([A-Z])\*\* (.*(?:\n  .*)*)", re.M)
EACH = pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    to = tmp_path_factory.mktemp("book") / "course"
    return assign([path.stem for path in CHAPTERS], to, seed_from=["ada", "bo"])


def exercises_of(made, folder, question):
    """The text of a question's exercise in one of the notebooks, up to its hidden test."""
    path = made.folder / folder / question.notebook
    cells = nbformat.reads(path.read_text("utf-8"), as_version=4).cells
    last = next(n for n, cell in enumerate(cells) if cell.id == question.id)
    heads = (n for n in range(last, 0, -1) if cells[n].source.startswith("### Exercise "))
    return "\n\n".join(cell.source for cell in cells[next(heads) : last])


def test_each_chapter_has_three_to_six_exercises_and_an_experiment_among_them(made):
    for notebook in made.notebooks:
        asked = [question for question in made.of(notebook.file) if question.check]
        kinds = [type(checks.exercise(question.check)) for question in asked]
        assert 3 <= len(asked) <= 6, notebook.file
        assert checks.ExperimentExercise in kinds and notebook.setup, notebook.file


@EACH
def test_set_up_without_the_books_asserts_still_gives_every_name(made, chapter):
    """A grader leaves them out; what a later cell reads must not go with them."""
    path = made.folder / "instructor" / f"{chapter.stem}.ipynb"
    cells = {c.id: c.source for c in nbformat.reads(path.read_text("utf-8"), as_version=4).cells}
    (notebook,) = (n for n in made.notebooks if n.chapter == chapter.stem)
    for source in map(cells.get, notebook.setup):
        assert names(set_up(source, hidden=True))[0] == names(source)[0], source


@EACH
def test_no_hidden_line_of_a_chapter_is_in_a_students_copy(made, chapter):
    hidden = hidden_lines({Path(chapter.name): chapter.read_text("utf-8")})
    copy = made.folder / "student" / "ada" / f"{chapter.stem}.ipynb"
    shown = squeeze(copy.read_text("utf-8").replace("\\n", "").replace('",', ""))
    assert len(hidden) > 20 and not [line for line in hidden if line in shown]


@EACH
def test_a_copy_holds_the_data_that_its_checks_expect(made, chapter):
    for question in made.of(f"{chapter.stem}.ipynb"):
        for student, code in made.variations.items():
            book = checks.exercise(question.check) if question.check else None
            mine = checks.exercise(question.check, code) if question.check else None
            if book is mine:
                continue
            text = exercises_of(made, f"student/{student}", question)
            assert f'variation="{code}"' in text, question.id
            if isinstance(mine, checks.ChoiceExercise):
                ours = dict(ITEM.findall(exercises_of(made, "instructor", question)))
                assert dict(ITEM.findall(text)) == {mine.letters[k]: v for k, v in ours.items()}
            if isinstance(mine, checks.NumbersExercise):
                lines = text.splitlines()
                assert all(f"{k} = {v!r}" in " ".join(lines) for k, v in mine.given.items())


def test_what_the_key_says_is_right_for_the_copy_that_it_names(made):
    """As it stands in the table: a number that was rounded too far is no key."""
    with (made.folder / "answers.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["answer"]]
    by_id = {question.id: question.check for question in made.questions}
    assert len(rows) > 12 * len(made.variations)
    for row in rows:
        exercise = checks.exercise(by_id[row["question"]], row["variation"])
        letters = isinstance(exercise, checks.ChoiceExercise)
        answer = row["answer"] if letters else ast.literal_eval(row["answer"])
        assert exercise.diagnose(exercise.probe(answer)).passed, row
