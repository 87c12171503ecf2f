"""What happens to attention when the key dimension grows, with and without 1/√d_k."""

import math
from typing import TYPE_CHECKING, Any

import torch
import traitlets

from attnkit.widgets import drawing, measures, tables
from attnkit.widgets.base import CourseWidget
from attnkit.widgets.traits import Number, WholeNumber

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ASK_D_KEY = 256  # the guess is asked for at this d_k, unscaled, at temperature 1


# Heights in rem at base.WIDTHS: asking, after a skipped guess, after a guess.
ASKING = (114.5, 97.5, 96.25, 92, 89, 86.25, 83.75, 57.5, 56.5, 51.5)
SKIPPED = (92.5, 78, 77, 77, 73.5, 73.5, 71, 46.5, 46.5, 43.5)
ANSWERED = (103.5, 88.5, 86.25, 85, 81.5, 81.5, 77.5, 51.5, 51.5, 48.5)


class ScalingWidget(CourseWidget, files="scaling"):
    """One query, 64 keys, and a slider for d_k.

    >>> widget = ScalingWidget(d_k=64, scale=True)
    >>> widget
    ScalingWidget(d_k=64, scale=True, temperature=1.0)
    >>> widget.weights().shape
    torch.Size([64])

    The components of queries and keys are independent N(0, 1) draws (seeded), rounded to 1/8 so
    that the page carries them exactly: Python and browser compute the same scores. The histogram
    comes from 8,192 other pairs.

    Traits:
        d_k: int from 1 to 1024
        scale: bool; divide the scores by √d_k?
        temperature: float greater than 0
        sample: int from 0 to 7; which of eight queries
        prediction: None, or the reader's guess (0 to 1) of the largest weight at d_k = 256,
            unscaled
        revealed: bool; False asks for the guess before it shows any weights
    """

    d_k = WholeNumber(64, 1, tables.D_MAX).tag(sync=True)
    scale = traitlets.Bool(True).tag(sync=True)
    temperature = Number(1.0, above=0.0).tag(sync=True)
    sample = WholeNumber(0, 0, tables.N_QUERIES - 1).tag(sync=True)
    prediction = Number(None, lowest=0.0, highest=1.0, allow_none=True).tag(sync=True)
    revealed = traitlets.Bool(False).tag(sync=True)

    _ask_d_k = traitlets.Int(ASK_D_KEY).tag(sync=True)
    _vectors = traitlets.Unicode().tag(sync=True)
    _density = traitlets.Unicode().tag(sync=True)
    _density_d = traitlets.List(traitlets.Int()).tag(sync=True)
    _spread = traitlets.Unicode().tag(sync=True)

    def __init__(self, *, seed: int = 0, **traits: Any) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise TypeError(
                f"ScalingWidget: expected seed to be an int of at least 0, got {seed!r}. "
                "Leave it out for the draw that the book shows."
            )
        self._tables = tables.score_tables(seed)
        super().__init__(
            _vectors=tables.pack_digits(torch.cat([self._tables.queries, self._tables.keys])),
            _density=tables.pack_float16(self._tables.density),
            _density_d=list(tables.HISTOGRAM_D),
            _spread=tables.pack_float16(self._tables.spread),
            **traits,
        )

    @property
    def query_vector(self) -> torch.Tensor:
        """(1024,) the chosen query; the widget uses its first d_k components."""
        return self._tables.queries[self.sample].clone()

    @property
    def key_vectors(self) -> torch.Tensor:
        """(64, 1024) the keys."""
        return self._tables.keys.clone()

    def scores(self) -> torch.Tensor:
        """(64,) scores: q·k over the first d_k components, divided by √d_k if `scale` is on."""
        raw = self._tables.keys[:, : self.d_k] @ self._tables.queries[self.sample, : self.d_k]
        return raw / math.sqrt(self.d_k) if self.scale else raw

    def weights(self) -> torch.Tensor:
        """(64,) softmax(scores / temperature), float64."""
        return measures.softmax_row(self.scores(), self.temperature)

    def measure(self) -> dict[str, float]:
        """The numbers that the widget reads out.

        `spread` is measured over 8,192 pairs at this d_k, `spread_theory` is √d_k (1 if scaled);
        `jacobian_norm` is ‖∂weights/∂(softmax input)‖, Frobenius.
        """
        weights = self.weights()
        unit = math.sqrt(self.d_k) if self.scale else 1.0
        entropy = measures.entropy(weights)
        return {
            "spread": float(self._tables.spread[self.d_k - 1]) / unit,
            "spread_theory": math.sqrt(self.d_k) / unit,
            "largest_weight": float(weights.max()),
            "entropy": entropy,
            "normalized_entropy": entropy / math.log(tables.N_KEYS),
            "jacobian_norm": measures.jacobian_norm(weights),
        }

    def shown(self) -> dict[str, Any]:
        """d_k, scale, temperature, and what else is not as it was at the start."""
        always = {"d_k": self.d_k, "scale": self.scale, "temperature": self.temperature}
        rest = {"sample": 0, "prediction": None, "revealed": False}
        return always | {n: getattr(self, n) for n, v in rest.items() if getattr(self, n) != v}

    def describe(self) -> str:
        """The alt text of the picture."""
        m = self.measure()
        divided = "divided by the square root of d_k" if self.scale else "not scaled"
        return (
            f"Two charts for d_k = {self.d_k}, scores {divided}, temperature "
            f"{self.temperature:g}. Left: histogram of the scores of 8,192 pairs of random "
            f"vectors, standard deviation {m['spread']:.3g} (theory {m['spread_theory']:.3g}), "
            "with the theoretical normal curve. Right: the softmax weights of 64 keys; the "
            f"largest is {measures.percent(m['largest_weight'])}, the entropy "
            f"{m['entropy']:.2f} of {math.log(tables.N_KEYS):.2f} nats, the norm of the softmax "
            f"gradient {m['jacobian_norm']:.2g}."
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        if not self.revealed:
            return ASKING
        return SKIPPED if self.prediction is None else ANSWERED

    def picture(self) -> "Figure":
        """Histogram of the scores beside the weights of the 64 keys."""
        m = self.measure()
        figure = drawing.new_figure(7.6, 2.9)
        left, right = figure.subplots(1, 2)
        grid = tables.HISTOGRAM_D
        nearest = min(range(len(grid)), key=lambda i: abs(math.log(grid[i] / self.d_k)))
        sd = m["spread_theory"]
        z = torch.linspace(-tables.REACH, tables.REACH, tables.BINS + 1, dtype=torch.float64)
        left.stairs(
            (self._tables.density[nearest] / sd).numpy(),
            (z * sd).numpy(),
            fill=True,
            color=drawing.WEIGHT,
            label=f"measured (d_k = {grid[nearest]})",
        )
        curve = torch.exp(-z.square() / 2) / (sd * math.sqrt(2 * math.pi))
        left.plot((z * sd).numpy(), curve.numpy(), color=drawing.THEORY, lw=2, label="normal curve")
        drawing.clean_axes(left, "Scores" + (" ÷ √d_k" if self.scale else " q·k"))
        left.set_xlabel(
            f"sd {m['spread']:.3g}, theory {sd:.3g}", color=drawing.MUTED, fontsize=9, loc="left"
        )
        left.set_yticks([])
        top = float(curve.max())
        left.set_ylim(0, max(1.45 * top, float(self._tables.density[nearest].max()) / sd * 1.05))
        left.legend(frameon=False, fontsize=8, loc="upper left", labelcolor=drawing.INK)

        weights = self.weights()
        best = int(weights.argmax())
        colours = [drawing.TOP if i == best else drawing.WEIGHT for i in range(tables.N_KEYS)]
        right.bar(range(1, tables.N_KEYS + 1), weights.tolist(), width=0.8, color=colours)
        right.set_ylim(0, 1)
        right.set_xlim(0, tables.N_KEYS + 1)
        right.set_xticks([1, 16, 32, 48, 64])
        right.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        drawing.clean_axes(right, f"Weights of {tables.N_KEYS} keys")
        right.set_xlabel(
            f"largest {measures.percent(m['largest_weight'])} · entropy {m['entropy']:.2f} nats · "
            f"gradient {m['jacobian_norm']:.2g}",
            color=drawing.MUTED,
            fontsize=9,
            loc="left",
        )
        if self.prediction is not None:
            right.axhline(self.prediction, color=drawing.GUESS, ls="--", lw=1.5)
        divided = "÷ √d_k" if self.scale else "not scaled"
        figure.suptitle(
            f"d_k = {self.d_k}, {divided}, temperature {self.temperature:g}",
            x=0.01,
            ha="left",
            fontsize=11,
            color=drawing.INK,
        )
        return figure
