"""Numbers of experiments: taken from what was recorded, and made up as samples for the tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attnkit.checks._engine import Seen


def measured_by(trials: Sequence[Seen], *names: str) -> dict[tuple | object, list[float]]:
    """The single result of every trial, grouped by these arguments (by one: not as a tuple)."""
    groups: dict[tuple | object, list[float]] = {}
    for seen in trials:
        values = tuple(_hashable(seen.trial.inputs[name]) for name in names)
        (result,) = seen.got.values()
        groups.setdefault(values if len(names) > 1 else values[0], []).append(float(result))
    return groups


def _hashable(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def spread(values: Mapping, width: float = 0.01, of: Callable = lambda *first: first[0]):
    """A measurement that gives these values, each a little lower for other seeds.

    The arguments of the measurement end with the seed; ``of`` makes the key of ``values`` from the
    others.
    """

    def measure(*arguments):
        *first, seed = arguments
        return values[of(*first)] - width * (seed % 7) / 7

    return measure
