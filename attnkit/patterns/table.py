"""The table of heads: what was measured of each, over all inputs, and the kind that follows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, overload

from torch import Tensor

from attnkit.patterns import shown
from attnkit.patterns.kinds import Measure, Thresholds, classify


class HeadRow(NamedTuple):
    """One head: each measure over the inputs, and the kind that follows."""

    #: Counted from 0.
    layer: int
    #: Counted from 0 in its layer.
    head: int
    #: Sequences with at least one query that counted.
    inputs: int
    #: Queries that counted, in all of them.
    queries: int
    #: In nats.
    entropy: Measure
    #: As a share of what is possible.
    normalized_entropy: Measure
    #: The exponential of the entropy.
    effective_keys: Measure
    #: The largest weight.
    concentration: Measure
    #: The weight on the previous token.
    previous: Measure
    #: The weight on the token itself.
    same: Measure
    #: The weight on the next token; nan under a causal mask.
    next: Measure
    #: The weight within three places.
    local_focus: Measure
    #: In places.
    mean_distance: Measure
    #: The weight on the first key.
    sink: Measure
    #: nan unless a period was given.
    induction: Measure
    #: One of ``patterns.KINDS``.
    kind: str


#: The names of the measures, in the order of a row.
MEASURES = HeadRow._fields[4:-1]


class Sums(NamedTuple):
    """What is kept of the inputs, so that more can be added."""

    #: Inputs and queries that counted, ``(layers, heads)``.
    inputs: Tensor
    queries: Tensor
    #: Inputs that have the measure; this and the rest ``(measures, layers, heads)``.
    have: Tensor
    mean: Tensor
    #: The sum of (value − mean)².
    squares: Tensor
    baseline: Tensor

    def joined(self, other: Sums) -> Sums:
        """Both, as if they had come together (Chan, Golub and LeVeque, 1983)."""
        have = self.have + other.have
        share = other.have / have.clamp_min(1)
        step = other.mean - self.mean
        return Sums(
            self.inputs + other.inputs,
            self.queries + other.queries,
            have,
            self.mean + step * share,
            self.squares + other.squares + step**2 * self.have * share,
            self.baseline + (other.baseline - self.baseline) * share,
        )


class HeadTable(Sequence[HeadRow]):
    """A row for each head, layer by layer; made by :func:`describe_heads`.

    ``table[layer, head]`` is one row, ``for row in table`` goes through all. Tables of the same
    heads over different inputs are added, ``table + more`` or ``sum(tables)``, and the result is
    that of all inputs at once. It shows itself as a table in a notebook.
    """

    def __init__(self, sums: Sums, thresholds: Thresholds) -> None:
        self._sums = sums
        #: From where on a head is of a kind.
        self.thresholds = thresholds

    @property
    def inputs(self) -> int:
        """The number of sequences that counted."""
        return int(self._sums.inputs.max())

    @property
    def shape(self) -> tuple[int, int]:
        """The number of layers, and of heads in each."""
        layers, heads = self._sums.inputs.shape
        return layers, heads

    @property
    def kinds(self) -> dict[tuple[int, int], str]:
        """The kind of each head, by ``(layer, head)``."""
        return {(row.layer, row.head): row.kind for row in self}

    def classify(self, thresholds: Thresholds) -> HeadTable:
        """The same measures with the kinds that follow from other thresholds: a new table."""
        return HeadTable(self._sums, read_thresholds(thresholds))

    def to_dict(self) -> dict[str, list]:
        """The columns by name, ready for JSON or for ``pandas.DataFrame``: None for nan.

        A measure has three: ``"previous"`` (its mean), ``"previous_sd"``, ``"previous_baseline"``.
        """
        columns: dict[str, list] = {
            name: [getattr(row, name) for row in self]
            for name in ("layer", "head", "inputs", "queries", "kind")
        }
        for name in MEASURES:
            measures: list[Measure] = [getattr(row, name) for row in self]
            for end, field in (("", "mean"), ("_sd", "sd"), ("_baseline", "baseline")):
                values = [getattr(measure, field) for measure in measures]
                columns[name + end] = [None if math.isnan(v) else v for v in values]
        return columns

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[HeadRow]:
        return iter(self._rows)

    @overload
    def __getitem__(self, index: int | tuple[int, int]) -> HeadRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[HeadRow, ...]: ...
    def __getitem__(self, index: int | tuple[int, int] | slice) -> HeadRow | tuple[HeadRow, ...]:
        if not isinstance(index, tuple):
            return self._rows[index]
        layers, heads = self.shape
        if len(index) != 2 or not all(hasattr(n, "__index__") for n in index):
            raise TypeError(
                f"table[layer, head] takes two integers, got {index!r}. The rows of a layer: "
                "[row for row in table if row.layer == 0]; the columns: table.to_dict()."
            )
        layer, head = index
        if not (-layers <= layer < layers and -heads <= head < heads):
            raise IndexError(
                f"there is no head {head} in layer {layer}: the table has {layers} layers of "
                f"{heads} heads, counted from 0."
            )
        return self._rows[layer % layers * heads + head % heads]

    def __add__(self, other: HeadTable) -> HeadTable:
        if not isinstance(other, HeadTable):
            return NotImplemented
        if self.shape != other.shape:
            raise ValueError(
                f"tables must be of the same heads, got {self.shape} and {other.shape} layers and "
                "heads: they are added over the inputs."
            )
        if self.thresholds != other.thresholds:
            raise ValueError(
                f"tables must have the same thresholds, got {self.thresholds} and "
                f"{other.thresholds}. Change those of one: table.classify(thresholds)."
            )
        return HeadTable(self._sums.joined(other._sums), self.thresholds)

    def __radd__(self, other: object) -> HeadTable:
        # sum() starts with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self) -> str:
        return shown.text(self)

    def _repr_html_(self) -> str:
        return shown.html(self)

    @cached_property
    def _rows(self) -> tuple[HeadRow, ...]:
        sums, heads = self._sums, self._sums.inputs.shape[1]
        count, none = sums.have, sums.have == 0
        mean, baseline = (t.masked_fill(none, math.nan) for t in (sums.mean, sums.baseline))
        sd = (sums.squares / (count - 1).clamp_min(1)).sqrt().masked_fill(count < 2, math.nan)
        columns = [t.flatten(1).T.tolist() for t in (mean, sd, baseline)]
        inputs, queries = sums.inputs.flatten().tolist(), sums.queries.flatten().tolist()
        rows = []
        for i, values in enumerate(zip(*columns, strict=True)):
            measures = map(Measure, *values)
            fields = (*divmod(i, heads), inputs[i], queries[i], *measures, "unclassified")
            row = HeadRow._make(fields)
            rows.append(row._replace(kind=classify(row, self.thresholds)))
        return tuple(rows)


def read_thresholds(thresholds: Any) -> Thresholds:
    """Thresholds, each of them a number.

    Raises:
        TypeError: Something else.
        ValueError: One is nan.
    """
    if isinstance(thresholds, Mapping) or not isinstance(thresholds, Thresholds):
        raise TypeError(
            f"thresholds must be patterns.Thresholds, got {type(thresholds).__name__}. Change one: "
            "Thresholds(sink=0.5)."
        )
    for name, value in zip(thresholds._fields, thresholds, strict=True):
        if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
            raise TypeError(f"the threshold {name} must be a number, got {value!r}.")
    return thresholds
