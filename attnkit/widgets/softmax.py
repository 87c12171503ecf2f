"""Softmax on a few scores: temperature, a constant, and the limit of hard selection."""

from typing import TYPE_CHECKING, Any

import torch
from traitlets import validate

from attnkit.widgets import drawing, measures
from attnkit.widgets.base import CourseWidget
from attnkit.widgets.traits import Number, NumberList, TextList, numbered, same_length

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_TOKENS = 64
# Heights in rem at base.WIDTHS: all but the rows, and one row; more than 12 rows scroll.
FRAME = (37.5, 31, 30.25, 30, 30, 29.75, 29.75, 19.25, 19.25, 19.125)
ROW = (4.25,) * 7 + (2.75,) * 3
SCROLLED = 32.0


class SoftmaxWidget(CourseWidget, files="softmax"):
    """Scores in, weights out, for 1 to 64 tokens.

    >>> widget = SoftmaxWidget([0.05, 0.1, 5.8], ["我", "爱", "中国"])
    >>> [round(100 * w, 1) for w in widget.weights().tolist()]
    [0.3, 0.3, 99.4]

    Traits:
        scores: list of finite numbers, 1 to 64
        labels: list of str, one for each score; drawn literally
        temperature: float greater than 0
        shift: float, a constant added to every score (it changes nothing)

    To change the number of tokens set scores and labels together:
    ``with widget.hold_trait_notifications(): widget.scores = …; widget.labels = …``
    """

    scores = NumberList([0.05, 0.1, 5.8], longest=MAX_TOKENS).tag(sync=True)
    labels = TextList(["我", "爱", "中国"]).tag(sync=True)
    temperature = Number(1.0, above=0.0).tag(sync=True)
    shift = Number(0.0).tag(sync=True)

    def __init__(self, scores: Any = None, labels: Any = None, **traits: Any) -> None:
        if scores is not None:
            traits["scores"] = scores
            labels = numbered(scores) if labels is None else labels
        if labels is not None:
            traits["labels"] = labels
        super().__init__(**traits)

    @validate("scores", "labels")
    def _same_number(self, proposal: dict) -> list:
        return same_length(proposal, "scores", "labels")

    def weights(self) -> torch.Tensor:
        """(n,) softmax((scores + shift) / temperature), float64."""
        scores = torch.tensor(self.scores, dtype=torch.float64) + self.shift
        return measures.softmax_row(scores, self.temperature)

    def entropy(self) -> float:
        """Entropy of the weights in nats."""
        return measures.entropy(self.weights())

    def shown(self) -> dict[str, Any]:
        """Scores, labels, temperature, and the shift when there is one."""
        names = ["scores", "labels", "temperature"] + (["shift"] if self.shift else [])
        return {name: getattr(self, name) for name in names}

    def describe(self) -> str:
        """The alt text of the picture."""
        rows = zip(self.labels, self.scores, self.weights().tolist(), strict=True)
        listed = "; ".join(f"{label}: score {s:g}, {measures.percent(w)}" for label, s, w in rows)
        shift = f", {self.shift:g} added to every score" if self.shift else ""
        return (
            f"Bar chart of softmax weights at temperature {self.temperature:g}{shift}. {listed}. "
            f"Entropy {self.entropy():.2f} nats."
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        n = len(self.scores)
        rows = [SCROLLED if n > 12 else n * row for row in ROW]
        return tuple(frame + row for frame, row in zip(FRAME, rows, strict=True))

    def picture(self) -> "Figure":
        """One bar for each token."""
        weights = self.weights().tolist()
        n = len(weights)
        figure = drawing.new_figure(7.0, max(1.6, 0.9 + 0.34 * n))
        axes = figure.subplots()
        best = max(weights)
        axes.barh(
            range(n),
            weights,
            height=0.7,
            color=[drawing.TOP if w == best else drawing.WEIGHT for w in weights],
        )
        for row, (score, weight) in enumerate(zip(self.scores, weights, strict=True)):
            text = f"{measures.percent(weight)}   (score {score + self.shift:g})"
            inside = weight > 0.6
            axes.text(
                weight + (-0.01 if inside else 0.01),
                row,
                text,
                va="center",
                ha="right" if inside else "left",
                color=drawing.CARD if inside else drawing.INK,
                fontsize=9,
            )
        axes.set_ylim(n - 0.4, -0.6)
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        drawing.clean_axes(axes, f"softmax(scores ÷ {self.temperature:g})")
        axes.set_yticks(range(n), drawing.drawable(self.labels), parse_math=False, fontsize=11)
        axes.tick_params(axis="y", colors=drawing.INK, length=0)
        for label in axes.get_yticklabels():
            label.set_fontfamily(drawing.font_families())
        return figure
