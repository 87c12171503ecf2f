"""What a heatmap costs, against a bare image and against an image with a text in every cell."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

import torch
from matplotlib import pyplot
from matplotlib.figure import Figure

from attnkit import plots
from benchmarks.measure import time_ratio
from benchmarks.report import Settings, Table

#: Tokens: numbers in the cells, no numbers, blocks of 2, blocks of 8.
SIZES = (16, 64, 256, 1024)
#: A text in each of a million cells takes minutes: the peer is measured up to here.
MOST_TEXTS = 64
#: Our time over that of a bare image, which has no labels, and over that with all texts.
TARGETS = {"imshow": 8.0, "imshow and a text in every cell": 1.3}
#: So many heatmaps are drawn and closed, and what they leave is counted.
REPEATED = 500
COLUMNS = ("tokens", "against", "target", "ratio", "quartiles", "heatmap", "pairs")
NOTE = (
    "Time to draw a map into given axes and to make a picture of it at 100 dpi, over the time of "
    "the peer: matplotlib's imshow alone, and with ax.text in every cell."
)


def section(settings: Settings) -> Table:
    """Every size against both peers, and what many heatmaps leave behind."""
    rows, missed = [], []
    for n in SIZES[:1] if settings.quick else SIZES:
        generator = torch.Generator().manual_seed(settings.seed)
        weights = torch.randn(n, n, generator=generator).softmax(-1)
        tokens = [f"token{i}" for i in range(n)]
        peers: dict[str, Callable[[], object]] = {"imshow": lambda w=weights: _bare(w)}
        if n <= MOST_TEXTS:
            peers["imshow and a text in every cell"] = lambda w=weights: _texts(w)
        for name, peer in peers.items():
            ratio = time_ratio(
                lambda w=weights, t=tokens: _ours(w, t),
                peer,
                seconds=0.1 if settings.quick else 3.0,
                clock=settings.clock,
                at_least=5,
            )
            target = TARGETS[name]
            row = [
                str(n),
                name,
                f"≤ {target:g}",
                f"{ratio.median:.2f}",
                f"{ratio.lower:.2f} … {ratio.upper:.2f}",
                f"{1e3 * ratio.median * ratio.peer_seconds:.0f} ms",
                str(ratio.pairs),
            ]
            rows.append(row)
            print(*row, sep="  ", file=sys.stderr, flush=True)
            if ratio.median > target:
                missed.append(f"{n} tokens against {name}: {ratio.median:.2f}, target {target:g}")
    times = 50 if settings.quick else REPEATED
    left = _left_behind(times)
    rows.append(["2", f"{times} drawn and closed", "0 left", f"{left} left", "", "", ""])
    if left > 0:
        missed.append(f"{times} heatmaps leave {left} objects or figures behind")
    return Table("Heatmaps", NOTE, COLUMNS, rows, missed)


def _figure() -> Figure:
    figure = Figure(figsize=(5, 4), dpi=100)
    figure.add_subplot()
    return figure


def _ours(weights: torch.Tensor, tokens: list[str]) -> object:
    figure = _figure()
    plots.heatmap(weights, tokens, ax=figure.axes[0])
    return figure.canvas.draw()


def _bare(weights: torch.Tensor) -> object:
    figure = _figure()
    figure.axes[0].imshow(weights.numpy(), cmap="cividis", vmin=0, vmax=1, aspect="auto")
    return figure.canvas.draw()


def _texts(weights: torch.Tensor) -> object:
    figure = _figure()
    (ax,) = figure.axes
    ax.imshow(weights.numpy(), cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for i, row in enumerate(weights.tolist()):
        for j, value in enumerate(row):
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", color="white")
    return figure.canvas.draw()


def _left_behind(times: int) -> int:
    """Objects that stay, in hundreds: a handful always come and go; and figures that stay open."""

    def draw(n: int) -> int:
        for _ in range(n):
            plots.heatmap([[0.25, 0.75], [1.0, 0.0]], ["a", "b"], ax=Figure().add_subplot())
        gc.collect()
        return len(gc.get_objects())

    before = draw(20)
    return max(0, draw(times) - before) // 100 + len(pyplot.get_fignums())
