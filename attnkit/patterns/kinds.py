"""Which kind a head is of, from what it has beyond the uniform head."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

#: The kinds that say where a head looks: each a measure of the same name, in this order.
PLACES = ("previous", "same", "next", "induction", "sink")
#: All kinds.
KINDS = (*PLACES, "local", "focused", "broad", "unclassified")


class Measure(NamedTuple):
    """A metric of one head over many inputs (sequences), each of which counts the same.

    >>> Measure(mean=0.625, sd=0.1, baseline=0.25).lift  # 0.375 of the 0.75 that were to be had
    0.5
    """

    #: The mean over the inputs that have the metric; nan if none has.
    mean: float
    #: The standard deviation over them (n − 1); nan for fewer than two.
    sd: float
    #: The mean of the uniform head over the same inputs, under the same masks.
    baseline: float

    @property
    def lift(self) -> float:
        """What the head has beyond the uniform head, as a share of what that one leaves.

        (mean − baseline) / (1 − baseline), so that 0 is the uniform head and 1 is all there can
        be. For metrics that are shares, of at most 1. nan where the uniform head has 1 or more and
        leaves nothing, as with a radius that covers all tokens.
        """
        room = 1 - self.baseline
        return (self.mean - self.baseline) / room if room > 0 else math.nan


class Thresholds(NamedTuple):
    """From where on a head is of a kind. All but ``broad`` and ``queries`` are of the lift."""

    #: The weight on one place, for the kinds previous, same, next and induction.
    diagonal: float = 0.5
    #: The weight on the first key.
    sink: float = 0.3
    #: The weight within three places.
    local: float = 0.5
    #: The largest weight.
    focused: float = 0.5
    #: The normalised entropy itself. Independent scores of standard deviation 1 have 0.85 over 28
    #: keys, 1 − 1/(2 ln 28).
    broad: float = 0.85
    #: Of fewer queries nothing is said.
    queries: int = 30


class Measures(Protocol):
    """What a head is classified by, as a ``HeadRow`` has it."""

    @property
    def queries(self) -> int: ...
    @property
    def previous(self) -> Measure: ...
    @property
    def same(self) -> Measure: ...
    @property
    def next(self) -> Measure: ...
    @property
    def induction(self) -> Measure: ...
    @property
    def sink(self) -> Measure: ...
    @property
    def local_focus(self) -> Measure: ...
    @property
    def concentration(self) -> Measure: ...
    @property
    def normalized_entropy(self) -> Measure: ...


def classify(measures: Measures, thresholds: Thresholds = Thresholds()) -> str:  # noqa: B008
    """The kind of a head: one of ``KINDS``.

    Too few queries: "unclassified". Else, of the places (``PLACES``) whose lift reaches its
    threshold, the one with the greatest lift. Else "local", if the lift of the local focus reaches
    its threshold; else "focused", if that of the concentration does; else "broad", if the
    normalised entropy reaches its own. Else "unclassified". A measure that is nan decides nothing.
    """
    if measures.queries < thresholds.queries:
        return "unclassified"
    lifts = {place: getattr(measures, place).lift for place in PLACES}
    limits = dict.fromkeys(PLACES, thresholds.diagonal) | {"sink": thresholds.sink}
    reached = [place for place in PLACES if lifts[place] >= limits[place]]
    if reached:
        return max(reached, key=lambda place: lifts[place])
    if measures.local_focus.lift >= thresholds.local:
        return "local"
    if measures.concentration.lift >= thresholds.focused:
        return "focused"
    if measures.normalized_entropy.mean >= thresholds.broad:
        return "broad"
    return "unclassified"
