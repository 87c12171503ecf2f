"""Exercise ch8-claims: what positions tell a model, and what they do not."""

from __future__ import annotations

import numpy as np
import torch

from attnkit.checks import _wrong_masked as wm
from attnkit.checks import _wrong_positions as wp
from attnkit.checks._choice import ChoiceExercise, Finding, Slip, Statement

#: The sections of chapter 8 that messages link to.
SECTIONS = {
    "ch8": "where order comes from",
    "ch8-depth": "order without positions",
    "ch8-sinusoids": "circles that turn at falling speeds",
    "ch8-properties": "what the encoding is like",
    "ch8-monotone": "it does not fall monotonically",
    "ch8-exponent": "the doubled exponent",
    "ch8-learned": "learned positions",
    "ch8-rotary": "positions that turn",
    "ch8-alibi": "a bias for the distance",
    "ch8-lengths": "longer than in training",
}

#: Three tokens, their vectors short and all different.
_X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])


def _two_causal_layers() -> Finding:
    def last(x: np.ndarray) -> np.ndarray:
        mask = np.tri(3, dtype=bool)
        return wm.self_attention(wm.self_attention(x, mask), mask)[-1]

    found = {
        "last output": last(_X),
        "last output, the tokens before it swapped": last(_X[[1, 0, 2]]),
    }
    before, after = found.values()
    return Finding(not np.allclose(before, after), {"tokens": _X}, found)


def _falls() -> Finding:
    encoding = wp.encoded(np.arange(100), wp.speeds, 64)
    products = encoding @ encoding[0]
    found = {f"product at distance {i}": float(products[i]) for i in (4, 5, 6)}
    return Finding(bool((np.diff(products) < 0).all()), {"d_model": 64}, found)


def _mean() -> Finding:
    mean = float(wp.encoded(np.arange(100), wp.speeds, 64).mean())
    return Finding(abs(mean) < 0.05, {"positions": 100, "d_model": 64}, {"mean": mean})


def _two_the_same() -> Finding:
    doubled = wp.pairs(lambda i, d: 4 * i / d)
    encoding = wp.encoded(np.arange(100), doubled, 64)
    apart = np.linalg.norm(encoding[:, None] - encoding, axis=-1)
    least = float(apart[~np.eye(100, dtype=bool)].min())
    found = {"least distance of two encodings": least}
    return Finding(least < 1e-3, {"positions": 100, "d_model": 64}, found)


def _moved_on() -> Finding:
    query, key = np.array([[1.0, 0.5, -2.0, 3.0]]), np.array([[2.0, -1.0, 0.5, 1.0]])
    found = {}
    for name, more in (("", 0), (", moved on by 7", 7)):
        q, k = wp.turned(query, np.array([3 + more])), wp.turned(key, np.array([1 + more]))
        found[f"query · key{name}"] = float((q @ k.T)[0, 0])
    before, after = found.values()
    example = {"query at position 3": query[0], "key at position 1": key[0]}
    return Finding(bool(np.isclose(before, after)), example, found)


def _backwards() -> Finding:
    place = np.arange(3)
    bias = -0.5 * np.abs(place[:, None] - place)
    after, before = (wm.self_attention(x, np.ones((3, 3), bool), bias) for x in (_X[::-1], _X))
    found = {"outputs": before, "outputs of the tokens backwards, read backwards": after[::-1]}
    return Finding(bool(np.allclose(before, after[::-1])), {"tokens": _X, "m": 0.5}, found)


def _row_without_a_token() -> Finding:
    table = torch.nn.Embedding(5, 2)
    table(torch.arange(3)).sum().backward()
    assert table.weight.grad is not None
    gradient = table.weight.grad.numpy()
    example = {"rows of the table": 5, "tokens of the longest sentence": 3}
    return Finding(bool(gradient[4].any()), example, {"gradient of the table": gradient})


CLAIMS = ChoiceExercise(
    id="ch8-claims",
    title="What do positions tell a model?",
    link="ch8",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "In two causal layers without positions, the last output can depend on the order of "
            "the tokens before it.",
            _two_causal_layers,
        ),
        Statement(
            "B",
            "The further apart two positions are, the smaller is the product of their sinusoidal "
            "encodings.",
            _falls,
        ),
        Statement(
            "C",
            "The numbers of the sinusoidal encoding of 100 positions, d_model 64, have a mean near "
            "0: sines and cosines cancel.",
            _mean,
        ),
        Statement(
            "D",
            "With the exponent doubled by mistake, d_model 64, two of the first 100 positions get "
            "the same encoding.",
            _two_the_same,
        ),
        Statement(
            "E",
            "When rotary has turned queries and keys, moving all of them on by the same number of "
            "places leaves every score as it was.",
            _moved_on,
        ),
        Statement(
            "F",
            "With −m·|i − j| added to the scores and no mask, a sentence read backwards gives the "
            "same outputs, backwards.",
            _backwards,
        ),
        Statement(
            "G",
            "Trained on sentences of at most 50 tokens, a learned table with 100 rows learns "
            "something about position 60.",
            _row_without_a_token,
        ),
    ),
    misconceptions=(
        Slip(
            "chose-the-wrong-ones",
            "These are exactly the statements that do not hold. The question is which do.",
            "ch8",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not all of them hold. Begin with {B}: compute the product at the distances 5 and 6.",
            "ch8-monotone",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "no-positions-taken-for-no-order",
            "In one causal layer a sum does not know its order. But behind the mask each token has "
            "seen others before it, so that the second layer sums over different vectors.",
            "ch8-depth",
            letter="A",
        ),
        Slip(
            "product-taken-for-distance",
            "The product is a sum of cosines of the distance, and a fast one rises again after "
            "half a turn. It depends on the distance, and does not fall with it.",
            "ch8-monotone",
            letter="B",
        ),
        Slip(
            "mean-taken-for-zero",
            "The slow pairs have not made one turn in 100 positions: their sines are still near 0 "
            "and their cosines near 1, so that the mean is about a third.",
            "ch8-properties",
            letter="C",
        ),
        Slip(
            "doubled-taken-for-ambiguous",
            "The first pairs still turn as fast, and they alone tell 100 positions apart. That is "
            "why a test for different rows does not find the mistake.",
            "ch8-exponent",
            letter="D",
        ),
        Slip(
            "rotary-taken-for-absolute",
            "Both vectors are turned on by the same angle, and a product of two vectors does not "
            "change when both are turned. Only the difference of the positions is left.",
            "ch8-rotary",
            letter="E",
        ),
        Slip(
            "distance-taken-for-direction",
            "|i − j| is the same on both sides: such a bias tells near from far and not left from "
            "right. It is the causal mask that gives it a direction.",
            "ch8-alibi",
            letter="F",
        ),
        Slip(
            "unused-row-taken-for-learned",
            "A row that no sentence reaches gets a gradient of exactly 0. It stays what it was "
            "drawn as, but for weight decay.",
            "ch8-learned",
            letter="G",
        ),
    ),
)

EXERCISES = (CLAIMS,)
