"""What nbgrader 0.9.6 makes of our notebooks: its own copy and ours, answered, empty and wrong.

nbgrader really runs: it generates the release version and grades four students, each in a kernel.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import all_kinds
import pytest
from edition_book import ROOT

from classroom.assign import assign

RUN = Path(__file__).with_name("nbgrader_run.py")


def scores(made, folder, wanted):
    """Student → cell → the score by nbgrader, after copying what it needs into ``folder``."""
    shutil.copytree(made.folder / "instructor", folder / "source" / made.name)
    shutil.copytree(made.folder / "student", folder / "student")
    (folder / "wanted.json").write_text(json.dumps(wanted), "utf-8")
    bank = str(made.folder / made.bank) if made.bank else ""
    own = {"PYTHONPATH": str(ROOT), "ATTNKIT_BANK": bank}
    own["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])  # alembic
    for kind in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        own[kind] = str(folder / kind.lower())  # no kernel or setting of this machine's user
    done = subprocess.run(
        [sys.executable, RUN, folder, made.name],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def solutions(made):
    """The right answer for every answer cell."""
    return {
        id: source
        for question in made.questions
        for id, source in zip(question.answers, question.solutions, strict=True)
    }


def full(made):
    """What nbgrader gives to right answers: a person has to read the open ones."""
    return {q.id: q.points if q.check else None for q in made.questions}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    bank = all_kinds.write(tmp_path_factory.mktemp("nbgrader") / "bank")
    return assign([], bank.parent / "week", bank=bank)


@pytest.fixture(scope="module")
def graded(made, tmp_path_factory):
    right = solutions(made)
    some_wrong = {
        **right,
        "bank-mix": "received = 4",
        "ch3-same-weights": "same_weights = {'B'}",
        "bank-toss-measurement": "def measure(seed):\n    return 7",
    }
    wanted = {
        "release": ("release", right),
        "ours": ("student", right),
        "stubs": ("student", {}),
        "some": ("student", some_wrong),
    }
    return scores(made, tmp_path_factory.mktemp("course"), wanted)


@pytest.mark.parametrize("copy", ["release", "ours"])
def test_right_answers_score_in_full_in_its_own_copy_and_in_ours(made, graded, copy):
    assert graded[copy] == full(made)
    assert sum(points or 0 for points in graded[copy].values()) == 3 + 2 + 2 + 1


def test_stubs_score_nothing(made, graded):
    assert graded["stubs"] == {question.id: 0 for question in made.questions}


def test_each_question_is_scored_by_itself(made, graded):
    wrong = ("bank-mix-test", "ch3-same-weights-test", "bank-toss-test")
    assert graded["some"] == full(made) | dict.fromkeys(wrong, 0)


@pytest.mark.nbgrader
@pytest.mark.parametrize("chapter", ["3", "12"])
def test_a_chapter_of_the_book(chapter, tmp_path):
    """With everything that the chapter itself runs: ``make test-nbgrader``."""
    made = assign([chapter], tmp_path / "week")
    right = solutions(made)
    wanted = {"release": ("release", right), "ours": ("student", right), "stubs": ("student", {})}
    found = scores(made, tmp_path / "course", wanted)
    print(json.dumps(found, indent=1))
    assert found["release"] == found["ours"] == full(made)
    assert found["stubs"] == {question.id: 0 for question in made.questions}
