"""What a slider move or a press costs: script, style, layout and paint in a browser trace.

How it is measured is said in tests/browser/widget_trace.py. It needs a Chromium.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.report import Settings, Table

if TYPE_CHECKING:
    from playwright.sync_api import Browser

AIM = 8.0  # milliseconds at p95
TWELVE = {"tokens": [f"t{i}" for i in range(12)]}
CASES = {
    "ScalingWidget, 64 keys: d_k": ("ScalingWidget", {"revealed": True, "scale": False}),
    "ScalingWidget before the guess: d_k": ("ScalingWidget", {"scale": False}),
    "SoftmaxWidget, 64 tokens: temperature": (
        "SoftmaxWidget",
        {"scores": [i / 10 for i in range(64)]},
    ),
    "SoftmaxWidget, 3 tokens: temperature": ("SoftmaxWidget", {}),
    "TemperatureWidget, 12 tokens: temperature": (
        "TemperatureWidget",
        {"scores": [i / 3 for i in range(12)]},
    ),
    "TemperatureWidget, 3 tokens: temperature": ("TemperatureWidget", {}),
    "MaskEditor, 12 tokens: window": ("MaskEditor", TWELVE | {"preset": "two-sided window"}),
    "MaskEditor, 8 tokens: window": ("MaskEditor", {"preset": "window"}),
    "HeadsWidget, 1 to 32 heads: heads": ("heads_widget", {"revealed": True}),
    "LengthWidget, 1 to 12 digits: length": ("length_widget", {"lengths": range(1, 13)}),
}
#: Cells that are pressed instead of a slider that is moved.
PRESSED = {
    "MaskEditor, 12 tokens: a cell": ("MaskEditor", TWELVE, ".aw-mask-cell"),
    "MaskEditor, 8 tokens: a cell": ("MaskEditor", {}, ".aw-mask-cell"),
}


def section(settings: Settings) -> Table:
    """Median, 95th percentile and worst move of each case."""
    moves = 20 if settings.quick else 100
    rows, missed = [], []
    for name, costs in measure(moves).items():
        p50, p95 = percentile(costs, 0.5), percentile(costs, 0.95)
        rows.append((name, f"{p50:.1f}", f"{p95:.1f}", f"{max(costs):.1f}", f"{AIM:.0f}"))
        if p95 > AIM:
            missed.append(f"{name}: p95 {p95:.1f} ms, target {AIM:.0f} ms")
    return Table(
        "Moving a slider, pressing a cell",
        f"CPU milliseconds of script, style, layout and paint on the page's main thread, {moves} "
        "drags or presses of the mouse in Chromium, tracing included.",
        ("control", "p50", "p95", "worst", "target p95"),
        rows,
        missed,
    )


def measure(moves: int) -> dict[str, list[float]]:
    """CPU milliseconds of each slider move and each press, by case."""
    from attnkit import widgets

    costs = {}
    with chromium() as browser:
        moved = {name: (*case, ".aw-range") for name, case in CASES.items()}
        for name, (kind, traits, selector) in (moved | PRESSED).items():
            page = browser.new_page(viewport={"width": 1000, "height": 900})
            samples = heads_samples if kind == "heads_widget" else numeral_samples
            build = getattr(widgets, kind, None) or getattr(samples, kind)
            WidgetPage(page).mount(build(**traits))
            cost = press_costs if name in PRESSED else slider_costs
            costs[name] = cost(page, selector, moves)
            page.close()
    return costs


def chromium() -> AbstractContextManager[Browser]:
    """A browser without a window."""
    from bookext.pdf.chromium import browser, find

    return browser(find())


sys.path += [str(Path(__file__).parents[1] / part) for part in ("tests", "tests/browser")]
import heads_samples  # noqa: E402
import numeral_samples  # noqa: E402
from widget_page import WidgetPage  # noqa: E402
from widget_trace import percentile, press_costs, slider_costs  # noqa: E402
