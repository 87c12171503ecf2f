import doctest
import importlib
import math
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

from attnkit import (
    AttentionOutput,
    additive_scores,
    causal_mask,
    masked_softmax,
    padding_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
)

BATCH, HEADS, N_QUERIES, N_KEYS, D_KEY, D_VALUE = 2, 3, 5, 7, 11, 13
SCORES = (BATCH, HEADS, N_QUERIES, N_KEYS)


def tensors(*leading, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shapes = ((N_QUERIES, D_KEY), (N_KEYS, D_KEY), (N_KEYS, D_VALUE))
    return [
        torch.randn(*leading, *shape, generator=generator, dtype=torch.float64)
        .to(dtype)
        .requires_grad_()
        for shape in shapes
    ]


def random_mask(*shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(1)) < 0.6


def blocked_row():
    mask = torch.ones(N_QUERIES, N_KEYS, dtype=torch.bool)
    mask[2] = False
    return mask


MASKS = {
    "none": None,
    "all": torch.tensor(True),
    "nothing": torch.tensor(False),
    "keys": random_mask(N_KEYS),
    "queries": random_mask(N_QUERIES, 1),
    "causal": causal_mask(N_QUERIES, N_KEYS),
    "window": sliding_window_mask(N_QUERIES, 2, N_KEYS),
    "padding": padding_mask([3, 7]),
    "empty sequence": padding_mask([0, 7]),
    "causal and padding": causal_mask(N_QUERIES, N_KEYS) & padding_mask([1, 7]),
    "per head": random_mask(HEADS, N_QUERIES, N_KEYS),
    "every cell": random_mask(*SCORES),
    "blocked row": blocked_row(),
}


def gradients(output, inputs):
    weight = torch.linspace(-1, 2, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad((output * weight).sum(), inputs)


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
@pytest.mark.parametrize("scale", [None, 1.0, 0.3])
def test_output_and_gradients_are_pytorchs(mask, scale):
    inputs = tensors(BATCH, HEADS)
    full = None if mask is None else mask.expand(SCORES)
    expected = F.scaled_dot_product_attention(*inputs, attn_mask=full, scale=scale)
    with torch.autograd.set_detect_anomaly(True):
        output, weights = scaled_dot_product_attention(*inputs, mask, scale=scale)
        torch.testing.assert_close(output, expected)
        for ours, theirs in zip(
            gradients(output, inputs), gradients(expected, inputs), strict=True
        ):
            torch.testing.assert_close(ours, theirs)
    assert weights.shape == SCORES
    torch.testing.assert_close(weights @ inputs[2], output)
    if full is not None:
        assert (weights[~full] == 0).all()
        torch.testing.assert_close(weights.sum(-1), full.any(-1).double())


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_softmax_is_the_softmax_of_the_allowed_scores(mask):
    scores = torch.randn(SCORES, dtype=torch.float64, requires_grad=True)
    weights = masked_softmax(scores, mask, temperature=0.7)
    full = torch.ones(SCORES, dtype=torch.bool) if mask is None else mask.expand(SCORES)
    expected = torch.zeros(SCORES, dtype=torch.float64)
    for place in torch.cartesian_prod(*(torch.arange(n) for n in SCORES[:-1])):
        row = tuple(place.tolist())
        expected[row][full[row]] = (scores.detach()[row][full[row]] / 0.7).softmax(-1)
    torch.testing.assert_close(weights, expected)
    assert torch.autograd.gradcheck(lambda s: masked_softmax(s, mask, temperature=0.7), scores)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("temperature", [1.0, 0.01, 100.0])
def test_a_row_that_may_see_nothing_is_zero_with_zero_gradient(dtype, temperature):
    scores = (30 * torch.randn(5, 7)).to(dtype).requires_grad_()
    mask = blocked_row()
    with torch.autograd.set_detect_anomaly(True):
        weights = masked_softmax(scores, mask, temperature=temperature)
        (weights * torch.arange(7).to(dtype)).sum().backward()
    assert weights.dtype == dtype
    assert (weights[2] == 0).all()
    assert (scores.grad[2] == 0).all()
    assert scores.grad.isfinite().all()
    torch.testing.assert_close(weights.sum(-1).float(), mask.any(-1).float(), atol=0.01, rtol=0)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_softmax_never_looks_at_a_blocked_score(bad):
    scores = torch.randn(5, 7)
    mask = random_mask(5, 7)
    spoiled = scores.masked_fill(~mask, bad).requires_grad_()
    with torch.autograd.set_detect_anomaly(True):
        weights = masked_softmax(spoiled, mask)
        weights.square().sum().backward()
    assert torch.equal(weights, masked_softmax(scores, mask))
    assert spoiled.grad.isfinite().all()


def test_a_score_of_minus_infinity_is_a_blocked_key():
    for lowest in (-math.inf, torch.finfo(torch.float16).min):
        scores = torch.tensor([[lowest, 1.0, 1.0], [lowest] * 3], dtype=torch.float16)
        expected = [[0.0, 0.5, 0.5], [0.0, 0.0, 0.0]]
        assert masked_softmax(scores).tolist() == expected
    mask = torch.tensor([[False, True, True]])
    assert masked_softmax(scores, mask).tolist() == expected


def test_nan_in_an_allowed_score_stays_visible():
    scores = torch.tensor([[math.nan, 1.0], [0.0, 0.0]])
    assert masked_softmax(scores).isnan().tolist() == [[True, True], [False, False]]


def test_the_least_temperature_selects_and_does_not_overflow():
    for dtype in (torch.float16, torch.float32):
        scores = torch.tensor([[60.0, 59.0, -60.0]], dtype=dtype)
        assert masked_softmax(scores, temperature=1e-6).tolist() == [[1.0, 0.0, 0.0]]
    query, key, value = (t.float() for t in tensors())
    _, weights = scaled_dot_product_attention(query, key, value, temperature=1e-30)
    assert torch.equal(weights.argmax(-1), (query @ key.mT).argmax(-1))
    assert weights.isfinite().all()


@pytest.mark.parametrize("temperature", [5e-324, 1e-50, 1e38, 1e300])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_temperature_may_be_any_positive_number(temperature, dtype):
    scores = torch.tensor([[1.0, 2.0, 2.0, 9.0], [1.0, 2.0, 2.0, 9.0]], dtype=dtype)
    mask = torch.tensor([[True, True, True, False], [False] * 4])
    shared = [0.0, 0.5, 0.5, 0.0] if temperature < 1 else [1 / 3, 1 / 3, 1 / 3, 0.0]
    expected = torch.tensor([shared, [0.0] * 4], dtype=dtype)
    torch.testing.assert_close(masked_softmax(scores, mask, temperature=temperature), expected)
    query, key = torch.ones(2, 1, dtype=dtype), scores[:1].mT
    attended = scaled_dot_product_attention(query, key, key, mask, temperature=temperature)
    torch.testing.assert_close(attended.weights, expected)


def test_temperature_divides_the_scaled_scores():
    query, key, value = tensors(BATCH)
    _, weights = scaled_dot_product_attention(query, key, value, temperature=2.0)
    torch.testing.assert_close(weights, (query @ key.mT / math.sqrt(D_KEY) / 2).softmax(-1))


@pytest.mark.parametrize("change", [1e3, -1e30, math.nan, math.inf])
def test_a_key_that_nobody_may_attend_to_changes_nothing(change):
    inputs = tensors(BATCH, HEADS, dtype=torch.float32)
    for mask in (padding_mask([3, 7]), causal_mask(N_QUERIES, N_KEYS) & padding_mask([3, 7])):
        results = []
        for change_by in (0.0, change):
            query, key, value = (t.detach().clone() for t in inputs)
            key[0, :, 3:] += change_by
            value[0, :, 3:] += change_by
            leaves = [t.requires_grad_() for t in (query, key, value)]
            with torch.autograd.set_detect_anomaly(True):
                output, weights = scaled_dot_product_attention(*leaves, mask)
                results.append((output, weights, *torch.autograd.grad(output.sum(), leaves)))
        for before, after in zip(*results, strict=True):
            assert torch.equal(before, after)
    keys = torch.arange(N_KEYS) < 3  # a mask of one axis, for the keys
    query, key, value = (t.detach().clone() for t in inputs)
    value[..., 3:, :] = change
    assert scaled_dot_product_attention(query, key, value, keys).output.isfinite().all()


@pytest.mark.parametrize(
    ("dtype", "much"), [(torch.float16, 200.0), (torch.float32, 1e30), (torch.bfloat16, 1e30)]
)
def test_a_blocked_key_changes_nothing_even_when_its_score_overflows(dtype, much):
    query = torch.full((2, D_KEY), much, dtype=dtype)
    key = torch.tensor([[1.0], [-1.0], [much], [-much]], dtype=dtype).expand(-1, D_KEY) / much
    key[2:] *= much
    mask = torch.tensor([[True, True, False, False], [True, True, False, True]])
    if dtype == torch.float16:
        assert (query @ key.mT).isinf().any()
    output, weights = scaled_dot_product_attention(query, key, key, mask)
    few = scaled_dot_product_attention(query[:1], key[:2], key[:2])
    torch.testing.assert_close((output[:1], weights[:1, :2]), tuple(few))
    assert output.isfinite().all() and not weights[0, 2:].any()


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_query_that_may_see_nothing_is_zero_whatever_it_holds(bad):
    query, key, value = tensors(BATCH)
    mask = random_mask(BATCH, N_QUERIES, N_KEYS) & (torch.arange(N_QUERIES) != 1)[:, None]
    ruined = query.detach().clone()
    ruined[:, 1] = bad
    ruined.requires_grad_()
    expected = scaled_dot_product_attention(query, key, value, mask)
    with torch.autograd.set_detect_anomaly(True):
        got = scaled_dot_product_attention(ruined, key, value, mask)
        after = gradients(got.output, [ruined, key, value])
    torch.testing.assert_close(got, expected)
    torch.testing.assert_close(after, gradients(expected.output, [query, key, value]))


def test_a_mask_may_have_axes_that_only_the_value_has():
    query, key, value = tensors()
    values = torch.stack([value, 2 * value])
    mask = random_mask(2, N_QUERIES, N_KEYS)
    output, weights = scaled_dot_product_attention(query, key, values, mask)
    for i in range(2):
        alone = scaled_dot_product_attention(query, key, values[i], mask[i])
        torch.testing.assert_close((output[i], weights[i]), tuple(alone))


def test_vmap_over_masks_alone():
    query, key, value = tensors()
    masks = random_mask(3, N_QUERIES, N_KEYS)
    mapped = torch.vmap(lambda mask: scaled_dot_product_attention(query, key, value, mask))(masks)
    torch.testing.assert_close(
        tuple(mapped),
        tuple(scaled_dot_product_attention(query.expand(3, -1, -1), key, value, masks)),
    )


@pytest.mark.parametrize("j", range(N_KEYS))
def test_causal_a_later_key_cannot_change_an_earlier_query(j):
    query, key, value = tensors(BATCH, HEADS)
    mask = causal_mask(N_QUERIES, N_KEYS)
    before = scaled_dot_product_attention(query, key, value, mask).output
    key, value = key.detach().clone(), value.detach().clone()
    key[..., j, :] += 100
    value[..., j, :] -= 100
    after = scaled_dot_product_attention(query, key, value, mask).output
    seen = torch.arange(N_QUERIES) + N_KEYS - N_QUERIES >= j
    assert torch.equal(before[..., ~seen, :], after[..., ~seen, :])
    assert (before[..., seen, :] != after[..., seen, :]).any(-1).all()


@pytest.mark.parametrize("leading", [(), (1,), (2,), (2, 3), (2, 1, 3), (0,), (0, 3)])
def test_any_leading_axes(leading):
    query, key, value = tensors(*leading)
    output, weights = scaled_dot_product_attention(query, key, value, blocked_row())
    assert output.shape == (*leading, N_QUERIES, D_VALUE)
    assert weights.shape == (*leading, N_QUERIES, N_KEYS)


def test_leading_axes_broadcast_as_in_a_product():
    query, _, _ = tensors(BATCH, HEADS)
    _, key, value = tensors(BATCH, 1, seed=1)
    output, _ = scaled_dot_product_attention(query, key, value, MASKS["every cell"])
    expected = scaled_dot_product_attention(
        query, key.expand(-1, HEADS, -1, -1), value.expand(-1, HEADS, -1, -1), MASKS["every cell"]
    )
    torch.testing.assert_close(output, expected.output)


@pytest.mark.parametrize(
    ("n_queries", "n_keys", "d_key", "d_value"),
    [(1, 1, 1, 1), (0, 3, 2, 5), (3, 0, 2, 5), (0, 0, 2, 5), (3, 5, 0, 2), (3, 5, 2, 0)],
)
def test_sizes_of_one_and_none(n_queries, n_keys, d_key, d_value):
    for temperature in (1.0, 0.5):
        for mask in (None, torch.ones(n_queries, n_keys, dtype=torch.bool)):
            query = torch.randn(2, n_queries, d_key, requires_grad=True)
            key, value = torch.randn(2, n_keys, d_key), torch.randn(2, n_keys, d_value)
            output, weights = scaled_dot_product_attention(
                query, key, value, mask, temperature=temperature
            )
            assert output.shape == (2, n_queries, d_value)
            assert weights.shape == (2, n_queries, n_keys)
            if n_keys == 0:
                assert (output == 0).all()
            output.sum().backward()
            assert query.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_follows_float32(dtype):
    inputs = tensors(BATCH, HEADS, dtype=dtype)
    output, weights = scaled_dot_product_attention(*inputs, MASKS["every cell"])
    assert output.dtype == weights.dtype == dtype
    expected = scaled_dot_product_attention(*(t.float() for t in inputs), MASKS["every cell"])
    torch.testing.assert_close(output.float(), expected.output, atol=0.03, rtol=0.03)
    output.sum().backward()
    assert all(t.grad.isfinite().all() for t in inputs)


def test_float16_products_do_not_overflow_before_they_are_scaled():
    query = torch.full((1, 256), 20.0, dtype=torch.float16)  # q·k = 102400 > 65504
    output, _ = scaled_dot_product_attention(query, query, query)
    assert output.isfinite().all()


def test_non_contiguous_input_and_mask():
    inputs = tensors(BATCH, HEADS)
    strided = [t.detach().mT.contiguous().mT for t in inputs]
    assert not any(t.is_contiguous() for t in strided)
    mask = MASKS["every cell"].mT.contiguous().mT
    ours = scaled_dot_product_attention(*strided, mask)
    expected = scaled_dot_product_attention(*inputs, mask.contiguous())
    torch.testing.assert_close(ours.output, expected.output)


def test_nothing_that_the_caller_owns_is_changed():
    inputs = [t.detach() for t in tensors(BATCH, HEADS)]
    inputs[1][0, 0, 6] = math.nan
    mask = padding_mask([6, 6], 7)
    owned = [*inputs, mask]
    before, versions = [t.clone() for t in owned], [t._version for t in owned]
    scaled_dot_product_attention(*inputs, mask, temperature=0.5)
    scores = torch.randn(SCORES)
    kept = scores.clone()
    masked_softmax(scores, mask, temperature=0.5)
    assert torch.equal(scores, kept) and scores._version == 0
    assert [t._version for t in owned] == versions
    for now, then in zip(owned, before, strict=True):
        assert torch.equal(
            now.nan_to_num(9.0) if now.is_floating_point() else now,
            then.nan_to_num(9.0) if then.is_floating_point() else then,
        )


def test_gradients_of_gradients():
    inputs = [t.detach()[:1, :1, :2, :3].requires_grad_() for t in tensors(BATCH, HEADS)]
    mask = torch.tensor([[True, False], [False, False]])
    inputs[1], inputs[2] = (t.detach()[..., :2, :].requires_grad_() for t in inputs[1:])

    def attend(query, key, value):
        return scaled_dot_product_attention(query, key, value, mask).output

    assert torch.autograd.gradgradcheck(attend, inputs)


def test_vmap_and_autocast():
    query, key, value = (t.detach() for t in tensors(BATCH, HEADS, dtype=torch.float32))
    mask = MASKS["every cell"]
    expected = scaled_dot_product_attention(query, key, value, mask).output
    mapped = torch.func.vmap(lambda *args: scaled_dot_product_attention(*args).output)
    torch.testing.assert_close(mapped(query, key, value, mask), expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output, _ = scaled_dot_product_attention(query.bfloat16(), key, value, mask)
    torch.testing.assert_close(output.float(), expected, atol=0.05, rtol=0.05)


def test_additive_scores_are_the_formula():
    query = torch.randn(BATCH, N_QUERIES, D_KEY, dtype=torch.float64, requires_grad=True)
    key = torch.randn(BATCH, N_KEYS, D_KEY, dtype=torch.float64, requires_grad=True)
    vector = torch.randn(D_KEY, dtype=torch.float64, requires_grad=True)
    scores = additive_scores(query, key, vector)
    assert scores.shape == (BATCH, N_QUERIES, N_KEYS)
    expected = sum(vector[h] * torch.tanh(query[1, 4, h] + key[1, 2, h]) for h in range(D_KEY))
    torch.testing.assert_close(scores[1, 4, 2], expected)
    assert torch.autograd.gradcheck(additive_scores, (query, key, vector))


def test_result_is_a_named_pair():
    output, weights = result = scaled_dot_product_attention(*tensors())
    assert isinstance(result, AttentionOutput)
    assert result.output is output and result.weights is weights


Q, K, V = (t.detach() for t in tensors(BATCH, HEADS))
SQUARE = torch.ones(N_QUERIES, N_KEYS)


@pytest.mark.parametrize(
    ("mask", "error", "words"),
    [
        (SQUARE, TypeError, r"boolean.*torch.float32.*from_blocked\(mask\).*mask == 1.*mask == 0"),
        (SQUARE.long(), TypeError, "must be boolean"),
        (SQUARE.numpy() > 0, TypeError, r"torch.Tensor, got ndarray.*as_tensor"),
        ([True] * N_KEYS, TypeError, "torch.Tensor, got .*list"),
        (SQUARE.bool().to("meta"), ValueError, r"device of the scores, cpu.*mask.to\('cpu'\)"),
        (SQUARE.bool()[None, None, None], ValueError, r"would enlarge.*mask\[0\]"),
        (random_mask(4, *SCORES), ValueError, "would enlarge"),
        (random_mask(BATCH, N_KEYS), ValueError, r"broadcast.*mask\[:, None, None, :\]"),
        (random_mask(BATCH, N_QUERIES, N_KEYS), ValueError, r"broadcast.*mask\[:, None\]"),
        (random_mask(N_KEYS, N_QUERIES), ValueError, r"broadcast.*mask\.mT"),
        (random_mask(N_KEYS + 1), ValueError, r"does not broadcast to the scores.*\(8,\)"),
    ],
)
def test_masks_that_are_refused(mask, error, words):
    with pytest.raises(error, match=words):
        scaled_dot_product_attention(Q, K, V, mask)
    with pytest.raises(error, match=words):
        masked_softmax(Q @ K.mT, mask)


def test_a_mask_that_would_enlarge_a_single_query_is_refused():
    with pytest.raises(ValueError, match="would enlarge the scores"):
        scaled_dot_product_attention(Q[..., :1, :], K, V, random_mask(N_QUERIES, N_KEYS))
    with pytest.raises(ValueError, match="would enlarge the scores"):
        scaled_dot_product_attention(Q[:1], K[:1], V[:1], random_mask(BATCH, 1, 1, N_KEYS))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: scaled_dot_product_attention(Q.long(), K, V), TypeError, "query.*torch.int64"),
        (lambda: scaled_dot_product_attention(Q, K.bool(), V), TypeError, "key.*torch.bool"),
        (lambda: scaled_dot_product_attention(Q, K, V.cfloat()), TypeError, "value.*complex64"),
        (lambda: scaled_dot_product_attention(Q.numpy(), K, V), TypeError, "query.*got ndarray"),
        (lambda: scaled_dot_product_attention(Q, None, V), TypeError, "key.*got None"),
        (
            lambda: scaled_dot_product_attention(Q, K.float(), V),
            TypeError,
            r"key.*float64, got torch.float32.*key.to\(torch.float64\)",
        ),
        (
            lambda: scaled_dot_product_attention(Q, K, V.to("meta")),
            ValueError,
            r"value must be on the device of query, cpu, got meta",
        ),
        (lambda: scaled_dot_product_attention(Q, V, V), ValueError, r"key must be 11 \(d_key.*13"),
        (lambda: scaled_dot_product_attention(Q, K, Q), ValueError, r"value must be 7 \(T_k.*5"),
        (lambda: scaled_dot_product_attention(Q[0, 0, 0], K, V), ValueError, "query.*two axes"),
        (
            lambda: scaled_dot_product_attention(Q, K.repeat(2, 1, 1, 1), V),
            ValueError,
            r"axes before the last two must be equal or 1.*key \(4, 3, 7, 11\)",
        ),
        (
            lambda: scaled_dot_product_attention(Q, K, V, scale="1"),
            TypeError,
            "scale must be a number, got '1'",
        ),
        (lambda: scaled_dot_product_attention(Q, K, V, scale=True), TypeError, "scale"),
        (lambda: scaled_dot_product_attention(Q, K, V, scale=math.nan), ValueError, "scale"),
        (lambda: masked_softmax(Q, temperature=0), ValueError, r"greater than 0, got 0.*argmax"),
        (lambda: masked_softmax(Q, temperature=-1.0), ValueError, "greater than 0, got -1"),
        (lambda: masked_softmax(Q, temperature=math.nan), ValueError, "temperature must be finite"),
        (lambda: masked_softmax(Q, temperature=math.inf), ValueError, "temperature must be finite"),
        (lambda: masked_softmax(Q, temperature=torch.ones(())), TypeError, "learned one divides"),
        (lambda: masked_softmax(Q, temperature=True), TypeError, "temperature must be a number"),
        (lambda: masked_softmax(torch.tensor(1.0)), ValueError, "at least one axis"),
        (lambda: masked_softmax(Q.long()), TypeError, "scores must be floating point"),
        (lambda: additive_scores(Q, V, V[0, 0, 0]), ValueError, "key must be 11"),
        (lambda: additive_scores(Q, K, V[0, 0, 0]), ValueError, "score_vector must be 11"),
        (lambda: additive_scores(Q, K, Q[0, 0]), ValueError, r"one axis, \(d_hidden,\).*squeeze"),
        (lambda: additive_scores(Q[0, 0, 0], K, Q[0, 0, 0]), ValueError, "query.*two axes"),
    ],
)
def test_refusals_say_what_came(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    "module",
    [
        *("masks", "functional", "attention", "numerals", "translation", "shapes"),
        *("tasks.vocabulary", "tasks.chinese_numerals", "tasks.number_words", "tasks.context"),
    ],
)
def test_doctests(module):
    result = doctest.testmod(importlib.import_module(f"attnkit.{module}"))
    assert result.failed == 0
    assert result.attempted > 0


def test_import_needs_torch_alone():
    others = ("numpy", "matplotlib", "ipywidgets", "anywidget", "safetensors")
    others += ("tokenizers",)
    code = f"import sys; sys.modules.update(dict.fromkeys({others!r})); "
    code += "import attnkit, attnkit.seq2seq, attnkit.transformer, attnkit.pretrained; "
    code += "assert not {'attnkit.plots', 'attnkit.widgets'} & set(sys.modules)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
