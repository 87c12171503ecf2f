"""Exercise ch2-look-back: what are query, key and value, and what are the weights?"""

from __future__ import annotations

import numpy as np

from attnkit.checks import _wrong_additive as ad
from attnkit.checks._choice import ChoiceExercise, Finding, Slip, Statement, measured
from attnkit.checks._wrong_attention import softmax
from attnkit.checks.chapter02_temperature import SECTIONS


def _attend(n_query: int, d_query: int, n_key: int, d_key: int, d_value: int):
    """Sizes that go in, and those of what comes out."""
    draw = np.random.default_rng(0).normal
    query, key, value = draw(size=(n_query, d_query)), draw(size=(n_key, d_key)), draw(
        size=(n_key, d_value)
    )  # fmt: skip
    output, weights = ad.right(
        query, key, value, draw(size=(2, d_query)), draw(size=(2, d_key)), draw(size=2)
    )
    given = {"query": query.shape, "key": key.shape, "value": value.shape}
    return given, {"output": output.shape, "weights": weights.shape}


def _roles() -> Finding:
    """Two English words look at three characters."""
    given, found = _attend(2, 3, 3, 4, 4)
    return Finding(found["weights"] == (2, 3), given, found)


def _values_of_another_size() -> Finding:
    given, found = _attend(1, 4, 3, 4, 2)
    return Finding(given["key"] == given["value"], given, found)


def _queries_of_another_size() -> Finding:
    given, found = _attend(1, 2, 3, 4, 4)
    return Finding(found["weights"] != (1, 3), given, found)


def _coldest() -> Finding:
    """The slope of the largest weight with respect to its score, as T falls."""
    scores = np.array([2.0, 1.0, 0.5])
    hard = np.eye(3)[scores.argmax()]
    nudged = np.eye(3)[(scores + np.array([0.01, 0, 0])).argmax()]
    found = {
        "weights at T = 1": softmax(scores),
        "weights at T = 0.05": softmax(scores / 0.05),
        "slope of the hard choice": (nudged - hard) / 0.01,
    }
    holds = np.allclose(softmax(scores / 0.05), hard, atol=1e-6) and np.array_equal(nudged, hard)
    return Finding(bool(holds), {"scores": scores}, found)


def _twice_the_temperature() -> Finding:
    scores = np.array([2.0, 1.0, 0.5])
    once, twice = softmax(scores), softmax(scores / 2)
    found = {"weights at T = 1": once, "weights at T = 2": twice}
    return Finding(bool(np.allclose(twice, once / 2)), {"scores": scores}, found)


def _padding() -> Finding:
    scores = np.array([2.0, 1.0])
    alone, padded = softmax(scores), softmax(np.append(scores, [0.0, 0.0]))
    found = {"weights alone": alone, "weights with two padding positions": padded}
    example = {"scores": scores, "score of a padding position": 0.0}
    return Finding(bool((padded[:2] < alone).all()), example, found)


LOOK_BACK = ChoiceExercise(
    id="ch2-look-back",
    title="Who asks, who answers?",
    link="ch2-dictionary",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "In our translator the state of the decoder is the query, and the states of the "
            "encoder are the keys.",
            _roles,
        ),
        Statement("B", "The values must be the same vectors as the keys.", _values_of_another_size),
        Statement(
            "C",
            "Additive attention needs queries and keys of the same size.",
            _queries_of_another_size,
        ),
        Statement(
            "D",
            "As T goes to 0, when no two scores tie, all weight goes to the key with the largest "
            "score, and the choice has no gradient left.",
            _coldest,
        ),
        Statement(
            "E",
            "The character with the largest weight is always one that the word is a translation "
            "of.",
            measured(False, "“thousand” can look at a 零, a character it is no translation of"),
        ),
        Statement("F", "Doubling T halves every weight.", _twice_the_temperature),
        Statement(
            "G",
            "A padding position that no mask blocks takes weight away from the characters.",
            _padding,
        ),
    ),
    misconceptions=(
        Slip(
            "chose-the-wrong-ones",
            "These are exactly the statements that do not hold. The question is which do.",
            "ch2-dictionary",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not all of them hold. Take the sizes first: which of query, key and value have to be "
            "equally long?",
            "ch2-dictionary",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "query-and-key-roles-swapped",
            "The decoder wants to know something: it asks, with its state as the query. The "
            "encoder's states answer: each character shows its key.",
            "ch2-dictionary",
            letter="A",
        ),
        Slip(
            "values-tied-to-keys",
            "In our translator they are the same vectors, but they need not be. A key says where "
            "to look, a value is what one gets there; only their number must agree.",
            "ch2-dictionary",
            letter="B",
        ),
        Slip(
            "sizes-tied",
            "Each of the two has its own projection into the hidden layer, where they are added. "
            "Their own sizes may differ.",
            "ch2-module",
            letter="C",
        ),
        Slip(
            "hard-choice-learns",
            "Near T = 0 a small change of a score does not change which one is the largest, unless "
            "two are close, so the weights stay as they are: the slope is 0, and nothing can be "
            "learned from it.",
            "ch2-hard",
            letter="D",
        ),
        Slip(
            "attention-taken-for-alignment",
            "Often, but not always: the chapter shows a word whose largest weight lies on a "
            "character that it is no translation of. A weight says where the model looked.",
            "ch2-alignment",
            letter="E",
        ),
        Slip(
            "temperature-divides-weights",
            "T divides the scores, before the softmax. The weights still sum to 1: doubling T "
            "makes them more equal, so that small ones grow.",
            "ch2-temperature",
            letter="F",
        ),
        Slip(
            "padding-taken-for-harmless",
            "The softmax does not know what padding is: every score has its exp, and the sum below "
            "the bar grows. Only a mask takes the position out.",
            "ch2-padding",
            letter="G",
        ),
    ),
)

EXERCISES = (LOOK_BACK,)
