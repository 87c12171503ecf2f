"""Chapter 9's exercises: right answers pass in any style, each wrong one is called by its name."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from answers import (
    assert_called,
    assert_every_name_is_reached,
    assert_passes,
    numbered,
    written,
)

from attnkit import causal_mask, checks, padding_mask
from attnkit.checks import _exercises

# One right answer to each, cut into pieces so that each wrong one is a change of one piece.
MASKS_TEMPLATE = """
def decoder_masks(lengths, n):
    i, longest = torch.arange(n), int(lengths.max())
    places = torch.arange(longest)
    own = {own}
    real = {real}
    cross = {cross}
    return {return}
"""
MASKS_PIECES = {
    "own": "i <= i[:, None]",
    "real": "places < lengths[:, None]",
    "cross": "real[:, None, None]",
    "return": "own, cross",
}
MASKS = [
    ("masks-in-the-other-order", {"return": "cross, own"}),
    ("polarity-flipped", {"return": "~own, ~cross"}),
    ("polarity-flipped", {"own": "i > i[:, None]"}),
    ("polarity-flipped", {"real": "places >= lengths[:, None]"}),
    ("own-token-hidden", {"own": "i < i[:, None]"}),
    ("next-token-shown", {"own": "i <= i[:, None] + 1"}),
    ("wrong-triangle", {"own": "i >= i[:, None]"}),
    ("later-tokens-shown", {"own": "torch.ones(n, n, dtype=torch.bool)"}),
    ("causal-in-the-cross-attention", {"cross": "real[:, None, None] & (places <= i[:, None])"}),
    ("causal-in-the-cross-attention", {"cross": "real[:, None] & (places <= i[:, None])"}),
    ("causal-in-the-cross-attention", {"cross": "places <= i[:, None]"}),
    ("source-lengths-in-the-self-attention", {
        "own": "(i <= i[:, None]) & (i < lengths[:, None, None, None])"}),
    ("source-lengths-in-the-self-attention", {"own": "i < lengths[:, None, None, None]"}),
    ("source-padding-shown", {"cross": "torch.ones(len(lengths), 1, 1, longest).bool()"}),
    ("source-padding-shown", {"cross": "torch.ones(n, longest, dtype=torch.bool)"}),
    ("queries-blocked-in-place-of-keys", {"cross": "real[:, None, :, None]"}),
    ("queries-blocked-in-place-of-keys", {"cross": "(i < lengths[:, None])[:, None, :, None]"}),
    ("as-long-as-the-target", {"real": "i < lengths[:, None]"}),
    ("length-off-by-one", {"real": "places <= lengths[:, None]"}),
    ("length-off-by-one", {"real": "places < lengths[:, None] - 1"}),
    ("one-length-for-all", {"real": "(places < lengths.min()).expand(len(lengths), longest)"}),
    ("one-length-for-all", {"real": "(places < lengths[0]).expand(len(lengths), longest)"}),
    ("one-length-for-all", {"real": "(places < lengths[-1]).expand(len(lengths), longest)"}),
    ("padded-on-the-left", {"real": "places >= longest - lengths[:, None]"}),
    ("batch-on-another-axis", {"cross": "real"}),
    ("batch-on-another-axis", {"cross": "real[:, None]"}),
    ("batch-on-another-axis", {"cross": "real[None, :, None]"}),
    ("batch-on-another-axis", {"cross": "real[:, :, None, None]"}),
    ("one-row-per-query", {"cross": "real[:, None, None].expand(-1, 1, n, -1)"}),
    ("one-self-mask-per-sentence", {"own": "(i <= i[:, None]).expand(len(lengths), 1, n, n)"}),
    ("additive-mask", {"return": "torch.where(own, 0, -torch.inf), torch.where(cross, 0, -1e9)"}),
    ("additive-mask", {"return": "own, torch.where(cross, 0, -torch.inf)"}),
    ("additive-mask", {"return": "torch.triu(torch.full((n, n), -torch.inf), 1), cross"}),
    ("numbers-for-booleans", {"return": "own.int(), cross.int()"}),
    ("numbers-for-booleans", {"return": "torch.ones(n, n).tril(), cross"}),
    ("numbers-for-booleans", {"return": "own, cross.float()"}),
    # Failures that any exercise can have.
    ("wrong-count", {"return": "own"}),
    ("wrong-shape", {"return": "own, cross[..., None]"}),
    ("wrong-type", {"return": "own, cross.tolist().__repr__()"}),
    ("changes-its-input", {"cross": "(real[:, None, None], lengths.add_(1))[0]"}),
    ("hard-coded", {
        "return": "torch.ones(2, 2) > torch.eye(2).fliplr(), torch.ones(2, 1, 1, 3) > 0"}),
    ("raised", {"cross": "real[:, None, Non]"}),
    ("wrong", {"cross": "(places == lengths[:, None])[:, None, None]"}),
]  # fmt: skip

CACHE_TEMPLATE = """
def cached_attention(query, key, value, keys, values):
    first = {first}
    K, V = {both}
    scores = {scores}
    weights = {weights}
    output = {output}
    return {return}
"""
CACHE_PIECES = {
    "first": "torch.cat",
    "both": "torch.cat([keys, key], -2), torch.cat([values, value], -2)",
    "scores": "query @ K.mT / query.shape[-1] ** 0.5",
    "weights": "scores.softmax(-1)",
    "output": "weights @ V",
    "return": "output, K, V",
}
IN_FRONT = {"both": "torch.cat([key, keys], -2), torch.cat([value, values], -2)"}
CACHE = [
    ("new-token-not-seen", {
        "weights": "scores[..., :-1].softmax(-1)", "output": "weights @ values"}),
    ("cache-not-seen", {"output": "value"}),
    ("cache-not-grown", {"return": "output, keys, values"}),
    ("cache-not-grown", {"both": "keys, values"}),
    ("cache-not-grown", {"output": "value", "return": "output, keys, values"}),
    ("only-the-new-kept", {"return": "output, key, value"}),
    ("only-the-new-kept", {"both": "key, value"}),
    ("only-one-of-the-two-grown", {"return": "output, K, values"}),
    ("only-one-of-the-two-grown", {"return": "output, keys, V"}),
    ("new-token-in-front", IN_FRONT),
    ("appended-on-another-axis", {
        "return": "output, torch.cat([keys, key]), torch.cat([values, value])"}),
    ("mask-aligned-top-left", {
        "output": "F.scaled_dot_product_attention(query, K, V, is_causal=True)"}),
    ("mask-aligned-top-left", {
        "weights": "scores.masked_fill(~torch.ones(1, K.shape[-2]).tril().bool(), -torch.inf)"
                   ".softmax(-1)"}),
    ("another-scale", {"scores": "query @ K.mT"}),
    ("another-scale", {"scores": "query @ K.mT / query.shape[-1]"}),
    ("another-scale", {"scores": "query @ K.mT / K.shape[-2] ** 0.5"}),
    ("another-scale", {"scores": "query @ K.mT / (len(query) * query.shape[-1]) ** 0.5"}),
    ("another-scale", {"scores": "query @ K.mT / value.shape[-1] ** 0.5"}),
    ("softmax-over-another-axis", {"weights": "scores.softmax(-2)"}),
    ("softmax-over-another-axis", {"weights": "scores.softmax(0)"}),
    ("no-softmax", {"weights": "scores"}),
    ("no-softmax", {"weights": "query @ K.mT"}),
    ("keys-weighed", {"output": "weights @ K"}),
    ("query-kept-for-the-key", {
        "both": "torch.cat([keys, query], -2), torch.cat([values, value], -2)"}),
    ("keys-and-values-exchanged", {"return": "output, V, K"}),
    ("oldest-dropped", {"return": "output, K[..., 1:, :], V[..., 1:, :]"}),
    ("oldest-dropped", {
        "both": "torch.cat([keys, key], -2)[..., 1:, :], "
                "torch.cat([values, value], -2)[..., 1:, :]"}),
    ("last-token-overwritten", {
        "both": "torch.cat([keys[..., :-1, :], key], -2), "
                "torch.cat([values[..., :-1, :], value], -2)"}),
    # Failures that any exercise can have.
    ("wrong-count", {"return": "output"}),
    ("wrong-shape", {"return": "output[..., None], K, V"}),
    ("wrong-type", {"return": "output, {'keys': K}, V"}),
    ("changes-its-input", {"first": "key.mul_(1.5)"}),
    ("not-a-number", {"output": "weights @ V / 0 * 0"}),
    ("raised", {"scores": "query @ K"}),
    ("wrong", {"output": "-weights @ V"}),
]  # fmt: skip

GROUPS_TEMPLATE = """
def grouped(query, key, value):
    heads, groups = len(query), len(key)
    sharing = heads // groups
    q = {query}
    k = {key}
    v = {value}
    scores = {scores}
    out = {output}
    return {return}
"""
GROUPS_PIECES = {
    "query": "query",
    "key": "key.repeat_interleave(sharing, 0)",
    "value": "value.repeat_interleave(sharing, 0)",
    "scores": "q @ k.mT / q.shape[-1] ** 0.5",
    "output": "scores.softmax(-1) @ v",
    "return": "out",
}
DEALT = {"key": "key.repeat(sharing, 1, 1)", "value": "value.repeat(sharing, 1, 1)"}
UNSPREAD = {"key": "key", "value": "value"}
APART = {"query": "query.unflatten(0, (groups, sharing))", "key": "key[:, None]"}
APART |= {"value": "value[:, None]"}
MEAN = "out.unflatten(0, (groups, sharing)).mean(1)"
GROUPS = [
    ("heads-dealt-out", DEALT),
    ("keys-and-values-of-two-groups", {"key": DEALT["key"]}),
    ("keys-and-values-of-two-groups", {"value": DEALT["value"]}),
    ("groups-in-reverse", {"key": "key.flip(0).repeat_interleave(sharing, 0)",
                           "value": "value.flip(0).repeat_interleave(sharing, 0)"}),
    ("one-group-for-all-heads", {"key": "key[:1]", "value": "value[:1]"}),
    ("one-group-for-all-heads", {"key": "key[-1]", "value": "value[-1]"}),
    ("one-group-for-all-heads", {"key": "key.mean(0)", "value": "value.mean(0)"}),
    ("keys-of-all-groups", {"key": "key.flatten(0, 1)", "value": "value.flatten(0, 1)"}),
    ("keys-of-all-groups", {"query": "query[:, None]", "key": "key", "value": "value",
                            "return": "out.mean(1)"}),
    ("heads-left-out", UNSPREAD | {"query": "query[:groups]"}),
    ("heads-left-out", UNSPREAD | {"query": "query[::sharing]"}),
    ("queries-averaged", UNSPREAD | {"query": "query.unflatten(0, (groups, sharing)).mean(1)"}),
    ("queries-averaged", {
        "query": "query.unflatten(0, (groups, sharing)).mean(1).repeat_interleave(sharing, 0)"}),
    ("queries-averaged", UNSPREAD | {"query": "query.unflatten(0, (groups, sharing)).sum(1)"}),
    ("outputs-averaged", {"return": MEAN}),
    ("outputs-averaged", {"return": "out.unflatten(0, (groups, sharing)).sum(1)"}),
    ("outputs-averaged", {"return": f"({MEAN}).repeat_interleave(sharing, 0)"}),
    ("divided-by-the-sharing-heads", {"return": "out / sharing"}),
    ("groups-kept-apart", APART),
    ("groups-kept-apart", APART | {"return": "out.flatten(1, 2)"}),
    ("heads-joined", {"return": "out.transpose(0, 1).flatten(1)"}),
    ("heads-joined", {"return": "out.transpose(0, 1)"}),
    ("another-scale", {"scores": "q @ k.mT"}),
    ("another-scale", {"scores": "q @ k.mT / q.shape[-1]"}),
    ("another-scale", {"scores": "q @ k.mT / (heads * q.shape[-1]) ** 0.5"}),
    ("another-scale", {"scores": "q @ k.mT / v.shape[-1] ** 0.5"}),
    ("softmax-over-another-axis", {"output": "scores.softmax(-2) @ v"}),
    ("softmax-over-another-axis", {"output": "scores.softmax(0) @ v"}),
    ("causal-too", {"output": "F.scaled_dot_product_attention(q, k, v, is_causal=True)"}),
    ("causal-too", {"output": "F.scaled_dot_product_attention(q, k, v, torch.ones("
                              "q.shape[1], k.shape[1]).tril(k.shape[1] - q.shape[1]).bool())"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "out[..., None]"}),
    ("wrong-type", {"return": "dict(enumerate(out))"}),
    ("changes-its-input", {"query": "query.mul_(1.5)"}),
    ("not-a-number", {"return": "out / 0 * 0"}),
    ("raised", {"key": "key[sharing]"}),
    ("wrong", {"return": "-out"}),
]  # fmt: skip

EXERCISES = {
    "ch9-masks": (MASKS_TEMPLATE, MASKS_PIECES, MASKS),
    "ch9-cache": (CACHE_TEMPLATE, CACHE_PIECES, CACHE),
    "ch9-groups": (GROUPS_TEMPLATE, GROUPS_PIECES, GROUPS),
}
NAMED = [(id, *row) for id, (_, _, table) in EXERCISES.items() for row in table]


def built(id, changes):
    template, pieces, _ = EXERCISES[id]
    return written(template, pieces, changes)


@pytest.mark.parametrize(("id", "name", "changes"), NAMED)
def test_a_changed_line_is_called_by_its_name(id, name, changes):
    assert_called(id, name, built(id, changes))


@pytest.mark.parametrize("id", EXERCISES)
def test_every_name_and_form_is_reached_by_an_answer_that_a_learner_could_write(id):
    answers = [(name, built(id, changes)) for name, changes in EXERCISES[id][2]]
    assert_every_name_is_reached(id, answers, at_least=13)


def masks_by_loops(lengths, n):
    longest = max(int(length) for length in lengths)
    own = [[j <= i for j in range(n)] for i in range(n)]
    return own, [[[[j < int(length) for j in range(longest)]]] for length in lengths]


def masks_by_numpy(lengths, n):
    lengths = np.asarray(lengths)
    return np.tri(n, dtype=bool), np.arange(lengths.max())[None, None, None] < lengths.reshape(
        -1, 1, 1, 1
    )


def masks_by_the_package(lengths, n):
    return causal_mask(n)[None, None], padding_mask(lengths)


def cached_by_the_fused_kernel(query, key, value, keys, values):
    keys, values = torch.cat((keys, key), 1), torch.cat((values, value), 1)
    return F.scaled_dot_product_attention(query, keys, values), keys, values


def cached_head_by_head(query, key, value, keys, values):
    keys, values = (np.concatenate(pair, axis=1) for pair in ((keys, key), (values, value)))
    outputs = []
    for q, k, v in zip(np.asarray(query), keys, values, strict=True):
        powers = np.exp(k @ q[0] / np.sqrt(len(q[0])))
        outputs.append([powers @ v / powers.sum()])
    return np.float32(outputs), keys, values


def cached_by_the_whole_map(query, key, value, keys, values):
    """The last row of causal attention, the other queries being of no account."""
    keys, values = torch.cat([keys, key], -2), torch.cat([values, value], -2)
    mask = causal_mask(keys.shape[-2])
    everyone = torch.cat([torch.zeros_like(keys[..., 1:, :]), query], -2)
    output = F.scaled_dot_product_attention(everyone, keys, values, mask)
    return [output[..., -1:, :], keys, values]


def grouped_by_the_fused_kernel(query, key, value):
    q, k, v = query[None], key[None], value[None]
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)[0]


def grouped_by_broadcasting(query, key, value):
    q = query.reshape(len(key), -1, *query.shape[1:]).float()
    scores = torch.einsum("grid,gjd->grij", q, key.float()) / q.shape[-1] ** 0.5
    return torch.einsum("grij,gjv->griv", scores.softmax(-1), value.float()).flatten(0, 1)


def grouped_by_loops(query, key, value):
    outputs = []
    for head, q in enumerate(np.asarray(query)):
        group = head * len(key) // len(query)
        powers = np.exp(q @ np.asarray(key)[group].T / np.sqrt(q.shape[-1]))
        outputs.append(powers @ np.asarray(value)[group] / powers.sum(axis=1, keepdims=True))
    return np.stack(outputs)


RIGHT = {
    "ch9-masks": [
        built("ch9-masks", {}), masks_by_loops, masks_by_numpy, masks_by_the_package,
        built("ch9-masks", {"own": "torch.ones(n, n, dtype=torch.bool).tril()"}),
    ],
    "ch9-cache": [
        built("ch9-cache", {}), cached_by_the_fused_kernel, cached_head_by_head,
        cached_by_the_whole_map,
    ],
    "ch9-groups": [
        built("ch9-groups", {}), grouped_by_the_fused_kernel, grouped_by_broadcasting,
        grouped_by_loops,
        # The queries of a group behind each other, as if they were of one sentence.
        built("ch9-groups", UNSPREAD | {
            "query": "query.reshape(groups, -1, query.shape[-1])",
            "return": "out.reshape(heads, -1, out.shape[-1])"}),
    ],
    "ch9-claims": [{"A", "D", "F"}, "ADF", "a, d and f", ["F", "D", "A"], ("a)", "d)", "f)")],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


def test_token_by_token_with_a_cache_is_causal_attention():
    right = _exercises()["ch9-cache"].right
    query, key, value = np.random.default_rng(9).normal(size=(3, 2, 5, 3))
    keys, values, outputs = key[:, :0], value[:, :0], []
    for t in range(5):
        step = (x[:, t : t + 1] for x in (query, key, value))
        output, keys, values = right(*step, keys, values)
        outputs.append(output)
    expected = F.scaled_dot_product_attention(
        *map(torch.tensor, (query, key, value)), is_causal=True
    )
    np.testing.assert_allclose(np.concatenate(outputs, axis=1), expected)
    np.testing.assert_array_equal(keys, key)


def test_the_reference_of_groups_is_the_fused_kernel():
    exercise = _exercises()["ch9-groups"]
    for trial in exercise.trials:
        q, k, v = (torch.tensor(x)[None] for x in trial.inputs.values())
        expected = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)[0]
        np.testing.assert_allclose(exercise.right(*trial.inputs.values()), expected)


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("DF", "cross-attention-roles-exchanged"),
        ("ABDF", "causal-mask-taken-for-too-little"),
        ("ACDF", "cache-taken-for-approximation"),
        ("AF", "queries-taken-for-the-first"),
        ("ADEF", "one-group-taken-for-one-head"),
        ("AD", "cache-taken-for-one-per-head"),
        ("ADFG", "parallel-taken-for-free"),
        ("BCEG", "chose-the-wrong-ones"),
        ("ABCDEFG", "chose-everything"),
    ],
)
def test_statements_that_are_wrongly_taken_or_left_have_a_name(chosen, name):
    assert checks.check("ch9-claims", chosen).name == name


def test_a_cache_gives_what_computing_everything_again_gives():
    again, cached = checks.check("ch9-claims", "ACDF").expected.values()
    np.testing.assert_allclose(again, cached)


def test_shared_keys_leave_two_heads_two_maps():
    first, second = checks.check("ch9-claims", "ADEF").expected.values()
    assert np.abs(first - second).max() > 0.1
