import {
  announcer, batched, commit, dataTable, lineKey, linePath, make, mounted, number, plot, readout,
  setAttribute, setText, slider, steps, watch,
} from "./core.js";

const CONSTANT = 0.01; // position.py: a standard deviation below is nearly constant
const SCALE = [[11, 83, 148], [242, 242, 240], [163, 74, 0]]; // −1, 0, 1: as in position.py

/** Radians that each pair turns from one position to the next. @param {number} dModel @param {boolean} doubled */
function frequencies(dModel, doubled) {
  return Array.from({ length: dModel / 2 }, (_, i) => Math.exp((-Math.log(10_000) * (doubled ? 4 : 2) * i) / dModel));
}

/** Sine and cosine of each pair side by side, position after position. @param {number[]} omegas @param {number} n */
function encodingTable(omegas, n) {
  const table = new Float64Array(2 * n * omegas.length);
  for (let p = 0, at = 0; p < n; p++) {
    for (const omega of omegas) {
      table[at++] = Math.sin(p * omega);
      table[at++] = Math.cos(p * omega);
    }
  }
  return table;
}

/** Inner product of two positions at distance 0 … n − 1: it depends on nothing else. @param {number[]} omegas @param {number} n */
function productsByDistance(omegas, n) {
  return Array.from({ length: n }, (_, k) => omegas.reduce((sum, omega) => sum + Math.cos(k * omega), 0));
}

/** Distances after which the inner product rises. @param {number[]} products */
function risesOf(products) {
  return products.flatMap((value, k) => (k + 1 < products.length && products[k + 1] > value ? [k] : []));
}

/** How many dimensions hardly change over the positions. @param {ArrayLike<number>} table @param {number} columns */
function constantOf(table, columns) {
  const rows = table.length / columns;
  let count = 0;
  for (let column = 0; column < columns; column++) {
    let [sum, squares] = [0, 0];
    for (let at = column; at < table.length; at += columns) sum += table[at];
    for (let at = column; at < table.length; at += columns) squares += (table[at] - sum / rows) ** 2;
    if (Math.sqrt(squares / (rows - 1)) < CONSTANT) count++;
  }
  return count;
}

/** Red, green and blue of a value from −1 to 1. @param {number} value */
function signedColour(value) {
  const place = Math.min(1, Math.max(-1, value));
  const end = SCALE[place < 0 ? 0 : 2];
  return SCALE[1].map((part, i) => Math.round(part + (end[i] - part) * Math.abs(place)));
}

/** Ticks of 0 … n − 1: at most six round numbers. @param {number} n @returns {number[]} */
function roundTicks(n) {
  const step = [1, 2, 5, 10, 20, 25, 50, 100].find((size) => (n - 1) / size <= 5.5) ?? 200;
  return steps(0, Math.floor((n - 1) / step) * step, step);
}

const fixed = (/** @type {number} */ value, digits = 2) => (value + 0).toFixed(digits).replace(/^-(0\.?0*)$/, "$1").replace("-", "−");

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  const shown = { n: 0, d: 0, doubled: false, position: -1, pair: -1 };
  let omegas = /** @type {number[]} */ ([]);
  let table = new Float64Array(0);
  let products = /** @type {number[]} */ ([]);
  let rises = /** @type {number[]} */ ([]);
  let constant = 0;

  /* ---- controls */
  const positionSlider = slider({
    label: "Position p", stops: [0], write: String, whole: true, lowest: 0, signal,
    allow: (value) => value < shown.n, onInput: (position) => commit(model, { position }),
  });
  const pairSlider = slider({
    label: "Pair i", stops: [0], write: String, whole: true, lowest: 0, signal,
    spoken: (i) => `${i}, dimensions ${2 * i} and ${2 * i + 1}`,
    allow: (value) => value < shown.d / 2, onInput: (pair) => commit(model, { pair }),
  });
  const doubledBox = make("input", { type: "checkbox" });
  doubledBox.addEventListener("change", () => commit(model, { doubled: doubledBox.checked }), { signal });
  const exponent = make("sup");
  const formula = make("p", { class: "aw-small aw-pe-formula" }, "ω = 10000", exponent);

  /* ---- the table of colours */
  const cells = make("canvas", { class: "aw-pe-cells" });
  const marks = ["row", "column"].map((kind) => make("span", { class: `aw-pe-mark aw-pe-${kind}` }));
  const map = plot("aw-pe-map");
  map.area.prepend(cells);
  map.area.append(...marks);
  const pen = cells.getContext("2d", { willReadFrequently: true });
  const bar = make("span", { class: "aw-pe-scale", "aria-hidden": "true" });
  bar.style.backgroundImage = `linear-gradient(to right, ${[-1, 0, 1].map((v) => `rgb(${signedColour(v).join()})`).join()})`;

  /* ---- the clock: sine to the right, cosine upwards, so that it starts at twelve */
  const part = (/** @type {string} */ kind, /** @type {Record<string, string | number>} */ attributes = {}, name = "svg:path") =>
    make(name, { class: kind, "vector-effect": "non-scaling-stroke", ...attributes });
  const trail = part("aw-pe-trail");
  const legs = { sin: part("aw-pe-leg aw-pe-leg-sin"), cos: part("aw-pe-leg aw-pe-leg-cos") };
  const hand = part("aw-pe-hand");
  const tip = part("aw-pe-tip", { r: 0.075 }, "svg:circle");
  const word = (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y) =>
    make("svg:text", { class: "aw-pe-word", x, y, "text-anchor": "middle" }, text);
  const face = make("svg:svg", { class: "aw-pe-clock", viewBox: "-1.45 -1.35 2.9 2.7", role: "img" },
    part("aw-pe-ring", { cx: 0, cy: 0, r: 1 }, "svg:circle"), part("aw-pe-axis", { d: "M-1 0H1M0 -1V1" }),
    trail, legs.sin, legs.cos, hand, tip, word("cos 1", 0, -1.14), word("cos −1", 0, 1.27), word("sin 1", 1.24, 0.06), word("−1", -1.2, 0.06));
  const clockTitle = make("p", { class: "aw-panel-title" });
  const outs = { sin: readout("sin", false), cos: readout("cos", false), turn: readout("One turn", false), constant: readout("Nearly constant", false) };
  for (const kind of ["sin", "cos"]) outs[/** @type {"sin" | "cos"} */ (kind)].node.classList.add(`aw-pe-out-${kind}`);

  /* ---- the inner products */
  const chart = plot("aw-pe-plot");
  const curve = chart.shape("aw-curve aw-pe-curve");
  const rising = chart.shape("aw-pe-rising");
  const cursor = chart.shape("aw-pe-cursor");
  const chartTitle = make("p", { class: "aw-panel-title" });
  const remark = make("p", { class: "aw-pe-remark" });
  const live = announcer();

  const pairs = dataTable(
    "This position as a table", ["Pair i", "Dimensions", "One turn", "sin", "cos"],
    () => omegas.map((omega, i) => [
      String(i), `${2 * i}, ${2 * i + 1}`, number((2 * Math.PI) / omega), ...valuesOf(i).map((value) => fixed(value, 3)),
    ]), signal,
  );
  const distances = dataTable(
    "Inner products as a table", ["Distance", "Inner product", "Next"],
    () => products.map((value, k) => [String(k), fixed(value), k + 1 < products.length ? (products[k + 1] > value ? "rises" : "falls") : "–"]), signal,
  );
  const root = make(
    "div", { class: "aw-root aw-position", role: "group", "aria-label": "Sinusoidal encoding of positions" },
    make("div", { class: "aw-controls" }, positionSlider.node, pairSlider.node),
    make("div", { class: "aw-switches" },
      make("label", { class: "aw-check" }, doubledBox, make("span", {}, "Doubled exponent (a mistake)")), formula),
    make("div", { class: "aw-panels" },
      make("div", { class: "aw-panel" }, make("p", { class: "aw-panel-title" }, "Rows: positions. Columns: dimensions."), map.node,
        make("p", { class: "aw-pe-legend aw-small" }, "−1", bar, "1")),
      make("div", { class: "aw-panel" }, clockTitle, face,
        make("dl", { class: "aw-readouts" }, outs.sin.node, outs.cos.node, outs.turn.node, outs.constant.node))),
    make("div", { class: "aw-pe-products" }, chartTitle, chart.node,
      make("p", { class: "aw-legend" },
        lineKey("", "inner product", "aw-pe-curve"), lineKey("", "rises, though further away", "aw-pe-rising")),
      remark),
    live.node, pairs.node, distances.node,
  );

  const valuesOf = (/** @type {number} */ i) => Array.from(table.subarray(shown.position * shown.d + 2 * i, shown.position * shown.d + 2 * i + 2));
  const across = (/** @type {number} */ p) => p / (shown.n - 1);
  let up = (/** @type {number} */ value) => value;

  /** A click or a drag chooses the position, and on the table the pair too. @param {any} area
   * @param {(x: number, y: number) => Record<string, number>} at */
  function picks(area, at) {
    const picked = (/** @type {PointerEvent} */ event) => {
      const dragged = event.pointerType !== "touch" && event.buttons & 1; // a finger scrolls the page
      if (event.type === "pointermove" && !dragged) return;
      const box = area.getBoundingClientRect();
      const inside = (/** @type {number} */ share) => Math.min(1, Math.max(0, share));
      commit(model, at(inside((event.clientX - box.left) / box.width), inside((event.clientY - box.top) / box.height)));
    };
    for (const kind of ["click", "pointermove"]) area.addEventListener(kind, picked, { signal });
  }
  const below = (/** @type {number} */ share, /** @type {number} */ n) => Math.min(n - 1, Math.floor(share * n));
  picks(map.area, (x, y) => ({ position: below(y, shown.n), pair: below(x, shown.d / 2) }));
  picks(chart.area, (x) => ({ position: Math.round(x * (shown.n - 1)) }));

  function build() {
    const { n, d } = shown;
    omegas = frequencies(d, shown.doubled);
    table = encodingTable(omegas, n);
    products = productsByDistance(omegas, n);
    rises = risesOf(products);
    constant = constantOf(table, d);
    [cells.width, cells.height] = [d, n];
    const image = pen.createImageData(d, n);
    for (let i = 0; i < table.length; i++) image.data.set([...signedColour(table[i]), 255], 4 * i);
    pen.putImageData(image, 0, 0);
    const centre = (/** @type {number} */ count) => (/** @type {number} */ at) => /** @type {[number, string]} */ ([(at + 0.5) / count, String(at)]);
    map.ticks("x", roundTicks(d).map(centre(d)));
    map.ticks("y", roundTicks(n).map(centre(n)));
    map.node.setAttribute("aria-label", `Encoding of ${n} positions in ${d} dimensions as colours; the tables have the numbers`);
    const [low, high] = [Math.min(0, ...products), d / 2];
    up = (value) => 0.03 + (0.94 * (value - low)) / (high - low);
    const ticks = [high, high / 2, 0, ...(low < -high / 4 ? [low] : [])];
    chart.ticks("y", ticks.map((value) => [1 - up(value), number(value)]));
    chart.ticks("x", roundTicks(n).map((p) => [across(p), String(p)]));
    positionSlider.setStops(steps(0, n - 1, 1));
    pairSlider.setStops(steps(0, d / 2 - 1, 1));
    doubledBox.checked = shown.doubled;
    setText(exponent, `−${shown.doubled ? 4 : 2}i/${d}`);
    outs.constant.set(`${constant} of ${d}`, `dimensions, SD below ${CONSTANT}`);
    distances.refreshSoon();
  }

  function drawPair() {
    const { n, d, pair } = shown;
    const dots = Array.from({ length: n }, (_, p) => {
      const [x, y] = [table[p * d + 2 * pair], table[p * d + 2 * pair + 1]];
      return `M${x.toFixed(3)} ${(-y).toFixed(3)}h0`;
    });
    setAttribute(trail, "d", dots.join(""));
    const left = (100 * pair) / (d / 2);
    marks[1].style.left = `${left.toFixed(3)}%`;
    marks[1].style.width = `${(200 / d).toFixed(3)}%`;
    const turn = (2 * Math.PI) / omegas[pair];
    outs.turn.set(number(turn), "positions");
    pairSlider.set(pair);
  }

  function drawPosition() {
    const { n, position } = shown;
    marks[0].style.top = `${((100 * position) / n).toFixed(3)}%`;
    marks[0].style.height = `${(100 / n).toFixed(3)}%`;
    const at = (/** @type {number} */ p) => /** @type {[number, number]} */ ([across(p), up(products[Math.abs(p - position)])]);
    setAttribute(curve, "d", linePath(Array.from({ length: n }, (_, p) => at(p))));
    const up2 = rises.flatMap((k) => [1, -1].flatMap((way) => {
      const ends = [position + way * k, position + way * (k + 1)];
      return ends.every((p) => p >= 0 && p < n) ? [linePath(ends.map(at))] : [];
    }));
    setAttribute(rising, "d", up2.join(""));
    const x = (1000 * across(position)).toFixed(1);
    setAttribute(cursor, "d", `M${x} 0V1000`);
    setText(chartTitle, `Inner product with position ${position}`);
    setAttribute(chart.node, "aria-label", `Inner product of position ${position} with each position; the table has the numbers`);
    positionSlider.set(position);
    pairs.refreshSoon();
  }

  /** What the curve does, whichever position is chosen. */
  function said() {
    const [first] = rises;
    if (first === undefined) return `${fixed(products[0], 1)} with itself; it falls up to distance ${shown.n - 1}.`;
    return `${fixed(products[0], 1)} with itself, ${fixed(products[first])} at distance ${first}, ${fixed(products[first + 1])} at distance ${first + 1}: `
      + `further away, and larger. It rises at ${rises.length} of ${shown.n - 1} steps.`;
  }

  function update() {
    const last = { ...shown };
    shown.n = model.get("n_positions");
    shown.d = model.get("d_model");
    shown.doubled = model.get("doubled");
    shown.position = Math.min(model.get("position"), shown.n - 1);
    shown.pair = Math.min(model.get("pair"), shown.d / 2 - 1);
    const other = shown.n !== last.n || shown.d !== last.d || shown.doubled !== last.doubled;
    if (other) {
      build();
      setText(remark, said());
    }
    if (other || shown.pair !== last.pair) drawPair();
    if (other || shown.position !== last.position) drawPosition();
    const { position, pair } = shown;
    const [sine, cosine] = valuesOf(pair);
    setText(clockTitle, `Pair ${pair} at position ${position}`);
    outs.sin.set(fixed(sine), `dimension ${2 * pair}`);
    outs.cos.set(fixed(cosine), `dimension ${2 * pair + 1}`);
    const [x, y] = [sine.toFixed(4), (-cosine).toFixed(4)];
    setAttribute(hand, "d", `M0 0L${x} ${y}`);
    setAttribute(legs.sin, "d", `M0 ${y}H${x}`);
    setAttribute(legs.cos, "d", `M${x} 0V${y}`);
    setAttribute(tip, "cx", x);
    setAttribute(tip, "cy", y);
    setAttribute(face, "aria-label", `Clock of pair ${pair} at position ${position}: sin ${fixed(sine)}, cos ${fixed(cosine)}`);
    live.say(() => `Position ${position}, pair ${pair}: sin ${fixed(sine)}, cos ${fixed(cosine)}, one turn in ${number((2 * Math.PI) / omegas[pair])} positions. `
      + `${shown.doubled ? "Doubled exponent. " : ""}${constant} of ${shown.d} dimensions are nearly constant. Inner product: ${said()}`);
  }

  const frame = batched(update);
  const unwatch = watch(model, ["d_model", "n_positions", "position", "pair", "doubled"], frame.ask);
  update();
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, live.cancel);
}

export default { render };
