"""The metrics of attention maps, one function each."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from attnkit import expect
from attnkit.patterns import definitions
from attnkit.patterns.definitions import Definition
from attnkit.patterns.reading import read_maps, read_sight
from attnkit.patterns.rows import Rows
from attnkit.patterns.sight import Sight

if TYPE_CHECKING:
    from attnkit.shapes import Float

#: No two places are farther apart, and int32 holds it.
FARTHEST = 1 << 30


def entropy(
    weights: Float[Tensor, "*lead n_queries n_keys"], mask: Any = None, query_mask: Any = None
) -> Float[Tensor, "*lead"]:
    """How evenly a query spreads its attention, in nats: the mean over the queries.

    .. math:: H_i = -\\sum_j A_{ij} \\ln A_{ij}, \\qquad 0 \\ln 0 = 0

    >>> entropy([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])  # 0 and ln 4
    tensor(0.6931)

    Args:
        weights: ``(..., T_q, T_k)``: a tensor of any floating dtype, a NumPy array or lists. Each
            row sums to 1, or is all zeros: a query that may see nothing, which does not count.
        mask: Boolean, True = may attend, broadcastable to the weights.
        query_mask: Boolean, True = this query counts, broadcastable to ``(..., T_q)``. The
            ``(batch, 1, 1, T_q)`` of :func:`attnkit.masks.padding_mask` is taken as well.

    Returns:
        A value for each map, ``(...)``, without gradient and on the CPU, float32 or float64 if
        that came; nan where no query counts.

    Raises:
        TypeError: No weights, or a mask that is not boolean.
        ValueError: Rows that are no weights (scores, NaN, sums other than 1), weight on a blocked
            key, or a mask that does not broadcast.
    """
    return _mean(definitions.ENTROPY, weights, mask, query_mask)


def normalized_entropy(
    weights: Float[Tensor, "*lead n_queries n_keys"], mask: Any = None, query_mask: Any = None
) -> Float[Tensor, "*lead"]:
    """The entropy as a share of what is possible, 0 to 1, row by row.

    .. math:: H_i / \\ln n_i

    where query i may see :math:`n_i` keys. Rows with fewer than two keys have none. A uniform
    causal head scores 1 at every length, if its mask is given: without it, all keys count as
    visible.

    >>> half = [[1.0, 0.0], [0.5, 0.5]]
    >>> normalized_entropy(half), normalized_entropy(half, [[True, False], [True, True]])
    (tensor(0.5000), tensor(1.))

    Arguments, result and errors are those of :func:`entropy`; nan where no row sees two keys.
    """
    return _mean(definitions.NORMALIZED_ENTROPY, weights, mask, query_mask)


def effective_keys(
    weights: Float[Tensor, "*lead n_queries n_keys"], mask: Any = None, query_mask: Any = None
) -> Float[Tensor, "*lead"]:
    """To how many keys a query attends, if it attended evenly: the mean of exp(entropy).

    >>> effective_keys([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]])  # 1 and 4
    tensor(2.5000)

    Arguments, result and errors are those of :func:`entropy`.
    """
    return _mean(definitions.EFFECTIVE_KEYS, weights, mask, query_mask)


def concentration(
    weights: Float[Tensor, "*lead n_queries n_keys"], mask: Any = None, query_mask: Any = None
) -> Float[Tensor, "*lead"]:
    """The largest weight of a query, the mean over the queries (confidence: Voita et al., 2019).

    >>> concentration([[1.0, 0.0, 0.0], [0.25, 0.5, 0.25]])
    tensor(0.7500)

    Arguments, result and errors are those of :func:`entropy`.
    """
    return _mean(definitions.CONCENTRATION, weights, mask, query_mask)


def diagonal_strength(
    weights: Float[Tensor, "*lead n_queries n_keys"],
    mask: Any = None,
    query_mask: Any = None,
    *,
    offset: int = 0,
    first_query: int | None = None,
) -> Float[Tensor, "*lead"]:
    """The weight on the key ``offset`` places after the query: −1 is the previous token.

    .. math:: \\operatorname{mean}_i A_{i,\\,i+o}

    over the queries that may see such a key. So a perfect previous-token head scores exactly 1 at
    every length, although its first query has no previous token.

    >>> weights = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> diagonal_strength(weights, offset=-1), diagonal_strength(weights)
    (tensor(1.), tensor(0.3333))

    Args:
        offset: Position of the key minus position of the query; negative is to the left.
        first_query: Position of the first query among the keys. None: the queries are the last
            ``T_q`` of the keys, as in causal self-attention with cached keys. 0: queries and keys
            are counted from 0, each on their own, as in cross-attention.

    The other arguments, result and errors are those of :func:`entropy`; a ValueError also where
    there are more queries than keys and no ``first_query``; nan where no query has such a key.
    """
    offset = max(-FARTHEST, min(expect.integer("offset", offset, at_least=None), FARTHEST))
    return _mean(definitions.diagonal(offset), weights, mask, query_mask, first_query)


def local_focus(
    weights: Float[Tensor, "*lead n_queries n_keys"],
    mask: Any = None,
    query_mask: Any = None,
    *,
    radius: int = 3,
    first_query: int | None = None,
) -> Float[Tensor, "*lead"]:
    """The weight within ``radius`` places of the query, the mean over the queries.

    .. math:: \\operatorname{mean}_i \\sum_{|i-j| \\le r} A_{ij}

    With few keys it says little: a radius of 3 covers 4 tokens whole, and every head scores 1.

    >>> even = torch.full((5, 5), 0.2)
    >>> local_focus(even, radius=1)  # 2, 3, 3, 3 and 2 of 5 keys
    tensor(0.5200)

    Args:
        radius: The farthest places that are near, on both sides; 0 or more.

    The other arguments, result and errors are those of :func:`diagonal_strength`.
    """
    radius = min(expect.integer("radius", radius), FARTHEST)
    return _mean(definitions.local(radius), weights, mask, query_mask, first_query)


def mean_distance(
    weights: Float[Tensor, "*lead n_queries n_keys"],
    mask: Any = None,
    query_mask: Any = None,
    *,
    first_query: int | None = None,
) -> Float[Tensor, "*lead"]:
    """How many places away the attended keys are on average.

    .. math:: \\operatorname{mean}_i \\sum_j A_{ij} |i - j|

    >>> mean_distance([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.5]])  # 0, 1 and 1
    tensor(0.6667)

    Arguments, result and errors are those of :func:`diagonal_strength`.
    """
    return _mean(definitions.MEAN_DISTANCE, weights, mask, query_mask, first_query)


def sink_mass(
    weights: Float[Tensor, "*lead n_queries n_keys"], mask: Any = None, query_mask: Any = None
) -> Float[Tensor, "*lead"]:
    """The weight on the first key, over the queries that may see it and have another choice.

    At 64 tokens Gu et al. (2024) call a head with more than 0.3 a sink. The first key is the first
    that any query of the map may see: padding on the left is passed over.

    >>> weights = [[1.0, 0.0, 0.0], [0.75, 0.25, 0.0], [0.25, 0.5, 0.25]]
    >>> sink_mass(weights, torch.ones(3, 3).tril() == 1)  # 0.75 and 0.25; the first has no choice
    tensor(0.5000)

    Arguments, result and errors are those of :func:`entropy`.
    """
    return _mean(definitions.SINK, weights, mask, query_mask)


def induction_score(
    weights: Float[Tensor, "*lead n_queries n_keys"],
    period: int,
    mask: Any = None,
    query_mask: Any = None,
    *,
    first_query: int | None = None,
) -> Float[Tensor, "*lead"]:
    """How much the second copy of a repeated sequence attends to what came next in the first.

    .. math:: \\operatorname{mean}_i A_{i,\\,i-(p-1)}, \\qquad i \\text{ in the second copy}

    The last keys must be two copies of ``period`` tokens; what stands before them, such as a
    beginning-of-sequence token, is not looked at (Olsson et al., 2022). A high score does not
    say that the head copies: a head that suppresses the token scores as high.

    >>> weights = torch.zeros(5, 5)  # BOS a b a b
    >>> weights[[0, 1, 2, 3, 4], [0, 0, 0, 2, 3]] = 1  # the second a attends to the first b
    >>> induction_score(weights, period=2)
    tensor(1.)

    Args:
        period: Number of tokens of a copy; at least 1.

    The other arguments, result and errors are those of :func:`diagonal_strength`; a ValueError also
    where there are fewer than ``2 * period`` keys, or where no query may see the last one.
    """
    period = expect.integer("period", period, at_least=1)
    return _mean(definitions.induction(period), weights, mask, query_mask, first_query)


def uniform(
    weights: Float[Tensor, "*lead n_queries n_keys"] | Sequence[int], mask: Any = None
) -> Float[Tensor, "*lead n_queries n_keys"]:
    """The weights of a head that attends evenly to all keys that it may see: the baseline.

    The baseline of a metric ``f`` is ``f(uniform(weights, mask), mask, query_mask)``.

    >>> uniform((2, 3), [[True, False, False], [True, True, False]])
    tensor([[1.0000, 0.0000, 0.0000],
            [0.5000, 0.5000, 0.0000]])

    Args:
        weights: Weights whose shape it takes, or a shape ``(..., T_q, T_k)``. Where a row of the
            weights is all zeros, it is so here.
        mask: Boolean, True = may attend, broadcastable to the weights.

    Returns:
        New weights of that shape, float32, or float64 if that came; rows that may see nothing are
        zeros.

    Raises:
        TypeError: No weights and no shape of integers, or a mask that is not boolean.
        ValueError: Fewer than two axes, an axis of size 0, a mask that does not broadcast.
    """
    if isinstance(weights, list | tuple) and all(isinstance(n, numbers.Real) for n in weights):
        sizes = [expect.integer("a size of the shape", n) for n in weights]
        weights = torch.ones(()).expand(sizes)
    maps = read_maps(weights)
    visible = read_sight(mask, maps.shape)
    row = torch.stack([p.any(-1) for p in maps.pieces]).reshape(maps.shape[:-1])[..., None]
    visible = row if visible is None else row & visible
    even = visible.to(maps.dtype).expand(maps.shape)
    return even / even.sum(-1, keepdim=True).clamp_min(1)


def _mean(
    definition: Definition, weights: Any, mask: Any, query_mask: Any, first_query: Any = None
) -> Tensor:
    """The mean of a metric over the rows that count and have it."""
    maps = read_maps(weights)
    rows = Rows(maps, Sight(maps.shape, mask, query_mask, first_query), [definition])
    return mean_over(rows.values(definition), rows.defined(definition)).to(maps.dtype)


def mean_over(values: Tensor, defined: Tensor) -> Tensor:
    """The mean of ``(..., T_q)`` over the queries that are defined, in float64; nan of none."""
    values = torch.where(defined, values.double(), 0.0)
    return values.sum(-1) / defined.expand(values.shape).sum(-1)
