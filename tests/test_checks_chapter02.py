"""Chapter 2's exercises: right answers pass in any style, each wrong one is called by its name."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from answers import assert_passes, numbered

from attnkit import checks
from attnkit.checks import _exercises
from attnkit.functional import additive_scores, masked_softmax

# One right answer, cut into pieces so that each wrong one is a change of one piece.
PIECES = {
    "q": "query @ W_q.T",
    "k": "key @ W_k.T",
    "pairs": "q[:, None] + k[None]",
    "scores": "np.tanh(pairs) @ v",
    "scale": "pass",
    "max": "scores.max(axis=-1, keepdims=True)",
    "exp": "np.exp(scores - top)",
    "sum": "weights / weights.sum(axis=-1, keepdims=True)",
    "after": "pass",
    "output": "weights @ value",
    "return": "output, weights",
}
TEMPLATE = """
def additive_attention(query, key, value, W_q, W_k, v):
    q = {q}
    k = {k}
    pairs = {pairs}
    scores = {scores}
    {scale}
    top = {max}
    weights = {exp}
    weights = {sum}
    {after}
    output = {output}
    return {return}
"""
ADDITIVE = [
    ("results-swapped", {"return": "weights, output"}),
    ("no-tanh", {"scores": "pairs @ v"}),
    ("no-tanh", {"pairs": "0 * q[:, None] + k", "scores": "pairs @ v"}),
    ("tanh-after-v", {"scores": "np.tanh(pairs @ v)"}),
    ("v-inside-tanh", {"scores": "np.tanh(v * pairs).sum(-1)"}),
    ("tanh-before-the-sum", {"q": "np.tanh(query @ W_q.T)", "k": "np.tanh(key @ W_k.T)",
                             "scores": "pairs @ v"}),
    ("tanh-before-the-sum", {"pairs": "np.repeat(k[None], len(q), 0)"}),
    ("another-nonlinearity", {"scores": "np.maximum(0, pairs) @ v"}),
    ("another-nonlinearity", {"scores": "1 / (1 + np.exp(-pairs)) @ v"}),
    ("product-for-sum", {"pairs": "q[:, None] * k"}),
    ("dot-product-for-additive", {"scores": "q @ k.T"}),
    ("dot-product-for-additive", {"scores": "q @ k.T / len(v) ** 0.5"}),
    ("difference-for-sum", {"pairs": "q[:, None] - k[None]"}),
    ("v-missing", {"scores": "np.tanh(pairs).sum(-1)"}),
    ("v-missing", {"scores": "np.tanh(pairs).mean(axis=2)"}),
    ("projections-swapped", {"q": "query @ W_k.T", "k": "key @ W_q.T"}),
    ("one-projection-for-both", {"k": "key @ W_q.T"}),
    ("one-projection-for-both", {"q": "query @ W_k.T"}),
    ("projection-not-transposed", {"q": "query @ W_q", "k": "key @ W_k"}),
    ("projection-not-transposed", {"k": "key @ W_k"}),
    ("new-axis-missing", {"pairs": "q + k"}),
    ("new-axis-missing", {"pairs": "q[None] + k[None]"}),
    ("scaled", {"scale": "scores = scores / np.sqrt(len(v))"}),
    ("scaled", {"scale": "scores /= W_q.shape[0] ** 0.5"}),
    ("scaled", {"scale": "scores /= key.shape[-1] ** 0.5"}),
    ("softmax-over-queries", {"max": "scores.max(0)", "sum": "weights / weights.sum(0)"}),
    ("softmax-over-queries", {"max": "0", "sum": "weights / weights.sum(axis=0)"}),
    ("softmax-over-everything", {"max": "scores.max()", "sum": "weights / weights.sum()"}),
    ("sum-without-keepdims", {"sum": "weights / weights.sum(axis=-1)"}),
    ("sum-without-keepdims", {"max": "scores.max(axis=1)"}),
    ("sum-without-keepdims", {"max": "0", "sum": "weights / weights.sum(1)"}),
    ("not-normalised", {"sum": "weights"}),
    ("not-normalised", {"max": "0", "sum": "weights"}),
    ("no-exponential", {"max": "0", "exp": "scores"}),
    ("no-softmax", {"max": "0", "exp": "scores", "sum": "weights"}),
    ("softmax-twice", {"after": "e = np.exp(weights); weights = e / e.sum(1, keepdims=True)"}),
    ("sigmoid-for-softmax", {"exp": "1 / (1 + np.exp(-scores))", "sum": "weights"}),
    ("hard-selection", {"exp": "(scores == top) * 1.0"}),
    ("scores-for-weights", {"return": "output, scores"}),
    ("weights-transposed", {"return": "output, weights.T"}),
    ("query-and-key-swapped", {"pairs": "q[None] + k[:, None]", "output": "weights.T @ value"}),
    ("softmax-over-queries", {"pairs": "q[None] + k[:, None]", "after": "weights = weights.T"}),
    ("keys-for-values", {"output": "weights @ key"}),
    ("projected-keys-for-values", {"output": "weights @ k"}),
    ("value-transposed", {"output": "weights @ value.T"}),
    ("mean-for-weighted-sum", {"output": "(weights[..., None] * value).mean(axis=1)"}),
    ("mean-for-weighted-sum", {"output": "np.repeat([value.mean(0)], len(query), axis=0)"}),
    ("mean-for-weighted-sum", {"after": "weights = np.ones_like(weights) / len(key)"}),
    ("one-maximum-for-all-rows", {"max": "scores.max()"}),
    ("overflows", {"max": "0"}),
    ("overflows", {"max": "scores.mean(axis=-1, keepdims=True)"}),
    ("overflows", {"max": "scores.min(axis=-1, keepdims=True)"}),
    ("overflows", {"max": "scores[:, :1]"}),
    ("finite-but-wrong", {"max": "0", "exp": "np.exp(np.clip(scores, -700, 700))"}),
    ("finite-but-wrong", {"max": "0", "after": "weights = np.nan_to_num(weights)"}),
    # Failures that any exercise can have.
    ("wrong-count", {"return": "output"}),
    ("changes-its-input", {"after": "value[0] = 0"}),
    ("not-repeatable", {"after": "weights = weights + np.random.rand(*weights.shape) / 9"}),
    ("wrong-shape", {"output": "(weights @ value).sum(axis=0)"}),
    ("not-a-number", {"scale": "scores = scores / 0"}),
    ("hard-coded", {"return": "np.ones((1, 1)), np.ones((1, 2))"}),
    ("wrong", {"scores": "np.sin(pairs) @ v"}),
    ("raised", {"output": "weights @ wert"}),
]  # fmt: skip
TEMPERATURE = [
    ("ratio-of-scores", "score_a / score_b"),
    ("ratio-of-scores", "score_a / score_b / ratio"),
    ("ratio-of-scores", "(score_a / score_b) / math.log(ratio)"),
    ("log-of-the-score-ratio", "np.log(score_a / score_b) / np.log(ratio)"),
    ("log-of-the-difference", "math.log(score_a - score_b) / math.log(ratio)"),
    ("log-of-the-difference", "np.log(score_a - score_b) / np.log(ratio)"),
    ("upside-down", "np.log(ratio) / (score_a - score_b)"),
    ("sign-swapped", "(score_b - score_a) / np.log(ratio)"),
    ("sign-swapped", "(score_a - score_b) / np.log(1 / ratio)"),
    ("log-base-10", "(score_a - score_b) / np.log10(ratio)"),
    ("log-base-2", "(score_a - score_b) / math.log(ratio, 2)"),
    ("no-logarithm", "(score_a - score_b) / ratio"),
    ("multiplied-by-the-logarithm", "(score_a - score_b) * np.log(ratio)"),
    ("exp-for-log", "(score_a - score_b) / np.exp(ratio)"),
    ("weights-made-to-sum-to-one", "(score_a - score_b) / np.log(ratio / (ratio + 1))"),
    ("one-added-in-the-logarithm", "(score_a - score_b) / np.log1p(ratio)"),
    ("one-added-in-the-logarithm", "(score_a - score_b) / np.log(1 + ratio)"),
    ("difference-from-one", "(score_a - score_b) / (ratio - 1)"),
    ("scores-added", "(score_a + score_b) / np.log(ratio)"),
    ("other-score-forgotten", "score_a / np.log(ratio)"),
    ("powers-for-scores", "(np.exp(score_a) - np.exp(score_b)) / np.log(ratio)"),
    ("powers-for-scores", "np.exp(score_a - score_b) / ratio"),
    ("scores-taken-for-the-wanted-difference", "np.log(ratio)"),
    ("rounded", "round((score_a - score_b) / math.log(ratio), 2)"),
    ("rounded", "round((score_a - score_b) / math.log(ratio))"),
    ("hard-coded", "1.0"),
    ("wrong", "(score_a - score_b) / np.log(ratio) + 1"),
    ("wrong", "max((score_a - score_b) / np.log(ratio), 0.1)"),
    ("raised", "(score_a - score_b) / np.log(rate)"),
    ("wrong-shape", "[score_a / np.log(ratio), score_b / np.log(ratio)]"),
]
ALIGNMENT = [
    ("undetermined-counted-as-wrong", "return sources[range(len(top)), top].mean()"),
    (
        "undetermined-counted-as-wrong",
        "return np.mean([w.argmax() in np.flatnonzero(s) for w, s in rows])",
    ),
    (
        "undetermined-counted-as-right",
        "return np.mean([s[w.argmax()] or not s.any() for w, s in rows])",
    ),
    (
        "argmax-over-the-words",
        "return sources[weights.argmax(0), range(sources.shape[1])].mean()",
    ),
    ("mass-for-argmax", "return (weights * sources).sum(1)[some].mean()"),
    ("mass-for-argmax", "return weights[sources].mean()"),
    ("threshold-demanded", "return np.mean([w[s].max() > 0.5 for w, s in rows if s.any()])"),
    ("threshold-demanded", "return ((weights * sources).sum(1) > 0.5)[some].mean()"),
    ("first-source-only", "return (top == sources.argmax(1))[some].mean()"),
    (
        "all-sources-demanded",
        "return np.mean([set(np.argsort(-w)[: s.sum()]) == set(np.flatnonzero(s))"
        " for w, s in rows if s.any()])",
    ),
    ("divided-by-the-sources", "return sources[range(len(top)), top].sum() / sources.sum()"),
    ("diagonal", "return (top == np.arange(len(top)))[some].mean()"),
    ("cells-counted", "return ((weights > 0.5) == sources).mean()"),
    ("confidence-for-accuracy", "return weights.max(1)[some].mean()"),
    ("smallest-weight", "return sources[range(len(top)), weights.argmin(1)][some].mean()"),
    ("count-for-share", "return sources[range(len(top)), top].sum()"),
    ("percent-for-share", "return 100 * sources[range(len(top)), top][some].mean()"),
    ("one-per-word", "return sources[range(len(top)), top][some]"),
    ("errors-counted", "return (~sources[range(len(top)), top])[some].mean()"),
    ("no-word-no-nan", "return sources[range(len(top)), top][some].sum() / max(some.sum(), 1)"),
    ("no-word-no-nan", "hits = [s[w.argmax()] for w, s in rows if any(s)]\n"
                       "    return sum(hits) / len(hits)"),
    ("no-word-no-nan", "return sources[range(len(top)), top][some].mean() if some.any() else 1.0"),
    ("no-word-no-nan", "return sources[range(len(top)), top][some].mean() if some.any() else None"),
    # Failures that any exercise can have.
    ("changes-its-input", "weights[~some] = 0; return sources[range(len(top)), top][some].mean()"),
    ("hard-coded", "return 0.5"),
    ("wrong-type", "return {'digit': 1.0}"),
    ("wrong", "return sources[range(len(top)), top][some].mean() ** 2"),
    ("raised", "return sources[top, range(len(weights[0]) + 7)].mean()"),
]  # fmt: skip


def built(changes):
    """The function that the template gives with some pieces changed."""
    space = {"np": np}
    exec(TEMPLATE.format(**PIECES | changes), space)
    return space["additive_attention"]


def temperature_for(expression):
    return eval(f"lambda score_a, score_b, ratio: {expression}", {"np": np, "math": math})


def alignment_accuracy(body):
    space = {"np": np}
    head = "rows = list(zip(weights, sources)); top = weights.argmax(1); some = sources.any(1)"
    exec(f"def alignment_accuracy(weights, sources):\n    {head}\n    {body}", space)
    return space["alignment_accuracy"]


@pytest.mark.parametrize(("name", "changes"), ADDITIVE)
def test_a_changed_line_of_additive_attention_is_called_by_its_name(name, changes):
    verdict = checks.check("ch2-additive", built(changes))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(("name", "expression"), TEMPERATURE)
def test_a_wrong_temperature_is_called_by_its_name(name, expression):
    verdict = checks.check("ch2-temperature", temperature_for(expression))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(("name", "body"), ALIGNMENT)
def test_a_wrong_alignment_accuracy_is_called_by_its_name(name, body):
    verdict = checks.check("ch2-alignment", alignment_accuracy(body))
    assert (verdict.name, verdict.passed) == (name, False), str(verdict)


@pytest.mark.parametrize(
    ("id", "table"),
    [
        ("ch2-additive", ADDITIVE),
        ("ch2-temperature", TEMPERATURE),
        ("ch2-alignment", ALIGNMENT),
    ],
)
def test_every_name_is_reached_by_an_answer_that_a_learner_could_write(id, table):
    names = {wrong.name for wrong in _exercises()[id].misconceptions}
    assert len(names) >= 6
    assert names <= {name for name, _ in table}
    assert {name for name, _ in table} <= names | set(checks.common_failures())


def by_einsum(query, key, value, W_q, W_k, v):
    q = np.einsum("...qd,hd->...qh", query, W_q)[..., :, None, :]
    k = np.einsum("...kd,hd->...kh", key, W_k)[..., None, :, :]
    scores = np.einsum("h,...h->...", v, np.tanh(q + k))
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights = powers / np.einsum("...qk->...q", powers)[..., None]
    return np.einsum("...qk,...kv->...qv", weights, value), weights


def by_loops(query, key, value, W_q, W_k, v):
    """Plain Python, pair by pair."""
    output, weights = [], []
    for q in query:
        scores = []
        for k in key:
            hidden = [math.tanh(a @ q + b @ k) for a, b in zip(W_q, W_k, strict=True)]
            scores.append(sum(x * y for x, y in zip(v, hidden, strict=True)))
        powers = [math.exp(s - max(scores)) for s in scores]
        row = [p / sum(powers) for p in powers]
        weights.append(row)
        output.append(sum(w * x for w, x in zip(row, value, strict=True)))
    return output, weights


def by_one_long_vector(query, key, value, W_q, W_k, v):
    """W [query; key], as the paper of Luong and others writes it."""
    n_q, n_k = len(query), len(key)
    both = np.concatenate([np.repeat(query, n_k, 0), np.tile(key, (n_q, 1))], axis=1)
    scores = (np.tanh(both @ np.hstack([W_q, W_k]).T) @ v).reshape(n_q, n_k)
    weights = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    return [weights.dot(value), weights]


def by_attnkit(query, key, value, W_q, W_k, v):
    weights = masked_softmax(additive_scores(query @ W_q.mT, key @ W_k.mT, v))
    return weights @ value, weights


def by_torch(query, key, value, W_q, W_k, v):
    scores = torch.tanh((query @ W_q.T).unsqueeze(-2) + (key @ W_k.T).unsqueeze(-3)) @ v
    weights = torch.softmax(scores.float(), dim=-1)
    return weights @ value.float(), weights


def by_hand_in_float32(*arguments):
    query, key, value, W_q, W_k, v = (np.float32(x) for x in arguments)
    scores = np.tanh((W_q @ query.T).T[:, None, :] + (W_k @ key.T).T) @ v
    scores -= scores.max(1)[:, None]
    weights = np.exp(scores)
    weights /= weights.sum(1)[:, None]
    return np.inner(weights, value.T), weights


def by_bisection(a, b, ratio):
    """Half the interval of 1/T until the ratio fits."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        small = math.exp(min((a - b) * middle, 300)) < ratio
        if small == (a > b):
            low = middle
        else:
            high = middle
    return 1 / low


def by_rows(weights, sources):
    hits = [s[w.argmax()] for w, s in zip(weights, sources, strict=True) if s.any()]
    return sum(hits) / len(hits) if len(hits) else math.nan


def by_sets(weights, sources):
    hits = []
    for row, true in zip(weights.tolist(), sources.tolist(), strict=True):
        places = {place for place, is_source in enumerate(true) if is_source}
        if places:
            hits.append(max(range(len(row)), key=row.__getitem__) in places)
    return np.float32(np.mean(hits)) if hits else float("nan")


RIGHT = {
    "ch2-additive": [
        built({}), by_einsum, by_loops, by_one_long_vector, by_attnkit, by_torch,
        by_hand_in_float32, lambda *args: tuple(torch.tensor(x) for x in by_einsum(*args)),
    ],
    "ch2-temperature": [
        by_bisection,
        lambda a, b, ratio: (a - b) / math.log(ratio),
        lambda a, b, ratio: np.array([(b - a) / np.log(1 / ratio)]),
        lambda a, b, ratio: torch.tensor((a - b) / np.log(ratio), dtype=torch.float32),
        lambda a, b, ratio: Fraction(a - b) / Fraction(math.log(ratio)),
        lambda a, b, ratio: (a - b) / (math.log10(ratio) * math.log(10)),
        lambda a, b, ratio: abs(a - b) / abs(np.log(ratio)),
        lambda a, b, ratio: 1 / math.log(ratio ** (1 / (a - b))),
    ],
    "ch2-alignment": [
        by_rows, by_sets,
        lambda w, s: s[np.arange(len(w)), w.argmax(1)][s.any(1)].mean(),
        lambda w, s: np.take_along_axis(s, w.argmax(1)[:, None], 1)[s.any(1)].mean(),
        lambda w, s: s.gather(1, w.argmax(1, keepdim=True))[s.any(1)].float().mean(),
        lambda w, s: np.divide(((w * s).max(1) == w.max(1)).sum(), s.any(1).sum()),
        lambda w, s: np.nanmean(np.where(s.any(1), s[range(len(w)), w.argmax(1)], np.nan)),
        lambda w, s: torch.where(s.any(1), s[range(len(w)), w.argmax(1)], torch.nan).nanmean(),
    ],
    "ch2-look-back": [{"A", "D", "G"}, "ADG", "a, d and g", ["G", "D", "A"], ("a)", "d)", "g)")],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


def test_extra_axes_of_additive_attention_are_mentioned_and_never_held_against():
    assert "extra axes" in checks.check("ch2-additive", by_einsum).message
    only_flat = checks.check("ch2-additive", by_loops)
    assert only_flat.passed and "extra axes" not in only_flat.message


def test_the_temperature_undoes_the_softmax():
    for trial in _exercises()["ch2-temperature"].trials:
        a, b, ratio = trial.inputs.values()
        right = _exercises()["ch2-temperature"].right(a, b, ratio)
        weight_a, weight_b = np.exp(np.array([a, b]) / right - max(a, b) / right)
        assert right > 0
        np.testing.assert_allclose(weight_a / weight_b, ratio, rtol=1e-9)


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("DG", "query-and-key-roles-swapped"),
        ("ABDG", "values-tied-to-keys"),
        ("ACDG", "sizes-tied"),
        ("AG", "hard-choice-learns"),
        ("ADEG", "attention-taken-for-alignment"),
        ("ADFG", "temperature-divides-weights"),
        ("AD", "padding-taken-for-harmless"),
        ("BCEF", "chose-the-wrong-ones"),
        ("ABCDEFG", "chose-everything"),
    ],
)
def test_statements_that_are_wrongly_taken_or_left_have_a_name(chosen, name):
    assert checks.check("ch2-look-back", chosen).name == name


def test_a_statement_shows_an_example_that_decides_it():
    shown = checks.check("ch2-look-back", "ADFG").expected
    once, twice = shown.values()
    assert once.sum() == pytest.approx(1) and twice.sum() == pytest.approx(1)
    assert twice.min() > once.min()
    shown = checks.check("ch2-look-back", "AD").expected
    assert all(shown["weights with two padding positions"][:2] < shown["weights alone"])
