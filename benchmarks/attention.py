"""attnkit's attention against PyTorch's, and against the formula written out."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnkit import MultiHeadAttention, causal_mask, padding_mask, scaled_dot_product_attention
from benchmarks.measure import peak_bytes, time_ratio
from benchmarks.report import Settings, Table

#: batch, tokens, d_model, heads
SIZES = ((8, 64, 128, 4), (4, 256, 256, 8), (2, 512, 512, 8))
COLUMNS = ("against", "target", "B × T × d, heads", "mask", "pass", "ratio", "quartiles", "peer",
           "memory", "pairs")  # fmt: skip
NOTE = (
    "Ratio: our time over the peer's, median of pairs timed in turn. Memory: our peak over the "
    "peer's, from the profiler's record of allocations."
)


class Case(NamedTuple):
    against: str
    target: float
    ours: Callable[[], Tensor]
    peer: Callable[[], Tensor]
    parameters: list[Tensor]


def section(settings: Settings) -> Table:
    """Every size, mask and pass of the three comparisons."""
    generator = torch.Generator().manual_seed(settings.seed)
    torch.manual_seed(settings.seed)
    rows, missed = [], []
    for size in SIZES[:1] if settings.quick else SIZES:
        for mask_name, mask in _masks(size, generator):
            for case in _cases(size, mask_name, mask, generator):
                for name, wrap in (("forward", _forward), ("forward + backward", _backward)):
                    row, ratio = _row(case, size, mask_name, name, wrap, settings)
                    rows.append(row)
                    print(*row, sep="  ", file=sys.stderr, flush=True)
                    if ratio > case.target:
                        missed.append(
                            f"{' '.join(row[i] for i in (0, 2, 3, 4, 5))}, target {row[1]}"
                        )
    return Table("Attention", NOTE, COLUMNS, rows, missed)


def _row(case, size, mask_name, pass_name, wrap, settings) -> tuple[list[str], float]:
    ours, peer = wrap(case.ours, case.parameters), wrap(case.peer, case.parameters)
    seconds = 0.1 if settings.quick else 2.0
    ratio = time_ratio(ours, peer, seconds=seconds, clock=settings.clock)
    memory = peak_bytes(ours) / peak_bytes(peer)
    batch, tokens, d_model, heads = size
    return [
        case.against,
        f"≤ {case.target:g}",
        f"{batch} × {tokens} × {d_model}, {heads}",
        mask_name,
        pass_name,
        f"{ratio.median:.2f}",
        f"{ratio.lower:.2f} … {ratio.upper:.2f}",
        f"{1e3 * ratio.peer_seconds:.2f} ms",
        f"{memory:.2f}",
        str(ratio.pairs),
    ], ratio.median


def _masks(size, generator: torch.Generator) -> Iterator[tuple[str, Tensor | None]]:
    batch, tokens, *_ = size
    yield "none", None
    yield "causal", causal_mask(tokens)
    lengths = torch.randint(tokens // 2, tokens + 1, (batch,), generator=generator)
    yield "padding", padding_mask(lengths, tokens)


def _cases(size, mask_name: str, mask: Tensor | None, generator) -> Iterator[Case]:
    batch, tokens, d_model, heads = size
    d_head = d_model // heads
    query, key, value = (
        torch.randn(batch, heads, tokens, d_head, generator=generator, requires_grad=True)
        for _ in range(3)
    )
    yield Case(
        "three-line formula",
        1.1,
        lambda: scaled_dot_product_attention(query, key, value, mask).output,
        lambda: formula(query, key, value, mask)[0],
        [query, key, value],
    )
    x = torch.randn(batch, tokens, d_model, generator=generator, requires_grad=True)
    ours = MultiHeadAttention(d_model, heads).eval()
    parameters = [x, *ours.parameters()]
    yield Case(
        "linear + F.sdpa + linear",
        1.05,
        lambda: ours(x, mask=mask, need_weights=False).output,
        lambda: fused(ours, x, mask),
        parameters,
    )
    theirs = nn.MultiheadAttention(d_model, heads, batch_first=True).eval()
    masks = {}
    if mask_name == "causal":
        masks = {"attn_mask": ~mask}
    elif mask_name == "padding":
        masks = {"key_padding_mask": ~mask[:, 0, 0]}
    yield Case(
        "nn.MultiheadAttention, weights",
        1.3,
        lambda: ours(x, mask=mask).output,
        lambda: theirs(x, x, x, average_attn_weights=False, **masks)[0],
        [*parameters, *theirs.parameters()],
    )


def formula(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None):
    """The formula as most courses write it: no check, NaN for a row that may see nothing."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1)
    return weights @ value, weights


def fused(ours: MultiHeadAttention, x: Tensor, mask: Tensor | None) -> Tensor:
    """Three projections, PyTorch's kernel, a projection, without a single check."""
    batch, tokens, d_model = x.shape
    query, key, value = (
        projection(x).view(batch, tokens, ours.num_heads, ours.d_head).transpose(1, 2)
        for projection in (ours.query_proj, ours.key_proj, ours.value_proj)
    )
    heads = F.scaled_dot_product_attention(query, key, value, mask)
    return ours.output_proj(heads.transpose(1, 2).reshape(batch, tokens, d_model))


def _forward(call: Callable[[], Tensor], parameters: list[Tensor]) -> Callable[[], object]:
    def run():
        with torch.no_grad():
            return call()

    return run


def _backward(call: Callable[[], Tensor], parameters: list[Tensor]) -> Callable[[], object]:
    def run():
        return torch.autograd.grad(call().sum(), parameters, allow_unused=True)

    return run
