"""What 12 × 12 heads of 64 tokens cost a page: bytes, first paint, and a move between heads.

How the times are measured is said in tests/browser/widget_trace.py. It needs a Chromium.
"""

from __future__ import annotations

import gzip
import json

import torch

from benchmarks import widgets
from benchmarks.report import Settings, Table

BERTVIZ = 26_500  # kB of a stored notebook output, as the issue of this widget measured it
SIZE, PAINT, MOVE = 300.0, 150.0, widgets.AIM  # kB of gzip, milliseconds, milliseconds at p95


def section(settings: Settings) -> Table:
    """Page data, first paint and moves, each with its target."""
    from attnkit.widgets import HeadBrowser

    mixed, noise = map_samples.heads(12, 12, 64, 64), _noise(settings.seed)
    browser = HeadBrowser(mixed, map_samples.words(64))
    moves = 20 if settings.quick else 100
    keys = ["ArrowRight"] * 11 + ["ArrowDown"] * 11 + ["ArrowLeft"] * 11 + ["ArrowUp"] * 11
    keys = (keys * 3)[:moves]
    found = [
        ("page data, heads of many kinds, kB gzip", _gzipped(browser), SIZE),
        ("page data, noise everywhere, kB gzip", _gzipped(HeadBrowser(noise)), SIZE),
    ]
    with widgets.chromium() as chromium:
        paints = []
        for _ in range(3 if settings.quick else 7):
            page = chromium.new_page(viewport={"width": 1000, "height": 900})
            WidgetPage(page)
            paints.append(first_paint_cost(page, browser, state))
            page.close()
        found.append(("first paint, ms (median)", widgets.percentile(paints, 0.5), PAINT))
        page = chromium.new_page(viewport={"width": 1000, "height": 900})
        WidgetPage(page).mount(browser)
        costs = key_costs(page, ".aw-thumb[tabindex='0']", keys)
        found.append(("move to another head, ms p50", widgets.percentile(costs, 0.5), MOVE))
        found.append(("move to another head, ms p95", widgets.percentile(costs, 0.95), MOVE))
        costs = widgets.slider_costs(page, ".aw-range", moves)
        found.append(("move to another query, ms p95", widgets.percentile(costs, 0.95), MOVE))
        page.close()
    return Table(
        "HeadBrowser, 12 × 12 heads of 64 tokens",
        "CPU milliseconds of script, style, layout and paint in Chromium, tracing included. "
        f"BertViz stores {BERTVIZ:,} kB for the same maps, HeadBrowser "
        f"{len(browser._codes) / 1000:,.0f} kB, before gzip.",
        ("figure", "measured", "target"),
        [(name, f"{value:.1f}", f"{target:.0f}") for name, value, target in found],
        [
            f"HeadBrowser, {name}: {value:.1f}, target {target:.0f}"
            for name, value, target in found
            if value > target
        ],
    )


def _noise(seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.softmax(1.5 * torch.randn(12, 12, 64, 64, generator=generator), -1)


def _gzipped(widget: object) -> float:
    return len(gzip.compress(json.dumps(state(widget)).encode(), 6)) / 1000


import map_samples  # noqa: E402 - benchmarks.widgets has put the folders of the tests on the path
from widget_page import WidgetPage, state  # noqa: E402
from widget_trace import first_paint_cost, key_costs  # noqa: E402
