"""Where order comes from: the sinusoidal encoding as a table, a clock and an inner product."""

import math
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from traitlets import TraitError, observe, validate

from attnkit.widgets import drawing
from attnkit.widgets.base import CourseWidget
from attnkit.widgets.traits import WholeNumber, refuse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 512  # positions and dimensions: a phone has no more pixels for a table
CONSTANT = 0.01  # a dimension whose standard deviation over the positions is below: nearly constant
# −1, 0 and 1 in the table of colours; position.js has the same.
SCALE = ("#0b5394", "#f2f2f0", "#a34a00")
# Heights in rem at base.WIDTHS.
HEIGHTS = (97.98, 94.37, 94.37, 94.37, 93.01, 91.45, 89.98, 62.28, 60.92, 60.92)


class PositionWidget(CourseWidget, files="position"):
    """One position and one frequency of the sinusoidal encoding.

    The encoding is drawn as a table of colours, the chosen pair of dimensions as a clock whose
    hand points to (sin, cos), and the inner product of the chosen position with all others as a
    curve, which does not fall at every step away from it.

    >>> widget = PositionWidget(d_model=64, n_positions=100, position=3)
    >>> [round(x, 3) for x in widget.encoding()[3, :4].tolist()]
    [0.141, -0.99, 0.778, -0.628]
    >>> widget.rises()[:5], widget.constant()
    ([5, 10, 11, 16, 17], 15)
    >>> widget.doubled = True
    >>> widget.constant()
    39

    Traits:
        d_model: even int, 2 to 512
        n_positions: int, 2 to 512; the positions are 0 … n_positions − 1
        position: int, the one that the clock and the curve belong to
        pair: int, i of the dimensions 2i (sine) and 2i + 1 (cosine), below d_model / 2
        doubled: bool; the exponent of the frequency is then −4i / d_model and not −2i / d_model

    A smaller table keeps position and pair inside of it.

    Vaswani et al., 2017, section 3.5.
    """

    d_model = WholeNumber(64, 2, MOST).tag(sync=True)
    n_positions = WholeNumber(100, 2, MOST).tag(sync=True)
    position = WholeNumber(0, 0, MOST - 1).tag(sync=True)
    pair = WholeNumber(0, 0, MOST // 2 - 1).tag(sync=True)
    doubled = traitlets.Bool(False).tag(sync=True)

    def __init__(self, d_model: Any = 64, n_positions: Any = 100, **traits: Any) -> None:
        super().__init__(d_model=d_model, n_positions=n_positions, **traits)

    @validate("d_model")
    def _even(self, proposal: dict) -> int:
        if proposal["value"] % 2:
            cure = f"Each frequency has a sine and a cosine: use {proposal['value'] + 1}."
            refuse(proposal["trait"], self, "an even number", proposal["value"], cure)
        return proposal["value"]

    @validate("position", "pair")
    def _inside(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        number, of = {
            "position": (self.n_positions, "n_positions"),
            "pair": (self.d_model // 2, "d_model / 2"),
        }[name]
        if value >= number:
            raise TraitError(
                f"PositionWidget.{name}: expected a number below {number}, which is {of}, got "
                f"{value}. Both count from 0."
            )
        return value

    @observe("d_model", "n_positions")
    def _keep_inside(self, change: dict) -> None:
        self.position = min(self.position, self.n_positions - 1)
        self.pair = min(self.pair, self.d_model // 2 - 1)

    def frequencies(self) -> torch.Tensor:
        """(d_model / 2,) float64: radians that each pair turns from one position to the next."""
        exponent = torch.arange(0, self.d_model, 2, dtype=torch.float64) / self.d_model
        return torch.exp(-math.log(10_000) * exponent * (2 if self.doubled else 1))

    def encoding(self) -> torch.Tensor:
        """(n_positions, d_model) float64: sine and cosine of each pair, side by side."""
        position = torch.arange(self.n_positions, dtype=torch.float64)
        angle = position[:, None] * self.frequencies()
        return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)

    def products(self) -> torch.Tensor:
        """(n_positions,) float64: inner product of the chosen position with each position."""
        table = self.encoding()
        return table @ table[self.position]

    def by_distance(self) -> torch.Tensor:
        """(n_positions,) float64: inner product of two positions at distance 0, 1, 2 …"""
        distance = torch.arange(self.n_positions, dtype=torch.float64)
        return (distance[:, None] * self.frequencies()).cos().sum(-1)

    def rises(self) -> list[int]:
        """Distances after which the inner product rises although the next one is further."""
        return (self.by_distance().diff() > 0).nonzero()[:, 0].tolist()

    def constant(self) -> int:
        """How many dimensions have a standard deviation below 0.01 over the positions."""
        return int((self.encoding().std(0) < CONSTANT).sum())

    def shown(self) -> dict[str, Any]:
        """All traits; `doubled` only where it is set."""
        names = ["d_model", "n_positions", "position", "pair", *(["doubled"] * self.doubled)]
        return {name: getattr(self, name) for name in names}

    def describe(self) -> str:
        """The alt text of the picture."""
        sine, cosine = self.encoding()[self.position, 2 * self.pair : 2 * self.pair + 2].tolist()
        turn = 2 * math.pi / float(self.frequencies()[self.pair])
        values, rises = self.by_distance().tolist(), self.rises()
        exponent = f"−{4 if self.doubled else 2}i/{self.d_model}"
        curve = f"{values[0]:.1f} with itself"
        if rises:
            at = rises[0]
            curve += (
                f", {values[at]:.1f} at distance {at} and, further away, {values[at + 1]:.1f} at "
                f"distance {at + 1}; it rises at {len(rises)} of {self.n_positions - 1} steps"
            )
        else:
            curve += f", {values[-1]:.1f} at distance {self.n_positions - 1}, falling all the way"
        return (
            f"Sinusoidal encoding of {self.n_positions} positions in {self.d_model} dimensions, "
            f"frequencies 10000^({exponent}){', the doubled exponent' if self.doubled else ''}, as "
            f"a table of colours from −1 to 1; {self.constant()} dimensions are nearly constant. "
            f"Clock of pair {self.pair} at position {self.position}: sin {_signed(sine)}, cos "
            f"{_signed(cosine)}, one turn in {turn:,.3g} positions. Inner product of position "
            f"{self.position} with the others: {curve}."
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        return HEIGHTS

    def picture(self) -> "Figure":
        """The table of colours, the clock, and the inner product with each position."""
        figure = drawing.new_figure(8.6, 5.6)
        grid = figure.add_gridspec(2, 2, width_ratios=(1.7, 1), height_ratios=(1.5, 1))
        self._draw_table(figure.add_subplot(grid[0, 0]))
        self._draw_clock(figure.add_subplot(grid[0, 1]))
        self._draw_curve(figure.add_subplot(grid[1, :]))
        return figure

    def _draw_table(self, axes: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.patches import Rectangle

        colours = LinearSegmentedColormap.from_list("encoding", SCALE)
        image = axes.imshow(
            self.encoding().numpy(), vmin=-1, vmax=1, cmap=colours, aspect="auto",
            interpolation="nearest",
        )  # fmt: skip
        frame = {"fill": False, "edgecolor": drawing.INK, "clip_on": False}
        n, d = self.n_positions, self.d_model
        axes.add_patch(Rectangle((-0.5, self.position - 0.5), d, 1, lw=1.2, **frame))
        axes.add_patch(Rectangle((2 * self.pair - 0.5, -0.5), 2, n, lw=1.2, **frame))
        drawing.clean_axes(axes, "Rows: positions; columns: dimensions")
        bar = axes.figure.colorbar(image, ax=axes, ticks=[-1, 0, 1], pad=0.02, aspect=30)
        bar.ax.set_yticklabels(["−1", "0", "1"], color=drawing.MUTED, fontsize=9)
        bar.outline.set_edgecolor(drawing.LINE)

    def _draw_clock(self, axes: Any) -> None:
        points = self.encoding()[:, 2 * self.pair : 2 * self.pair + 2].numpy()
        around = torch.linspace(0, 2 * math.pi, 181)
        axes.plot(around.sin().numpy(), around.cos().numpy(), color=drawing.LINE, lw=1)
        axes.plot(points[:, 0], points[:, 1], ls="", marker="o", ms=3, color=drawing.WEIGHT)
        x, y = points[self.position]
        axes.plot([0, x], [0, y], color=drawing.TOP, lw=2.5, marker="o", markevery=[1], ms=7)
        axes.set_xlim(-1.25, 1.25)
        axes.set_ylim(-1.25, 1.25)
        axes.set_aspect("equal")
        drawing.clean_axes(axes, f"Pair {self.pair} at position {self.position}")
        axes.set_xticks([-1, 0, 1], ["−1", "0", "1"])
        axes.set_yticks([-1, 0, 1], ["−1", "0", "1"])
        axes.set_xlabel("sin", fontsize=9, color=drawing.MUTED)
        axes.set_ylabel("cos", fontsize=9, color=drawing.MUTED)

    def _draw_curve(self, axes: Any) -> None:
        products = self.products().numpy()
        axes.plot(products, color=drawing.TOP, lw=2)
        for step in self.rises():
            for way in (1, -1):
                ends = [self.position + way * step, self.position + way * (step + 1)]
                if 0 <= min(ends) and max(ends) < self.n_positions:
                    axes.plot(ends, products[ends], color=drawing.THEORY, lw=4, alpha=0.9)
        axes.axvline(self.position, color=drawing.INK, lw=1)
        title = f"Inner product with position {self.position}; thick: rises with the distance"
        drawing.clean_axes(axes, title)
        axes.set_xlim(0, self.n_positions - 1)
        axes.set_xlabel("position", fontsize=9, color=drawing.MUTED)


def _signed(value: float) -> str:
    return f"{value + 0.0:.2f}".replace("-", "−")
