"""Maps on which every wrong entropy shows, and what an entropy shows by nan or by a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attnkit.checks._engine import Seen, Trial
from attnkit.checks._head_maps import allowed, causal, maps


def _trial(name: str, mask: np.ndarray, heads: int, seed: int) -> Trial:
    return Trial(name, {"weights": maps(heads, mask, seed=seed), "mask": mask})


EMPTY, NO_CHOICE = "a query that may see nothing", "no query has a choice"
TRIALS = (
    Trial(
        "two tokens, causal",
        {"weights": np.array([[[1.0, 0.0], [0.25, 0.75]]]), "mask": causal(2)},
    ),
    Trial(
        "two tokens, no mask",
        {"weights": np.array([[[0.9, 0.1], [0.3, 0.7]]]), "mask": np.ones((2, 2), bool)},
    ),
    Trial(
        "two queries, three keys",
        {
            "weights": np.array([[[0.4, 0.6, 0.0], [0.2, 0.7, 0.1]]]),
            "mask": allowed("xx.", "xxx"),
        },
    ),
    Trial(
        "a weight of 0 that is allowed",
        {
            "weights": np.array([[[1.0, 0.0, 0.0], [0.35, 0.65, 0.0], [0.0, 0.15, 0.85]]]),
            "mask": causal(3),
        },
    ),
    Trial(
        EMPTY,
        {
            "weights": np.array([[[0.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.1, 0.3, 0.6]]]),
            "mask": allowed("...", "xx.", "xxx"),
        },
        compared=False,
    ),
    Trial(NO_CHOICE, {"weights": np.eye(2)[None], "mask": allowed("x.", ".x")}, compared=False),
    _trial("two heads, four tokens, causal", causal(4), 2, 1),
    _trial("three heads, a window", allowed("xx...", "xxx..", ".xxx.", "..xxx"), 3, 2),
    Trial(
        "a batch of two",
        {"weights": np.stack([maps(2, causal(3), seed=s) for s in (3, 4)]), "mask": causal(3)},
        compared=False,
        required=False,
    ),
)


def _counts(seen: Seen) -> np.ndarray:
    return np.asarray(seen.trial.inputs["mask"]).sum(axis=-1)


def _nan(seen: Seen) -> bool:
    """A nan for some head that has an entropy."""
    if not seen.shaped:
        return False
    got = seen.got["entropy"].reshape(seen.expected["entropy"].shape)
    return bool((np.isnan(got) & ~np.isnan(seen.expected["entropy"])).any())


def _zeros(seen: Seen) -> np.ndarray:
    """Which rows have a weight of 0, in some head."""
    return (np.asarray(seen.trial.inputs["weights"]) == 0).any(axis=-1).any(axis=0)


def nan_from_a_zero(trials: Sequence[Seen]) -> bool:
    """Where a row that counts has a weight of 0, and perhaps where another row has; else right."""

    def as_expected(seen: Seen) -> bool:
        if (_zeros(seen) & (_counts(seen) >= 2)).any():
            return _nan(seen)
        return seen.right or (bool(_zeros(seen).any()) and _nan(seen))

    return all(map(as_expected, trials))


def nan_from_one_key(trials: Sequence[Seen]) -> bool:
    """Right until a row with one key comes."""
    one = [seen for seen in trials if (_counts(seen) == 1).any()]
    several = [seen for seen in trials if (_counts(seen) >= 2).all()]
    return all(seen.right for seen in several) and all(
        _nan(seen) or np.isnan(seen.expected["entropy"]).all() for seen in one
    )


def a_number_on(trial: str) -> Callable[[Sequence[Seen]], bool]:
    """Right but on one trial, where numbers stand that mean nothing."""

    def when(trials: Sequence[Seen]) -> bool:
        rest = [seen for seen in trials if seen.trial.name != trial]
        seen = next(seen for seen in trials if seen.trial.name == trial)
        number = seen.shaped and bool(np.isfinite(seen.got["entropy"]).all())
        return number and all(other.right for other in rest)

    return when
