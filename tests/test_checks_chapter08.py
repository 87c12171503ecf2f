"""Chapter 8's exercises: right answers pass in any style, each wrong one is called by its name."""

from functools import cache
from itertools import count
from pathlib import Path

import numpy as np
import pytest
import torch
from answers import (
    assert_called,
    assert_every_name_is_reached,
    assert_passes,
    numbered,
    written,
)
from measured_results import EXPLANATION, assert_names_are_reached
from torch import nn

import attnkit
from attnkit import checks, functional, masks
from attnkit.checks import _exercises
from attnkit.positional import sinusoidal_encoding

# One right answer to each, cut into pieces so that each wrong one is a change of one piece.
SINUSOID_TEMPLATE = """
def encode(n, d):
    p = {positions}
    i = {index}
    speed = {speed}
    angle = p[:, None] * speed
    even, odd = {even}, {odd}
    return {return}
"""
SINUSOID_PIECES = {
    "positions": "torch.arange(n)",
    "index": "torch.arange(0, d, 2)",
    "speed": "10_000 ** (-i / d)",
    "even": "angle.sin()",
    "odd": "angle.cos()",
    "return": "torch.stack([even, odd], -1).flatten(1)",
}
BY_COLUMN = {
    "index": "torch.arange(d)",
    "return": "torch.where(torch.arange(d) % 2 == 0, even, odd)",
}
SINUSOID = [
    ("exponent-doubled", {"speed": "10_000 ** (-2 * i / d)"}),
    ("exponent-halved", {"index": "torch.arange(d // 2)"}),
    ("exponent-for-each-number", BY_COLUMN),
    ("exponent-for-each-number", BY_COLUMN | {"speed": "10_000 ** (-2 * i / d)"}),
    ("not-divided-by-the-size", {"speed": "10_000.0 ** -i"}),
    ("not-divided-by-the-size", {"index": "torch.arange(d // 2)", "speed": "10_000.0 ** -i"}),
    ("speeds-upside-down", {"speed": "10_000 ** (i / d)"}),
    ("another-base", {"speed": "1_000 ** (-i / d)"}),
    ("another-base", {"speed": "100_000 ** (-i / d)"}),
    ("another-base", {"speed": "torch.exp(-i / d)"}),
    ("last-speed-reached", {"speed": "10_000 ** -torch.linspace(0, 1, d // 2)"}),
    ("one-speed-for-all-pairs", {"speed": "10_000 ** (0 * i)"}),
    ("sine-and-cosine-exchanged", {"even": "angle.cos()", "odd": "angle.sin()"}),
    ("halves-side-by-side", {"return": "torch.cat([even, odd], -1)"}),
    ("halves-side-by-side", {"return": "torch.cat([odd, even], -1)"}),
    ("one-function-for-both", {"odd": "angle.sin()"}),
    ("one-function-for-both", {"even": "angle.cos()"}),
    ("turned-backwards", {"positions": "-torch.arange(n)"}),
    ("positions-from-one", {"positions": "torch.arange(1, n + 1)"}),
    ("positions-divided-by-their-number", {"positions": "torch.arange(n) / n"}),
    ("positions-divided-by-their-number", {"positions": "torch.linspace(0, 1, n)"}),
    ("angles-not-encoded", {"return": "angle"}),
    ("angles-not-encoded", {"even": "angle", "odd": "angle"}),
    ("half-the-columns", {"return": "even"}),
    ("half-the-columns", {"return": "odd"}),
    ("half-the-columns", {"return": "even + odd"}),
    ("transposed", {"return": "torch.stack([even, odd], -1).flatten(1).T"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "torch.stack([even, odd], -1)"}),
    ("wrong-type", {"return": "{'encoding': even}"}),
    ("hard-coded", {"return": "torch.tensor([[0, 1, 0, 1], [0.8415, 0.5403, 0.01, 1]])"}),
    ("not-a-number", {"speed": "(-1e4) ** (-i / d)"}),
    ("not-repeatable", {"even": "torch.rand(n, d // 2)"}),
    ("raised", {"return": "torch.cat([even, od], -1)"}),
    ("wrong", {"return": "1 - torch.stack([even, odd], -1).flatten(1)"}),
]

ROTARY_TEMPLATE = """
def rotate(x, positions):
    d = x.shape[-1]
    i = torch.arange(0, d, 2)
    speed = {speed}
    angle = {angle}
    cos, sin = angle.cos(), angle.sin()
    a, b = {pair}
    first = {first}
    second = {second}
    return {return}
"""
ROTARY_PIECES = {
    "speed": "10_000 ** (-i / d)",
    "angle": "positions[:, None] * speed",
    "pair": "x[..., 0::2], x[..., 1::2]",
    "first": "a * cos - b * sin",
    "second": "a * sin + b * cos",
    "return": "torch.stack([first, second], -1).flatten(-2)",
}
HALVES = {"pair": "x.chunk(2, dim=-1)", "return": "torch.cat([first, second], -1)"}
EACH = {
    "pair": "x, torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)",
    "return": "a * cos + b * sin",
}
TILED = "positions[:, None] * torch.cat([speed, speed])"
ROTARY = [
    ("exponent-doubled", {"speed": "10_000 ** (-2 * i / d)"}),
    ("exponent-halved", {"speed": "10_000 ** (-torch.arange(d // 2) / d)"}),
    ("exponent-for-each-number", EACH | {"speed": "10_000 ** (-torch.arange(d) / d)"}),
    ("exponent-for-each-number", EACH | {"speed": "10_000 ** (-2 * torch.arange(d) / d)"}),
    ("not-divided-by-the-size", {"speed": "10_000.0 ** -i"}),
    ("not-divided-by-the-size", {"speed": "10_000.0 ** -torch.arange(d // 2)"}),
    ("speeds-upside-down", {"speed": "10_000 ** (i / d)"}),
    ("another-base", {"speed": "1_000 ** (-i / d)"}),
    ("another-base", {"speed": "100_000 ** (-i / d)"}),
    ("another-base", {"speed": "torch.exp(-i / d)"}),
    ("last-speed-reached", {"speed": "10_000.0 ** (-i / (d - 2))"}),
    ("one-speed-for-all-pairs", {"speed": "10_000 ** (0 * i)"}),
    ("axes-in-front-forgotten", {
        "angle": "positions.reshape(-1, *[1] * (x.ndim - 1)) * speed"}),
    ("halves-paired", HALVES),
    ("halves-paired", {
        "angle": "positions[:, None] * speed.repeat_interleave(2)",
        "pair": "x, torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1)",
        "return": "a * cos + b * sin"}),
    ("speeds-of-the-halves", EACH | {"angle": TILED}),
    ("results-side-by-side", {"return": "torch.cat([first, second], -1)"}),
    ("turned-backwards", {"angle": "-positions[:, None] * speed"}),
    ("mirrored-not-turned", {"first": "a * cos + b * sin"}),
    ("mirrored-not-turned", {"second": "b * cos - a * sin"}),
    ("mirrored-not-turned", {"first": "a * cos + b * sin", "second": "a * sin - b * cos"}),
    ("second-from-the-turned-first", {"second": "first * sin + b * cos"}),
    ("numbers-not-mixed", {"first": "a * cos", "second": "b * cos"}),
    ("numbers-not-mixed", {"first": "a * sin", "second": "b * cos"}),
    ("numbers-not-mixed", {"first": "a * cos", "second": "b * sin"}),
    ("numbers-not-mixed", {"first": "a * sin", "second": "b * sin"}),
    ("pair-exchanged", {"return": "torch.stack([second, first], -1).flatten(-2)"}),
    ("pair-exchanged", {"pair": "x[..., 1::2], x[..., 0::2]"}),
    ("positions-from-one", {"angle": "(positions[:, None] + 1) * speed"}),
    ("encoding-added", {"first": "a + sin", "second": "b + cos"}),
    ("encoding-added", {"first": "a + cos", "second": "b + sin"}),
    ("positions-not-used", {"angle": "torch.arange(x.shape[-2])[:, None] * speed"}),
    ("positions-not-used", {"angle": "torch.arange(1, x.shape[-2] + 1)[:, None] * speed"}),
    ("unchanged", {"return": "x"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "torch.stack([first, second], -1)"}),
    ("wrong-type", {"return": "str(first)"}),
    ("changes-its-input", {
        "first": "x[..., 0::2].mul_(cos).sub_(b * sin)", "second": "x[..., 1::2]"}),
    ("not-a-number", {"speed": "(-1e4) ** (-(i + 1) / d)"}),
    ("raised", {"angle": "positions * speed @ speed[:, None] @ a"}),
    ("wrong", {"second": "a * sin + b * cos + 1"}),
]  # fmt: skip

ALIBI_TEMPLATE = """
def alibi(slopes, n):
    i, j = torch.arange(n)[:, None], torch.arange(n)
    m = {slopes}
    distance = {distance}
    bias = {bias}
    return {return}
"""
ALIBI_PIECES = {
    "slopes": "slopes[:, None, None]",
    "distance": "(i - j).abs()",
    "bias": "-m * distance",
    "return": "bias",
}
ALIBI = [
    ("far-keys-favoured", {"bias": "m * distance"}),
    ("distance-with-a-sign", {"distance": "i - j"}),
    ("distance-with-a-sign", {"distance": "j - i"}),
    ("no-distance-to-later-keys", {"distance": "(i - j).clamp(min=0)"}),
    ("no-distance-to-later-keys", {"return": "bias.triu()"}),
    ("causal-mask-built-in", {"return": "bias.masked_fill(j > i, -torch.inf)"}),
    ("causal-mask-built-in", {"return": "bias.masked_fill(j > i, -1e9)"}),
    ("causal-mask-built-in", {"return": "bias.masked_fill(j > i, -1e4)"}),
    ("place-of-the-key-only", {"distance": "-j.expand(n, n)"}),
    ("place-of-the-key-only", {"distance": "(n - 1 - j).expand(n, n)"}),
    ("one-row-for-all-queries", {"slopes": "slopes[:, None]", "distance": "j"}),
    ("one-row-for-all-queries", {"slopes": "slopes[:, None]", "distance": "j.flip(0)"}),
    ("one-row-for-all-queries", {"distance": "j"}),
    ("one-row-for-all-queries", {"distance": "-j"}),
    ("factor-instead-of-bias", {"return": "bias.exp()"}),
    ("divided-by-the-slope", {"bias": "-distance / m"}),
    ("slopes-not-used", {
        "slopes": "(2 ** (-8 * torch.arange(1, len(slopes) + 1) / len(slopes)))[:, None, None]"}),
    ("slopes-not-used", {"bias": "-distance.expand(len(slopes), n, n)"}),
    ("one-bias-for-all-heads", {"return": "bias.mean(0)"}),
    ("one-bias-for-all-heads", {"return": "bias.sum(0)"}),
    ("one-bias-for-all-heads", {"return": "bias[0]"}),
    ("one-bias-for-all-heads", {"return": "bias.mean(0).expand(len(slopes), n, n)"}),
    ("one-bias-for-all-heads", {"return": "bias[0].expand(len(slopes), n, n)"}),
    ("slopes-along-another-axis", {"slopes": "slopes"}),
    ("slopes-along-another-axis", {"slopes": "slopes[:, None]"}),
    ("heads-last", {"return": "bias.permute(1, 2, 0)"}),
    ("distance-divided-by-the-length", {"distance": "(i - j).abs() / n"}),
    ("distance-divided-by-the-length", {"distance": "(i - j).abs() / (n - 1)"}),
    ("distance-squared", {"distance": "(i - j) ** 2"}),
    ("distance-squared", {"distance": "(i - j).abs().sqrt()"}),
    ("distance-off-by-one", {"distance": "(i - j).abs() + 1"}),
    ("distance-off-by-one", {"distance": "((i - j).abs() - 1).clamp(min=0)"}),
    ("distance-off-by-one", {"distance": "(i - j).abs() - 1"}),
    # Failures that any exercise can have.
    ("wrong-shape", {"return": "bias.flatten()"}),
    ("wrong-type", {"return": "dict(enumerate(bias))"}),
    ("changes-its-input", {"slopes": "slopes.neg_()[:, None, None]", "bias": "m * distance"}),
    ("hard-coded", {"return": "torch.tensor([[[0, -0.5], [-0.5, 0]], [[0, -0.25], [-0.25, 0]]])"}),
    ("not-a-number", {"bias": "-m * distance / (distance.min())"}),
    ("raised", {"bias": "-m @ distance"}),
    ("wrong", {"bias": "7 - m * distance"}),
]  # fmt: skip

EXERCISES = {
    "ch8-sinusoid": (SINUSOID_TEMPLATE, SINUSOID_PIECES, SINUSOID),
    "ch8-rotary": (ROTARY_TEMPLATE, ROTARY_PIECES, ROTARY),
    "ch8-alibi": (ALIBI_TEMPLATE, ALIBI_PIECES, ALIBI),
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


def encode_by_loops(n, d):
    table = [[0.0] * d for _ in range(n)]
    for p in range(n):
        for i in range(0, d, 2):
            angle = p / 10_000 ** (i / d)
            table[p][i], table[p][i + 1] = np.sin(angle), np.cos(angle)
    return table


def encode_into_zeros(n, d):
    table = torch.zeros(n, d)
    angle = torch.outer(torch.arange(n), torch.exp(-torch.arange(0, d, 2) * np.log(1e4) / d))
    table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
    return table


def encode_by_phase(n, d):
    """A cosine is a sine a quarter turn later."""
    column = np.arange(d)
    angle = np.arange(n)[:, None] / 10_000 ** (column // 2 * 2 / d)
    return np.float32(np.sin(angle + column % 2 * np.pi / 2))


def rotate_by_complex_numbers(x, positions):
    pairs = torch.view_as_complex(x.contiguous().unflatten(-1, (-1, 2)))
    speed = 10_000 ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    turn = torch.polar(torch.ones(1, dtype=x.dtype), positions[:, None] * speed)
    return torch.view_as_real(pairs * turn).flatten(-2)


def rotate_by_matrices(x, positions):
    x, result = np.asarray(x), np.empty(x.shape)
    for t, p in enumerate(np.asarray(positions)):
        for i in range(0, x.shape[-1], 2):
            a = p / 10_000 ** (i / x.shape[-1])
            turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
            result[..., t, i : i + 2] = x[..., t, i : i + 2] @ turn.T
    return result


def rotate_all_numbers(x, positions):
    """The way of the libraries, with each number's partner beside it."""
    speed = 10_000 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angle = (positions[:, None] * speed).repeat_interleave(2, dim=-1)
    partner = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)
    return (x * angle.cos() + partner * angle.sin()).float()


def alibi_by_loops(slopes, n):
    return [[[-float(m) * abs(i - j) for j in range(n)] for i in range(n)] for m in slopes]


def alibi_by_einsum(slopes, n):
    distance = torch.cdist(torch.arange(n)[:, None] * 1.0, torch.arange(n)[:, None] * 1.0)
    return -torch.einsum("h,ij->hij", slopes.float(), distance)


def alibi_by_triangles(slopes, n):
    lower = np.tril(np.subtract.outer(np.arange(n), np.arange(n)))
    return np.multiply.outer(np.asarray(slopes), -(lower + lower.T))


RIGHT = {
    "ch8-sinusoid": [
        built("ch8-sinusoid", {}), encode_by_loops, encode_into_zeros, encode_by_phase,
        sinusoidal_encoding,
    ],
    "ch8-rotary": [
        built("ch8-rotary", {}), rotate_by_complex_numbers, rotate_by_matrices,
        rotate_all_numbers,
    ],
    "ch8-alibi": [
        built("ch8-alibi", {}), alibi_by_loops, alibi_by_einsum, alibi_by_triangles,
        # Under a causal mask only: a minimum of two is a distance too.
        built("ch8-alibi", {"distance": "torch.maximum(i - j, j - i)"}),
    ],
    "ch8-claims": [{"A", "E", "F"}, "AEF", "a, e and f", ["F", "E", "A"], ("a)", "e)", "f)")],
}  # fmt: skip


@pytest.mark.parametrize(("id", "number"), numbered(RIGHT))
def test_a_right_answer_passes_however_it_is_written(id, number):
    assert_passes(id, RIGHT[id][number])


def test_turned_queries_and_keys_have_scores_of_their_offset_and_keep_their_length():
    right = _exercises()["ch8-rotary"].right
    query, key = np.random.default_rng(8).normal(size=(2, 1, 6))
    scores = [right(query, np.array([p])) @ right(key, np.array([p - 4])).T for p in (4, 5, 90)]
    np.testing.assert_allclose(scores, np.broadcast_to(scores[0], (3, 1, 1)))
    np.testing.assert_allclose(
        np.linalg.norm(right(query, np.array([7])), axis=-1), np.linalg.norm(query, axis=-1)
    )


def test_a_place_of_the_key_weighs_as_the_bias_does_under_a_causal_mask_and_only_there():
    exercise = _exercises()["ch8-alibi"]
    place = next(w for w in exercise.misconceptions if w.name == "place-of-the-key-only").wrong[0]
    slopes, scores = np.array([0.7]), torch.randn(5, 5, dtype=torch.float64)
    biases = [torch.tensor(function(slopes, 5)[0]) for function in (exercise.right, place)]
    causal = [functional.masked_softmax(scores + b, masks.causal_mask(5)) for b in biases]
    free = [functional.masked_softmax(scores + b) for b in biases]
    torch.testing.assert_close(*causal)
    assert (free[0] - free[1]).abs().max() > 0.1


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        ("EF", "no-positions-taken-for-no-order"),
        ("ABEF", "product-taken-for-distance"),
        ("ACEF", "mean-taken-for-zero"),
        ("ADEF", "doubled-taken-for-ambiguous"),
        ("AF", "rotary-taken-for-absolute"),
        ("AE", "distance-taken-for-direction"),
        ("AEFG", "unused-row-taken-for-learned"),
        ("BCDG", "chose-the-wrong-ones"),
        ("ABCDEFG", "chose-everything"),
    ],
)
def test_statements_that_are_wrongly_taken_or_left_have_a_name(chosen, name):
    assert checks.check("ch8-claims", chosen).name == name


def test_the_figures_behind_the_statements_are_those_of_the_package():
    encoding = sinusoidal_encoding(100, 64).double().numpy()
    found = checks.check("ch8-claims", "ABEF").expected
    expected = [encoding[0] @ encoding[distance] for distance in (4, 5, 6)]
    np.testing.assert_allclose(list(found.values()), expected, atol=1e-5)
    (mean,) = checks.check("ch8-claims", "ACEF").expected.values()
    np.testing.assert_allclose(mean, encoding.mean(), atol=1e-6)


def test_a_bias_of_zero_is_written_without_a_sign():
    verdict = checks.check("ch8-alibi", lambda slopes, n: slopes[:, None, None] * np.ones((n, n)))
    assert "-0. " not in str(verdict) and "-0.9" in str(verdict)


CHAPTER = Path(__file__).resolve().parents[1] / "chapters" / "08-positions.md"
#: What the experiment needs of the chapter: its cells by a line of theirs.
CELLS = ("class Attention(", "class Doubled(", "class Model(", "task = Repeated", "def right(")
CELLS += ("def first_seed(", "def squeezed(")
SHORT = {"size": 64}


@cache
def chapter():
    """The names of chapter 8 that its experiment is made of."""
    text = CHAPTER.read_text(encoding="utf-8")
    cells = [cell.split("```")[0] for cell in text.split("```{code-cell} ipython3\n")[1:]]
    space = {
        "torch": torch, "nn": nn, "causal_mask": masks.causal_mask, "rotary": attnkit.rotary,
        "masked_softmax": functional.masked_softmax, "alibi_bias": attnkit.alibi_bias,
        "MultiHeadAttention": attnkit.MultiHeadAttention,
        "SinusoidalEncoding": attnkit.SinusoidalEncoding,
        "LearnedEncoding": attnkit.LearnedEncoding,
    }  # fmt: skip
    for line in CELLS:
        (cell,) = [cell for cell in cells if line in cell]
        exec(cell, space)
    return space


def asked(name, factor, period, seed, **given):
    """The share right of a kept model while its positions are squeezed."""
    kept = chapter()
    with kept["squeezed"](factor):
        return kept["right"](kept["first_seed"](name), period, seed=seed, **(SHORT | given))


def keys_whole(period, factor, seed):
    """Only every second call of rotary, that for the queries, is squeezed."""
    kept, calls = chapter(), count()
    whole = kept["rotary"]

    def rotary(x):
        return whole(x, torch.arange(x.shape[-2]) / (factor if next(calls) % 2 == 0 else 1))

    kept["rotary"] = rotary
    try:
        return kept["right"](kept["first_seed"]("rotary"), period, seed=seed, **SHORT)
    finally:
        kept["rotary"] = whole


def not_trained(period, factor, seed):
    torch.manual_seed(0)
    return chapter()["right"](chapter()["Model"]("rotary"), period, seed=seed, **SHORT)


SQUEEZED = [
    ("right", lambda period, by, seed: asked("rotary", by, period, seed)),
    ("right", lambda period, by, seed: torch.tensor(asked("rotary", by, period, seed))),
    ("right", lambda period, by, seed: asked("rotary", by, period, seed, size=96)),
    ("errors-counted", lambda period, by, seed: 1 - asked("rotary", by, period, seed)),
    ("not-squeezed", lambda period, by, seed: asked("rotary", 1, period, seed)),
    ("stretched-for-squeezed", lambda period, by, seed: asked("rotary", 1 / by, period, seed)),
    ("length-not-used", lambda period, by, seed: asked("rotary", by, 16, seed)),
    ("another-kind-of-position", lambda period, by, seed: asked("learned", 1, period, seed)),
    ("another-kind-of-position", lambda period, by, seed: asked("sinusoidal", 1, period, seed)),
    ("another-kind-of-position", lambda period, by, seed: asked("ALiBi", by, period, seed)),
    ("not-divided-alike", keys_whole),
    ("not-divided-alike", lambda period, by, seed: asked("rotary", by**2, period, seed)),
    ("not-the-trained-model", not_trained),
    # Failures that any experiment can have.
    ("in-percent", lambda period, by, seed: 100 * asked("rotary", by, period, seed)),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(SQUEEZED)))
def test_what_an_experiment_with_squeezed_positions_gives_is_called_by_its_name(number):
    name, measure = SQUEEZED[number]
    verdict = checks.check("ch8-experiment", (0.9, measure, EXPLANATION))
    assert verdict.name == name, str(verdict)


def test_every_name_of_the_experiment_is_reached_by_a_measurement():
    assert_names_are_reached("ch8-experiment", [name for name, _ in SQUEEZED])
