"""``python -m classroom``: help, exit codes, and one class from end to end in its own process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from class_samples import FILE, RIGHT, WRONG, Class, notebook

import classroom.assign
from classroom.__main__ import main
from classroom.assignment import Assignment, ClassroomError, Question, load

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", [[], ["assign"], ["grade"], ["report"]])
def test_help_has_examples_and_exit_codes(command, capsys):
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"python -m classroom {' '.join(command) or 'assign'} " in said.partition("examples:")[2]
    assert "130" in said.partition("exit codes:")[2]
    assert max(map(len, said.splitlines())) <= 100


@pytest.mark.parametrize("wrong", [[], ["grade"], ["mark"], ["grade", "sub", "--to", "x.csv"]])
def test_wrong_use_is_2(wrong, capsys):
    with pytest.raises(SystemExit) as ended:
        main(wrong)
    assert ended.value.code == 2 and "usage:" in capsys.readouterr().err


@pytest.mark.parametrize("to", ["grades.csv", "grades.xlsx", "rubric.csv"])
def test_what_can_be_put_right_is_one_message(to, tmp_path, capsys):
    (tmp_path / "sub").mkdir()
    arguments = [tmp_path / "sub", "--assignment", tmp_path / "nowhere", "--to", tmp_path / to]
    assert main(["grade", *map(str, arguments)]) == 2
    said = capsys.readouterr()
    assert said.out == "" and len(said.err.splitlines()) == 1 and "Traceback" not in said.err


@pytest.mark.parametrize("typed", ['"4"', "-1", "NaN", "true", "null", "2,5"])
def test_points_that_are_no_number_are_one_message(typed, tmp_path, capsys):
    question = Question("ch3-x-test", FILE, "ex-ch3-x", "X", "open", 2.0, ("ch3-x",))
    path = Assignment("ch3", (), (question,), folder=tmp_path).save()
    assert load(tmp_path).questions == (question,)
    path.write_text(path.read_text("utf-8").replace('"points": 2.0', f'"points": {typed}'))
    (tmp_path / "sub").mkdir()
    sub, to = str(tmp_path / "sub"), str(tmp_path / "out" / "grades.csv")
    assert main(["grade", sub, "--assignment", str(tmp_path), "--to", to]) == 2
    said = capsys.readouterr().err
    assert "questions.json" in said and "2 or 2.5" in said and said.count("\n") == 1


def test_assign_takes_ids_from_a_file(tmp_path, monkeypatch, capsys):
    seen = {}

    def assign(chapters, to, *, seed_from=(), bank=None):
        seen.update(chapters=chapters, seed_from=seed_from, bank=bank)
        return Assignment("ch3", (), (), folder=to)

    monkeypatch.setattr(classroom.assign, "assign", assign)
    (tmp_path / "class.txt").write_text("\ufeffada\n\n bo \n", "utf-8")
    file = f"@{tmp_path / 'class.txt'}"
    assert main(["assign", "3", "--to", str(tmp_path / "w"), "--seed-from", file, "cy"]) == 0
    assert seen == {"chapters": ["3"], "seed_from": ["ada", "bo", "cy"], "bank": None}
    each = ["--seed-from", "ada", "--seed-from", "bo", "cy"]
    assert main(["assign", "3", "--to", str(tmp_path / "w"), *each]) == 0
    assert seen["seed_from"] == ["ada", "bo", "cy"]
    assert main(["assign", "3", "--to", "w", "--seed-from", "@nowhere"]) == 2
    assert "@nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ClassroomError("put it right"), 2, "python -m classroom: put it right\n"),
        (PermissionError(13, "Permission denied", "x.csv"), 2, "x.csv: Permission denied"),
        (KeyboardInterrupt(), 130, "the same call goes on"),
        (ZeroDivisionError("ours"), 3, "please report"),
    ],
)
def test_every_ending_has_its_code(error, code, said, monkeypatch, capsys):
    def raises(*_, **__):
        raise error

    monkeypatch.setattr(classroom.assign, "assign", raises)
    assert main(["assign", "3", "--to", "w"]) == code
    assert said in capsys.readouterr().err


def test_a_class_from_end_to_end(tmp_path):
    school = Class(tmp_path)
    school.hand_in("ada", notebook(RIGHT))
    school.hand_in("bo", notebook(WRONG))
    school.hand_in("loop", notebook({"variance": "import os\nos._exit(0)", "letters": "letters ="}))
    school.hand_in("注意", b"{")

    places = [school.submissions, "--assignment", school.assignment, "--to", school.to]
    done = subprocess.run(
        [sys.executable, "-m", "classroom", "grade", *map(str, places)],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},  # a terminal without Chinese
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""  # no bar where nobody looks
    assert f"??: {FILE}: not-json" in done.stdout and str(school.to) in done.stdout
    assert "6 answers run now" in done.stdout and "does not protect against" in done.stdout
    said = (school.to.parent / "grades-questions.csv").read_text("utf-8-sig")
    for name in ("right", "std-taken-for-variance", "ended-the-process", "syntax-error"):
        assert f",{name}," in said
    page = school.to.with_name("report.html")
    assert main(["report", str(school.to), "--to", str(page)]) == 0
    assert "std-taken-for-variance" in page.read_text("utf-8")
