"""Answers run by themselves, each in a copy of a process that is ready."""

import os
import signal
import time
from unittest.mock import ANY

import numpy as np
import pytest
from running import RIGHT, Class, answer, diagnosis, each, in_a_call, workers

from attnkit import checks
from classroom.assignment import ClassroomError
from classroom.protection import FAILURES
from classroom.worker import Job, Workers

WRONG = RIGHT.replace(" / np.sqrt(query.shape[-1])", "")
NOT_YET = "not-written-yet"
CHECKS_ITSELF = "from attnkit.checks import check\ncheck('ch3-attention', attention).require()"
FORKS = "import os, time\nfor n in range(50):\n    os.fork() or time.sleep(9)"
THREADS = """\
from threading import Thread
for n in range(50):
    Thread(target=__import__("time").sleep, args=[9]).start()
"""
LOOKS_AROUND = """\
import os
assert seen_by_the_set_up == set(), seen_by_the_set_up
assert not {"SECRET_TOKEN", "PYTHONPATH", "USER"} & os.environ.keys(), os.environ
assert os.listdir() == [], os.listdir()
assert False, "nothing"
"""
# name: answer, the diagnosis, the line of the cell (ANY where it differs among Pythons)
CASES = {
    "right": (answer(RIGHT), "right", None),
    "a misconception": (answer(WRONG), "not-scaled", None),
    "a stub": (answer("def attention(q, k, v): raise NotImplementedError"), NOT_YET, None),
    "two cells": (answer("from math import sqrt", RIGHT.replace("np.sqrt", "sqrt")), "right", None),
    "magics": (answer("\n%time 1\n!ls\n" + RIGHT, "%%time\nx = %timeit 1"), "right", None),
    "another language": (answer("%%bash\nexit 1", RIGHT), "right", None),
    "check called": (answer(RIGHT, CHECKS_ITSELF), "right", None),
    "letters": (answer("s = set('ACEF')", expression="s", check="ch3-same-weights"), "right", None),
    "no Python": (answer("\n\nx = 1\ndef attention(:\n    pass"), "syntax-error", 4),
    "no IPython": (answer("\n\n%time 1\ndef attention(:\n    pass"), "syntax-error", 4),
    "null bytes": (answer("x = '\0'"), "syntax-error", ANY),
    "half a character": (answer("x = '\ud800'"), "syntax-error", None),
    "a megabyte": (answer("# " + "x" * 10**6, RIGHT), "right", None),
    "brackets": (answer("(" * 1_000), "syntax-error", ANY),
    "raises": (answer("\nx = 1\n\n1 / 0"), "raised-outside", 4),
    "raises deep inside": (answer("def f():\n    return {}['a']\nf()"), "raised-outside", 2),
    "a module that is not there": (answer("import no_such_module"), "raised-outside", 1),
    "a name of another cell": (answer("\nhelper(2)"), "name-not-defined", 2),
    "a name in the call": (in_a_call("helper(query)"), "name-not-defined", None),
    "looks around": (answer(LOOKS_AROUND), "raised-outside", 5),
    "no answer": (answer("pass"), "name-not-defined", None),
    "the notebook's own": (answer("s = solved", expression="solved"), "name-not-defined", 1),
    "the stub's last line": (answer(RIGHT + "raise NotImplementedError()"), "right", None),
    "tried out and failed": (answer(RIGHT + "attention(1)", "y = 1 / 0"), "right", None),
    "stopped too early": (answer("1 / 0\n" + RIGHT), "raised-outside", 1),
    "an endless loop": (answer("while True:\n    pass"), "too-slow", None),
    "too much memory": (answer("x = np.ones(10**9)"), "too-much-memory", 1),
    "too many processes": (answer(FORKS), "too-many-processes", 3),
    "too many threads": (answer(THREADS), "too-many-processes", 3),
    "too much output": (answer("while True:\n    print('x' * 1000)"), "too-much-output", None),
    "some output": (answer("print('x' * 10_000)", RIGHT), "right", None),
    "sys.exit": (answer("import sys\nsys.exit()"), "ended-the-process", 2),
    "interrupt": (in_a_call("raise KeyboardInterrupt"), "ended-the-process", None),
    "os._exit": (answer("import os\nos._exit(0)"), "ended-the-process", None),
    "a crash": (answer("import ctypes\nctypes.string_at(0)"), "ended-the-process", None),
    "no way out": (answer("import os\nos.closerange(0, 999)", RIGHT), "no-record", None),
}  # fmt: skip


@pytest.fixture(scope="module")
def running():
    """The grader's own environment has a secret in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", "abc")
        yield from workers()


@pytest.fixture(scope="module")
def ran(running):
    return Class(running, {name: case[0] for name, case in CASES.items()})


@pytest.mark.parametrize("name", each(CASES))
def test_an_answer_gets_its_diagnosis_and_the_line(ran, name):
    one, expected, line = CASES[name]
    found = ran[name]
    assert (diagnosis(found, one.check), found.line) == (expected, line), found.detail
    assert found.arrays or found.status in FAILURES


def test_every_failure_that_an_answer_can_have_is_among_the_cases():
    assert {case[1] for case in CASES.values()} >= FAILURES.keys() - {"worker-failed"}


def test_details_say_what_is_the_matter(ran):
    assert ran["a name of another cell"].detail == "helper"
    assert ran["raises"].detail == "ZeroDivisionError: division by zero"
    assert "no_such_module" in ran["a module that is not there"].detail
    assert "SIGSEGV" in ran["a crash"].detail


def job(key, *sources, check="ch3-attention", expression="attention"):
    return Job(key, check, "", sources, expression)


def test_a_record_is_what_the_check_itself_records(ran):
    space = {"np": np}
    exec(RIGHT, space)
    here = checks.probe("ch3-attention", space["attention"])
    there = checks.from_bytes(ran["right"].arrays)
    assert here.keys() == there.keys()
    assert all(np.array_equal(here[key], there[key]) for key in here)


def test_answers_know_nothing_of_each_other(running):
    count = "import builtins\nbuiltins.n = getattr(builtins, 'n', 0) + 1\nassert n == 1, n\n"
    jobs = [job(str(n), count + RIGHT + f"# {n}") for n in range(4)]
    assert {diagnosis(found) for found in running.run(jobs)} == {"right"}


def test_equal_answers_are_run_once_and_all_reported(running):
    jobs = [job(str(n), RIGHT) for n in range(50)]
    found = list(running.run(jobs))
    assert sorted(ran.key for ran in found) == sorted(job.key for job in jobs)
    assert len({ran.seconds for ran in found}) == 1


def test_the_process_is_started_again_and_no_job_is_lost(running):
    """As after the system has killed it: what was running is run again, once, by itself."""
    jobs = [job(str(n), f"# {n}\n" + RIGHT) for n in range(6)]
    results = running.run(jobs)
    found = [next(results)]
    os.kill(running._process._process.pid, signal.SIGKILL)
    found += results
    assert sorted(ran.key for ran in found) == sorted(job.key for job in jobs)
    assert {diagnosis(ran) for ran in found} == {"right"}


def test_a_job_that_the_grader_fails_on_is_reported_and_not_blamed(running):
    """An exercise that nobody knows: the fault is ours, twice, and the others go on."""
    found = {ran.key: ran for ran in running.run([job("a", RIGHT), job("b", "x", check="no-such")])}
    assert diagnosis(found["a"]) == "right"
    assert found["b"].status == "worker-failed"


def test_a_cell_of_the_set_up_that_raises_is_named():
    cells = ["import numpy as np", "\nvalue = np.zeros(3)\nvalue[7]"]
    with pytest.raises(ClassroomError, match=r"set-up cell 2 .*'value = np.zeros.*IndexError"):
        Workers(cells).__enter__()


def test_where_processes_cannot_be_copied_it_says_what_to_use(monkeypatch):
    monkeypatch.delattr(os, "fork")
    with pytest.raises(ClassroomError, match=r"WSL.*nbgrader"):
        Workers([])


def test_answers_know_nothing_of_whoever_grades(ran):
    found = ran["looks around"]
    assert found.detail == "AssertionError: nothing", found.detail


def test_results_come_as_they_finish(running):
    jobs = [
        job("slow", "import time\ntime.sleep(6)\n" + RIGHT),
        *(job(str(n), RIGHT + f"#{n}") for n in range(3)),
    ]
    came = {ran.key: time.monotonic() for ran in running.run(jobs)}
    assert list(came)[-1] == "slow" and len(came) == 4
    assert came["slow"] - min(came.values()) > 1, "the first has waited for the last"
