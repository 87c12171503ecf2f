import {
  announcer, batched, commit, dataTable, entropy, hardSelection, languageOf, make, mounted, number,
  percent, readout, setAttribute, setText, slider, softmax, steps, TEMPERATURES, token, visible,
  watch,
} from "./core.js";

/** Stops of the score sliders: −10 … 10, wider where a score lies outside.
 * @param {number[]} scores */
function scoreStops(scores) {
  const reach = Math.max(10, ...scores.map(Math.abs));
  if (reach === 10) return steps(-10, 10, 0.05);
  const power = 10 ** Math.floor(Math.log10(reach));
  const half = Math.min(Math.ceil(reach / power) * power, Number.MAX_VALUE);
  return steps(-1, 1, 1 / 200).map((share) => share * half);
}

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  const plain = (/** @type {number} */ value) => String(Number(value.toPrecision(8)));

  const tSlider = slider({
    label: "Temperature T", stops: TEMPERATURES, write: plain, positive: true,
    complaint: "T must be above 0", signal,
    onInput: (temperature) => commit(model, { temperature }),
  });
  const cSlider = slider({
    label: "Add c to every score", stops: steps(-10, 10, 0.1), write: plain, signal,
    onInput: (shift) => commit(model, { shift }),
  });
  const list = make("div", { class: "aw-rows" });
  const scroller = make("div", { class: "aw-scroller" }, list);
  const limit = make("p", { class: "aw-remark" });
  const constant = make("p", { class: "aw-remark" });
  const entropyOut = readout("Entropy");
  const keysOut = readout("Effective keys", false);
  const live = announcer();
  let scores = /** @type {number[]} */ ([]);
  let labels = /** @type {string[]} */ ([]);
  let weights = /** @type {number[]} */ ([]);
  const table = dataTable(
    "The steps as a table",
    ["Token", "Score + c", "z = (score − largest) ÷ T", "exp z", "Weight"],
    () => {
      const shift = model.get("shift");
      const moved = scores.map((score) => score + shift);
      const top = Math.max(...moved);
      return moved.map((score, i) => {
        const z = (score - top) / model.get("temperature");
        return [token(labels[i]), number(score, 5), number(z, 4), number(Math.exp(z), 3), percent(weights[i])];
      });
    },
    signal,
  );
  const root = make(
    "div", { class: "aw-root aw-softmax", role: "group", "aria-label": "Scores through a softmax" },
    make("div", { class: "aw-controls" }, tSlider.node, cSlider.node),
    scroller,
    make("div", { class: "aw-foot" },
      make("dl", { class: "aw-readouts" }, entropyOut.node, keysOut.node),
      make("div", { class: "aw-remarks" }, limit, constant)),
    live.node, table.node,
  );

  const bar = (/** @type {string} */ kind) =>
    make("svg:path", { class: kind, "vector-effect": "non-scaling-stroke" });
  const bars = { track: bar("aw-track"), rest: bar("aw-fill"), top: bar("aw-fill aw-fill-top") };
  const barArea = make(
    "svg:svg", { class: "aw-bar-area", preserveAspectRatio: "none", "aria-hidden": "true" },
    bars.track, bars.rest, bars.top,
  );
  /** @type {{slider: ReturnType<typeof slider>, share: any}[]} */
  let rows = [];
  let rowsStop = new AbortController();
  signal.addEventListener("abort", () => rowsStop.abort());
  let builtFor = /** @type {string[]} */ ([]);

  function build() {
    rowsStop.abort();
    rowsStop = new AbortController();
    scroller.classList.toggle("aw-many", labels.length > 12);
    rows = labels.map((label, i) => {
      const row = slider({
        label: `Score of ${visible(label)}`,
        labelNode: make("span", {}, make("span", { class: "aw-hidden" }, "Score of "), token(label)),
        stops: [0], write: plain, signal: rowsStop.signal,
        onInput: (value) => commit(model, { scores: scores.map((old, j) => (j === i ? value : old)) }),
      });
      row.field.setAttribute("lang", languageOf(label) || "en");
      const share = make("span", { class: "aw-share" });
      return { slider: row, share };
    });
    bars.track.setAttribute("d", labels.map((_, i) => `M0 ${i + 0.5}H1000`).join(""));
    barArea.setAttribute("viewBox", `0 0 1000 ${labels.length}`);
    list.replaceChildren(
      barArea, ...rows.map((row) => make("div", { class: "aw-row" }, row.slider.node, make("span", { class: "aw-hidden" }, "weight "), row.share)),
    );
  }

  /** Bars are strokes of two paths over all rows: a slider move touches two nodes, not sixty-four. */
  function drawBars(/** @type {number} */ best) {
    const line = (/** @type {number} */ w, /** @type {number} */ i) => `M0 ${i + 0.5}H${Math.round(1e5 * w) / 100}`;
    setAttribute(bars.rest, "d", weights.map((w, i) => (w === best ? "" : line(w, i))).join(""));
    setAttribute(bars.top, "d", weights.map((w, i) => (w === best ? line(w, i) : "")).join(""));
  }

  /** Of many rows a move writes those in view; the others follow when it pauses. */
  function writeShares(all = false) {
    clearTimeout(later);
    rows.forEach(({ share }, i) => {
      if (all || (i >= seen[0] && i < seen[1])) setText(share, percent(weights[i]));
    });
    if (!all && seen[1] - seen[0] < rows.length) later = window.setTimeout(writeShares, 150, true);
  }
  let later = 0;
  let seen = [0, Infinity];
  const look = () => {
    const height = scroller.clientHeight < scroller.scrollHeight ? list.clientHeight / rows.length : 0;
    const [top, bottom] = [scroller.scrollTop, scroller.scrollTop + scroller.clientHeight];
    seen = height ? [Math.floor(top / height), Math.ceil(bottom / height)] : [0, Infinity];
    writeShares();
  };
  scroller.addEventListener("scroll", look, { passive: true, signal });
  const sized = new ResizeObserver(look);
  sized.observe(scroller);
  sized.observe(list);

  let limitFor = "";
  let widest = 0;
  function update() {
    scores = model.get("scores");
    labels = model.get("labels");
    const temperature = model.get("temperature");
    const shift = model.get("shift");
    if (labels !== builtFor) {
      if (JSON.stringify(labels) !== JSON.stringify(builtFor)) {
        build();
        seen = [0, Infinity];
        widest = 0;
      }
      builtFor = labels;
    }
    const reach = Math.max(10, ...scores.map(Math.abs));
    if (reach !== widest && (reach > widest || !root.contains(document.activeElement))) {
      widest = reach;
      const stops = scoreStops(scores);
      for (const row of rows) row.slider.setStops(stops);
    }
    weights = softmax(scores.map((score) => score + shift), temperature);
    const before = shift === 0 ? weights : softmax(scores, temperature);
    tSlider.set(temperature);
    cSlider.set(shift);
    const best = Math.max(...weights);
    rows.forEach((row, i) => {
      row.slider.set(scores[i]);
    });
    writeShares();
    drawBars(best);
    const n = weights.length;
    const nats = entropy(weights);
    entropyOut.set(
      `${nats.toFixed(2)} nats`,
      n > 1 ? `${percent(nats / Math.log(n))} of ln ${n}, equal shares` : "one token: no choice",
      n > 1 ? nats / Math.log(n) : 0,
    );
    keysOut.set(Math.exp(nats).toFixed(2), `exp(entropy): as if shared equally by so many of ${n}`);
    const top = Math.max(...scores);
    const winners = labels.filter((_, i) => scores[i] === top);
    if (JSON.stringify(winners) !== limitFor) {
      limitFor = JSON.stringify(winners);
      limit.replaceChildren(
        make("strong", {}, "T → 0: "), ...hardSelection(winners), ".",
      );
    }
    const moved = weights.reduce((most, w, i) => Math.max(most, Math.abs(w - before[i])), 0);
    setText(
      constant,
      shift === 0
        ? "Softmax sees differences only: add a constant and watch."
        : `With c = ${number(shift, 4)} no weight moved`
          + (moved === 0 ? "." : ` (the largest change is ${number(moved, 1)}, rounding).`),
    );
    table.refresh();
    live.say(() => [
      `Temperature ${number(temperature)}. `,
      ...labels.slice(0, 8).flatMap((label, i) => [i ? ", " : "", token(label), `: ${percent(weights[i])}`]),
      (n > 8 ? `, and ${n - 8} more` : "") + `. Entropy ${nats.toFixed(2)} nats.`,
    ]);
  }

  const frame = batched(update);
  const unwatch = watch(model, ["scores", "labels", "temperature", "shift"], frame.ask);
  update();
  return mounted(
    el, root, unwatch, () => stop.abort(), frame.cancel, () => clearTimeout(later),
    () => sized.disconnect(), live.cancel,
  );
}

export default { render };
