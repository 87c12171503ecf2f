"""capture_attention: the weights are those of the formula, and the model notices nothing."""

import doctest
import importlib
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.functional import scaled_dot_product_attention as imported_by_name

from attnkit import (
    AdditiveAttention,
    MultiHeadAttention,
    ScaledDotProductAttention,
    causal_mask,
    padding_mask,
)
from attnkit.capture import capture_attention
from attnkit.seq2seq import Seq2Seq
from attnkit.tasks import ChineseNumerals

BATCH, T_Q, T_K, D_MODEL, HEADS = 2, 5, 7, 12, 3


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(11)


@pytest.mark.parametrize("module", ["maps", "context"])
def test_doctests(module):
    result = doctest.testmod(importlib.import_module(f"attnkit.capture.{module}"))
    assert not result.failed


def close(got, want, tolerance=1e-6):
    torch.testing.assert_close(got, want.detach(), rtol=0, atol=tolerance, equal_nan=True)


def by_hand(module, query, key, *, blocked=None, added=None):
    """The weights of an ``nn.MultiheadAttention``, batch first, one head at a time."""
    d_model, d_head = module.embed_dim, module.embed_dim // module.num_heads
    if module.in_proj_weight is None:
        w_q, w_k = module.q_proj_weight, module.k_proj_weight
    else:
        w_q, w_k = module.in_proj_weight[:d_model], module.in_proj_weight[d_model : 2 * d_model]
    q, k = query @ w_q.T, key @ w_k.T
    if module.in_proj_bias is not None:
        q, k = q + module.in_proj_bias[:d_model], k + module.in_proj_bias[d_model : 2 * d_model]
    if module.bias_k is not None:
        k = torch.cat([k, module.bias_k[0].expand(len(k), 1, -1)], 1)
    if module.add_zero_attn:
        k = torch.cat([k, torch.zeros(len(k), 1, d_model)], 1)
    weights = []
    for head in range(module.num_heads):
        part = slice(head * d_head, (head + 1) * d_head)
        scores = q[..., part] @ k[..., part].mT / math.sqrt(d_head)
        n_keys = key.shape[1]
        if blocked is not None:
            scores[..., :n_keys] = scores[..., :n_keys].masked_fill(blocked, -math.inf)
        if added is not None:
            scores[..., :n_keys] += added
        weights.append(scores.softmax(-1))
    return torch.stack(weights, 1)


def gradients(model, inputs, output):
    output = output[0] if isinstance(output, tuple) else output
    wanted = [*model.parameters(), *(x for x in inputs if x is not None and x.requires_grad)]
    got = torch.autograd.grad(output.square().sum(), wanted, allow_unused=True)
    return [torch.zeros(()) if gradient is None else gradient for gradient in got]


def same_run(model, *inputs, run=None, **kwargs):
    """Run plainly and captured; outputs, gradients and random numbers must be equal bit by bit."""
    run = run or (lambda: model(*inputs, **kwargs))
    before = torch.random.get_rng_state()
    plain = run()
    after = torch.random.get_rng_state()
    plain_gradients = gradients(model, inputs, plain)
    torch.random.set_rng_state(before)
    with capture_attention(model) as captured:
        got = run()
        assert torch.equal(torch.random.get_rng_state(), after)
        got_gradients = gradients(model, inputs, got)
    for one, two in zip(tensors(got), tensors(plain), strict=True):
        assert torch.equal(one, two)
    for one, two in zip(got_gradients, plain_gradients, strict=True):
        assert torch.equal(one, two)
    for attention in captured:
        assert not attention.weights.requires_grad
        assert attention.weights.ndim == 4
    return captured


def tensors(output):
    output = output if isinstance(output, tuple) else (output,)
    return [part for part in output if part is not None]


def inputs(module, *, batch_first, unbatched):
    q = torch.randn(BATCH, T_Q, module.embed_dim, requires_grad=True)
    k = torch.randn(BATCH, T_K, module.kdim, requires_grad=True)
    v = torch.randn(BATCH, T_K, module.vdim, requires_grad=True)
    if unbatched:
        return [x[0].detach().requires_grad_() for x in (q, k, v)]
    return [x if batch_first else x.detach().transpose(0, 1).requires_grad_() for x in (q, k, v)]


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("layout", ["batch first", "batch second", "unbatched"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kdim": 13, "vdim": 17},
        {"kdim": 13, "bias": False},
        {"add_bias_kv": True},
        {"add_zero_attn": True},
        {"add_bias_kv": True, "add_zero_attn": True, "bias": False},
    ],
    ids=lambda options: "+".join(options) or "plain",
)
def test_multihead_attention(options, layout, need_weights, average):
    module = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=layout == "batch first", **options)
    if module.in_proj_bias is not None:
        nn.init.normal_(module.in_proj_bias)
    unbatched = layout == "unbatched"
    q, k, v = inputs(module, batch_first=layout == "batch first", unbatched=unbatched)
    captured = same_run(module, q, k, v, need_weights=need_weights, average_attn_weights=average)
    (found,) = captured
    assert (found.name, found.call, found.kind) == ("", 0, "cross")
    if unbatched:
        q, k = q[None], k[None]
    elif layout == "batch second":
        q, k = q.transpose(0, 1), k.transpose(0, 1)
    close(found.weights, by_hand(module, q, k))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("padding", [None, "boolean", "float"])
@pytest.mark.parametrize("mask", [None, "boolean", "float", "per head"])
@pytest.mark.parametrize("extra", [False, True])
def test_masks_of_multihead_attention(mask, padding, need_weights, extra):
    module = nn.MultiheadAttention(
        D_MODEL, HEADS, batch_first=True, add_bias_kv=extra, add_zero_attn=extra
    )
    q, k = torch.randn(BATCH, T_Q, D_MODEL), torch.randn(BATCH, T_K, D_MODEL)
    added, given = torch.zeros(BATCH, HEADS, T_Q, T_K), {}
    if mask == "boolean":
        blocked = torch.rand(T_Q, T_K) < 0.3
        blocked[:, 0] = False
        given["attn_mask"] = blocked if padding != "float" else _minus_infinity(blocked)
        added = added + _minus_infinity(blocked)
    elif mask == "float":
        given["attn_mask"] = torch.randn(T_Q, T_K)
        added = added + given["attn_mask"]
    elif mask == "per head":
        per_head = torch.randn(BATCH, HEADS, T_Q, T_K)
        given["attn_mask"] = per_head.flatten(0, 1)
        added = added + per_head
    if padding is not None:
        padded = torch.tensor([[False] * T_K, [False] * 4 + [True] * 3])
        fits = padding == "boolean" and mask in (None, "boolean")
        given["key_padding_mask"] = padded if fits else _minus_infinity(padded)
        added = added + _minus_infinity(padded)[:, None, None]
    (found,) = same_run(module, q, k, k, need_weights=need_weights, **given)
    want = torch.stack(
        [by_hand(module, q, k, added=added[:, head])[:, head] for head in range(HEADS)], 1
    )
    close(found.weights, want)


def _minus_infinity(blocked):
    return torch.zeros(blocked.shape).masked_fill(blocked, -math.inf)


def test_a_causal_hint_is_followed_as_pytorch_follows_it():
    module = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)
    x = torch.randn(BATCH, T_Q, D_MODEL)
    mask = ~causal_mask(T_Q)
    for need_weights in (True, False):
        (found,) = same_run(
            module, x, x, x, attn_mask=mask, is_causal=True, need_weights=need_weights
        )
        assert found.kind == "self"
        close(found.weights, by_hand(module, x, x, blocked=mask))


@pytest.mark.parametrize("batch_first", [True, False])
def test_queries_and_keys_of_one_tensor_are_self_whatever_the_values(batch_first):
    attention = nn.MultiheadAttention(12, 3, batch_first=batch_first)
    x = torch.randn(2, 5, 12)
    with capture_attention(attention) as captured:
        attention(x, x, x + 1)
        attention(x, x.clone(), x)
    assert [found.kind for found in captured] == ["self", "cross"]
    attention, x = attention.to("meta"), x.to("meta")
    with capture_attention(attention) as captured:
        attention(x, x.clone(), x)
    assert [found.kind for found in captured] == ["cross"]


def test_a_row_that_may_see_nothing_is_what_the_model_made_of_it():
    module = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)
    x = torch.randn(BATCH, T_Q, D_MODEL)
    blocked = torch.tensor([[False] * T_Q, [True] * T_Q])
    with capture_attention(module) as captured:
        zeros, _ = module(x, x, x, key_padding_mask=blocked, need_weights=False)
        nans, _ = module(x, x, x, key_padding_mask=blocked)
    assert zeros.isfinite().all() and not captured.maps[0].weights[1].any()
    assert nans[1].isnan().all() and captured.maps[1].weights[1].isnan().all()
    close(captured.maps[0].weights[0], captured.maps[1].weights[0])


def encoder(layers=2, heads=2, **options):
    layer = nn.TransformerEncoderLayer(D_MODEL, heads, 17, batch_first=True, **options)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


@pytest.mark.parametrize("no_grad", [torch.no_grad, torch.inference_mode])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors is in prototype")
def test_an_encoder_on_its_fast_path(nested, norm_first, no_grad):
    model = encoder(norm_first=norm_first).eval()
    model.use_nested_tensor = nested and not norm_first
    x, padded = torch.randn(BATCH, T_Q, D_MODEL), torch.zeros(BATCH, T_Q, dtype=torch.bool)
    padded[1, 3:] = True
    with no_grad():
        plain = model(x, src_key_padding_mask=padded)
        with capture_attention(model) as captured:
            got = model(x, src_key_padding_mask=padded)
    close(got[~padded], plain[~padded])
    assert [(m.name, m.kind) for m in captured] == [
        (f"layers.{layer}.self_attn", "self") for layer in (0, 1)
    ]
    first, layer = captured.maps[0].weights, model.layers[0]
    with torch.no_grad():
        into = layer.norm1(x) if norm_first else x
        close(first, by_hand(layer.self_attn, into, into, blocked=padded[:, None, :]))
    assert not first[1, ..., 3:].any()
    assert not first.is_inference()


def test_an_encoder_in_training_mode_without_dropout_has_the_same_gradients():
    model = encoder(dropout=0.0)
    x = torch.randn(BATCH, T_Q, D_MODEL, requires_grad=True)
    captured = same_run(model, x, mask=~causal_mask(T_Q), is_causal=True)
    assert len(captured) == 2
    for found in captured:
        assert not found.weights.triu(1).any()
        close(found.weights.sum(-1), torch.ones(BATCH, 2, T_Q))


def test_a_transformer_has_self_and_cross_attention():
    model = nn.Transformer(D_MODEL, 2, 2, 2, 17, dropout=0.0, batch_first=True)
    source = torch.randn(BATCH, T_K, D_MODEL, requires_grad=True)
    target = torch.randn(BATCH, T_Q, D_MODEL, requires_grad=True)
    mask = nn.Transformer.generate_square_subsequent_mask(T_Q)
    captured = same_run(model, source, target, tgt_mask=mask, tgt_is_causal=True)
    shapes = {m.name: (m.kind, tuple(m.weights.shape)) for m in captured}
    layers = [f"coder.layers.{layer}" for layer in (0, 1)]
    assert shapes == {
        **{f"en{x}.self_attn": ("self", (BATCH, 2, T_K, T_K)) for x in layers},
        **{f"de{x}.self_attn": ("self", (BATCH, 2, T_Q, T_Q)) for x in layers},
        **{f"de{x}.multihead_attn": ("cross", (BATCH, 2, T_Q, T_K)) for x in layers},
    }
    assert [m.name for m in captured.of("cross")] == [f"de{x}.multihead_attn" for x in layers]
    layer, memory = model.decoder.layers[0], model.encoder(source)
    y = layer.self_attn(target, target, target, attn_mask=mask)[0]
    want = by_hand(layer.multihead_attn, layer.norm1(target + y), memory)
    close(captured["decoder.layers.0.multihead_attn"][0].weights, want)


class Calls(nn.Module):
    """A model that calls the function with the arguments it was made with."""

    def __init__(self, function=F.scaled_dot_product_attention, **options):
        super().__init__()
        self.function, self.options = function, options

    def forward(self, query, key, value):
        return self.function(query, key, value, **self.options)


def heads_of(*shape):
    return torch.randn(*shape, requires_grad=True)


@pytest.mark.parametrize("function", [imported_by_name, F.scaled_dot_product_attention])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": 0.7},
        {"scale": -1.3},
        {"is_causal": True},
        {"attn_mask": torch.arange(T_K) < torch.arange(3, 3 + T_Q)[:, None]},
        {"attn_mask": torch.linspace(-3, 3, T_Q * T_K).view(T_Q, T_K)},
        {"attn_mask": padding_mask([4, 7])},
        {"attn_mask": torch.rand(BATCH, HEADS, T_Q, T_K) < 0.3},
    ],
    ids=lambda options: "+".join(options) or "plain",
)
def test_the_fused_function(options, function):
    q, k = heads_of(BATCH, HEADS, T_Q, 11), heads_of(BATCH, HEADS, T_K, 11)
    v = heads_of(BATCH, HEADS, T_K, 13)
    (found,) = same_run(Calls(function, **options), q, k, v)
    scores = q @ k.mT * options.get("scale", 1 / math.sqrt(11))
    mask = options.get("attn_mask")
    if options.get("is_causal"):  # top left, though the queries are fewer than the keys
        mask = torch.arange(T_K) <= torch.arange(T_Q)[:, None]
    if mask is not None:
        is_bool = mask.dtype == torch.bool
        scores = scores.masked_fill(~mask, -math.inf) if is_bool else scores + mask
    close(found.weights, scores.softmax(-1).nan_to_num(0.0))
    assert found.kind == "unknown"


def test_grouped_queries_share_keys():
    q, k, v = heads_of(BATCH, 6, T_Q, 11), heads_of(BATCH, 2, T_K, 11), heads_of(BATCH, 2, T_K, 13)
    (found,) = same_run(Calls(enable_gqa=True, is_causal=True), q, k, v)
    assert found.weights.shape == (BATCH, 6, T_Q, T_K)
    for head in range(6):
        scores = q[:, head] @ k[:, head // 3].mT / math.sqrt(11)
        scores = scores.masked_fill(torch.ones(T_Q, T_K).triu(1).bool(), -math.inf)
        close(found.weights[:, head], scores.softmax(-1))


def test_axes_that_broadcast_are_there_in_the_map():
    q, k = heads_of(1, HEADS, T_Q, 11), heads_of(BATCH, 1, T_K, 11)
    v = heads_of(BATCH, HEADS, T_K, 13)
    (found,) = same_run(Calls(), q, k, v)
    close(found.weights, (q @ k.mT / math.sqrt(11)).softmax(-1))
    (found,) = same_run(Calls(), q, q, v[:, :, :T_Q])
    assert found.weights.shape == (BATCH, HEADS, T_Q, T_Q)


@pytest.mark.parametrize(
    "leading, shape",
    [((), (1, 1)), ((BATCH,), (BATCH, 1)), ((2, 3, 7), (6, 7))],
)
def test_maps_have_four_axes(leading, shape):
    q, k, v = (heads_of(*leading, n, 11) for n in (T_Q, T_K, T_K))
    (found,) = same_run(Calls(), q, k, v)
    close(found.weights, (q @ k.mT / math.sqrt(11)).softmax(-1).detach().view(*shape, T_Q, T_K))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("need_weights", [True, False])
def test_other_precisions(dtype, need_weights):
    module = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True, dtype=dtype)
    x = (3 * torch.randn(BATCH, T_Q, D_MODEL)).to(dtype)
    (found,) = same_run(module, x, x, x, need_weights=need_weights)
    want = by_hand(module.double(), x.double(), x.double()).detach()
    close(found.weights.double(), want, 1e-6 if dtype == torch.float64 else 0.05)


def test_autocast():
    model = encoder(dropout=0.0)
    x = torch.randn(BATCH, T_Q, D_MODEL, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        captured = same_run(model, x)
    layer = model.layers[0].self_attn
    close(captured.maps[0].weights, by_hand(layer, x, x).detach(), 0.02)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("unbatched", [False, True])
def test_our_multi_head_attention(need_weights, unbatched):
    module = MultiHeadAttention(D_MODEL, HEADS)
    q, k = heads_of(BATCH, T_Q, D_MODEL), heads_of(BATCH, T_K, D_MODEL)
    mask = padding_mask([4, 7])
    if unbatched:
        q, k, mask = heads_of(T_Q, D_MODEL), heads_of(T_K, D_MODEL), padding_mask([4], 7)
    (found,) = same_run(module, q, k, mask=mask, need_weights=need_weights)
    want = module(q, k, mask=mask).weights.detach()
    close(found.weights, want[None] if unbatched else want)
    assert found.kind == "cross"
    (found,) = same_run(module, q, need_weights=need_weights)
    assert found.kind == "self"


def test_our_other_modules():
    additive = AdditiveAttention(5, 3, 11)
    states, one, many = heads_of(BATCH, T_K, 3), heads_of(BATCH, 5), heads_of(BATCH, T_Q, 5)
    (found,) = same_run(additive, one, states, None, padding_mask([4, 7]))
    close(found.weights[:, 0, 0], additive(one, states, mask=padding_mask([4, 7])).weights)
    (found,) = same_run(additive, many, states)
    close(found.weights[:, 0], additive(many, states).weights)
    (found,) = same_run(additive, many[0], states[0])
    close(found.weights[0, 0], additive(many[0], states[0]).weights)
    (found,) = same_run(additive, one[0], states[0])
    close(found.weights[0, 0, 0], additive(one[0], states[0]).weights)
    dot = ScaledDotProductAttention(scale=0.3)
    q, k, v = heads_of(BATCH, HEADS, T_Q, 11), heads_of(BATCH, 1, T_K, 11), heads_of(T_K, 13)
    (found,) = same_run(dot, q, k, v, causal_mask(T_Q, T_K))
    close(found.weights, dot(q, k, v, causal_mask(T_Q, T_K)).weights)


def test_padding_that_holds_nan_is_no_reason_to_doubt_a_map():
    attention, x = MultiHeadAttention(D_MODEL, HEADS), torch.randn(BATCH, T_K, D_MODEL)
    x[0, 4:] = math.nan
    for need_weights in (True, False):
        with capture_attention(attention) as captured:
            output, _ = attention(x, mask=padding_mask([4, 7]), need_weights=need_weights)
        assert output[0, :4].isfinite().all()
        close(captured.maps[0].weights, attention(x, mask=padding_mask([4, 7])).weights)


@pytest.mark.parametrize("context", ["additive", "dot"])
def test_each_step_of_a_decoder_is_a_call(context):
    task = ChineseNumerals()
    model = Seq2Seq(task.source_vocabulary, task.target_vocabulary, context, d_hidden=13).eval()
    plain = model.translate("三百二十", max_length=5)
    with capture_attention(model) as captured:
        got = model.translate("三百二十", max_length=5)
    assert got.words == plain.words and torch.equal(got.weights, plain.weights)
    assert [(m.name, m.call, m.kind) for m in captured] == [
        ("context", step, "cross") for step in range(len(captured))
    ]
    rows = torch.cat([m.weights[0, 0] for m in captured])
    close(rows[: len(got.words)], got.weights)
