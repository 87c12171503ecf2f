"""Chapter 12's experiment: results like those of its students, and the names of others.

The chapter itself measures with trained students, in its hidden test."""

from functools import cache

import pytest

from attnkit import checks

EXPLANATION = (
    "The maps tell the student early where to look, and the answers alone tell it late. " * 2
)


@cache
def sample():
    return checks.exercise("ch12-experiment").right


def changed(right=lambda x: x, apart=lambda x: x, maps=lambda x: x, seed=lambda x: x):
    """A measurement with other results, or of another student than it was asked for."""

    def measure(with_maps, number, steps):
        share, distance = sample()(maps(with_maps), seed(number), steps)
        return right(share), apart(distance)

    return measure


RIGHT = [
    changed(),
    lambda with_maps, seed, steps: list(sample()(with_maps, seed, steps)),
    lambda with_maps, seed, steps=300: sample()(with_maps, seed, steps),
]
WRONG = [
    ("results-exchanged", lambda m, s, n: sample()(m, s, n)[::-1]),
    ("loss-in-place-of-share", changed(right=lambda share: 3.1)),
    ("wrong-answers-counted", changed(right=lambda share: 1 - share)),
    ("steps-not-used", changed(right=lambda share: 0.6, apart=lambda x: 1.2)),
    ("maps-not-in-the-loss", changed(maps=lambda with_maps: False)),
    ("maps-not-in-the-loss", changed(maps=lambda with_maps: True)),
    ("students-exchanged", changed(maps=lambda with_maps: not with_maps)),
    ("direction-reversed", changed(apart=lambda x: x + 4.38)),
    ("every-query-counted", changed(apart=lambda x: x - 0.46)),
    # Failures that any experiment can have.
    ("ignores-its-argument", changed(seed=lambda number: 0, right=lambda share: 0.06)),
    ("measured-otherwise", changed(apart=lambda x: x / 10)),
    ("wrong-count", lambda m, s, n: sample()(m, s, n)[0]),
    ("wrong-arguments", lambda with_maps: (0.06, 3.2)),
]


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_right_measurement_passes(number):
    verdict = checks.check("ch12-experiment", (0.1, RIGHT[number], EXPLANATION))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_another_measurement_is_called_by_its_name(number):
    name, measure = WRONG[number]
    verdict = checks.check("ch12-experiment", (0.1, measure, EXPLANATION))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


def test_every_name_of_the_experiment_is_reached():
    named = {row.name for row in checks.misconceptions() if row.id == "ch12-experiment"}
    assert len(named) >= 6
    assert named <= {name for name, _ in WRONG}
