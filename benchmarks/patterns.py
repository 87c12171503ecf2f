"""What all metrics of all heads cost, against the softmax that made the weights and other ways."""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from torch import Tensor

from attnkit import causal_mask
from attnkit.patterns import describe_heads
from benchmarks.measure import peak_bytes, time_ratio
from benchmarks.report import Settings, Table

LAYERS, HEADS = 12, 12
TOKENS = (128, 512)
#: Ours over the peer's. Few tokens stay in the cache: the first two targets are of many.
TARGETS = {"softmax": 1.0, "one entropy, whole array": 1.0, "one entropy, row by row": 0.3}
MANY = 512
COLUMNS = (
    "tokens",
    "mask",
    "against",
    "target",
    "ratio",
    "quartiles",
    "describe",
    "memory",
    "pairs",
)
NOTE = (
    f"describe_heads on {LAYERS} × {HEADS} heads, float32: every row checked, ten metrics with "
    "their baselines, kinds. Against the softmax that made the weights, against one entropy of the "
    "whole array, and against one entropy in a Python loop over the rows. Memory: peak beside the "
    "weights, over theirs."
)


def section(settings: Settings) -> Table:
    """Every length against every peer, without a mask and with a causal one."""
    rows, missed = [], []
    for n in TOKENS[:1] if settings.quick else TOKENS:
        for mask in (None, causal_mask(n)):
            scores = _scores(n, mask, settings.seed)
            weights = scores.softmax(-1)
            memory = peak_bytes(lambda w=weights, m=mask: describe_heads(w, m)) / weights.nbytes
            for name, peer in _peers(scores, weights).items():
                ratio = time_ratio(
                    lambda w=weights, m=mask: describe_heads(w, m),
                    peer,
                    seconds=0.2 if settings.quick else 5.0,
                    clock=settings.clock,
                    at_least=5,
                )
                bound = n >= MANY or "row by row" in name
                row = [
                    str(n),
                    "none" if mask is None else "causal",
                    name,
                    f"≤ {TARGETS[name]:g}" if bound else "none",
                    f"{ratio.median:.2f}",
                    f"{ratio.lower:.2f} … {ratio.upper:.2f}",
                    f"{1e3 * ratio.median * ratio.peer_seconds:.0f} ms",
                    f"{memory:.2f}",
                    str(ratio.pairs),
                ]
                rows.append(row)
                print(*row, sep="  ", file=sys.stderr, flush=True)
                if bound and ratio.median > TARGETS[name]:
                    missed.append(f"{n} tokens, mask {row[1]}, against {name}: {row[4]}")
    return Table("Head patterns", NOTE, COLUMNS, rows, missed)


def _scores(n: int, mask: Tensor | None, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(LAYERS, 1, HEADS, n, n, generator=generator)
    return scores if mask is None else scores.masked_fill(~mask, -torch.inf)


def _peers(scores: Tensor, weights: Tensor) -> dict[str, Callable[[], object]]:
    return {
        "softmax": lambda: scores.softmax(-1),
        "one entropy, whole array": lambda: _entropy(weights),
        "one entropy, row by row": lambda: [_entropy(row) for row in weights.flatten(0, -2)],
    }


def _entropy(weights: Tensor) -> Tensor:
    return -torch.xlogy(weights, weights).sum(-1)
