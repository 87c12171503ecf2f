"""ThresholdWidget, its Python side: the two rules, traits, refusals, words, picture, weight."""

import doctest
import gzip
import importlib
import json
import math
import random

import pytest
import torch
from map_samples import causal, words
from pictured import check_picture
from threshold_samples import example, model_weights, table, threshold_widget, two_models
from traitlets import TraitError

from attnkit import patterns
from attnkit.patterns import HeadRow, Measure, Thresholds
from attnkit.widgets import SimpleThresholds, ThresholdWidget, packing, thresholds_rule
from attnkit.widgets.thresholds_rule import LOOKS, RULES


def plain_state(widget):
    """What a page carries of the widget, without its code."""
    code = ("_model", "_view_", "_esm", "_css")
    return {k: v for k, v in widget.get_state().items() if not k.startswith(code)}


# ------------------------------------------------------------------ the two rules


def test_the_corrected_rule_is_that_of_patterns():
    made = table()
    widget = ThresholdWidget(made)
    assert widget.kinds() == made.kinds and set(made.kinds.values()) == set(patterns.KINDS)
    rng = random.Random(1)
    for _ in range(40):
        shares = {name: rng.random() for name in ("diagonal", "sink", "local", "focused", "broad")}
        widget.thresholds = Thresholds(**shares, queries=rng.choice([1, 66, 67]))
        assert widget.kinds() == made.classify(widget.thresholds).kinds
    assert made.kinds == table().kinds  # the caller's table is as it was


def row(same=0.0, local=0.0, largest=0.0, entropy=1.5):
    other = Measure(0.9, 0.1, 0.1)
    found = {name: other for name in thresholds_rule.MEASURES}
    found["same"], found["local_focus"] = Measure(same, 0, 0.1), Measure(local, 0, 0.1)
    found["concentration"], found["entropy"] = Measure(largest, 0, 0.1), Measure(entropy, 0, 2.0)
    return HeadRow(layer=0, head=0, inputs=1, queries=1, kind="", **found)


@pytest.mark.parametrize(
    ("measured", "kind"),
    [
        ({"same": 0.71, "local": 0.9}, "self"),
        ({"same": 0.7, "local": 0.81}, "local"),
        ({"local": 0.8, "largest": 0.51, "entropy": 0.99}, "focused"),
        ({"largest": 0.51, "entropy": 1.0}, "mixed"),
        ({"largest": 0.5, "entropy": 0.99}, "mixed"),
        ({"largest": 0.9, "entropy": 2.01}, "diffuse"),
        ({"entropy": 2.0}, "mixed"),
        ({"same": math.nan, "local": math.nan, "entropy": math.nan}, "mixed"),
    ],
)
def test_the_simple_rule_knows_only_the_measures_themselves(measured, kind):
    assert thresholds_rule.simple_kind(row(**measured)) == kind
    assert thresholds_rule.why(row(**measured), "simple", SimpleThresholds())


def test_with_four_tokens_every_head_is_local_or_self_by_the_simple_rule():
    widget = ThresholdWidget(table(3, 4, 4), rule="simple")
    assert set(widget.kinds().values()) <= {"self", "local"}
    widget.simple_thresholds = SimpleThresholds(local=1.0)
    assert "diffuse" not in widget.kinds().values()  # ln 4 = 1.39 nats


@pytest.mark.parametrize(
    ("head", "thresholds", "says"),
    [
        ((0, 1), {}, r"Lift of same token: 0\.\d\d, at least 0\.50\."),
        ((0, 4), {"diagonal": 0.0}, "at least 0.30, the largest of those that are high enough"),
        ((1, 2), {}, r"No position\. Lift of the weight within 3: 0\.\d\d, at least 0\.50\."),
        ((2, 1), {}, r"No position, not local\. Lift of the largest weight: 0\.\d\d, at least"),
        ((0, 0), {}, r"Nothing else\. Entropy ÷ ln n: 0\.92, at least 0\.90\."),
        ((0, 0), {"broad": 0.95}, r"No measure reaches its threshold\."),
        ((0, 0), {"queries": 67}, r"Only 66 query rows: 67 are asked for\."),
    ],
)
def test_the_reason_names_the_measure_and_its_threshold(head, thresholds, says):
    import re

    layer, number = head
    limits = Thresholds(0.5, 0.3, 0.5, 0.5, 0.9, 30)._replace(**thresholds)
    widget = threshold_widget(layer=layer, head=number, thresholds=limits)
    assert re.search(says, widget.why()), widget.why()


def test_a_number_is_never_rounded_to_the_other_side_of_its_threshold():
    rng = random.Random(4)
    for _ in range(3000):
        limit = rng.choice([0.5, 0.9, 0.125, 1.0, round(rng.random(), 2)])
        value = rng.choice([limit, rng.random(), limit + 10 ** rng.uniform(-6, -1), limit - 1e-5])
        shown = float(thresholds_rule.fixed(value, limit).replace("−", "-"))
        assert (shown >= limit, shown > limit) == (value >= limit, value > limit)
        assert abs(shown - value) <= 0.005


# ------------------------------------------------------------------ how classes look


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_each_class_of_a_rule_has_a_letter_of_its_own_that_can_be_read():
    for kinds in RULES.values():
        assert len({LOOKS[kind].mark for kind in kinds}) == len(kinds)
        assert len({LOOKS[kind].ground for kind in kinds}) == len(kinds)
        assert len({LOOKS[kind].name for kind in kinds}) == len(kinds)
    for kind, look in LOOKS.items():
        high, low = sorted([luminance(look.ground), luminance(look.ink)], reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, kind
        assert len(look.mark) == 1


# ------------------------------------------------------------------ traits


def test_traits_are_read_set_and_observed():
    widget = two_models()
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), ["thresholds", "rule"])
    widget.thresholds = widget.thresholds._replace(sink=0.4)
    widget.rule = "simple"
    assert seen == [Thresholds(sink=0.4), "simple"]
    assert set(widget.kinds().values()) <= set(RULES["simple"])
    widget.layer, widget.head, widget.query = 3, 5, 10
    widget.model = "small"
    assert (widget.layer, widget.head, widget.query) == (1, 2, 0)
    assert repr(widget.row()) == repr(table(2, 3, 4, seed=1)[1, 2])
    assert len(widget.kinds()) == 6


def test_a_message_of_the_page_sets_the_thresholds():
    widget = ThresholdWidget(table())
    state = widget.get_state("thresholds")["thresholds"]
    assert state == Thresholds()._asdict()
    widget.set_state({"thresholds": state | {"sink": 1, "queries": 50}})
    assert widget.thresholds == Thresholds(sink=1.0, queries=50)
    assert type(widget.thresholds) is Thresholds and type(widget.thresholds.queries) is int


def test_the_thresholds_of_the_table_come_first():
    made = table(thresholds=Thresholds(broad=0.5))
    assert ThresholdWidget(made).thresholds == Thresholds(broad=0.5)
    assert ThresholdWidget({"a": made, "b": table()}).kinds() == made.kinds
    assert ThresholdWidget(made, thresholds=Thresholds()).kinds() == table().kinds


def test_counts_are_of_all_classes_of_the_rule():
    widget = ThresholdWidget(table())
    counts = widget.counts()
    assert list(counts) == list(patterns.KINDS) and sum(counts.values()) == 24
    widget.rule = "simple"
    assert list(widget.counts()) == ["self", "local", "focused", "diffuse", "mixed"]


def test_repr_is_stable_and_short():
    assert repr(ThresholdWidget(table(1, 1))) == (
        "ThresholdWidget(1 layer × 1 head, rule='corrected', layer=0, head=0)"
    )
    shown = repr(two_models(simple_thresholds=SimpleThresholds(local=0.75), head=2))
    assert shown == (
        "ThresholdWidget(4 layers × 6 heads and 2 layers × 3 heads, rule='corrected', "
        "model='<b>causal</b>', layer=0, head=2, simple_thresholds=SimpleThresholds("
        "diagonal=0.7, local=0.75, focused=0.5, entropy=1.0, diffuse=2.0))"
    )


# ------------------------------------------------------------------ what is refused, and how


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rule": "both"}, "one of 'corrected', 'simple', got 'both'"),
        ({"model": "other"}, "expected one of 'model', got 'other'"),
        ({"layer": 4}, "below 4, the number of layers, got 4"),
        ({"head": 6}, "below 6, the number of heads, got 6"),
        ({"query": 11}, "below 11, the number of queries, got 11"),
        ({"thresholds": 0.5}, r"expected Thresholds\(diagonal, .*_replace\(diagonal=…\)"),
        ({"thresholds": {"sink": 0.4}}, r"expected Thresholds\(diagonal"),
        ({"thresholds": SimpleThresholds()}, r"expected Thresholds\(diagonal"),
        ({"thresholds": Thresholds(sink=1.5)}, "from 0 to 1, got 1.5 .* field 'sink'"),
        ({"thresholds": Thresholds(broad=math.nan)}, "from 0 to 1, got nan .* field 'broad'"),
        ({"thresholds": Thresholds(queries=2.5)}, "a whole number from 1 .* field 'queries'"),
        ({"thresholds": Thresholds(local=True)}, "got True .* field 'local'"),
        ({"simple_thresholds": SimpleThresholds(entropy=-1)}, "from 0 to 8, got -1"),
        ({"sinks": 0.4}, "unknown argument 'sinks'. Use: head, layer, model, query, rule"),
    ],
)
def test_the_widget_refuses(options, says):
    with pytest.raises((TypeError, ValueError, TraitError), match=says):
        threshold_widget(**options)


@pytest.mark.parametrize(
    ("tables", "options", "says"),
    [
        (None, {}, "patterns.HeadTable, or a dict .* got None .*describe_heads"),
        ({"a": [1]}, {}, r"got \[1\]"),
        ({}, {}, "1 to 8 names with one each, got 0 of them"),
        ({"": 1}, {}, "names of 1 to 40 characters"),
        ({"a": 13}, {}, r"at most 12 layers of 12 heads, got 13 × 1\. .*weights\[:12\]"),
        ({"a": 2, "b": 1}, {"maps": torch.eye(3)[None, None]}, "one entry for each model: a, b"),
        ({"a": 2}, {"maps": {"b": None}}, "the names of the tables, a, got b"),
        ({"a": 2}, {"maps": {"a": None}}, "maps of 'a'.*got None"),
        ({"a": 2}, {"maps": torch.randn(2, 1, 3, 3)}, "maps of 'a'.*weights"),
        ({"a": 2}, {"maps": torch.eye(3).expand(3, 1, 3, 3)}, "2 layers of 1 heads, .* got 3 × 1"),
        ({"a": 2}, {"maps": torch.eye(3).expand(2, 1, 3, 3), "tokens": ["a"]}, "has 1 tokens"),
    ],
)
def test_tables_and_maps_are_refused(tables, options, says):
    if isinstance(tables, dict):
        tables = {k: table(v, 1, 4) if isinstance(v, int) else v for k, v in tables.items()}
    with pytest.raises((TypeError, ValueError), match=says):
        ThresholdWidget(tables, **options)


def test_a_model_without_maps_has_none_to_give():
    with pytest.raises(ValueError, match=r"expected maps of the model 'model', got none\. Pass"):
        ThresholdWidget(table()).weights()
    widget = two_models()
    shown = example(mask=causal(11))[0, 0]
    torch.testing.assert_close(widget.weights(), shown, rtol=0, atol=0.005)
    widget.weights().zero_()
    assert widget.weights().sum() > 0


# ------------------------------------------------------------------ what a page carries


def test_what_is_undefined_travels_as_json_has_it():
    state = plain_state(threshold_widget(2, 2, 4))  # too short for a period: no induction
    text = json.dumps(state, allow_nan=False)
    (_, packed), *_ = json.loads(text)["_tables"]
    assert packed["measures"]["induction"][0] == [None]


def test_models_and_measures_keep_their_order_in_a_saved_notebook():
    """A notebook is written with the keys of every dict sorted."""
    widget = ThresholdWidget({"trained": table(1, 1), "encoder": table(1, 1)})
    state = json.loads(json.dumps(plain_state(widget), sort_keys=True))
    assert [name for name, _ in state["_tables"]] == ["trained", "encoder"]
    assert [name for name, _ in state["_measures"]][:3] == ["previous", "same", "next"]


def noise(places):
    """12 × 12 heads of the noisiest weights."""
    generator = torch.Generator().manual_seed(0)
    return torch.softmax(1.5 * torch.randn(12, 12, places, places, generator=generator), -1)


def test_two_large_models_weigh_less_than_300_kilobytes_or_are_refused():
    tables = {name: table(12, 12, 11, seed=seed) for seed, name in enumerate("ab")}
    weights = noise(40)
    widget = ThresholdWidget(tables, maps=dict.fromkeys("ab", weights))
    assert len(gzip.compress(json.dumps(plain_state(widget)).encode(), 6)) < 300_000
    torch.testing.assert_close(widget.weights(), weights[0, 0].double(), rtol=0, atol=0.005)
    with pytest.raises(ValueError, match=r"at most 295 kB in all models .* got 3\d\d kB"):
        ThresholdWidget(tables, maps=dict.fromkeys("ab", noise(46)))


def test_a_smaller_budget_has_fewer_levels():
    noise = torch.softmax(torch.randn(64, 64, generator=torch.Generator().manual_seed(0)), -1)
    whole, half = packing.encode(noise), packing.encode(noise, 2_000)
    assert len(gzip.compress(packing.digits(half).encode())) < len(
        gzip.compress(packing.digits(whole).encode())
    )


# ------------------------------------------------------------------ words, pictures, heights


def test_descriptions_have_the_numbers():
    widget = threshold_widget(layer=1, head=5)
    text = widget.describe()
    counted = ", ".join(f"{n} {LOOKS[kind].name}" for kind, n in widget.counts().items() if n)
    limits = ", ".join(f"{name} {value:g}" for name, value in widget.thresholds._asdict().items())
    assert text.startswith(f"Classes of 4 × 6 heads by the corrected rule ({limits})")
    assert f": {counted}.\n" in text and "Layer 1, head 5: previous token. Lift of" in text
    assert "Its map: query é: " in text
    assert "of small by the simple rule" in two_models(model="small", rule="simple").describe()


@pytest.mark.parametrize(
    "make",
    [
        threshold_widget,
        two_models,
        lambda: two_models(model="small", rule="simple"),
        lambda: ThresholdWidget(table(1, 1, 4)),
        lambda: threshold_widget(12, 12, 31, layer=11, head=11),
        lambda: threshold_widget(1, 2, 11, mask=causal(11), query=3),
    ],
)
def test_pictures_are_drawn_and_leave_no_figure(make):
    check_picture(make())


def test_the_picture_shows_the_classes_and_their_counts():
    widget = threshold_widget()
    grid, counts, large = widget.picture().axes
    marks = {(round(t.get_position()[1]), round(t.get_position()[0])): t.get_text()
             for t in grid.texts}  # fmt: skip
    assert marks == {place: LOOKS[kind].mark for place, kind in widget.kinds().items()}
    assert [bar.get_width() for bar in counts.patches] == list(widget.counts().values())
    assert large.get_title("left") == "Layer 0, head 0 (0 to 100 %)"
    assert len(ThresholdWidget(table()).picture().axes) == 2


def test_what_was_given_is_left_alone():
    weights, tokens, mask = example(mask=causal(11)), words(11), causal(11)
    before = weights.clone()
    widget = ThresholdWidget(table(mask=mask), maps=weights, tokens=tokens, mask=mask)
    widget._maps["model"].queries[0] = "changed"
    assert torch.equal(weights, before) and tokens == words(11) and torch.equal(mask, causal(11))
    assert model_weights().shape == (4, 6, 6, 11, 11)


@pytest.mark.parametrize("name", ["thresholds", "thresholds_rule"])
def test_doctests(name):
    result = doctest.testmod(importlib.import_module(f"attnkit.widgets.{name}"))
    assert result.attempted and not result.failed
