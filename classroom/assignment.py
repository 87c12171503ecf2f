"""An assignment folder: what ``assign`` writes into it and ``grade`` reads from it.

DIR/questions.json     the instructor's: questions, points, keys (solutions are in instructor/)
DIR/student/           for the class: a notebook per chapter; with ``--seed-from`` a folder per id
DIR/instructor/        the same notebooks with solutions and hidden tests, as nbgrader's source/
DIR/handout.html       a page to hand out
DIR/answers.csv        with ``--seed-from``: what each copy has
DIR/bank/              with ``--bank``: the checks of the instructor's own questions
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

QUESTIONS = "questions.json"
FORMAT = 1


class ClassroomError(Exception):
    """Something that the instructor can put right; the message says what and how."""


@dataclass(frozen=True)
class Criterion:
    """One line of a rubric: so many points for this."""

    points: float
    text: str


@dataclass(frozen=True)
class Question:
    """What gets points: a graded cell.

    A ``checked`` question belongs to an exercise of :mod:`attnkit.checks`: its ``answers`` (the
    grade_ids of answer cells) are run in order, ``expression`` is evaluated behind them and
    probed. An ``open`` one is read by a person, by ``rubric``.
    """

    id: str
    notebook: str
    exercise: str
    title: str
    kind: str
    points: float
    answers: tuple[str, ...]
    check: str = ""
    expression: str = ""
    link: str = ""
    stubs: tuple[str, ...] = ()
    solutions: tuple[str, ...] = ()
    rubric: tuple[Criterion, ...] = ()


@dataclass(frozen=True)
class Notebook:
    """One notebook of the assignment. ``setup`` holds the ids of the cells that are run before any
    answer, in the order of the instructor's copy."""

    file: str
    title: str
    chapter: str
    setup: tuple[str, ...]
    source: str = ""


@dataclass(frozen=True)
class Assignment:
    """``variations``: student id → code of the data that this student got; empty without
    ``--seed-from``."""

    name: str
    notebooks: tuple[Notebook, ...]
    questions: tuple[Question, ...]
    variations: dict[str, str] = field(default_factory=dict)
    bank: str = ""
    folder: Path = Path()

    def of(self, notebook: str) -> Iterator[Question]:
        """The questions of one notebook, in order."""
        return (question for question in self.questions if question.notebook == notebook)

    def save(self) -> Path:
        """Write ``questions.json``: the same assignment gives the same bytes."""
        plain = {"format": FORMAT, **asdict(self)}
        del plain["folder"]
        path = self.folder / QUESTIONS
        text = json.dumps(plain, indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8", newline="\n")
        return path


def load(folder: Path) -> Assignment:
    """Read an assignment folder.

    Raises:
        ClassroomError: when there is none, or it cannot be read; the message names the place.
    """
    path = Path(folder) / QUESTIONS
    try:
        plain = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ClassroomError(
            f"{folder} is no assignment: it has no {QUESTIONS}. Make one: "
            f"python -m classroom assign 3 --to {folder}"
        ) from None
    except json.JSONDecodeError as error:
        raise ClassroomError(
            f"{path} cannot be read: {error}. Points are written 2 or 2.5, with no comma inside."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ClassroomError(f"{path} cannot be read: {error}") from None
    try:
        if plain.pop("format") != FORMAT:
            raise ClassroomError(f"{path} was written by another version; run assign again")
        notebooks = tuple(Notebook(**{**n, "setup": tuple(n["setup"])}) for n in plain["notebooks"])
        questions = tuple(_question(q) for q in plain["questions"])
        _check_points(questions, path)
        parts = {"notebooks": notebooks, "questions": questions, "folder": Path(folder)}
        return Assignment(**{**plain, **parts})
    except (KeyError, TypeError, AttributeError) as error:
        raise ClassroomError(f"{path} is not what assign writes: {error!r}") from None


def _question(plain: dict) -> Question:
    lists = {key: tuple(plain[key]) for key in ("answers", "stubs", "solutions")}
    return Question(**{**plain, **lists, "rubric": tuple(Criterion(**c) for c in plain["rubric"])})


def _check_points(questions: tuple[Question, ...], path: Path) -> None:
    """Points are typed by hand: what is no number stops here, not in the middle of a table."""
    for question in questions:
        points = question.points
        number = isinstance(points, int | float) and not isinstance(points, bool)
        if not number or not math.isfinite(points) or points < 0:
            raise ClassroomError(
                f"{path}: the points of {question.id} are {json.dumps(points)}; a number such as "
                "2 or 2.5 is expected, 0 or more, without quotes"
            )
