"""Whose the files are and which notebook each is, whatever they are called."""

import os
import sys
import unicodedata

import pytest
from class_samples import FILE, RIGHT, WRONG, assignment, hand_in, notebook

from classroom.assignment import ClassroomError, Notebook
from classroom.reading import Read, Trouble
from classroom.submissions import find
from classroom.variation import folder_of


@pytest.fixture
def places(tmp_path):
    (tmp_path / "sub").mkdir()
    return tmp_path / "sub", assignment(tmp_path / "week")


def found(places):
    return {made.student: made for made in find(*places)}


def name_of(made, file=FILE):
    """``"read"``, or the name of the trouble."""
    read = made.notebooks[file]
    return "read" if isinstance(read, Read) else read.name


def test_folders_and_files_side_by_side_are_students(places):
    sub, _ = places
    hand_in(sub, "ada", notebook(RIGHT))
    hand_in(sub, "bo/ch3", notebook(RIGHT))  # nbgrader's submitted/<student>/<assignment>/
    for flat in (f"cy_{FILE}", f"dan_1234_5678_{FILE}", "eve.ipynb", "fay_03-tiny-1.ipynb"):
        hand_in(sub, "", notebook(RIGHT), flat)
    students = found(places)
    assert list(students) == ["ada", "bo", "cy", "dan_1234_5678", "eve", "fay"]
    assert {name_of(made) for made in students.values()} == {"read"}
    assert not any(made.look for made in students.values())


def test_what_jupyter_and_a_mac_leave_behind_is_ignored(places):
    sub, _ = places
    hand_in(sub, "ada", notebook(RIGHT))
    hand_in(sub, "ada/.ipynb_checkpoints", notebook(WRONG), "03-tiny-checkpoint.ipynb")
    hand_in(sub, "ada", b"\0\0", f"._{FILE}")
    hand_in(sub, "__MACOSX/ada", b"\0\0")
    hand_in(sub, ".ipynb_checkpoints", notebook(WRONG))
    assert list(found(places)) == ["ada"]
    made = found(places)["ada"]
    assert made.notes == made.look == []
    assert made.notebooks[FILE].answers["variance"] == (RIGHT["variance"],)


def test_other_files_are_listed_and_not_read(places):
    sub, _ = places
    hand_in(sub, "ada", notebook(RIGHT))
    hand_in(sub, "ada", b"x", "notes.txt")
    hand_in(sub, "bo", b"x", "exercise.pdf")
    students = found(places)
    assert students["ada"].notes == ["also there, not read: notes.txt"]
    assert name_of(students["bo"]) == "empty" and "exercise.pdf" in students["bo"].look[0]


def test_a_renamed_notebook_is_known_by_its_metadata_or_by_its_cells(places):
    sub, _ = places
    hand_in(sub, "ada", notebook(RIGHT), "homework final.ipynb")
    bare = notebook(RIGHT)
    del bare["metadata"]
    hand_in(sub, "bo", bare, "Untitled.ipynb")
    students = found(places)
    assert name_of(students["ada"]) == name_of(students["bo"]) == "read"
    assert students["ada"].notes == [f"homework final.ipynb was recognised as {FILE}"]


def test_another_assignment_is_named(places):
    sub, _ = places
    other = notebook({}, assignment="ch7", notebook="07-x.ipynb")
    hand_in(sub, "ada", other | {"cells": other["cells"][:0]})
    made = found(places)["ada"].notebooks[FILE]
    assert isinstance(made, Trouble) and made.name == "other-assignment" and "ch7" in made.message


def test_two_files_count_when_one_has_the_name_or_both_say_the_same(places):
    sub, _ = places
    for student, names in {
        "ada": (FILE, "03-tiny-Copy1.ipynb"),
        "bo": ("a.ipynb", "b.ipynb"),
        "cy": ("a.ipynb", "b.ipynb"),
    }.items():
        hand_in(sub, student, notebook(RIGHT), names[0])
        hand_in(sub, student, notebook(RIGHT if student == "cy" else WRONG), names[1])
    students = found(places)
    assert students["ada"].notebooks[FILE].answers["variance"] == (RIGHT["variance"],)
    assert f"2 files for {FILE}: {FILE} counts" in students["ada"].notes
    assert (
        name_of(students["bo"]) == "two-files"
        and "a.ipynb, b.ipynb" in students["bo"].notebooks[FILE].message
    )
    assert name_of(students["cy"]) == "read"


def test_of_a_broken_file_and_a_whole_one_the_whole_one_counts(places):
    sub, _ = places
    hand_in(sub, "ada", b"{", "03-tiny (1).ipynb")
    hand_in(sub, "ada", notebook(RIGHT))
    assert name_of(found(places)["ada"]) == "read"


def test_each_of_two_notebooks_gets_its_own_trouble(tmp_path):
    sub = tmp_path / "sub"
    second = "04-next.ipynb"
    both = (Notebook(FILE, "Tiny", "03-x", ("first",)), Notebook(second, "Next", "04-x", ()))
    made = assignment(tmp_path / "week", notebooks=both)
    hand_in(sub, "ada", b"{", second)
    ada = find(sub, made)[0]
    assert name_of(ada, second) == "not-json" and name_of(ada) == "empty"


def test_links_are_not_followed(places, tmp_path):
    sub, _ = places
    hand_in(tmp_path, "secret", notebook(RIGHT))
    (sub / "ada").symlink_to(tmp_path / "secret")
    (sub / "bo").mkdir()
    (sub / "bo" / FILE).symlink_to(tmp_path / "secret" / FILE)
    hand_in(sub, "cy", notebook(RIGHT))
    (sub / "cy" / "all").symlink_to(sub)
    students = found(places)
    assert name_of(students["ada"]) == name_of(students["bo"]) == "unreadable"
    assert list(students) == ["ada", "bo", "cy"] and name_of(students["cy"]) == "read"


def test_a_folder_with_the_name_of_a_notebook_is_unreadable(places):
    sub, _ = places
    hand_in(sub, f"ada/{FILE}", notebook(RIGHT), "inner.ipynb")
    hand_in(sub, f"bo_{FILE}", notebook(RIGHT), "inner.ipynb")
    students = found(places)
    assert name_of(students["ada"]) == name_of(students["bo"]) == "unreadable"


def test_names_of_all_kinds_become_one_line(places):
    sub, _ = places
    for name in ("a\nb", "=1+1", 'q"uote', unicodedata.normalize("NFD", "Zoë"), "..."):
        hand_in(sub, name, notebook(RIGHT))
    expected = {"a�b", "=1+1", 'q"uote', "Zoë"}
    if sys.platform == "linux":  # others have no names that are no text
        os.mkdir(os.fsencode(sub) + b"/caf\xe9")
        expected.add("caf�")
    assert set(found(places)) == expected


def test_thousands_of_files_are_cut_short(places, monkeypatch):
    monkeypatch.setattr("classroom.submissions.MOST_FILES", 3)
    for number in range(5):
        hand_in(places[0], "ada", b"x", f"{number}.txt")
    assert "more than 3 files" in " ".join(found(places)["ada"].look)


def test_no_submissions_is_an_error(places, tmp_path):
    with pytest.raises(ClassroomError, match="no notebook and no folder"):
        find(*places)
    with pytest.raises(ClassroomError, match="cannot be read"):
        find(tmp_path / "nowhere", places[1])


# -------------------------------------------------------------------------- data of one's own


@pytest.fixture
def varied(tmp_path):
    codes = {"Ada": "a" * 10, "bo": "b" * 10, "cy": "c" * 10}
    (tmp_path / "sub").mkdir()
    return tmp_path / "sub", assignment(tmp_path / "week", variations=codes)


def test_the_folder_says_whose_data_it_is(varied):
    hand_in(varied[0], folder_of("Ada"), notebook(RIGHT, student="Ada"))
    hand_in(varied[0], "bo", notebook(RIGHT, student="Ada"))
    students = found(varied)
    assert students["Ada"].variation == "a" * 10 and not students["Ada"].look
    assert students["bo"].variation == "b" * 10
    assert students["bo"].look == ["the notebook was made for Ada"]


def test_a_folder_of_another_name_takes_the_id_from_the_notebook(varied):
    hand_in(varied[0], "Ada Lovelace_123", notebook(RIGHT, student="Ada"))
    hand_in(varied[0], "stranger", notebook(RIGHT, student=""))
    students = found(varied)
    assert students["Ada Lovelace_123"].variation == "a" * 10
    assert not students["Ada Lovelace_123"].look
    assert students["stranger"].variation == "" and "unknown" in students["stranger"].look[0]


def test_one_notebook_handed_in_by_two_is_noticed(varied):
    for name in ("x", "y"):
        hand_in(varied[0], name, notebook(RIGHT, student="cy"))
    students = found(varied)
    assert all("several submissions" in students[name].look[0] for name in ("x", "y"))


def test_who_hands_in_nothing_has_a_line_too(varied):
    hand_in(varied[0], "bo", notebook(RIGHT, student="bo"))
    students = found(varied)
    assert list(students) == ["Ada", "bo", "cy"]
    assert name_of(students["Ada"]) == "empty" and not students["Ada"].look
