"""Exercise ch3-experiment: does the unscaled program learn when the loss sits on the weights?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import Between
from attnkit.checks.chapter03_attention import SECTIONS


def trials(seeds: Sequence[int]) -> tuple[Trial, ...]:
    return tuple(Trial(f"measure({seed})", {"seed": seed}) for seed in seeds)


def _pairs(seen: Sequence[Seen]) -> tuple[np.ndarray, np.ndarray]:
    """Results of the unscaled and of the scaled program, (seeds) each."""
    unscaled, scaled = zip(*((t.got["unscaled"], t.got["scaled"]) for t in seen), strict=True)
    return np.array(unscaled, dtype=float), np.array(scaled, dtype=float)


def _twice(unscaled: np.ndarray, scaled: np.ndarray) -> bool:
    """One and the same program: no two programs agree for both seeds, in 1,000 questions."""
    return bool(np.abs(unscaled - scaled).max() < 1e-7)


def holds(seen: Sequence[Seen]) -> bool:
    """Sixteen seeds gave 0.74 to 0.95 (unscaled), 0.78 to 0.96 (scaled), at most 0.07 apart."""
    unscaled, scaled = _pairs(seen)
    near = min(unscaled.min(), scaled.min()) > 0.64 and max(unscaled.max(), scaled.max()) < 0.985
    return bool(near and np.abs(unscaled - scaled).max() < 0.13 and not _twice(unscaled, scaled))


def _when(condition: Callable[[np.ndarray, np.ndarray], object]) -> Callable:
    return lambda seen: bool(condition(*_pairs(seen)))


def _like(unscaled: float, scaled: float, spread: float = 0.02) -> Callable[[int], tuple]:
    """A measurement with about these results."""

    def measure(seed: int) -> tuple[float, float]:
        moved = spread * (seed % 7 - 3) / 3
        return unscaled + moved, scaled + 0.7 * moved

    return measure


ON_THE_WEIGHTS = ExperimentExercise(
    id="ch3-experiment",
    title="Is it the read-out?",
    link="ch3-training",
    sections=SECTIONS,
    predicts=Between(0, 1),
    call="measure(seed)",
    trials=trials,
    seeds=(0, 1),
    results=("unscaled", "scaled"),
    holds=holds,
    right=_like(0.87, 0.89),
    misconceptions=(
        Misconception(
            "not-trained",
            "This is chance, and the same for both: before the first step the scale cannot change "
            "which weight is the largest. Train first, and measure the model that was trained.",
            "ch3-training",
            (lambda seed: (0.11 + seed % 5 / 50, 0.11 + seed % 5 / 50),),
            when=_when(lambda u, s: _twice(u, s) and u.max() < 0.35),
        ),
        Misconception(
            "one-program-twice",
            "Both numbers are the same for every seed: one program was measured twice. Hand "
            "`unscaled` to the first model and scaled_dot_product_attention to the second.",
            "ch3-training",
            (_like(0.87, 0.87, 0.0), lambda seed: (0.8 + seed % 9 / 100,) * 2),
            when=_when(lambda u, s: _twice(u, s) and 0.35 <= u.min() and u.max() < 0.985),
        ),
        Misconception(
            "mistakes-for-right",
            "This is the share of the questions that are wrong: the program with the scale, which "
            "is a little ahead, has the smaller number. Count those that are right.",
            "ch3-training",
            (_like(0.13, 0.11), _like(0.2, 0.16)),
            when=_when(
                lambda u, s: (
                    0.085 < u.mean() < 0.36
                    and 0.002 < u.mean() - s.mean() < 0.09
                    and s.mean() > 0.04
                )
            ),
        ),
        Misconception(
            "answers-for-places",
            "The read-out was asked for the answer, and nothing has taught it: no loss reaches it. "
            "A question is right when the largest of the eight weights lies on the right pair.",
            "ch3-training",
            (_like(0.035, 0.04), _like(0.03, 0.03, 0.03)),
            when=_when(lambda u, s: max(u.max(), s.max()) < 0.115 and s.mean() - u.mean() < 0.022),
        ),
        Misconception(
            "loss-of-the-answers",
            "This is what twenty steps on the answers give, where the loss has to come through the "
            "read-out. Take the negative logarithm of the weight on the right pair.",
            "ch3-gradient",
            (_like(0.11, 0.3), _like(0.24, 0.45), _like(0.06, 0.13)),
            when=_when(lambda u, s: u.mean() < 0.42 and s.mean() < 0.68 and s.mean() > u.mean()),
        ),
        Misconception(
            "another-setting",
            "Either both are far lower than here, as after fewer steps or with keys of sixteen "
            "numbers, or the two lie far apart, as with five hundred and twelve, or after a "
            "hundred steps on the answers. Compare key size, steps and loss with the text.",
            "ch3-training",
            (_like(0.52, 0.54), _like(0.84, 0.997, 0.003)),
            when=_when(
                lambda u, s: (
                    (0.42 <= u.mean() < 0.66 and s.mean() < 0.66)
                    or (0.42 <= u.mean() < 0.95 and s.min() > 0.985)
                )
            ),
        ),
        Misconception(
            "too-many-steps",
            "After so many steps, or with so large ones, both programs have everything right, and "
            "nothing can be compared. Measure after twenty, at the rate of the chapter.",
            "ch3-training",
            (_like(1.0, 1.0, 0.0), _like(0.996, 0.998, 0.001)),
            when=_when(lambda u, s: min(u.min(), s.min()) >= 0.97),
        ),
        Misconception(
            "weight-for-accuracy",
            "This is the weight that the right pair gets on average. The scaled program shares its "
            "weights and is right all the same: count where the largest weight lies.",
            "ch3-softmax",
            (_like(0.85, 0.57),),
            when=_when(lambda u, s: (u - s).min() > 0.13 and s.min() > 0.4 and u.max() <= 1),
        ),
        Misconception(
            "loss-for-accuracy",
            "This is a loss. The share of questions is asked for whose largest weight lies on the "
            "right pair.",
            "ch3-training",
            (lambda seed: (1.3 + seed % 4 / 4, 0.65),),
            when=_when(lambda u, s: u.max() > 1 and s.max() < 3),
        ),
    ),
)

EXERCISES = (ON_THE_WEIGHTS,)
