"""Exercise ch7-experiment: after a letter that stood twice, is it place or context that helps?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import Between
from attnkit.checks._samples import measured_by, spread
from attnkit.checks.chapter07_claims import SECTIONS

_HALF = 8


def _trials(seeds: Sequence[int]) -> tuple[Trial, ...]:
    return tuple(
        Trial(f"turned by {shift}, seed {seed}", {"shift": shift, "seed": seed})
        for seed in seeds
        for shift in (0, _HALF)
    )


def _shares(trials: Sequence[Seen]) -> tuple[list[float], list[float]]:
    """Shares with the copy as it was, and turned by half of it, by seed."""
    shares = measured_by(trials, "shift")
    return shares[0], shares[_HALF]


def _holds(trials: Sequence[Seen]) -> bool:
    # Ten trained models, three seeds each: 0.67 to 0.81, and turned 0.28 to 0.36; with the seam
    # counted 0.25 to 0.34.
    plain, turned = _shares(trials)
    return 0.6 < min(plain) and max(plain) < 0.87 and 0.2 < min(turned) and max(turned) < 0.45


def _when(condition: Callable[[list[float], list[float]], bool]) -> Callable:
    return lambda trials: condition(*_shares(trials))


def _plain_right(plain: Sequence[float]) -> bool:
    return min(plain) > 0.6 and max(plain) < 0.87


def _like(plain: float, turned: float, width: float = 0.01) -> Callable:
    return spread({0: plain, _HALF: turned}, width)


MISCONCEPTIONS = (
    Misconception(
        "loss-taken-for-share",
        "This grows where the model is wrong, and beyond 1: it is the loss. Asked for is the share "
        "of right answers, the second thing that second_copy returns.",
        "ch7-induction",
        (_like(0.9, 3.2), _like(1.0, 3.0)),
        _when(lambda plain, turned: min(turned) > 1.5),
    ),
    Misconception(
        "letters-that-occur-once",
        "After letters that occur once there is nothing to choose, and the model is right. Keep "
        "those that stood more often in the first copy.",
        "ch7-induction",
        (_like(1.0, 0.85, 0), _like(1.0, 0.8, 0.005)),
        _when(lambda plain, turned: min(plain) > 0.98 and min(turned) > 0.5),
    ),
    Misconception(
        "all-letters-counted",
        "Most letters occur once, and after them the model is right: they hide the others. Keep "
        "the answers after letters that stood more often in the first copy.",
        "ch7-induction",
        (_like(0.93, 0.69),),
        _when(lambda plain, turned: min(plain) >= 0.87 and min(turned) >= 0.5),
    ),
    Misconception(
        "copy-not-turned",
        "Turned by half a copy, the share is about what it was. Either the second copy is not "
        "turned, or the first was turned with it, or the letters that occur more often are those "
        "of the old places.",
        "ch7-induction",
        (_like(0.73, 0.73), _like(0.75, 0.72), _like(0.74, 0.65)),
        _when(lambda plain, turned: _plain_right(plain) and min(turned) > 0.5),
    ),
    Misconception(
        "judged-by-the-old-copy",
        "Turned, hardly anything is right: the guesses are compared with the copy as it was before "
        "it was turned. What follows has been turned too.",
        "ch7-induction",
        (_like(0.73, 0.07), _like(0.75, 0.1, 0.005)),
        _when(lambda plain, turned: _plain_right(plain) and max(turned) < 0.17),
    ),
    Misconception(
        "errors-counted",
        "This is the share of wrong answers. The right ones are wanted.",
        "ch7-induction",
        (_like(0.27, 0.69),),
        _when(lambda plain, turned: max(plain) < 0.4 and min(turned) > 0.5),
    ),
    Misconception(
        "lots-drawn",
        "This is what drawing lots gives, the same for both. Ask the model: how often is its "
        "likeliest letter the one that follows?",
        "ch7-induction",
        (_like(0.48, 0.48), _like(0.5, 0.47)),
        _when(
            lambda plain, turned: 0.4 < min(*plain, *turned) and max(*plain, *turned) < 0.56
        ),
    ),
    Misconception(
        "not-the-trained-model",
        "Next to nothing is right even where nothing is turned: this is a model before its "
        "training. Ask the one that was trained in this chapter.",
        "ch7-induction",
        (_like(0.02, 0.02, 0.005),),
        _when(lambda plain, turned: max(*plain, *turned) < 0.12),
    ),
)  # fmt: skip

EXPERIMENT = ExperimentExercise(
    id="ch7-experiment",
    title="The place, or the context?",
    link="ch7-induction",
    sections=SECTIONS,
    predicts=Between(0, 1),
    call="measure(shift, seed)",
    trials=_trials,
    results=("share",),
    holds=_holds,
    right=_like(0.74, 0.31),
    misconceptions=MISCONCEPTIONS,
    seeds=(0, 1),
)

EXERCISES = (EXPERIMENT,)
