"""Exercise ch1-exact-match: the share of sentences that are right as a whole."""

from __future__ import annotations

import numpy as np

from attnkit.checks import _wrong_match as wm
from attnkit.checks._engine import FunctionExercise, Misconception, Trial
from attnkit.checks.chapter01_claims import SECTIONS


def _trial(name: str, predicted: list[list[int]], target: list[list[int]]) -> Trial:
    inputs = {"predicted": np.array(predicted), "target": np.array(target)}
    return Trial(name, inputs)


_TRIALS = (
    _trial("one word each", [[5, 2], [7, 2]], [[5, 2], [6, 2]]),
    _trial("it goes on after the end", [[5, 2, 8], [4, 2, 6]], [[5, 2, 0], [6, 7, 2]]),
    _trial(
        "right words, wrong order or length",
        [[6, 5, 2, 0], [7, 2, 0, 2], [8, 9, 2, 0]],
        [[5, 6, 2, 0], [7, 9, 2, 0], [8, 2, 0, 0]],
    ),
    _trial(
        "four sentences",
        [[5, 7, 2, 2, 4], [5, 6, 6, 2, 0], [8, 2, 0, 0, 9], [3, 3, 4, 2, 0]],
        [[5, 7, 2, 0, 0], [5, 5, 6, 2, 0], [8, 2, 0, 0, 0], [3, 4, 3, 2, 0]],
    ),
    _trial(
        "five sentences",
        [[5, 7, 2, 6], [8, 2, 2, 0], [9, 4, 3, 2], [6, 2, 9, 4], [3, 5, 6, 2]],
        [[5, 7, 2, 0], [8, 2, 0, 0], [9, 4, 3, 2], [6, 9, 4, 2], [7, 5, 6, 2]],
    ),
    _trial(
        "long sentences",
        [[11, 7, 5, 13, 2, 8, 2], [9, 4, 4, 17, 8, 12, 2], [21, 2, 7, 7, 7, 7, 7]],
        [[11, 7, 5, 13, 2, 0, 0], [9, 4, 4, 17, 8, 13, 2], [21, 2, 0, 0, 0, 0, 0]],
    ),
)

EXACT_MATCH = FunctionExercise(
    id="ch1-exact-match",
    title="Wholly right",
    link="ch1-task",
    call="exact_match(predicted, target)",
    results=("share",),
    styles=("numpy", "torch"),
    sections=SECTIONS,
    right=wm.right,
    trials=_TRIALS,
    misconceptions=(
        Misconception(
            "token-accuracy",
            "This is the share of right tokens. A sentence with one wrong word in ten is 90 % "
            "right by tokens, and as a number it is wrong: count whole sentences.",
            "ch1-task",
            (
                lambda p, t: (p == t).mean(),
                lambda p, t: (p == t)[t != 0].mean(),
                lambda p, t: (p == t)[t > wm.EOS].mean(),
                lambda p, t: wm.same(p, t).mean(),
            ),
        ),
        Misconception(
            "mean-of-token-shares",
            "Each sentence counts with its share of right tokens. It is right or wrong, 1 or 0: "
            "take all() along the sentence before the mean.",
            "ch1-task",
            (
                wm.token_share,
                lambda p, t: np.mean(
                    [(a == b)[b > wm.EOS].mean() for a, b in zip(p, t, strict=True)]
                ),
            ),
        ),
        Misconception(
            "after-the-end-counted",
            "What stands behind <eos> is compared too. The sentence ended there: whatever the "
            "model wrote afterwards does not count.",
            "ch1-task",
            (
                wm.leaving_out(lambda p, t: np.zeros(p.shape, bool)),
                wm.leaving_out(lambda p, t: p == 0),
            ),
        ),
        Misconception(
            "until-the-last-end",
            "The prediction is read up to its last <eos>. It ended at the first one.",
            "ch1-task",
            (wm.until_last_end,),
        ),
        Misconception(
            "longer-taken-for-right",
            "A prediction that begins like the target and then goes on counts as right: “eight "
            "hundred” is not “eight”. The place of <eos> must agree too.",
            "ch1-task",
            (
                wm.leaving_out(lambda p, t: t <= wm.EOS),
                wm.by_sentence(lambda p, t: p[: len(t)] == t),
            ),
        ),
        Misconception(
            "shorter-taken-for-right",
            "A prediction that stops too early counts as right as far as it goes: “eight” is not "
            "“eight hundred”. The place of <eos> must agree too.",
            "ch1-task",
            (
                wm.leaving_out(lambda p, t: ~wm.counts(p) | (p <= wm.EOS)),
                wm.by_sentence(lambda p, t: t[: len(p)] == p),
            ),
        ),
        Misconception(
            "common-part-only",
            "Only the part that both sentences have is compared, so that a longer and a shorter "
            "one can both be right. The place of <eos> must agree too.",
            "ch1-task",
            (
                wm.leaving_out(lambda p, t: ~wm.counts(p) | (p <= wm.EOS) | (t <= wm.EOS)),
                wm.by_sentence(lambda p, t: all(a == b for a, b in zip(p, t, strict=False))),
            ),
        ),
        Misconception(
            "specials-dropped",
            "<eos> and padding are filtered out, and what remains is compared: words written "
            "behind the end join the sentence. Cut at the first <eos>.",
            "ch1-task",
            (wm.specials_dropped,),
        ),
        Misconception(
            "first-word-only",
            "Only the first word is compared. The sentence is right when all words are.",
            "ch1-task",
            (lambda p, t: (p[:, 0] == t[:, 0]).mean(),),
        ),
        Misconception(
            "last-column-only",
            "Only the last column is compared, which is padding for most sentences.",
            "ch1-task",
            (lambda p, t: (p[:, -1] == t[:, -1]).mean(),),
        ),
        Misconception(
            "length-only",
            "Only the place of <eos> is compared: any sentence of the right length counts.",
            "ch1-task",
            (
                lambda p, t: (wm.length(p) == wm.length(t)).mean(),
                lambda p, t: ((p == wm.EOS) == (t == wm.EOS)).all(axis=1).mean(),
            ),
        ),
        Misconception(
            "any-for-all",
            "One right token makes the sentence right. Replace any by all.",
            "ch1-task",
            (
                lambda p, t: (p == t).any(axis=1).mean(),
                lambda p, t: ((p == t) & wm.counts(t)).any(axis=1).mean(),
                lambda p, t: ((p == t) & (t > wm.EOS)).any(axis=1).mean(),
            ),
        ),
        Misconception(
            "order-ignored",
            "The words are compared without their order. “six five” is not “five six”: compare "
            "place by place.",
            "ch1-task",
            (
                wm.by_sentence(lambda p, t: sorted(p) == sorted(t)),
                wm.by_sentence(lambda p, t: set(p) == set(t)),
                lambda p, t: (np.sort(p, axis=1) == np.sort(t, axis=1)).all(axis=1).mean(),
            ),
        ),
        Misconception(
            "all-over-the-batch",
            "all() runs down the batch: this is the share of places at which every sentence is "
            "right. It must run along each sentence, the last axis.",
            "ch1-task",
            (
                lambda p, t: (p == t).all(axis=0).mean(),
                lambda p, t: wm.same(p, t).all(axis=0).mean(),
            ),
        ),
        Misconception(
            "all-or-nothing",
            "One wrong sentence makes the whole batch wrong: all() without an axis swallows both. "
            "Along each sentence all(), over the batch the mean.",
            "ch1-task",
            (
                lambda p, t: float((p == t).all()),
                lambda p, t: float(wm.same(p, t).all()),
            ),
        ),
        Misconception(
            "count-for-share",
            "This is how many sentences are right. Divide by their number.",
            "ch1-task",
            (
                lambda p, t: wm.same(p, t).all(axis=1).sum(),
                lambda p, t: (p == t).all(axis=1).sum(),
            ),
        ),
        Misconception(
            "percent-for-share",
            "This is in percent. A share is asked for, from 0 to 1: leave out the factor of 100.",
            "ch1-task",
            (lambda p, t: 100 * wm.right(p, t),),
        ),
        Misconception(
            "one-per-sentence",
            "Right for each sentence, and one number is wanted: take the mean.",
            "ch1-task",
            (
                lambda p, t: wm.same(p, t).all(axis=1),
                lambda p, t: (p == t).all(axis=1),
            ),
        ),
        Misconception(
            "errors-counted",
            "This is the share of wrong sentences. The right ones are wanted: 1 minus it.",
            "ch1-task",
            (
                lambda p, t: 1 - wm.right(p, t),
                lambda p, t: (p != t).any(axis=1).mean(),
            ),
        ),
    ),
)

EXERCISES = (EXACT_MATCH,)
