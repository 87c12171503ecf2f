"""Metrics of attention maps: hand-computed, against a loop over rows, and what they refuse."""

import doctest
import importlib
import math

import numpy as np
import pytest
import torch
from pattern_samples import previous_head, reference, some, uniform_causal

import attnkit
from attnkit import (
    AttentionOutput,
    causal_mask,
    masked_softmax,
    padding_mask,
    patterns,
    sliding_window_mask,
)
from attnkit.patterns import rows as rows_module
from attnkit.patterns import sight as sight_module

PLAIN = {
    "entropy": {},
    "normalized_entropy": {},
    "effective_keys": {},
    "concentration": {},
    "sink_mass": {},
}
PLACED = {
    "diagonal_strength": {"offset": -1},
    "local_focus": {"radius": 2},
    "mean_distance": {},
    "induction_score": {"period": 3},
}
METRICS = PLAIN | PLACED
LEAD, N_QUERIES, N_KEYS = (2, 3), 7, 11
LENGTHS = [11, 5]


def measure(name, weights, mask=None, query_mask=None, **options):
    return getattr(patterns, name)(weights, mask=mask, query_mask=query_mask, **options)


def by_rows(name, weights, mask=None, query_mask=None, **options):
    """The reference for each map of ``(2, 3, T_q, T_k)``."""
    lead, n_queries = weights.shape[:-2], weights.shape[-2]
    if mask is not None:
        mask = mask.expand(weights.shape)
    if query_mask is not None:
        query_mask = query_mask.expand(*lead, n_queries)
    values = [
        reference(
            name,
            weights[at],
            None if mask is None else mask[at],
            None if query_mask is None else query_mask[at],
            **options,
        )
        for at in np.ndindex(*lead)
    ]
    return torch.tensor(values, dtype=torch.float64).reshape(lead)


def square_masks(n):
    generator = torch.Generator().manual_seed(1)
    some_cells = torch.rand(2, 3, n, n, generator=generator) < 0.5
    left = ~padding_mask([6, 0], n)
    return {
        "causal": causal_mask(n),
        "padding": padding_mask(LENGTHS, n),
        "causal and padding": causal_mask(n) & padding_mask(LENGTHS, n),
        "padding on the left": left,
        "causal, padding on the left": left & causal_mask(n),
        "window": sliding_window_mask(n, 3),
        "every cell": some_cells,
        "one query for all": some_cells[:, :, :1],
        "one key for all": some_cells[..., :1],
        "a sequence that sees nothing": padding_mask([n, 0], n),
        "everything": torch.tensor(True),
    }


# ------------------------------------------------------------ by hand


def test_by_hand():
    # One query sure, one torn between two of four keys, one even over four.
    weights = torch.tensor(
        [
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 0.5, 0.5, 0.0],
            [0.25, 0.25, 0.25, 0.25],
            [0.0, 0.0, 0.125, 0.875],
        ]
    )[:3]
    ln2 = math.log(2)
    assert patterns.entropy(weights).item() == pytest.approx((0 + 1 + 2) * ln2 / 3)
    assert patterns.normalized_entropy(weights).item() == pytest.approx((0 + 0.5 + 1) / 3)
    assert patterns.effective_keys(weights).item() == pytest.approx((1 + 2 + 4) / 3)
    assert patterns.concentration(weights).item() == pytest.approx((1 + 0.5 + 0.25) / 3)
    assert patterns.sink_mass(weights).item() == pytest.approx((1 + 0 + 0.25) / 3)
    # Three queries, four keys: the queries stand at the places 1, 2 and 3.
    assert patterns.diagonal_strength(weights).item() == pytest.approx((0 + 0.5 + 0.25) / 3)
    assert patterns.diagonal_strength(weights, offset=-1).item() == pytest.approx(1.75 / 3)
    assert patterns.diagonal_strength(weights, offset=1).item() == pytest.approx((0 + 0) / 2)
    assert patterns.diagonal_strength(weights, first_query=0).item() == pytest.approx(1.75 / 3)
    assert patterns.local_focus(weights, radius=1).item() == pytest.approx((1 + 1 + 0.5) / 3)
    assert patterns.mean_distance(weights).item() == pytest.approx((1 + 0.5 + 1.5) / 3)


def test_the_second_copy_of_a_repeated_sequence():
    # BOS a b c a b c: the second a (place 4) would look at b (2), then c (3), then a (4).
    weights = uniform_causal(7)
    weights[4], weights[5] = torch.eye(7)[2], torch.eye(7)[3]
    assert patterns.induction_score(weights, 3).item() == pytest.approx((1 + 1 + 1 / 7) / 3)
    # Only the last two queries, as with cached keys: both in the second copy.
    assert patterns.induction_score(weights[5:], 3).item() == pytest.approx((1 + 1 / 7) / 2)


# ------------------------------------------------------------ at every length


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 64, 127, 257])
def test_a_perfect_previous_token_head_scores_exactly_1(n):
    score = patterns.diagonal_strength(previous_head(n), causal_mask(n), offset=-1)
    assert score.item() == 1.0 if n > 1 else score.isnan()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 64, 127, 257])
def test_a_uniform_causal_head_has_a_normalized_entropy_of_1(n):
    for dtype, most in ((torch.float32, 1e-6), (torch.float64, 1e-14)):
        value = patterns.normalized_entropy(uniform_causal(n, dtype), causal_mask(n))
        assert abs(value.item() - 1) < most if n > 1 else value.isnan()


# ------------------------------------------------------------ against a loop over rows


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("kind", ["none", *square_masks(11)])
@pytest.mark.parametrize("counting", ["all", "padding", "per head"])
def test_equals_the_loop_over_rows_under_every_mask(name, kind, counting):
    n = 11
    mask = None if kind == "none" else square_masks(n)[kind]
    generator = torch.Generator().manual_seed(2)
    query_mask = {
        "all": None,
        "padding": padding_mask(LENGTHS, n),
        "per head": torch.rand(2, 3, n, generator=generator) < 0.6,
    }[counting]
    weights = some(*LEAD, n, n, mask=mask, dtype=torch.float64)
    rows = query_mask[:, 0] if counting == "padding" else query_mask
    expected = by_rows(name, weights, mask, rows, **METRICS[name])
    last_seen = mask is None or mask.expand(*LEAD, n, n)[..., -1].any(-1).all()
    if name == "induction_score" and not last_seen and kind != "a sequence that sees nothing":
        with pytest.raises(ValueError, match=r"last key.*Padding behind the sequences\?"):
            measure(name, weights, mask, query_mask, **METRICS[name])
        return
    found = measure(name, weights, mask, query_mask, **METRICS[name])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13, equal_nan=True)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("causal", [False, True])
def test_fewer_queries_than_keys_are_the_last_ones(name, causal):
    mask = causal_mask(N_QUERIES, N_KEYS) if causal else None
    weights = some(*LEAD, N_QUERIES, N_KEYS, mask=mask, dtype=torch.float64)
    expected = by_rows(name, weights, mask, **METRICS[name])
    found = measure(name, weights, mask, **METRICS[name])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", METRICS)
def test_cross_attention_counts_queries_and_keys_from_0(name):
    """More queries than keys, and fewer; what needs no places needs no first_query."""
    options = METRICS[name]
    placed = {"first_query": 0} if name in PLACED else {}
    for n_queries, n_keys in ((11, 7), (7, 11)):
        mask = padding_mask([n_keys, 6], n_keys)
        if name == "induction_score":
            mask = torch.tensor(True)
        weights = some(*LEAD, n_queries, n_keys, mask=mask, dtype=torch.float64)
        first = {"first": 0} if placed else {}
        expected = by_rows(name, weights, mask, **options, **first)
        found = measure(name, weights, mask, **options, **placed)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-13, equal_nan=True)


def test_queries_may_stand_anywhere():
    """Three queries at the places 2, 3 and 4 of nine keys."""
    weights = torch.zeros(3, 9)
    weights[[0, 1, 2], [1, 2, 3]] = 1
    assert patterns.diagonal_strength(weights, offset=-1, first_query=2) == 1
    assert patterns.mean_distance(weights, first_query=2) == 1
    assert patterns.local_focus(weights, radius=0, first_query=1) == 1


def test_one_token():
    one = [[1.0]]
    expected = {
        "entropy": 0.0,
        "normalized_entropy": math.nan,
        "effective_keys": 1.0,
        "concentration": 1.0,
        "sink_mass": math.nan,
        "diagonal_strength": math.nan,
        "local_focus": 1.0,
        "mean_distance": 0.0,
    }
    for name, value in expected.items():
        found = measure(name, one, **METRICS[name]).item()
        assert found == value or (math.isnan(found) and math.isnan(value)), name
    assert patterns.diagonal_strength(one).item() == 1
    assert str(patterns.entropy(one)) == "tensor(0.)"  # not minus zero


@pytest.mark.parametrize("name", METRICS)
def test_a_query_that_sees_nothing_is_left_out(name):
    mask = causal_mask(11).clone()
    mask[[0, 9]] = False
    scores = torch.randn(*LEAD, 11, 11, generator=torch.Generator().manual_seed(3))
    weights = masked_softmax(scores.double(), mask)
    expected = by_rows(name, weights, mask, **METRICS[name])
    found = measure(name, weights, mask, **METRICS[name])
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)
    # The rows of zeros say it by themselves.
    counts = torch.arange(11) % 9 != 0
    whole = some(*LEAD, 11, 11, dtype=torch.float64)
    zeroed = whole * counts[:, None]
    torch.testing.assert_close(
        measure(name, zeroed, **METRICS[name]), measure(name, whole, None, counts, **METRICS[name])
    )


@pytest.mark.parametrize("name", METRICS)
def test_nan_where_nothing_is_defined(name):
    weights = some(2, 7, 7)
    query_mask = torch.tensor([[True], [False]])
    found = measure(name, weights, None, query_mask, **METRICS[name])
    assert found.isnan().tolist() == [False, True]


@pytest.mark.parametrize("name", METRICS)
def test_rows_that_do_not_count_may_hold_anything(name):
    weights = some(*LEAD, 11, 11, mask=square_masks(11)["padding on the left"])
    query_mask = square_masks(11)["padding on the left"]
    mask = causal_mask(11) & query_mask
    weights = weights * causal_mask(11)
    weights = weights / weights.sum(-1, keepdim=True)
    strange = weights.clone()
    strange[0, :, :5] = math.nan
    strange[0, :, 5] = 1 / 11  # evenly over blocked keys, as after a mask of −10⁹
    weights[0, :, :6] = 0
    found = measure(name, strange, mask, query_mask, **METRICS[name])
    expected = measure(name, weights, mask, query_mask, **METRICS[name])
    torch.testing.assert_close(found, expected, equal_nan=True)
    assert not found.isnan().any()


@pytest.mark.parametrize("name", METRICS)
def test_padding_left_or_right_changes_nothing(name):
    """The sequence alone, and among padding."""
    alone = some(3, 7, 7, mask=causal_mask(7), dtype=torch.float64)
    expected = measure(name, alone, causal_mask(7), **METRICS[name])
    for left, right in ((0, 4), (4, 0), (3, 2)):
        if name == "induction_score" and right:
            continue
        padded = torch.nn.functional.pad(alone, (left, right, left, right))
        real = torch.zeros(7 + left + right, dtype=torch.bool)
        real[left : left + 7] = True
        padded[..., ~real, :] = real.double() / 7  # padding queries attend to something
        mask = (causal_mask(len(real)) | ~real[:, None]) & real
        found = measure(name, padded, mask, real, **METRICS[name])
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("block", [1, 24, 64, 1000])
def test_blocks_change_nothing(name, block, monkeypatch):
    mask = square_masks(11)["causal, padding on the left"]
    weights = some(*LEAD, 11, 11, mask=mask, dtype=torch.float64)
    whole = measure(name, weights, mask, **METRICS[name])
    monkeypatch.setattr(rows_module, "BLOCK", block)
    monkeypatch.setattr(rows_module, "ROWS", 3)
    monkeypatch.setattr(sight_module, "PART", block)
    torch.testing.assert_close(measure(name, weights, mask, **METRICS[name]), whole)
    torch.testing.assert_close(measure(name, list(weights), mask, **METRICS[name]), whole)


# ------------------------------------------------------------ what is taken


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("dtype", "most"), [(torch.float32, 1e-6), (torch.float16, 1e-3), (torch.bfloat16, 1e-2)]
)
def test_every_floating_dtype(name, dtype, most):
    mask = causal_mask(11)
    weights = some(*LEAD, 11, 11, mask=mask, dtype=torch.float64)
    expected = by_rows(name, weights, mask, **METRICS[name])
    found = measure(name, weights.to(dtype), mask, **METRICS[name])
    assert found.dtype == torch.float32
    # As far off as rounded weights are, on the scale of the metric.
    torch.testing.assert_close(found.double(), expected, rtol=2 * most, atol=2 * most)


@pytest.mark.parametrize("name", METRICS)
def test_arrays_lists_layers_views_and_tensors_of_every_state(name):
    weights = some(*LEAD, 11, 11)
    expected = measure(name, weights, **METRICS[name])
    with torch.inference_mode():
        inference = some(*LEAD, 11, 11)
    views = torch.stack([weights, weights], -1)[..., 0]
    for given in (
        weights.numpy(),
        weights.tolist(),
        list(weights),
        tuple(w.numpy() for w in weights),
        weights.clone().requires_grad_(),
        inference,
        views,
        weights.mT.contiguous().mT,
    ):
        found = measure(name, given, **METRICS[name])
        assert not found.requires_grad
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    assert measure(name, list(weights[:1]), **METRICS[name]).shape == (1, 3)
    torch.testing.assert_close(
        measure(name, weights[0, 0], torch.tensor(True).numpy(), **METRICS[name]), expected[0, 0]
    )


@pytest.mark.parametrize("name", METRICS)
def test_nothing_of_the_callers_is_changed(name):
    mask, query_mask = square_masks(11)["causal, padding on the left"], torch.arange(11) > 1
    given = [some(*LEAD, 11, 11, mask=mask), mask, query_mask]
    before = [tensor.clone() for tensor in given]
    found = measure(name, *given, **METRICS[name])
    found += 1
    assert all(map(torch.equal, given, before))


def test_query_masks_are_taken_in_the_shape_of_padding_masks():
    weights = some(2, 3, 11, 11)
    as_keys = padding_mask(LENGTHS, 11)
    found = patterns.entropy(weights, None, as_keys)
    expected = patterns.entropy(weights, None, as_keys[:, 0])
    assert torch.equal(found, expected) and found.shape == (2, 3)
    layers = torch.stack([weights, weights.flip(-2)])  # as many layers as sequences
    assert torch.equal(patterns.entropy(layers, None, as_keys)[0], expected)
    assert torch.equal(patterns.entropy(weights[:1], None, as_keys[:1]), expected[:1])
    assert torch.equal(patterns.entropy(weights[0], None, as_keys[:1]), expected[0])
    assert torch.equal(patterns.entropy(weights[0], None, as_keys[0, 0, 0].tolist()), expected[0])


# ------------------------------------------------------------ the uniform head


@pytest.mark.parametrize("kind", square_masks(11))
def test_the_uniform_head_attends_evenly_to_what_it_sees(kind):
    mask = square_masks(11)[kind].expand(*LEAD, 11, 11)
    even = patterns.uniform((*LEAD, 11, 11), mask)
    numbers = mask.sum(-1, keepdim=True)
    torch.testing.assert_close(even, torch.where(mask, 1 / numbers, 0.0), rtol=0, atol=1e-7)


def test_the_uniform_head_of_weights_has_their_shape_dtype_and_empty_rows():
    weights = some(*LEAD, 7, 11, dtype=torch.float64)
    weights[0, 1, 5] = 0
    even = patterns.uniform(weights)
    assert even.dtype == torch.float64 and even.shape == weights.shape
    assert (even[0, 1, 5] == 0).all() and (even[1] == 1 / 11).all()
    assert torch.equal(patterns.uniform(list(weights)), even)
    assert torch.equal(patterns.uniform((7, 11)), torch.full((7, 11), 1 / 11))
    assert torch.equal(patterns.uniform(torch.Size((7, 11))), torch.full((7, 11), 1 / 11))
    assert torch.equal(patterns.uniform(np.array([7, 11]).tolist()), torch.full((7, 11), 1 / 11))
    assert torch.equal(patterns.uniform(tuple(np.array([7, 11]))), torch.full((7, 11), 1 / 11))
    assert patterns.uniform(weights.bfloat16()).dtype == torch.float32


def test_what_a_causal_mask_does_to_the_uniform_head():
    """What a popular demonstration prints as the effect of the mask on a model: 20 tokens."""
    n = 20
    for mask, values in (
        (None, (2.996, 0.05, 0.320)),
        (causal_mask(n), (2.117, 0.18, 0.503)),
    ):
        even = patterns.uniform((n, n), mask)
        found = (
            patterns.entropy(even, mask),
            patterns.concentration(even, mask),
            patterns.local_focus(even, mask),
        )
        assert [v.item() for v in found] == pytest.approx(values, abs=0.0051)


# ------------------------------------------------------------ what is refused

GOOD = some(2, 3, 7, 7)


def changed(value):
    weights = GOOD.clone()
    weights[1, 2, 3, 4] = value
    return weights


BALANCED = changed(-0.25)
BALANCED[1, 2, 3, 5] += 1 - BALANCED[1, 2, 3].sum()
BAD_WEIGHTS = {
    "None": (None, TypeError, "got None"),
    "a pair": (AttentionOutput(torch.ones(7, 3), GOOD), TypeError, r"Take its field: \.weights"),
    "a pair of one shape": (AttentionOutput(GOOD, GOOD), TypeError, r"Take its field"),
    "a plain pair": ((torch.ones(7, 3), GOOD), ValueError, r"take the second: weights\[1\]"),
    "a mask": (GOOD > 0.5, TypeError, "got booleans"),
    "integers": ((GOOD > 0.5).int(), TypeError, r"floating point.*\.float\(\)"),
    "complex numbers": (GOOD + 0j, TypeError, "complex"),
    "one row": (GOOD[0, 0, 0], ValueError, r"\(\.\.\., queries, keys\).*weights\[None\]"),
    "a number": (torch.tensor(1.0), ValueError, r"\(\.\.\., queries, keys\)"),
    "no query": (GOOD[:, :, :0], ValueError, "at least one query"),
    "no head": (GOOD[:, :0], ValueError, "at least one"),
    "layers of several lengths": ([GOOD, GOOD[..., :5, :5]], ValueError, "one shape"),
    "a layer that is None": ([GOOD, None], TypeError, r"weights\[1\].*got None"),
    "scores": (GOOD.log(), ValueError, "must be 0 or more.*scores.softmax"),
    "one negative": (changed(-0.25), ValueError, "-0.25 at .*sequence 1, head 2, query 3, key 4"),
    "one negative in a row of sum 1": (BALANCED, ValueError, "got -0.25 at .*query 3, key 4"),
    "NaN": (
        changed(math.nan),
        ValueError,
        "finite, got nan at .*sequence 1, head 2, query 3, key 4",
    ),
    "infinity": (changed(math.inf), ValueError, "finite, got inf"),
    "rows too large": (changed(1.5), ValueError, "sum to 1.*sequence 1, head 2, query 3"),
    "after dropout": (changed(0.0) * 1.1, ValueError, "sum to 1"),
    "over the queries": (GOOD.mT, ValueError, "The columns do"),
    "a layer of scores": ([GOOD, GOOD.log()], ValueError, r"weights\[1\] must be 0 or more"),
}


@pytest.mark.parametrize("what", BAD_WEIGHTS)
@pytest.mark.parametrize("name", [*METRICS, "describe_heads", "head_similarity"])
def test_what_is_no_weights_is_refused(name, what):
    weights, error, message = BAD_WEIGHTS[what]
    if name == "describe_heads" and getattr(weights, "ndim", 0) == 4:
        weights = weights[None]
    options = METRICS.get(name, {})
    with pytest.raises(error, match=message):
        getattr(patterns, name)(weights, **options)


BAD_MASKS = {
    "numbers": (torch.ones(7, 7), TypeError, "boolean, True = this query may attend"),
    "other keys": (torch.ones(7, 5) == 1, ValueError, "broadcast"),
    "more axes": (torch.ones(2, 2, 3, 7, 7) == 1, ValueError, "enlarge|broadcast"),
    "flipped": (~causal_mask(7), ValueError, "polarity is flipped"),
    "another one's": (torch.arange(7) != 4, ValueError, "must be 0 where the mask blocks"),
    "sees nothing": ((torch.arange(7) != 4)[:, None], ValueError, "its weights must be zeros"),
    "in one sequence": (padding_mask([7, 5]), ValueError, "sequence 1, head 0, query 0, key"),
}


@pytest.mark.parametrize("what", BAD_MASKS)
@pytest.mark.parametrize("name", ["entropy", "diagonal_strength", "head_similarity"])
@pytest.mark.parametrize("listed", [False, True])
def test_masks_that_do_not_fit_are_refused(name, what, listed):
    mask, error, message = BAD_MASKS[what]
    weights = some(2, 3, 7, 7, mask=causal_mask(7) if what == "flipped" else None)
    if listed:
        message = message.replace("sequence 1, ", r"")
    with pytest.raises(error, match=message) as caught:
        getattr(patterns, name)(list(weights) if listed else weights, mask)
    if listed and what == "in one sequence":
        assert "weights[1]" in str(caught.value)


BAD_QUERY_MASKS = {
    "numbers": (torch.ones(7), TypeError, "query_mask must be boolean.*query_mask == 1"),
    "words": ("padding", TypeError, "query_mask must be boolean"),
    "other queries": (torch.ones(5) == 1, ValueError, r"query_mask must broadcast.*\(2, 3, 7\)"),
    "that of the weights": (torch.ones(2, 3, 7, 7) == 1, ValueError, "query_mask must broadcast"),
    "sequences or heads": (torch.ones(2, 7) == 1, ValueError, r"per sequence is query_mask\[:, N"),
    "heads or sequences": (torch.ones(3, 7) == 1, ValueError, r"per sequence is query_mask\[:, N"),
}


@pytest.mark.parametrize("what", BAD_QUERY_MASKS)
def test_query_masks_that_do_not_fit_are_refused(what):
    query_mask, error, message = BAD_QUERY_MASKS[what]
    with pytest.raises(error, match=message):
        patterns.entropy(GOOD, None, query_mask)


@pytest.mark.parametrize(
    ("name", "options", "error", "message"),
    [
        ("diagonal_strength", {"offset": 0.5}, TypeError, "offset must be an integer"),
        ("local_focus", {"radius": -1}, ValueError, "radius must be at least 0"),
        ("induction_score", {"period": 0}, ValueError, "period must be at least 1"),
        ("induction_score", {"period": 4}, ValueError, "period=4 tokens, 8 keys; got 7"),
        ("mean_distance", {"first_query": -1}, ValueError, "first_query must be at least 0"),
        ("mean_distance", {"first_query": True}, TypeError, "first_query must be an integer"),
    ],
)
def test_options_that_make_no_sense_are_refused(name, options, error, message):
    with pytest.raises(error, match=message):
        measure(name, GOOD, **options)


@pytest.mark.parametrize("name", PLACED)
def test_more_queries_than_keys_need_their_places(name):
    with pytest.raises(ValueError, match=r"7 queries, 6 keys\. Cross-attention\? first_query=0"):
        measure(name, some(7, 6), **METRICS[name])


def test_autocast_takes_no_precision_away():
    weights = some(3, 40, 40)
    plain = patterns.mean_distance(weights)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(patterns.mean_distance(weights), plain)


def test_places_far_beyond_the_keys_are_none_at_all():
    weights = some(5, 5)
    assert math.isnan(patterns.diagonal_strength(weights, offset=10**30))
    assert math.isnan(patterns.diagonal_strength(weights, offset=-(10**30)))
    assert patterns.local_focus(weights, radius=10**30).item() == pytest.approx(1)


def test_the_uniform_head_refuses_what_is_no_shape():
    with pytest.raises(ValueError, match="at least one query"):
        patterns.uniform((3, 0))
    with pytest.raises(ValueError, match=r"\(\.\.\., queries, keys\)"):
        patterns.uniform((3,))
    with pytest.raises(ValueError, match="at least 0, got -1"):
        patterns.uniform((3, -1))
    with pytest.raises(TypeError, match=r"size of the shape must be an integer, got 2\.0"):
        patterns.uniform((2.0, 3))
    with pytest.raises(TypeError, match="size of the shape must be an integer, got True"):
        patterns.uniform((True, 3))
    with pytest.raises(ValueError, match="broadcast"):
        patterns.uniform((3, 5), causal_mask(3))


# ------------------------------------------------------------ documentation

MODULES = ("metrics", "similarity", "describe", "kinds", "table", "definitions", "reading")


@pytest.mark.parametrize("name", MODULES)
def test_what_the_documentation_says(name):
    module = importlib.import_module(f"attnkit.patterns.{name}")
    names = {"torch": torch, "attnkit": attnkit}
    result = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert not result.failed
    assert result.attempted or name not in ("metrics", "similarity", "describe", "kinds")


def test_what_is_public_is_documented():
    for name in patterns.__all__:
        assert getattr(patterns, name).__doc__ or name == "KINDS", name
