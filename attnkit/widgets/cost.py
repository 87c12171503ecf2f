"""What an attention costs at n tokens, as measured: time and memory on log axes."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import traitlets
from traitlets import TraitError, validate

from attnkit.widgets import drawing, pairs
from attnkit.widgets.base import WIDTHS, CourseWidget
from attnkit.widgets.cost_data import (
    LONGEST_NAME,
    UNITS,
    Cost,
    amount,
    checked_curves,
    significant,
    span,
)
from attnkit.widgets.traits import Choice, TextList, WholeNumber, refuse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Rem of cost.css at base.WIDTHS: all but the rows, which stand beside the chart in the last three;
# a row; and the chart with its title.
FRAME, ROW, CHART = (36.46, *(35.62,) * 6, *(11.23,) * 3), 4.0, 21.39


class CostWidget(CourseWidget, files="cost"):
    """Time or peak memory of several kinds of attention against the number of tokens.

    >>> widget = CostWidget([
    ...     ("full attention", {256: (1.0, 0.9, 1.2, 2.0), 512: (4.0, 3.8, 4.4, 8.0)}),
    ...     ("window of 64", {512: (1.0, 0.9, 1.3, 2.0), 1024: (2.0, 1.9, 2.3, 4.0)}),
    ... ])
    >>> widget
    CostWidget(2 curves, n=512, quantity='time')
    >>> widget.at("full attention").megabytes, widget.ratio("window of 64")
    (8.0, 0.25)
    >>> widget.n = 1024
    >>> print(widget.at("full attention"), widget.ratio("window of 64"))
    None None

    Args:
        curves: 1 to 12 pairs (name, {n: (milliseconds, low, high, megabytes)}): the median time of
            several runs with its lowest and highest, and the peak memory, or None where it was
            not measured. An n that was not run, because it is too large, is left out.
        shown: the names of the curves that are drawn, the first value of the trait `drawn`.
        reference: the name of the curve that the others are divided by; None takes the first.

    Traits:
        n: int, one of the measured numbers of tokens; at first the largest that the reference has
        quantity: "time" or "memory"
        drawn: list of names, which curves are drawn; all at first

    Nothing is computed between or beyond the measured n: there the widget says "not run".

    Raises:
        TypeError, ValueError: curves that are none, or numbers that are not above 0.
    """

    n = WholeNumber(1, 1, 10**9).tag(sync=True)
    quantity = Choice("time", tuple(UNITS)).tag(sync=True)
    drawn = TextList([]).tag(sync=True)

    # Lists of pairs: a saved notebook sorts the keys of a dict.
    _curves = traitlets.List().tag(sync=True)
    _sizes = traitlets.List().tag(sync=True)
    _reference = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        curves: Sequence[tuple[str, Mapping[int, Sequence[float | None]]]],
        *,
        shown: Sequence[str] | None = None,
        reference: str | None = None,
        **traits: Any,
    ) -> None:
        self._costs = checked_curves(curves)
        names = list(self._costs)
        self._sizes_of_all = sorted({n for costs in self._costs.values() for n in costs})
        reference = names[0] if reference is None else reference
        if reference not in self._costs:
            cure = "It is the curve that the others are divided by."
            expected = f"one of {', '.join(map(repr, names))}"
            pairs.refuse(ValueError, "CostWidget.reference", expected, reference, cure)
        traits = {"drawn": names if shown is None else shown, **traits}
        super().__init__(
            _curves=[
                [name, [[n, *cost] for n, cost in self._costs[name].items()]] for name in names
            ],
            _sizes=self._sizes_of_all,
            _reference=reference,
            **{"n": max(self._costs[reference]), **traits},
        )

    @validate("n")
    def _measured(self, proposal: dict) -> int:
        if proposal["value"] not in self._sizes_of_all:
            expected = f"one of the measured n, {', '.join(map(str, self._sizes_of_all))}"
            cure = "Nothing is computed between or beyond them."
            refuse(proposal["trait"], self, expected, proposal["value"], cure)
        return proposal["value"]

    @validate("quantity")
    def _known(self, proposal: dict) -> str:
        if proposal["value"] == "memory" and not self._values("memory"):
            raise TraitError(
                "CostWidget.quantity: expected 'time', got 'memory', which no curve has. Give "
                "megabytes as the fourth number of each n."
            )
        return proposal["value"]

    @validate("drawn")
    def _in_order(self, proposal: dict) -> list[str]:
        names = list(self._costs)
        if unknown := [name for name in proposal["value"] if name not in names]:
            expected = f"names out of {', '.join(map(repr, names))}"
            refuse(proposal["trait"], self, expected, unknown[0], "Those are the curves' names.")
        return [name for name in names if name in proposal["value"]]

    def at(self, name: str) -> Cost | None:
        """What was measured of a curve at the chosen n; None where it was not run."""
        if name not in self._costs:
            expected = f"one of {', '.join(map(repr, self._costs))}"
            pairs.refuse(
                ValueError, "CostWidget.at", expected, name, "Those are the curves' names."
            )
        return self._costs[name].get(self.n)

    def ratio(self, name: str) -> float | None:
        """Cost of a curve ÷ cost of the reference at the chosen n; None where one was not run."""
        values = [
            cost.value(self.quantity) if cost else None
            for cost in (self.at(name), self.at(self._reference))
        ]
        return None if None in values else values[0] / values[1]  # type: ignore[operator]

    def shown(self) -> dict[str, Any]:
        """n and quantity; the curves only where some are left out."""
        always = {"n": self.n, "quantity": self.quantity}
        return always | ({"drawn": self.drawn} if len(self.drawn) < len(self._costs) else {})

    def __repr__(self) -> str:
        number = len(self._costs)
        inside = ", ".join(f"{name}={value!r}" for name, value in self.shown().items())
        return f"CostWidget({number} curve{'s' * (number > 1)}, {inside})"

    def describe(self) -> str:
        """The alt text of the picture."""
        kind = "Median time" if self.quantity == "time" else "Peak memory"
        said = [f"{name} {self._said(name)}" for name in self.drawn] or ["no curve is drawn"]
        low, high = self._sizes_of_all[0], self._sizes_of_all[-1]
        return (
            f"{kind} against the number of tokens n, from {low:,} to {high:,}, on log axes. "
            f"At n = {self.n:,}: {'; '.join(said)}."
        )

    def _said(self, name: str) -> str:
        cost, ratio = self.at(name), self.ratio(name)
        value = cost and cost.value(self.quantity)
        if cost is None or value is None:
            return "not run" if cost is None else "not measured"
        spread = f" ({span(cost.low, cost.high)})" if self.quantity == "time" else ""
        said = f"{amount(value, self.quantity)}{spread}"
        if name == self._reference or ratio is None:
            return said
        return f"{said}, {significant(ratio, 2)} × {self._reference}"

    def _values(self, quantity: str) -> list[float]:
        found = [c.value(quantity) for costs in self._costs.values() for c in costs.values()]
        return [value for value in found if value is not None]

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        rows = ROW * len(self._costs)
        return tuple(
            frame + (max(rows, CHART) if width >= 42 else rows)
            for width, frame in zip(WIDTHS, FRAME, strict=True)
        )

    def picture(self) -> "Figure":
        """The curves with the range of the runs, a line at the chosen n, and the numbers there."""
        figure = drawing.new_figure(8.4, 3.8)
        axes = figure.subplots()
        for index, (name, costs) in enumerate(self._costs.items()):
            if name not in self.drawn:
                continue
            colour, dashes = drawing.series(index)
            label = drawing.drawable([name], longest=LONGEST_NAME)[0] + "\n" + self._said(name)
            hollow = index >= len(drawing.SERIES_COLOURS)  # its colour comes for the second time
            dots = {"marker": "o", "ms": 5, "mfc": drawing.CARD if hollow else colour}
            for run in _unbroken(costs, self._sizes_of_all, self.quantity):
                values: list[Any] = [costs[n].value(self.quantity) for n in run]
                axes.plot(run, values, color=colour, ls=dashes, lw=2, label=label, **dots)
                label = "_" + label  # one entry of the legend is enough
                if self.quantity == "time":
                    ends = [costs[n].low for n in run], [costs[n].high for n in run]
                    axes.vlines(run, *ends, color=colour, lw=5, alpha=0.35)
        axes.axvline(self.n, color=drawing.INK, lw=1)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        kind = "Median time" if self.quantity == "time" else "Peak memory"
        drawing.clean_axes(axes, f"{kind} against n; the numbers belong to n = {self.n:,}")
        ticks = self._sizes_of_all[:: math.ceil(len(self._sizes_of_all) / 8)]
        axes.set_xticks(ticks, [f"{n:,}" for n in ticks])
        axes.set_xlabel("n, tokens", fontsize=9, color=drawing.MUTED)
        axes.set_ylabel(UNITS[self.quantity][0], fontsize=9, color=drawing.MUTED)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        axes.minorticks_off()
        if axes.lines[:-1]:
            place = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
            legend = axes.legend(frameon=False, fontsize=8.5, labelcolor=drawing.INK, **place)
            for text in legend.get_texts():
                text.set(parse_math=False, fontfamily=drawing.font_families())
        return figure


def _unbroken(costs: Mapping[int, Cost], sizes: Sequence[int], quantity: str) -> list[list[int]]:
    """The measured n in runs without a gap: a line must not cross what was not run."""
    runs: list[list[int]] = [[]]
    for n in sizes:
        if n in costs and costs[n].value(quantity) is not None:
            runs[-1].append(n)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]
