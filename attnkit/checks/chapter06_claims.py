"""Exercise ch6-claims: what a picture of weights shows, and what it does not."""

from __future__ import annotations

import numpy as np

from attnkit.checks import _wrong_masked as wm
from attnkit.checks._choice import ChoiceExercise, Finding, Slip, Statement
from attnkit.checks._wrong_attention import softmax

#: The sections of chapter 6 that messages link to.
SECTIONS = {
    "ch6": "heatmaps",
    "ch6-axes": "rows, columns and their labels",
    "ch6-blocked": "hatched cells",
    "ch6-scale": "one scale for all panels",
    "ch6-average": "what the average hides",
    "ch6-long": "sequences too long to draw",
    "ch6-capture": "weights out of a model that is not ours",
    "ch6-received": "row means and column sums",
    "ch6-breaks": "where it breaks",
}


def _contributions() -> Finding:
    """What a key adds to the output is its weight times its value."""
    weights, value = np.array([0.8, 0.2]), np.array([[0.01, 0.02], [1.0, 2.0]])
    lengths = weights * np.linalg.norm(value, axis=1)
    example = {"weights of a query": weights, "values": value}
    found = {"length of weight × value, for each key": lengths}
    return Finding(bool(lengths.argmax() == weights.argmax()), example, found)


def _colours() -> Finding:
    sharp, flat = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.5, 0.5], [0.48, 0.52]])
    found = {"brightest cell of head 0": sharp.max(), "brightest cell of head 1": flat.max()}
    same_colour = sharp.max() / sharp.max() == flat.max() / flat.max()
    differ = abs(sharp.max() - flat.max()) > 0.3
    return Finding(bool(same_colour and differ), {"head 0": sharp, "head 1": flat}, found)


def _average() -> Finding:
    heads = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    average = heads.mean(axis=0)
    each_uniform = bool(np.allclose(heads, average))
    return Finding(each_uniform, {"head 0": heads[0], "head 1": heads[1]}, {"average": average})


def _hatched() -> Finding:
    """Were it learned, a large score could undo it."""
    mask, scores = np.tri(2, dtype=bool), np.array([[1.0, 0.0], [0.5, 2.0]])
    raised = scores + np.array([[0.0, 100.0], [0.0, 0.0]])
    found = {
        "weights": wm.right(scores, mask),
        "weights, that score raised": wm.right(raised, mask),
    }
    example = {"scores": scores, "mask": mask, "score raised in the hatched cell": raised[0, 1]}
    before, after = found.values()
    return Finding(not np.allclose(before, after), example, found)


def _first_column() -> Finding:
    mask = np.tri(4, dtype=bool)
    weights = mask / mask.sum(axis=1, keepdims=True)
    sums = weights.sum(axis=0)
    example = {"weights of a uniform causal head": weights}
    return Finding(bool(sums.argmax() == 0), example, {"sum of each column": sums})


def _row() -> Finding:
    """Moving one query changes the row of this query, and nothing else."""
    keys = np.array([[1.0, 0.0], [0.0, 1.0]])
    queries, moved = np.array([[1.0, 2.0], [0.5, 1.0]]), np.array([[3.0, 0.0], [0.5, 1.0]])
    before, after = softmax(queries @ keys.T), softmax(moved @ keys.T)
    changed = ~np.isclose(before, after)
    found = {"weights": before, "weights, query 0 moved": after}
    return Finding(not (changed[0].all() and not changed[1].any()), {"queries": queries}, found)


def _dropout() -> Finding:
    """Half of the weights set to 0, the others doubled."""
    weights, kept = np.array([[0.5, 0.3, 0.2]]), np.array([[True, False, True]])
    dropped = np.where(kept, 2 * weights, 0)
    example = {"weights": weights, "kept by dropout 0.5": kept}
    found = {"after dropout": dropped, "their sum": float(dropped.sum())}
    return Finding(not np.isclose(dropped.sum(), 1), example, found)


CLAIMS = ChoiceExercise(
    id="ch6-claims",
    title="What does the picture show?",
    link="ch6",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "The key with the largest weight in a row contributes most to the output of that "
            "query.",
            _contributions,
        ),
        Statement(
            "B",
            "When each panel of a grid has a colour scale of its own, two cells of the same colour "
            "may stand for very different weights.",
            _colours,
        ),
        Statement(
            "C",
            "When the map averaged over the heads is uniform, each head attends uniformly.",
            _average,
        ),
        Statement(
            "D",
            "A hatched cell says that the head has learned not to look at this key.",
            _hatched,
        ),
        Statement(
            "E",
            "Under a causal mask the first column has the largest sum even for a head that attends "
            "uniformly to all keys it may see.",
            _first_column,
        ),
        Statement("F", "Row i of a map shows which tokens attend to token i.", _row),
        Statement("G", "After dropout the weights of a row need not sum to 1.", _dropout),
    ),
    misconceptions=(
        Slip(
            "chose-the-wrong-ones",
            "These are exactly the statements that do not hold. The question is which do.",
            "ch6",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not all of them hold. Begin with {F}: what does a row sum to, and why?",
            "ch6-axes",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "weight-taken-for-contribution",
            "What a key adds to the output is its weight times its value. A large weight on a "
            "short value adds next to nothing.",
            "ch6-breaks",
            letter="A",
        ),
        Slip(
            "own-scales-taken-for-comparable",
            "Each panel then gives its brightest colour to its own largest weight, whether that is "
            "0.9 or 0.52. Only one scale for all panels lets colours be compared.",
            "ch6-scale",
            letter="B",
        ),
        Slip(
            "average-taken-for-the-heads",
            "Two heads that look at opposite places have a uniform average. It is a map that no "
            "head has.",
            "ch6-average",
            letter="C",
        ),
        Slip(
            "hatched-taken-for-zero",
            "A hatched cell is blocked: its score has no say, however large. A weight of 0 in a "
            "cell that is allowed is what the head itself chose.",
            "ch6-blocked",
            letter="D",
        ),
        Slip(
            "column-sum-taken-for-importance",
            "The first key is seen by every query, the last by one. Even a head that prefers "
            "nothing gives the first column the largest sum.",
            "ch6-received",
            letter="E",
        ),
        Slip(
            "rows-taken-for-columns",
            "Row i belongs to token i as the query: it shows where token i looks. Who looks at "
            "token i stands in column i.",
            "ch6-axes",
            letter="F",
        ),
        Slip(
            "weights-after-dropout-taken-for-weights",
            "Dropout sets some weights to 0 and enlarges the others, by chance. Such a row sums "
            "to 1 only by accident, and is not what the model computes when it is used.",
            "ch6-capture",
            letter="G",
        ),
    ),
)

EXERCISES = (CLAIMS,)
