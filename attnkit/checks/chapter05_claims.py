"""Exercise ch5-claims: what a head sees, what several of them cost, and when they buy nothing."""

from __future__ import annotations

import numpy as np

from attnkit.checks import _wrong_heads as wh
from attnkit.checks._choice import ChoiceExercise, Finding, Slip, Statement, measured

#: The sections of chapter 5 that messages link to.
SECTIONS = {
    "ch5": "multi-head attention",
    "ch5-question": "two questions, one row of weights",
    "ch5-project": "project, then split",
    "ch5-reshape": "the reshape, step by step",
    "ch5-equal": "equal to a loop, and to PyTorch",
    "ch5-concat": "heads are concatenated and mixed",
    "ch5-neighbours": "naming both neighbours",
    "ch5-cost": "what heads cost",
    "ch5-nothing": "when heads buy nothing",
}

_D_MODEL, _LENGTH = 4, 3


def _drawn() -> tuple[np.ndarray, list[np.ndarray]]:
    """Tokens, and the weights W_q, W_k, W_v, W_o."""
    draw = np.random.default_rng(5).normal
    return draw(size=(_LENGTH, _D_MODEL)).round(1), list(
        draw(size=(4, _D_MODEL, _D_MODEL)).round(1)
    )


def _heads(x: np.ndarray, weights: list[np.ndarray], num_heads: int):
    """Outputs of the heads, (heads, T, d_head), and their maps, (heads, T, T)."""
    q, k, v = (wh.split(x @ w.T, num_heads) for w in weights[:3])
    maps = wh.weigh(q, k)
    return maps @ v, maps


def _slice_of_the_input() -> Finding:
    x, weights = _drawn()
    moved = x + np.array([0.0, 0.0, 1.0, 1.0])
    found = {
        "head 0": _heads(x, weights, 2)[0][0],
        "head 0, only the last d_head inputs moved": _heads(moved, weights, 2)[0][0],
    }
    before, after = found.values()
    return Finding(bool(np.allclose(before, after)), {"x": x, "x moved": moved}, found)


def _parameters() -> Finding:
    _, weights = _drawn()
    counts = []
    for num_heads in (1, 2, 4):
        d_head = _D_MODEL // num_heads
        in_heads = [w.reshape(num_heads, d_head, _D_MODEL).size for w in weights[:3]]
        counts.append(sum(in_heads) + weights[3].size)
    example = {"d_model": _D_MODEL, "numbers of heads": [1, 2, 4]}
    return Finding(len(set(counts)) == 1, example, {"parameters, biases left out": counts})


def _mean_of_heads() -> Finding:
    x, weights = _drawn()
    heads, _ = _heads(x, weights, 2)
    found = {
        "output": wh.join(heads) @ weights[3].T,
        "mean of the heads, twice side by side": np.tile(heads.mean(axis=0), 2),
    }
    output, mean = found.values()
    return Finding(bool(np.allclose(output, mean)), {"x": x}, found)


def _one_budget() -> Finding:
    x, weights = _drawn()
    sums = _heads(x, weights, 2)[1].sum(axis=(0, 2))
    found = {"weights of each query, added up over keys and heads": sums}
    return Finding(bool(np.allclose(sums, 1)), {"tokens": _LENGTH, "heads": 2}, found)


def _twice_the_weights() -> Finding:
    x, weights = _drawn()
    counts = [int(_heads(x, weights, n)[1].size) for n in (1, 2, 4)]
    found = {"weights computed": counts}
    holds = counts[1] == 2 * counts[0] and counts[2] == 2 * counts[1]
    return Finding(holds, {"tokens": _LENGTH, "numbers of heads": [1, 2, 4]}, found)


CLAIMS = ChoiceExercise(
    id="ch5-claims",
    title="Which statements about heads hold?",
    link="ch5",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "Head 0 sees only the first d_head numbers of each input vector.",
            _slice_of_the_input,
        ),
        Statement(
            "B",
            "With d_model fixed, the number of parameters does not depend on the number of heads.",
            _parameters,
        ),
        Statement(
            "C", "The output of the layer is the mean of what its heads find.", _mean_of_heads
        ),
        Statement(
            "D",
            "The weights of one query, added up over all keys and all heads, are 1.",
            _one_budget,
        ),
        Statement(
            "E",
            "With an MLP in place of the linear read-outs, one head is enough to name both "
            "neighbours.",
            measured(True, "one head with an MLP behind it names both, as several heads do"),
        ),
        Statement(
            "F",
            "With d_model fixed, twice as many heads compute twice as many weights.",
            _twice_the_weights,
        ),
        Statement(
            "G",
            "With d_model fixed, more heads are never worse: in the neighbour task as many heads "
            "as d_model has numbers do at least as well as two.",
            measured(False, "heads of one number each stay clearly below two heads"),
        ),
    ),
    misconceptions=(
        Slip(
            "chose-the-wrong-ones",
            "These are exactly the statements that do not hold. The question is which do.",
            "ch5",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not all of them hold. Begin with {C} and {D}: how do the outputs of the heads become "
            "one vector?",
            "ch5-concat",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "head-sees-a-slice",
            "What is split is the result of the projection, and each of its numbers is made of the "
            "whole input vector. Move the last inputs alone, and head 0 moves.",
            "ch5-project",
            letter="A",
        ),
        Slip(
            "heads-cost-parameters",
            "The same weights are cut into more and thinner pieces: more heads of fewer numbers, "
            "and d_model × d_model for each projection as before.",
            "ch5-cost",
            letter="B",
        ),
        Slip(
            "heads-vote",
            "The heads are put side by side, and W_o gives each its own part in every number of "
            "the output. A mean would lose which head found what.",
            "ch5-concat",
            letter="C",
        ),
        Slip(
            "heads-share-one-budget",
            "Each head has a softmax of its own, and each of its rows sums to 1. Heads do not "
            "compete: added up over the heads a query gives as much as there are heads.",
            "ch5-equal",
            letter="D",
        ),
        Slip(
            "several-heads-taken-for-necessary",
            "One head can mix both neighbours into one vector, and an MLP can take the mixture "
            "apart. Only a linear read-out cannot.",
            "ch5-nothing",
            letter="E",
        ),
        Slip(
            "weights-taken-for-free",
            "Every head has a map of its own, queries × keys. The multiplications behind the "
            "scores stay the same in number; softmax and memory grow with the heads.",
            "ch5-cost",
            letter="F",
        ),
        Slip(
            "more-heads-always-better",
            "With d_model fixed each new head makes all of them thinner. A head of one number can "
            "hardly point at a place: the figure falls again at its right end.",
            "ch5-neighbours",
            letter="G",
        ),
    ),
)

EXERCISES = (CLAIMS,)
