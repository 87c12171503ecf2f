"""A small class by hand: an assignment of three questions, notebooks, and workers that count."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from attnkit import checks
from classroom.assignment import Assignment, Criterion, Notebook, Question
from classroom.session import Grading, grade
from classroom.worker import Job, Ran

FILE = "03-tiny.ipynb"
TO_DO = "# YOUR CODE HERE\nraise NotImplementedError()"
STUBS = {
    "variance": "def score_variance(d_key, std):\n    " + TO_DO.replace("\n", "\n    "),
    "letters": f"letters = set()\n{TO_DO}",
    "explain": f'explanation = """Two sentences."""\n{TO_DO}',
}
RIGHT = {
    "variance": "def score_variance(d_key, std):\n    return d_key * std**4",
    "letters": 'letters = {"A", "C", "E", "F"}',
    "explain": 'explanation = """The secret of the model solution."""',
}
WRONG = {
    "variance": "def score_variance(d_key, std):\n    return d_key * std**2",
    "letters": 'letters = {"A", "B", "C", "E", "F"}',
    "explain": 'explanation = """It is <b>bold</b> & so on."""',
}
RUBRIC = (Criterion(1, "Names the secret criterion"), Criterion(3, "Says why"))


def assignment(folder: Path, **changed: object) -> Assignment:
    """Write the assignment: two checked questions of 2 points, an open one of 4."""

    def question(id: str, answer: str, kind: str, points: float, **more: object) -> Question:
        parts = {"notebook": FILE, "exercise": f"ex-{answer}", "title": f"About {answer}"}
        stub, solution = (STUBS[answer],), (RIGHT[answer],)
        return Question(
            id, kind=kind, points=points, answers=(answer,), stubs=stub, solutions=solution,
            **{**parts, **more},
        )  # fmt: skip

    made = {
        "name": "ch3",
        "notebooks": (Notebook(FILE, "Tiny", "03-scaled-dot-product", ("first",)),),
        "questions": (
            question("variance-test", "variance", "checked", 2, check="ch3-variance",
                     expression="score_variance", link="ch3-variance"),
            question("letters-test", "letters", "checked", 2, check="ch3-same-weights",
                     expression="letters"),
            question("explain", "explain", "open", 4, rubric=RUBRIC),
        ),
        "folder": folder,
    } | changed  # fmt: skip
    cells = [{"cell_type": "code", "id": "first", "metadata": {}, "source": ["import math\n"]}]
    (folder / "instructor").mkdir(parents=True, exist_ok=True)
    (folder / "instructor" / FILE).write_text(json.dumps({"cells": cells, "nbformat": 4}), "utf-8")
    whole = Assignment(**made)
    whole.save()
    return whole


def cell(id: str, source: object) -> dict:
    """An answer cell."""
    return {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": id}}, "source": source}


def notebook(answers: dict[str, str], **ours: str) -> dict:
    """A student's notebook with these answers and stubs for the others."""
    said = {"assignment": "ch3", "notebook": FILE, "student": "", **ours}
    return {
        "nbformat": 4,
        "metadata": {"kernelspec": {"language": "python"}, "attention_measured": said},
        "cells": [cell(id, source) for id, source in (STUBS | answers).items()],
    }


def hand_in(folder: Path, student: str, what: object, name: str = FILE) -> Path:
    """Put a notebook, or bytes, into a student's folder."""
    path = folder / student / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(what if isinstance(what, bytes) else json.dumps(what).encode())
    return path


class Counting:
    """Workers that run our own harmless answers right here and remember which."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.setups: list[tuple[str, ...]] = []
        self.hidden: list[Path] = []
        self.stop_after: int | None = None
        self.instead: dict[str, Ran] = {}  # a word of the source → what comes back

    def __call__(self, setup, *, bank=None, at_once=2, hide=()) -> Counting:
        self.setups.append(setup)
        self.hidden = list(hide)
        return self

    def __enter__(self) -> Counting:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, jobs: Iterable[Job]) -> Iterator[Ran]:
        for job in jobs:
            if self.stop_after is not None and len(self.jobs) >= self.stop_after:
                raise KeyboardInterrupt
            self.jobs.append(job)
            yield self._ran(job)

    def _ran(self, job: Job) -> Ran:
        for word, ran in self.instead.items():
            if word in "".join(job.sources):
                return ran._replace(key=job.key)
        names: dict[str, object] = {}
        for source in job.sources:
            exec(source, names)
        found = checks.probe(job.check, eval(job.expression, names), variation=job.variation)
        return Ran(job.key, "recorded", checks.to_bytes(found), "", None, 0.01)


class Class:
    """A folder for one test: hand something in, grade, read what was written."""

    def __init__(self, folder: Path):
        self.folder, self.submissions = folder, folder / "submitted"
        self.assignment, self.to = folder / "week", folder / "out" / "grades.csv"
        self.workers = Counting()
        self.submissions.mkdir()
        assignment(self.assignment)

    def hand_in(self, student: str, what: object, name: str = FILE) -> Path:
        return hand_in(self.submissions, student, what, name)

    def grade(self, **more: object) -> Grading:
        """Grade; ``workers.jobs`` then holds the jobs of this call."""
        self.workers.jobs.clear()
        return grade(
            self.submissions, self.assignment, self.to, **{"workers": self.workers, **more}
        )

    def page(self, student: str) -> str:
        return (self.to.parent / "feedback" / f"{student}.html").read_text("utf-8")
