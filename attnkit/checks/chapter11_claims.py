"""Exercise ch11-claims: what a weight explains, and what it does not."""

from __future__ import annotations

from itertools import product

import numpy as np

from attnkit.checks import _wrong_attention as wa
from attnkit.checks._choice import ChoiceExercise, Finding, Slip, Statement, measured

#: The sections of chapter 11 that messages link to.
SECTIONS = {
    "ch11": "attention at work",
    "ch11-names": "the language of a name",
    "ch11-pooling": "attention pooling and mean pooling",
    "ch11-deletion": "deleting from the input",
    "ch11-planted": "the planted character",
    "ch11-puppet": "the puppet",
    "ch11-applications": "what people build",
}


def _beyond_the_ceiling() -> Finding:
    """Every reader there is for two names and two languages."""
    pairs = [("Kuba", "de"), ("Kuba", "pl"), ("Kuba", "pl"), ("Mali", "de"), ("Mali", "pl")]
    shares = [
        np.mean([(kuba if name == "Kuba" else mali) == language for name, language in pairs])
        for kuba, mali in product(("de", "pl"), repeat=2)
    ]
    found = {"share of pairs right, every reader there is": np.array(shares), "ceiling": 3 / 5}
    return Finding(bool(max(shares) > 3 / 5 + 1e-9), {"pairs": pairs}, found)


def _pooled(letters: np.ndarray) -> float:
    """A convolution of width 3 that adds up, then a pool that leaves out place 1."""
    states = np.convolve(letters, np.ones(3), mode="same")
    return float(np.array([0.5, 0.0, 0.5, 0.0]) @ states)


def _zero_in_the_pool() -> Finding:
    found = {
        "pooled": _pooled(np.array([1.0, 2.0, 0.0, 1.0])),
        "pooled, with another character at place 1": _pooled(np.array([1.0, 7.0, 0.0, 1.0])),
    }
    example = {"weights of the pool": np.array([0.5, 0.0, 0.5, 0.0])}
    before, after = found.values()
    return Finding(bool(np.isclose(before, after)), example, found)


def _map_of_a_caption() -> Finding:
    draw = np.random.default_rng(11).normal
    patches = draw(size=(49, 8))
    weights = wa.right(draw(size=(5, 8)), patches, patches)[1]
    example = {"words written": 5, "patches": 49}
    return Finding(weights.shape == (5, 49), example, {"shape of the map": np.array(weights.shape)})


CLAIMS = ChoiceExercise(
    id="ch11-claims",
    title="Does a weight explain?",
    link="ch11",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "On all pairs of name and language, the ambiguous names included, a larger model "
            "trained for longer could get beyond the ceiling.",
            _beyond_the_ceiling,
        ),
        Statement(
            "B",
            "With attention pooling, clearly more names get the right language than with mean "
            "pooling.",
            measured(False, "mean pooling is right about slightly more names, for all five seeds"),
        ),
        Statement(
            "C",
            "Deleting the most attended character from the input changes more answers than "
            "deleting a character drawn at random.",
            measured(True, "the most attended character flips far more answers than a random one"),
        ),
        Statement(
            "D",
            "Behind a convolution of width 3, setting a character's weight in the pool to zero "
            "takes away all that the model knows of it.",
            _zero_in_the_pool,
        ),
        Statement(
            "E",
            "With a convolution of width 3, a model that is right about all names with a planted "
            "character has its largest weight on that character in nearly all of them.",
            measured(False, "in about half of the names the largest weight is on a neighbour"),
        ),
        Statement(
            "F",
            "A model can be trained to draw a picture of our choice with its weights and still be "
            "right about its task.",
            measured(True, "nearly all the weight lies on the picture, and the answers are right"),
        ),
        Statement(
            "G",
            "When a captioning model writes 5 words and looks at 49 patches of an image, its map "
            "has 5 rows and 49 columns.",
            _map_of_a_caption,
        ),
    ),
    misconceptions=(
        Slip(
            "chose-the-wrong-ones",
            "These are exactly the statements that do not hold. The question is which do.",
            "ch11",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not all of them hold. Begin with {A}: what can a reader say about a name that comes "
            "with two languages?",
            "ch11-names",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "ceiling-taken-for-a-goal",
            "The ceiling belongs to the data, not to a model: who sees the same name twice must "
            "say the same language twice. Beyond it a model has seen more than the name.",
            "ch11-names",
            letter="A",
        ),
        Slip(
            "attention-taken-for-better",
            "Both pools see the same states, and a convolution has put into each what stands "
            "around it. Here the mean does no worse: what the weights add is something to look at.",
            "ch11-pooling",
            letter="B",
        ),
        Slip(
            "attention-taken-for-noise",
            "A weight does not prove that a character mattered, but here the two go together: "
            "deleted, the most attended one changes several times as many answers.",
            "ch11-deletion",
            letter="C",
        ),
        Slip(
            "pool-taken-for-the-input",
            "The states beside it have read the character too. Only deleting it from the input "
            "takes it away; in the pool it goes from one of three states.",
            "ch11-deletion",
            letter="D",
        ),
        Slip(
            "weight-taken-for-place",
            "A neighbour's state knows the planted character as well, and the model may look "
            "there. The position of a state is not the token that it tells of.",
            "ch11-planted",
            letter="E",
        ),
        Slip(
            "map-taken-for-the-reason",
            "The weights can be paid to show something else, and the answers stay right: what the "
            "task needs finds its way past the picture.",
            "ch11-puppet",
            letter="F",
        ),
        Slip(
            "queries-and-keys-exchanged",
            "Who writes asks: the queries are the words, one row each. Keys and values are the "
            "patches of the image, one column each.",
            "ch11-applications",
            letter="G",
        ),
    ),
)

EXERCISES = (CLAIMS,)
