"""What kinds of heads a model has, and what the thresholds have to do with it."""

from typing import TYPE_CHECKING, Any

import torch
import traitlets
from traitlets import TraitError, observe, validate

from attnkit import patterns
from attnkit.widgets import maps, thresholds_rule
from attnkit.widgets.base import WIDTHS, CourseWidget
from attnkit.widgets.thresholds_data import (
    MOST_HEADS,
    MOST_LAYERS,
    Drawn,
    Limits,
    packed_table,
    read_maps,
    read_tables,
    span,
)
from attnkit.widgets.thresholds_picture import height, thresholds_picture
from attnkit.widgets.thresholds_rule import LOOKS, MEASURES, RULES, SimpleThresholds
from attnkit.widgets.traits import Choice, WholeNumber

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ThresholdWidget(CourseWidget, files="thresholds"):
    """Layers × heads, each with its class as a letter and a colour; sliders move the thresholds.

    >>> from attnkit.patterns import describe_heads
    >>> weights = torch.softmax(torch.arange(64.0).sin().reshape(2, 2, 4, 4), -1)
    >>> widget = ThresholdWidget(describe_heads(weights), rule="simple")
    >>> widget
    ThresholdWidget(2 layers × 2 heads, rule='simple', layer=0, head=0)
    >>> widget.kinds()[1, 0]
    'local'

    The rule is that of `patterns.classify`, or the simple rule of many tutorials, which knows no
    baseline (`thresholds_rule.simple_kind`). A head whose class the last move of a slider changed
    is marked. A head that is chosen shows its measures, their baselines (of the uniform head) and
    lifts, and why it has its class.

    Args:
        tables: what `patterns.describe_heads` gives, or a dict of name → table for up to 8
            models, each of at most 12 × 12 heads.
        maps: weights (layers, heads, queries, keys) of one example, drawn for the head that is
            chosen; a dict of name → weights where there are several models. Sizes and rounding
            are those of `HeadBrowser`.
        tokens, key_tokens, mask: those of the example, as in `HeadBrowser`; a dict of name → each
            where the models differ in them.

    Traits:
        rule: "corrected" or "simple"
        thresholds: patterns.Thresholds of the corrected rule; those of the (first) table at first
        simple_thresholds: thresholds_rule.SimpleThresholds
        model: the name of the model that is shown
        layer, head: int, which head is chosen
        query: int, the row of its map that is read aloud; the last one at first

    Raises:
        TypeError, ValueError: no tables, tables in which a head is missing, maps that do not
            belong to them, or what `HeadBrowser` refuses.
    """

    rule = Choice("corrected", tuple(RULES)).tag(sync=True)
    thresholds = Limits(patterns.Thresholds)
    simple_thresholds = Limits(SimpleThresholds)
    model = traitlets.Unicode().tag(sync=True)
    layer = WholeNumber(0, 0, MOST_LAYERS - 1).tag(sync=True)
    head = WholeNumber(0, 0, MOST_HEADS - 1).tag(sync=True)
    query = WholeNumber(0, 0, maps.LONGEST - 1).tag(sync=True)

    # Pairs where the order counts: a saved notebook sorts the keys of a dict.
    _tables = traitlets.List().tag(sync=True)
    _looks = traitlets.Dict().tag(sync=True)
    _rules = traitlets.Dict().tag(sync=True)
    _measures = traitlets.List().tag(sync=True)
    _limits = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        tables: Any,
        *,
        maps: Any = None,
        tokens: Any = None,
        key_tokens: Any = None,
        mask: Any = None,
        **traits: Any,
    ) -> None:
        self._rows = read_tables(tables)
        packed = {name: packed_table(rows) for name, rows in self._rows.items()}
        self._maps = read_maps(maps, tokens, key_tokens, mask, self._rows, packed)
        first = tables if isinstance(tables, patterns.HeadTable) else next(iter(tables.values()))
        traits = {"model": next(iter(self._rows)), "thresholds": first.thresholds, **traits}
        drawn = self._maps.get(traits["model"])
        traits.setdefault("query", len(drawn.queries) - 1 if drawn else 0)
        kinds = {"corrected": patterns.Thresholds, "simple": SimpleThresholds}
        super().__init__(
            _tables=[
                [name, one | {"map": self._maps[name].packed if name in self._maps else None}]
                for name, one in packed.items()
            ],
            _looks={kind: list(look) for kind, look in LOOKS.items()},
            _rules={rule: list(names) for rule, names in RULES.items()},
            _measures=[list(pair) for pair in dict(MEASURES).items()],
            _limits={
                rule: [
                    [field, kind()._asdict()[field], *span(kind, field)] for field in kind._fields
                ]
                for rule, kind in kinds.items()
            },
            **traits,
        )

    @validate("model")
    def _known(self, proposal: dict) -> str:
        if proposal["value"] not in self._rows:
            raise TraitError(
                f"ThresholdWidget.model: expected one of {', '.join(map(repr, self._rows))}, got "
                f"{proposal['value']!r}. Those are the names of the tables."
            )
        return proposal["value"]

    @validate("layer", "head", "query")
    def _exists(self, proposal: dict) -> int:
        name, rows = proposal["trait"].name, self._rows.get(self.model)
        if rows is None:  # refused as a model, but not yet
            return proposal["value"]
        if name == "query":
            drawn = self._drawn()
            return maps.in_range(proposal, len(drawn.queries) if drawn else 1, "queries")
        return maps.in_range(proposal, len(rows if name == "layer" else rows[0]), f"{name}s")

    @observe("model")
    def _keep_a_head(self, change: dict) -> None:
        rows, drawn = self._rows[self.model], self._drawn()
        self.layer = min(self.layer, len(rows) - 1)
        self.head = min(self.head, len(rows[0]) - 1)
        self.query = min(self.query, len(drawn.queries) - 1 if drawn else 0)

    def _drawn(self) -> Drawn | None:
        return self._maps.get(self.model)

    def limits(self) -> Any:
        """The thresholds of the rule that is chosen."""
        return self.simple_thresholds if self.rule == "simple" else self.thresholds

    def kinds(self) -> dict[tuple[int, int], str]:
        """(layer, head) → class, of the model that is chosen, by the rule that is chosen."""
        return {
            (i, j): thresholds_rule.kind_of(row, self.rule, self.limits())
            for i, layer in enumerate(self._rows[self.model])
            for j, row in enumerate(layer)
        }

    def counts(self) -> dict[str, int]:
        """Class → number of heads, in the order of the rule, those without a head included."""
        kinds = list(self.kinds().values())
        return {kind: kinds.count(kind) for kind in RULES[self.rule]}

    def row(self) -> Any:
        """The `patterns.HeadRow` of the head that is chosen; its `kind` is that of the table."""
        return self._rows[self.model][self.layer][self.head]

    def why(self) -> str:
        """Why the head that is chosen has its class."""
        return thresholds_rule.why(self.row(), self.rule, self.limits())

    def weights(self) -> torch.Tensor:
        """(queries, keys) float64: the weights of the chosen head, as shown.

        Raises:
            ValueError: the model came without maps.
        """
        drawn = self._drawn()
        if drawn is None:
            raise ValueError(
                f"ThresholdWidget: expected maps of the model {self.model!r}, got none. Pass "
                "maps=weights, (layers, heads, queries, keys) of one example."
            )
        return drawn.weights[self.layer, self.head].clone()

    def shown(self) -> dict[str, Any]:
        """Rule, model (of several) and head; thresholds that are not the defaults."""
        held: dict[str, Any] = {"rule": self.rule}
        held |= {"model": self.model} if len(self._rows) > 1 else {}
        held |= {"layer": self.layer, "head": self.head}
        for name in ("thresholds", "simple_thresholds"):
            value = getattr(self, name)
            held |= {name: value} if value != type(value)() else {}
        return held

    def __repr__(self) -> str:
        sizes = " and ".join(
            f"{len(rows)} layer{'s' * (len(rows) > 1)} × {len(rows[0])} "
            f"head{'s' * (len(rows[0]) > 1)}"
            for rows in self._rows.values()
        )
        traits = ", ".join(f"{name}={value!r}" for name, value in self.shown().items())
        return f"ThresholdWidget({sizes}, {traits})"

    def describe(self) -> str:
        """The alt text of the picture."""
        rows = self._rows[self.model]
        of = f" of {self.model}" if len(self._rows) > 1 else ""
        counted = ", ".join(
            f"{count} {LOOKS[kind].name}" for kind, count in self.counts().items() if count
        )
        limits = ", ".join(f"{name} {value:g}" for name, value in self.limits()._asdict().items())
        chosen = LOOKS[self.kinds()[self.layer, self.head]].name
        drawn, row = self._drawn(), ""
        if drawn:
            hidden = None
            if drawn.blocked is not None:
                hidden = drawn.blocked[self.layer, self.head, self.query]
            weights = self.weights()[self.query]
            row = maps.row_read(drawn.queries, self.query, drawn.keys, weights, hidden)
            row = f" Its map: {row}."
        return (
            f"Classes of {len(rows)} × {len(rows[0])} heads{of} by the {self.rule} rule "
            f"({limits}): {counted}.\n"
            f"Layer {self.layer}, head {self.head}: {chosen}. {self.why()}{row}"
        )

    def heights(self) -> tuple[float, ...]:
        """Height in rem at each of `base.WIDTHS`."""
        return tuple(
            height(width, self._rows, self.model, self.rule, self._drawn()) for width in WIDTHS
        )

    def picture(self) -> "Figure":
        """The grid of classes, how many heads have each, and the map of the one that is chosen."""
        return thresholds_picture(
            self.kinds(), self.counts(), (self.layer, self.head), self._drawn(), self.query
        )
