"""One temperature, many ratios: which weights can softmax make of given scores?"""

import math
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from traitlets import validate

from attnkit.widgets import drawing, measures, ratios
from attnkit.widgets.base import WIDTHS, CourseWidget
from attnkit.widgets.traits import Number, NumberList, TextList, numbered, same_length

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_TOKENS = 12
LOWEST, HIGHEST = 0.05, 10.0  # of the slider and of the curves
# Heights in rem at base.WIDTHS of all but the rows; in two columns (the last three) the charts
# stand beside the tokens.
FRAME = (85, 79.5, 78, 76, 73, 70, 68.5, 33, 31.5, 29)
TOKEN, PAIR, PICKER, CHARTS = 4.0, 3.3, 3.25, 23.0
BESIDE = 8.75  # in two columns: head and foot of the tokens, of 3.5 rem each


class TemperatureWidget(CourseWidget, files="temperature"):
    """The weights as the temperature goes from 0 to ∞, beside the shares that are wanted.

    >>> widget = TemperatureWidget()
    >>> [(p.first, p.second, round(p.temperature, 3)) for p in widget.pairs()]
    [(1, 0, 0.072), (2, 0, 2.074), (2, 1, 2.741)]
    >>> print(widget.needed_temperature())
    None

    Traits:
        scores: list of 2 to 12 finite numbers
        labels: list of str, one for each score; drawn literally
        wanted: list of wanted shares, at least 0; only their ratios count, the sum may be anything
        temperature: float greater than 0
        revealed: bool; False keeps verdict and needed temperatures back until the reader moves T

    To change the number of tokens set the three lists together, inside
    ``with widget.hold_trait_notifications():``.
    """

    scores = NumberList([0.05, 0.1, 5.8], shortest=2, longest=MAX_TOKENS).tag(sync=True)
    labels = TextList(["我", "爱", "中国"]).tag(sync=True)
    wanted = NumberList([0.05, 0.10, 0.80], shortest=2, longest=MAX_TOKENS, shares=True).tag(
        sync=True
    )
    temperature = Number(1.0, above=0.0).tag(sync=True)
    revealed = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self, scores: Any = None, labels: Any = None, wanted: Any = None, **traits: Any
    ) -> None:
        if scores is not None:
            traits["scores"] = scores
            labels = numbered(scores) if labels is None else labels
            if wanted is None and labels is not None:
                wanted = [1.0] * len(labels)
        traits |= {n: v for n, v in (("labels", labels), ("wanted", wanted)) if v is not None}
        super().__init__(**traits)

    @validate("scores", "labels", "wanted")
    def _same_number(self, proposal: dict) -> list:
        return same_length(proposal, "scores", "labels", "wanted")

    def weights(self) -> torch.Tensor:
        """(n,) softmax(scores / temperature), float64."""
        return measures.softmax_row(
            torch.tensor(self.scores, dtype=torch.float64), self.temperature
        )

    def slopes(self) -> torch.Tensor:
        """(n,) d weight / d its own score, w (1 − w) / T, float64."""
        return measures.slopes(self.weights(), self.temperature)

    def pairs(self) -> list[ratios.Pair]:
        """Every pair of tokens with the temperature that its wanted ratio needs."""
        return ratios.wanted_pairs(self.scores, self.wanted)

    def needed_temperature(self) -> float | None:
        """The temperature that gives all the wanted ratios; None where there is none.

        0.0 and inf stand for the limits; where every temperature does, it is the present one.
        """
        kind, temperature = ratios.common_temperature(self.pairs())
        if kind == "none":
            return None
        return self.temperature if kind == "any" else temperature

    def shown(self) -> dict[str, Any]:
        """All traits; `revealed` only where it is set."""
        names = ("scores", "labels", "wanted", "temperature", *(["revealed"] * self.revealed))
        return {n: getattr(self, n) for n in names}

    def describe(self) -> str:
        """The alt text of the picture."""
        rows = zip(self.labels, self._wanted_shares(), self.weights().tolist(), strict=True)
        listed = "; ".join(
            f"{label}: {measures.percent(w)}, wanted {measures.percent(share)}"
            for label, share, w in rows
        )
        needs = [p for p in self.pairs() if p.kind == "one"]
        pairs = "; ".join(
            f"{self.labels[p.first]} to {self.labels[p.second]} needs T = {p.temperature:.3g}"
            for p in needs[:6]
        )
        needed = self.needed_temperature()
        verdict = {None: "No temperature gives", 0.0: "Only the limit T → 0 gives"}.get(
            needed, f"T = {needed:.3g} gives" if needed is not None else ""
        )
        if needed == math.inf:
            verdict = "Only the limit T → ∞ gives"
        return (
            f"Two charts. Left: bars of the softmax weights at temperature {self.temperature:g} "
            f"with marks at the wanted shares. {listed}. Right: each weight against the "
            f"temperature, from {LOWEST:g} to {HIGHEST:g}. "
            + (f"For the wanted ratios, {pairs}. " if pairs else "")
            + f"{verdict} all the wanted ratios."
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        n = len(self.scores)
        pairs = PAIR * (n - 1 if n > 4 else n * (n - 1) // 2) + (PICKER if n > 4 else 0)
        narrow, wide = TOKEN * n, max(CHARTS, BESIDE + 3.5 * n)
        return tuple(
            frame + pairs + (wide if width >= 42 else narrow)
            for width, frame in zip(WIDTHS, FRAME, strict=True)
        )

    def _wanted_shares(self) -> list[float]:
        """The wanted shares, made to sum to 1."""
        top = max(self.wanted)  # divided by first: the sum of huge shares could overflow
        total = sum(share / top for share in self.wanted)
        return [share / top / total for share in self.wanted]

    def picture(self) -> "Figure":
        """Bars with marks at the wanted shares, beside the weights against the temperature."""
        weights, wanted, n = self.weights().tolist(), self._wanted_shares(), len(self.scores)
        figure = drawing.new_figure(7.6, max(2.7, 1.2 + 0.3 * n))
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.1])
        names = drawing.drawable(self.labels)
        left.barh(range(n), weights, height=0.6, color=drawing.WEIGHT)
        left.plot(
            wanted, range(n), ls="", marker="|", ms=18, mew=3, color=drawing.GUESS, label="wanted"
        )
        left.set_ylim(n - 0.4, -0.6)
        left.set_xlim(0, 1)
        left.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        drawing.clean_axes(left, f"Weights at T = {self.temperature:g}; marks: wanted")
        texts = [f"{name}  {measures.percent(w)}" for name, w in zip(names, weights, strict=True)]
        left.set_yticks(range(n), texts, parse_math=False, fontsize=10)
        left.tick_params(axis="y", colors=drawing.INK, length=0)

        grid = torch.logspace(math.log10(LOWEST), math.log10(HIGHEST), 120, dtype=torch.float64)
        scores = torch.tensor(self.scores, dtype=torch.float64)
        curves = torch.stack([measures.softmax_row(scores, float(t)) for t in grid])
        for i in range(n):
            colour, dashes = drawing.series(i)
            right.plot(grid.numpy(), curves[:, i].numpy(), color=colour, ls=dashes, lw=2)
        right.set_xscale("log")
        right.set_xticks([0.05, 0.2, 1, 2, 5, 10], ["0.05", "0.2", "1", "2", "5", "10"])
        right.minorticks_off()
        right.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        right.set_ylim(-0.02, 1.02)
        right.axvline(self.temperature, color=drawing.INK, lw=1)
        drawing.clean_axes(right, "Weights against the temperature T")
        lines = right.lines[:n]
        legend = right.legend(lines, list(map(str, range(n))), frameon=False, ncols=1 + n // 7)
        for text, name in zip(legend.get_texts(), names, strict=True):
            text.set(text=name, parse_math=False, fontsize=9, color=drawing.INK)
            text.set_fontfamily(drawing.font_families())
        for label in left.get_yticklabels():
            label.set_fontfamily(drawing.font_families())
        return figure
