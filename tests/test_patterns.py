"""Metrics of attention maps: hand-computed, against a loop over rows, and what they refuse."""

import math

import numpy as np
import pytest
import torch
from pattern_samples import previous_head, reference, some, uniform_causal

from attnkit import causal_mask, padding_mask, patterns, sliding_window_mask

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
    if (
        name == "induction_score"
        and mask is not None
        and not mask.expand(2, 3, n, n)[..., -1].any()
    ):
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
