"""Exercise ch10-experiment: how much of a sentence does the vector of one token hold?

The model and the 64 pairs are those of chapter 10. Nothing is drawn, so every number is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import Between, Each
from attnkit.checks.chapter10_claims import SECTIONS as OF_THE_CHAPTER

SECTIONS = {**OF_THE_CHAPTER, "ch10-parts": "what is in the box", "ch10-breaks": "where it breaks"}

#: [CLS], the first piece of the sentence, its full stop, [SEP].
PLACES = (0, 1, -2, -1)
#: Of 128 look-ups those that find the paraphrase by the token at each of the places.
FOUND = (117, 52, 114, 112)


def _measured(counts: Sequence[float], of: float = 128) -> Callable:
    by_place = dict(zip(PLACES, counts, strict=True))
    return lambda place: by_place[place] / of


def _near(counts: Sequence[float], of: float = 128) -> Callable:
    """Whether these are the shares, up to two look-ups decided by the last digits."""

    def when(seen: Sequence[Seen]) -> bool:
        shares = np.array([float(trial.got["share"]) for trial in seen])
        return bool((np.abs(shares - np.array(counts) / of) <= 2.5 / of).all())

    return when


def _wrong(
    name: str, message: str, *counts: Sequence[float], of: float = 128, link: str = "ch10-pooling"
) -> Misconception:
    """Recognised by the look-ups that it finds at the four places."""
    conditions = [_near(numbers, of) for numbers in counts]
    samples = tuple(_measured(numbers, of) for numbers in counts)
    return Misconception(
        name, message, link, samples, when=lambda seen: any(c(seen) for c in conditions)
    )


MISCONCEPTIONS = (
    _wrong(
        "padding-taken-for-the-end",
        "Places −1 and −2 were counted from the end of the padded row, where most sentences have "
        "nothing but padding. The end of a sentence lies at its own length.",
        (117, 52, 100, 100),
        (117, 52, 92, 96),
        link="ch10-breaks",
    ),
    _wrong(
        "lengths-left-in",
        "Dot products were compared, and a long vector wins them whatever it points to. The cosine "
        "is the dot product of vectors of length 1.",
        (113, 45, 101, 105),
    ),
    _wrong(
        "distance-in-place-of-cosine",
        "The nearest by distance was taken, of vectors that differ in length. The chapter compares "
        "by cosine: scale them to length 1 first.",
        (114, 39, 104, 108),
    ),
    _wrong(
        "mean-taken",
        "Every place finds what the mean over the tokens finds, so that is what was measured. Take "
        "the hidden state of the one token at the place.",
        (125, 125, 125, 125),
        (126, 126, 126, 126),
    ),
    _wrong(
        "mean-on-the-other-side",
        "The one token's vector was looked up among the means of the other sentences. Both sides "
        "are to be represented by the same place.",
        (116, 105, 118, 119),
        (118, 96, 123, 122),
    ),
    _wrong(
        "earlier-layer",
        "These are hidden states that go into the last layer. Its output is asked for, the one "
        "that the sentence vector is made of.",
        (71, 18, 56, 62),
        link="ch10-parts",
    ),
    _wrong(
        "bare-embeddings",
        "These vectors come from before the first layer, where a token has read no other: [CLS] is "
        "the same for all sentences. Take the output of the last layer.",
        (2, 8, 1, 2),
        link="ch10-parts",
    ),
    _wrong(
        "one-side-only",
        "The paraphrase was looked up from one side. The other sentence of each pair looks for the "
        "first one too, which makes 128 look-ups; found_by counts both.",
        (61, 20, 58, 57),
        (56, 32, 56, 55),
        of=64,
        link="ch10-ablation",
    ),
    _wrong(
        "own-side-among-the-rivals",
        "Each sentence was looked up among all the others, those of its own side included. The "
        "rivals are the 64 sentences of the other side.",
        (100, 35, 102, 102),
        link="ch10-ablation",
    ),
    Misconception(
        "not-a-share",
        "A share of the 128 look-ups is asked for, from 0 to 1. found_by returns their number, "
        "from both sides together.",
        "ch10-ablation",
        (_measured(FOUND, of=1), _measured(FOUND, of=64)),
        when=lambda seen: _near(FOUND, of=1)(seen) or _near(FOUND, of=64)(seen),
    ),
    Misconception(
        "cosine-taken-for-look-ups",
        "This is the mean cosine of the pairs. A high one says little while those of the other "
        "sentences are high as well: count the look-ups that find the paraphrase.",
        "ch10-breaks",
        (_measured((0.80, 0.32, 0.64, 0.62), of=1),),
        when=lambda seen: _near((80, 32, 64, 62), of=100)(seen),
    ),
)

ONE_TOKEN = ExperimentExercise(
    id="ch10-experiment",
    title="One token for the sentence",
    link="ch10-pooling",
    sections=SECTIONS,
    predicts=Each(("[CLS]", "first piece", "full stop"), Between(0, 1)),
    call="measure(place)",
    trials=tuple(Trial(f"measure({place})", {"place": place}) for place in PLACES),
    results=("share",),
    holds=_near(FOUND),
    misconceptions=MISCONCEPTIONS,
    right=_measured(FOUND),
)

EXERCISES = (ONE_TOKEN,)
