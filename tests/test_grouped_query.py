"""Shared keys and values: PyTorch's numbers, and the place of MultiHeadAttention everywhere."""

import doctest

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import attnkit.grouped_query
from attnkit import MultiHeadAttention, causal_mask, padding_mask
from attnkit.ablation import ablate, attention_modules, head_importance
from attnkit.capture import capture_attention
from attnkit.grouped_query import GroupedQueryAttention
from attnkit.key_value_cache import KeyValueCache
from attnkit.transformer import EncoderLayer

BATCH, N, N_KEYS, HEADS, D_HEAD = 2, 7, 11, 6, 5
D_MODEL = HEADS * D_HEAD
MASKS = {
    "none": None,
    "padding": padding_mask([4, 11]),
    "causal": causal_mask(N, N_KEYS),
    "a row that sees nothing": (torch.arange(N) > 0)[:, None].expand(N, N_KEYS),
}
GROUPS = pytest.mark.parametrize("groups", [1, 2, 3, 6])


def build(groups, dtype=torch.float64, **options):
    torch.manual_seed(4)
    attention = GroupedQueryAttention(D_MODEL, HEADS, groups, **options).to(dtype)
    for parameter in attention.parameters():
        nn.init.normal_(parameter, 0.1, 0.3)
    return attention


def inputs(*shape, dtype=torch.float64):
    generator = torch.Generator().manual_seed(5)
    return [
        torch.randn(*shape, n, D_MODEL, generator=generator, dtype=torch.float64)
        .to(dtype)
        .requires_grad_()
        for n in (N, N_KEYS, N_KEYS)
    ]


def close(ours, theirs, at_most=1e-12):
    torch.testing.assert_close(ours, theirs, atol=at_most, rtol=at_most)


def expected_of(attention, query, key, value, mask):
    q, k, v = (
        projection(x).unflatten(-1, (-1, D_HEAD)).transpose(1, 2)
        for projection, x in (
            (attention.query_proj, query),
            (attention.key_proj, key),
            (attention.value_proj, value),
        )
    )
    heads = F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)
    return attention.output_proj(heads.transpose(1, 2).flatten(2))


@GROUPS
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_outputs_and_gradients_are_pytorchs(groups, mask, bias):
    attention = build(groups, bias=bias)
    tensors = inputs(BATCH)
    wanted_of = [*tensors, *attention.parameters()]
    expected = expected_of(attention, *tensors, mask)
    push = torch.linspace(-1, 2, expected.numel(), dtype=expected.dtype).view_as(expected)
    wanted = torch.autograd.grad((expected * push).sum(), wanted_of)
    for need_weights in (True, False):
        output, weights = attention(*tensors, mask, need_weights=need_weights)
        close(output, expected)
        assert weights is None or weights.shape == (BATCH, HEADS, N, N_KEYS)
        got = torch.autograd.grad((output * push).sum(), wanted_of)
        for a, b in zip(got, wanted, strict=True):
            close(a, b, 1e-10)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_with_a_head_of_keys_for_each_query_head_it_is_multi_head_attention(mask):
    ours, theirs = build(HEADS), MultiHeadAttention(D_MODEL, HEADS).double()
    theirs.load_state_dict(ours.state_dict())  # names and shapes too
    for got, expected in zip(ours(*inputs(BATCH), mask), theirs(*inputs(BATCH), mask), strict=True):
        close(got, expected)


@GROUPS
def test_it_is_multi_head_attention_with_equal_heads_of_keys(groups):
    ours, theirs = build(groups), MultiHeadAttention(D_MODEL, HEADS).double()
    state = ours.state_dict()
    for name in ("key_proj.weight", "key_proj.bias", "value_proj.weight", "value_proj.bias"):
        heads = state[name].unflatten(0, (groups, D_HEAD))
        state[name] = heads.repeat_interleave(HEADS // groups, 0).flatten(0, 1)
    theirs.load_state_dict(state)
    for got, expected in zip(ours(*inputs(BATCH)), theirs(*inputs(BATCH)), strict=True):
        close(got, expected)


@GROUPS
def test_the_parameters_that_are_saved(groups):
    ours, whole = build(groups), MultiHeadAttention(D_MODEL, HEADS)
    count = [sum(p.numel() for p in module.parameters()) for module in (ours, whole)]
    assert count[1] - count[0] == 2 * (HEADS - groups) * D_HEAD * (D_MODEL + 1)


def test_float32_without_a_batch_and_start_of_the_weights():
    torch.manual_seed(0)
    attention = GroupedQueryAttention(D_MODEL, HEADS, 2)
    tensors = inputs(BATCH, dtype=torch.float32)
    close(attention(*tensors).output, expected_of(attention, *tensors, None), 1e-6)
    output, weights = attention(*(t[1] for t in tensors))
    close(output, attention(*tensors).output[1], 1e-6)
    assert weights.shape == (HEADS, N, N_KEYS)
    limit = (6 / (D_MODEL + 2 * D_HEAD)) ** 0.5
    assert 0.9 * limit < attention.key_proj.weight.abs().max() <= limit
    assert not attention.value_proj.bias.any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision(dtype):
    attention = build(2, dtype)
    tensors = inputs(BATCH, dtype=dtype)
    for need_weights in (True, False):
        output = attention(*tensors, MASKS["padding"], need_weights=need_weights).output
        assert output.dtype == dtype and output.isfinite().all()


@GROUPS
def test_continued_with_a_cache_it_is_as_at_once_and_keeps_less(groups):
    attention, (x, _, _) = build(groups), inputs(BATCH)
    whole, cache = attention(x, mask=causal_mask(N)), KeyValueCache()
    for i in range(N):
        for_one = causal_mask(1, i + 1)
        assert for_one.all()
        output, weights = attention(x[:, i : i + 1], mask=for_one, cache=cache)
        close(output, whole.output[:, i : i + 1])
        close(weights, whole.weights[:, :, i : i + 1, : i + 1])
    assert cache.keys.shape == (BATCH, groups, N, D_HEAD)
    assert cache.n_bytes == 2 * 8 * BATCH * groups * N * D_HEAD


def test_in_a_layer_with_capture_and_ablation():
    layer = EncoderLayer(D_MODEL, HEADS, 13).double().eval()
    layer.attention = build(2)
    x, mask = inputs(BATCH)[0].detach(), padding_mask([4, 7])
    output, weights = layer(x, mask)
    for need_weights in (True, False):
        with capture_attention(layer) as captured:
            close(layer(x, mask, need_weights=need_weights).output, output)
        assert [(m.name, m.kind) for m in captured.maps] == [("attention", "self")]
        close(captured.maps[0].weights, weights.detach())
    assert [name for name, _ in attention_modules(layer)] == ["attention"]
    # a query head is taken out, and not the keys that it shares
    head, size = 3, slice(3 * D_HEAD, 4 * D_HEAD)
    with ablate(layer, {(0, head): "zero"}), capture_attention(layer) as captured:
        without = layer(x, mask).output
    close(captured.maps[0].weights, weights.detach())
    with torch.no_grad():
        layer.attention.output_proj.weight[:, size] = 0.0
    close(without, layer(x, mask).output)
    importance = head_importance(layer, [x], lambda model, x: model(x).output.square().mean((1, 2)))
    assert importance.shape == (1, HEADS)
    assert importance[0, head] == 0 and (importance[0, :head] > 0).all()


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((30, 6, 4), ValueError, "multiple of num_key_value_heads, got num_heads=6 and .*=4"),
        ((30, 6, 12), ValueError, "multiple of num_key_value_heads"),
        ((30, 6, 0), ValueError, "num_key_value_heads must be at least 1"),
        ((30, 6, 2.0), TypeError, "num_key_value_heads must be an integer"),
        ((30, 7, 1), ValueError, "d_model must be a multiple of num_heads"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        GroupedQueryAttention(*arguments)


def test_wrong_inputs_are_refused_as_by_multi_head_attention():
    attention, (query, key, value) = build(2), inputs(BATCH)
    with pytest.raises(ValueError, match=r"broadcasts to \(2, 6, 7, 11\)"):
        attention(query, key, value, causal_mask(N))
    with pytest.raises(ValueError, match="must be 30"):
        attention(query, key[..., :10], value)


def test_it_says_what_it_is():
    assert "num_heads=6, dropout=0.0, num_key_value_heads=2" in repr(build(2))


def test_doctests():
    result = doctest.testmod(attnkit.grouped_query)
    assert result.attempted > 0 and result.failed == 0
