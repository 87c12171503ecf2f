"""All heads of a model as small maps, one of them large."""

from typing import TYPE_CHECKING, Any

import torch
import traitlets
from traitlets import validate

from attnkit import weights as reading
from attnkit.widgets import drawing, map_picture, maps, measures, packing
from attnkit.widgets.base import WIDTHS, CourseWidget
from attnkit.widgets.traits import Choice, Number, WholeNumber

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANY = 9999
# Rem of head_browser.css: caption and scales; the two sliders; title, legend and reading; the rest.
CHOOSER, CONTROL, CONTROLS, RIGHT, REST = 4.875, 4.75, 4.5, 9.75, 8.0


class HeadBrowser(CourseWidget, files="head_browser"):
    """Layers × heads of thumbnails; one map large, its rows read aloud.

    >>> weights = torch.softmax(torch.arange(24.0).sin().reshape(2, 3, 2, 2), -1)
    >>> browser = HeadBrowser(weights, ["我", "爱"], layer=1)
    >>> browser
    HeadBrowser(2 layers × 3 heads, 2 queries × 2 keys, layer=1, head=0, query=1)
    >>> browser.weights().shape
    torch.Size([2, 2])

    Args:
        weights: (layers, heads, queries, keys), or what `attnkit.weights.read_weights` makes
            that of: a list of one tensor per layer, one layer, one head. At most 128 queries and
            128 keys, and 589,824 cells in all (12 × 12 heads of 64 × 64). The page carries one
            base64 digit for each; no weight is off by more than 0.005.
        query_tokens, key_tokens: labels of rows and columns, drawn literally; those of the keys
            are those of the queries where there are as many. None numbers them.
        mask: boolean, True = may attend, broadcastable to the weights; what it blocks is hatched.
        names: a name for each layer, "layer 0" and so on by default.

    Traits:
        layer, head: int, which map is large
        query: int, the row that is read aloud; the last one at first
        scale: "shared", all maps from 0 to 1, or "head", each up to its own largest weight (of the
            queries that have more than one key to choose from)
        mass: float from 0.01 to 1: each row shows its largest weights up to this sum, the rest
            faded

    Raises:
        TypeError, ValueError: what `read_weights` refuses, tokens that do not fit, or too many.
    """

    layer = WholeNumber(0, 0, MANY).tag(sync=True)
    head = WholeNumber(0, 0, MANY).tag(sync=True)
    query = WholeNumber(0, 0, maps.LONGEST - 1).tag(sync=True)
    scale = Choice("shared", ("shared", "head")).tag(sync=True)
    mass = Number(1.0, lowest=0.01, highest=1.0).tag(sync=True)

    _shape = traitlets.List(traitlets.Int()).tag(sync=True)
    _codes = traitlets.Unicode().tag(sync=True)
    _masks = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _mask_of = traitlets.List(traitlets.Int()).tag(sync=True)
    _query_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _key_tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    _names = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(
        self,
        weights: Any,
        query_tokens: Any = None,
        key_tokens: Any = None,
        *,
        mask: Any = None,
        names: Any = None,
        **traits: Any,
    ) -> None:
        axes = ("layers", "heads", "queries", "keys")
        found, seen = maps.read("HeadBrowser", weights, axes, mask)
        queries, keys = maps.read_axes("HeadBrowser", query_tokens, key_tokens, found.shape)
        names = [f"layer {i}" for i in range(len(found))] if names is None else names
        names = reading.read_tokens(names, len(found), name="HeadBrowser: names")
        codes = packing.encode(found)
        self._maps = packing.decode(codes)
        self._blocked = None if seen is None else ~seen
        different, mask_of = packing.masks(seen)
        traits.setdefault("query", len(queries) - 1)
        super().__init__(
            _shape=list(found.shape),
            _codes=packing.digits(codes),
            _masks=different,
            _mask_of=mask_of,
            _query_tokens=queries,
            _key_tokens=keys,
            _names=names,
            **traits,
        )

    @validate("layer", "head", "query")
    def _exists(self, proposal: dict) -> int:
        axis = ("layer", "head", "query").index(proposal["trait"].name)
        things = ("layers", "heads", "queries")[axis]
        return maps.in_range(proposal, self._maps.shape[axis], things)

    def weights(self) -> torch.Tensor:
        """(queries, keys) float64: the weights of the chosen head, as shown."""
        return self._maps[self.layer, self.head].clone()

    def kept(self) -> torch.Tensor:
        """(queries, keys) bool: the largest weights of each row that hold `mass` of it."""
        weights = self.weights()
        return weights > 0 if self.mass == 1 else maps.kept(weights, self.mass)

    def _top(self) -> float:
        blocked = None if self._blocked is None else self._blocked[self.layer, self.head]
        return maps.largest(self.weights(), blocked)

    def shown(self) -> dict[str, Any]:
        """Which head, which query; scale and mass where they differ from the start."""
        held = {name: getattr(self, name) for name in ("layer", "head", "query")}
        if self.scale != "shared":
            held["scale"] = self.scale
        return held if self.mass == 1 else {**held, "mass": self.mass}

    def __repr__(self) -> str:
        layers, heads, n_queries, n_keys = self._maps.shape
        traits = ", ".join(f"{name}={value!r}" for name, value in self.shown().items())
        sizes = f"{layers} layer{'s' * (layers != 1)} × {heads} head{'s' * (heads != 1)}"
        sizes += f", {n_queries} quer{'y' if n_queries == 1 else 'ies'}"
        sizes += f" × {n_keys} key{'s' * (n_keys != 1)}"
        return f"HeadBrowser({sizes}, {traits})"

    def describe(self) -> str:
        """The alt text of the picture."""
        layers, heads, n_queries, n_keys = self._maps.shape
        weights = self.weights()
        largest = measures.whole_percent(self._top())
        scale = "all maps on one scale, 0 to 100 %"
        if self.scale == "head":
            scale = f"each map on its own scale, this one from 0 to {largest}"
        blocked, hidden = "", None
        if self._blocked is not None:
            share = self._blocked[self.layer, self.head].double().mean().item()
            hidden = self._blocked[self.layer, self.head, self.query]
            blocked = f" {measures.whole_percent(share)} of its cells are blocked and hatched."
        tokens = (self._query_tokens, self.query, self._key_tokens)
        row = maps.row_read(*tokens, weights[self.query], hidden)
        faded = ""
        if self.mass < 1:
            faded = (
                f" Shown are the largest weights up to {self.mass:.0%} of each row: "
                f"{int(self.kept()[self.query].sum())} keys of this query."
            )
        return (
            f"Attention maps of {layers} × {heads} heads ({', '.join(self._names)}), {n_queries} "
            f"queries × {n_keys} keys; {scale}.\n"
            f"Large: {self._names[self.layer]}, head {self.head}, largest weight {largest}."
            f"{blocked} {row[0].upper()}{row[1:]}.{faded}"
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        layers, heads, n_queries, n_keys = self._maps.shape
        several = layers * heads > 1
        shape = (n_queries, n_keys)
        found = []
        for width in WIDTHS:
            inner = max(width + 0.5, 18) - 2.125  # within the step; two columns from 42.1 on
            wide = inner >= 40
            share = 1.25 / 2.25 if heads > 8 else 0.5
            left = share * (inner - 1.5) if wide else inner
            right = (1 - share) * (inner - 1.5) if wide else inner
            table = CONTROLS + (CONTROL if n_queries > 1 else 0.0)
            if several:
                table += CHOOSER + maps.thumbnails_height(left, self._names, heads, shape, 1.5)
            large = RIGHT + maps.map_height(right, self._query_tokens, self._key_tokens)
            bars = min(6, n_keys)
            bars = REST + 1.625 * (min(3, bars) if wide else bars)
            found.append(bars + (max(table, large) if wide else table + 1.25 + large))
        return tuple(found)

    def picture(self) -> "Figure":
        """The thumbnails, the chosen one framed, and its map."""
        layers, heads, _, n_keys = self._maps.shape
        own = self.scale == "head"
        figure = drawing.new_figure(8.6, 4.4 if layers * heads > 1 else 4.0)
        weights = self.weights()
        top = self._top() if own else 1.0
        blocked = None if self._blocked is None else self._blocked[self.layer, self.head]
        if layers * heads == 1:
            large = figure.subplots()
        else:
            small, large = figure.subplots(1, 2, width_ratios=[1.1, 1])
            chosen = (self.layer, self.head)
            map_picture.draw_thumbnails(small, self._maps, self._blocked, self._names, chosen, own)
        map_picture.draw_map(large, weights, blocked, self._query_tokens, self._key_tokens, top)
        title = f"{drawing.drawable(self._names)[self.layer]}, head {self.head}"
        title += f" (own scale, 0 to {measures.whole_percent(top)})" if own else " (0 to 100 %)"
        drawing.headline(large, title)
        map_picture.frame_row(large, self.query, n_keys)
        return figure
