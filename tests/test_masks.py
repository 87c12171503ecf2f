import numpy as np
import pytest
import torch

from attnkit import (
    causal_mask,
    from_blocked,
    padding_mask,
    sliding_window_mask,
    strided_mask,
)


def test_causal_mask_is_the_lower_triangle_with_its_diagonal():
    assert torch.equal(causal_mask(5), torch.ones(5, 5, dtype=torch.bool).tril())


@pytest.mark.parametrize(("n_queries", "n_keys"), [(1, 7), (3, 7), (7, 7), (0, 5), (0, 0)])
def test_queries_are_the_last_positions(n_queries, n_keys):
    """The mask of the last queries is the last rows of the square mask."""
    expected = causal_mask(n_keys)[n_keys - n_queries :]
    assert torch.equal(causal_mask(n_queries, n_keys), expected)
    window = sliding_window_mask(n_keys, 3)[n_keys - n_queries :]
    assert torch.equal(sliding_window_mask(n_queries, 3, n_keys), window)
    strided = strided_mask(n_keys, 3)[n_keys - n_queries :]
    assert torch.equal(strided_mask(n_queries, 3, n_keys), strided)


@pytest.mark.parametrize("window", [1, 2, 5, 11])
def test_window_counts_the_querys_own_key(window):
    mask = sliding_window_mask(7, window)
    assert mask.sum(-1).tolist() == [min(i + 1, window) for i in range(7)]
    assert mask.diagonal().all()
    assert torch.equal(mask, mask & causal_mask(7))


@pytest.mark.parametrize("stride", [1, 2, 3, 7, 11])
def test_a_stride_counts_back_from_the_querys_own_key(stride):
    mask = strided_mask(7, stride)
    for i in range(7):
        assert mask[i].nonzero().flatten().tolist() == sorted(range(i, -1, -stride))
    assert torch.equal(strided_mask(7, 1), causal_mask(7))
    assert torch.equal(strided_mask(7, 7), torch.eye(7, dtype=torch.bool))


def test_window_both_ways():
    mask = sliding_window_mask(5, 2)
    both = mask | mask.mT
    i, j = torch.meshgrid(torch.arange(5), torch.arange(5), indexing="ij")
    assert torch.equal(both, (i - j).abs() < 2)


@pytest.mark.parametrize(
    "lengths",
    [
        [2, 0, 5],
        (2, 0, 5),
        np.array([2, 0, 5], dtype=np.uint8),
        torch.tensor([2, 0, 5], dtype=torch.int32),
    ],
)
def test_padding_mask_counts_real_tokens(lengths):
    mask = padding_mask(lengths, 7)
    assert mask.shape == (3, 1, 1, 7)
    assert mask.dtype == torch.bool
    assert mask.sum(-1).flatten().tolist() == [2, 0, 5]
    assert mask[0, 0, 0].tolist() == [True, True] + [False] * 5
    assert padding_mask(lengths).shape == (3, 1, 1, 5)


def test_padding_mask_of_nothing():
    assert padding_mask([]).shape == (0, 1, 1, 0)
    assert padding_mask([], 3).shape == (0, 1, 1, 3)
    assert padding_mask([0, 0]).shape == (2, 1, 1, 0)


def test_n_keys_may_be_any_integer_but_no_boolean():
    assert causal_mask(np.int64(2), torch.tensor([1, 3]).max()).shape == (2, 3)
    for value in (True, np.True_, torch.tensor(True)):
        with pytest.raises(TypeError, match="n_queries must be an integer"):
            causal_mask(value)


@pytest.mark.parametrize(
    "blocked",
    [
        torch.tensor([[False, True], [True, False]]),
        torch.tensor([[0, 1], [1, 0]]),
        torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float16),
        np.array([[0, 1], [1, 0]], dtype=np.uint8),
        [[0, 1], [1, 0]],
    ],
)
def test_from_blocked_inverts_and_leaves_its_argument_alone(blocked):
    before = torch.as_tensor(blocked).clone()
    assert from_blocked(blocked).tolist() == [[True, False], [False, True]]
    assert torch.equal(torch.as_tensor(blocked), before)


@pytest.mark.parametrize("strange", [[0.0, -float("inf")], [0.0, float("nan")], [0, 2], [0.0, 0.5]])
def test_from_blocked_refuses_what_is_neither_0_nor_1(strange):
    with pytest.raises(ValueError, match=r"only 0 \(allowed\) and 1 \(blocked\).*mask == 0"):
        from_blocked(torch.tensor(strange))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: causal_mask(5, 3), ValueError, "n_queries must be at most n_keys=3, got 5.*swap"),
        (lambda: causal_mask(-1), ValueError, "n_queries must be at least 0, got -1"),
        (lambda: causal_mask(2.0), TypeError, "n_queries must be an integer, got 2.0"),
        (lambda: causal_mask(None), TypeError, "n_queries must be an integer, got None"),
        (lambda: causal_mask(2, "3"), TypeError, "n_keys must be an integer, got '3'"),
        (lambda: sliding_window_mask(3, 0), ValueError, "window must be at least 1, got 0"),
        (lambda: sliding_window_mask(3, 1.5), TypeError, "window must be an integer"),
        (lambda: sliding_window_mask(5, 2, 3), ValueError, "n_queries must be at most"),
        (lambda: strided_mask(3, 0), ValueError, "stride must be at least 1, got 0"),
        (lambda: strided_mask(3, True), TypeError, "stride must be an integer"),
        (lambda: strided_mask(5, 2, 3), ValueError, "n_queries must be at most"),
        (lambda: padding_mask([2, -1]), ValueError, "lengths must be at least 0, got -1"),
        (lambda: padding_mask([2, 5], 3), ValueError, "at most n_keys=3, got 5"),
        (lambda: padding_mask([2.0, 5.0]), TypeError, "must be integers, got torch.float32"),
        (lambda: padding_mask([True, 3]), TypeError, "got booleans"),
        (lambda: padding_mask(torch.ones(2, 3, dtype=torch.bool)), TypeError, "None, None, :"),
        (lambda: padding_mask([[1, 2], [3, 4]]), ValueError, r"one axis, \(batch,\)"),
        (lambda: padding_mask(3), ValueError, r"one axis, \(batch,\)"),
        (lambda: padding_mask([[1], [2, 3]]), TypeError, "lengths must be integers"),
        (lambda: padding_mask("ab"), TypeError, "lengths must be integers"),
        (lambda: padding_mask(None), TypeError, "lengths must be integers"),
        (lambda: padding_mask([1], -1), ValueError, "n_keys must be at least 0"),
        (lambda: from_blocked("no"), TypeError, "blocked must be a tensor"),
    ],
)
def test_refusals_say_what_came(call, error, words):
    with pytest.raises(error, match=words):
        call()
