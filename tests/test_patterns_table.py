"""All heads of a model: pooling over inputs, baselines, kinds, and the table that shows them."""

import json
import math
import pickle
import statistics
import warnings
from html.parser import HTMLParser

import pytest
import torch
from pattern_samples import previous_head, reference, some, uniform_causal

from attnkit import causal_mask, padding_mask, patterns
from attnkit.patterns import KINDS, HeadRow, HeadTable, Measure, Thresholds, classify, sight
from attnkit.patterns.table import MEASURES
from benchmarks.measure import peak_bytes

LAYERS, BATCH, HEADS, T = 2, 5, 3, 13
LENGTHS = [13, 1, 7, 0, 2]
#: What the reference calls each measure, and with which options.
NAMES = {
    "entropy": ("entropy", {}),
    "normalized_entropy": ("normalized_entropy", {}),
    "effective_keys": ("effective_keys", {}),
    "concentration": ("concentration", {}),
    "previous": ("diagonal_strength", {"offset": -1}),
    "same": ("diagonal_strength", {"offset": 0}),
    "next": ("diagonal_strength", {"offset": 1}),
    "local_focus": ("local_focus", {"radius": 3}),
    "mean_distance": ("mean_distance", {}),
    "sink": ("sink_mass", {}),
    "induction": ("induction_score", {"period": 5}),
}


def padded(causal=False, lengths=LENGTHS, dtype=torch.float64):
    """A batch of sentences of several lengths: weights, mask, query mask."""
    real = padding_mask(lengths, T)
    mask = real & causal_mask(T) if causal else real
    return some(LAYERS, BATCH, HEADS, T, T, mask=mask, dtype=dtype), mask, real


def values(table, *fields):
    """The measures as numbers, ``(measures, heads)``, or those of some fields."""
    return torch.tensor(
        [
            [[getattr(getattr(row, name), f) for f in fields or Measure._fields] for row in table]
            for name in MEASURES
        ],
        dtype=torch.float64,
    )


def assert_same(table, other, atol=1e-12):
    torch.testing.assert_close(values(table), values(other), rtol=0, atol=atol, equal_nan=True)
    assert table.kinds == other.kinds and table.inputs == other.inputs
    assert [row[:4] for row in table] == [row[:4] for row in other]


# ------------------------------------------------------------ pooling


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", sorted(set(NAMES) - {"induction"}))
def test_each_measure_is_the_mean_over_the_sentences_that_have_it(name, causal):
    """Against a loop over rows of a loop over sentences, and the same of the uniform head."""
    weights, mask, real = padded(causal)
    metric, options = NAMES[name]
    table = patterns.describe_heads(weights, mask, real)
    even = patterns.uniform(weights, mask)
    mask = mask.expand(BATCH, 1, T, T)
    for layer in range(LAYERS):
        for head in range(HEADS):
            found, base = (
                [
                    reference(metric, w[layer, b, head], mask[b, 0], real[b, 0, 0], **options)
                    for b in range(BATCH)
                ]
                for w in (weights, even)
            )
            base = [v for v, own in zip(base, found, strict=True) if not math.isnan(own)]
            found = [v for v in found if not math.isnan(v)]
            measure = getattr(table[layer, head], name)
            if not found:
                assert math.isnan(measure.mean) and math.isnan(measure.baseline)
                continue
            assert measure.mean == pytest.approx(statistics.fmean(found), abs=1e-12)
            assert measure.baseline == pytest.approx(statistics.fmean(base), abs=1e-12)
            assert measure.sd == pytest.approx(statistics.stdev(found), abs=1e-12)


def test_a_batch_of_padded_sentences_is_the_sentences_one_by_one():
    weights, _, real = padded(causal=True)
    together = patterns.describe_heads(weights, real & causal_mask(T), real)
    alone = [
        patterns.describe_heads(weights[:, b, :, :n, :n], causal_mask(n))
        for b, n in enumerate(LENGTHS)
        if n
    ]
    assert_same(together, sum(alone))
    assert_same(together, sum(alone[::-1]))
    assert_same(together, (alone[0] + alone[1]) + (alone[2] + alone[3]))
    assert together.inputs == 4
    assert {row.queries for row in together} == {sum(LENGTHS)}


def test_many_sentences_of_many_lengths():
    """A sentence with one token more or less does not weigh more or less."""
    generator = torch.Generator().manual_seed(5)
    lengths = torch.randint(1, T + 1, (8, BATCH), generator=generator).tolist()
    batches = [padded(lengths=some_lengths) for some_lengths in lengths]
    table = sum(patterns.describe_heads(*batch) for batch in batches)
    assert table.inputs == 8 * BATCH
    assert table[1, 2].queries == sum(map(sum, lengths))
    singles = [
        patterns.concentration(weights[1, b, 2, :n, :n]).item()
        for (weights, _, _), some_lengths in zip(batches, lengths, strict=True)
        for b, n in enumerate(some_lengths)
    ]
    assert table[1, 2].concentration.mean == pytest.approx(statistics.fmean(singles), abs=1e-12)
    assert table[1, 2].concentration.sd == pytest.approx(statistics.stdev(singles), abs=1e-12)


def test_what_is_added_does_not_change():
    tables = [patterns.describe_heads(*padded(causal)) for causal in (False, True)]
    before = [values(table) for table in tables]
    sum(tables)
    for table, old in zip(tables, before, strict=True):
        torch.testing.assert_close(values(table), old, equal_nan=True)


def test_layers_in_a_list_without_a_batch_and_without_layers():
    weights = some(LAYERS, BATCH, HEADS, T, T, dtype=torch.float64)
    table = patterns.describe_heads(weights)
    assert_same(patterns.describe_heads(list(weights)), table)
    assert_same(patterns.describe_heads(tuple(w.numpy() for w in weights)), table)
    one = patterns.describe_heads(weights[:, :1])
    assert one.shape == (LAYERS, HEADS) and one.inputs == 1
    assert_same(patterns.describe_heads(weights[:, 0]), one)
    assert_same(patterns.describe_heads(list(weights[:, 0])), one)
    assert_same(patterns.describe_heads(weights[:, 0].tolist()), one, atol=1e-5)  # float32
    layer = patterns.describe_heads(weights[:1, :1])
    assert_same(patterns.describe_heads(weights[0, 0]), layer)
    assert_same(patterns.describe_heads([weights[0, :1]]), layer)
    assert patterns.describe_heads(weights[0, 0, 0]).shape == (1, 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_low_precision(dtype):
    weights, mask, real = padded(causal=True)
    expected = values(patterns.describe_heads(weights, mask, real), "mean", "baseline")
    found = values(patterns.describe_heads(weights.to(dtype), mask, real), "mean", "baseline")
    most = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2}[dtype]
    torch.testing.assert_close(found, expected, rtol=most, atol=most, equal_nan=True)
    # The uniform head is not rounded with them.
    assert torch.equal(found[..., 1].nan_to_num(-1), expected[..., 1].nan_to_num(-1))


def test_one_input_has_no_spread_and_equal_ones_have_none():
    weights = some(1, 1, 1, T, T)
    assert math.isnan(patterns.describe_heads(weights)[0, 0].entropy.sd)
    twice = patterns.describe_heads(weights) + patterns.describe_heads(weights)
    assert twice[0, 0].entropy.sd == 0


def test_cross_attention_and_cached_keys():
    cross = some(LAYERS, BATCH, HEADS, 11, 7)
    table = patterns.describe_heads(cross, first_query=0)
    measured = patterns.diagonal_strength(cross, first_query=0).mean(1)
    assert table[1, 2].same.mean == pytest.approx(measured[1, 2].item())
    with pytest.raises(ValueError, match="first_query=0"):
        patterns.describe_heads(cross)
    mask = causal_mask(3, 11)
    step = patterns.describe_heads(some(LAYERS, HEADS, 3, 11, mask=mask), mask)
    assert step[0, 0].effective_keys.baseline == pytest.approx(10)


def test_weights_are_not_copied():
    """One pass: what is needed beside the weights is a part of them."""
    weights = some(4, 1, 8, 128, 128)
    for given in (weights, list(weights)):
        assert peak_bytes(lambda w=given: patterns.describe_heads(w)) < weights.nbytes / 2
    one = some(1, 1, 1, 1500, 1500)
    for mask, most in ((None, 0.7), (torch.ones(1500, 1500) == 1, 1.2)):
        assert peak_bytes(lambda m=mask: patterns.describe_heads(one, m)) < most * one.nbytes


@pytest.mark.parametrize("part", [1, 50, 1000])
def test_parts_change_nothing(part, monkeypatch):
    given = padded(causal=True)
    whole = patterns.describe_heads(*given)
    monkeypatch.setattr(sight, "PART", part)
    assert_same(patterns.describe_heads(*given), whole)
    with pytest.warns(UserWarning, match="no head attends to a later key"):
        patterns.describe_heads(some(2, 2, 3, 7, 7, mask=causal_mask(7)))


def test_nothing_of_the_callers_is_changed():
    given = padded(causal=True)
    before = [tensor.clone() for tensor in given]
    patterns.describe_heads(*given)
    patterns.describe_heads(list(given[0]), *given[1:])
    assert all(map(torch.equal, given, before))


# ------------------------------------------------------------ baselines


@pytest.mark.parametrize("causal", [False, True])
def test_the_uniform_head_has_its_own_baseline_and_no_lift(causal):
    weights, mask, real = padded(causal)
    table = patterns.describe_heads(patterns.uniform(weights, mask), mask, real)
    for row in table:
        for name in MEASURES:
            measure = getattr(row, name)
            assert measure.mean == pytest.approx(measure.baseline, abs=1e-12, nan_ok=True)
        assert row.normalized_entropy.baseline == 1
        assert row.concentration.lift == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 31])
def test_a_perfect_head_has_all_the_lift_there_is(n):
    table = patterns.describe_heads(previous_head(n), causal_mask(n))
    previous = table[0, 0].previous
    assert previous.mean == 1
    # With two tokens the second query may see two keys, so there was something to be had.
    assert previous.lift == 1


def test_where_the_radius_covers_all_tokens_nothing_is_local():
    assert patterns.describe_heads(some(1, 1, 4, 4))[0, 0].local_focus.baseline == 1
    thresholds = Thresholds(diagonal=2, sink=2, focused=2, queries=1)
    for n in range(1, 5):
        for mask in (torch.ones(n, n) == 1, causal_mask(n)):
            heads = some(n, n, mask=mask)
            table = patterns.describe_heads(heads, mask, thresholds=thresholds)
            assert math.isnan(table[0, 0].local_focus.lift)
            assert table[0, 0].kind != "local"


def test_a_measure_that_is_no_share_has_no_lift():
    assert math.isnan(Measure(0.5, 0.1, 1.5).lift) and math.isnan(Measure(1.0, 0.0, 1.0).lift)
    assert Measure(0.25, 0.1, 0.25).lift == 0 and Measure(0.0, 0.1, 0.5).lift == -1


# ------------------------------------------------------------ kinds


def row_with(queries=100, normalized_entropy=0.5, **lifts):
    """A row in which nothing is remarkable, but for lifts that are given."""
    measures = dict.fromkeys(MEASURES, Measure(0.2, 0.1, 0.2))
    measures |= {name: Measure(0.2 + 0.8 * lift, 0.1, 0.2) for name, lift in lifts.items()}
    measures["normalized_entropy"] = Measure(normalized_entropy, 0.1, 1.0)
    return HeadRow(0, 0, 9, queries, kind="", **measures)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (row_with(), "unclassified"),
        (row_with(previous=0.51), "previous"),
        (row_with(previous=0.49), "unclassified"),
        (row_with(same=0.6), "same"),
        (row_with(next=0.6), "next"),
        (row_with(induction=0.6), "induction"),
        (row_with(sink=0.31), "sink"),
        (row_with(sink=0.29), "unclassified"),
        # Of several, the one with the greatest lift among those that reach their own threshold.
        (row_with(previous=0.6, induction=0.7, sink=0.65), "induction"),
        (row_with(previous=0.45, sink=0.4), "sink"),
        (row_with(sink=0.5, next=0.51), "next"),
        # Places come before local, local before focused, focused before broad.
        (row_with(sink=0.31, local_focus=0.9, concentration=0.9), "sink"),
        (row_with(local_focus=0.51, concentration=0.9, normalized_entropy=0.95), "local"),
        (row_with(local_focus=0.49, concentration=0.51, normalized_entropy=0.95), "focused"),
        (row_with(concentration=0.49, normalized_entropy=0.86), "broad"),
        (row_with(normalized_entropy=0.84), "unclassified"),
        (row_with(queries=30, previous=0.9), "previous"),
        (row_with(queries=29, previous=0.9), "unclassified"),
        (row_with(normalized_entropy=math.nan), "unclassified"),
        (row_with()._replace(previous=Measure(1.0, 0.0, 1.0)), "unclassified"),
        (row_with()._replace(previous=Measure(math.nan, math.nan, math.nan)), "unclassified"),
    ],
)
def test_the_rule(row, kind):
    assert classify(row) == kind
    assert kind in KINDS


def test_thresholds_of_ones_own():
    row = row_with(previous=0.4, sink=0.35, local_focus=0.3, concentration=0.2)
    assert classify(row) == "sink"
    assert classify(row, Thresholds(diagonal=0.39)) == "previous"
    assert classify(row, Thresholds(sink=0.4)) == "unclassified"
    assert classify(row, Thresholds(sink=0.4, local=0.29)) == "local"
    assert classify(row, Thresholds(sink=0.4, focused=0.19)) == "focused"
    assert classify(row, Thresholds(sink=0.4, broad=0.5)) == "broad"
    assert classify(row, Thresholds(queries=101)) == "unclassified"
    lower = row_with(sink=0.2)
    assert classify(lower, Thresholds(sink=0.2 - 1e-9)) == "sink"


def heads_of_every_kind(n=64):
    """One head of each kind, weights as models have them: 0.8 on the pattern, the rest even."""
    even = torch.full((n, n), 1 / n)
    scores = torch.randn(n, n, generator=torch.Generator().manual_seed(0))
    lines = {"previous": -1, "same": 0, "next": 1, "induction": 1 - n // 2}
    heads = {name: torch.eye(n).roll(offset, 1) for name, offset in lines.items()}
    heads["sink"] = torch.eye(n)[0].expand(n, n)
    place = torch.arange(n)
    near = (place[:, None] - place).abs() <= 3
    heads["local"] = near / near.sum(-1, keepdim=True)
    heads = {name: 0.8 * head + 0.2 * even for name, head in heads.items()}
    heads["focused"] = (4 * torch.randn(n, n, generator=torch.Generator().manual_seed(1))).softmax(
        -1
    )
    heads["broad"] = scores.softmax(-1)
    heads["unclassified"] = (2 * scores).softmax(-1)
    return heads


def test_heads_of_every_kind_are_told_apart():
    heads = heads_of_every_kind()
    assert sorted(heads) == sorted(KINDS)
    table = patterns.describe_heads(torch.stack(list(heads.values())), period=32)
    assert list(table.kinds.values()) == list(heads)


@pytest.mark.parametrize("n", [4, 5, 8, 16, 64, 256])
@pytest.mark.parametrize("causal", [False, True])
def test_a_head_that_attends_evenly_is_broad_at_every_length(n, causal):
    mask = causal_mask(n) if causal else torch.tensor(True)
    table = patterns.describe_heads(
        patterns.uniform((8, 4, n, n), mask)[:, :, None], mask, thresholds=Thresholds(queries=4)
    )
    assert set(table.kinds.values()) == {"broad"}


@pytest.mark.parametrize("n", [31, 67, 257])
@pytest.mark.parametrize("causal", [False, True])
def test_random_scores_have_no_pattern(n, causal):
    """Of a standard deviation up to 1.5: never a place, never local, never focused."""
    mask = causal_mask(n) if causal else torch.tensor(True)
    scores = torch.randn(4, 8, n, n, generator=torch.Generator().manual_seed(n))
    for scale in (0.3, 1.0, 1.5):
        weights = (scale * scores).masked_fill(~mask, -math.inf).softmax(-1)
        table = patterns.describe_heads(
            weights, mask, period=n // 2, thresholds=Thresholds(queries=n)
        )
        kinds = set(table.kinds.values())
        assert kinds <= {"broad", "unclassified"}
        assert scale > 0.5 or kinds == {"broad"}


def test_classify_gives_a_new_table():
    table = patterns.describe_heads(torch.stack(list(heads_of_every_kind().values())), period=32)
    strict = table.classify(Thresholds(diagonal=0.95, sink=0.95, local=0.95, focused=2, broad=2))
    assert set(strict.kinds.values()) == {"unclassified"}
    assert table.kinds[0, 0] == "previous" and strict.thresholds.broad == 2
    assert_same(strict.classify(table.thresholds), table)


# ------------------------------------------------------------ the table


def small():
    return patterns.describe_heads(*padded(causal=True))


def test_it_is_a_sequence_of_rows():
    table = small()
    assert isinstance(table, HeadTable) and len(table) == LAYERS * HEADS
    rows = list(table)
    assert all(isinstance(row, HeadRow) for row in rows)
    assert [(row.layer, row.head) for row in rows] == [
        (layer, head) for layer in range(LAYERS) for head in range(HEADS)
    ]
    assert table[1, 2] is rows[-1] and table[-1, -1] is rows[-1] and table[-1] is rows[-1]
    assert table[1:3] == tuple(rows[1:3])
    assert table.shape == (LAYERS, HEADS) and table.inputs == 4
    assert table.kinds == {(row.layer, row.head): row.kind for row in rows}
    for index in ((2, 0), (0, 3), (-3, 0)):
        with pytest.raises(IndexError, match="2 layers of 3 heads, counted from 0"):
            table[index]
    with pytest.raises(IndexError):
        table[6]
    for index in ((0,), (0, 1, 2), (0, "previous"), (slice(None), 0)):
        with pytest.raises(TypeError, match=r"table\[layer, head\] takes two integers, got "):
            table[index]


def test_it_is_pickled():
    table = small()
    assert_same(pickle.loads(pickle.dumps(table)), table)


def test_to_dict_is_json_by_columns():
    table = small()
    columns = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert {len(column) for column in columns.values()} == {len(table)}
    assert columns["kind"] == list(table.kinds.values())
    assert columns["layer"] == [0, 0, 0, 1, 1, 1] and columns["head"] == [0, 1, 2] * 2
    row = table[1, 0]
    for name in MEASURES:
        for end, value in zip(("", "_sd", "_baseline"), getattr(row, name), strict=True):
            expected = None if math.isnan(value) else value
            assert columns[name + end][3] == expected
    assert columns["next"] == columns["induction"] == [None] * 6


def test_the_text_says_value_baseline_kind_and_counts():
    table = patterns.describe_heads(torch.stack(list(heads_of_every_kind().values())), period=32)
    lines = repr(table).splitlines()
    assert lines[0] == "1 × 9 heads, 1 input, 64 queries: means"
    assert lines[1].split()[:5] == ["layer", "head", "kind", "previous", "same"]
    assert lines[2].split()[:4] == ["uniform", "head", "0.02", "0.02"]
    assert lines[3].split()[:4] == ["0", "0", "previous", "0.80"]
    assert lines[2].index("0.02") == lines[3].index("0.80")
    assert lines[-1] == f"Kinds: {', '.join(f'1 {kind}' for kind in KINDS)}."
    assert "Of fewer than 65 queries nothing is said." in repr(
        table.classify(Thresholds(queries=65))
    )


def test_baselines_that_differ_between_heads_stand_beside_each_value():
    weights = some(1, 2, 7, 7)
    weights[0, 1, :3] = 0
    table = patterns.describe_heads(weights)
    row = table[0, 1]
    lines = repr(table).splitlines()
    assert lines[0].endswith("4 to 7 queries: mean (uniform head)") and len(lines) == 5
    for name in ("previous", "local_focus"):
        measure = getattr(row, name)
        assert f" {measure.mean:.2f} ({measure.baseline:.2f}) " in lines[3]
        assert f"{measure.mean:.2f} <small>({measure.baseline:.2f})<" in table._repr_html_()


def test_one_query_is_one():
    assert "1 input, 1 query:" in repr(patterns.describe_heads(torch.ones(3, 1, 1)))


def test_a_long_text_leaves_the_middle_out_and_says_so():
    table = patterns.describe_heads(some(12, 12, 5, 5))
    lines = repr(table).splitlines()
    assert len(lines) == 4 + 24 + 1
    assert lines[3 + 12] == "… 120 heads left out …"
    assert [line.split()[:2] for line in lines[14:17:2]] == [["0", "11"], ["11", "0"]]
    assert max(map(len, lines)) < 120
    assert table._repr_html_().count("<tr>") == 146


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.texts.append(data)


def test_the_html_is_a_table_that_can_be_read_aloud():
    table = small()
    html = table._repr_html_()
    cells = Cells()
    cells.feed(html)
    tags = [tag for tag, _ in cells.tags]
    assert tags.count("caption") == 1 and tags.count("tr") == 2 + len(table)
    scopes = [a.get("scope") for tag, a in cells.tags if tag == "th"]
    columns = len([scope for scope in scopes if scope == "col"])
    assert scopes.count("row") == 2 * len(table) + 1 and None not in scopes
    assert tags.count("td") == (len(table) + 1) * (columns - 2) - 1
    region = cells.tags[0][1]
    assert region["role"] == "group" and region["aria-label"] and region["tabindex"] == "0"
    assert "id=" not in html and "lang=" not in html and "<style" not in html
    caption = cells.texts[0]
    assert "4 inputs, 23 queries" in caption and "mean ± standard deviation" in caption
    # What no head has is no column.
    assert "next" not in cells.texts and "induction" not in cells.texts
    row = table[0, 0]
    assert f"{row.previous.mean:.2f} ± {row.previous.sd:.2f}" in cells.texts
    uniform = cells.texts.index("uniform head")
    assert cells.texts[uniform + 1] == f"{row.previous.baseline:.2f}"


# ------------------------------------------------------------ what is refused, what is warned of


def test_tables_that_do_not_belong_together_are_not_added():
    table = small()
    with pytest.raises(ValueError, match=r"same heads, got \(2, 3\) and \(1, 1\)"):
        table + patterns.describe_heads(some(5, 5))
    with pytest.raises(ValueError, match=r"same thresholds.*table\.classify"):
        table + table.classify(Thresholds(sink=0.5))
    for other in (1, None, [table]):
        with pytest.raises(TypeError):
            table + other
        with pytest.raises(TypeError):
            other + table


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ({"sink": 0.5}, r"must be patterns\.Thresholds, got dict"),
        (0.5, r"must be patterns\.Thresholds, got float"),
        ((0.5,) * 6, r"must be patterns\.Thresholds, got tuple"),
        (Thresholds(sink="0.5"), "threshold sink must be a number, got '0.5'"),
        (Thresholds(broad=math.nan), "threshold broad must be a number, got nan"),
    ],
)
def test_thresholds_that_are_none_are_refused(thresholds, message):
    with pytest.raises(TypeError, match=message):
        patterns.describe_heads(some(5, 5), thresholds=thresholds)
    with pytest.raises(TypeError, match=message):
        small().classify(thresholds)


def test_axes_that_cannot_be_right_are_refused():
    with pytest.raises(ValueError, match=r"\(layers, batch, heads, queries, keys\)"):
        patterns.describe_heads(some(2, 2, 2, 2, 5, 5))
    # One layer with a batch would be taken for layers without.
    mask = padding_mask([7, 4])
    with pytest.raises(ValueError, match=r"each of 2 sequences.*weights\[None\]"):
        patterns.describe_heads(some(2, 3, 7, 7, mask=mask), mask)
    assert patterns.describe_heads(some(2, 3, 7, 7, mask=mask)[None], mask, mask).shape == (1, 3)
    with pytest.raises(ValueError, match=r"query_mask\[:, None\]"):
        patterns.describe_heads(some(2, 3, 3, 7, 7), None, torch.ones(3, 7) == 1)
    with pytest.raises(ValueError, match="period=4 tokens, 8 keys; got 7"):
        patterns.describe_heads(some(2, 3, 7, 7), period=4)
    with pytest.raises(TypeError, match="period must be an integer"):
        patterns.describe_heads(some(2, 3, 7, 7), period=2.5)


def test_a_causal_model_without_its_mask_is_warned_of():
    weights = some(2, 2, 3, 7, 7, mask=causal_mask(7))
    for given in (weights, list(weights)):
        with pytest.warns(UserWarning, match=r"no head attends to a later key.*causal_mask\(T\)"):
            patterns.describe_heads(given)
    real = padding_mask([7, 5])
    both = some(2, 2, 3, 7, 7, mask=causal_mask(7) & real)
    with pytest.warns(UserWarning, match="no head attends to a later key"):
        patterns.describe_heads(both, real, real)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        patterns.describe_heads(weights, causal_mask(7))
        patterns.describe_heads(both, causal_mask(7) & real, real)
        patterns.describe_heads(weights[..., 6:, :])  # the last query may see everything
        patterns.describe_heads(torch.ones(1, 1))
        patterns.describe_heads(torch.zeros(3, 7, 7))  # no query sees anything
        patterns.describe_heads(weights, None, torch.zeros(7) == 1)  # nor does one count
        weights[1, 1, 2, 5, 5], weights[1, 1, 2, 5, 6] = 0, weights[1, 1, 2, 5, 5].item()
        patterns.describe_heads(weights)


def test_padding_that_counts_is_warned_of():
    real = padding_mask([7, 5])
    weights = some(2, 2, 3, 7, 7, mask=real)
    with pytest.warns(UserWarning, match=r"padding\?.*query_mask=attnkit.padding_mask"):
        patterns.describe_heads(weights, real)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        patterns.describe_heads(weights, real, real)
        patterns.describe_heads(weights, real, first_query=0)  # keys of other tokens


def test_a_warning_points_at_the_caller():
    with pytest.warns(UserWarning, match="no head attends") as caught:
        patterns.describe_heads(uniform_causal(5))
    assert caught[0].filename == __file__
