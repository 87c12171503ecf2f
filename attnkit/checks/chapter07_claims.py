"""Exercise ch7-claims: what the score of a head says, and what it does not."""

from __future__ import annotations

import numpy as np

from attnkit.checks._choice import ChoiceExercise, Finding, Slip, Statement
from attnkit.checks._head_maps import causal

#: The sections of chapter 7 that messages link to.
SECTIONS = {
    "ch7": "patterns of heads",
    "ch7-metrics": "a map in numbers",
    "ch7-baseline": "the head that prefers nothing",
    "ch7-rule": "the simple rule, and how it fails",
    "ch7-induction": "induction heads, trained here",
    "ch7-spread": "one input, many inputs",
    "ch7-ablation": "taking heads away",
}


def _uniform(mask: np.ndarray) -> np.ndarray:
    return mask / mask.sum(axis=1, keepdims=True)


def _first_key() -> Finding:
    weights = _uniform(causal(8))
    mean = weights[1:, 0].mean()
    found = {"mean weight on the first key, from the second query on": mean, "1/8": 0.125}
    return Finding(
        bool(mean > 1.5 / 8), {"first column of a uniform causal head": weights[:, 0]}, found
    )


def _radius() -> Finding:
    weights = np.full((4, 4), 0.25)
    places = np.arange(4)
    near = np.abs(places[:, None] - places) <= 3
    focus = float((weights * near).sum(axis=1).mean())
    found = {"local focus, radius 3": focus}
    return Finding(focus < 1, {"weights of a head that prefers nothing": weights}, found)


def _diffuse() -> Finding:
    row = np.full(4, 0.25)
    entropy = float(-(row * np.log(row)).sum())
    return Finding(entropy > 2, {"weights of a query": row}, {"entropy in nats": entropy})


def _answers_stay() -> Finding:
    """Two heads that copy the same token: the model reads off the largest score."""
    weights = np.array([0.0, 1.0, 0.0])
    heads = np.outer([2.0, 2.0], weights)
    found = {"scores with both heads": heads.sum(axis=0), "scores with head 0 zeroed": heads[1]}
    before, after = (int(scores.argmax()) for scores in found.values())
    example = {"weights of either head": weights, "each adds to the scores": 2.0}
    return Finding(before == after, example, found)


def _raises() -> Finding:
    """What is written depends on the value, of which the map knows nothing."""
    weights, written = np.array([0.05, 0.9, 0.05]), -2.0
    scores = written * weights
    example = {"weights of a query": weights, "written for a token that is looked at": written}
    return Finding(
        bool(scores[1] > 0), example, {"added to the scores of the three tokens": scores}
    )


def _score_of(places: int, period: int) -> float:
    """Induction score of a head that looks so many places back, whatever stands there."""
    weights = np.eye(1 + 2 * period, k=-places)
    rows = np.arange(period + 1, 1 + 2 * period)
    return float(weights[rows, rows - (period - 1)].mean())


def _positions() -> Finding:
    found = {"score at period 4": _score_of(3, 4), "score at period 6": _score_of(3, 6)}
    return Finding(found["score at period 4"] == 1, {"the head always looks back": 3}, found)


def _other_letter(text: str) -> float:
    """Previous-token score of a head that looks at the latest token that is another one."""
    weights = np.zeros((len(text), len(text)))
    for i, token in enumerate(text):
        others = [j for j in range(i) if text[j] != token]
        weights[i, others[-1] if others else i] = 1
    return float(np.diagonal(weights, -1).mean())


def _one_sentence() -> Finding:
    found = {f"score on {text}": _other_letter(text) for text in ("abab", "aabb")}
    alike = len(set(found.values())) == 1
    return Finding(alike, {"the head looks at": "the latest token that is another one"}, found)


CLAIMS = ChoiceExercise(
    id="ch7-claims",
    title="What does a score say?",
    link="ch7",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "With 8 tokens and a causal mask, a head that prefers nothing gives the first key "
            "clearly more than 1/8 of its weight, averaged over the queries that have a choice.",
            _first_key,
        ),
        Statement(
            "B",
            "With 4 tokens, a local focus of 1 (radius 3) shows that a head looks at its "
            "neighbours.",
            _radius,
        ),
        Statement(
            "C",
            'By the simple rule, a head on 4 tokens can be "diffuse": its entropy can be above 2 '
            "nats.",
            _diffuse,
        ),
        Statement(
            "D",
            "Zeroing a head with a perfectly clear pattern can leave every answer of the model as "
            "it was.",
            _answers_stay,
        ),
        Statement(
            "E",
            "A head with a high induction score raises the score of the token that it looks at.",
            _raises,
        ),
        Statement(
            "F",
            "Measured with one period only, a head that knows nothing but positions can have an "
            "induction score of 1.",
            _positions,
        ),
        Statement(
            "G",
            "A previous-token score of 1 on one sentence shows that the head looks at the previous "
            "token.",
            _one_sentence,
        ),
    ),
    misconceptions=(
        Slip(
            "chose-the-wrong-ones",
            "These are exactly the statements that do not hold. The question is which do.",
            "ch7",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Not all of them hold. Begin with {C}: what is the largest entropy of 4 keys?",
            "ch7-rule",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "baseline-forgotten",
            "The early queries have few keys, and the first key is always one of them: under the "
            "mask a head that prefers nothing gives it about a quarter. Compare a sink score with "
            "that, not with 1/8.",
            "ch7-baseline",
            letter="A",
        ),
        Slip(
            "radius-covers-everything",
            "With 4 tokens no two are more than 3 apart, so that every head has a local focus of "
            "1. A score whose baseline is 1 decides nothing.",
            "ch7-rule",
            letter="B",
        ),
        Slip(
            "threshold-in-nats",
            "The largest entropy of 4 keys is ln 4, about 1.39 nats, and no head gets beyond it. A "
            "threshold in nats means something else at every length.",
            "ch7-rule",
            letter="C",
        ),
        Slip(
            "pattern-taken-for-need",
            "Another head may do the same work, and then the answers stay. What a head looks at is "
            "one measurement, what the model loses without it another.",
            "ch7-ablation",
            letter="D",
        ),
        Slip(
            "pattern-taken-for-effect",
            "The map says where the head looks. What it writes there goes through W_v and W_o, and "
            "may lower the score of the token just as well.",
            "ch7-induction",
            letter="E",
        ),
        Slip(
            "position-taken-for-induction",
            "A head that always looks period − 1 places back scores 1 at this period, and 0 at "
            "another. Only other periods show whether it follows the tokens.",
            "ch7-induction",
            letter="F",
        ),
        Slip(
            "one-input-taken-for-the-head",
            "In one sentence the previous token may also be the one that the head looks for by its "
            "content. Many inputs and their spread tell the two apart.",
            "ch7-spread",
            letter="G",
        ),
    ),
)

EXERCISES = (CLAIMS,)
