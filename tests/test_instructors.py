"""The page for instructors says of each chapter what the chapter itself says."""

import re
from pathlib import Path

import pytest

from bookext.source import read_page

CHAPTERS = Path(__file__).parent.parent / "chapters"
PAGE = (CHAPTERS / "a09-instructors.md").read_text("utf-8")
ROW = re.compile(
    r"^\| (\d+) \| \{ref\}`ch\1` \| .+ \| (\d+) min \| (\d+) in (\d+) min \| (\d+) \((\d+)\) \|$",
    re.M,
)


def said_by(chapter: Path) -> tuple[int, ...]:
    """Minutes, exercises, minutes for them, points, points given by a person."""
    text = chapter.read_text("utf-8")
    reading, practising = map(
        int, re.search(r"\*\*Time:\*\* about (\d+) minutes, and (\d+) for the ex", text).groups()
    )
    cells = [cell.nbgrader for cell in read_page(chapter).cells if cell.nbgrader]
    points = {kind: 0 for kind in (True, False)}
    for graded in (cell for cell in cells if cell["grade"]):
        points[graded["solution"]] += graded["points"]
    exercises = text.count("{exercise-start}")
    return reading, exercises, practising, sum(points.values()), points[True]


@pytest.mark.parametrize("chapter", sorted(CHAPTERS.glob("[01]*.md")), ids=lambda path: path.stem)
def test_minutes_points_and_exercises_are_those_of_the_chapter(chapter):
    rows = {int(number): tuple(map(int, rest)) for number, *rest in ROW.findall(PAGE)}
    assert rows[int(chapter.name[:2])] == said_by(chapter)


def test_the_map_of_the_start_page_has_the_same_minutes():
    page = (CHAPTERS.parent / "intro.md").read_text("utf-8")
    rows = re.findall(r"\| (\d+) \| .+ \| (\d+) minutes and (\d+) of exercises \|", page)
    found = {int(number): (int(reading), int(practising)) for number, reading, practising in rows}
    chapters = {int(path.name[:2]): said_by(path) for path in CHAPTERS.glob("[01]*.md")}
    assert found == {number: (said[0], said[2]) for number, said in chapters.items()}


def test_every_chapter_has_three_to_five_exercises():
    counts = {path.stem: said_by(path)[1] for path in CHAPTERS.glob("[01]*.md")}
    assert len(counts) == 12
    assert all(3 <= count <= 5 for count in counts.values()), counts
