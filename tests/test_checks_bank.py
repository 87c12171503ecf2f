"""Banks: exercises from an instructor's own folder, which disturb nothing."""

import os
import random
import subprocess
import sys

import pytest

from attnkit import checks
from attnkit.checks import _registry

QUESTION = '''
"""A question of an instructor's own."""
from __future__ import annotations
from dataclasses import dataclass
from attnkit.checks import FunctionExercise, Misconception, Trial

@dataclass
class Case:
    x: float

CASES = [Case(1.0), Case(2.0), Case(5.0)]
DOUBLE = FunctionExercise(
    id="{id}", title="Twice", link="here", call="double(x)", sections={{"here": "the section"}},
    trials=tuple(Trial(f"x {{case.x}}", {{"x": case.x}}) for case in CASES),
    right=lambda x: 2 * x, results=("twice",), styles=("numpy",),
    misconceptions=(Misconception("squared", "This is x².", "here", (lambda x: x * x,)),),
)
EXERCISES = (DOUBLE,)
'''


DOUBLE = QUESTION.format(id="mine-double")


@pytest.fixture(autouse=True)
def no_banks(monkeypatch):
    monkeypatch.setattr(_registry, "_BANKS", {})
    monkeypatch.delenv("ATTNKIT_BANK", raising=False)


@pytest.fixture
def bank(tmp_path):
    folder = tmp_path / "bank"
    folder.mkdir()

    def write(name, text=DOUBLE):
        (folder / name).write_text(text, encoding="utf-8")
        return folder

    return write


def test_a_question_of_a_bank_is_checked_like_one_of_the_book(bank):
    assert checks.load_bank(bank("double.py")) == ["mine-double"]
    assert checks.check("mine-double", lambda x: x + x).passed
    assert checks.check("mine-double", lambda x: x * x, variation="a1").name == "squared"
    assert checks.exercise_ids()[-1] == "mine-double"
    assert checks.misconceptions()[-1] == ("mine-double", "squared", "This is x².", "here")
    assert checks.exercise("mine-double").title == "Twice"


def test_nothing_of_the_caller_changes(bank):
    folder = bank("random.py", DOUBLE + "import random\nrandom.seed(1)")
    bank("zz.py", "import sys, os\nsys.path.insert(0, 'x')\nos.chdir('/')\nEXERCISES = []\n")
    before = list(sys.path), os.getcwd(), random.getstate()
    modules = {name: module for name, module in sys.modules.items()}
    checks.load_bank(folder)
    assert before == (list(sys.path), os.getcwd(), random.getstate())
    new = [name for name in sys.modules if sys.modules[name] is not modules.get(name)]
    assert all(name.startswith("attnkit_bank_") for name in new), new
    assert sorted(path.name for path in folder.iterdir()) == ["random.py", "zz.py"]


def test_files_without_exercises_are_not_run(bank):
    folder = bank("notes.py", "raise OSError('run')")
    bank("double.py")
    bank("readme.md", "EXERCISES = nonsense")
    bank("._double.py", "\0")
    assert checks.load_bank(folder) == ["mine-double"]
    assert checks.load_bank(str(folder)) == ["mine-double"]


def test_loading_again_takes_what_the_files_say_now(bank):
    checks.load_bank(bank("double.py"))
    checks.load_bank(bank("double.py", QUESTION.format(id="mine-twice")))
    assert checks.exercise("mine-twice")
    with pytest.raises(ValueError, match="Did you mean 'mine-twice'"):
        checks.exercise("mine-twic")
    with pytest.raises(ValueError, match="no exercise has the id 'mine-double'"):
        checks.exercise("mine-double")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("EXERCISES = (\n", r"broken\.py cannot be read as Python: .*line 1"),
        ("EXERCISES = ()\nx = 1 / 0\n", r"broken\.py, line 2, does not run: ZeroDivisionError"),
        ("import sys\nEXERCISES = ()\nsys.exit(1)\n", r"line 3, does not run: SystemExit"),
        ("from nowhere import x\nEXERCISES = ()", r"line 1, does not run: ModuleNotFoundError"),
        ("EXERCISES = 5\n", r"EXERCISES is a tuple of exercises, got 5"),
        ("EXERCISES = ('a',)\n", r"EXERCISES is a tuple of exercises, got \('a',\)"),
        (QUESTION.format(id="mine/double"), r"'mine/double' has more than letters"),
        (
            "from exercises import ONE_NUMBER\nfrom dataclasses import replace\n"
            "EXERCISES = [replace(ONE_NUMBER, given={'gap': 0.0})]",
            r"of 'test-one-number', 'right' and 'other-key' have the same result for the values",
        ),
        (QUESTION.format(id="ch3-variance"), r"'ch3-variance' exists already, in the book"),
        (DOUBLE, r"'mine-double' exists already, in .*a\.py"),
    ],
)
def test_a_file_that_will_not_do_is_refused_and_nothing_of_the_folder_is_registered(
    bank, text, says
):
    bank("a.py")
    folder = bank("broken.py", text)
    with pytest.raises(checks.BankError, match=says):
        checks.load_bank(folder)
    assert "mine-double" not in checks.exercise_ids()


def test_a_file_that_is_no_text_and_a_folder_that_is_none_are_refused(bank, tmp_path):
    folder = bank("a.py")
    (folder / "b.py").write_bytes(b"EXERCISES = '\xff'")
    with pytest.raises(checks.BankError, match=r"b\.py cannot be read as Python"):
        checks.load_bank(folder)
    for path in (tmp_path / "missing", folder / "a.py"):
        with pytest.raises(checks.BankError, match="is no folder"):
            checks.load_bank(path)


def test_two_banks_may_not_share_an_id(bank, tmp_path):
    checks.load_bank(bank("a.py"))
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text(DOUBLE, encoding="utf-8")
    with pytest.raises(checks.BankError, match=r"exists already, in .*bank"):
        checks.load_bank(other)
    (other / "a.py").write_text(QUESTION.format(id="other-double"), encoding="utf-8")
    assert checks.load_bank(other) == ["other-double"]
    assert checks.exercise_ids()[-2:] == ["mine-double", "other-double"]


def test_banks_of_the_environment_are_found_and_break_nothing_of_the_book(bank, monkeypatch):
    folder = bank("a.py")
    missing = folder / "missing"
    monkeypatch.setenv("ATTNKIT_BANK", f"{os.pathsep} {os.pathsep}{folder}")
    assert checks.check("mine-double", lambda x: x + x).passed
    monkeypatch.setenv("ATTNKIT_BANK", os.pathsep.join([str(folder), str(missing)]))
    assert checks.check("ch3-variance", lambda d, s: d * s**4).passed
    with pytest.raises(checks.BankError, match="missing is no folder"):
        checks.check("mine-other", None)


def test_another_process_has_the_same_copies_and_finds_the_bank(bank, tmp_path):
    folder = bank("a.py")
    checks.load_bank(folder)
    record = tmp_path / "record"
    record.write_bytes(checks.to_bytes(checks.probe("mine-double", lambda x: x * x)))
    program = (
        "import sys, pathlib\n"
        "from attnkit import checks\n"
        "arrays = checks.from_bytes(pathlib.Path(sys.argv[1]).read_bytes())\n"
        "print(checks.diagnose('mine-double', arrays).name)\n"
        "for id in checks.exercise_ids():\n"
        "    copy = checks.exercise(id, 'a1')\n"
        "    print(id, dict(getattr(copy, 'letters', {})), copy.given)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(record)], capture_output=True, text=True, check=True,
        env=os.environ | {"ATTNKIT_BANK": str(folder), "PYTHONHASHSEED": "7"},
    )  # fmt: skip
    name, *lines = ran.stdout.splitlines()
    assert name == "squared"
    for line, id in zip(lines, checks.exercise_ids(), strict=True):
        copy = checks.exercise(id, "a1")
        assert line == f"{id} {dict(getattr(copy, 'letters', {}))} {copy.given}"


def test_the_question_in_the_documentation_works_as_a_file(bank):
    """The doctest of load_bank, written into a file."""
    lines = [line.strip() for line in checks.load_bank.__doc__.splitlines()]
    code = "\n".join(line[4:] for line in lines if line.startswith((">>> ", "... ")))
    text = code.split("EXERCISES")[0] + "EXERCISES = (TOTAL,)\n"
    assert checks.load_bank(bank("total.py", text)) == ["mine-average"]
    assert checks.check("mine-average", 18).passed
    assert checks.check("mine-average", 20).name == "hard-lookup"
