"""Exercise ch6-experiment: what a translator loses when all heads use their average."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attnkit.checks._engine import Misconception, Seen, Trial
from attnkit.checks._experiment import ExperimentExercise
from attnkit.checks._predictions import Between
from attnkit.checks._samples import measured_by, spread
from attnkit.checks.chapter06_claims import SECTIONS

#: The six attentions of chapter 6's translator, in the order of ``seen``.
ATTENTIONS = (
    *(f"body.encoder.layers.{layer}.self_attn" for layer in (0, 1)),
    *(
        f"body.decoder.layers.{layer}.{kind}"
        for layer in (0, 1)
        for kind in ("self_attn", "multihead_attn")
    ),
)


def _trials(seeds: Sequence[int]) -> tuple[Trial, ...]:
    """All six with every seed, and none behind them: there shows what was not taken back."""

    def trial(words: str, names: Sequence[str], seed: int) -> Trial:
        inputs = {"names": list(names), "seed": seed}
        return Trial(f"{words} averaged, seed {seed}", inputs, compared=bool(names))

    return *(trial("all six", ATTENTIONS, seed) for seed in seeds), trial("none", (), seeds[-1])


def _shares(trials: Sequence[Seen]) -> tuple[float, list[float]]:
    """Shares with none averaged, and with all six, by seed."""
    shares = measured_by(trials, "names")
    return shares[()][0], shares[ATTENTIONS]


def _hundredths(shares: Sequence[float]) -> bool:
    return all(abs(100 * share - round(100 * share)) < 1e-3 for share in shares)


def _holds(trials: Sequence[Seen]) -> bool:
    # Fourteen seeds of 100 numbers: none 0.99 to 1.00, all six 0.50 to 0.66.
    none, every = _shares(trials)
    return none > 0.93 and 0.3 < min(every) and max(every) < 0.85 and _hundredths(every)


def _when(condition: Callable[[float, list[float]], bool]) -> Callable:
    return lambda trials: condition(*_shares(trials))


def _like(none: float, every: float, width: float = 0.07) -> Callable:
    return spread({0: none, 6: every}, width, of=len)


MISCONCEPTIONS = (
    Misconception(
        "errors-counted",
        "This is the share of numbers with a mistake. The share that comes out right is wanted.",
        "ch6-average",
        (_like(0.06, 0.48),),
        _when(lambda none, every: none < 0.07 and min(every) > 0.15),
    ),
    Misconception(
        "not-the-trained-model",
        "The model gets nothing right, not even with no attention averaged. Ask the trained one, "
        "model, on the numerals of task.",
        "ch6-capture",
        (_like(0.0, 0.0, 0),),
        _when(lambda none, every: max(none, *every) < 0.07),
    ),
    Misconception(
        "averages-left-on",
        "With none averaged the share is as low as with all six: averages of an earlier call are "
        "still in place, or the names are not looked at. Enter those of the list in a with block, "
        "which takes them back.",
        "ch6-capture",
        (_like(0.58, 0.58), _like(0.55, 0.6)),
        _when(lambda none, every: none < 0.85 and max(every) < 0.85),
    ),
    Misconception(
        "not-of-a-hundred",
        "These are not shares of a hundred numbers: single words were counted, or other numbers "
        "than the hundred. One counts as right when all of its words are.",
        "ch6-capture",
        (_like(0.9987, 0.6694, 0.013), _like(0.9989, 0.9341, 0.013), _like(0.995, 0.585, 0.0245)),
        _when(lambda none, every: none > 0.93 and not _hundredths(every)),
    ),
    Misconception(
        "not-all-at-once",
        "With all six names the share is nearly what it is with none: they were not averaged, or "
        "one at a time. ExitStack keeps each one entered until the block ends; translate inside.",
        "ch6-average",
        (_like(0.99, 0.99, 0), _like(0.99, 0.97, 0)),
        _when(lambda none, every: none > 0.93 and min(every) >= 0.85),
    ),
)

EXPERIMENT = ExperimentExercise(
    id="ch6-experiment",
    title="Does the model need what the average hides?",
    link="ch6-average",
    sections=SECTIONS,
    predicts=Between(0, 1),
    call="measure(names, seed)",
    trials=_trials,
    results=("share",),
    holds=_holds,
    right=_like(1.0, 0.6),
    misconceptions=MISCONCEPTIONS,
    seeds=(0, 1),
)

EXERCISES = (EXPERIMENT,)
