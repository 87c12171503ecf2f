"""What a slider move costs the page's main thread, read from a browser trace.

The mouse drags the slider's thumb, as a reader's does: Chromium hands such an event to the page at
the start of a frame. A move begins there and ends when that frame has been handed to the
compositor, or a later one if the page asks for more frames.

- Counted is script, style, layout and paint: the events named in `WORK`, `Commit` included.
- What one of them contains is not counted again: of nested events only the outermost is.
- Time is CPU time of the thread (`tdur`), not the clock on the wall: other processes that take the
  processor away do not count, though they still empty its caches.
- Only the categories that those events need are recorded. V8's own and Blink's detailed ones cost
  about a tenth of a move and are left out; the rest of the trace's own cost is in the figures.
- Not counted: raster (other threads), and what the browser does around these events in its tasks.
"""

import itertools
import time

# Top-level work only: what these events contain is not counted twice.
WORK = {
    "EventDispatch", "FunctionCall", "FireAnimationFrame", "RunMicrotasks", "TimerFire",
    "UpdateLayoutTree", "RecalculateStyles", "Layout", "PrePaint", "Paint", "Layerize", "Commit",
    "UpdateLayer", "HitTest", "IntersectionObserverController::computeIntersections", "MinorGC",
    "MajorGC", "EvaluateScript", "v8.evaluateModule",
}  # fmt: skip
CATEGORIES = "devtools.timeline,blink.user_timing,disabled-by-default-devtools.timeline"


def start(page, categories=CATEGORIES):
    """Begin a trace; returns the function that ends it and gives the events."""
    session = page.context.new_cdp_session(page)
    events = []
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    done = []
    session.on("Tracing.tracingComplete", lambda _: done.append(True))
    session.send("Tracing.start", {"categories": categories, "transferMode": "ReportEvents"})

    def stop():
        session.send("Tracing.end")
        while not done:
            page.wait_for_timeout(20)
        session.detach()
        return events

    return stop


def work_per_move(events):
    """Milliseconds of CPU from each mark `move` to the mark `moved` after it."""
    marks = sorted(
        (e["ts"], e["name"], e["pid"], e["tid"])
        for e in events
        if e.get("cat", "").startswith("blink.user_timing") and e["name"] in ("move", "moved")
    )
    if not marks:
        raise AssertionError("The trace holds no marks: the mouse did not reach the slider.")
    thread = marks[0][2:]
    work = sorted(
        (e["ts"], -e.get("dur", 0), e.get("tdur", e.get("dur", 0)))
        for e in events
        if e.get("ph") == "X" and e["name"] in WORK and (e["pid"], e["tid"]) == thread
    )
    costs = []
    for (begin, kind, *_), (end, after, *_) in itertools.pairwise(marks):
        if (kind, after) != ("move", "moved"):
            continue
        total, covered = 0, 0
        for begin_, minus_duration, cpu in work:
            # The mark is set inside the first event of the move: that one counts as well.
            if begin < begin_ - minus_duration and begin_ < end and begin_ >= covered:
                total += cpu
                covered = begin_ - minus_duration
        costs.append(total / 1000)
    return costs


# `move` stands at the start of the first event of a move, `moved` in a task of its own after the
# frame that follows the drawn one, so that work which the widget puts off by a frame counts too.
MARKS = """() => {
  let waiting = false;
  window.movesSeen = 0;
  addEventListener("pointermove", (event) => {
    if (waiting || !(event.buttons & 1)) return;
    waiting = true;
    performance.mark("move");
    requestAnimationFrame(() => requestAnimationFrame(() => {
      performance.mark("moved");
      waiting = false;
      window.movesSeen += 1;
    }));
  }, { capture: true });
}"""


def drag(page, selector, moves):
    """Drag the thumb to and fro over the whole slider, in `moves` large steps."""
    box = page.locator(selector).first.bounding_box()
    left, width, y = box["x"] + 9, box["width"] - 18, box["y"] + box["height"] / 2
    page.mouse.move(left, y)
    page.mouse.down()
    for i in range(moves):
        seen = page.evaluate("window.movesSeen")
        page.mouse.move(left + width * ((37 * i + 13) % moves + 0.5) / moves, y)
        time.sleep(0.05)  # no question to the page meanwhile: it would be counted
        while page.evaluate("window.movesSeen") == seen:
            time.sleep(0.05)
    page.mouse.up()


def slider_costs(page, selector, moves=60):
    """CPU milliseconds of each of `moves` moves of the slider, after a few that are left out."""
    page.evaluate(MARKS)
    drag(page, selector, 5)
    stop = start(page)
    drag(page, selector, moves)
    return work_per_move(stop())


def percentile(values, share):
    """The smallest value that at least `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
