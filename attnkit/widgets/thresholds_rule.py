"""The two rules that name a head, their thresholds, and the reason in words."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple

from attnkit import patterns
from attnkit.patterns.kinds import PLACES


class Look(NamedTuple):
    """How a class is told apart: by its letter and by its colour, the same in light and dark."""

    mark: str
    name: str
    ground: str
    ink: str


_BLACK, _WHITE = "#000000", "#ffffff"
LOOKS = {
    "previous": Look("P", "previous token", "#0072b2", _WHITE),
    "same": Look("=", "same token", "#332288", _WHITE),
    "next": Look("N", "next token", "#7cc7f0", _BLACK),
    "induction": Look("I", "induction", "#d687b4", _BLACK),
    "sink": Look("S", "first-key sink", "#dd6a10", _BLACK),
    "local": Look("L", "local", "#16a37c", _BLACK),
    "focused": Look("F", "focused", "#f0e442", _BLACK),
    "broad": Look("B", "broad", "#e3b778", _BLACK),
    "unclassified": Look("?", "unclassified", "#e3e7eb", _BLACK),
    "self": Look("=", "self", "#332288", _WHITE),
    "diffuse": Look("D", "diffuse", "#e3b778", _BLACK),
    "mixed": Look("M", "mixed", "#e3e7eb", _BLACK),
}
#: The classes of each rule, in the order in which they are listed.
RULES = {
    "corrected": patterns.KINDS,
    "simple": ("self", "local", "focused", "diffuse", "mixed"),
}
#: The measures of a head, as the page lists them.
MEASURES = {
    "previous": "previous token",
    "same": "same token",
    "next": "next token",
    "induction": "induction",
    "sink": "first key",
    "local_focus": "within 3",
    "concentration": "largest weight",
    "normalized_entropy": "entropy ÷ ln n",
    "entropy": "entropy, nats",
    "effective_keys": "effective keys",
    "mean_distance": "mean distance",
}


class SimpleThresholds(NamedTuple):
    """Thresholds of the simple rule: three weights, and two entropies in nats."""

    diagonal: float = 0.7
    local: float = 0.8
    focused: float = 0.5
    entropy: float = 1.0
    diffuse: float = 2.0


def simple_kind(row: Any, thresholds: SimpleThresholds | None = None) -> str:
    """The class of a head by the simple rule of many tutorials, from `patterns.HeadRow`.

    Weight on the same token > 0.7: "self"; else weight within 3 tokens > 0.8: "local"; else
    largest weight > 0.5 and entropy < 1 nat: "focused"; else entropy > 2 nats: "diffuse"; else
    "mixed". It knows neither the number of keys nor a baseline: with 4 tokens every head has all
    its weight within 3, and ln 4 = 1.39 nats is the largest entropy there is.
    """
    limits = thresholds or SimpleThresholds()
    if row.same.mean > limits.diagonal:
        return "self"
    if row.local_focus.mean > limits.local:
        return "local"
    if row.concentration.mean > limits.focused and row.entropy.mean < limits.entropy:
        return "focused"
    return "diffuse" if row.entropy.mean > limits.diffuse else "mixed"


def kind_of(row: Any, rule: str, thresholds: Any) -> str:
    """The class of a head by one of the two rules, "corrected" or "simple"."""
    return (simple_kind if rule == "simple" else patterns.classify)(row, thresholds)


def why(row: Any, rule: str, thresholds: Any) -> str:
    """Why a head has its class, in a sentence; `why` in thresholds_rule.js writes the same."""
    kind, t = kind_of(row, rule, thresholds), thresholds
    if rule == "simple":
        entropy = row.entropy.mean
        return {
            "self": f"Weight on the same token: {above(row.same.mean, t.diagonal)}.",
            "local": f"Weight within 3 tokens: {above(row.local_focus.mean, t.local)}.",
            "focused": f"Largest weight: {above(row.concentration.mean, t.focused)}; entropy: "
            f"{fixed(entropy, t.entropy)} nats, below {exact(t.entropy)}.",
            "diffuse": f"Entropy: {above(entropy, t.diffuse, ' nats')}.",
            "mixed": "None of the four conditions holds.",
        }[kind]
    if row.queries < t.queries:
        return f"Only {row.queries} query rows: {t.queries} are asked for."
    if kind in PLACES:
        several = any(
            getattr(row, place).lift >= _limit(place, t) for place in PLACES if place != kind
        )
        best = ", the largest of those that are high enough" if several else ""
        lift = reaches(getattr(row, kind).lift, _limit(kind, t))
        return f"Lift of {MEASURES[kind]}: {lift}{best}."
    return {
        "local": f"No position. Lift of the weight within 3: "
        f"{reaches(row.local_focus.lift, t.local)}.",
        "focused": "No position, not local. Lift of the largest weight: "
        f"{reaches(row.concentration.lift, t.focused)}.",
        "broad": f"Nothing else. Entropy ÷ ln n: {reaches(row.normalized_entropy.mean, t.broad)}.",
        "unclassified": "No measure reaches its threshold.",
    }[kind]


def _limit(place: str, thresholds: Any) -> float:
    return thresholds.sink if place == "sink" else thresholds.diagonal


def reaches(value: float, limit: float) -> str:
    """ "0.62, at least 0.50" """
    return f"{fixed(value, limit)}, at least {exact(limit)}"


def above(value: float, limit: float, unit: str = "") -> str:
    """ "0.81, above 0.70" """
    return f"{fixed(value, limit)}{unit}, above {exact(limit)}"


def exact(limit: float) -> str:
    """A threshold as it is set, in two decimals or more."""
    return fixed(limit, limit)


def fixed(value: float, limit: float | None = None) -> str:
    """A number in two decimals; in more of them where two would put it beyond `limit`.

    >>> fixed(0.625), fixed(0.4996, 0.5), fixed(-0.0001)
    ('0.63', '0.4996', '0.00')
    """
    if value != value:
        return "–"
    text = ""
    for digits in range(2, 8):
        rounded = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        text = f"{rounded + 0:.{digits}f}".replace("-", "−")
        shown = float(rounded)
        same = limit is None or ((shown >= limit, shown > limit) == (value >= limit, value > limit))
        if same:
            break
    return text
