"""Checks of two questions of one's own: a function, and a result worked out by hand.

``EXERCISES`` is what is read of this file; it needs nothing but numpy and ``attnkit.checks``.
"""

import random

import numpy as np

from attnkit.checks import FunctionExercise, Misconception, NumbersExercise, Trial

#: Where a verdict can send a learner to: a label of the book, and what the link says.
SECTIONS = {
    "ch3-softmax": "What the softmax sees",
    "ch7-metrics": "A map in numbers",
}


def effective_keys(weights):
    """1 / Σ w²: one key that has everything counts as 1, n equal ones as n."""
    return 1 / (weights**2).sum(axis=-1)


def _entropy(weights):
    return -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=-1)


EFFECTIVE_KEYS = FunctionExercise(
    id="bank-effective-keys",
    title="How many keys does a query attend to?",
    link="ch7-metrics",
    sections=SECTIONS,
    call="effective_keys(weights)",
    results=("effective keys",),
    styles=("numpy", "torch"),
    right=effective_keys,
    trials=(
        Trial("one row", {"weights": np.array([[0.5, 0.25, 0.25]])}),
        Trial("a row with zeros", {"weights": np.array([[0.5, 0.5, 0.0, 0.0]])}),
        Trial(
            "two rows",
            {"weights": np.array([[0.7, 0.1, 0.1, 0.1, 0.0], [0.2, 0.3, 0.1, 0.2, 0.2]])},
        ),
    ),
    misconceptions=(
        Misconception(
            "sum-of-squares",
            "Σ w² is near 1 for a row with one favourite, and small for a flat one: it measures "
            "concentration. The number of keys is its inverse.",
            "ch7-metrics",
            (lambda w: (w**2).sum(axis=-1),),
        ),
        Misconception(
            "square-of-the-sum",
            "The weights of a row add up to 1, so that the square of their sum is 1 whatever they "
            "are. Square first, then add.",
            "ch3-softmax",
            (lambda w: 1 / w.sum(axis=-1) ** 2,),
        ),
        Misconception(
            "root-of-the-sum",
            "This is 1 / √(Σ w²), which counts n equal weights as √n keys. There is no root.",
            "ch7-metrics",
            (lambda w: (w**2).sum(axis=-1) ** -0.5,),
        ),
        Misconception(
            "largest-weight-only",
            "1 / max w looks at the favourite alone. Two rows with the same favourite may spread "
            "the rest over few keys or many.",
            "ch7-metrics",
            (lambda w: 1 / w.max(axis=-1),),
        ),
        Misconception(
            "counts-what-is-not-zero",
            "Every key with some weight counts as a whole key here, however little it has.",
            "ch7-metrics",
            (lambda w: (w > 0).sum(axis=-1),),
        ),
        Misconception(
            "exponential-of-entropy",
            "e to the power of the entropy counts keys too, but weighs small ones differently: it "
            "is the other number of keys in use. Asked for is 1 / Σ w².",
            "ch7-metrics",
            (lambda w: np.exp(_entropy(w)),),
        ),
        Misconception(
            "entropy-itself",
            "This is the entropy in nats, 0 for one key. A number of keys begins at 1.",
            "ch7-metrics",
            (_entropy,),
        ),
        Misconception(
            "along-the-queries",
            "The sum runs down the queries. A row, the last axis, holds the weights of one query.",
            "ch3-softmax",
            (lambda w: 1 / (w**2).sum(axis=-2),),
        ),
        Misconception(
            "all-queries-together",
            "One number for the whole map: each query has a number of its own.",
            "ch3-softmax",
            (lambda w: 1 / (w**2).sum(), lambda w: effective_keys(w).mean()),
        ),
    ),
)


def mix(weights, values):
    """The output of attention over scalar values: Σ w·v."""
    return sum(w * v for w, v in zip(weights, values, strict=True))


def _draw(rng: random.Random) -> dict[str, object]:
    """Tenths that add up to 1, and small whole numbers."""
    first = 1 + int(4 * rng.random())
    second = 1 + int(4 * rng.random())
    weights = [first / 10, second / 10, (10 - first - second) / 10]
    return {"weights": weights, "values": [int(20 * rng.random()) - 5 for _ in range(3)]}


MIX = NumbersExercise(
    id="bank-mix",
    title="What does the query receive?",
    link="ch3-softmax",
    sections=SECTIONS,
    given={"weights": [0.2, 0.3, 0.5], "values": [10, 4, -2]},
    draw=_draw,
    results=("output",),
    right=mix,
    misconceptions=(
        Misconception(
            "plain-mean",
            "This is the mean of the values, as if every weight were the same.",
            "ch3-softmax",
            (lambda weights, values: sum(values) / len(values),),
        ),
        Misconception(
            "sum-of-values",
            "The values are added without their weights.",
            "ch3-softmax",
            (lambda weights, values: sum(values),),
        ),
        Misconception(
            "favourite-only",
            "This is the value of the largest weight. Attention mixes: the others count too.",
            "ch3-softmax",
            (lambda weights, values: values[weights.index(max(weights))],),
        ),
        Misconception(
            "divided-by-the-number",
            "The weighted values are added and divided by three. The weights add up to 1 already.",
            "ch3-softmax",
            (lambda weights, values: mix(weights, values) / len(values),),
        ),
        Misconception(
            "weights-in-reverse",
            "The first weight belongs to the first value; here the order of one list is turned.",
            "ch3-softmax",
            (lambda weights, values: mix(weights[::-1], values),),
        ),
    ),
)

EXERCISES = (EFFECTIVE_KEYS, MIX)
