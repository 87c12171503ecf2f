"""What a slider move costs the browser's main thread, read from a trace.

Counted is CPU time (the trace's thread time, not the clock on the wall, which other processes
stretch) of script, style, layout and paint on the page's main thread, for one move of a slider:
from its `input` event to the frame that shows it.
"""

import itertools
import json

# Top-level work only: what these events contain is not counted twice.
WORK = {
    "EventDispatch", "FunctionCall", "FireAnimationFrame", "RunMicrotasks", "TimerFire",
    "UpdateLayoutTree", "RecalculateStyles", "Layout", "PrePaint", "Paint", "Layerize", "Commit",
    "UpdateLayer", "HitTest", "IntersectionObserverController::computeIntersections", "MinorGC",
    "MajorGC", "EvaluateScript", "v8.evaluateModule",
}  # fmt: skip


def start(page):
    """Begin a trace; returns the function that ends it and gives the events."""
    session = page.context.new_cdp_session(page)
    events = []
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    done = []
    session.on("Tracing.tracingComplete", lambda _: done.append(True))
    categories = "devtools.timeline,blink.user_timing,v8,disabled-by-default-devtools.timeline"
    session.send("Tracing.start", {"categories": categories, "transferMode": "ReportEvents"})

    def stop():
        session.send("Tracing.end")
        while not done:
            page.wait_for_timeout(20)
        session.detach()
        return events

    return stop


def work_per_move(events):
    """Milliseconds of CPU in each interval between the marks `move` and `moved`."""
    marks = sorted(
        (e["ts"], e["name"], e["pid"], e["tid"])
        for e in events
        if e.get("cat", "").startswith("blink.user_timing") and e["name"] in ("move", "moved")
    )
    if not marks:
        raise AssertionError("The trace holds no marks: " + json.dumps(events[:3])[:500])
    thread = marks[0][2:]
    work = sorted(
        (e["ts"], e["ts"] + e.get("dur", 0), e.get("tdur", e.get("dur", 0)))
        for e in events
        if e.get("ph") == "X" and e["name"] in WORK and (e["pid"], e["tid"]) == thread
    )
    costs = []
    for (begin, kind, *_), (end, *_) in itertools.pairwise(marks):
        if kind != "move":
            continue
        total, covered = 0, 0
        for start_, stop_, cpu in work:
            if begin <= start_ < end and start_ >= covered:
                total += cpu
                covered = stop_
        costs.append(total / 1000)
    return costs


MOVE = """async ([selector, moves]) => {
  const slider = document.querySelector(selector);
  const frames = () =>
    new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await frames();
  for (let i = 0; i < moves; i++) {
    performance.mark("move");
    slider.value = String(Math.round((Number(slider.max) * ((i * 37) % moves)) / moves));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    await frames();
    performance.mark("moved");
  }
}"""


def slider_costs(page, selector, moves=60):
    """CPU milliseconds of each of `moves` moves of the slider, the first few left out."""
    page.evaluate(MOVE, [selector, 5])
    stop = start(page)
    page.evaluate(MOVE, [selector, moves])
    return work_per_move(stop())


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
