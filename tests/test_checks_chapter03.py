"""Chapter 3's exercises: right answers pass in any style, each wrong one is called by its name."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from answers import assert_passes, numbered

from attnkit import checks
from attnkit.checks import _exercises

# One right answer, cut into pieces so that each wrong one is a change of one piece.
PIECES = {
    "scores": "query @ key.swapaxes(-2, -1)",
    "scale": "scores = scores / np.sqrt(query.shape[-1])",
    "max": "scores.max(axis=-1, keepdims=True)",
    "exp": "np.exp(scores - top)",
    "sum": "weights / weights.sum(axis=-1, keepdims=True)",
    "after": "pass",
    "output": "weights @ value",
    "return": "output, weights",
}
TEMPLATE = """
def attention(query, key, value):
    scores = {scores}
    {scale}
    top = {max}
    weights = {exp}
    weights = {sum}
    {after}
    output = {output}
    return {return}
"""
MUTANTS = [
    ("not-scaled", {"scale": "pass"}),
    ("scaled-by-d-key", {"scale": "scores /= key.shape[1]"}),
    ("scaled-by-d-value", {"scale": "scores *= value.shape[1] ** -0.5"}),
    ("scaled-by-number-of-keys", {"scale": "scores = scores / len(key) ** 0.5"}),
    ("scaled-by-number-of-queries", {"scale": "scores = scores / len(query) ** 0.5"}),
    ("multiplied-by-scale", {"scale": "scores *= query.shape[1] ** 0.5"}),
    ("scale-after-softmax", {"scale": "pass", "after": "weights /= query.shape[1] ** 0.5"}),
    ("scale-after-softmax", {"scale": "pass", "output": "weights @ value / key.shape[1] ** 0.5"}),
    (
        "softmax-over-queries",
        {"max": "scores.max(0)", "sum": "weights / weights.sum(0)"},
    ),
    ("softmax-over-everything", {"max": "scores.max()", "sum": "weights / weights.sum()"}),
    ("sum-without-keepdims", {"sum": "weights / weights.sum(axis=1)"}),
    ("sum-without-keepdims", {"max": "scores.max(axis=1)"}),
    ("not-normalised", {"sum": "weights"}),
    ("not-normalised", {"max": "0", "sum": "weights"}),
    ("no-exponential", {"max": "0", "exp": "scores"}),
    ("no-softmax", {"max": "0", "exp": "scores", "sum": "weights"}),
    ("softmax-twice", {"after": "e = np.exp(weights); weights = e / e.sum(1, keepdims=True)"}),
    ("sigmoid-for-softmax", {"exp": "1 / (1 + np.exp(-scores))", "sum": "weights"}),
    ("hard-selection", {"exp": "(scores == top) * 1.0"}),
    ("scores-for-weights", {"return": "output, scores"}),
    ("weights-transposed", {"return": "output, weights.T"}),
    (
        "query-and-key-swapped",
        {"scores": "key @ query.T", "output": "weights.T @ value"},
    ),
    ("keys-for-values", {"output": "weights @ key"}),
    ("value-transposed", {"output": "weights @ value.T"}),
    ("mean-for-weighted-sum", {"output": "(weights[..., None] * value).mean(axis=1)"}),
    ("mean-for-weighted-sum", {"output": "np.repeat([value.mean(0)], len(query), axis=0)"}),
    ("mean-for-weighted-sum", {"after": "weights = np.ones_like(weights) / len(key)"}),
    (
        "cosine-for-dot-product",
        {
            "scores": "(query / (query**2).sum(1, keepdims=True)**.5)"
            " @ (key / (key**2).sum(1, keepdims=True)**.5).T",
            "scale": "pass",
        },
    ),
    (
        "masks-the-future",
        {"exp": "np.exp(scores - top) * np.tri(*scores.shape)"},
    ),
    ("results-swapped", {"return": "weights, output"}),
    ("overflows", {"max": "0"}),
    ("one-maximum-for-all-rows", {"max": "scores.max()"}),
    # What helps on two scores that are close together, and not in a row with scores far apart.
    ("overflows", {"max": "scores.mean(axis=-1, keepdims=True)"}),
    ("overflows", {"max": "scores.min(axis=-1, keepdims=True)"}),
    ("overflows", {"max": "scores[:, :1]"}),
    ("finite-but-wrong", {"max": "0", "exp": "np.exp(np.clip(scores, -700, 700))"}),
    ("finite-but-wrong", {"max": "0", "after": "weights = np.nan_to_num(weights)"}),
    ("sum-without-keepdims", {"max": "0", "sum": "weights / weights.sum(axis=-1)"}),
    ("softmax-over-queries", {"sum": "weights / weights.sum(axis=0)"}),
    ("softmax-over-everything", {"sum": "weights / weights.sum()"}),
    # More than one thing wrong, but one of them hides the other from nobody.
    ("not-scaled", {"scale": "pass", "max": "0"}),
    ("results-swapped", {"return": "weights, output", "scale": "pass"}),
    # Failures that any exercise can have.
    ("wrong-count", {"return": "output"}),
    ("wrong-count", {"return": "output, weights, scores"}),
    ("changes-its-input", {"scale": "query /= query.shape[1] ** 0.5; scores = query @ key.T"}),
    ("changes-its-input", {"after": "value[0] = 0"}),
    ("not-repeatable", {"after": "weights = weights + np.random.rand(*weights.shape) / 9"}),
    ("wrong-shape", {"output": "(weights @ value).sum(axis=0)"}),
    ("not-a-number", {"scale": "scores = scores / 0"}),
    ("hard-coded", {"return": "np.ones((1, 1)), np.ones((1, 2))"}),
    ("wrong", {"scale": "scores = scores / np.sqrt(query.shape[-1] + 1)"}),
    ("raised", {"output": "weights @ wert"}),
]


def built(changes):
    """The function that the template gives with some pieces changed."""
    space = {"np": np}
    exec(TEMPLATE.format(**PIECES | changes), space)
    return space["attention"]


@pytest.mark.parametrize(("name", "changes"), MUTANTS)
def test_a_changed_line_is_called_by_its_name(name, changes):
    verdict = checks.check("ch3-attention", built(changes))
    assert verdict.name == name, str(verdict)
    assert not verdict.passed


def test_most_names_of_the_attention_exercise_have_a_mutant():
    """All, in fact: a name that no changed line reaches would be a name nobody meets."""
    names = {wrong.name for wrong in _exercises()["ch3-attention"].misconceptions}
    assert names <= {name for name, _ in MUTANTS}


def by_einsum(query, key, value):
    scores = np.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights = powers / np.einsum("...qk->...q", powers)[..., None]
    return np.einsum("...qk,...kv->...qv", weights, value), weights


def by_loops(query, key, value):
    """Plain Python, row by row."""
    output, weights = [], []
    for q in query:
        scores = [sum(a * b for a, b in zip(q, k, strict=True)) / len(q) ** 0.5 for k in key]
        powers = [2.718281828459045 ** (s - max(scores)) for s in scores]
        row = [p / sum(powers) for p in powers]
        weights.append(row)
        columns = range(len(value[0]))
        output.append([sum(w * v[j] for w, v in zip(row, value, strict=True)) for j in columns])
    return output, weights


def by_logsumexp(query, key, value):
    scores = query @ key.T * key.shape[1] ** -0.5
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, np.newaxis])
    return [weights.dot(value), weights]


def by_torch(query, key, value):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1)
    return weights @ value, weights


def by_fused_kernel(query, key, value):
    """Output from PyTorch, weights by giving it the identity as values."""
    one = torch.eye(key.shape[-2]).expand(*key.shape[:-1], key.shape[-2])
    attend = F.scaled_dot_product_attention
    query, key, value = query.float(), key.float(), value.float()
    return attend(query, key, value), attend(query, key, one)


def by_hand_in_float32(query, key, value):
    query, key, value = (np.float32(x) for x in (query, key, value))
    scores = np.matmul(query, key.T) / np.sqrt(np.float32(query.shape[1]))
    weights = np.exp(scores - np.max(scores, 1)[:, None])
    weights /= weights.sum(1)[:, None]
    return np.inner(weights, value.T), weights


class AsObject:
    def __call__(self, query, key, value, extra=None):
        print("shapes", query.shape)
        return by_einsum(query, key, value)


def by_numpy_then_tensor(query, key, value):
    return tuple(torch.from_numpy(x) for x in by_einsum(query, key, value))


RIGHT = {
    "ch3-attention": [
        built({}), by_einsum, by_loops, by_logsumexp, by_torch, by_fused_kernel, AsObject(),
        by_hand_in_float32, by_numpy_then_tensor, lambda *args: by_einsum(*args),
    ],
    "ch3-variance": [
        lambda d_key, std: d_key * std**4,
        lambda d, s: np.array([d * (s * s) ** 2]),
        lambda d, s: torch.tensor(float(s)).pow(4) * d,
        lambda d, s: sum(s**2 * s**2 for _ in range(d)),
        lambda d, s: Fraction(s) ** 4 * d,
        lambda d_key, std: (d_key**0.5 * std**2) ** 2,
        lambda d, s: np.float32(np.full(d, s**4).sum()),
        lambda d, s: int(d * s**4) if s == int(s) else d * s**4,
    ],
    "ch3-fold-scale": [
        lambda weight, d_key: weight / d_key**0.5,
        lambda weight, d_key: weight.mul(1 / np.sqrt(d_key)),
        lambda weight, d_key: torch.eye(d_key) / d_key**0.5 @ weight,
        lambda weight, d_key: torch.nn.Parameter(weight.detach().clone() / weight.size(0) ** 0.5),
        lambda weight, d_key: np.array([row / np.sqrt(d_key) for row in weight.copy()]),
        lambda weight, d_key: weight.double() * weight.shape[0] ** -0.5,
        lambda weight, d_key: (weight.T / d_key**0.5).T.tolist(),
    ],
    "ch3-same-weights": [
        {"A", "C", "E", "F"}, "ACEF", "a, c, e and f", ["F", "E", "C", "A", "A"],
        ("a)", "c)", "e)", "f)"), np.array(["A", "C", "E", "F"]), dict.fromkeys("ACEF"),
        frozenset("acef"), iter("ACEF"), {"A, C", "E and F"},
    ],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


def test_extra_axes_are_mentioned_when_they_work_and_never_held_against():
    assert "extra axes" in checks.check("ch3-attention", by_einsum).message
    only_flat = checks.check("ch3-attention", by_logsumexp)
    assert only_flat.passed
    assert "extra axes" not in only_flat.message


@pytest.mark.parametrize(
    "change", ["w.div_(d**.5)", "w.data.mul_(d**-.5)", "np.divide(w, d**.5, w)"]
)
def test_folding_the_scale_in_place_is_named(change):
    def fold_scale(w, d):
        with torch.no_grad():
            return eval(change, {"w": w, "d": d, "np": np})

    verdict = checks.check("ch3-fold-scale", fold_scale)
    assert verdict.name == "changes-its-input"
    assert "query_proj_weight" in verdict.message


def test_a_rounded_formula_is_no_simulation():
    for cut in (lambda x: round(x, 2), int, round, math.ceil):
        verdict = checks.check("ch3-variance", lambda d, s, cut=cut: cut(d * s**4))
        assert verdict.name == "rounded"


def test_an_error_that_comes_from_overwriting_is_called_overwriting():
    verdict = checks.check("ch3-fold-scale", lambda weight, d: weight.div_(d**0.5))
    assert verdict.name == "changes-its-input"


@pytest.mark.parametrize(
    ("answer", "start"),
    [
        (lambda q, k, v: {"output": 1, "weights": 2}, "The result is dict,"),
        (lambda q, k, v: (q, k + 0j), "weights is ndarray of complex128,"),
        (lambda q, k, v: (None, k), "output is NoneType,"),
    ],
)
def test_a_result_of_no_use_is_called_by_its_type(answer, start):
    verdict = checks.check("ch3-attention", answer)
    assert verdict.name == "wrong-type" and verdict.message.startswith(start)


def test_ticked_letters_count_when_they_are_true():
    ticked = {letter: letter in "ACEF" for letter in "ABCDEFG"}
    assert checks.check("ch3-same-weights", ticked).passed
    assert not checks.check("ch3-same-weights", dict.fromkeys("ACEF", False)).passed


@pytest.mark.parametrize("answer", ["A-C, E, F", "A \u2013 C, E, F", ["A-C", "E", "F"], "A…C E F"])
def test_a_range_of_letters_is_not_taken_for_its_ends(answer):
    verdict = checks.check("ch3-same-weights", answer)
    assert verdict.name == "not-an-option" and "C" in verdict.message


def test_a_bulleted_list_of_letters_is_no_range():
    assert checks.check("ch3-same-weights", "- A\n- C\n- E\n- F").passed


def test_a_simulated_variance_is_close_but_not_a_formula():
    def score_variance(d_key, std, n=100_000 // 8):
        draw = np.random.default_rng(0).normal
        return (draw(0, std, (n, d_key)) * draw(0, std, (n, d_key))).sum(1).var()

    assert checks.check("ch3-variance", score_variance).name == "simulated"


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("ABCEF", "softmax-ignores-scale"),
        ("CEF", "shift-changes-weights"),
        ("ACF", "zero-score-means-zero-weight"),
        ("AEF", "row-maximum-changes-weights"),
        ("ACDEF", "key-shift-taken-for-row-shift"),
        ("ACEFG", "repetition-taken-for-no-change"),
        ("ACE", "rotation-changes-scores"),
        ("BDG", "chose-the-changes"),
        ("ABCDEFG", "chose-everything"),
    ],
)
def test_one_letter_too_many_or_missing_has_a_name(chosen, name):
    verdict = checks.check("ch3-same-weights", chosen)
    assert verdict.name == name
    slipped = set(chosen) ^ set("ACEF")
    if len(slipped) == 1:
        # The case shown is the letter's own, and it shows whether the weights move.
        letter = slipped.pop()
        assert f"option {letter}" in verdict.example
        before, after = verdict.expected.values()
        same = before.shape == after.shape and np.allclose(before, after)
        assert same == (letter in "ACEF")


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (None, "not-written-yet"), (set(), "not-written-yet"), ("", "not-written-yet"),
        (..., "not-written-yet"), ({"A", "Z"}, "not-an-option"), ("A, see above", "not-an-option"),
        (b"A", "wrong-type"), (4, "wrong-type"), ({1, 2}, "wrong-type"),
        (lambda: "A", "wrong-type"),
        (itertools.count(), "wrong-type"), (itertools.repeat("Z"), "not-an-option"),
    ],
)  # fmt: skip
def test_letters_that_are_none(answer, name):
    assert checks.check("ch3-same-weights", answer).name == name


def test_the_names_are_many_and_their_links_are_sections_of_the_chapter():
    rows = checks.misconceptions()
    assert len({(row.id, row.name) for row in rows}) == len(rows)
    for id, least in {"ch3-attention": 20, "ch3-variance": 8, "ch3-fold-scale": 8}.items():
        assert sum(row.id == id for row in rows) >= least
    sections = {"scale", "variance", "softmax", "shapes", "reparam", "soft-lookup", "numpy"}
    sections |= {"gradient", "training"}
    assert {row.link for row in rows if row.id.startswith("ch3")} == {f"ch3-{s}" for s in sections}


EXPLANATION = (
    "A question decided wrongly has a large loss here, and had no gradient in Recall. " * 2
)
MEASURED = {0: (0.87, 0.904), 1: (0.743, 0.783)}  # what the chapter's own solution gave


def moved(by):
    return lambda seed: tuple(by(share) for share in MEASURED[seed])


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (moved(float), "right"),
        (lambda seed: list(MEASURED[seed]), "right"),
        (lambda seed: torch.tensor(MEASURED[seed]).unbind(), "right"),
        (lambda seed: tuple(np.float32(MEASURED[seed])), "right"),
        (lambda seed: MEASURED[seed][::-1], "right"),  # so near that the order cannot be told
        (lambda seed: MEASURED[0], "ignores-its-argument"),
        (moved(lambda share: 100 * share), "in-percent"),
        (moved(lambda share: 1 - share), "mistakes-for-right"),
        (lambda seed: MEASURED[seed][:1] * 2, "one-program-twice"),
        (lambda seed: MEASURED[seed][0], "wrong-count"),
        (lambda seed: {0: (0.079, 0.166), 1: (0.146, 0.41)}[seed], "loss-of-the-answers"),
        (lambda seed: {0: (0.004, 0.011), 1: (0.091, 0.063)}[seed], "answers-for-places"),
        (lambda seed: {0: (0.512, 0.546), 1: (0.477, 0.505)}[seed], "another-setting"),
        (lambda seed: {0: (0.793, 0.995), 1: (0.898, 1.0)}[seed], "another-setting"),
        (lambda seed: {0: (0.851, 0.602), 1: (0.737, 0.518)}[seed], "weight-for-accuracy"),
        (lambda seed: {0: (0.647, 0.591), 1: (2.665, 0.783)}[seed], "loss-for-accuracy"),
        (lambda seed: {0: (0.109, 0.109), 1: (0.088, 0.088)}[seed], "not-trained"),
        (lambda seed: (1.0, 1.0), "too-many-steps"),
    ],
)
def test_what_was_measured_without_the_read_out_has_a_name(measure, name):
    verdict = checks.check("ch3-experiment", (0.5, measure, EXPLANATION))
    assert (verdict.name, verdict.passed) == (name, name == "right"), str(verdict)


@pytest.mark.parametrize(
    ("prediction", "explanation", "name"),
    [
        (None, EXPLANATION, "no-prediction"),
        (87, EXPLANATION, "in-percent"),
        (-1, EXPLANATION, "prediction-out-of-range"),
        (0.5, "Two or three sentences.", "no-explanation"),
        (0.5, "It learns.", "explanation-too-short"),
        (1, EXPLANATION, "right"),
    ],
)
def test_a_measurement_needs_its_prediction_and_its_explanation(prediction, explanation, name):
    verdict = checks.check("ch3-experiment", (prediction, moved(float), explanation))
    assert verdict.name == name, str(verdict)
