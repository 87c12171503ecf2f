"""Exercise ch4-masked-softmax: weights for the keys that a query may attend to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnkit.checks import _masked_trials as show
from attnkit.checks import _wrong_masked as wm
from attnkit.checks._engine import FunctionExercise, Misconception
from attnkit.checks._wrong_attention import softmax
from attnkit.checks.chapter04_claims import SECTIONS


def _wrong(name: str, link: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, link, wrong)


def _special(
    name: str, link: str, when: Callable, message: str, *samples: Callable
) -> Misconception:
    return Misconception(name, message, link, samples, when)


MISCONCEPTIONS = (
    _special(
        "blocked-keys-dropped",
        "ch4-formula",
        show.blocked_keys_dropped,
        "The blocked keys are left out of the result, so that it is no table any more. Every key "
        "keeps its column: a blocked one has weight 0 in it.",
        wm.allowed_only,
    ),
    _wrong(
        "mask-after-softmax",
        "ch4-formula",
        "The softmax has already given the blocked keys a share when the mask takes it away: what "
        "is left of a row sums to less than 1. Mask the scores, then take the softmax.",
        lambda s, m: softmax(s) * m,
    ),
    _wrong(
        "mask-multiplied-into-scores",
        "ch4-formula",
        "The blocked scores are 0 here, and a score of 0 is not a weight of 0: exp(0) is 1. A "
        "blocked score has to be −∞, or the key left out of the sum.",
        wm.multiplied,
        lambda s, m: wm.multiplied(s, m) * m,
    ),
    _wrong(
        "one-added",
        "ch4-formula",
        "The mask is added to the scores as 1 and 0: that shifts them a little and blocks "
        "nothing. A mask that is added holds 0 and −∞.",
        wm.added(1.0),
        wm.added(-1.0),
    ),
    _special(
        "infinity-times-zero",
        "ch4-formula",
        show.nan_where_allowed,
        "What is allowed is nan: 0 times −∞, which the allowed keys get here, is nan and not 0. "
        "Choose between score and −∞ with np.where.",
        wm.infinity_times_zero,
        lambda s, m: wm.shared(np.exp(s + ~m * -np.inf), m),
    ),
    _wrong(
        "polarity-flipped",
        "ch4-conventions",
        "The allowed keys are blocked, and the blocked ones get all the weight. Here True = may "
        "attend, as in attnkit and in scaled_dot_product_attention.",
        lambda s, m: wm.right(s, ~m),
        wm.added(-1e9),
    ),
    _wrong(
        "mask-ignored",
        "ch4-formula",
        "This is the softmax over all keys: the mask has no effect.",
        lambda s, m: softmax(s),
    ),
    _wrong(
        "scores-ignored",
        "ch4-formula",
        "The allowed keys share equally, whatever their scores. Among them the softmax of the "
        "scores decides.",
        lambda s, m: wm.shared(np.ones_like(s), m),
    ),
    _wrong(
        "no-softmax",
        "ch4-formula",
        "These are masked scores, not weights: the softmax is still missing.",
        lambda s, m: np.where(m, s, -np.inf),
        lambda s, m: np.where(m, s, -1e9),
        lambda s, m: s * m,
    ),
    _wrong(
        "not-normalised",
        "ch4-formula",
        "The powers are masked, but not divided by their sum: each row has to sum to 1 over its "
        "allowed keys.",
        lambda s, m: np.exp(s) * m,
        lambda s, m: wm.powers(s, m) * m,
        lambda s, m: np.exp(s - s.max(axis=-1, keepdims=True)) * m,
    ),
    _wrong(
        "softmax-over-queries",
        "ch4-formula",
        "The sum runs down the columns, over the queries. Each query shares out its own "
        "attention: each row sums to 1, so the axis is the last one.",
        wm.filled(-np.inf, axis=0),
        wm.divided_afterwards(0),
        lambda s, m: wm.shared(wm.powers(s, m), m, axis=0),
    ),
    _wrong(
        "softmax-over-everything",
        "ch4-formula",
        "The whole table together sums to 1. Each row must: give max and sum the last axis, with "
        "keepdims.",
        wm.filled(-np.inf, axis=None),
        wm.divided_afterwards(None),
        lambda s, m: wm.shared(wm.powers(s, m), m, axis=None),
    ),
    _wrong(
        "sum-without-keepdims",
        "ch4-formula",
        "max or sum has lost its axis, so that NumPy lines the row's value up with a column. Use "
        "keepdims=True: (T_q, 1) goes along each row.",
        wm.divided_afterwards(-1, keepdims=False),
        lambda s, m: wm.powers(s, m) / wm.powers(s, m).sum(axis=-1),
        wm.maximum_without_keepdims,
    ),
    _special(
        "nan-in-an-empty-row",
        "ch4-empty",
        show.nan_in_an_empty_row,
        "Right wherever a query may see something. In a row of −∞ alone the softmax divides 0 by "
        "0: nan, which spreads into everything behind it. Such a row has to give zeros.",
        wm.filled(-np.inf),
        wm.divided_afterwards(-1),
        lambda s, m: softmax(s + np.log(m)),
    ),
    _special(
        "share-in-an-empty-row",
        "ch4-empty",
        show.share_in_an_empty_row,
        "Right wherever a query may see something. In a row that may see nothing all scores are "
        "equally low, and the softmax shares out the weight among blocked keys. Set them to 0 "
        "afterwards.",
        wm.filled(-1e9),
        wm.filled(np.finfo(np.float64).min),
        lambda s, m: softmax(s - 1e9 * ~m),
    ),
    _special(
        "breaks-on-infinity",
        "ch4-formula",
        show.breaks_on_infinity,
        "Right on finite scores. A score that is −∞ already turns into nan when it is multiplied "
        "by 0: choose with np.where instead.",
        wm.blended,
    ),
    _special(
        "fill-not-low-enough",
        "ch4-formula",
        show.fill_not_low_enough,
        "What takes the place of a blocked score is larger than the allowed ones when those are "
        "far below 0. Only −∞ (or the least number of the type) is lower than every score.",
        wm.filled_and_zeroed(-10.0),
        wm.filled_and_zeroed(-1e3),
    ),
    _special(
        "one-maximum-for-all-rows",
        "ch4-formula",
        show.one_maximum,
        "Nearly: the largest score of the whole table is subtracted, and rows far below it "
        "vanish. Subtract each row's own maximum: axis=-1, keepdims=True.",
        wm.one_maximum,
    ),
    _special(
        "epsilon-below-the-bar",
        "ch4-formula",
        show.epsilon_below,
        "A small number is added to the sum, and where a blocked key had the largest score the "
        "rest of the row is smaller still: it no longer sums to 1. Mask the scores before the "
        "softmax.",
        wm.divided_afterwards(-1, epsilon=1e-9),
        wm.divided_afterwards(-1, epsilon=1e-12),
    ),
    _special(
        "blocked-key-in-the-maximum",
        "ch4-formula",
        show.blocked_in_the_maximum,
        "The maximum that is subtracted belongs to a blocked key, so far above the others that "
        "exp makes them all 0. Mask the scores first, then take the maximum.",
        wm.maximum_of_everything,
    ),
    _special(
        "overflows",
        "ch4-formula",
        show.overflows,
        "Right on ordinary scores, and exp of a thousand is more than a float can hold. Subtract "
        "each row's largest allowed score before exp: it changes no weight.",
        lambda s, m: wm.shared(np.exp(s), m),
    ),
    _special(
        "finite-but-wrong",
        "ch4-formula",
        show.finite_but_wrong,
        "Right on ordinary scores. On scores of a thousand numbers come out, but not the weights: "
        "clipping or replacing nan hides what exp cannot hold. Subtract each row's largest "
        "allowed score.",
        wm.clipped,
        wm.patched,
    ),
)

MASKED_SOFTMAX = FunctionExercise(
    id="ch4-masked-softmax",
    title="A softmax with a mask",
    link="ch4-formula",
    call="masked_softmax(scores, mask)",
    results=("weights",),
    sections=SECTIONS,
    right=wm.right,
    trials=show.TRIALS,
    misconceptions=MISCONCEPTIONS,
)

EXERCISES = (MASKED_SOFTMAX,)
