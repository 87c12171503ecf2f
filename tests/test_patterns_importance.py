"""How alike heads are, and how much the loss depends on each."""

import math

import numpy as np
import pytest
import torch
from pattern_samples import some

from attnkit import MultiHeadAttention, causal_mask, padding_mask, patterns
from attnkit.patterns import rows as rows_module
from attnkit.patterns import similarity as module

HEADS, N_QUERIES, N_KEYS = 3, 7, 11


def divergence(p, q):
    """Jensen–Shannon, from two Kullback–Leibler divergences, in nats."""
    middle = (p + q) / 2
    return sum(
        0.5 * a * math.log(a / m)
        for one in (p, q)
        for a, m in zip(one.tolist(), middle.tolist(), strict=True)
        if a > 0
    )


def similarity(weights, counts):
    """Of ``(heads, T_q, T_k)``, in loops."""
    found = np.full((len(weights),) * 2, math.nan)
    for i, j in np.ndindex(*found.shape):
        values = [
            divergence(weights[i, q], weights[j, q])
            for q in range(weights.shape[1])
            if counts[q] and weights[i, q].any() and weights[j, q].any()
        ]
        if values:
            found[i, j] = 1 - sum(values) / len(values) / math.log(2)
    return torch.from_numpy(found)


# ------------------------------------------------------------ similarity


def test_heads_that_are_equal_and_heads_that_share_no_key():
    a = torch.eye(5)
    heads = torch.stack([a, a.roll(1, 0), a, 0.5 * a + 0.5 * a.roll(1, 0)])
    found = patterns.head_similarity(heads.double())
    expected = 1 - divergence(a[0], heads[3, 0]) / math.log(2)
    assert found[0].tolist() == pytest.approx([1, 0, 1, expected])
    assert found.diagonal().tolist() == [1] * 4


@pytest.mark.parametrize("block", [1, 100, 1 << 17])
def test_equals_the_loop_over_queries(block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    monkeypatch.setattr(rows_module, "BLOCK", block)
    mask = causal_mask(N_QUERIES, N_KEYS)
    weights = some(2, 5, HEADS, N_QUERIES, N_KEYS, mask=mask, dtype=torch.float64)
    weights[1, 4, 0, 3] = weights[1, 3, 2, 4] = 0
    weights[0, 2, 1] = 0
    query_mask = torch.arange(N_QUERIES) > 1
    found = patterns.head_similarity(weights, mask, query_mask)
    for at in np.ndindex(2, 5):
        expected = similarity(weights[at], query_mask)
        torch.testing.assert_close(found[at], expected, rtol=0, atol=1e-13, equal_nan=True)
    assert found[0, 2, 1].isnan().all()
    torch.testing.assert_close(found, found.mT, rtol=0, atol=0, equal_nan=True)


def test_layers_in_a_list_and_low_precision():
    weights = some(2, HEADS, N_QUERIES, N_KEYS)
    found = patterns.head_similarity(weights)
    assert found.dtype == torch.float32
    assert torch.equal(patterns.head_similarity(list(weights)), found)
    torch.testing.assert_close(patterns.head_similarity(weights.numpy()), found)
    low = patterns.head_similarity(weights.bfloat16())
    torch.testing.assert_close(low, found, rtol=0, atol=1e-2)
    assert 0 <= found.min() and found.max() <= 1
    # float32's ln 2 is a little too large.
    apart = patterns.head_similarity(torch.eye(2)[:, None])
    assert apart.tolist() == [[1, 0], [0, 1]]
    # All heads of all layers: one axis.
    every = patterns.head_similarity(weights.flatten(0, 1))
    torch.testing.assert_close(every[:HEADS, :HEADS], found[0])


def test_what_stands_in_queries_that_are_left_out_changes_nothing():
    weights, real = some(HEADS, N_QUERIES, N_KEYS), torch.arange(N_QUERIES) < 4
    padded = weights.masked_fill(~real[:, None], math.nan)
    found = patterns.head_similarity(padded, query_mask=real)
    assert torch.equal(found, patterns.head_similarity(weights, query_mask=real))


def test_one_map_is_not_compared():
    with pytest.raises(ValueError, match=r"\(\.\.\., heads, queries, keys\).*torch\.stack"):
        patterns.head_similarity(torch.eye(5))


# ------------------------------------------------------------ importance


def gates(model, x, loss_of, real=None):
    """E|∂L/∂ξ| with gates as leaves: the definition itself."""
    found = torch.zeros(model.num_heads, dtype=torch.float64)
    for b in range(len(x)):
        gate = torch.ones(model.num_heads, dtype=torch.float64, requires_grad=True)
        n = len(x[b]) if real is None else int(real[b].sum())
        part = x[b : b + 1, :n]
        query, key, value = (
            model.split_heads(project(part))
            for project in (model.query_proj, model.key_proj, model.value_proj)
        )
        weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
        outputs = weights @ value * gate[:, None, None]
        loss = loss_of(model.output_proj(outputs.transpose(1, 2).flatten(2)))
        found += torch.autograd.grad(loss, gate)[0].abs() / len(x)
    return found


def traced(model, x, loss_of, mask=None, real=None):
    """The outputs of the heads in one batch, and the gradient of the summed loss."""
    query, key, value = (
        model.split_heads(project(x))
        for project in (model.query_proj, model.key_proj, model.value_proj)
    )
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    outputs = scores.softmax(-1) @ value
    y = model.output_proj(outputs.transpose(1, 2).flatten(2))
    keep = torch.ones_like(y[..., :1]) if real is None else real[..., None]
    loss = loss_of(y * keep)
    return outputs, torch.autograd.grad(loss, outputs)[0]


def loss_of(y):
    return (y**3).sum() + y.sin().sum()


def test_is_the_gradient_with_respect_to_a_gate():
    torch.manual_seed(0)
    model = MultiHeadAttention(15, 5).double()
    x = torch.randn(3, 7, 15, dtype=torch.float64)
    found = patterns.gradient_importance(*traced(model, x, loss_of))
    torch.testing.assert_close(found, gates(model, x, loss_of))
    assert not found.requires_grad and found.shape == (5,) and (found > 0).all()
    one = patterns.gradient_importance(*(t[0] for t in traced(model, x[:1], loss_of)))
    torch.testing.assert_close(one, gates(model, x[:1], loss_of))


def test_the_sign_is_lost_per_example_and_not_before():
    """Opposite gradients of two queries cancel, those of two examples do not."""
    outputs = torch.ones(2, 1, 2, 1)
    within = torch.tensor([[1.0, -1.0], [1.0, -1.0]])[:, None, :, None]
    between = torch.tensor([[1.0, 1.0], [-1.0, -1.0]])[:, None, :, None]
    assert patterns.gradient_importance(outputs, within).tolist() == [0.0]
    assert patterns.gradient_importance(outputs, between).tolist() == [2.0]


def test_padding_is_left_out():
    torch.manual_seed(0)
    model = MultiHeadAttention(15, 5).double()
    x = torch.randn(3, 7, 15, dtype=torch.float64)
    real = padding_mask([7, 4, 2])
    outputs, slopes = traced(model, x, loss_of, real, real[:, 0, 0])
    expected = gates(model, x, loss_of, real[:, 0, 0])
    outputs = outputs.detach().clone()
    outputs[1, :, 4:] = math.nan
    found = patterns.gradient_importance(outputs, slopes, real)
    torch.testing.assert_close(found, expected)
    # A sequence of padding alone is no example.
    none = torch.cat([real, padding_mask([0], 7)])
    more = [torch.cat([t, t[:1]]) for t in (outputs, slopes)]
    torch.testing.assert_close(patterns.gradient_importance(*more, none), expected)
    nothing = patterns.gradient_importance(outputs, slopes, padding_mask([0] * 3, 7))
    assert nothing.isnan().all()


@pytest.mark.parametrize(
    ("outputs", "slopes", "error", "message"),
    [
        (torch.ones(2, 3, 5, 7), None, TypeError, r"gradients .*None.*torch\.autograd\.grad"),
        (None, torch.ones(2, 3, 5, 7), TypeError, "head_outputs must be a tensor, got None"),
        (torch.ones(2, 3, 5, 7), torch.ones(2, 3, 5, 6), ValueError, r"\(2, 3, 5, 6\)"),
        (torch.ones(5, 7), torch.ones(5, 7), ValueError, r"\(batch, heads, queries, d_head\)"),
        (torch.ones(2, 3, 5, 7).int(), torch.ones(2, 3, 5, 7), TypeError, "floating point"),
        (torch.full((2, 3, 5, 7), math.nan), torch.ones(2, 3, 5, 7), ValueError, "finite.*Padding"),
    ],
)
def test_what_has_no_importance_is_refused(outputs, slopes, error, message):
    with pytest.raises(error, match=message):
        patterns.gradient_importance(outputs, slopes)


def test_nothing_of_the_callers_is_changed():
    given = [some(2, 3, 5, 7), some(2, 3, 5, 7), torch.ones(5) == 1]
    before = [tensor.clone() for tensor in given]
    patterns.gradient_importance(*given)
    patterns.head_similarity(given[0], None, given[2])
    assert all(map(torch.equal, given, before))
