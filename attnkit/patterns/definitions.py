"""What each metric is: of a row of weights, of an even row, and for which rows it is defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from attnkit.patterns.sight import Linear, Sight


class Definition(NamedTuple):
    """A metric of one row; that of a map is the mean over the rows that count and have it."""

    #: "entropy", "largest", "first" or the weights of a sum over the keys.
    of: str | Linear
    #: The value of each row, from what ``of`` says.
    value: Callable[[Tensor, Sight], Tensor]
    #: The rows that have the metric.
    defined: Callable[[Sight], Tensor]
    #: The value of the uniform head, row by row.
    even: Callable[[Sight], Tensor]


def _as_it_is(rows: Tensor, sight: Sight) -> Tensor:
    return rows


def _share(sight: Sight) -> Tensor:
    return 1 / sight.n.double()


def _counted(sight: Sight) -> Tensor:
    return sight.counted


def _has_choice(sight: Sight) -> Tensor:
    return sight.counted & (sight.n >= 2)


ENTROPY = Definition("entropy", _as_it_is, _counted, lambda sight: sight.n.double().log())
NORMALIZED_ENTROPY = Definition(
    "entropy",
    lambda rows, sight: rows / sight.n.to(rows.dtype).log(),
    _has_choice,
    lambda sight: torch.ones_like(sight.n, dtype=torch.float64),
)
EFFECTIVE_KEYS = Definition(
    "entropy", lambda rows, sight: rows.exp(), _counted, lambda sight: sight.n.double()
)
CONCENTRATION = Definition("largest", _as_it_is, _counted, _share)
SINK = Definition(
    "first",
    _as_it_is,
    lambda sight: _has_choice(sight) & sight.sees(sight.first_key[..., None]),
    _share,
)


MEAN_DISTANCE = Definition(torch.abs, _as_it_is, _counted, lambda sight: sight.even(torch.abs))


def diagonal(offset: int) -> Definition:
    """The weight on the key ``offset`` places after the query, for rows that may see it."""
    return Definition(
        lambda offsets: offsets == offset,
        _as_it_is,
        lambda sight: sight.counted & sight.sees(sight.positions + offset),
        _share,
    )


def local(radius: int) -> Definition:
    """The weight within ``radius`` places of the query."""

    def near(offsets: Tensor) -> Tensor:
        return offsets.abs() <= radius

    return Definition(near, _as_it_is, _counted, lambda sight: sight.even(near))


def induction(period: int) -> Definition:
    """In the second copy, the weight on the key after the query's own token in the first copy."""
    one = diagonal(1 - period)

    def second_copy(sight: Sight) -> Tensor:
        n_keys = sight.shape[-1]
        if n_keys < 2 * period:
            raise ValueError(
                f"the last keys must be two copies of period={period} tokens, {2 * period} keys; "
                f"got {n_keys}. The period is the length of one copy."
            )
        ends = sight.sees(torch.tensor([n_keys - 1])).any(-1)
        if (sight.counted.any(-1) & ~ends).any():
            raise ValueError(
                "the second copy must end at the last key, and the mask hides that key. Padding "
                "behind the sequences? Describe those of one length at a time, without it."
            )
        return one.defined(sight) & (sight.positions >= n_keys - period)

    return one._replace(defined=second_copy)
