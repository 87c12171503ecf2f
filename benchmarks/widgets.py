"""What a slider move costs: script, style, layout and paint in a trace, for 64 tokens.

`python -m benchmarks.widgets` prints the table on its own.
"""

import os
import shutil
import sys
from pathlib import Path

from attnkit.widgets import ScalingWidget, SoftmaxWidget

AIM = 8.0  # milliseconds at p95
MOVES = 100
CASES = {
    "ScalingWidget, 64 keys: d_k": lambda: ScalingWidget(revealed=True, scale=False),
    "SoftmaxWidget, 64 tokens: temperature": lambda: SoftmaxWidget([i / 10 for i in range(64)]),
    "SoftmaxWidget, 3 tokens: temperature": lambda: SoftmaxWidget(),
}


def measure() -> dict[str, list[float]]:
    """CPU milliseconds of each slider move, by case."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))
    from widget_page import WidgetPage
    from widget_trace import slider_costs

    names = [os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    costs = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, make in CASES.items():
            page = browser.new_page(viewport={"width": 1000, "height": 900})
            WidgetPage(page).mount(make())
            costs[name] = sorted(slider_costs(page, ".aw-range", MOVES))
            page.close()
        browser.close()
    return costs


def run() -> None:
    """Print median, 95th percentile and worst move of each case."""
    print(f"Slider move: CPU ms of script + style + layout + paint, {MOVES} moves, aim p95 ≤ {AIM}")
    for name, costs in measure().items():
        p50, p95 = costs[len(costs) // 2], costs[int(0.95 * len(costs))]
        verdict = "" if p95 <= AIM else f"   {p95 / AIM:.1f}× the aim"
        print(f"  {name:40} p50 {p50:5.1f}   p95 {p95:5.1f}   worst {costs[-1]:5.1f}{verdict}")


if __name__ == "__main__":
    run()
