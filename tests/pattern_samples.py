"""Attention maps for tests, and every metric written out once more: row by row, in float64."""

import math

import numpy as np
import torch

nan = math.nan


def some(*shape, mask=None, seed=0, dtype=torch.float32):
    """Random weights under a mask; a row that may see nothing is zeros."""
    generator = torch.Generator().manual_seed(seed)
    scores = 2 * torch.randn(shape, generator=generator, dtype=torch.float64)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1).nan_to_num(0.0).to(dtype)


def previous_head(n):
    """A perfect previous-token head; its first query has no choice."""
    weights = torch.zeros(n, n)
    weights[range(n), [0, *range(n - 1)]] = 1
    return weights


def uniform_causal(n, dtype=torch.float32):
    causal = torch.ones(n, n, dtype=dtype).tril()
    return causal / causal.sum(-1, keepdim=True)


def reference(name, weights, mask=None, query_mask=None, *, first=None, **options):
    """A metric of one map ``(T_q, T_k)``, in plain loops."""
    weights = np.asarray(weights, dtype=np.float64)
    n_queries, n_keys = weights.shape
    mask = np.ones(weights.shape, bool) if mask is None else np.broadcast_to(mask, weights.shape)
    counts = np.ones(n_queries, bool) if query_mask is None else np.asarray(query_mask)
    first = n_keys - n_queries if first is None else first
    rows = [i for i in range(n_queries) if counts[i] and mask[i].any() and weights[i].any()]
    sink = min(
        (j for i in range(n_queries) if counts[i] for j in np.flatnonzero(mask[i])), default=0
    )
    values = []
    for i in rows:
        value = _row(name, weights[i], np.flatnonzero(mask[i]), i + first, sink, **options)
        if value is not None:
            values.append(value)
    return sum(values) / len(values) if values else nan


def _row(name, row, visible, position, sink, *, offset=0, radius=3, period=None):
    n = len(visible)
    entropy = -sum(row[j] * math.log(row[j]) for j in visible if row[j] > 0)
    if name == "entropy":
        return entropy
    if name == "normalized_entropy":
        return entropy / math.log(n) if n >= 2 else None
    if name == "effective_keys":
        return math.exp(entropy)
    if name == "concentration":
        return max(row)
    if name == "diagonal_strength":
        return row[position + offset] if position + offset in visible else None
    if name == "local_focus":
        return sum(row[j] for j in visible if abs(j - position) <= radius)
    if name == "mean_distance":
        return sum(row[j] * abs(j - position) for j in visible)
    if name == "sink_mass":
        return row[sink] if n >= 2 and sink in visible else None
    if name == "induction_score":
        key = position - (period - 1)
        return row[key] if position >= len(row) - period and key in visible else None
    raise KeyError(name)
