"""Chapter 4's exercises: right answers pass in any style, each wrong one is called by its name."""

import math

import numpy as np
import pytest
import torch
from answers import assert_passes, numbered

from attnkit import checks
from attnkit.checks import _exercises
from attnkit.functional import masked_softmax as attnkit_softmax
from attnkit.masks import causal_mask, padding_mask

ONES = "np.ones((n_queries, n_keys), bool)"
LATE = "n_keys - n_queries"
CAUSAL = [
    ("polarity-flipped", f"np.triu({ONES}, {LATE} + 1)"),
    ("polarity-flipped", "torch.ones(n_queries, n_keys).triu(1).bool()"),
    ("polarity-flipped", f"torch.ones(n_queries, n_keys).triu({LATE} + 1)"),
    ("polarity-flipped", f"torch.full((n_queries, n_keys), -torch.inf).tril({LATE})"),
    ("diagonal-hidden", f"np.tril({ONES}, {LATE} - 1)"),
    ("diagonal-hidden", "torch.ones(n_queries, n_keys).tril(-1) > 0"),
    ("diagonal-hidden", "np.arange(n_keys) < np.arange(n_keys)[-n_queries:, None]"),
    ("one-key-too-far", f"np.tri(n_queries, n_keys, {LATE} + 1) == 1"),
    ("one-key-too-far", "torch.ones(n_queries, n_keys).tril(1).bool()"),
    ("sees-the-future", f"np.triu({ONES}, {LATE})"),
    ("sees-the-future", "torch.ones(n_queries, n_keys).triu().bool()"),
    ("queries-and-keys-swapped", "causal_mask(n_queries, n_keys).T"),
    ("queries-and-keys-swapped", "np.tril(np.ones((n_keys, n_queries))) > 0"),
    ("aligned-at-the-first-key", f"np.tril({ONES})"),
    ("aligned-at-the-first-key", "torch.ones(n_queries, n_keys).tril()"),
    ("aligned-at-the-first-key", "torch.full((n_queries, n_keys), -torch.inf).triu(1)"),
    ("aligned-at-the-first-key", "np.arange(n_keys) <= np.arange(n_queries)[:, None]"),
    (
        "earlier-keys-hidden",
        f"np.hstack([np.zeros((n_queries, {LATE}), bool), np.tri(n_queries, dtype=bool)])",
    ),
    ("always-square", "np.tril(np.ones((n_queries, n_queries))) == 1"),
    ("always-square", "np.tri(n_keys, dtype=bool)"),
    ("nothing-hidden", ONES),
    ("own-key-only", f"np.eye(n_queries, n_keys, {LATE}, dtype=bool)"),
    ("window-for-causal", f"np.triu(np.tri(n_queries, n_keys, {LATE}), {LATE} - 2) > 0"),
    ("mirrored", f"np.tri(n_queries, n_keys, {LATE}, dtype=bool)[:, ::-1].copy()"),
    ("additive-mask", f"torch.full((n_queries, n_keys), -torch.inf).triu({LATE} + 1)"),
    ("additive-mask", f"(1 - np.tri(n_queries, n_keys, {LATE})) * -1e9"),
    ("additive-mask", f"np.triu({ONES}, {LATE} + 1) * np.finfo(np.float32).min"),
    ("numbers-for-booleans", f"np.tri(n_queries, n_keys, {LATE})"),
    ("numbers-for-booleans", "causal_mask(n_queries, n_keys).int().tolist()"),
    ("numbers-for-booleans", "causal_mask(n_queries, n_keys).to(torch.uint8)"),
    # Failures that any exercise can have.
    ("hard-coded", "np.ones((2, 2), bool)"),
    ("wrong-type", "['x.', 'xx']"),
    ("wrong-shape", "causal_mask(n_queries, n_keys).reshape(-1)"),
    ("raised", "causal_mask(n_keys, n_queries)"),
    ("not-repeatable", f"np.random.rand(n_queries, n_keys) < 0.5 * {ONES}"),
    ("wrong", f"{ONES} & (np.arange(n_keys) % 2 == 0)"),
]  # fmt: skip
REAL = "(np.arange(n_keys) < np.asarray(lengths)[:, None])"
KEY_MASK = [
    ("polarity-flipped", f"(~{REAL})[:, None, None]"),
    ("polarity-flipped", f"~{REAL}"),
    ("query-rows-masked", f"{REAL}[:, None, :, None]"),
    ("query-rows-masked-too", f"({REAL}[:, :, None] & {REAL}[:, None])[:, None]"),
    ("one-padding-key-let-in", f"{REAL.replace('<', '<=')}[:, None, None]"),
    ("last-token-hidden", "(np.arange(n_keys) + 1 < lengths[:, None])[:, None, None]"),
    ("batch-on-another-axis", REAL),
    ("batch-on-another-axis", f"{REAL}[:, None]"),
    ("batch-on-another-axis", f"torch.tensor({REAL}).unsqueeze(0).unsqueeze(0)"),
    ("keys-first", f"{REAL}[:, :, None, None]"),
    ("keys-first", f"{REAL}.T[None, None]"),
    ("padded-on-the-left", f"{REAL}[:, None, None, ::-1].copy()"),
    ("longest-for-all", "np.tile(np.arange(n_keys) < max(lengths), (len(lengths), 1, 1, 1))"),
    ("as-long-as-the-longest", "padding_mask(lengths)"),
    ("nothing-hidden", f"({REAL} | True)[:, None, None]"),
    ("one-position-only", "(np.arange(n_keys) == lengths[:, None] - 1)[:, None, None]"),
    ("one-row-per-query", f"np.repeat({REAL}[:, None, None], n_keys, 2)"),
    ("one-row-per-query", f"np.repeat({REAL}[:, None], n_keys, 1)"),
    ("causal-too", f"{REAL}[:, None, None] & np.tri(n_keys, dtype=bool)"),
    ("additive-mask", f"np.where({REAL}, 0, -np.inf)[:, None, None]"),
    ("additive-mask", f"(~{REAL} * -1e9)[:, None, None]"),
    ("numbers-for-booleans", f"{REAL}[:, None, None] * 1"),
    ("numbers-for-booleans", f"{REAL}[:, None, None].astype('float32')"),
    # Failures that any exercise can have.
    ("wrong-type", f"{REAL}[:, None, None].astype(str)"),
    ("changes-its-input", f"lengths.sort() or {REAL}[:, None, None]"),
    ("raised", f"{REAL}.unsqueez(1)"),
    ("wrong-shape", f"{REAL}.ravel()"),
    ("wrong", f"({REAL} & (np.arange(n_keys) != 0))[:, None, None]"),
]  # fmt: skip

# One right answer, cut into pieces so that each wrong one is a change of one piece.
PIECES = {
    "mask": "scores = np.where(mask, scores, -np.inf)",
    "max": "scores.max(axis=-1, keepdims=True)",
    "top": "np.where(np.isfinite(top), top, 0)",
    "exp": "np.exp(scores - top)",
    "total": "weights.sum(axis=-1, keepdims=True)",
    "divide": "weights / np.where(total > 0, total, 1)",
    "return": "weights",
}
TEMPLATE = """
def masked_softmax(scores, mask):
    {mask}
    top = {max}
    top = {top}
    weights = {exp}
    total = {total}
    weights = {divide}
    return {return}
"""
SOFTMAX = [
    ("blocked-keys-dropped", {"return": "weights[mask]"}),
    ("blocked-keys-dropped", {"return": "[w[m].tolist() for w, m in zip(weights, mask)]"}),
    ("mask-after-softmax", {"mask": "pass", "return": "weights * mask"}),
    ("mask-multiplied-into-scores", {"mask": "scores = scores * mask"}),
    ("mask-multiplied-into-scores", {"mask": "scores = np.where(mask, scores, 0)"}),
    ("one-added", {"mask": "scores = scores + mask"}),
    ("infinity-times-zero", {"mask": "scores = scores + (1 - mask) * -np.inf"}),
    ("infinity-times-zero", {"mask": "scores = scores - np.inf * ~mask", "top": "top"}),
    ("polarity-flipped", {"mask": "scores = np.where(mask, -np.inf, scores)"}),
    ("polarity-flipped", {"mask": "scores = scores + mask * -1e9"}),
    ("mask-ignored", {"mask": "pass"}),
    ("scores-ignored", {"mask": "scores = np.where(mask, 0, -np.inf)"}),
    ("no-softmax", {"return": "scores"}),
    ("not-normalised", {"divide": "weights"}),
    ("not-normalised", {"divide": "weights", "max": "0.0"}),
    ("softmax-over-queries", {"max": "scores.max(0)", "total": "weights.sum(0)"}),
    ("softmax-over-queries", {"total": "weights.sum(axis=0)"}),
    ("softmax-over-everything", {"max": "scores.max()", "total": "weights.sum()"}),
    ("sum-without-keepdims", {"total": "weights.sum(axis=-1)"}),
    ("sum-without-keepdims", {"max": "scores.max(axis=-1)"}),
    ("nan-in-an-empty-row", {"top": "top", "divide": "weights / total"}),
    ("nan-in-an-empty-row", {"divide": "weights / total"}),
    ("nan-in-an-empty-row", {"max": "0.0", "divide": "weights / total"}),
    ("share-in-an-empty-row", {"mask": "scores = np.where(mask, scores, -1e9)"}),
    ("share-in-an-empty-row", {"mask": "scores = scores + ~mask * -1e9"}),
    (
        "breaks-on-infinity",
        {"mask": "scores = scores * mask - 1e9 * ~mask", "return": "weights * mask"},
    ),
    (
        "fill-not-low-enough",
        {"mask": "scores = np.where(mask, scores, -100)", "return": "weights * mask"},
    ),
    (
        "fill-not-low-enough",
        {"mask": "scores = np.where(mask, scores, -1e3)", "exp": "np.exp(scores - top) * mask"},
    ),
    ("one-maximum-for-all-rows", {"max": "scores.max()"}),
    (
        "epsilon-below-the-bar",
        {
            "mask": "pass",
            "exp": "np.exp(scores - top) * mask",
            "divide": "weights / (total + 1e-9)",
        },
    ),
    ("blocked-key-in-the-maximum", {"mask": "pass", "exp": "np.exp(scores - top) * mask"}),
    ("overflows", {"max": "0.0"}),
    ("overflows", {"max": "scores.min(axis=-1, keepdims=True)"}),
    ("finite-but-wrong", {"max": "0.0", "exp": "np.exp(scores.clip(-700, 700)) * mask"}),
    ("finite-but-wrong", {"max": "0.0", "return": "np.nan_to_num(weights)"}),
    # Failures that any exercise can have.
    ("changes-its-input", {"mask": "scores[~mask] = -np.inf"}),
    ("changes-its-input", {"mask": "np.copyto(scores, -np.inf, where=~mask)"}),
    ("changes-its-input", {"return": "(weights, mask.fill(True))[0]"}),
    ("hard-coded", {"return": "np.eye(2)"}),
    ("wrong-shape", {"return": "weights.sum(axis=-1)"}),
    ("wrong", {"return": "weights ** 2"}),
    ("raised", {"return": "wights"}),
]


def written(arguments, expression):
    names = {"np": np, "torch": torch, "causal_mask": causal_mask, "padding_mask": padding_mask}
    return eval(f"lambda {arguments}: {expression}", names)


def built(changes):
    """The function that the template gives with some pieces changed."""
    space = {"np": np}
    exec(TEMPLATE.format(**PIECES | changes), space)
    return space["masked_softmax"]


@pytest.mark.parametrize(("name", "expression"), CAUSAL)
def test_a_wrong_causal_mask_is_called_by_its_name(name, expression):
    verdict = checks.check("ch4-causal", written("n_queries, n_keys", expression))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(("name", "expression"), KEY_MASK)
def test_a_wrong_key_mask_is_called_by_its_name(name, expression):
    verdict = checks.check("ch4-same-padded", written("lengths, n_keys", expression))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(("name", "changes"), SOFTMAX)
def test_a_changed_line_of_the_masked_softmax_is_called_by_its_name(name, changes):
    verdict = checks.check("ch4-masked-softmax", built(changes))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(
    ("id", "table"),
    [("ch4-causal", CAUSAL), ("ch4-same-padded", KEY_MASK), ("ch4-masked-softmax", SOFTMAX)],
)
def test_every_name_is_reached_by_an_answer_that_a_learner_could_write(id, table):
    names = {wrong.name for wrong in _exercises()[id].misconceptions}
    assert len(names) >= 10
    assert names <= {name for name, _ in table}
    assert {name for name, _ in table} <= names | set(checks.common_failures())


def by_loops(n_queries, n_keys):
    behind = n_keys - n_queries
    return [[key <= query + behind for key in range(n_keys)] for query in range(n_queries)]


def by_filling_in(n_queries, n_keys):
    mask = torch.zeros(n_queries, n_keys, dtype=torch.bool)
    for query in range(n_queries):
        mask[query, : n_keys - n_queries + query + 1] = True
    return mask


def softmax_by_loops(scores, mask):
    """Plain Python, row by row."""
    rows = []
    for row, allowed in zip(scores.tolist(), mask.tolist(), strict=True):
        seen = [s for s, a in zip(row, allowed, strict=True) if a]
        powers = [math.exp(s - max(seen)) if a else 0.0 for s, a in zip(row, allowed, strict=True)]
        rows.append([p / sum(powers) if seen else 0.0 for p in powers])
    return rows


def softmax_in_float32(scores, mask):
    scores = np.float32(np.where(mask, scores, np.finfo(np.float32).min))
    weights = np.exp(scores - scores.max(1, keepdims=True)) * mask
    return np.divide(weights, weights.sum(1)[:, None], where=weights.any(1)[:, None], out=weights)


def softmax_by_torch(scores, mask):
    blocked = torch.as_tensor(scores).masked_fill(~torch.as_tensor(mask), -torch.inf)
    return blocked.softmax(-1).nan_to_num(0)


def softmax_row_by_row(scores, mask):
    weights = np.zeros(scores.shape)
    for query in range(len(scores)):
        seen = mask[query]
        if seen.any():
            row = scores[query, seen]
            weights[query, seen] = np.exp(row - np.logaddexp.reduce(row))
    return weights


def key_mask_by_filling_in(lengths, n_keys):
    mask = np.zeros((len(lengths), 1, 1, n_keys), dtype=bool)
    for sentence, length in enumerate(lengths):
        mask[sentence, ..., :length] = True
    return mask


RIGHT = {
    "ch4-causal": [
        by_loops, by_filling_in, causal_mask,
        lambda n_queries, n_keys: np.tri(n_queries, n_keys, n_keys - n_queries, dtype=bool),
        lambda n, m: np.tril(np.ones((n, m), dtype=bool), m - n),
        lambda n, m: torch.ones(n, m).tril(m - n) == 1,
        lambda n, m: ~torch.ones(n, m, dtype=torch.bool).triu(m - n + 1),
        lambda n, m: np.tri(m, dtype=bool)[-n:],
        lambda n, m: np.greater_equal.outer(np.arange(m - n, m), np.arange(m)),
        lambda n, m: causal_mask(n, m)[None, None],
    ],
    "ch4-masked-softmax": [
        built({}), softmax_by_loops, softmax_in_float32, softmax_by_torch, softmax_row_by_row,
        lambda scores, mask: attnkit_softmax(torch.as_tensor(scores), torch.as_tensor(mask)),
        lambda s, m: built({})(np.asarray(s), np.asarray(m)).astype(np.float32),
        built({"mask": "scores = np.where(mask, scores, -1e9)", "return": "weights * mask"}),
    ],
    "ch4-same-padded": [
        key_mask_by_filling_in, padding_mask,
        lambda lengths, n: (np.arange(n) < np.reshape(lengths, (-1, 1, 1, 1))),
        lambda lengths, n: (torch.arange(n) < torch.as_tensor(lengths)[:, None])[:, None, None],
        lambda lengths, n: [[[[key < length for key in range(n)]]] for length in lengths],
        lambda lengths, n: np.tri(n + 1, n, -1, dtype=bool)[lengths][:, None, None, :],
        lambda lengths, n: ~(np.arange(n) >= np.asarray(lengths)[:, None])[:, None, None, :],
    ],
    "ch4-claims": [{"A", "D", "F"}, "ADF", "a, d and f", ["F", "D", "A"], ("a)", "d)", "f)")],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


def test_what_the_checks_call_right_is_what_attnkit_computes():
    exercises = _exercises()
    for n_queries, n_keys in [(1, 1), (3, 7), (5, 5), (2, 11)]:
        mask = exercises["ch4-causal"].right(n_queries, n_keys)
        assert np.array_equal(mask, causal_mask(n_queries, n_keys))
    mask = exercises["ch4-same-padded"].right(np.array([0, 3, 7]), 7)
    assert np.array_equal(mask, padding_mask([0, 3, 7], 7))
    rng = np.random.default_rng(7)
    scores, mask = rng.normal(0, 3, (7, 5)), rng.random((7, 5)) < 0.4
    mask[3] = False
    ours = attnkit_softmax(torch.tensor(scores), torch.tensor(mask))
    np.testing.assert_allclose(exercises["ch4-masked-softmax"].right(scores, mask), ours)


def test_a_mask_in_numbers_is_shown_beside_the_one_in_booleans():
    verdict = checks.check("ch4-causal", lambda n, m: np.tri(n, m, m - n))
    assert verdict.expected["mask"].dtype == bool
    assert verdict.got["mask"].dtype == float
    assert "True" in str(verdict) and "1." in str(verdict)


def test_an_answer_that_stops_in_an_empty_row_is_shown_that_row():
    def masked_softmax(scores, mask):
        if not mask.any(axis=-1).all():
            raise ValueError("a query without keys")
        return built({})(scores, mask)

    verdict = checks.check("ch4-masked-softmax", masked_softmax)
    assert verdict.name == "raised"
    assert not verdict.example["mask"][0].any()


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("DF", "order-taken-for-seen"),
        ("ABDF", "causal-mask-taken-for-positions"),
        ("ACDF", "mask-after-softmax-taken-for-the-same"),
        ("AF", "padding-rows-taken-for-harmful"),
        ("ADEF", "one-convention-for-all"),
        ("AD", "leak-taken-for-skill"),
        ("ADFG", "large-negative-taken-for-infinity"),
        ("BCEG", "chose-the-wrong-ones"),
        ("ABCDEFG", "chose-everything"),
    ],
)
def test_statements_that_are_wrongly_taken_or_left_have_a_name(chosen, name):
    assert checks.check("ch4-claims", chosen).name == name


def test_the_two_conventions_of_pytorch_are_shown_by_running_both():
    before = torch.get_rng_state()
    ours, theirs = checks.check("ch4-claims", "ADEF").expected.values()
    assert torch.equal(torch.get_rng_state(), before)
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    # One may attend to token 0 alone, the other to all but token 0.
    np.testing.assert_allclose(ours, x[:1].expand(3, 2), rtol=1e-6)
    scores = x @ x[1:].T / 2**0.5
    np.testing.assert_allclose(theirs, scores.softmax(-1) @ x[1:], rtol=1e-6)


@pytest.mark.parametrize(
    ("losses", "name"),
    [
        ((0.52, 0.533), "right"),
        ((0.511, 0.547), "right"),
        ((torch.tensor(0.529), np.float32(0.521)), "right"),
        (([0.529], np.array([[0.521]])), "right"),
        ((0.52, 0.52), "ignores-its-argument"),
        ((0.01, 0.007), "sees-the-answer"),
        ((0.429, 0.424), "sees-or-trains-more"),  # two layers
        ((0.488, 0.499), "sees-or-trains-more"),  # three keys
        ((0.688, 0.702), "too-few-steps"),
        ((0.809, 0.879), "another-mask"),  # the whole past
        ((0.79, 0.895), "another-mask"),  # flipped
        ((1.015, 1.043), "one-key-only"),
        ((1.254, 1.304), "another-mask-in-use"),
        ((1.946, 1.878), "another-mask-in-use"),
        ((3.185, 3.323), "not-trained"),
        ((7.1, 7.3), "sum-for-mean"),
        ((float("nan"), 0.5), "not-a-number"),
        ((None, None), "returned-nothing"),
        ((0.605, 0.61), "measured-otherwise"),
    ],
    ids=str,
)
def test_a_measured_loss_has_a_name(losses, name):
    explanation = "It sees two characters, so it cannot get below the floor of two characters. " * 2
    answer = (0.7, lambda seed: losses[seed % 2], explanation)
    verdict = checks.check("ch4-experiment", answer)
    assert (verdict.name, verdict.passed) == (name, name == "right"), str(verdict)
