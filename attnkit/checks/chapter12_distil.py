"""Exercise ch12-distil, part one: how far is a student's map from its teacher's?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks import _wrong_distil as wd
from attnkit.checks._engine import FunctionExercise, Misconception, Seen, Trial
from attnkit.checks._head_maps import allowed, causal
from attnkit.checks._wrong_attention import softmax
from attnkit.checks.chapter12_claims import SECTIONS


def _wrong(name: str, message: str, *wrong: Callable) -> Misconception:
    return Misconception(name, message, "ch12-distillation", wrong)


def _zero_times_log(trials: Sequence[Seen]) -> bool:
    """Right where no weight is 0, and nan where one is."""

    def has_a_zero(seen: Seen) -> bool:
        return any(
            (np.asarray(seen.trial.inputs[name]) == 0).any() for name in ("student", "teacher")
        )

    with_zero = [seen for seen in trials if has_a_zero(seen)]
    return (
        all(seen.right for seen in trials if seen not in with_zero)
        and all(seen.shaped and (seen.right or np.isnan(seen.got["loss"])) for seen in with_zero)
        and any(np.isnan(seen.got["loss"]) for seen in with_zero)
    )


def _maps(mask: np.ndarray, shape: tuple[int, ...], outside: float, seed: int) -> dict:
    """Weights that sum to 1 over the allowed keys; what stands outside counts for nothing."""
    draw = np.random.default_rng(seed).normal
    mask = np.broadcast_to(mask, (*shape, *mask.shape[-2:]))
    maps = {}
    for name in ("student", "teacher"):
        scores = np.where(mask, draw(0, 1.5, mask.shape), -np.inf)
        weights = softmax(np.where(mask.any(axis=-1, keepdims=True), scores, 0.0)).round(2)
        maps[name] = np.where(mask, weights, outside * (1 if name == "student" else 2))
    return maps


def _trial(name: str, mask: np.ndarray, *shape: int, outside: float = 0.0, seed: int = 0) -> Trial:
    return Trial(name, {**_maps(mask, shape, outside, seed), "mask": mask})


_EMPTY = allowed("xx.", "xxx", "...")
#: The second sentence of two has one real query.
_BATCH = np.stack([allowed("xxx", "xx."), allowed("xxx", "...")])[:, None]
_TRIALS = (
    Trial(
        "one query, two keys",
        {
            "student": np.array([[0.5, 0.5]]),
            "teacher": np.array([[0.8, 0.2]]),
            "mask": np.array([[True, True]]),
        },
    ),
    _trial("two queries, three keys, no mask", np.ones((2, 3), bool)),
    _trial("something in the blocked cells", allowed("xx.", "xxx"), outside=0.2, seed=1),
    Trial(
        "a teacher that looks at one key",
        {
            "student": np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]),
            "teacher": np.array([[0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]),
            "mask": np.ones((2, 3), bool),
        },
    ),
    _trial("two heads", np.ones((2, 2), bool), 2, seed=4),
    _trial("a query without a key", _EMPTY, outside=0.1, seed=6),
    _trial("zeros in the blocked cells, causal", causal(3), seed=7),
    _trial("two sentences", _BATCH, 2, 1, outside=0.15, seed=16),
)

MISCONCEPTIONS = (
    Misconception(
        "zero-times-log-of-zero",
        "It gives nan as soon as a weight is 0: ln(0) is −∞, and 0 · −∞ is nan, also times a mask "
        "of 0. Put 1 in the place of what does not count, before ln.",
        "ch12-distillation",
        (wd.of_cells(wd.naive),),
        when=_zero_times_log,
    ),
    _wrong(
        "direction-reversed",
        "This is KL(student ‖ teacher). The teacher's weights weigh here: what it looks at counts, "
        "and F.kl_div takes the student's logarithm first.",
        wd.of_cells(lambda s, t, mask: wd.terms(t, s, mask)),
        wd.of_cells(lambda s, t, mask: -wd.terms(t, s, mask)),
    ),
    _wrong(
        "entropy-left-in",
        "This is the cross-entropy, −Σ t ln s. Its gradient is the same, but it is not 0 for a "
        "student that looks where the teacher looks: ln t is missing.",
        wd.of_cells(lambda s, t, mask: wd.where(mask & (t > 0), -t * np.log(s))),
    ),
    _wrong(
        "both-directions",
        "Both directions of the divergence are taken together. Asked for is one, KL(teacher ‖ "
        "student).",
        wd.of_cells(lambda s, t, mask: wd.terms(s, t, mask) + wd.terms(t, s, mask)),
        wd.of_cells(lambda s, t, mask: (wd.terms(s, t, mask) + wd.terms(t, s, mask)) / 2),
        wd.of_cells(wd.jensen_shannon),
    ),
    _wrong(
        "queries-without-a-key-counted",
        "Queries without any key take part in the mean with 0. They have nothing to learn: leave "
        "them out, mask.any(-1).",
        wd.of_cells(finish=lambda cells, mask: cells.sum(axis=-1).mean()),
    ),
    _wrong(
        "mask-not-used",
        "What stands in blocked cells is counted. F.kl_div knows no mask: add up over the keys "
        "only that the query may attend to, and divide by the number of queries.",
        wd.of_cells(lambda s, t, mask: wd.terms(s, t, np.ones_like(mask))),
        wd.of_cells(
            lambda s, t, mask: wd.terms(s, t, np.ones_like(mask)),
            lambda cells, mask: cells.sum(axis=-1).mean(),
        ),
        wd.of_cells(
            lambda s, t, mask: wd.terms(s, t, np.ones_like(mask)),
            lambda cells, mask: cells.sum() / len(cells),
        ),
        wd.of_cells(
            lambda s, t, mask: wd.terms(s, t, np.ones_like(mask)),
            lambda cells, mask: cells.mean(),
        ),
    ),
    _wrong(
        "polarity-flipped",
        "The blocked cells are counted and the allowed ones are not. True = may attend.",
        wd.of_cells(lambda s, t, mask: wd.terms(s, t, ~mask)),
        lambda s, t, mask: wd.right(s, t, ~mask),
    ),
    _wrong(
        "averaged-over-the-keys",
        "The mean is taken over the cells, which makes it smaller the more keys there are. Add up "
        "over the keys, average over the queries: F.kl_div does not do so by itself.",
        wd.of_cells(finish=lambda cells, mask: cells.mean()),
        wd.of_cells(finish=lambda cells, mask: cells.sum() / mask.sum()),
        wd.of_cells(finish=lambda cells, mask: cells.mean(axis=-1)[mask.any(axis=-1)].mean()),
    ),
    _wrong(
        "not-averaged-over-all-queries",
        "The divergences are added up, over all queries or over some axes: \"batchmean\" divides "
        "by the first axis only. Divide by the number of queries of all heads and sentences.",
        wd.of_cells(finish=lambda cells, mask: cells.sum()),
        wd.of_cells(finish=lambda cells, mask: cells.sum() / len(cells)),
    ),
    _wrong(
        "mean-of-means",
        "Each sentence has a mean of its own, and these are averaged: a query of a short sentence "
        "counts more than one of a long one. Take one mean over all queries.",
        wd.of_cells(finish=wd.mean_of_means),
    ),
    _wrong(
        "one-number-for-each-query",
        "The divergences of the queries came back. A loss is one number: their mean.",
        lambda s, t, mask: wd.divergences(s, t, wd.spread(t, mask)),
        lambda s, t, mask: wd.divergences(s, t, wd.spread(t, mask))[
            wd.spread(t, mask).any(axis=-1)
        ],
    ),
    _wrong(
        "sign-reversed",
        "It is below 0: who makes it small drives the student away from the teacher. A divergence "
        "is never below 0, ln (t / s) and not ln (s / t).",
        wd.of_cells(lambda s, t, mask: -wd.terms(s, t, mask)),
    ),
    _wrong(
        "bits-not-nats",
        "The logarithm has the base 2. Asked for are nats: the natural logarithm.",
        wd.of_cells(lambda s, t, mask: wd.terms(s, t, mask) / np.log(2)),
    ),
    _wrong(
        "logarithm-forgotten",
        "The student's weight stands where its logarithm belongs: F.kl_div wants student.log() in "
        "front.",
        wd.of_cells(
            lambda s, t, mask: wd.where(mask & (t > 0), t * (np.log(np.where(t > 0, t, 1)) - s))
        ),
    ),
    _wrong(
        "weights-taken-for-scores",
        "A softmax was taken of the weights. They are weights already and sum to 1: a second "
        "softmax makes them nearly even.",
        wd.with_maps(wd.softmax_of_weights, both=True),
        wd.with_maps(wd.softmax_of_weights, both=False),
        wd.with_maps(wd.softmax_of_everything, both=True),
        wd.with_maps(wd.softmax_of_everything, both=False),
    ),
    _wrong(
        "ratios-not-weighted",
        "The logarithms are added up without the teacher's weights. A key that the teacher hardly "
        "looks at must hardly count.",
        wd.of_cells(lambda s, t, mask: wd.where(mask & (t > 0), np.log(np.where(t > 0, t, 1) / s))),
    ),
    _wrong(
        "another-distance",
        "This is a squared or an absolute difference. Asked for is the divergence, Σ t ln (t / s).",
        wd.of_cells(lambda s, t, mask: wd.where(mask, (s - t) ** 2)),
        wd.of_cells(lambda s, t, mask: wd.where(mask, np.abs(s - t))),
        wd.of_cells(lambda s, t, mask: wd.where(mask, np.abs(s - t) / 2)),
        wd.of_cells(
            lambda s, t, mask: (s - t) ** 2, lambda cells, mask: cells.mean()
        ),
    ),
)  # fmt: skip

DISTIL = FunctionExercise(
    id="ch12-distil",
    title="Attention distillation",
    link="ch12-distillation",
    call="distillation_loss(student, teacher, mask)",
    results=("loss",),
    sections=SECTIONS,
    right=wd.right,
    trials=_TRIALS,
    misconceptions=MISCONCEPTIONS,
    styles=("torch", "numpy", "torch32"),
)

EXERCISES = (DISTIL,)
