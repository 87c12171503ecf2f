"""How long grading takes: 300 submissions of one chapter, and ten of them with nbgrader.

``python -m experiments.grading [--students 300] [--sample 10] [--work DIR]`` needs a built book
(``make book``). It makes an assignment of chapter 3, a class that answers it (right in several
styles, wrong in many, not at all), grades the class with ``python -m classroom grade``, has
nbgrader autograde a sample of the same submissions, and compares the scores question by question.
What it measures is written to ``attnkit/data/grading.json``. What is done is not done again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nbformat

from classroom.assign import assign
from classroom.assignment import Assignment

ROOT = Path(__file__).parent.parent
RESULT = ROOT / "attnkit" / "data" / "grading.json"
NOTEBOOK = "03-scaled-dot-product"

VARIANCE = """def score_variance(d_key, std):
    return {}
"""
ATTENTION = """def attention(query, key, value):
    scores = {scores}
    {shift}
    weights = np.exp(scores)
    weights = weights / weights.sum(axis={axis}, keepdims=True)
    return weights @ value, weights
"""
RIGHT_ATTENTION = {
    "scores": "query @ key.T / np.sqrt(query.shape[-1])",
    "shift": "scores = scores - scores.max(axis=-1, keepdims=True)",
    "axis": "-1",
}
FOLD = """def fold_scale(query_proj_weight, d_key):
    return {}
"""
SAID = """explanation = (
    "With the loss on the weights the unscaled program learns nearly as fast, because a question "
    "that it has decided wrongly has a large loss and a large gradient."
)
"""
MEASURE = """def measure(seed):
    def learned(attend):
        seen = []

        def watched(query, key, value):
            seen.append(attend(query, key, value))
            return seen[-1]

        model, rng = Recall(64, seed, watched), torch.Generator().manual_seed({draws} + seed)
        adam = Adam(model.parameters(), lr=1e-3)
        for step in range({steps} + 1):
            last = step == {steps}
            keys, values, asked, _ = draw(1000 if last else 64, rng)
            model(keys, values, asked)
            place, weights = (keys == asked).int().argmax(-1), seen[-1].weights.squeeze(-2)
            if not last:
                adam.zero_grad()
                F.nll_loss(weights.clamp_min(1e-9).log(), place).backward()
                adam.step()
        return (weights.argmax(-1) == place).float().mean().item()

    return {result}
"""


def answers(rng: random.Random, solutions: dict[str, str]) -> dict[str, str | None]:
    """What one student hands in, by grade_id: most of it right, in different styles."""

    def one(right: list[str], wrong: list[str], name: str) -> str | None:
        draw = rng.random()
        if draw < 0.08:
            return None  # not written
        return rng.choice([*right, solutions[name]]) if draw < 0.7 else rng.choice(wrong)

    changed = [
        {"scores": "query @ key.T"},
        {"scores": "query @ key.T / query.shape[-1]"},
        {"axis": "0"},
        {"shift": "pass"},
        {"scores": "query @ key.T / np.sqrt(key.shape[0])"},
    ]
    prediction = f"prediction = {rng.random():.2f}"
    both = "learned(unscaled), learned(scaled_dot_product_attention)"
    measures = [MEASURE.format(draws=draws, steps=20, result=both) for draws in (1000, 5000)]
    others = [
        MEASURE.format(draws=1000, steps=100, result=both),
        MEASURE.format(draws=1000, steps=20, result="learned(unscaled)"),
        MEASURE.format(draws=1000, steps=20, result="learned(unscaled), learned(unscaled)"),
        "def measure(seed):\n    return 0.5, 0.5",
    ]
    return {
        "ch3-variance": one(
            [VARIANCE.format(f) for f in ("d_key * std**4", "(std**2) ** 2 * d_key")],
            [VARIANCE.format(f) for f in ("d_key * std**2", "std**4", "d_key * std", "d_key")],
            "ch3-variance",
        ),
        "ch3-same-weights": one(
            ["same_weights = set('ACEF')", "same_weights = ['A', 'C', 'E', 'F']"],
            [f"same_weights = set('{''.join(rng.sample('ABCDEFG', 3))}')" for _ in range(3)],
            "ch3-same-weights",
        ),
        "ch3-attention": one(
            [ATTENTION.format(**RIGHT_ATTENTION)],
            [ATTENTION.format(**RIGHT_ATTENTION | change) for change in changed],
            "ch3-attention",
        ),
        "ch3-fold-scale": one(
            [FOLD.format("query_proj_weight / d_key**0.5")],
            [FOLD.format(f) for f in ("query_proj_weight / d_key", "query_proj_weight")],
            "ch3-fold-scale",
        ),
        "ch3-experiment-prediction": one(
            [prediction], ["prediction = 70.0"], "ch3-experiment-prediction"
        ),
        "ch3-experiment-measurement": one(measures, others, "ch3-experiment-measurement"),
        "ch3-experiment-explanation": one(
            [SAID], ['explanation = "It learns."'], "ch3-experiment-explanation"
        ),
    }  # fmt: skip


def hand_in(copy: Path, written: dict[str, str | None], to: Path) -> None:
    """The student's copy with the answers in it. No two students write the same text: what is equal
    would be run once for all of them."""
    notebook = nbformat.read(copy, as_version=4)
    for cell in notebook.cells:
        answer = written.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
        if answer is not None:
            cell.source = f"{answer.rstrip()}\n# {to.parent.name}\n"
    to.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, to)


def make_class(assignment: Assignment, students: int, to: Path) -> list[str]:
    """Submissions ``to/<student>/<notebook>``; the students' names, in order."""
    solutions = {
        name: text
        for question in assignment.questions
        for name, text in zip(question.answers, question.solutions, strict=True)
    }
    names = [f"s{number:03}" for number in range(students)]
    copy = assignment.folder / "student" / f"{NOTEBOOK}.ipynb"
    for number, name in enumerate(names):
        written = answers(random.Random(number), solutions)
        hand_in(copy, written, to / name / copy.name)
    return names


def timed(command: list[str], folder: Path) -> dict[str, float]:
    """Run a command; seconds on the clock and of processor time."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    # nbgrader calls alembic, which lies beside this Python
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment)
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(seconds, 1), "processor seconds": round(processor, 1)}


def graded_by_us(work: Path, submissions: Path, to: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "classroom", "grade", str(submissions)]
    return timed([*command, "--assignment", str(work / "week"), "--to", str(to)], ROOT)


def graded_by_nbgrader(work: Path, submissions: Path, names: list[str]) -> dict[str, float]:
    """``nbgrader autograde`` of these students, in a course folder of its own."""
    course = work / "nbgrader"
    shutil.rmtree(course, ignore_errors=True)
    source = course / "source" / "week" / f"{NOTEBOOK}.ipynb"
    source.parent.mkdir(parents=True)
    shutil.copy(work / "week" / "instructor" / source.name, source)
    nbgrader = [sys.executable, "-m", "nbgrader"]
    timed([*nbgrader, "generate_assignment", "week", "--create"], course)
    for name in names:
        target = course / "submitted" / name / "week" / source.name
        target.parent.mkdir(parents=True)
        shutil.copy(submissions / name / source.name, target)
    limit = "--ExecutePreprocessor.timeout=300"
    return timed([*nbgrader, "autograde", "week", "--create", limit], course)


def scores_of_nbgrader(course: Path, names: list[str]) -> dict[str, dict[str, float]]:
    """Student → question → points that nbgrader gave by itself."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        return {
            name: {
                grade.name: grade.auto_score
                for notebook in book.find_submission("week", name).notebooks
                for grade in notebook.grades
                if grade.auto_score is not None
            }
            for name in names
        }


def scores_of_ours(csv_file: Path, questions: set[str]) -> dict[str, dict[str, float]]:
    with csv_file.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["student"]: {q: float(row[q] or 0) for q in questions} for row in rows}


def once(path: Path, work: Callable[[], dict]) -> dict:
    """What ``work`` returns, kept in a file so that it is not done twice."""
    if not path.exists():
        path.write_text(json.dumps(work(), indent=1), encoding="utf-8")
    return json.loads(path.read_text("utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.grading", description=__doc__)
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--sample", type=int, default=10)
    parser.add_argument("--work", type=Path, default=ROOT / "_build" / "grading")
    options = parser.parse_args()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    assignment = assign(["3"], work / "week")
    submissions = work / "submissions"
    names = make_class(assignment, options.students, submissions)
    sample = names[:: max(1, len(names) // options.sample)][: options.sample]

    def nbgrader() -> dict:
        spent = graded_by_nbgrader(work, submissions, sample)
        return spent | {"scores": scores_of_nbgrader(work / "nbgrader", sample)}

    theirs = once(work / "nbgrader.json", nbgrader)
    ours = once(
        work / "ours.json", lambda: graded_by_us(work, submissions, work / "grades" / "grades.csv")
    )
    checked = {q.id for q in assignment.questions if q.kind == "checked"}
    scores = scores_of_ours(work / "grades" / "grades.csv", checked)
    assert scores.keys() == set(names), "a submission is lost"
    differing = [
        f"{name} {question}: {scores[name][question]} and {theirs['scores'][name][question]}"
        for name in sample
        for question in sorted(checked)
        if scores[name][question] != theirs["scores"][name][question]
    ]
    print(*differing, sep="\n")
    each = {
        "classroom": ours["seconds"] / len(names),
        "nbgrader": theirs["seconds"] / len(sample),
        "classroom, processor": ours["processor seconds"] / len(names),
        "nbgrader, processor": theirs["processor seconds"] / len(sample),
    }
    found = {
        "chapter": NOTEBOOK,
        "students": len(names),
        "sample": len(sample),
        "seconds for all": ours["seconds"],
        "seconds a submission": {name: round(value, 3) for name, value in each.items()},
        "scores compared": len(sample) * len(checked),
        "scores that differ": len(differing),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
