"""Reading attention weights, tokens and masks as people hold them, and refusing what is none."""

import doctest
import re

import numpy as np
import pytest
import torch

from attnkit import AttentionOutput, causal_mask, padding_mask
from attnkit import weights as module
from attnkit.weights import read_mask, read_tokens, read_weights

HEADS = ("heads", "queries", "keys")
LAYERS = ("layers", *HEADS)
STEPS = ("steps", *HEADS)


def some(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(shape, generator=generator).softmax(-1).to(dtype)


@pytest.mark.parametrize(
    "dtype",
    [torch.float8_e4m3fn, torch.float8_e5m2, torch.float16, torch.bfloat16, torch.float32],
)
def test_floats_come_back_as_a_new_float32_tensor(dtype):
    given = some(7, 97, dtype=dtype)
    read = read_weights(given)
    assert read.dtype == torch.float32 and torch.equal(read, given.float())
    read[0, 0] = 5
    assert given[0, 0].float() < 1


def test_float64_stays_and_gradients_and_inference_end_here():
    read = read_weights(some(3, 5, dtype=torch.float64).requires_grad_())
    assert read.dtype == torch.float64 and not read.requires_grad
    with torch.inference_mode():
        given = some(3, 5)
        inside = read_weights(given)
    for read in (read_weights(given), inside):
        assert not read.is_inference() and torch.equal(read, some(3, 5))
    assert torch.equal(read_weights(some(3, 5).to_sparse()), some(3, 5))


@pytest.mark.parametrize("dtype", ["float16", "float32", ">f4", "float64", ">f8", "longdouble"])
def test_arrays_are_read_whatever_their_dtype_order_and_flags(dtype):
    array = some(5, 3).numpy().astype(dtype)[::-1]
    array.flags.writeable = False
    read = read_weights(array)
    assert isinstance(read, torch.Tensor)
    np.testing.assert_allclose(read.numpy(), array.astype("float64"), atol=1e-7)


def test_nested_lists_are_read():
    read = read_weights([[0.25, 0.75], [1.0, 0.0]])
    assert read.dtype == torch.float32 and read.tolist() == [[0.25, 0.75], [1, 0]]


@pytest.mark.parametrize(
    ("shape", "axes", "wanted"),
    [
        ((3, 5), ("queries", "keys"), (3, 5)),
        ((1, 1, 3, 5), ("queries", "keys"), (3, 5)),
        ((1, 1), ("queries", "keys"), (1, 1)),
        ((3, 5), HEADS, (1, 3, 5)),
        ((1, 7, 3, 5), HEADS, (7, 3, 5)),
        ((1, 3, 5), HEADS, (1, 3, 5)),
        ((1, 1, 3, 5), HEADS, (1, 3, 5)),
        ((3, 5), LAYERS, (1, 1, 3, 5)),
        ((7, 3, 5), LAYERS, (1, 7, 3, 5)),
        ((2, 1, 7, 3, 5), LAYERS, (2, 7, 3, 5)),
        ((1, 2, 7, 3, 5), LAYERS, (2, 7, 3, 5)),
        ((1, 1, 7, 3, 5), LAYERS, (1, 7, 3, 5)),
        ((11, 3, 5), STEPS, (11, 1, 3, 5)),
        ((11, 1, 7, 3, 5), STEPS, (11, 7, 3, 5)),
        ((11, 1, 3, 5), ("steps", "queries", "keys"), (11, 3, 5)),
    ],
)
def test_axes_of_size_1_are_dropped_and_missing_ones_added(shape, axes, wanted):
    given = some(*shape)
    read = read_weights(given, axes=axes)
    assert read.shape == wanted
    assert torch.equal(read, given.reshape(wanted))
    assert torch.equal(read_weights(given.numpy(), axes=axes), read)


@pytest.mark.parametrize("shape", [(7, 3, 5), (1, 7, 3, 5)])
@pytest.mark.parametrize("kind", [list, tuple])
def test_a_tensor_per_layer_becomes_layers(shape, kind):
    layers = kind(some(*shape, dtype=d) for d in (torch.float32, torch.bfloat16))
    read = read_weights(layers, axes=LAYERS)
    assert read.shape == (2, 7, 3, 5)
    assert torch.equal(read[1], layers[1].float().reshape(7, 3, 5))


def test_lists_of_maps_are_heads_steps_or_layers_of_one_head():
    maps = [some(3, 5).numpy(), some(3, 5).flip(0)]
    assert read_weights(maps, axes=HEADS).shape == (2, 3, 5)
    assert read_weights(maps, axes=LAYERS).shape == (2, 1, 3, 5)
    assert read_weights(maps, axes=STEPS).shape == (2, 1, 3, 5)
    assert read_weights(maps[:1]).shape == (3, 5)
    assert torch.equal(read_weights([row for row in some(3, 5)]), some(3, 5))


@pytest.mark.parametrize(
    ("shape", "axes", "message"),
    [
        (
            (2, 3, 5),
            ("queries", "keys"),
            r"or several heads\?.*weights\[0\].*head_grid",
        ),
        ((2, 7, 3, 5), ("queries", "keys"), "got the shape.*weights\\[0, 0\\]"),
        ((2, 7, 3, 5), HEADS, "a batch of 2.*weights\\[0\\]"),
        ((2, 1, 3, 5), HEADS, "a batch of 2"),
        ((11, 2, 7, 3, 5), LAYERS, "a batch of 2.*weights\\[:, 0\\]"),
        (
            (5,),
            ("queries", "keys"),
            r"got the shape \(5,\).*weights\[None\]",
        ),
        ((0, 5), ("queries", "keys"), "at least one query and one key.*\\(0, 5\\)"),
        ((3, 0), ("queries", "keys"), "at least one query and one key"),
        ((0, 3, 5), HEADS, "at least one query"),
        ((0, 3, 5), ("queries", "keys"), r"at least one query.*\(0, 3, 5\)"),
        ((0,), ("queries", "keys"), "at least one query"),
        ((), ("queries", "keys"), r"got the shape \(\)\.$"),
    ],
)
def test_shapes_that_are_refused(shape, axes, message):
    with pytest.raises(ValueError, match=message):
        read_weights(torch.zeros(shape), axes=axes)


def test_batches_and_pairs_in_lists_are_refused():
    with pytest.raises(ValueError, match=r"weights\[0\] must have.*batch of 2"):
        read_weights([some(2, 7, 3, 5), some(2, 7, 3, 5)], axes=LAYERS)
    with pytest.raises(ValueError, match=r"tensors of one shape.*take the second: weights\[1\]"):
        read_weights((torch.zeros(3, 11), some(3, 5)))
    with pytest.raises(ValueError, match=r"one shape, got \(7, 3, 5\), \(7, 5, 5\)"):
        read_weights([some(7, 3, 5), some(7, 5, 5)], axes=LAYERS)
    with pytest.raises(TypeError, match=r"got AttentionOutput.*\.weights"):
        read_weights(AttentionOutput(torch.zeros(3, 2), some(3, 5)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "got None.*need_weights=True"),
        ((None, None), r"weights\[0\].*got None"),
        (causal_mask(3), "got booleans.*plots.mask_diagram"),
        (torch.eye(3).long(), r"got torch.int64.*\.float\(\)"),
        ([[1, 0]], "got torch.int64"),
        (np.eye(2, dtype=complex), "got torch.complex128. Attention weights are real"),
        ("weights", "got str that is none"),
        ([[0.5, 0.5], [1.0]], "rows of one length"),
        (np.array([["a"]]), "got ndarray"),
        (np.array([[0.5, 0.5]], dtype=object), r"got ndarray.*weights\.astype\(float\)"),
        ([[torch.eye(3), torch.eye(3)]], r"\[torch\.stack\(inner\) for inner in weights\]"),
        ([AttentionOutput(torch.eye(3), torch.eye(3))], r"\[one\.weights for one in weights\]"),
        (np.ma.masked_array([[1.0, 9.0]], [[0, 1]]), r"masked entries.*weights\.filled\(0\)"),
    ],
)
def test_types_that_are_refused(given, message):
    with pytest.raises(TypeError, match=message):
        read_weights(given)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, float("nan"), 0.5], "got nan at head 1, query 2, key 1.*masked_softmax"),
        ([1.0, 0.0, float("-inf")], "got -inf at head 1, query 2, key 2.*softmax"),
        ([1.5, -0.5, 0.0], "0 or more, got -0.5 at head 1, query 2, key 1.*looks like scores"),
        ([1.25, 0.0, 0.0], r"sum of 1.25 at head 1, query 2\..*dropout.*model.eval"),
        ([0.25, 0.25, 0.0], "sum of 0.5 at head 1.*cut out of a larger map.*dropout"),
        ([0.0, 0.0, 0.002], "sum of 0.002"),
    ],
)
def test_values_that_are_no_weights_are_refused_with_their_place(row, message):
    weights = some(5, 7, 3)
    weights[1, 2] = torch.tensor(row)
    with pytest.raises(ValueError, match=message):
        read_weights(weights, axes=HEADS)


def test_the_likely_cause_of_wrong_sums_is_named():
    scores = torch.randn(5, 7, generator=torch.Generator().manual_seed(1))
    with pytest.raises(ValueError, match=r"softmax over the queries\? Use softmax\(-1\)"):
        read_weights(scores.softmax(0))
    with pytest.raises(ValueError, match="All rows sum to 3: maps added up"):
        read_weights(some(3, 5, 7).sum(0))
    with pytest.raises(ValueError, match="looks like scores"):
        read_weights(scores)
    with pytest.raises(ValueError, match="looks like scores"):
        read_weights(scores.abs())
    dropped = torch.nn.functional.dropout(some(11, 13), 0.1)
    with pytest.raises(ValueError, match="weights after dropout"):
        read_weights(dropped)


def test_half_precision_is_forgiven_its_rounding_and_float32_is_not():
    sums = {d: some(2, 97, 499, dtype=d).float().sum(-1) for d in (torch.float16, torch.bfloat16)}
    for dtype, tolerance in ((torch.float16, 0.004), (torch.bfloat16, 0.02)):
        assert (sums[dtype] - 1).abs().max() > 1e-5
        given = some(3, 5, dtype=torch.float64) * (1 + tolerance)
        assert read_weights(given.to(dtype)).shape == (3, 5)
        with pytest.raises(ValueError, match="sum to 1"):
            read_weights(given)
        read_weights(some(97, 499, dtype=dtype))


def test_bfloat16_is_known_by_its_values_where_numpy_cannot_say_it():
    rounded = some(97, 7, dtype=torch.bfloat16).float()
    assert ((rounded.sum(-1) - 1).abs() > 1e-3).any()
    for given in (rounded, rounded.numpy(), rounded.double(), rounded.tolist(), list(rounded)):
        assert read_weights(given).shape == (97, 7)
    rounded[0, 0] += 0.0625  # of bfloat16 too
    with pytest.raises(ValueError, match=r"sum to 1, got a sum of 1\.06"):
        read_weights(rounded)


def test_rows_of_zeros_may_see_nothing():
    weights = some(3, 5)
    weights[1] = 0
    assert torch.equal(read_weights(weights), weights)


@pytest.mark.parametrize("container", [torch.as_tensor, lambda m: m.numpy(), lambda m: m.tolist()])
def test_weights_that_keep_to_the_mask_pass(container):
    mask = causal_mask(5)
    weights = some(7, 5, 5).masked_fill(~mask, 0)
    weights /= weights.sum(-1, keepdim=True)
    assert torch.equal(read_weights(weights, axes=HEADS, mask=container(mask)), weights)


def test_weight_on_a_blocked_key_is_refused():
    mask = padding_mask([3], 5)
    weights = some(7, 3, 5)
    with pytest.raises(ValueError, match=r"mask blocks, got 0\..* at head 0, query 0, key 3"):
        read_weights(weights, axes=HEADS, mask=mask)
    weights[..., 3:] = 0
    weights /= weights.sum(-1, keepdim=True)
    with pytest.raises(ValueError, match="polarity is flipped: ~mask fits"):
        read_weights(weights, axes=HEADS, mask=~mask)
    everything = torch.zeros(3, 1, dtype=torch.bool) | torch.tensor([[True], [False], [True]])
    with pytest.raises(ValueError, match=r"may see nothing.*masked_softmax"):
        read_weights(weights, axes=HEADS, mask=everything)


def test_masks_are_broadcast_and_copied():
    given = np.array([True, False, True])
    read = read_mask(given, (2, 3))
    assert read.dtype == torch.bool and read.tolist() == [[True, False, True]] * 2
    read[0, 0] = False
    assert given[0]
    assert read_mask(torch.ones(1, 1, 2, 3, dtype=torch.bool), (2, 3)).shape == (2, 3)
    assert read_mask(padding_mask([2], 3), (5, 2, 3)).shape == (5, 2, 3)


def test_masks_that_are_refused():
    with pytest.raises(TypeError, match=r"must be boolean.*from_blocked"):
        read_mask(torch.ones(2, 3), (2, 3))
    with pytest.raises(TypeError, match=r"must be boolean.*got str"):
        read_mask("causal", (2, 3))
    with pytest.raises(ValueError, match=r"broadcasts to \(2, 3\).*got \(3, 2\).*mask\.mT"):
        read_mask(torch.ones(3, 2, dtype=torch.bool), (2, 3))
    with pytest.raises(ValueError, match="would enlarge"):
        read_mask(torch.ones(5, 2, 3, dtype=torch.bool), (2, 3))


def test_tokens_are_strings_of_any_kind():
    odd = ["cost$5 and $6", "<s>", "", " ", "\n", "##ing", "▁the", "Ġthe", "中国", "👍🏽", "שלום"]
    assert read_tokens(odd, len(odd)) == odd
    assert read_tokens((t for t in odd), len(odd)) == odd
    read = read_tokens(np.array(["我", "爱"]), 2)
    assert read == ["我", "爱"] and all(type(t) is str for t in read)
    assert read_tokens(None, 3) == ["0", "1", "2"]


def test_a_mask_may_be_a_list_of_rows():
    rows = [causal_mask(3)[0], causal_mask(3)[2]]
    for given in (rows, [row.numpy() for row in rows]):
        assert read_mask(given, (2, 3)).tolist() == [[True, False, False], [True] * 3]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("我爱", r"got one string, '我爱': a string is not a list of tokens.*list\(\.\.\.\)"),
        (b"ab", "got one string"),
        ([101, 102], r"got 101 \(int\) at place 0.*decoded first"),
        (torch.tensor([101, 102]), "decoded first"),
        ([["a", "b"]], r"For a batch of one sequence: tokens\[0\]"),
        (np.array([["a", "b"]]), r"For a batch of one sequence: tokens\[0\]"),
        ([b"a", b"b"], r"got b'a' \(bytes\).*t\.decode\(\)"),
        (np.array("ab"), "got ndarray"),
        (["a", None], r"got None \(NoneType\) at place 1"),
        ({"a", "b"}, "in the order of the axis, got set"),
        ({"a": 1, "b": 2}, "got dict"),
        (2, "got int"),
    ],
)
def test_tokens_that_are_refused(tokens, message):
    with pytest.raises(TypeError, match=message):
        read_tokens(tokens, 2)


def test_a_wrong_number_of_tokens_names_axis_and_both_numbers():
    for name, axis in (("query_tokens", "queries (rows)"), ("key_tokens", "keys (columns)")):
        with pytest.raises(
            ValueError, match=f"{name} has 2 tokens, the map has 3 {re.escape(axis)}"
        ):
            read_tokens(["a", "b"], 3, name=name)


def test_doctests():
    result = doctest.testmod(module)
    assert result.attempted and not result.failed
