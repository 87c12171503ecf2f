"""The decoder layer: PyTorch's numbers and gradients, continued with a cache as at once."""

import doctest

import pytest
import torch
import torch.nn.functional as F
from pytorch_layers import DECODER, by_their_names, decoder_layer
from test_transformer import MultiHead
from torch import nn

import attnkit.transformer.decoder
from attnkit import MultiHeadAttention, causal_mask, padding_mask
from attnkit.capture import capture_attention
from attnkit.grouped_query import GroupedQueryAttention
from attnkit.transformer import DecoderCache, DecoderLayer, EncoderLayer, KeyValueCache

BATCH, N, N_MEMORY, HEADS, D_HEAD, D_HIDDEN = 2, 7, 11, 3, 5, 13
D_MODEL = HEADS * D_HEAD
MASKS = {
    "none": (None, None),
    "causal": (causal_mask(N), None),
    "causal and padding": (causal_mask(N) & padding_mask([3, 7]), padding_mask([11, 4])),
}
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "a function": torch.tanh, "a module": nn.SiLU()}
NORMS = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def drawn(layer):
    """No bias is zero and no scale is one: a part left out would show."""
    torch.manual_seed(4)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, 0.3, 0.4)
    return layer


def build(dtype=torch.float64, **options):
    return drawn(DecoderLayer(D_MODEL, HEADS, D_HIDDEN, **{"dropout": 0.0} | options).to(dtype))


def pytorchs(ours, **options):
    return decoder_layer(ours, D_MODEL, HEADS, D_HIDDEN, **options)


def inputs(*shape, dtype=torch.float64):
    generator = torch.Generator().manual_seed(5)
    x, memory = (
        torch.randn(*shape, n, D_MODEL, generator=generator, dtype=torch.float64)
        for n in (N, N_MEMORY)
    )
    return x.to(dtype).requires_grad_(), memory.to(dtype).requires_grad_()


def blocked(mask, n_keys):
    return None if mask is None else ~mask.expand(BATCH, HEADS, N, n_keys).flatten(0, 1)


def close(ours, theirs, at_most=1e-12):
    torch.testing.assert_close(ours, theirs, atol=at_most, rtol=at_most)


@pytest.mark.parametrize("masks", MASKS.values(), ids=MASKS.keys())
@NORMS
@pytest.mark.parametrize("activation", ACTIVATIONS.values(), ids=ACTIVATIONS.keys())
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_outputs_and_gradients_are_pytorchs(masks, norm_first, activation, bias):
    options = {"norm_first": norm_first, "activation": activation, "bias": bias, "eps": 0.03}
    ours = build(**options)
    theirs = pytorchs(ours, **options)
    x, memory = inputs(BATCH)
    mask, memory_mask = masks
    expected = theirs(x, memory, blocked(mask, N), blocked(memory_mask, N_MEMORY))
    push = torch.linspace(-1, 2, expected.numel(), dtype=x.dtype).view_as(expected)
    wanted = torch.autograd.grad((expected * push).sum(), [x, memory, *theirs.parameters()])
    names = [name for name, _ in theirs.named_parameters()]
    wanted_by_name = dict(zip(names, wanted[2:], strict=True))
    for need_weights in (True, False):
        output, own, cross = ours(x, memory, mask, memory_mask, need_weights=need_weights)
        close(output, expected)
        assert (own is not None) == (cross is not None) == need_weights
        got = torch.autograd.grad((output * push).sum(), [x, memory, *ours.parameters()])
        close(got[0], wanted[0], 1e-10)
        close(got[1], wanted[1], 1e-10)
        names = [name for name, _ in ours.named_parameters()]
        got_by_name = by_their_names(dict(zip(names, got[2:], strict=True)), DECODER)
        assert got_by_name.keys() == wanted_by_name.keys()
        for name, gradient in wanted_by_name.items():
            close(got_by_name[name], gradient, 1e-10)


@NORMS
def test_float32(norm_first):
    ours = DecoderLayer(D_MODEL, HEADS, D_HIDDEN, norm_first=norm_first).eval()
    theirs = pytorchs(ours, norm_first=norm_first).eval()
    x, memory = inputs(BATCH, dtype=torch.float32)
    memory_mask = padding_mask([11, 4])
    expected = theirs(x, memory, ~causal_mask(N), memory_key_padding_mask=~memory_mask[:, 0, 0])
    close(ours(x, memory, causal_mask(N), memory_mask).output, expected, 1e-6)


def test_the_defaults_are_pytorchs():
    ours, theirs = DecoderLayer(D_MODEL, HEADS), nn.TransformerDecoderLayer(D_MODEL, HEADS)
    shapes = {n: p.shape for n, p in theirs.named_parameters()}
    assert {n: p.shape for n, p in by_their_names(ours.state_dict(), DECODER).items()} == shapes
    assert ours.dropout == theirs.dropout.p
    assert ours.self_attention.dropout == ours.cross_attention.dropout == theirs.dropout.p
    norms = (ours.self_attention_norm, ours.cross_attention_norm, ours.feed_forward_norm)
    assert {norm.eps for norm in norms} == {theirs.norm1.eps}
    assert ours.activation is F.relu and not ours.norm_first


@NORMS
def test_dropout_acts_where_pytorchs_does(norm_first):
    options = {"norm_first": norm_first, "dropout": 0.4}
    ours = build(**options).train()
    theirs = pytorchs(ours, **options).train()
    x, memory = inputs(1)
    torch.manual_seed(6)
    expected = theirs(x, memory)
    torch.manual_seed(6)
    output, own, cross = ours(x, memory)
    close(output, expected)  # the same numbers drawn in the same order: at the same places
    evaluated = ours.eval()(x, memory)
    close(own, evaluated.self_weights)  # before dropout
    assert cross.shape == (1, HEADS, N, N_MEMORY)
    close(cross.sum(-1), torch.ones_like(cross[..., 0]))
    close(evaluated.output, theirs.eval()(x, memory))


@NORMS
def test_weights_are_those_of_the_two_attentions(norm_first):
    layer = build(norm_first=norm_first)
    x, memory = inputs(BATCH)
    masks = causal_mask(N), padding_mask([11, 4])
    output, own, cross = layer(x, memory, *masks)
    seen = layer.self_attention_norm(x) if norm_first else x
    found, expected = layer.self_attention(seen, mask=masks[0])
    assert torch.equal(own, expected)
    y = x + found if norm_first else layer.self_attention_norm(x + found)
    seen = layer.cross_attention_norm(y) if norm_first else y
    assert torch.equal(cross, layer.cross_attention(seen, memory, mask=masks[1]).weights)
    assert not cross[1, ..., 4:].any() and not own.triu(1).any()
    with capture_attention(layer) as captured:
        again = layer(x, memory, *masks, need_weights=False)
    assert [(m.name, m.kind) for m in captured.maps] == [
        ("self_attention", "self"),
        ("cross_attention", "cross"),
    ]
    close(captured.maps[0].weights, own.detach())
    close(captured.maps[1].weights, cross.detach())
    close(again.output, output)


def test_without_a_batch():
    layer = build()
    x, memory = inputs(BATCH)
    output, own, cross = layer(x, memory, causal_mask(N))
    alone = layer(x[1], memory[1], causal_mask(N))
    for got, expected in zip(alone, (output[1], own[1], cross[1]), strict=True):
        close(got, expected)


def test_no_later_position_and_no_padding_can_change_a_position():
    layer = build()
    x, memory = (tensor.detach() for tensor in inputs(BATCH))
    masks = causal_mask(N), padding_mask([11, 4])
    expected = layer(x, memory, *masks).output
    later = torch.arange(N) >= 4
    close(layer(x.where(~later[:, None], 9.0), memory, *masks).output[:, :4], expected[:, :4])
    for strange in (1e3, float("nan"), float("inf")):
        other = memory.where(masks[1][:, 0, 0, :, None], strange)
        close(layer(x, other, *masks).output, expected)


@NORMS
def test_attentions_of_the_readers_may_take_the_place(norm_first):
    layer, (x, memory) = build(norm_first=norm_first), inputs(BATCH)
    masks = causal_mask(N), padding_mask([11, 4])
    expected = layer(x, memory, *masks)
    for name in ("self_attention", "cross_attention"):
        own = MultiHead(D_MODEL, HEADS).double()
        own.load_state_dict(getattr(layer, name).state_dict())
        setattr(layer, name, own)
    for got, want in zip(layer(x, memory, *masks), expected, strict=True):
        close(got, want)


# Continued with a cache


def grouped(layer):
    """The layer with heads that share keys and values."""
    for name, module in list(layer.named_children()):
        if isinstance(module, MultiHeadAttention):
            setattr(layer, name, GroupedQueryAttention(D_MODEL, HEADS, 1).double())
    return drawn(layer)


@NORMS
@pytest.mark.parametrize("make", [lambda layer: layer, grouped], ids=["multi-head", "grouped"])
@pytest.mark.parametrize("shape", [(BATCH,), ()], ids=["batch", "no batch"])
@pytest.mark.parametrize("need_weights", [True, False], ids=["weights", "fused"])
@pytest.mark.parametrize("pieces", [[1] * N, [3, 1, 2, 1], [N]], ids=str)
def test_continued_is_as_at_once(norm_first, make, shape, need_weights, pieces):
    layer, (x, memory) = make(build(norm_first=norm_first)), inputs(*shape)
    memory_mask = padding_mask([11, 4]) if shape else None
    whole = layer(x, memory, causal_mask(N), memory_mask)
    cache, done = layer.new_cache(), 0
    for piece in x.split(pieces, dim=-2):
        n = piece.shape[-2]
        mask = causal_mask(n, done + n)  # of one new position: all True
        got = layer(piece, memory, mask, memory_mask, need_weights=need_weights, cache=cache)
        new = slice(done, done + n)
        close(got.output, whole.output[..., new, :])
        if need_weights:
            close(got.self_weights, whole.self_weights[..., new, : done + n])
            close(got.cross_weights, whole.cross_weights[..., new, :])
        done += n
        assert (len(cache.self_attention), len(cache.cross_attention)) == (done, N_MEMORY)


@NORMS
def test_gradients_flow_through_a_cache(norm_first):
    layer, (x, memory) = build(norm_first=norm_first), inputs(BATCH)
    wanted = torch.autograd.grad(layer(x, memory, causal_mask(N)).output.square().sum(),
                                 [x, memory, *layer.parameters()])  # fmt: skip
    cache = layer.new_cache()
    outputs = [
        layer(x[:, i : i + 1], memory, causal_mask(1, i + 1), cache=cache).output for i in range(N)
    ]
    got = torch.autograd.grad(torch.cat(outputs, 1).square().sum(),
                              [x, memory, *layer.parameters()])  # fmt: skip
    for a, b in zip(got, wanted, strict=True):
        close(a, b, 1e-9)


def test_the_memory_is_projected_once_and_a_position_once():
    layer, (x, memory) = build(), inputs(BATCH)
    rows = {"self_attention": [], "cross_attention": []}
    for name, seen in rows.items():
        getattr(layer, name).key_proj.register_forward_hook(
            lambda module, args, output, seen=seen: seen.append(output.shape[-2])
        )
    cache = layer.new_cache()
    for i in range(N):
        layer(x[:, i : i + 1], memory, cache=cache)
    assert rows == {"self_attention": [1] * N, "cross_attention": [N_MEMORY]}


@NORMS
def test_a_causal_encoder_layer_is_continued_too(norm_first):
    layer = drawn(EncoderLayer(D_MODEL, HEADS, D_HIDDEN, norm_first=norm_first).double().eval())
    x, _ = inputs(BATCH)
    whole, cache = layer(x, causal_mask(N)), KeyValueCache()
    for i in range(N):
        got = layer(x[:, i : i + 1], causal_mask(1, i + 1), cache=cache)
        close(got.output, whole.output[:, i : i + 1])
        close(got.weights, whole.weights[:, :, i : i + 1, : i + 1])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@NORMS
def test_half_precision(dtype, norm_first):
    layer = DecoderLayer(D_MODEL, HEADS, D_HIDDEN, norm_first=norm_first).eval()
    x, memory = inputs(BATCH, dtype=torch.float32)
    masks = causal_mask(N), padding_mask([11, 4])
    expected = layer(x, memory, *masks).output
    layer.to(dtype)
    near = 40 * torch.finfo(dtype).eps
    x, memory = x.to(dtype), memory.to(dtype)
    for need_weights in (True, False):
        output = layer(x, memory, *masks, need_weights=need_weights).output
        assert output.dtype == dtype
        close(output.float(), expected, near)
    cache = layer.new_cache()
    outputs = [
        layer(x[:, i : i + 1], memory, causal_mask(1, i + 1), masks[1], cache=cache).output
        for i in range(N)
    ]
    close(torch.cat(outputs, 1).float(), expected, near)
    assert cache.n_bytes == 2 * 2 * BATCH * (N + N_MEMORY) * D_MODEL


# Refusals

GOOD = inputs(BATCH)
WRONG = {
    "ids": (
        lambda: build()(torch.zeros(BATCH, N, dtype=torch.long), GOOD[1]),
        TypeError,
        "embedding",
    ),
    "memory's dtype": (lambda: build()(GOOD[0], GOOD[1].float()), TypeError, "memory must have"),
    "a list": (lambda: build()(GOOD[0], [[0.0]]), TypeError, "memory must be a torch.Tensor"),
    "four axes": (lambda: build()(GOOD[0][None], GOOD[1]), ValueError, "got (1, 2, 7, 15)"),
    "size": (lambda: build()(GOOD[0], GOOD[1][..., 1:]), ValueError, "axis of memory must be 15"),
    "batch": (lambda: build()(GOOD[0], GOOD[1][:1]), ValueError, "memory.expand(2, -1, -1)"),
    "no batch": (lambda: build()(GOOD[0], GOOD[1][0]), ValueError, "memory.expand(2, -1, -1)"),
    "batch of another": (lambda: build()(GOOD[0][:1], GOOD[1]), ValueError, "and its batch, got"),
    "float mask": (
        lambda: build()(*GOOD, torch.ones(N, N)),
        TypeError,
        "from_blocked",
    ),
    "memory mask as mask": (
        lambda: build()(*GOOD, padding_mask([11, 4])),
        ValueError,
        "(2, 3, 7, 7)",
    ),
    "mask as memory mask": (
        lambda: build()(*GOOD, None, causal_mask(N)),
        ValueError,
        "(2, 3, 7, 11)",
    ),
    "heads": (lambda: DecoderLayer(16, 3), ValueError, "multiple of num_heads"),
    "d_hidden": (lambda: DecoderLayer(15, 3, 0), ValueError, "d_hidden"),
    "eps": (lambda: DecoderLayer(15, 3, eps=-1.0), ValueError, "eps"),
    "dropout": (lambda: DecoderLayer(15, 3, dropout=1.0), ValueError, "dropout"),
    "activation": (lambda: DecoderLayer(15, 3, activation="swish"), ValueError, "'relu', 'gelu'"),
    "one cache for two": (
        lambda: build()(*GOOD, cache=KeyValueCache()),
        TypeError,
        "layer.new_cache()",
    ),
    "swapped caches": (
        lambda: build()(*GOOD, cache=DecoderCache(KeyValueCache(grows=False), KeyValueCache())),
        TypeError,
        "grows=False",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_argument_is_refused_with_what_to_do(what):
    call, error, words = WRONG[what]
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_what_does_not_fit_the_cache_is_refused_and_leaves_it_alone():
    layer, (x, memory) = build(), inputs(BATCH)
    cache = layer.new_cache()
    layer(x[:, :2], memory, causal_mask(2), cache=cache)
    for wrong, words in (
        (lambda: layer(x[:1], memory[:1], cache=cache), "A new batch begins with a new cache"),
        (lambda: layer(x, memory, causal_mask(N), cache=cache), r"\(2, 3, 7, 9\)"),
        (
            lambda: layer(x[:, :1], memory[:, :5], causal_mask(1, 3), cache=cache),
            r"memory must be 11 \(as in the cache",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            wrong()
        assert (len(cache.self_attention), len(cache.cross_attention)) == (2, N_MEMORY)


def test_it_says_what_it_is():
    shown = repr(build(activation="gelu", norm_first=True))
    assert "activation=gelu, norm_first=True, dropout=0.0" in shown


def test_doctests():
    result = doctest.testmod(attnkit.transformer.decoder)
    assert result.attempted > 0 and result.failed == 0
