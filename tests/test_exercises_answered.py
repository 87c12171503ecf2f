"""Every exercise of the book as a learner meets it: its stub is no answer, its solution is one.

The cells are taken out of the chapter's source, and of the chapter's own code only what the answer
takes names from is run. What an experiment measures may take the whole chapter: there it is the
hidden test that was executed with the book that says whether the solution passes.
"""

import ast
import contextlib
from functools import cache
from pathlib import Path

import matplotlib
import nbformat
import pytest

from attnkit import checks
from bookext.exercises import check_of, exercises, hidden_test
from bookext.instructor import names
from bookext.lint import pages
from bookext.public import strip_cell
from bookext.setup_cells import parsed
from bookext.source import read_page

ROOT = Path(__file__).resolve().parents[1]


@cache
def page_of(name):
    return read_page(ROOT / "chapters" / f"{name}.md")


def asked():
    """(page, check, expression, indices of the answer cells) of every checked exercise."""
    for path in pages(ROOT):
        if path.parent.name != "chapters":
            continue
        page = page_of(path.stem)
        for exercise in exercises(page):
            cells = [(index, page.cells[index]) for index in exercise.cells]
            tests = [found for _, cell in cells if (found := hidden_test(cell.source))]
            ids = [check for check, _ in tests]
            marked = [
                (i, c) for i, c in cells if c.kind == "code" and (c.nbgrader or {}).get("solution")
            ]
            for check, expression in tests:
                first = next(i for i, c in marked if check_of(c.nbgrader["grade_id"], ids) == check)
                last = max(i for i, c in marked if check_of(c.nbgrader["grade_id"], ids) == check)
                answers = tuple(i for i, _ in marked if i <= last)
                assert first in answers
                yield path.stem, check, expression, answers


ASKED = {check: (page, expression, answers) for page, check, expression, answers in asked()}
EXPERIMENTS = [c for c in ASKED if isinstance(checks.exercise(c), checks.ExperimentExercise)]
OTHERS = [check for check in ASKED if check not in EXPERIMENTS]


def needed(page, answers, wanted):
    """The statements of the chapter, before the last answer, that give a value to these names."""
    cells = [c for c in page.cells[: max(answers)] if c.kind == "code" and not c.nbgrader]
    before = [node for cell in cells for node in parsed(cell.source).body]
    kept, wanted = [], set(wanted)
    for node in reversed(before):
        given, used = names(ast.unparse(node))
        if given & wanted:
            kept.insert(0, node)
            wanted = (wanted - given) | used
    return kept


def verdict_of(check, sources):
    """Run answers as a notebook does, where an error in one cell stops that cell alone."""
    page, expression, answers = ASKED[check]
    given, wanted = set(), set()
    for source in [*sources, expression]:
        own, used = names(source)
        wanted |= used - given
        given |= own
    space = {}
    with matplotlib.rc_context({"backend": "agg"}):
        for node in needed(page_of(page), answers, wanted):
            exec(compile(ast.Module([node], []), "<the chapter>", "exec"), space)
        for source in sources:
            with contextlib.suppress(NotImplementedError):
                exec(source, space)
    return checks.check(check, eval(expression, space))


@pytest.mark.parametrize("check", ASKED)
def test_a_stub_is_not_written_yet(check):
    cells = [page_of(ASKED[check][0]).cells[index] for index in ASKED[check][2]]
    verdict = verdict_of(check, [strip_cell(cell.source, cell.nbgrader) for cell in cells])
    names = {"not-written-yet"} | ({"no-prediction"} if check in EXPERIMENTS else set())
    assert verdict.name in names and not verdict.passed


@pytest.mark.parametrize("check", OTHERS)
def test_the_solution_passes(check):
    cells = [page_of(ASKED[check][0]).cells[index] for index in ASKED[check][2]]
    assert verdict_of(check, [cell.source for cell in cells]).passed


@pytest.mark.parametrize("check", EXPERIMENTS)
def test_the_solution_of_an_experiment_passed_when_the_book_was_executed(check):
    path = ROOT / "_build" / "executed" / "chapters" / f"{ASKED[check][0]}.ipynb"
    notebook = nbformat.reads(path.read_text("utf-8"), as_version=4)
    tests = [cell for cell in notebook.cells if (hidden_test(cell.source) or [""])[0] == check]
    assert len(tests) == 1 and tests[0].execution_count, "the hidden test was executed"
    assert [output.output_type for output in tests[0].outputs] in ([], ["execute_result"])


def test_every_check_of_the_book_is_asked_for_once():
    assert sorted(ASKED) == sorted(checks.exercise_ids())
