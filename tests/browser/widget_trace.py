"""What a slider move costs the page's main thread, read from a browser trace.

The mouse drags the slider's thumb, as a reader's does: Chromium hands such an event to the page at
the start of a frame. A move begins with that event and ends two frames later, so that work which
a widget puts off by a frame counts too.

- Counted is script, style, layout and paint: the events named in `WORK`, `Commit` included.
- What one of them contains is not counted again: of nested events only the outermost is.
- Time is CPU time of the thread (`tdur`), not the clock on the wall: other processes that take the
  processor away do not count, though they still empty its caches.
- The measuring itself: mouse events come straight from the browser (Playwright's own would run
  scripts on the page), the only mark stands in a call that is not counted, and nothing is asked
  of the page during a move. Tracing remains in the figures: about 0.3 ms of 5.
- Not counted: raster (other threads), and what the browser does around these events in its tasks.
"""

import time

# Work of always the same size, in the page: how fast the machine is now, whatever its clock says.
# The least of many short runs is a run that nobody interrupted.
WORK_UNIT = """() => {
  const table = new Float64Array(4096);
  for (let i = 0; i < 400_000; i++) table[i & 4095] += Math.sqrt(i ^ 21);
  return table[7];
}"""
#: Seconds until an event that has not come will not come any more; a machine may be busy.
PATIENCE = 60
UNIT = 1.2  # its milliseconds on the machine for which the limits were set


def slowness(page):
    """How much slower than that machine this one is at the moment; 1 if it is as fast or faster."""
    best = page.evaluate(
        f"""() => {{
          const unit = {WORK_UNIT};
          let best = Infinity;
          for (let i = 0; i < 60; i++) {{
            const begin = performance.now();
            unit();
            best = Math.min(best, performance.now() - begin);
          }}
          return best;
        }}"""
    )
    return max(1.0, best / UNIT)


# Top-level work only: what these events contain is not counted twice.
WORK = {
    "EventDispatch", "FunctionCall", "FireAnimationFrame", "RunMicrotasks", "TimerFire",
    "UpdateLayoutTree", "RecalculateStyles", "Layout", "PrePaint", "Paint", "Layerize", "Commit",
    "UpdateLayer", "HitTest", "IntersectionObserverController::computeIntersections", "MinorGC",
    "MajorGC", "EvaluateScript", "v8.compileModule", "v8.evaluateModule",
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


def work_per_move(events, first="pointermove"):
    """Milliseconds of CPU of each move: from the event `first` to the mark `moved` after it."""
    ends = [e for e in events if _is_mark(e)]
    if not ends:
        raise AssertionError("The trace holds no marks: the mouse did not reach the slider.")
    thread = (ends[0]["pid"], ends[0]["tid"])
    work = sorted(
        (e["ts"], e["ts"] + e.get("dur", 0), e.get("tdur", e.get("dur", 0)), _type(e))
        for e in events
        if e.get("ph") == "X" and e["name"] in WORK and (e["pid"], e["tid"]) == thread
    )
    costs, last = [], 0
    for end in sorted(e["ts"] for e in ends):
        begin = next((t for t, _, _, kind in work if last < t < end and kind == first), end)
        total, covered = 0, begin
        for start_, stop_, cpu, _ in work:
            if covered <= start_ and stop_ <= end:
                total, covered = total + cpu, stop_
        costs.append(total / 1000)
        last = end
    return costs


def _is_mark(event):
    return event.get("cat", "").startswith("blink.user_timing") and event["name"] == "moved"


def _type(event):
    return event.get("args", {}).get("data", {}).get("type") or ""


MARKS = """() => {
  if ("movesSeen" in window) return;
  let waiting = false;
  window.movesSeen = 0;
  addEventListener("pointermove", (event) => {
    if (waiting || !(event.buttons & 1)) return;
    waiting = true;
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
    session = page.context.new_cdp_session(page)

    def mouse(kind, x):
        options = {"button": "left", "buttons": int(kind != "mouseReleased"), "clickCount": 1}
        session.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y} | options)

    mouse("mousePressed", left)
    for i in range(moves):
        seen = page.evaluate("window.movesSeen")
        mouse("mouseMoved", left + width * ((37 * i + 13) % moves + 0.5) / moves)
        deadline = time.monotonic() + PATIENCE
        time.sleep(0.05)  # no question to the page meanwhile: it would be counted
        while page.evaluate("window.movesSeen") == seen:
            if time.monotonic() > deadline:
                raise AssertionError(f"The mouse does not reach {selector}.")
            time.sleep(0.05)
    mouse("mouseReleased", left)
    session.detach()


def slider_costs(page, selector, moves=60):
    """CPU milliseconds of each of `moves` moves of the slider, after a few that are left out."""
    page.evaluate(MARKS)
    drag(page, selector, 5)
    stop = start(page)
    drag(page, selector, moves)
    return work_per_move(stop())


PRESSES = """() => {
  if ("movesSeen" in window) return;
  window.movesSeen = 0;
  addEventListener("click", () => requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark("moved");
    window.movesSeen += 1;
  })), { capture: true });
}"""


def press_costs(page, selector, presses=40):
    """CPU milliseconds of each press of one of the nodes, from the button's going down on."""
    page.evaluate(PRESSES)
    boxes = [node.bounding_box() for node in page.locator(selector).all()]
    session = page.context.new_cdp_session(page)

    def press(box):
        place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        options = place | {"button": "left", "clickCount": 1}
        session.send("Input.dispatchMouseEvent", {"type": "mouseMoved"} | place)
        time.sleep(0.05)
        seen = page.evaluate("window.movesSeen")
        session.send("Input.dispatchMouseEvent", {"type": "mousePressed"} | options)
        session.send("Input.dispatchMouseEvent", {"type": "mouseReleased"} | options)
        deadline = time.monotonic() + PATIENCE
        time.sleep(0.05)
        while page.evaluate("window.movesSeen") == seen:
            if time.monotonic() > deadline:
                raise AssertionError(f"The mouse does not reach {selector}.")
            time.sleep(0.05)

    for box in boxes[:5]:
        press(box)
    stop = start(page)
    for i in range(presses):
        press(boxes[(7 * i + 3) % len(boxes)])
    session.detach()
    return work_per_move(stop(), first="pointerdown")


KEY_MARKS = MARKS.replace("pointermove", "keydown").replace(" || !(event.buttons & 1)", "")


def press(page, keys):
    """Press keys where the focus is; each waits until the one before has been drawn."""
    session = page.context.new_cdp_session(page)
    for key in keys:
        seen = page.evaluate("window.movesSeen")
        session.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": key, "code": key})
        session.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": key, "code": key})
        deadline = time.monotonic() + PATIENCE
        time.sleep(0.05)
        while page.evaluate("window.movesSeen") == seen:
            if time.monotonic() > deadline:
                raise AssertionError(f"The key {key} is not seen.")
            time.sleep(0.05)
    session.detach()


def key_costs(page, selector, keys):
    """CPU milliseconds of each of `keys`, pressed on the element, after four that are left out."""
    page.locator(selector).first.focus()
    page.evaluate(KEY_MARKS)
    press(page, keys[:4])
    stop = start(page)
    press(page, keys)
    return work_per_move(stop(), "keydown")


MOUNT = """([source, css, state]) => new Promise((done) => {
  const style = document.createElement("style");
  style.textContent = css;
  document.head.append(style);
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  setTimeout(async () => {
    performance.mark("begun");
    const { default: widget } = await import(url);
    const el = document.createElement("div");
    el.className = "view w";
    document.querySelector("main").append(el);
    widget.render({ model: afm.model("w", state), el });
    requestAnimationFrame(() => setTimeout(() => (performance.mark("moved"), done()), 0));
  }, 50);
})"""


def first_paint_cost(page, widget, state):
    """CPU milliseconds from the import of a widget's module until it has been painted."""
    stop = start(page)
    page.evaluate(MOUNT, [widget._esm, widget._css, state(widget)])
    events = stop()
    marks = {e["name"]: e for e in events if e.get("cat", "").startswith("blink.user_timing")}
    begun, done = (marks[name]["ts"] for name in ("begun", "moved"))
    thread = (marks["moved"]["pid"], marks["moved"]["tid"])
    total, covered = 0, 0
    for event in sorted((e for e in events if e.get("ph") == "X"), key=lambda e: e["ts"]):
        end = event["ts"] + event.get("dur", 0)
        mine = (event["pid"], event["tid"]) == thread and event["name"] in WORK
        if mine and end >= begun and covered <= event["ts"] <= done:
            total, covered = total + event.get("tdur", event.get("dur", 0)), end
    return total / 1000


def percentile(values, share):
    """The smallest value that at least `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
