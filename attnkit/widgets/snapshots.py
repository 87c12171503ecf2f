"""A weight map while a model learns: the snapshots of a training run."""

import itertools
import math
import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
import traitlets
from traitlets import TraitError, validate

from attnkit.widgets import drawing, map_picture, maps, packing
from attnkit.widgets.base import WIDTHS, CourseWidget
from attnkit.widgets.pairs import refuse
from attnkit.widgets.traits import WholeNumber

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANY = 999_999_999
PANELS = 4  # snapshots in the static picture
# Rem of snapshots.css: time and table; title, legend and reading; loss curve; slider; second row.
REST, RIGHT, LOSS, CONTROL, LEGEND = 11.25, 8.5, 9.25, 4.0, 1.375


class SnapshotWidget(CourseWidget, files="snapshots"):
    """A map at each snapshot of a training run: a slider over the steps, and a button that plays.

    >>> weights = torch.softmax(torch.arange(24.0).sin().reshape(3, 2, 2, 2), -1)
    >>> widget = SnapshotWidget(weights, [0, 10, 500], ["我", "爱"], losses=[2.1, 0.7, 0.1])
    >>> widget
    SnapshotWidget(3 snapshots, step=500, head=0, query=1)
    >>> widget.step = 10
    >>> widget.loss()
    0.7

    Args:
        weights: (steps, heads, queries, keys), or (steps, queries, keys) of one head, or a list
            of one tensor for each step; sizes and rounding are those of `HeadBrowser`.
        steps: the training step of each snapshot, rising.
        query_tokens, key_tokens, mask: as in `HeadBrowser`.
        losses: the loss at each snapshot, drawn as a curve.

    Traits:
        step: int, one of `steps`; the last one at first
        head: int, which head is large
        query: int, the row that is read aloud; the last one at first

    Raises:
        TypeError, ValueError: what `read_weights` refuses; steps, losses or tokens that do not fit.
    """

    step = WholeNumber(0, 0, MANY).tag(sync=True)
    head = WholeNumber(0, 0, MANY).tag(sync=True)
    query = WholeNumber(0, 0, maps.LONGEST - 1).tag(sync=True)

    _shape = traitlets.List(traitlets.Int()).tag(sync=True)
    _codes = traitlets.Unicode().tag(sync=True)
    _masks = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _mask_of = traitlets.List(traitlets.Int()).tag(sync=True)
    _query_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _key_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _steps = traitlets.List(traitlets.Int()).tag(sync=True)
    _losses = traitlets.List(traitlets.Float()).tag(sync=True)

    def __init__(
        self,
        weights: Any,
        steps: Sequence[int],
        query_tokens: Any = None,
        key_tokens: Any = None,
        *,
        mask: Any = None,
        losses: Any = None,
        **traits: Any,
    ) -> None:
        axes = ("steps", "heads", "queries", "keys")
        found, seen = maps.read("SnapshotWidget", weights, axes, mask)
        queries, keys = maps.read_axes("SnapshotWidget", query_tokens, key_tokens, found.shape)
        moments = _rising(steps, len(found))
        codes = packing.encode(found)
        self._maps = packing.decode(codes)
        self._blocked = None if seen is None else ~seen
        self._moments = moments
        different, mask_of = packing.masks(seen)
        traits = {"query": len(queries) - 1, "step": moments[-1], **traits}
        super().__init__(
            _shape=list(found.shape),
            _codes=packing.digits(codes),
            _masks=different,
            _mask_of=mask_of,
            _query_tokens=queries,
            _key_tokens=keys,
            _steps=moments,
            _losses=[] if losses is None else _finite(losses, moments),
            **traits,
        )

    @validate("step")
    def _kept(self, proposal: dict) -> int:
        value = proposal["value"]
        if value not in self._moments:
            nearest = min(self._moments, key=lambda step: abs(step - value))
            raise TraitError(
                f"SnapshotWidget.step: expected a step of which there is a snapshot, got {value}. "
                f"The nearest one is {nearest}."
            )
        return value

    @validate("head", "query")
    def _exists(self, proposal: dict) -> int:
        axis = ("head", "query").index(proposal["trait"].name)
        return maps.in_range(proposal, self._maps.shape[axis + 1], ("heads", "queries")[axis])

    def weights(self) -> torch.Tensor:
        """(queries, keys) float64: the weights of the chosen head at the chosen step, as shown."""
        return self._maps[self._moments.index(self.step), self.head].clone()

    def loss(self) -> float | None:
        """The loss at the chosen step, if losses were given."""
        return self._losses[self._moments.index(self.step)] if self._losses else None

    def shown(self) -> dict[str, Any]:
        """Which step, head and query."""
        return {"step": self.step, "head": self.head, "query": self.query}

    def __repr__(self) -> str:
        traits = ", ".join(f"{name}={value!r}" for name, value in self.shown().items())
        n = len(self._moments)
        return f"SnapshotWidget({n} snapshot{'s' * (n != 1)}, {traits})"

    def describe(self) -> str:
        """The alt text of the picture."""
        _, heads, n_queries, n_keys = self._maps.shape
        first, last = self._moments[0], self._moments[-1]
        of = f"head {self.head} of {heads}" if heads > 1 else "one head"
        loss = ""
        if self._losses:
            start, end = self._losses[0], self._losses[-1]
            loss = f" The loss goes from {start:.3g} to {end:.3g}."
        listed = []
        for step in dict.fromkeys((first, self.step, last)):
            i = self._moments.index(step)
            hidden = None if self._blocked is None else self._blocked[i, self.head, self.query]
            row = self._maps[i, self.head, self.query]
            tokens = (self._query_tokens, self.query, self._key_tokens)
            listed.append(f"At step {step}, {maps.row_read(*tokens, row, hidden)}.")
        return (
            f"Attention map of {of}, {n_queries} queries × {n_keys} keys, at "
            f"{len(self._moments)} snapshots of a training run, steps {first} to {last}.{loss}\n"
            + " ".join(listed)
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        _, heads, n_queries, n_keys = self._maps.shape
        found = []
        for width in WIDTHS:
            inner = max(width + 0.5 * (width == 42), 18) - 2.125  # two columns from 42.1 rem on
            wide = inner >= 40
            column = (inner - 1.5) / 2 if wide else inner
            parts = [LOSS] if self._losses else []
            parts += [CONTROL] if n_queries > 1 else []
            if heads > 1:
                shape = (n_queries, n_keys)
                parts.append(maps.thumbnails_height(column, ["heads"], heads, shape, 2.25))
            left = sum(parts) + 0.75 * max(0, len(parts) - 1)
            right = RIGHT + maps.map_height(column, self._query_tokens, self._key_tokens)
            right += LEGEND if self._masks and column < 22 else 0
            found.append(REST + (max(left, right) if wide else left + 1.25 + right))
        return tuple(found)

    def picture(self) -> "Figure":
        """The map at up to four snapshots, the chosen one among them."""
        n = len(self._moments)
        chosen = self._moments.index(self.step)
        places = {round(i * (n - 1) / max(1, PANELS - 1)) for i in range(PANELS)}
        if chosen not in places:
            places.discard(min(places - {0, n - 1}, key=lambda place: abs(place - chosen)))
            places.add(chosen)
        n_queries, n_keys = self._maps.shape[-2:]
        tall = min(4.5, max(2.0, 1.1 + 2.0 * n_queries / n_keys))
        figure = drawing.new_figure(1.0 + 2.1 * len(places), tall)
        row = figure.subplots(1, len(places), squeeze=False)[0]
        for axes, place in zip(row, sorted(places), strict=True):
            blocked = None if self._blocked is None else self._blocked[place, self.head]
            tokens = (self._query_tokens, self._key_tokens)
            map_picture.draw_map(axes, self._maps[place, self.head], blocked, *tokens)
            if axes is not row[0]:
                axes.set_yticks([])
            title = f"step {self._moments[place]}"
            title += f"\nloss {self._losses[place]:.3g}" if self._losses else ""
            colour = drawing.TOP if place == chosen else drawing.INK
            weight = "bold" if place == chosen else "normal"
            axes.set_title(title, loc="left", fontsize=10, color=colour, fontweight=weight)
        return figure


def _rising(steps: Any, number: int) -> list[int]:
    name, expected = "SnapshotWidget.steps", f"{number} rising whole numbers, one for each snapshot"
    items = steps.tolist() if hasattr(steps, "tolist") else steps
    if isinstance(items, str) or not isinstance(items, Sequence):
        refuse(TypeError, name, expected, steps, "Pass the training steps as a list.")
    for item in items:
        if not isinstance(item, numbers.Integral) or isinstance(item, bool) or item < 0:
            refuse(TypeError, name, expected, item, "Convert each step with int(...).")
    if len(items) != number:
        refuse(ValueError, name, expected, f"{len(items)} of them", "The first axis is the steps.")
    if any(a >= b for a, b in itertools.pairwise(items)):
        refuse(ValueError, name, expected, items, "Sort the snapshots, and keep each step once.")
    return [int(item) for item in items]


def _finite(losses: Any, steps: list[int]) -> list[float]:
    name, expected = "SnapshotWidget.losses", f"{len(steps)} finite numbers, one for each snapshot"
    items = losses.tolist() if hasattr(losses, "tolist") else losses
    if isinstance(items, str) or not isinstance(items, Sequence):
        refuse(TypeError, name, expected, losses, "Pass the losses as a list.")
    if len(items) != len(steps):
        cure = "Keep the loss at the snapshots only: [losses[s] for s in steps]."
        refuse(ValueError, name, expected, f"{len(items)} of them", cure)
    for item in items:
        if not isinstance(item, numbers.Real) or not math.isfinite(item) or item < 0:
            refuse(ValueError, name, expected, item, "A loss here is 0 or more.")
    return [float(item) for item in items]
