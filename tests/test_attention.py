import copy
import math
import pickle

import numpy as np
import pytest
import torch
from torch import nn

from attnkit import (
    AdditiveAttention,
    MultiHeadAttention,
    ScaledDotProductAttention,
    causal_mask,
    masked_softmax,
    padding_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
)

BATCH, HEADS, N_QUERIES, N_KEYS, D_HEAD = 2, 3, 5, 7, 11
D_MODEL = HEADS * D_HEAD
SCORES = (BATCH, HEADS, N_QUERIES, N_KEYS)


def random_mask(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(1)) < 0.6


def blocked_row():
    mask = torch.ones(N_QUERIES, N_KEYS, dtype=torch.bool)
    mask[2] = False
    return mask


MASKS = {
    "none": None,
    "all": torch.tensor(True),
    "keys": torch.arange(N_KEYS) != 4,
    "causal": causal_mask(N_QUERIES, N_KEYS),
    "window": sliding_window_mask(N_QUERIES, 2, N_KEYS),
    "padding": padding_mask([3, 7]),
    "causal and padding": causal_mask(N_QUERIES, N_KEYS) & padding_mask([2, 7]),
    "per head": random_mask(HEADS, N_QUERIES, N_KEYS) | (torch.arange(N_KEYS) == 0),
    "every cell": random_mask(*SCORES) | (torch.arange(N_KEYS) == 0),
}
BLOCKED = {
    "blocked row": blocked_row(),
    "empty sequence": padding_mask([0, 7]),
    "blocked row and padding": blocked_row() & padding_mask([3, 7]),
    "row of one head": random_mask(*SCORES) & (torch.arange(HEADS) != 1)[:, None, None],
}


def inputs(*batch, dtype=torch.float64):
    generator = torch.Generator().manual_seed(2)
    return [
        torch.randn(*batch, n, D_MODEL, generator=generator, dtype=torch.float64)
        .to(dtype)
        .requires_grad_()
        for n in (N_QUERIES, N_KEYS, N_KEYS)
    ]


def multi_head(dtype=torch.float64, **options):
    torch.manual_seed(3)
    attention = MultiHeadAttention(D_MODEL, HEADS, **options)
    for name, parameter in attention.named_parameters():
        if name.endswith("bias"):
            nn.init.normal_(parameter)  # a bias of zero would hide that it is left out
    return attention.to(dtype)


def pytorchs(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """PyTorch's module with our weights."""
    bias = ours.query_proj.bias is not None
    theirs = nn.MultiheadAttention(ours.d_model, ours.num_heads, bias=bias, batch_first=True)
    theirs.to(ours.query_proj.weight.dtype)
    projections = (ours.query_proj, ours.key_proj, ours.value_proj)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        theirs.out_proj.weight.copy_(ours.output_proj.weight)
        if bias:
            theirs.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
            theirs.out_proj.bias.copy_(ours.output_proj.bias)
    return theirs


def gradients(output, leaves):
    weight = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad((output * weight).sum(), leaves)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_multi_head_is_pytorchs_with_every_mask(mask, bias):
    ours = multi_head(bias=bias)
    theirs = pytorchs(ours)
    leaves = inputs(BATCH)
    blocked = None if mask is None else ~mask.expand(SCORES).flatten(0, 1)
    expected, expected_weights = theirs(*leaves, attn_mask=blocked, average_attn_weights=False)
    projections = (ours.query_proj, ours.key_proj, ours.value_proj)
    expected_gradients = gradients(
        expected, [*leaves, theirs.in_proj_weight, theirs.out_proj.weight]
    )
    for need_weights in (True, False):
        output, weights = ours(*leaves, mask, need_weights=need_weights)
        torch.testing.assert_close(output, expected)
        if need_weights:
            torch.testing.assert_close(weights, expected_weights)
        else:
            assert weights is None
        got = gradients(
            output, [*leaves, *(p.weight for p in projections), ours.output_proj.weight]
        )
        got = (*got[:3], torch.cat(got[3:6]), got[6])
        for one, other in zip(got, expected_gradients, strict=True):
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("mask", BLOCKED.values(), ids=BLOCKED.keys())
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_both_routes_give_zeros_to_a_query_that_may_see_nothing(mask, dtype):
    attention = multi_head(dtype)
    leaves = inputs(BATCH, dtype=dtype)
    loose = dict(atol=0.1, rtol=0.1) if dtype.itemsize == 2 else {}
    results = []
    for need_weights in (True, False):
        with torch.autograd.set_detect_anomaly(True):
            output, weights = attention(*leaves, mask, need_weights=need_weights)
            results.append((output, *gradients(output, [*leaves, *attention.parameters()])))
        if need_weights:
            assert (weights[~mask.expand(SCORES)] == 0).all()
            seen = mask.expand(SCORES).any(-1)
            torch.testing.assert_close(weights.sum(-1), seen.to(dtype), **loose)
    if dtype == torch.float64:
        nothing = ~mask.expand(SCORES).any(-1).any(1)
        bias = attention.output_proj.bias.expand(BATCH, N_QUERIES, D_MODEL)
        torch.testing.assert_close(results[0][0][nothing], bias[nothing])
    for one, other in zip(*results, strict=True):
        assert one.isfinite().all()
        scale = max(1.0, float(other.detach().abs().max())) if loose else 1.0
        torch.testing.assert_close(one / scale, other / scale, **loose)


def test_multi_head_is_a_loop_over_heads():
    attention = multi_head()
    query, key, value = inputs(BATCH)
    outputs, weights = [], []
    for h in range(HEADS):
        rows = slice(h * D_HEAD, (h + 1) * D_HEAD)
        projected = [
            x @ p.weight[rows].T + p.bias[rows]
            for x, p in zip(
                (query, key, value),
                (attention.query_proj, attention.key_proj, attention.value_proj),
                strict=True,
            )
        ]
        output, weight = scaled_dot_product_attention(*projected)
        outputs.append(output)
        weights.append(weight)
    result = attention(query, key, value)
    torch.testing.assert_close(result.output, attention.output_proj(torch.cat(outputs, -1)))
    torch.testing.assert_close(result.weights, torch.stack(weights, 1))


def test_split_and_combine_are_inverse_and_act_per_head():
    attention = multi_head()
    x = inputs(BATCH)[1].detach()
    heads = attention.split_heads(x)
    assert heads.shape == (BATCH, HEADS, N_KEYS, D_HEAD)
    assert torch.equal(heads[1, 2, 4], x[1, 4, 2 * D_HEAD :])
    assert torch.equal(attention.combine_heads(torch.eye(N_KEYS, dtype=x.dtype), heads), x)


def test_key_defaults_to_query_and_value_to_key():
    attention = multi_head()
    query, key, _ = inputs(BATCH)
    for one, other in (
        (attention(query), attention(query, query, query)),
        (attention(query, key), attention(query, key, key)),
    ):
        torch.testing.assert_close(one.output, other.output)
        torch.testing.assert_close(one.weights, other.weights)


@pytest.mark.parametrize("need_weights", [True, False])
def test_unbatched_is_a_batch_of_one(need_weights):
    attention = multi_head()
    leaves = inputs()
    masks = (None, blocked_row(), random_mask(HEADS, N_QUERIES, N_KEYS), padding_mask([4], N_KEYS))
    for mask in masks:
        output, weights = attention(*leaves, mask, need_weights=need_weights)
        batched = attention(*(t[None] for t in leaves), mask, need_weights=need_weights)
        assert output.shape == (N_QUERIES, D_MODEL)
        torch.testing.assert_close(output, batched.output[0])
        if need_weights:
            assert weights.shape == (HEADS, N_QUERIES, N_KEYS)
            torch.testing.assert_close(weights, batched.weights[0])


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize(
    ("batch", "n_queries", "n_keys"), [(0, 5, 7), (2, 0, 7), (2, 5, 0), (1, 1, 1), (0, 0, 0)]
)
def test_sizes_of_one_and_none(need_weights, batch, n_queries, n_keys):
    attention = multi_head()
    query = torch.randn(batch, n_queries, D_MODEL, dtype=torch.float64, requires_grad=True)
    key = torch.randn(batch, n_keys, D_MODEL, dtype=torch.float64)
    for mask in (None, torch.ones(n_queries, n_keys, dtype=torch.bool)):
        output, weights = attention(query, key, mask=mask, need_weights=need_weights)
        assert output.shape == (batch, n_queries, D_MODEL)
        if need_weights:
            assert weights.shape == (batch, HEADS, n_queries, n_keys)
        if n_keys == 0:
            torch.testing.assert_close(output, attention.output_proj.bias.expand_as(output))
        output.sum().backward()


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("change", [50.0, math.nan, math.inf])
def test_a_blocked_key_cannot_change_the_output(need_weights, change):
    attention = multi_head()
    query, key, value = (t.detach() for t in inputs(BATCH))
    for mask in (padding_mask([3, 7]), padding_mask([3, 7]) & causal_mask(N_QUERIES, N_KEYS)):
        results = []
        for change_by in (0.0, change):
            spoiled = [t.clone() for t in (query, key, value)]
            spoiled[1][0, 3:] += change_by
            spoiled[2][0, 3:] += change_by
            leaves = [t.requires_grad_() for t in spoiled]
            output, _ = attention(*leaves, mask, need_weights=need_weights)
            results.append((output, *gradients(output, [*leaves, *attention.parameters()])))
        for before, after in zip(*results, strict=True):
            torch.testing.assert_close(before, after, rtol=0, atol=1e-11)


@pytest.mark.parametrize("need_weights", [True, False])
def test_padding_that_neither_asks_nor_answers_may_hold_nan(need_weights):
    attention = multi_head()
    x = inputs(BATCH)[0].detach()
    real = torch.arange(N_QUERIES) < torch.tensor([3, N_QUERIES])[:, None]
    mask = (real[:, :, None] & real[:, None, :])[:, None]
    results = []
    for filler in (0.0, math.nan, 1e200):
        filled = torch.where(real[..., None], x, filler).requires_grad_()
        with torch.autograd.set_detect_anomaly(True):
            output = attention(filled, mask=mask, need_weights=need_weights).output
            wanted = [filled, *attention.parameters()]
            results.append((output, *torch.autograd.grad(output.square().sum(), wanted)))
    for other in results[1:]:
        torch.testing.assert_close(other, results[0])


def test_vmap_over_masks_alone():
    attention = multi_head()
    x, masks = inputs(BATCH)[0], random_mask(4, N_QUERIES, N_QUERIES)
    mapped = torch.vmap(lambda m: attention(x, mask=m).output)(masks)
    for i in range(4):
        torch.testing.assert_close(mapped[i], attention(x, mask=masks[i]).output)


@pytest.mark.parametrize("need_weights", [True, False])
def test_nan_elsewhere_does_not_take_a_key_from_the_head_that_may_see_it(need_weights):
    attention = multi_head()
    query, key, value = (t.detach().clone() for t in inputs(BATCH))
    mask = torch.ones(HEADS, N_QUERIES, N_KEYS, dtype=torch.bool)
    mask[1, :, 2] = False  # blocked for one head only
    mask[:, :, 6] = False  # blocked for all
    expected = attention(query, key, value, mask, need_weights=need_weights).output
    key[:, 6] = value[:, 6] = math.nan
    output = attention(query, key, value, mask, need_weights=need_weights).output
    torch.testing.assert_close(output, expected)


@pytest.mark.parametrize("need_weights", [True, False])
def test_causal_no_look_ahead(need_weights):
    attention = multi_head()
    x = inputs(BATCH)[1].detach()
    mask = causal_mask(N_KEYS)
    before = attention(x, mask=mask, need_weights=need_weights).output
    for j in range(N_KEYS):
        changed = x.clone()
        changed[:, j] += 10
        moved = attention(changed, mask=mask, need_weights=need_weights).output != before
        assert moved.any(-1).all(0).tolist() == [i >= j for i in range(N_KEYS)]


@pytest.mark.parametrize("need_weights", [True, False])
def test_dropout_acts_in_training_only_and_on_the_weights(need_weights):
    plain, dropping = multi_head(), multi_head(dropout=0.5)
    dropping.load_state_dict(plain.state_dict())
    leaves = inputs(BATCH)
    expected = plain(*leaves)
    result = dropping.eval()(*leaves, need_weights=need_weights)
    torch.testing.assert_close(result.output, expected.output)
    result = dropping.train()(*leaves, need_weights=need_weights)
    assert (result.output - expected.output).abs().max() > 0.01
    if need_weights:  # before dropout: each row still sums to 1
        torch.testing.assert_close(result.weights, expected.weights)
    many = torch.stack([dropping(*leaves, need_weights=need_weights).output for _ in range(2000)])
    assert (many.mean(0) - expected.output).abs().max() < 0.1 * many.std()


def test_scaled_dot_product_module_is_the_function():
    query, key, value = inputs(BATCH)
    mask = blocked_row()
    for scale in (None, 0.25):
        ours = ScaledDotProductAttention(scale=scale)(query, key, value, mask)
        expected = scaled_dot_product_attention(query, key, value, mask, scale=scale)
        assert torch.equal(ours.output, expected.output)
        assert torch.equal(ours.weights, expected.weights)
    dropping = ScaledDotProductAttention(scale=scale, dropout=0.5)
    result = dropping(query, key, value, mask)
    assert torch.equal(result.weights, expected.weights)
    ratio = (result.output - expected.output).abs().max()
    assert ratio > 0.01
    assert torch.equal(dropping.eval()(query, key, value, mask).output, expected.output)


def test_state_dict_names():
    linear = lambda name: [f"{name}.weight", f"{name}.bias"]  # noqa: E731
    names = [n for p in ("query", "key", "value", "output") for n in linear(f"{p}_proj")]
    assert list(multi_head().state_dict()) == names
    assert list(AdditiveAttention(2, 3, 5).state_dict()) == [
        "query_proj.weight",
        "key_proj.weight",
        "score_proj.weight",
    ]
    sizes = [sum(p.numel() for p in MultiHeadAttention(12, h).parameters()) for h in (1, 3, 12)]
    assert len(set(sizes)) == 1


def test_initial_weights_are_xaviers():
    torch.manual_seed(0)
    attention = MultiHeadAttention(128, 4)
    bound = math.sqrt(6 / 256)
    for name, parameter in attention.named_parameters():
        if name.endswith("bias"):
            assert (parameter == 0).all()
        else:
            assert 0.99 * bound < parameter.abs().max() <= bound
            assert abs(parameter.std().item() - bound / math.sqrt(3)) < 0.02 * bound


@pytest.mark.parametrize("copying", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_and_checkpoints_give_the_same_output(copying):
    leaves = inputs(BATCH)
    attention = multi_head(dropout=0.1).eval()
    expected = attention(*leaves).output
    assert torch.equal(copying(attention)(*leaves).output, expected)
    other = MultiHeadAttention(D_MODEL, HEADS).double().eval()
    other.load_state_dict(attention.state_dict())
    assert torch.equal(other(*leaves).output, expected)


def test_nothing_that_the_caller_owns_is_changed():
    leaves = [t.detach() for t in inputs(BATCH)]
    mask = BLOCKED["blocked row and padding"]
    leaves[1][0, 5] = math.nan
    versions = [t._version for t in (*leaves, mask)]
    for need_weights in (True, False):
        multi_head()(*leaves, mask, need_weights=need_weights)
    assert [t._version for t in (*leaves, mask)] == versions


def test_gradients_are_checked_by_differences():
    torch.manual_seed(5)
    attention = MultiHeadAttention(6, 3).double()
    mask = torch.tensor([[True, False, True], [False] * 3])
    query, key, value = (
        torch.randn(2, n, 6, dtype=torch.float64, requires_grad=True) for n in (2, 3, 3)
    )
    run = lambda *args: attention(*args, mask).output  # noqa: E731
    assert torch.autograd.gradcheck(run, (query, key, value))
    assert torch.autograd.gradgradcheck(run, (query, key, value))


def test_non_contiguous_input_and_autocast():
    attention = multi_head()
    leaves = [t.detach() for t in inputs(BATCH)]
    strided = [t.transpose(0, 1).contiguous().transpose(0, 1) for t in leaves]
    torch.testing.assert_close(attention(*strided).output, attention(*leaves).output)
    attention, leaves = attention.float(), [t.float() for t in leaves]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for need_weights in (True, False):
            output = attention(*leaves, blocked_row(), need_weights=need_weights).output
            expected = attention.float()(*leaves, blocked_row()).output
            torch.testing.assert_close(output, expected, atol=0.05, rtol=0.05)


# --- additive attention -------------------------------------------------------------------------

D_QUERY, D_KEY, D_HIDDEN, D_VALUE = 13, 17, 19, 23


def additive():
    torch.manual_seed(7)
    attention = AdditiveAttention(D_QUERY, D_KEY, D_HIDDEN).double()
    query = torch.randn(BATCH, N_QUERIES, D_QUERY, dtype=torch.float64, requires_grad=True)
    key = torch.randn(BATCH, N_KEYS, D_KEY, dtype=torch.float64, requires_grad=True)
    value = torch.randn(BATCH, N_KEYS, D_VALUE, dtype=torch.float64, requires_grad=True)
    return attention, query, key, value


def test_additive_attention_is_the_formula():
    attention, query, key, value = additive()
    mask = padding_mask([3, 7])
    output, weights = attention(query, key, value, mask)
    w_q, w_k = attention.query_proj.weight, attention.key_proj.weight
    v = attention.score_proj.weight[0]
    for b in range(BATCH):
        rows = [[v @ torch.tanh(w_q @ q + w_k @ k) for k in key[b]] for q in query[b]]
        scores = torch.stack([torch.stack(row) for row in rows])
        torch.testing.assert_close(weights[b], masked_softmax(scores, mask[b, 0]))
    torch.testing.assert_close(output, weights @ value)
    assert output.shape == (BATCH, N_QUERIES, D_VALUE)
    assert torch.autograd.gradcheck(lambda *a: attention(*a, mask).output, (query, key, value))


@pytest.mark.parametrize(
    "mask",
    [None, padding_mask([3, 7]), padding_mask([3, 7])[:, 0], padding_mask([3, 7])[:, 0, 0],
     torch.arange(N_KEYS) < 4, padding_mask([0, 7])],
    ids=["none", "padding", "(b,1,k)", "(b,k)", "(k,)", "empty sequence"],
)  # fmt: skip
def test_one_decoder_step_is_one_query(mask):
    attention, query, key, value = additive()
    output, weights = attention(query[:, 3], key, value, mask)
    many = mask[:, None] if mask is not None and mask.ndim == 2 else mask
    expected = attention(query, key, value, many)
    assert output.shape == (BATCH, D_VALUE) and weights.shape == (BATCH, N_KEYS)
    torch.testing.assert_close(output, expected.output[:, 3])
    torch.testing.assert_close(weights, expected.weights[:, 3])


def test_additive_attention_unbatched_and_with_default_value():
    attention, query, key, value = additive()
    expected = attention(query, key, value, padding_mask([3, 7]))
    output, weights = attention(query[0], key[0], value[0], padding_mask([3], N_KEYS))
    torch.testing.assert_close(output, expected.output[0])
    torch.testing.assert_close(weights, expected.weights[0])
    output, weights = attention(query[0, 3], key[0], value[0], padding_mask([3], N_KEYS))
    assert output.shape == (D_VALUE,) and weights.shape == (N_KEYS,)
    torch.testing.assert_close(output, expected.output[0, 3])
    torch.testing.assert_close(attention(query, key).output, attention(query, key, key).output)


@pytest.mark.parametrize("change", [50.0, math.nan, math.inf])
def test_a_blocked_key_cannot_change_additive_attention(change):
    attention, query, key, value = additive()
    mask = padding_mask([3, 7])
    results = []
    for change_by in (0.0, change):
        k, v = key.detach().clone(), value.detach().clone()
        k[0, 3:] += change_by
        v[0, 3:] += change_by
        leaves = [query, k.requires_grad_(), v.requires_grad_()]
        output, _ = attention(*leaves, mask)
        results.append((output, *gradients(output, [*leaves, *attention.parameters()])))
    for before, after in zip(*results, strict=True):
        torch.testing.assert_close(before, after)


# --- refusals -----------------------------------------------------------------------------------

MHA = multi_head()
Q, K, V = (t.detach() for t in inputs(BATCH))
ADDITIVE, AQ, AK, AV = additive()


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: MultiHeadAttention(10, 3), ValueError, "multiple of num_heads.*10.*3"),
        (lambda: MultiHeadAttention(10, 0), ValueError, "num_heads must be at least 1, got 0"),
        (lambda: MultiHeadAttention(10, -2), ValueError, "num_heads must be at least 1, got -2"),
        (lambda: MultiHeadAttention(0, 1), ValueError, "d_model must be at least 1"),
        (lambda: MultiHeadAttention(10.0, 2), TypeError, "d_model must be an integer, got 10.0"),
        (lambda: MultiHeadAttention(10, True), TypeError, "num_heads must be an integer, got True"),
        (lambda: MultiHeadAttention(10, 2, dropout=1.0), ValueError, "dropout .* below 1, got 1.0"),
        (lambda: MultiHeadAttention(10, 2, dropout=-0.1), ValueError, "dropout"),
        (lambda: MultiHeadAttention(10, 2, dropout=math.nan), ValueError, "dropout must be finite"),
        (lambda: MultiHeadAttention(10, 2, dropout=True), TypeError, "dropout must be a number"),
        (lambda: ScaledDotProductAttention(dropout=2), ValueError, "dropout"),
        (lambda: ScaledDotProductAttention(scale="big"), TypeError, "scale must be a number"),
        (lambda: AdditiveAttention(0, 3, 5), ValueError, "d_query must be at least 1"),
        (lambda: AdditiveAttention(2, 3, 5.5), TypeError, "d_hidden must be an integer"),
        (lambda: MHA(Q.long()), TypeError, "query must be floating point, got torch.int64"),
        (lambda: MHA(Q.numpy()), TypeError, "query must be a torch.Tensor, got ndarray"),
        (lambda: MHA(Q.float()), TypeError, "query must have the dtype of the module's weight"),
        (lambda: MHA(Q, K.float()), TypeError, "key must have the dtype of query"),
        (lambda: MHA(Q, K, V.to("meta")), ValueError, "value must be on the device of query"),
        (lambda: MHA(Q[..., :-1]), ValueError, r"query must be 33 \(d_model"),
        (lambda: MHA(Q, K[..., :-1]), ValueError, r"key must be 33 \(d_model"),
        (lambda: MHA(Q, K, V[:, :-1]), ValueError, r"value must be 7 \(T_k, as in key\), got 6"),
        (lambda: MHA(Q, K[:1]), ValueError, r"key must have .* batch.*expand\(2, -1, -1\)"),
        (lambda: MHA(Q, K[0]), ValueError, "key must have the axes of query"),
        (lambda: MHA(Q[0], K), ValueError, r"whole batch: query\.expand\(2, -1, -1\)"),
        (lambda: MHA(Q[:1], K), ValueError, r"whole batch: query\.expand\(2, -1, -1\)"),
        (lambda: MHA(Q, K.repeat(3, 1, 1)), ValueError, r"33\)\. The batch is the first"),
        (lambda: MHA(Q[0, 0]), ValueError, r"query must have the shape \(batch, T_q, d_model\)"),
        (lambda: MHA(Q[None]), ValueError, r"query must have the shape \(batch, T_q, d_model\)"),
        (lambda: MHA(Q, K, V, torch.ones(5, 7)), TypeError, "mask must be boolean"),
        (lambda: MHA(Q, K, V, random_mask(BATCH, N_KEYS)), ValueError, "None, None, :"),
        (lambda: MHA(Q, K, V, random_mask(4, *SCORES)), ValueError, "would enlarge"),
        (lambda: MHA(Q, K, V, random_mask(5, 7).to("meta")), ValueError, "mask must be on"),
        (lambda: ADDITIVE(AK, AK), ValueError, r"query must be 13 \(d_query of the module\)"),
        (lambda: ADDITIVE(AQ, AQ), ValueError, r"key must be 17 \(d_key of the module\)"),
        (lambda: ADDITIVE(AQ, AK, AV[:, 1:]), ValueError, "value must have the axes of key"),
        (lambda: ADDITIVE(AQ[:1], AK), ValueError, "same batch, got 1 and 2"),
        (lambda: ADDITIVE(AQ[0, 0], AK), ValueError, "query and key must have the shapes"),
        (lambda: ADDITIVE(AQ, AK, AV.float()), TypeError, "value must have the dtype of key"),
        (lambda: ADDITIVE(AQ.float(), AK.float()), TypeError, "dtype of the module's weight"),
        (lambda: ADDITIVE(AQ, AK, mask=torch.ones(7)), TypeError, "mask must be boolean"),
        (lambda: ADDITIVE(AQ, AK, mask=[True] * 7), TypeError, "mask must be a boolean"),
        (
            lambda: ADDITIVE(AQ, AK, mask=random_mask(BATCH, HEADS, 1, N_KEYS)),
            ValueError,
            "would enlarge|does not broadcast",
        ),
        (lambda: ADDITIVE(AQ, AK, mask=random_mask(BATCH, N_KEYS)), ValueError, ":, None, :"),
    ],
)  # fmt: skip
def test_refusals_say_what_came(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_sizes_may_be_numpys_integers():
    attention = MultiHeadAttention(np.int64(12), np.int32(3), dropout=np.float32(0.5))
    assert (attention.d_model, attention.num_heads, attention.d_head) == (12, 3, 4)
    assert "d_model=12, num_heads=3, dropout=0.5" in repr(attention)
