"""Experiments of the chapters with measurements that were really made, of right and wrong kinds."""

from attnkit import checks
from attnkit.checks import _exercises

EXPLANATION = "The measurement says more than the picture does, and less than the story. " * 2


def verdict_on(id, *results):
    """The verdict on an experiment whose calls gave these results, one for each trial in order.

    Where the seeds give the same, more are tried: then there are more results.
    """
    exercise = _exercises()[id]
    given = iter(results)
    assert len(exercise.calls()) <= len(results)
    answer = (exercise.predicts.example(), lambda *arguments: next(given), EXPLANATION)
    return checks.check(id, answer)


def assert_names_are_reached(id, named):
    """Each name of the experiment is among these, and the others are names of any exercise."""
    names = {row.name for row in checks.misconceptions() if row.id == id}
    assert len(names) >= 5
    assert names <= set(named) <= names | set(checks.common_failures()) | {"right"}
