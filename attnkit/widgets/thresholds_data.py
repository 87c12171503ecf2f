"""What ThresholdWidget is given: head tables, one example's maps of each model, thresholds."""

import gzip
import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
import traitlets

from attnkit import patterns
from attnkit.widgets import maps, packing, pairs, traits
from attnkit.widgets.thresholds_rule import MEASURES, SimpleThresholds

NAME = "ThresholdWidget"
MOST_LAYERS = MOST_HEADS = 12
MOST_MODELS = 8
MOST_ROWS = 1_000_000
MOST_BYTES = 295_000  # of a page's 300 kB
LARGEST_ENTROPY = 8.0  # nats: ln 2981


class Drawn(NamedTuple):
    """The maps of one model on one example, as the page shows them."""

    weights: torch.Tensor  # (layers, heads, queries, keys)
    blocked: torch.Tensor | None
    queries: list[str]
    keys: list[str]
    packed: dict[str, Any]


def read_tables(tables: Any) -> dict[str, list[list[Any]]]:
    """Name of the model → its rows, [layer][head]."""
    expected = f"a patterns.HeadTable, or a dict of 1 to {MOST_MODELS} names with one each"
    named = tables if isinstance(tables, Mapping) else {"model": tables}
    if not 1 <= len(named) <= MOST_MODELS:
        cure = "Show fewer models."
        pairs.refuse(ValueError, f"{NAME}: tables", expected, f"{len(named)} of them", cure)
    found = {}
    for name, table in named.items():
        if not isinstance(name, str) or not name.strip() or len(name) > 40:
            cure = "The names are shown to readers."
            pairs.refuse(ValueError, f"{NAME}: tables", "names of 1 to 40 characters", name, cure)
        if not isinstance(table, patterns.HeadTable):
            cure = "patterns.describe_heads(weights, mask) makes one."
            pairs.refuse(TypeError, f"{NAME}: tables", expected, table, cure)
        found[name] = _by_place(name, table)
    return found


def _by_place(name: str, table: patterns.HeadTable) -> list[list[patterns.HeadRow]]:
    layers, heads = table.shape
    if layers > MOST_LAYERS or heads > MOST_HEADS:
        expected = f"at most {MOST_LAYERS} layers of {MOST_HEADS} heads"
        cure = f"Describe some of the layers: describe_heads(weights[:{MOST_LAYERS}])."
        got = f"{layers} × {heads}"
        pairs.refuse(ValueError, f"{NAME}: the table of {name!r}", expected, got, cure)
    return [[table[layer, head] for head in range(heads)] for layer in range(layers)]


def read_maps(
    given: Any,
    tokens: Any,
    key_tokens: Any,
    mask: Any,
    tables: Mapping[str, list[list[Any]]],
    packed: Any,
) -> dict[str, Drawn]:
    """Name of the model → the maps of its heads on one example, for the models that have some.

    `packed`: what travels beside them, which leaves them the rest of what a page can carry.
    """
    if given is None:
        return {}
    given = _by_model("maps", given, tables, one=True)
    tokens, key_tokens, mask = (
        _by_model(name, value, tables)
        for name, value in (("tokens", tokens), ("key_tokens", key_tokens), ("mask", mask))
    )
    axes = ("layers", "heads", "queries", "keys")
    read = {}
    for name, weights in given.items():
        owner = f"{NAME}: maps of {name!r}"
        found, seen = maps.read(owner, weights, axes, mask.get(name))
        heads = (len(tables[name]), len(tables[name][0]))
        if tuple(found.shape[:2]) != heads:
            expected = f"{heads[0]} layers of {heads[1]} heads, as in the table"
            got = " × ".join(map(str, found.shape[:2]))
            cure = "Pass (layers, heads, queries, keys) of one example of the same model."
            pairs.refuse(ValueError, owner, expected, got, cure)
        labels = maps.read_axes(owner, tokens.get(name), key_tokens.get(name), found.shape)
        read[name] = (found, seen, labels)
    cells = sum(found.numel() for found, _, _ in read.values())
    taken = _size(packed)
    room = max(0, packing.BUDGET - taken)
    drawn = {
        name: _drawn(weights, seen, labels, room * weights.numel() // cells)
        for name, (weights, seen, labels) in read.items()
    }
    size = taken + _size([one.packed for one in drawn.values()])
    if size > MOST_BYTES:
        expected = f"at most {MOST_BYTES // 1000} kB in all models together, packed"
        cure = "Show a shorter example, maps of fewer models, or fewer layers."
        pairs.refuse(ValueError, f"{NAME}: maps", expected, f"{size // 1000} kB", cure)
    return drawn


def _size(state: Any) -> int:
    return len(gzip.compress(json.dumps(state).encode(), 6))


def _drawn(weights: torch.Tensor, seen: Any, tokens: list[list[str]], budget: int) -> Drawn:
    codes = packing.encode(weights, budget)
    queries, keys = tokens
    different, mask_of = packing.masks(seen)
    packed = {
        "_shape": list(weights.shape),
        "_codes": packing.digits(codes),
        "_masks": different,
        "_mask_of": mask_of,
        "_query_tokens": queries,
        "_key_tokens": keys,
    }
    return Drawn(packing.decode(codes), None if seen is None else ~seen, queries, keys, packed)


def _by_model(what: str, value: Any, tables: Mapping[str, Any], *, one: bool = False) -> dict:
    """A dict by model; what is given without one is that of all models (`one`: of the only one)."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        if one and len(tables) > 1:
            expected = f"a dict with one entry for each model: {', '.join(tables)}"
            pairs.refuse(TypeError, f"{NAME}: {what}", expected, value, "A model may be left out.")
        return dict.fromkeys(tables, value)
    if unknown := sorted(set(value) - set(tables)):
        expected = f"the names of the tables, {', '.join(tables)}"
        pairs.refuse(ValueError, f"{NAME}: {what}", expected, unknown[0], "Name them alike.")
    return {name: value[name] for name in tables if name in value}


def packed_table(rows: list[list[Any]]) -> dict[str, Any]:
    """The numbers of a table for the page: of each measure the means, spreads and baselines.

    What decides travels in full, so that the page and Python never differ; a spread in four
    digits. What is undefined travels as None.
    """
    flat = [row for layer in rows for row in layer]

    def column(values: list[float]) -> list[float | None]:
        plain = [value if math.isfinite(value) else None for value in values]
        return plain[:1] if len(set(plain)) == 1 else plain

    return {
        "layers": len(rows),
        "heads": len(rows[0]),
        "inputs": column([row.inputs for row in flat]),
        "queries": column([row.queries for row in flat]),
        "measures": {
            name: [
                column([getattr(row, name).mean for row in flat]),
                column([float(f"{getattr(row, name).sd:.4g}") for row in flat]),
                column([getattr(row, name).baseline for row in flat]),
            ]
            for name in MEASURES
        },
    }


class Limits(traitlets.TraitType):
    """A NamedTuple of thresholds; a dict of all of its fields is taken as well."""

    def __init__(self, kind: type) -> None:
        super().__init__(default_value=kind())
        self.kind = kind
        self.tag(sync=True, to_json=lambda value, _: value._asdict(), from_json=self._from_page)

    def _from_page(self, value: Any, _: Any) -> Any:
        return self.kind(**value)

    def validate(self, obj: Any, value: Any) -> Any:
        fields = self.kind._fields
        expected = f"{self.kind.__name__}({', '.join(fields)})"
        if isinstance(value, Mapping) and set(value) == set(fields):
            value = self.kind(**value)
        if not isinstance(value, self.kind):
            cure = f"Change one of them with widget.{self.name}._replace({fields[0]}=…)."
            traits.refuse(self, obj, expected, value, cure)
        return self.kind(*(self._checked(obj, field, getattr(value, field)) for field in fields))

    def _checked(self, obj: Any, field: str, value: Any) -> float | int:
        whole, lowest, highest = span(self.kind, field)
        right = traits.is_number(value) and math.isfinite(value) and lowest <= value <= highest
        if not right or (whole and value != int(value)):
            kind = "a whole number" if whole else "a number"
            cure = f"It is the field {field!r}."
            traits.refuse(self, obj, f"{kind} from {lowest:g} to {highest:g}", value, cure)
        return int(value) if whole else float(value)


def span(kind: type, field: str) -> tuple[bool, float, float]:
    """Whether a threshold is a whole number, the least it may be, and the most."""
    if field in ("queries", "inputs"):
        return True, 1, MOST_ROWS
    if kind is SimpleThresholds and field in ("entropy", "diffuse"):
        return False, 0.0, LARGEST_ENTROPY
    return False, 0.0, 1.0
