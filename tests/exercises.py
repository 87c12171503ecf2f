"""Two small exercises, one by hand and one experiment, that no chapter has."""

import math

import numpy as np

from attnkit.checks import (
    Between,
    ExperimentExercise,
    Misconception,
    NumbersExercise,
    Trial,
)

SECTIONS = {"here": "the section", "there": "another section"}


def softmax(scores):
    powers = np.exp(np.asarray(scores) - max(scores))
    return powers / powers.sum()


def best(scores):
    return 1 + int(np.argmax(scores))


#: Two results of different shapes: which key wins, and the weights.
BY_HAND = NumbersExercise(
    id="test-by-hand",
    title="Three scores",
    link="here",
    sections=SECTIONS,
    given={"scores": (0.0, 0.5, 1.5)},
    draw=lambda rng: {"scores": tuple(rng.randint(-4, 4) / 2 for _ in range(3))},
    results=("weights", "best key"),
    right=lambda scores: (softmax(scores), best(scores)),
    misconceptions=(
        Misconception(
            "no-exp",
            "These are shares of the scores. Take the exp first.",
            "here",
            (lambda scores: (np.array(scores) / sum(scores), best(scores)),),
        ),
        Misconception(
            "not-normalised",
            "These do not add up to 1.",
            "there",
            (
                lambda scores: (np.exp(scores), best(scores)),
                lambda scores: (np.exp(np.array(scores) - max(scores)), best(scores)),
            ),
        ),
        Misconception(
            "counted-from-0",
            "The first key has the number 1.",
            "there",
            (lambda scores: (softmax(scores), best(scores) - 1),),
        ),
    ),
)

#: One result, a single number from 0 to 1.
ONE_NUMBER = NumbersExercise(
    id="test-one-number",
    title="A weight",
    link="here",
    sections=SECTIONS,
    given={"gap": 1.0},
    draw=lambda rng: {"gap": rng.randint(1, 30) / 10},
    results=("weight",),
    right=lambda gap: 1 / (1 + math.exp(-gap)),
    misconceptions=(
        Misconception("other-key", "Other key.", "here", (lambda gap: 1 / (1 + math.exp(gap)),)),
    ),
)

#: An accuracy for each of two seeds.
EXPERIMENT = ExperimentExercise(
    id="test-experiment",
    title="Does it learn?",
    link="here",
    sections=SECTIONS,
    predicts=Between(0, 1),
    call="measure(seed)",
    trials=lambda seeds: tuple(Trial(f"seed {seed}", {"seed": seed}) for seed in seeds),
    seeds=(0, 1),
    results=("accuracy",),
    holds=lambda trials: all(0.85 < seen.got["accuracy"] <= 1 for seen in trials),
    right=lambda seed: 0.9 + seed % 7 / 100,
    misconceptions=(
        Misconception(
            "not-trained",
            "This is chance: the model was not trained.",
            "there",
            (lambda seed: 0.12 + seed % 5 / 1000,),
            when=lambda trials: all(seen.got["accuracy"] < 0.2 for seen in trials),
        ),
    ),
    seconds=2.0,
)

LONG_ENOUGH = (
    "It learns with every seed since the loss sits on the weights and so reaches every key."
)
