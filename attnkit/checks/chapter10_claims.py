"""Exercise ch10-claims: what weights, lengths and ablations say about a real encoder."""

from __future__ import annotations

import numpy as np

from attnkit.checks import _wrong_heads as wh
from attnkit.checks._choice import ChoiceExercise, Finding, Slip, Statement, measured

#: The sections of chapter 10 that messages link to.
SECTIONS = {
    "ch10": "a real encoder",
    "ch10-own": "our own module runs it",
    "ch10-pooling": "from tokens to a sentence",
    "ch10-shuffled": "compared with what?",
    "ch10-contributions": "weights are not contributions",
    "ch10-words": "from pieces to words",
    "ch10-ablation": "taking heads away",
}


def _mean_of_all() -> Finding:
    hidden, lengths = np.array([[1.0, 2.0], [3.0, 4.0], [-4.0, 6.0]]), 2
    found = {
        "mean of the real positions": hidden[:lengths].mean(axis=0),
        "mean of all positions": hidden.mean(axis=0),
    }
    real, everything = found.values()
    example = {"last layer, one row a position": hidden, "real positions": lengths}
    return Finding(bool(np.allclose(real, everything)), example, found)


def _three_pieces() -> Finding:
    row, word_of = np.full(5, 0.2), np.array([0, 0, 0, 1, 2])
    words = np.array([row[word_of == word].sum() for word in range(3)])
    example = {"weights of a query": row, "word of each piece": word_of}
    return Finding(
        bool(np.isclose(words[0], 3 * words[1])), example, {"weight of each word": words}
    )


def _lengths() -> Finding:
    written = np.array([[3.0, 1.0], [-2.0, 1.0]])
    found = {
        "lengths, added up": float(np.linalg.norm(written, axis=1).sum()),
        "length of what the head writes": float(np.linalg.norm(written.sum(axis=0))),
    }
    added, whole = found.values()
    return Finding(added > whole, {"α v W_O of two keys": written}, found)


def _zero_and_even() -> Finding:
    value = np.array([[1.0, 2.0], [3.0, 0.0]])
    found = {"head zeroed": np.zeros(2), "head with even weights": value.mean(axis=0)}
    zero, even = found.values()
    return Finding(bool(np.allclose(zero, even)), {"values of a head": value}, found)


def _exchanged() -> Finding:
    """Two heads of two numbers change places in W_q, W_k, W_v and W_o."""
    draw = np.random.default_rng(10).normal
    x, weights = draw(size=(3, 4)).round(1), list(draw(size=(4, 4, 4)).round(1))
    order = [2, 3, 0, 1]
    found = {}
    for name, (*inner, w_o) in {
        "": weights,
        ", heads exchanged": [*(w[order] for w in weights[:3]), weights[3][:, order]],
    }.items():
        q, k, v = (wh.split(x @ w.T, 2) for w in inner)
        maps = wh.weigh(q, k)
        found |= {f"output{name}": wh.join(maps @ v) @ w_o.T, f"map of head 0{name}": maps[0]}
        found[f"map of head 1{name}"] = maps[1]
    outputs, zero, one, outputs_after, zero_after, one_after = found.values()
    holds = np.allclose(outputs, outputs_after) and np.allclose(zero, one_after)
    shown = {key: found[key] for key in ("output", "output, heads exchanged", "map of head 0")}
    shown["map of head 1, heads exchanged"] = one_after
    return Finding(bool(holds and np.allclose(one, zero_after)), {"tokens": x}, shown)


CLAIMS = ChoiceExercise(
    id="ch10-claims",
    title="What do the weights of a real encoder show?",
    link="ch10",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "In the middle layers about half of the weight goes to [CLS], so about half of what "
            "the heads write comes from [CLS].",
            measured(False, "only a small part of the sum of ‖α v W_O‖ comes from [CLS]"),
        ),
        Statement(
            "B",
            "When every layer blocks the padding keys, the plain mean over all positions of a "
            "padded batch is the sentence vector.",
            _mean_of_all,
        ),
        Statement(
            "C",
            "A head that prefers nothing gives a word of three pieces three times the weight of a "
            "word of one piece.",
            _three_pieces,
        ),
        Statement(
            "D",
            "When a head keeps its previous-token score on sentences whose words are shuffled, the "
            "score is an artefact.",
            measured(False, "layer 0, head 2 looks at the previous token in shuffled text too"),
        ),
        Statement(
            "E",
            "The lengths ‖α v W_O‖ of the contributions of all keys can add up to more than the "
            "length of what the head writes.",
            _lengths,
        ),
        Statement(
            "F",
            "Zeroing a head's output and giving it even weights are the same ablation: both take "
            "away what it looks at.",
            _zero_and_even,
        ),
        Statement(
            "G",
            "Exchange two heads in all four projections of a layer, and the layer's output stays "
            "the same, while its maps change places.",
            _exchanged,
        ),
    ),
    misconceptions=(
        Slip(
            "chose-the-wrong-ones",
            "These are exactly the statements that do not hold. The question is which do.",
            "ch10",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not all of them hold. Begin with {F}: what does a head write when its weights are "
            "even?",
            "ch10-ablation",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "weight-taken-for-contribution",
            "A weight says how much of a value is taken, not how much there is to take: the values "
            "of [CLS] are short. Of ‖α v W_O‖ only a small part comes from it.",
            "ch10-contributions",
            letter="A",
        ),
        Slip(
            "padding-averaged-in",
            "The mask keeps padding out of the keys, so that real tokens do not see it. Padding "
            "positions still have vectors of their own, and the mean has to leave them out.",
            "ch10-pooling",
            letter="B",
        ),
        Slip(
            "pieces-not-counted",
            "The weights of the pieces a query attends to are added up, and three pieces get three "
            "shares. Compare a word's weight with what an even head would give to as many pieces.",
            "ch10-words",
            letter="C",
        ),
        Slip(
            "shuffling-taken-for-every-baseline",
            "A head that goes by position looks at the previous token whatever stands there; "
            "shuffling shows that it does not read the words. The baseline of such a score is the "
            "head that prefers nothing.",
            "ch10-shuffled",
            letter="D",
        ),
        Slip(
            "lengths-taken-for-shares",
            "Vectors can point against each other: what two keys write may cancel, and their "
            "lengths add up all the same. The lengths rank the keys, they are no shares of the "
            "output.",
            "ch10-contributions",
            letter="E",
        ),
        Slip(
            "ablations-taken-for-one",
            "Zero writes nothing, even weights write the mean of the values, which the layers "
            "behind it may rely on. Say which ablation a number comes from.",
            "ch10-ablation",
            letter="F",
        ),
        Slip(
            "head-number-taken-for-meaning",
            "W_o adds up what the heads write, and a sum does not ask for the order. The number of "
            "a head is a name within one set of weights, and equal outputs do not prove equal "
            "numbers.",
            "ch10-own",
            letter="G",
        ),
    ),
)

EXERCISES = (CLAIMS,)
