"""Exercise ch11-flips: how many answers change without the most attended character?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _wrong_flips as wf
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter11_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch11-deletion", wrong)


_LAST = wf.Reader(lambda name: name[-1:], "label = the last character")
_FIRST_TWO = wf.Reader(lambda name: name[:2], "label = the first two characters")
_HAS_A = wf.Reader(lambda name: str("a" in name), "label = whether there is an a")
_LONG = wf.Reader(lambda name: str(len(name) > 4), "label = whether longer than 4")


def _trial(predict: wf.Reader, **rows: list[int]) -> Trial:
    """Names with the weights of their characters, in tenths."""
    longest = max(map(len, rows))
    weights = np.array([row + [0] * (longest - len(row)) for row in rows.values()]) / 10
    name = f"{', '.join(rows)}; {predict}"
    return Trial(name, {"predict": predict, "names": list(rows), "weights": weights})


_TRIALS = (
    _trial(_LAST, Oman=[1, 2, 1, 6], Peru=[5, 2, 2, 1]),
    _trial(_LONG, Angola=[1, 1, 1, 2, 1, 4], Peru=[1, 7, 1, 1]),  # no label changes
    _trial(_LAST, Oman=[1, 2, 1, 6], Peru=[5, 2, 2, 1], Mali=[2, 5, 2, 1]),
    _trial(_HAS_A, Mali=[2, 6, 1, 1], Kuba=[2, 2, 3, 3], Aruba=[1, 1, 1, 2, 5], Oman=[3, 2, 3, 2]),
    _trial(_LAST, Ia=[4, 6], O=[10], Benin=[1, 1, 2, 3, 3], Tonga=[1, 1, 1, 3, 4]),
    _trial(
        _HAS_A, Anna=[1, 1, 2, 6], Panama=[1, 1, 1, 5, 1, 1], Chad=[4, 2, 3, 1],
        Niger=[2, 3, 2, 2, 1],
    ),
    _trial(
        _FIRST_TWO, Panama=[1, 1, 2, 4, 1, 1], Cuba=[4, 1, 1, 4], Togo=[1, 2, 2, 5],
        Iran=[1, 6, 2, 1],
    ),
    _trial(
        _LONG, Kenia=[1, 5, 1, 2, 1], Ghana=[1, 1, 6, 1, 1], Togo=[1, 2, 2, 5],
        Angola=[1, 1, 1, 2, 1, 4],
    ),
)  # fmt: skip

MISCONCEPTIONS = (
    _wrong(
        "least-attended-deleted",
        "The character with the smallest weight is deleted. That is a baseline; asked for is the "
        "largest.",
        wf.changed(lambda name, row: wf.without(name, int(row[: len(name)].argmin()))),
        wf.changed(lambda name, row: wf.without(name, int(row.argmin()))),
    ),
    _wrong(
        "best-possible-taken",
        "Every character is tried, and a name counts if any deletion changes its label. That is "
        "the best that a choice could do; here the weights choose.",
        wf.every_place_tried(lambda changes: float(any(changes))),
    ),
    _wrong(
        "any-character-at-random",
        "Every character is tried, and their shares are averaged: that is a character at random. "
        "Here the weights choose.",
        wf.every_place_tried(lambda changes: sum(changes) / len(changes)),
    ),
    _wrong(
        "replaced-not-deleted",
        "Something was put in the place of the character, so that the name is as long as before. "
        "A model reads a blank or a question mark too: delete the character.",
        wf.at_place(lambda name, k: f"{name[:k]} {name[k + 1 :]}"),
    ),
    _wrong(
        "every-occurrence-deleted",
        "All characters like the most attended one are deleted: replace knows letters, not places. "
        "The weight belongs to one place: name[:k] + name[k + 1:].",
        wf.at_place(lambda name, k: name.replace(name[k], "")),
    ),
    _wrong(
        "first-like-it-deleted",
        "The first character like the most attended one is deleted, and it may stand elsewhere: "
        "use the place, not the letter.",
        wf.at_place(lambda name, k: name.replace(name[k], "", 1)),
    ),
    _wrong(
        "last-of-the-tied",
        "Where several characters have the largest weight, the last of them is deleted. Take the "
        "first.",
        wf.changed(wf.last_of_the_tied),
    ),
    _wrong(
        "all-of-the-tied",
        "Where several characters have the largest weight, all of them are deleted. Take the first "
        "one only, so that every name loses one character.",
        wf.changed(wf.all_of_the_tied),
    ),
    _wrong(
        "only-the-character-kept",
        "The most attended character is all that was left of the name. That asks whether it is "
        "enough; here the question is whether it was needed.",
        wf.at_place(lambda name, k: name[k]),
    ),
    _wrong(
        "cut-off-there",
        "The name is cut at the place, so that more than one character is gone. Keep what stands "
        "before it and what stands behind it.",
        wf.at_place(lambda name, k: name[:k]),
        wf.at_place(lambda name, k: name[k + 1 :]),
        wf.at_place(lambda name, k: name[: k + 1]),
    ),
    _wrong(
        "neighbour-deleted",
        "The character beside it is deleted. Places count from 0: name[:k] + name[k + 1:].",
        wf.at_place(lambda name, k: wf.without(name, k + 1)),
        wf.at_place(lambda name, k: name[: k - 1] + name[k:]),
        wf.at_place(lambda name, k: wf.without(name, max(k - 1, 0))),
    ),
    _wrong(
        "one-place-for-all-names",
        "The same place is deleted from every name. Each name has its own row of weights.",
        wf.at_one_place(lambda weights: weights.sum(axis=0)),
        wf.at_one_place(lambda weights: weights[0]),
        wf.at_one_place(lambda weights: weights.max(axis=0)),
    ),
    _wrong(
        "weights-not-used",
        "The first or the last character is deleted, whatever the weights say.",
        wf.changed(lambda name, row: name[1:]),
        wf.changed(lambda name, row: name[:-1]),
    ),
    _wrong(
        "share-that-stays",
        "This is the share of the labels that stay. Asked for is the share that changes.",
        wf.counted(lambda *labels: 1 - wf.mean(*labels)),
    ),
    _wrong(
        "count-not-share",
        "This is how many labels change. Divide by the number of names.",
        wf.counted(lambda before, after, names: float(wf.differing(before, after))),
    ),
    _wrong(
        "in-per-cent",
        "This is the share in per cent. Asked for is a number from 0 to 1.",
        wf.counted(lambda *labels: 100 * wf.mean(*labels)),
    ),
    _wrong(
        "lists-compared-as-a-whole",
        "The two lists are compared, and not the labels in them: it says only whether any label "
        "changed. Go through both side by side.",
        wf.counted(lambda before, after, names: float(before != after)),
    ),
    _wrong(
        "names-compared",
        "The names are compared, not their labels. A name without a character is always another "
        "name: ask predict about both.",
        wf.counted(lambda before, after, names: 1.0),
    ),
    _wrong(
        "averaged-over-the-labels",
        "There is one share for each label, and these are averaged. Every name counts the same, "
        "however many have its label.",
        wf.counted(wf.by_label),
    ),
    _wrong(
        "divided-by-the-characters",
        "The count is divided by the number of characters. One of them is deleted from each name: "
        "divide by the number of names.",
        wf.counted(lambda before, after, names: wf.differing(before, after) / sum(map(len, names))),
        wf.counted(lambda before, after, names: wf.differing(before, after) / max(map(len, names))),
    ),
)

FLIPS = FunctionExercise(
    id="ch11-flips",
    title="How many answers flip?",
    link="ch11-deletion",
    call="flips(predict, names, weights)",
    results=("share",),
    sections=SECTIONS,
    right=wf.right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (FLIPS,)
