"""Exercise ch3-same-weights: which changes of the scores leave the weights as they were?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks._choice import ChoiceExercise, Option, Slip
from attnkit.checks._wrong_attention import softmax
from attnkit.checks.chapter03_attention import SECTIONS

_SCORES = np.array([[0.0, 1.0, 3.0], [2.0, 2.0, 0.0]])


def _change(change: Callable[[np.ndarray], np.ndarray], scores: np.ndarray = _SCORES):
    def case():
        after = change(scores)
        return {"scores before": scores, "scores after": after}, softmax(scores), softmax(after)

    return case


def _rotate():
    query, key = np.array([[1.0, 2.0]]), np.array([[3.0, 1.0], [0.0, 2.0]])
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    before, after = query @ key.T, (query @ turn.T) @ (key @ turn.T).T
    example = {"query": query, "key": key, "rotation": turn}
    return example, softmax(before), softmax(after)


SAME_WEIGHTS = ChoiceExercise(
    id="ch3-same-weights",
    title="Which changes leave the weights alone?",
    link="ch3-softmax",
    sections=SECTIONS,
    options=(
        Option("A", "add 100 to every score of a row", _change(lambda s: s + 100)),
        Option("B", "double every score", _change(lambda s: 2 * s)),
        Option(
            "C",
            "subtract from each row its own largest score",
            _change(lambda s: s - s.max(axis=1, keepdims=True)),
        ),
        Option(
            "D",
            "add 5 to the scores of one key, for every query",
            _change(lambda s: s + np.array([5.0, 0.0, 0.0])),
        ),
        Option(
            "E",
            "turn a row of equal scores, (8, 8, 8, 8), into (0, 0, 0, 0)",
            _change(lambda s: 0 * s, np.full((1, 4), 8.0)),
        ),
        Option("F", "multiply each query and each key by the same rotation matrix", _rotate),
        Option("G", "list every key twice", _change(lambda s: np.repeat(s, 2, axis=1))),
    ),
    misconceptions=(
        Slip(
            "chose-the-changes",
            "These are exactly the changes that do change the weights: the question is which "
            "leave them alone.",
            "ch3-softmax",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not every change is without effect: the softmax keeps what all scores of a row share, "
            "and nothing else, out of the weights.",
            "ch3-softmax",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "softmax-ignores-scale",
            "Doubling the scores doubles their differences, and the softmax sees differences: the "
            "row becomes sharper. That is why the scale 1/√d_k matters.",
            "ch3-softmax",
            letter="B",
        ),
        Slip(
            "shift-changes-weights",
            "100 more for every score multiplies each exp by the same number, and the sum below "
            "too: it cancels. The softmax sees differences only.",
            "ch3-softmax",
            letter="A",
        ),
        Slip(
            "zero-score-means-zero-weight",
            "A score of 0 is not a weight of 0: four equal scores give four weights of 1/4, "
            "whatever the scores are.",
            "ch3-softmax",
            letter="E",
        ),
        Slip(
            "row-maximum-changes-weights",
            "The row's own largest score is one number for the whole row, so that subtracting it "
            "cancels. It keeps exp from overflowing and changes no weight.",
            "ch3-softmax",
            letter="C",
        ),
        Slip(
            "key-shift-taken-for-row-shift",
            "Adding to one key's scores changes the differences within each row: every query now "
            "attends more to that key. Only a shift of the whole row cancels.",
            "ch3-softmax",
            letter="D",
        ),
        Slip(
            "repetition-taken-for-no-change",
            "With every key twice the row is twice as long and each weight is halved. The output "
            "stays the same, if values are repeated too, but the weights do not.",
            "ch3-soft-lookup",
            letter="G",
        ),
        Slip(
            "rotation-changes-scores",
            "A rotation keeps lengths and angles, and with them every dot product q·k: the scores "
            "do not move at all.",
            "ch3-reparam",
            letter="F",
        ),
    ),
)

EXERCISES = (SAME_WEIGHTS,)
