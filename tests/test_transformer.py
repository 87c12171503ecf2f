"""The encoder layer: PyTorch's numbers, gradients and places of dropout; clear answers."""

import doctest

import pytest
import torch
import torch.nn.functional as F
from pytorch_layers import ENCODER, by_their_names
from torch import nn

import attnkit.transformer.encoder
from attnkit import AttentionOutput, causal_mask, padding_mask, scaled_dot_product_attention
from attnkit.capture import capture_attention
from attnkit.transformer import EncoderLayer

BATCH, N, HEADS, D_HEAD, D_HIDDEN = 2, 7, 3, 5, 13
D_MODEL = HEADS * D_HEAD
LENGTHS = [3, 7]
MASKS = {
    "none": None,
    "padding": padding_mask(LENGTHS),
    "causal": causal_mask(N),
    "causal and padding": causal_mask(N) & padding_mask(LENGTHS),
}
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "a function": torch.tanh, "a module": nn.SiLU()}


def build(dtype=torch.float64, **options):
    """A layer in which no bias is zero and no scale is one: a part left out would show."""
    torch.manual_seed(4)
    layer = EncoderLayer(D_MODEL, HEADS, D_HIDDEN, **{"dropout": 0.0} | options).to(dtype)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, 0.3, 0.4)
    return layer


def pytorchs(ours, **options):
    """PyTorch's layer with our weights."""
    options = {"dropout": 0.0, "batch_first": True} | options
    if "eps" in options:
        options["layer_norm_eps"] = options.pop("eps")
    theirs = nn.TransformerEncoderLayer(D_MODEL, HEADS, D_HIDDEN, **options)
    theirs.to(ours.up_proj.weight.dtype)
    theirs.load_state_dict(by_their_names(dict(ours.named_parameters()), ENCODER))
    return theirs


def inputs(*shape, dtype=torch.float64):
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(*shape, N, D_MODEL, generator=generator, dtype=torch.float64)
    return x.to(dtype).requires_grad_()


def close(ours, theirs, at_most=1e-12):
    torch.testing.assert_close(ours, theirs, atol=at_most, rtol=at_most)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("activation", ACTIVATIONS.values(), ids=ACTIVATIONS.keys())
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
def test_outputs_and_gradients_are_pytorchs(mask, norm_first, activation, bias):
    options = {"norm_first": norm_first, "activation": activation, "bias": bias, "eps": 0.03}
    ours = build(**options)
    theirs = pytorchs(ours, **options)
    blocked = None if mask is None else (~mask.expand(BATCH, HEADS, N, N)).flatten(0, 1)
    x = inputs(BATCH)
    expected = theirs(x, src_mask=blocked)
    push = torch.linspace(-1, 2, expected.numel(), dtype=x.dtype).view_as(expected)
    expected_x, *wanted = torch.autograd.grad((expected * push).sum(), [x, *theirs.parameters()])
    wanted = dict(zip((name for name, _ in theirs.named_parameters()), wanted, strict=True))
    for need_weights in (True, False):
        output, weights = ours(x, mask, need_weights=need_weights)
        close(output, expected)
        assert (weights is not None) == need_weights
        got_x, *got = torch.autograd.grad((output * push).sum(), [x, *ours.parameters()])
        close(got_x, expected_x, 1e-10)
        got = dict(zip((name for name, _ in ours.named_parameters()), got, strict=True))
        got = by_their_names(got, ENCODER)
        assert got.keys() == wanted.keys()
        for name, gradient in wanted.items():
            close(got[name], gradient, 1e-10)


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
def test_float32_and_pytorchs_fast_path(norm_first):
    ours = build(torch.float32, norm_first=norm_first).eval()
    theirs = pytorchs(ours, norm_first=norm_first).eval()
    x, mask = inputs(BATCH, dtype=torch.float32), padding_mask(LENGTHS)
    real = mask[:, 0, 0]
    with torch.no_grad():
        expected = theirs(x, src_key_padding_mask=~real)
        close(ours(x, mask).output[real], expected[real], 1e-6)


def test_the_defaults_are_pytorchs():
    ours, theirs = EncoderLayer(D_MODEL, HEADS), nn.TransformerEncoderLayer(D_MODEL, HEADS)
    shapes = {n: p.shape for n, p in theirs.named_parameters()}
    assert {n: p.shape for n, p in by_their_names(ours.state_dict(), ENCODER).items()} == shapes
    assert ours.dropout == ours.attention.dropout == theirs.dropout.p
    assert ours.attention_norm.eps == ours.feed_forward_norm.eps == theirs.norm1.eps
    assert ours.activation is F.relu and not ours.norm_first


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
def test_dropout_acts_where_pytorchs_does(norm_first):
    options = {"norm_first": norm_first, "dropout": 0.4}
    ours = build(**options).train()
    theirs = pytorchs(ours, **options).train()
    x = inputs(1)  # PyTorch turns the axes of a batch, and draws for them in another order
    torch.manual_seed(6)
    expected = theirs(x)
    torch.manual_seed(6)
    output, weights = ours(x)
    close(output, expected)  # the same numbers drawn in the same order: at the same places
    close(weights.sum(-1), torch.ones_like(weights[..., 0]))  # before dropout
    output, weights_in_eval = ours.eval()(x)
    close(weights, weights_in_eval)
    close(output, theirs.eval()(x))


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
def test_weights_are_those_of_the_attention(norm_first):
    layer = build(norm_first=norm_first)
    x, mask = inputs(BATCH), padding_mask(LENGTHS)
    seen = layer.attention_norm(x) if norm_first else x
    weights = layer(x, mask).weights
    assert torch.equal(weights, layer.attention(seen, mask=mask).weights)
    with capture_attention(layer) as captured:
        layer(x, mask, need_weights=False)
    assert [(m.name, m.kind) for m in captured.maps] == [("attention", "self")]
    close(captured.maps[0].weights, weights.detach())


def test_without_a_batch():
    layer = build()
    x = inputs(BATCH)
    output, weights = layer(x, padding_mask(LENGTHS))
    alone = layer(x[1])
    close(alone.output, output[1])
    close(alone.weights, weights[1])
    assert alone.weights.shape == (HEADS, N, N)


def test_padding_cannot_change_a_token():
    layer, mask = build(), padding_mask(LENGTHS)
    x = inputs(BATCH).detach()
    real = mask[:, 0, 0]
    expected = layer(x, mask).output
    for strange in (1e3, float("nan"), float("inf")):
        other = x.where(real[..., None], strange)
        close(layer(other, mask).output[real], expected[real])


class MultiHead(nn.Module):
    """As the reader writes it in chapter 5: no keyword need_weights, key and value are wanted."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        for name in ("query_proj", "key_proj", "value_proj", "output_proj"):
            self.add_module(name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            projection(x).unflatten(-1, (self.num_heads, -1)).transpose(-3, -2)
            for projection, x in (
                (self.query_proj, query),
                (self.key_proj, key),
                (self.value_proj, value),
            )
        )
        heads, weights = scaled_dot_product_attention(q, k, v, mask)
        return AttentionOutput(self.output_proj(heads.transpose(-3, -2).flatten(-2)), weights)


def test_an_attention_of_the_readers_may_take_the_place():
    layer, x, mask = build(), inputs(BATCH), padding_mask(LENGTHS)
    expected = layer(x, mask)
    own = MultiHead(D_MODEL, HEADS).double()
    own.load_state_dict(layer.attention.state_dict())
    layer.attention = own
    for got, want in zip(layer(x, mask), expected, strict=True):
        close(got, want)


WRONG = {
    "ids": (lambda: build()(torch.zeros(BATCH, N, dtype=torch.long)), TypeError, "embedding"),
    "dtype": (lambda: build()(inputs(BATCH, dtype=torch.float32)), TypeError, "float64"),
    "a list": (lambda: build()([[0.0]]), TypeError, "torch.Tensor"),
    "four axes": (lambda: build()(inputs(1, BATCH)), ValueError, "got (1, 2, 7, 15)"),
    "size": (lambda: build()(inputs(BATCH)[..., 1:]), ValueError, "must be 15"),
    "float mask": (lambda: build()(inputs(BATCH), torch.ones(N, N)), TypeError, "from_blocked"),
    "mask shape": (
        lambda: build()(inputs(BATCH), padding_mask([3, 5])),
        ValueError,
        "(2, 3, 7, 7)",
    ),
    "heads": (lambda: EncoderLayer(16, 3), ValueError, "multiple of num_heads"),
    "d_hidden": (lambda: EncoderLayer(15, 3, 0), ValueError, "d_hidden"),
    "eps": (lambda: EncoderLayer(15, 3, eps=-1.0), ValueError, "eps"),
    "eps kind": (lambda: EncoderLayer(15, 3, eps="small"), TypeError, "eps"),
    "dropout": (lambda: EncoderLayer(15, 3, dropout=1.0), ValueError, "dropout"),
    "unknown activation": (
        lambda: EncoderLayer(15, 3, activation="swish"),
        ValueError,
        "'relu', 'gelu' or a function",
    ),
    "activation's class": (
        lambda: EncoderLayer(15, 3, activation=nn.ReLU),
        TypeError,
        "Make one: ReLU()",
    ),
    "activation of another kind": (lambda: EncoderLayer(15, 3, activation=3), TypeError, "got int"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_argument_is_refused_with_what_to_do(what):
    call, error, words = WRONG[what]
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_it_says_what_it_is():
    assert "activation=gelu, norm_first=True, dropout=0.0" in repr(
        build(activation="gelu", norm_first=True)
    )
    assert "activation=SiLU" in repr(build(activation=nn.SiLU()))


def test_doctests():
    result = doctest.testmod(attnkit.transformer.encoder)
    assert result.attempted > 0 and result.failed == 0
