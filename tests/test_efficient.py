"""Cheaper attention: equal to the n × n form in values and gradients, with no n × n tensor made."""

import doctest
import math

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from attnkit import (
    causal_mask,
    efficient,
    scaled_dot_product_attention,
    sliding_window_mask,
    strided_mask,
)
from attnkit.efficient import BLOCK, CHUNK, linear_attention, strided_attention, windowed_attention

D_KEY, D_VALUE = 5, 7
MASKED = {windowed_attention: sliding_window_mask, strided_attention: strided_mask}
LENGTHS = [1, 2, 63, 64, 65, 127, 128, 129, 131, 257, 311]


def three(*leading, n, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [
        torch.randn(*leading, n, d, dtype=torch.float64, generator=generator).to(dtype)
        for d in (D_KEY, D_KEY, D_VALUE)
    ]


def masked(function, query, key, value, number):
    mask = MASKED[function](query.shape[-2], number)
    return scaled_dot_product_attention(query, key, value, mask).output


def by_pairs(query, key, value, causal):
    """Linear attention as its formula stands, with all n² products of features."""
    products = (F.elu(query) + 1) @ (F.elu(key) + 1).mT
    products = products.tril() if causal else products
    return products / products.sum(-1, keepdim=True) @ value


def assert_same(function, expected, inputs, *, atol=1e-12):
    """The same output, and the same gradient of an uneven loss for every input."""
    results = []
    for f in (function, expected):
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        output = f(*leaves)
        uneven = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).reshape(output.shape)
        (output * uneven).sum().backward()
        results.append((output.detach(), *(leaf.grad for leaf in leaves)))
    for got, wanted in zip(*results, strict=True):
        torch.testing.assert_close(got, wanted, atol=atol, rtol=1e-10)


class Largest(TorchDispatchMode):
    """Remembers the most numbers in one tensor made meanwhile, views that copy nothing left out."""

    def __enter__(self):
        self.most = 0
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else (result,):
            if isinstance(tensor, torch.Tensor):
                self.most = max(self.most, tensor.untyped_storage().nbytes() // tensor.itemsize)
        return result


def most_numbers(function, n, **kwargs):
    """The largest tensor of a forward and a backward pass."""
    inputs = [torch.randn(n, 3, requires_grad=True) for _ in range(3)]
    with Largest() as largest:
        function(*inputs, **kwargs).sum().backward()
    return largest.most


def test_doctests():
    result = doctest.testmod(efficient)
    assert result.attempted and not result.failed


# In a window and in strides: what their masks give


@pytest.mark.parametrize("function", MASKED)
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("number", [1, 2, 3, 5, 64, 127, 129, 130, 257, 1000])
def test_values_and_gradients_are_those_under_the_mask(function, n, number):
    assert_same(
        lambda *x: function(*x, number), lambda *x: masked(function, *x, number), three(n=n)
    )


@pytest.mark.parametrize("function", MASKED)
def test_a_window_or_stride_as_long_as_the_sequence(function):
    for n in (7, 131):
        for number in (n - 1, n, n + 1, 10**12):
            x = three(n=n)
            torch.testing.assert_close(function(*x, number), masked(function, *x, min(number, n)))


def test_the_ends_of_both_families():
    x = three(2, n=131)
    causal = scaled_dot_product_attention(*x, causal_mask(131)).output
    torch.testing.assert_close(windowed_attention(*x, 131), causal)
    torch.testing.assert_close(strided_attention(*x, 1), causal)
    torch.testing.assert_close(windowed_attention(*x, 1), x[2])  # each sees itself alone
    torch.testing.assert_close(strided_attention(*x, 131), x[2])


ALL = {
    "windowed": lambda *x: windowed_attention(*x, 11),
    "strided": lambda *x: strided_attention(*x, 3),
    "linear": linear_attention,
    "linear, both ways": lambda *x: linear_attention(*x, causal=False),
}
SLOW = {
    "windowed": lambda *x: masked(windowed_attention, *x, 11),
    "strided": lambda *x: masked(strided_attention, *x, 3),
    "linear": lambda *x: by_pairs(*x, causal=True),
    "linear, both ways": lambda *x: by_pairs(*x, causal=False),
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (1, 3, 2, 1), (0,)])
def test_any_leading_axes(name, leading):
    x = three(*leading, n=131)
    assert ALL[name](*x).shape == (*leading, 131, D_VALUE)
    if 0 not in leading:
        assert_same(ALL[name], SLOW[name], x)


@pytest.mark.parametrize("name", ALL)
def test_leading_axes_broadcast(name):
    query, key, value = three(2, 3, n=67)
    key, value = key[:1], value[:, :1]
    assert ALL[name](query, key, value).shape == (2, 3, 67, D_VALUE)
    assert_same(ALL[name], SLOW[name], (query, key, value))


@pytest.mark.parametrize("name", ALL)
def test_no_position_at_all(name):
    assert ALL[name](*three(2, n=0)).shape == (2, 0, D_VALUE)


@pytest.mark.parametrize("name", ["windowed", "strided", "linear"])
def test_a_later_position_changes_nothing(name):
    n = 2 * BLOCK + 3
    before = ALL[name](*three(n=n))
    for j in (0, 1, CHUNK, BLOCK, n - 1):
        x = three(n=n)
        for tensor in x:
            tensor[j] = 1e3
        after = ALL[name](*x)
        torch.testing.assert_close(after[:j], before[:j], atol=1e-12, rtol=1e-12)
        assert not torch.allclose(after[j], before[j])


def test_what_the_mask_blocks_changes_nothing_even_as_nan():
    n, j = 2 * BLOCK + 3, BLOCK - 4
    query, key, value = three(n=n)
    clean = windowed_attention(query, key, value, 11), strided_attention(query, key, value, 3)
    key[j], value[j] = math.nan, math.nan
    strided = strided_attention(query, key, value, 3)
    others = torch.arange(n) % 3 != j % 3
    assert torch.equal(strided[others], clean[1][others])
    assert strided[j].isnan().all()
    windowed = windowed_attention(query, key, value, 11)
    assert torch.equal(windowed[2 * BLOCK :], clean[0][2 * BLOCK :])  # a block that is out of sight
    assert windowed[j : j + 11].isnan().all()


@pytest.mark.parametrize("function", MASKED)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_follows_double(function, dtype):
    x = three(2, n=131, dtype=dtype)
    got = function(*x, 7)
    assert got.dtype == dtype
    wanted = masked(function, *(t.double() for t in x), 7)
    assert (got.double() - wanted).abs().max() < 8 * torch.finfo(dtype).eps


@pytest.mark.parametrize("function", MASKED)
@pytest.mark.parametrize(("dtype", "much"), [(torch.float16, 60.0), (torch.float32, 1e15)])
def test_large_scores_take_the_largest(function, dtype, much):
    query, key, value = (t.to(dtype) for t in three(n=131))
    query, key = query * much, key * much
    got = function(query, key, value, 7)
    wanted = masked(function, query.double(), key.double(), value.double(), 7)
    assert torch.isfinite(got).all()
    assert (got.double() - wanted).abs().max() < 8 * torch.finfo(dtype).eps


# Linear: what all pairs of features give


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("n", LENGTHS)
def test_linear_values_and_gradients_are_those_of_all_pairs(causal, n):
    assert_same(
        lambda *x: linear_attention(*x, causal=causal),
        lambda *x: by_pairs(*x, causal=causal),
        three(2, n=n),
    )


def test_linear_gradients_where_elu_bends():
    query, key, value = three(n=67)
    query, key = query.round(), key.round()  # many zeros
    assert (query == 0).any() and (key == 0).any()
    for causal in (True, False):
        assert_same(
            lambda *x, causal=causal: linear_attention(*x, causal=causal),
            lambda *x, causal=causal: by_pairs(*x, causal=causal),
            (query, key, value),
        )


def exact_features(x):
    """φ in float64 where elu(x) + 1 rounds to nothing."""
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("shift", [-80.0, -30.0, -20.0, 30.0, 1000.0])
@pytest.mark.parametrize("which", ["query", "key"])
def test_linear_far_from_zero(causal, shift, which):
    """elu(x) + 1 in float32 is exactly 0 from −17 on, and 0/0 after it."""
    query, key, value = three(n=131, dtype=torch.float32)
    query, key = (query + shift, key) if which == "query" else (query, key + max(shift, -55.0))
    got = linear_attention(query, key, value, causal=causal)
    products = exact_features(query.double()) @ exact_features(key.double()).mT
    products = products.tril() if causal else products
    wanted = products / products.sum(-1, keepdim=True) @ value.double()
    assert (got.double() - wanted).abs().max() < 1e-4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("causal", [True, False])
def test_linear_has_no_zero_denominator(dtype, causal):
    lowest = torch.finfo(dtype).min
    for query, key in ((-500.0, 0.0), (0.0, -500.0), (-500.0, -500.0), (lowest, lowest)):
        query = torch.full((67, 3), query, dtype=dtype, requires_grad=True)
        key = torch.full((67, 3), key, dtype=dtype, requires_grad=True)
        value = torch.full((67, 2), 0.5, dtype=dtype)
        output = linear_attention(query, key, value, causal=causal)
        torch.testing.assert_close(output, value)
        output.sum().backward()
        assert torch.isfinite(query.grad).all() and torch.isfinite(key.grad).all()


@pytest.mark.parametrize("causal", [True, False])
def test_linear_over_a_long_sequence(causal):
    n = 100_003
    x = three(n=n, dtype=torch.float32)
    got = linear_attention(*x, causal=causal)
    wanted = linear_attention(*(t.double() for t in x), causal=causal)
    assert (got.double() - wanted).abs().max() < 2e-6
    even = [torch.zeros(n, 2), torch.zeros(n, 2), torch.arange(n)[:, None] / n]
    means = linear_attention(*even, causal=causal)[:, 0]
    wanted = torch.arange(n).double() / (2 * n) if causal else torch.tensor((n - 1) / (2 * n))
    assert (means.double() - wanted).abs().max() < 2e-6


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_linear_in_half_precision_sums_in_single(dtype):
    """70,001 features of 1: more than float16 can hold, and bfloat16 stops counting at 256."""
    n = 70_001
    features, value = torch.zeros(n, 1, dtype=dtype), torch.ones(n, 1, dtype=dtype)
    value[::2] = 3.0
    for causal in (True, False):
        output = linear_attention(features, features, value, causal=causal)
        assert output.dtype == dtype
        assert output[-1].item() == pytest.approx(2.0, abs=1e-3)


def test_linear_sums_in_single_under_autocast():
    x = three(n=311, dtype=torch.float32)
    for causal in (True, False):
        wanted = linear_attention(*x, causal=causal)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            torch.testing.assert_close(linear_attention(*x, causal=causal), wanted)


def test_linear_is_no_softmax():
    """What the docstring says: another function, and the scale of the scores matters otherwise."""
    x = three(n=67)
    causal = scaled_dot_product_attention(*x, causal_mask(67)).output
    assert (linear_attention(*x) - causal).abs().max() > 0.1


# Nothing is n × n


@pytest.mark.parametrize("n", [1024, 2048])
def test_the_largest_tensor_in_a_window_grows_with_n_alone(n):
    assert most_numbers(windowed_attention, n, window=32) <= max(6 * n, BLOCK * (2 * BLOCK))
    assert most_numbers(windowed_attention, n, window=500) <= 500 * 1000
    masked_too = most_numbers(
        lambda *x: scaled_dot_product_attention(*x, sliding_window_mask(n, 32)).output, n
    )
    assert masked_too >= n * n  # a mask alone saves nothing


def test_the_largest_tensor_in_strides_is_n_squared_over_the_stride():
    for n, stride in ((1024, 32), (2048, 32), (2048, 64)):
        assert n * n / stride <= most_numbers(strided_attention, n, stride=stride) <= n * n / 16
        assert most_numbers(strided_attention, n, stride=stride) == n * n // stride
    # a stride beyond n does not pad the sequence to the stride
    assert most_numbers(strided_attention, 1024, stride=10**9) <= 4 * 1024


@pytest.mark.parametrize("causal", [True, False])
def test_the_largest_tensor_of_linear_attention_grows_with_n_alone(causal):
    for n in (2048, 4096):
        assert most_numbers(linear_attention, n, causal=causal) <= n * CHUNK


def test_memory_kept_for_the_gradient_grows_with_n_alone():
    """What autograd keeps between the passes, in numbers per position."""

    def kept(n, function, **kwargs):
        total = 0

        def count(tensor):
            nonlocal total
            total += tensor.numel()
            return tensor

        inputs = [torch.randn(n, 3, requires_grad=True) for _ in range(3)]
        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            function(*inputs, **kwargs)
        return total

    for function, kwargs in ((windowed_attention, {"window": 17}), (linear_attention, {})):
        once, twice = kept(2048, function, **kwargs), kept(4096, function, **kwargs)
        assert once < 2048 * 1024 and twice < 2.1 * once


# Bad input


@pytest.mark.parametrize("name", ALL)
def test_sizes_that_do_not_fit(name):
    query, key, value = three(2, n=7)
    with pytest.raises(ValueError, match=r"same n positions, got 7 queries and 5 keys"):
        ALL[name](query, key[..., :5, :], value[..., :5, :])
    with pytest.raises(ValueError, match=r"last axis but one of value must be 7 \(T_k, as in key"):
        ALL[name](query, key, value[..., :5, :])
    with pytest.raises(ValueError, match=r"last axis of key must be 5 \(d_key, as in query\)"):
        ALL[name](query, key[..., :3], value)
    with pytest.raises(ValueError, match=r"query must have at least the two axes .* query\[None"):
        ALL[name](query[0, 0], key, value)
    with pytest.raises(ValueError, match="axes before the last two must be equal or 1"):
        ALL[name](query, torch.cat([key, key[:1]]), value)
    with pytest.raises(TypeError, match="key must have the dtype of query"):
        ALL[name](query, key.float(), value)
    with pytest.raises(TypeError, match="query must be floating point"):
        ALL[name](query.long(), key, value)
    with pytest.raises(TypeError, match=r"value must be a torch\.Tensor"):
        ALL[name](query, key, value.tolist())


@pytest.mark.parametrize(
    ("function", "name"), [(windowed_attention, "window"), (strided_attention, "stride")]
)
def test_windows_and_strides_that_are_none(function, name):
    x = three(n=7)
    for number in (0, -3):
        with pytest.raises(ValueError, match=f"{name} must be at least 1, got {number}"):
            function(*x, number)
    for number in (2.0, True, None):
        with pytest.raises(TypeError, match=f"{name} must be an integer"):
            function(*x, number)


def test_causal_is_a_bool():
    with pytest.raises(TypeError, match="causal must be True or False, got 1"):
        linear_attention(*three(n=7), causal=1)


@pytest.mark.parametrize("name", ALL)
def test_arguments_are_left_alone(name):
    x = three(2, n=131)
    copies = [t.clone() for t in x]
    ALL[name](*x)
    assert all(torch.equal(a, b) for a, b in zip(x, copies, strict=True))
