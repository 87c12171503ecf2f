"""What capture_attention costs: an encoder watched, against the same encoder left alone."""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from torch import nn

from attnkit.capture import capture_attention
from benchmarks.measure import peak_bytes, time_ratio
from benchmarks.report import Settings, Table

LAYERS, HEADS, D_MODEL, BATCH = 4, 4, 128, 4
TOKENS = (64, 256, 512)
TARGET = 4.0
COLUMNS = ("against", "target", "tokens", "ratio", "quartiles", "plain", "memory", "maps", "pairs")
NOTE = (
    f"nn.TransformerEncoder of {LAYERS} layers, {HEADS} heads, d_model {D_MODEL}, batch {BATCH}. "
    "Ratio: a captured forward, proof included, over a plain one; against PyTorch's fast path "
    "(eval, no gradients) and against the forward of training (gradients recorded, dropout 0). "
    "Memory: peak over peak. Maps: what the weights alone take."
)


def section(settings: Settings) -> Table:
    """Every length, without and with gradients."""
    torch.manual_seed(settings.seed)
    layer = nn.TransformerEncoderLayer(D_MODEL, HEADS, 4 * D_MODEL, 0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)
    rows, missed = [], []
    for tokens in TOKENS[:1] if settings.quick else TOKENS:
        x = torch.randn(BATCH, tokens, D_MODEL)
        for against, training in (("fast path", False), ("training", True)):
            model.train(training)
            plain, captured = _calls(model, x, training)
            seconds = 0.1 if settings.quick else 4.0
            ratio = time_ratio(captured, plain, seconds=seconds, clock=settings.clock)
            memory = peak_bytes(captured) / peak_bytes(plain)
            maps = LAYERS * BATCH * HEADS * tokens**2 * x.element_size()
            row = [
                against,
                f"≤ {TARGET:g}",
                str(tokens),
                f"{ratio.median:.2f}",
                f"{ratio.lower:.2f} … {ratio.upper:.2f}",
                f"{1e3 * ratio.peer_seconds:.1f} ms",
                f"{memory:.2f}",
                f"{maps / 1e6:.1f} MB",
                str(ratio.pairs),
            ]
            rows.append(row)
            print(*row, sep="  ", file=sys.stderr, flush=True)
            if ratio.median > TARGET:
                missed.append(f"capture against {against}, {tokens} tokens: {row[3]}")
    return Table("Capture", NOTE, COLUMNS, rows, missed)


def _calls(
    model: nn.Module, x: torch.Tensor, training: bool
) -> tuple[Callable[[], object], Callable[[], object]]:
    def plain() -> object:
        with torch.set_grad_enabled(training):
            return model(x)

    def captured() -> object:
        with torch.set_grad_enabled(training), capture_attention(model) as found:
            return model(x), found

    return plain, captured
