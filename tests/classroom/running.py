"""Answers to run, and a way to run several at once and look at each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from attnkit import checks
from classroom.worker import Job, Limits, Ran, Workers

#: Ten times as long as an answer needs that ends by itself, on a machine with other things to do.
SHORT = Limits(seconds=8, memory_mb=400, output_kb=64, processes=8, files_mb=4)
RIGHT = """\
def attention(query, key, value):
    scores = query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ value, weights
"""
SETUP = (
    "import numpy as np\nimport torch\nfrom myst_nb import glue\n\n%xmode Minimal",
    "import os\nseen_by_the_set_up = {'SECRET_TOKEN'} & os.environ.keys() | set(os.listdir())\n"
    "glue('number', 1, display=False)\nassert 1 == 2, 'a number of the book'",
    RIGHT.replace("attention", "solved"),
)


class Answer(NamedTuple):
    """What a student hands in for ch3-attention (or another exercise)."""

    sources: tuple[str, ...]
    expression: str = "attention"
    check: str = "ch3-attention"


def answer(*sources: str, **rest: str) -> Answer:
    return Answer(sources, **rest)


def in_a_call(body: str) -> Answer:
    """An answer that does something when it is called, and is right apart from that."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    first, rest = RIGHT.split("\n", 1)
    return answer(f"{first}\n{lines}{rest}")


def diagnosis(ran: Ran, check: str = "ch3-attention") -> str:
    """The name of the verdict, or of the failure."""
    if ran.status != "recorded":
        return ran.status
    return checks.diagnose(check, checks.from_bytes(ran.arrays)).name


class Class:
    """Runs the answers of a table, all together, the first time one is asked for."""

    def __init__(self, workers: Workers, answers: dict[str, Answer]) -> None:
        self.workers, self._answers, self._ran = workers, answers, {}

    def __getitem__(self, name: str) -> Ran:
        if not self._ran:
            jobs = [
                Job(key, one.check, "", one.sources, one.expression)
                for key, one in self._answers.items()
            ]
            self._ran = {ran.key: ran for ran in self.workers.run(jobs)}
        return self._ran[name]


def each(answers: dict[str, Answer]) -> list:
    """The names of a table, as parameters."""
    return [pytest.param(name, id=name) for name in answers]


def workers(limits: Limits = SHORT, **rest) -> Iterator[Workers]:
    with Workers(SETUP, limits=limits, **rest) as started:
        yield started
