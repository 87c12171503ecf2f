"""Assignment folders: what a class gets, what it does not, and what refuses to be made."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from edition_book import ROOT
from leaks import leaks
from small_course import CHAPTER, SECRETS

from attnkit import checks
from bookext.instructor import digest
from bookext.markdown import raw_myst
from classroom.assign import assign
from classroom.assignment import ClassroomError, load
from classroom.variation import code_of, folder_of, given_source

FILE = "03-small.ipynb"
AGAIN = """\
import sys
from pathlib import Path
from classroom.assign import assign
assign(["03"], Path(sys.argv[2]), root=Path(sys.argv[1]))
assign(["03"], Path(sys.argv[2] + "-each"), root=Path(sys.argv[1]), seed_from=["bo", "ada"])
"""


def read(path):
    return nbformat.reads(path.read_text("utf-8"), as_version=4)


def graded(notebook):
    """Cells with nbgrader metadata by their grade_id."""
    marked = (cell for cell in notebook.cells if "nbgrader" in cell.metadata)
    return {cell.metadata.nbgrader.grade_id: cell for cell in marked}


def text_of(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells)


@pytest.fixture(scope="module")
def made(course, tmp_path_factory):
    return assign(["3"], tmp_path_factory.mktemp("one") / "week", root=course)


@pytest.fixture(scope="module")
def each(course, tmp_path_factory):
    """An assignment with a copy for each of three students."""
    to = tmp_path_factory.mktemp("each") / "week"
    return assign(["3"], to, root=course, seed_from=["ada", "bo", "=Ço/../x"])


# ------------------------------------------------------------------- what a build leaves for this


def test_a_public_build_writes_the_source_of_assignments_beside_the_site(course):
    notebook = read(course / "_build" / "instructor" / FILE)
    text = text_of(notebook)
    assert not [secret for secret in SECRETS if secret not in text]
    assert list(graded(notebook)) == [cell.id for cell in graded(notebook).values()]
    assert graded(notebook)["ch3-words-text"].cell_type == "markdown"
    assert not (course / "_build" / "instructor" / "04-plain.ipynb").exists()
    said = notebook.metadata.attention_measured
    assert said.chapter == "03-small" and said.title == "Small products"
    assert said.source == digest(CHAPTER)


def test_an_answer_in_markdown_is_one_before_a_code_cell_too(course):
    public = read(course / "_build" / "html" / "notebooks" / FILE)
    assert graded(public)["ch3-words-text"].source.endswith("YOUR ANSWER HERE")


def test_nothing_of_it_is_in_the_site(course):
    site = course / "_build" / "html"
    assert leaks(site, {Path("03-small.md"): CHAPTER}) == []
    for path in site.rglob("*"):
        content = path.read_text("utf-8", "ignore") if path.is_file() else ""
        assert not [secret for secret in SECRETS[:4] if secret in content], path


def test_set_up_is_what_runs_without_any_answer(course):
    notebook = read(course / "_build" / "instructor" / FILE)
    by_id = {cell.id: cell.source for cell in notebook.cells}
    assert [by_id[id] for id in notebook.metadata.attention_measured.setup] == [
        "scale = 3",
        "import numpy as np",
        "from attnkit.checks import check",
        "power = 4",
        "name = 'read again'",
    ]


# --------------------------------------------------------------------------- the student's notebook


def test_the_students_copy_has_stubs_and_locked_cells_and_no_secret(made):
    path = made.folder / "student" / FILE
    notebook = read(path)
    nbformat.validate(notebook)
    raw = path.read_text("utf-8")
    assert not [secret for secret in SECRETS if secret in raw or secret.replace('"', '\\"') in raw]
    assert "rubric" not in raw and "setup" not in notebook.metadata.attention_measured
    cells = graded(notebook)
    assert cells["ch3-variance"].source.endswith(
        "# YOUR CODE HERE\n    raise NotImplementedError()"
    )
    assert cells["ch3-words-text"].source.endswith("YOUR ANSWER HERE")
    test = cells["ch3-variance-test"]
    assert test.source == "# What is tested here is not shown."
    assert test.metadata.editable is test.metadata.deletable is False
    assert 'check("ch3-variance", score_variance)' in text_of(notebook), "the visible check"
    assert not raw_myst(text_of(notebook))


def test_a_note_before_the_first_exercise_says_what_is_read(made):
    cells = read(made.folder / "student" / FILE).cells
    note = next(n for n, cell in enumerate(cells) if "What is read when" in cell.source)
    assert cells[note + 1].source.startswith("### Exercise 1 (The variance")


def test_the_copies_are_the_same_bytes_wherever_they_are_made(course, made, tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    env |= {"LC_ALL": "C", "PYTHONUTF8": "0"}
    to = tmp_path / "elsewhere ü"
    done = subprocess.run(
        [sys.executable, "-c", AGAIN, course, to], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    ours = assign(["3"], tmp_path / "here", root=course, seed_from=["ada", "bo"])
    for mine, theirs in ((made.folder, to), (ours.folder, Path(f"{to}-each"))):
        names = sorted(p.relative_to(mine) for p in mine.rglob("*") if p.is_file())
        assert names == sorted(p.relative_to(theirs) for p in theirs.rglob("*") if p.is_file())
        for name in names:
            if name.name not in ("answers.csv", "questions.json"):  # in the order of the ids
                assert (mine / name).read_bytes() == (theirs / name).read_bytes(), name


# ------------------------------------------------------------------------------------ the questions


def test_questions_say_what_is_run_and_what_is_read(made):
    assert load(made.folder) == made
    variance, letters, measurement, words = made.questions
    assert variance.check == "ch3-variance" and variance.expression == "score_variance"
    assert (variance.points, variance.kind, variance.answers) == (2, "checked", ("ch3-variance",))
    assert letters.solutions[0].endswith('same_weights = {"A", "C", "E", "F"}')
    assert (
        letters.stubs[0] == graded(read(made.folder / "student" / FILE))["ch3-same-weights"].source
    )
    assert measurement.kind == words.kind == "open" and words.title == "In your own words (text)"
    assert [(c.points, c.text) for c in words.rubric] == [
        (2, "names the variance"),
        (1, "names the softmax"),
    ]
    assert "rubric" not in words.solutions[0] and "BEGIN" not in words.solutions[0]


def test_the_handout_is_one_page_for_paper_and_telephone(made):
    page = (made.folder / "handout.html").read_text("utf-8")
    assert "tell your instructor" in page  # nobody sees a comment in a checked cell
    assert '<html lang="en">' in page and "width=device-width" in page
    assert "size: A4" in page and "prefers-color-scheme: dark" in page
    assert not re.search(r"<script|<link|src=|https?:|\b20\d\d\b", page)
    assert "The variance of a <em>score</em></td><td>code: a check</td>" in page
    assert "About 20 minutes for the text and 15 for the exercises." in page
    assert "Points altogether: 8." in page


# ----------------------------------------------------------------------------- what is not accepted


@pytest.mark.parametrize("name", ["3", "03", "ch3", "Ch03", "03-small", "chapters/03-small.md"])
def test_a_chapter_has_many_names(course, tmp_path, name):
    assert assign([name], tmp_path / "a", root=course).name == "ch3"


@pytest.mark.parametrize(
    "chapters, words",
    [
        (["7"], "there is no chapter '7'. Chapters: 03-small, 04-plain"),
        (["3", "03-small"], "03-small is named twice"),
        (["4"], "chapter 04-plain has no exercises"),
        ([], "nothing to assign"),
    ],
)
def test_chapters_that_cannot_be_assigned(course, tmp_path, chapters, words):
    with pytest.raises(ClassroomError, match=re.escape(words)):
        assign(chapters, tmp_path / "a", root=course)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("change, words", [("text", "has changed since"), ("gone", "make book")])
def test_a_chapter_that_is_not_built_as_it_is(course, tmp_path, change, words):
    root = tmp_path / "root"
    shutil.copytree(course / "chapters", root / "chapters")
    shutil.copytree(course / "_build" / "instructor", root / "_build" / "instructor")
    if change == "text":
        with (root / "chapters" / "03-small.md").open("a") as file:
            file.write("More.\n")
    else:
        (root / "_build" / "instructor" / FILE).unlink()
    with pytest.raises(ClassroomError, match=words):
        assign(["3"], tmp_path / "a", root=root)


def test_only_a_folder_of_the_same_assignment_is_written_over(course, tmp_path):
    to = tmp_path / "week"
    first = assign(["3"], to, root=course)
    (to / "grades.csv").write_text("kept")
    before = {p: p.read_bytes() for p in to.rglob("*") if p.is_file()}
    assert assign(["3"], to, root=course) == first
    assert {p: p.read_bytes() for p in to.rglob("*") if p.is_file()} == before
    with pytest.raises(ClassroomError, match="one copy for all"):
        assign(["3"], to, root=course, seed_from=["ada"])
    plain = json.loads((to / "questions.json").read_text("utf-8"))
    plain["questions"][0]["points"] = 5.0
    (to / "questions.json").write_text(json.dumps(plain), "utf-8")
    assert assign(["3"], to, root=course).questions[0].points == 5, "an instructor's weight"
    plain["name"] = "ch4"
    (to / "questions.json").write_text(json.dumps(plain), "utf-8")
    with pytest.raises(ClassroomError, match="is the assignment 'ch4', not 'ch3'"):
        assign(["3"], to, root=course)


def test_a_folder_of_other_things_a_file_and_the_site_are_refused(course, tmp_path):
    (tmp_path / "thesis.tex").write_text("kept")
    with pytest.raises(ClassroomError, match="holds other things"):
        assign(["3"], tmp_path, root=course)
    with pytest.raises(ClassroomError, match="is a file"):
        assign(["3"], tmp_path / "thesis.tex", root=course)
    with pytest.raises(ClassroomError, match="published"):
        assign(["3"], course / "_build" / "html" / "week", root=course)
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


# ------------------------------------------------------------------------------- data by student


def test_each_student_gets_letters_of_their_own_and_the_check_knows_them(each):
    texts = set()
    for student, code in each.variations.items():
        notebook = read(each.folder / "student" / folder_of(student) / FILE)
        text = text_of(notebook)
        assert f'check("ch3-same-weights", same_weights, variation="{code}")' in text
        assert 'check("ch3-variance", score_variance)' in text, "the same for all"
        assert notebook.metadata.attention_measured.student == student
        exercise = checks.exercise("ch3-same-weights", code)
        list_of = re.findall(r"^- \*\*([A-G])\*\* (.*(?:\n  .*)*)", text, re.M)
        assert [letter for letter, _ in list_of] == list("ABCDEFG")
        said = {letter: " ".join(words.split()) for letter, words in list_of}
        assert said == {option.letter: option.text for option in exercise.options}
        texts.add(text[text.index("- **A**") : text.index("- **G**")])
    assert len(texts) == 3


def test_the_key_of_each_student_is_right_for_that_student_alone(each):
    text = (each.folder / "answers.csv").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["student"] for row in rows] == ["ada", "bo", "'=Ço/../x"], "no formula"
    keys = {row["variation"]: row["answer"] for row in rows}
    for code in keys:
        passed = {
            other: checks.check("ch3-same-weights", keys[other], variation=code).passed
            for other in keys
        }
        assert passed[code] and not all(passed.values())


def test_a_late_student_is_added_and_the_others_keep_their_copies(course, tmp_path):
    to = tmp_path / "week"
    assign(["3"], to, root=course, seed_from=["ada"])
    before = (to / "student" / "ada" / FILE).read_bytes()
    made = assign(["3"], to, root=course, seed_from=["late"])
    assert list(made.variations) == ["ada", "late"]
    assert (to / "student" / "ada" / FILE).read_bytes() == before
    assert (to / "student" / "late" / FILE).is_file()


STRANGE = [
    "ada", "Ada", "ADA", "../../etc", "a/b", "a\\b", ".", "..", ".hidden", "con", "nul.txt", "a ",
    " a", "李雷", "李", "🦓", "x" * 300, "é", "e\u0301", "a\nb", "a\x00b", "s1234567", "a@b.org",
    f"Ada-{code_of('Ada')}", f"ada-{code_of('Ada')}", "C:\\x", "~", "$HOME", "-rf", "=1+1",
]  # fmt: skip


def test_any_id_has_a_folder_of_its_own_that_every_system_takes():
    folders = [folder_of(student) for student in STRANGE]
    assert len({folder.casefold() for folder in folders}) == len(STRANGE)
    for folder in folders:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._@+-]*[A-Za-z0-9]", folder), folder
        assert len(folder) <= 64 and folder.partition(".")[0] not in ("con", "nul")
    assert folder_of("s1234567") == "s1234567" and folder_of("a@b.org") == "a@b.org"


@pytest.mark.parametrize(
    "students, words", [(["a", "a"], "comes twice"), ([" "], "empty"), (["\udc80"], "not text")]
)
def test_ids_that_are_none(course, tmp_path, students, words):
    with pytest.raises(ClassroomError, match=words):
        assign(["3"], tmp_path / "a", root=course, seed_from=students)


def test_most_exercises_have_no_given_values():
    assert given_source("ch3-variance", "abc") == ""
