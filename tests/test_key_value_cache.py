"""Keys and values kept: all that was added in its order, for one attention and one batch."""

import copy
import doctest

import pytest
import torch

import attnkit.key_value_cache
from attnkit import MultiHeadAttention, causal_mask
from attnkit.key_value_cache import KeyValueCache

BATCH, HEADS, D_HEAD, N = 2, 3, 5, 7
D_MODEL = HEADS * D_HEAD


def pieces(*lengths, dtype=torch.float32, batch=(BATCH,)):
    torch.manual_seed(3)
    return [
        tuple(torch.randn(*batch, HEADS, n, D_HEAD).to(dtype) for _ in range(2)) for n in lengths
    ]


@pytest.mark.parametrize("batch", [(BATCH,), ()], ids=["batch", "no batch"])
def test_it_holds_what_was_added_in_its_order(batch):
    cache, added = KeyValueCache(), pieces(2, 1, 4, batch=batch)
    assert (len(cache), cache.n_bytes, cache.keys, cache.values) == (0, 0, None, None)
    for done, (keys, values) in enumerate(added, 1):
        found = cache.append(keys, values)
        for got, which, held in zip(found, (0, 1), (cache.keys, cache.values), strict=True):
            assert torch.equal(got, torch.cat([piece[which] for piece in added[:done]], -2))
            assert got is held
    assert len(cache) == 7
    assert cache.n_bytes == 2 * 4 * cache.keys.numel()


def test_what_was_handed_over_stays_as_it_was():
    cache, ((keys, values), more) = KeyValueCache(), pieces(2, 1)
    kept = keys.clone()
    cache.append(keys, values)
    branch = copy.copy(cache)
    cache.append(*more)
    assert torch.equal(keys, kept)
    assert (len(branch), len(cache)) == (2, 3)


def test_an_empty_cache_is_one():
    assert KeyValueCache()  # `cache or None` would lose it


@pytest.mark.parametrize(("dtype", "size"), [(torch.float16, 2), (torch.float64, 8)])
def test_bytes_follow_the_precision(dtype, size):
    cache = KeyValueCache()
    cache.append(*pieces(N, dtype=dtype)[0])
    assert cache.n_bytes == 2 * BATCH * HEADS * N * D_HEAD * size


def test_one_that_does_not_grow_is_filled_once():
    attention = MultiHeadAttention(D_MODEL, HEADS)
    query, memory = torch.randn(BATCH, 1, D_MODEL), torch.randn(BATCH, N, D_MODEL)
    cache = KeyValueCache(grows=False)
    first = attention(query, memory, cache=cache)
    held = cache.keys
    again = attention(query, memory, cache=cache)
    assert cache.keys is held and len(cache) == N
    assert torch.equal(first.output, again.output)
    with pytest.raises(ValueError, match="filled once, and holds 7 positions"):
        cache.append(*pieces(1)[0])
    with pytest.raises(ValueError, match=r"must be 7 \(as in the cache, which does not grow\)"):
        attention(query, memory[:, 1:], cache=cache)


@pytest.mark.parametrize("size", [1.0, 1e100], ids=["usual", "so great that care is taken"])
def test_a_key_that_no_query_of_a_call_may_see_is_there_for_later_ones(size):
    attention = MultiHeadAttention(D_MODEL, HEADS).double()
    x = torch.randn(BATCH, 3, D_MODEL, dtype=torch.float64)
    x[:, 1] *= size
    mask = torch.tensor([[1, 0, 0], [1, 0, 0], [1, 1, 1]]).bool()
    expected, cache = attention(x, mask=mask), KeyValueCache()
    attention(x[:, :2], mask=mask[:2, :2], cache=cache)
    got = attention(x[:, 2:], mask=mask[2:], cache=cache)
    torch.testing.assert_close(got.weights, expected.weights[:, :, 2:], atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(got.output, expected.output[:, 2:], atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("strange", [float("nan"), float("inf")])
def test_what_no_query_may_see_may_be_anything(strange):
    attention = MultiHeadAttention(D_MODEL, HEADS).double()
    x = torch.randn(BATCH, N, D_MODEL, dtype=torch.float64)
    x[1, 0] = strange  # padding in front
    mask = causal_mask(N).expand(BATCH, 1, N, N).clone()
    mask[1, ..., 0] = False
    expected = attention(x, mask=mask)
    for need_weights in (True, False):
        cache, outputs = KeyValueCache(), []
        for i in range(N):
            new = mask[..., i : i + 1, : i + 1]
            outputs.append(attention(x[:, i : i + 1], mask=new, cache=cache,
                                     need_weights=need_weights).output)  # fmt: skip
        real = torch.ones(BATCH, N, dtype=torch.bool)
        real[1, 0] = False
        got = torch.cat(outputs, 1)[real]
        torch.testing.assert_close(got, expected.output[real], atol=1e-12, rtol=1e-12)


def test_a_score_that_overflows_where_it_is_blocked_does_no_harm():
    attention = MultiHeadAttention(D_HEAD, 1).half()
    with torch.no_grad():
        for projection in attention.children():
            projection.weight.copy_(torch.eye(D_HEAD))
    x = torch.tensor([4.0, 3e4])[:, None].expand(1, 2, D_HEAD).half()  # 4 · 3e4 · √5 > 65504
    output, weights = attention(x, mask=causal_mask(2), cache=KeyValueCache())
    assert output[0, 0].tolist() == [4.0] * D_HEAD
    assert weights[0, 0, 0].tolist() == [1.0, 0.0]


(KEYS, VALUES), (NEW, _) = pieces(2, 1)


@pytest.mark.parametrize(
    ("keys", "values", "error", "words"),
    [
        ([[0.0]], NEW, TypeError, "keys must be a torch.Tensor, got"),
        (NEW, NEW.long(), TypeError, "values must be floating point"),
        (NEW, NEW.double(), TypeError, "values must have the dtype of keys"),
        (NEW.half(), NEW.half(), TypeError, "the dtype of what is in the cache, torch.float32"),
        (NEW, KEYS, ValueError, "one shape"),
        (NEW[0, 0], NEW[0, 0], ValueError, r"\(batch, heads, T, d_head\)"),
        (NEW[:1], NEW[:1], ValueError, "one attention and one batch"),
        (NEW[0], NEW[0], ValueError, "one attention and one batch"),
        (NEW[:, 1:], NEW[:, 1:], ValueError, "make a new KeyValueCache"),
        (NEW[..., 1:], NEW[..., 1:], ValueError, r"but for the positions, got \(2, 3, 1, 4\)"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(keys, values, error, words):
    cache = KeyValueCache()
    cache.append(KEYS, VALUES)
    with pytest.raises(error, match=words):
        cache.append(keys, values)
    assert cache.keys is KEYS and cache.values is VALUES


def test_a_second_attention_is_refused():
    layers = [MultiHeadAttention(D_MODEL, HEADS) for _ in range(2)]
    x, cache = torch.randn(BATCH, 1, D_MODEL), KeyValueCache()
    layers[0](x, cache=cache)
    with pytest.raises(ValueError, match=r"one attention, got a second.*KeyValueCache\(\) for"):
        layers[1](x, cache=cache)
    assert len(cache) == 1


def test_what_is_no_cache_is_refused():
    with pytest.raises(TypeError, match="cache must be a KeyValueCache, got tuple"):
        MultiHeadAttention(D_MODEL, HEADS)(torch.randn(1, 1, D_MODEL), cache=(KEYS, VALUES))


def test_it_says_what_it_holds():
    cache = KeyValueCache()
    assert repr(cache) == "KeyValueCache(grows=True, keys=None, n_bytes=0)"
    cache.append(KEYS, VALUES)
    assert repr(cache) == "KeyValueCache(grows=True, keys=(2, 3, 2, 5), n_bytes=480)"


def test_doctests():
    result = doctest.testmod(attnkit.key_value_cache)
    assert result.attempted > 0 and result.failed == 0
