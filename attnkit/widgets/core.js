/* Pure functions and small DOM helpers that every widget of the course uses. A widget writes
 *   import { softmax, … } from "./core.js";
 * and Python joins the two files into one ES module (attnkit/widgets/assets.py). The arithmetic
 * is held to PyTorch's by tests/browser/test_widgets_arithmetic.py. */

/* ---------------------------------------------------------------- arithmetic */

/**
 * softmax(scores / temperature) over the allowed entries. The largest score is taken off before
 * the division, so no finite score and no positive temperature can overflow. A row in which
 * nothing is allowed gives zeros.
 * @param {ArrayLike<number>} scores
 * @param {number} [temperature]
 * @param {ArrayLike<boolean> | null} [allowed] true = may be attended to; null = all
 * @returns {number[]}
 */
export function softmax(scores, temperature = 1, allowed = null) {
  const n = scores.length;
  const weights = new Array(n).fill(0);
  let top = -Infinity;
  for (let i = 0; i < n; i++) if ((!allowed || allowed[i]) && scores[i] > top) top = scores[i];
  if (top === -Infinity) return weights;
  let total = 0;
  for (let i = 0; i < n; i++) {
    if (allowed && !allowed[i]) continue;
    weights[i] = Math.exp((scores[i] - top) / temperature);
    total += weights[i];
  }
  for (let i = 0; i < n; i++) weights[i] /= total;
  return weights;
}

/**
 * Entropy of one row in nats, with 0 · ln 0 = 0.
 * @param {ArrayLike<number>} weights
 */
export function entropy(weights) {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] > 0) sum -= weights[i] * Math.log(weights[i]);
  }
  return sum + 0; // never −0
}

/**
 * Entropy divided by ln n, n = number of allowed keys; NaN where n < 2 (nothing to choose).
 * @param {ArrayLike<number>} weights
 * @param {number} [n]
 */
export function normalizedEntropy(weights, n = weights.length) {
  return n < 2 ? NaN : entropy(weights) / Math.log(n);
}

/**
 * Frobenius norm of the softmax Jacobian J_ij = w_i (δ_ij − w_j): how much the weights answer
 * when what goes into the softmax moves a little. Written without cancellation.
 * @param {ArrayLike<number>} weights
 */
export function jacobianNorm(weights) {
  const n = weights.length;
  let best = 0;
  for (let i = 1; i < n; i++) if (weights[i] > weights[best]) best = i;
  let others = 0;
  for (let i = 0; i < n; i++) if (i !== best) others += weights[i];
  let sum = 0;
  let seen = 0;
  for (let i = 0; i < n; i++) {
    const w = weights[i];
    const rest = i === best ? others : 1 - w;
    sum += w * w * (rest * rest + 2 * seen);
    seen += w * w;
  }
  return Math.sqrt(sum);
}

/**
 * Slope of each weight against its own score, w (1 − w) / T: what training can change about a
 * weight. Written without cancellation, like the norm above.
 * @param {ArrayLike<number>} weights
 * @param {number} temperature
 */
export function softmaxSlopes(weights, temperature) {
  const best = argmax(weights);
  let others = 0;
  for (let i = 0; i < weights.length; i++) if (i !== best) others += weights[i];
  return Array.from(weights, (w, i) => (w * (i === best ? others : 1 - w)) / temperature);
}

/**
 * The temperature at which softmax gives two scores weights in the ratio a : b.
 * T = (difference of the scores) / ln(a / b), and `kind` says what it is worth:
 * "one" the only T; "any" every T; "zero" and "infinite" only the limits T → 0 and T → ∞;
 * "none" no T > 0; "undefined" 0 : 0 is no ratio.
 * @param {number} scoreA @param {number} scoreB @param {number} a @param {number} b
 * @returns {{kind: string, temperature: number}}
 */
export function ratioTemperature(scoreA, scoreB, a, b) {
  const result = (/** @type {string} */ kind, temperature = NaN) => ({ kind, temperature });
  if (a === 0 && b === 0) return result("undefined");
  if (scoreA === scoreB) return result(a === b ? "any" : "none");
  if (a === b) return result("infinite", Infinity);
  if (a > b !== scoreA > scoreB) return result("none");
  const ratio = a / b;
  const logarithm = ratio > 0 && ratio < Infinity ? Math.log(ratio) : Math.log(a) - Math.log(b);
  const temperature = ((scoreA / 2 - scoreB / 2) / logarithm) * 2; // halves cannot overflow
  if (temperature === 0) return result("zero", 0);
  return temperature === Infinity ? result("infinite", Infinity) : result("one", temperature);
}

/**
 * Density of N(0, deviation²) at x.
 * @param {number} x
 * @param {number} deviation
 */
export function normalDensity(x, deviation) {
  const z = x / deviation;
  return Math.exp(-0.5 * z * z) / (deviation * Math.sqrt(2 * Math.PI));
}

/**
 * Dot product of the first n components.
 * @param {ArrayLike<number>} a
 * @param {ArrayLike<number>} b
 * @param {number} n
 */
export function dot(a, b, n) {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/** @param {ArrayLike<number>} values */
export function argmax(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

/** @param {ArrayLike<number>} values */
export function median(values) {
  const sorted = Array.from(values).sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/* ---------------------------------------------------------------- packed tables */

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** One base64 digit for each number, 0 … 63. @param {string} text */
export function decodeDigits(text) {
  const value = new Int8Array(128).fill(-1);
  for (let i = 0; i < 64; i++) value[BASE64.charCodeAt(i)] = i;
  return Int8Array.from(text, (digit) => value[digit.charCodeAt(0)]);
}

/** @param {string} text base64 */
export function decodeUint8(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Little-endian float16. @param {string} text base64 */
export function decodeFloat16(text) {
  const bytes = decodeUint8(text);
  const values = new Float64Array(bytes.length / 2);
  for (let i = 0; i < values.length; i++) {
    const bits = bytes[2 * i] | (bytes[2 * i + 1] << 8);
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    if (exponent === 31) values[i] = fraction ? NaN : sign * Infinity;
    else if (exponent === 0) values[i] = sign * fraction * 2 ** -24;
    else values[i] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return values;
}

/**
 * Rows of weights from one byte each: byte = 255 · √(weight ÷ largest of its row), never 0 where
 * the weight is not. Rows are made to sum to 1 again; Python does the same (pairs.py).
 * @param {string} text base64
 * @param {number} columns
 * @returns {number[][]}
 */
export function decodeWeights(text, columns) {
  const bytes = decodeUint8(text);
  return Array.from({ length: bytes.length / columns }, (_, i) => {
    const squares = Array.from(bytes.subarray(i * columns, (i + 1) * columns), (byte) => byte * byte);
    const total = squares.reduce((sum, value) => sum + value, 0);
    return squares.map((value) => value / total);
  });
}

/* ---------------------------------------------------------------- the colour scale of weights */

/** matplotlib's cividis at 0, 1/32, … 1: even in lightness, the same to colour-blind eyes. */
const CIVIDIS =
  "00224e00285b002e6a0433711a386f273e6e32436d3b496c434e6c4b546c52596d5a5f6e61656f686a716f70737576767c7b78"
  + "8481798b8778938d789b9376a39a75aba072b3a670bbad6cc3b469ccba64d4c15fddc958e6d051efd748f8df3cfee838";

const RED_GREEN_BLUE = Array.from({ length: 33 }, (_, i) =>
  [0, 2, 4].map((part) => Number.parseInt(CIVIDIS.substr(6 * i + part, 2), 16)),
);

/** Red, green and blue of a weight. @param {number} weight @returns {number[]} */
export function weightColour(weight) {
  const place = 32 * Math.min(1, Math.max(0, weight));
  const low = Math.min(31, Math.floor(place));
  const [from, to] = [RED_GREEN_BLUE[low], RED_GREEN_BLUE[low + 1]];
  return from.map((part, i) => Math.round(part + (to[i] - part) * (place - low)));
}

/** Black or white, whichever reads on the colour of a weight: at least 4.5 : 1. @param {number} weight */
export function inkOn(weight) {
  const light = weightColour(weight).map((part) =>
    part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.179 ? "#000" : "#fff";
}

/* ---------------------------------------------------------------- text */

/** A weight in whole percent, never rounded to a false 0 % or 100 %. @param {number} weight */
export function wholePercent(weight) {
  if (weight === 0 || weight === 1) return `${100 * weight} %`;
  if (weight < 0.005) return "< 1 %";
  if (weight >= 0.995) return "> 99 %";
  return `${Math.floor(100 * weight + 0.5)} %`;
}

/** A weight as text, never rounded to a false 0 % or 100 %. @param {number} weight */
export function percent(weight) {
  if (weight === 0 || weight === 1) return `${100 * weight} %`;
  if (weight < 0.0005) return "< 0.1 %";
  if (weight >= 0.9995) return "> 99.9 %";
  return `${(100 * weight).toFixed(1)} %`;
}

/**
 * A number in at most `digits` significant digits, with a true minus sign.
 * @param {number} value
 * @param {number} [digits]
 */
export function number(value, digits = 3) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const text =
    size !== 0 && (size >= 1e6 || size < 1e-4)
      ? value.toExponential(digits - 1).replace("e+", "e")
      : String(Number(value.toPrecision(digits)));
  return text.replace(/-/g, "−");
}

/** A label with its white space made visible. @param {string} text */
export function visible(text) {
  const shown = text.replace(/\r\n|\n|\r/g, "⏎").replace(/\t/g, "⇥");
  if (/^ | $/.test(shown)) return shown.replaceAll(" ", "␣");
  return shown || "(empty)";
}

/** The language of a label, as far as its script tells. @param {string} text */
export function languageOf(text) {
  const chinese = /\p{Script=Han}/u.test(text);
  return chinese && !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? "zh-Hans" : "";
}

/* ---------------------------------------------------------------- DOM */

/**
 * An element with attributes and children. Strings become text nodes: never markup.
 * @param {string} name  tag name; "svg:path" makes an SVG element
 * @param {Record<string, string | number | boolean | undefined>} [attributes]
 * @param {...(Node | string)} children
 * @returns {any}
 */
export function make(name, attributes = {}, ...children) {
  const node = name.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children);
  return node;
}

/** A token label: text, isolated from its neighbours' direction. @param {string} text */
export function token(text) {
  return make("bdi", { class: "aw-token", lang: languageOf(text) || undefined }, visible(text));
}

/** Names in a sentence: "a, b and c". @param {string[]} names @returns {(string | Node)[]} */
export function listed(names) {
  return names.flatMap((name, i) => [
    i === 0 ? "" : i === names.length - 1 ? " and " : ", ", token(name),
  ]);
}

/** Who gets the weight as T → 0: "all the weight goes to b". @param {string[]} winners */
export function hardSelection(winners) {
  if (winners.length === 1) return ["all the weight goes to ", ...listed(winners)];
  return winners.length <= 4
    ? ["the weight is shared equally by ", ...listed(winners)]
    : [`the weight is shared equally by the ${winners.length} tokens with the largest score`];
}

const SERIES_COLOURS = ["line-1", "line-0", "line-2", "line-3"]; // blue, orange, green, violet
const SERIES_DASHES = ["", "9 4", "12 3 2 3"];

/** Colour (a CSS variable) and dashes of curve `index`: twelve that all differ.
 * @param {number} index */
export function series(index) {
  const colours = SERIES_COLOURS.length;
  const dashes = SERIES_DASHES[(index + Math.floor(index / colours)) % SERIES_DASHES.length];
  return `stroke: var(--aw-${SERIES_COLOURS[index % colours]}); stroke-dasharray: ${dashes || "none"}`;
}

const MODEL_DASHES = ["7 4", "none", "2 4", "10 3 2 3"];

/** Colour and dashes of a model's curve, the same in every widget. @param {number} index up to 3 */
export function modelCurve(index) {
  return `stroke: var(--aw-line-${index}); stroke-dasharray: ${MODEL_DASHES[index]}`;
}

/** A legend entry: a piece of the curve and its name. @param {string} style @param {Node | string} name
 * @param {string} [kind] */
export function lineKey(style, name, kind = "") {
  const line = make("svg:path", { class: `aw-curve ${kind}`.trim(), style, d: "M0 6H28" });
  const sample = make("svg:svg", { viewBox: "0 0 28 12", "aria-hidden": "true" }, line);
  return make("span", { class: "aw-line-key" }, sample, name);
}

/** A path through points on a plot (0 to 1 from the left and from the bottom).
 * @param {[number, number][]} points */
export function linePath(points) {
  const at = (/** @type {number} */ share) => Math.round(1e4 * share) / 10;
  return points.map(([x, y], i) => `${i ? "L" : "M"}${at(x)} ${at(1 - y)}`).join("");
}

/** A button. @param {string} text @param {() => void} pressed @param {AbortSignal} signal
 * @param {string} [kind] */
export function button(text, pressed, signal, kind = "") {
  const node = make("button", { type: "button", class: `aw-button ${kind}`.trim() }, text);
  node.addEventListener("click", pressed, { signal });
  return node;
}

/** Set text only where it differs: an untouched node costs no layout. @param {any} node @param {string} text */
export function setText(node, text) {
  if (node.__text === text) return;
  node.__text = text;
  if (node.firstChild?.nodeType === 3) node.firstChild.data = text;
  else node.textContent = text;
}

/** Set an attribute only where it differs. @param {Element} node @param {string} name @param {string} value */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/**
 * A chart area: an SVG stretched over it (shapes only; x and y run from 0 to 1000, y downwards),
 * and tick labels as HTML, so that text keeps its size on a phone.
 * @param {string} kind  class of the area
 */
export function plot(kind) {
  const svg = make("svg:svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none", "aria-hidden": "true" });
  const area = make("div", { class: `aw-plot ${kind}` }, svg);
  const node = make("div", { class: "aw-plot-frame", role: "img" }, area);
  const pools = { x: /** @type {any[]} */ ([]), y: /** @type {any[]} */ ([]) };
  const drawn = { x: "", y: "" };
  /** @param {"x" | "y"} axis @param {[number, string][]} ticks */
  const ticks = (axis, ticks) => {
    const pool = pools[axis];
    while (pool.length < ticks.length) {
      const tick = make("span", { class: `aw-tick aw-tick-${axis}` });
      pool.push(tick);
      area.append(tick);
    }
    const asked = ticks.join();
    if (asked === drawn[axis]) return;
    drawn[axis] = asked;
    pool.forEach((tick, i) => {
      tick.hidden = i >= ticks.length;
      if (tick.hidden) return;
      const [side, place] = [axis === "x" ? "left" : "top", `${(100 * ticks[i][0]).toFixed(2)}%`];
      if (tick.__place !== place) tick.style[side] = tick.__place = place;
      setText(tick, ticks[i][1]);
    });
  };
  return {
    node,
    area,
    ticks,
    /** @param {string} kind @param {string} [name] */
    shape(kind, name = "svg:path") {
      const shape = make(name, { class: kind, "vector-effect": "non-scaling-stroke" });
      svg.append(shape);
      return shape;
    },
  };
}

/** A number of a read-out: name, value, a line that explains it, and a bar from 0 to 1.
 * @param {string} name @param {boolean} [bar] */
export function readout(name, bar = true) {
  const value = make("dd", { class: "aw-value" }, "–");
  const note = make("dd", { class: "aw-note" });
  const fill = make("span", { class: "aw-meter-fill" });
  const node = make("div", { class: "aw-readout" }, make("dt", {}, name), value);
  if (bar) node.append(make("dd", { class: "aw-meter", "aria-hidden": "true" }, fill));
  node.append(note);
  return {
    node,
    /** @param {string} text @param {string} explained @param {number} [share] */
    set(text, explained, share = 0) {
      setText(value, text);
      setText(note, explained);
      // Painted, not moved: a changed transform would have the compositor sort all layers anew.
      if (!bar) return;
      const size = `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}% 100%`;
      if (fill.style.backgroundSize !== size) fill.style.backgroundSize = size;
    },
  };
}

/**
 * A table behind a toggle, filled when it is opened and kept up to date while it is open.
 * @param {string} summary
 * @param {string[] | (() => (string | Node)[])} columns  a function where they change
 * @param {() => (string | Node)[][]} rows
 * @param {AbortSignal} signal
 */
export function dataTable(summary, columns, rows, signal) {
  const body = make("tbody");
  const head = make("tr");
  const name = (/** @type {(string | Node)[]} */ names) =>
    head.replaceChildren(...names.map((column) => make("th", { scope: "col" }, column)));
  if (typeof columns !== "function") name(columns);
  const table = make("table", { class: "aw-table", "aria-label": summary }, make("thead", {}, head), body);
  const scroller = make("div", { class: "aw-scroll", tabindex: 0, role: "group", "aria-label": "Table, scrolls" }, table);
  const node = make("details", { class: "aw-details" }, make("summary", {}, summary), scroller);
  const fill = () => {
    if (!node.open) return;
    if (typeof columns === "function") name(columns());
    body.replaceChildren(
      ...rows().map(([first, ...rest]) =>
        make("tr", {}, make("th", { scope: "row" }, first), ...rest.map((cell) => make("td", {}, cell))),
      ),
    );
  };
  node.addEventListener("toggle", fill, { signal });
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  return {
    node,
    refresh: fill,
    /** When the reader pauses: thousands of cells are not made anew in each frame of a move. */
    refreshSoon() {
      clearTimeout(timer);
      if (node.open) timer = window.setTimeout(fill, 150);
    },
  };
}

/**
 * A number field that hands on every allowed value while it is typed and is never overwritten
 * under the reader's hands.
 * @param {{label: string, write: (value: number) => string, whole?: boolean, lowest?: number,
 *   highest?: number, positive?: boolean, allow?: (value: number) => boolean,
 *   refused?: (is: boolean) => void, signal: AbortSignal, onInput: (value: number) => void}} options
 *   `refused` hears when an entry is put back because nothing near it is allowed, and when one is
 *   taken again
 */
export function numberField(options) {
  const { label, write, whole, signal, onInput } = options;
  const lowest = options.lowest ?? -Infinity;
  const highest = options.highest ?? Infinity;
  let current = NaN;
  const node = make("input", {
    type: "number",
    class: "aw-field",
    inputmode: whole ? "numeric" : "decimal",
    step: whole ? 1 : "any",
    "aria-label": label,
  });
  if (Number.isFinite(lowest)) node.min = String(lowest);
  if (Number.isFinite(highest)) node.max = String(highest);
  const allowed = (/** @type {number} */ value) =>
    Number.isFinite(value) &&
    value >= lowest &&
    value <= highest &&
    (!whole || Number.isInteger(value)) &&
    (!options.positive || value > 0) &&
    (options.allow?.(value) ?? true);
  const show = () => {
    if (node.matches(":focus")) return;
    const text = write(current);
    if (node.value !== text) node.value = text;
    if (node.hasAttribute("aria-invalid")) node.removeAttribute("aria-invalid");
  };
  node.addEventListener(
    "input",
    () => {
      const value = node.value === "" ? NaN : Number(node.value);
      if (allowed(value)) {
        node.removeAttribute("aria-invalid");
        options.refused?.(false);
        onInput((current = value));
      } else node.setAttribute("aria-invalid", "true");
    },
    { signal },
  );
  node.addEventListener(
    "change",
    () => {
      const value = Number(node.value);
      if (node.value !== "" && Number.isFinite(value) && !allowed(value)) {
        const inside = Math.min(highest, Math.max(lowest, whole ? Math.round(value) : value));
        if (allowed(inside)) onInput((current = inside));
        else options.refused?.(true);
      }
      node.value = write(current);
      node.removeAttribute("aria-invalid");
    },
    { signal },
  );
  node.addEventListener("blur", () => queueMicrotask(show), { signal });
  return {
    node,
    /** @param {number} value */
    set(value) {
      current = value;
      show();
    },
  };
}

/**
 * A labelled slider with an exact number field. The slider moves over `stops` (any rising list of
 * values); the field takes every allowed value.
 * @param {{label: string, labelNode?: Node, stops: number[], write: (value: number) => string,
 *   spoken?: (value: number) => string, whole?: boolean, lowest?: number, highest?: number,
 *   positive?: boolean, field?: boolean, complaint?: string, signal: AbortSignal,
 *   onInput: (value: number) => void}} options
 */
export function slider(options) {
  const { label, write, signal, onInput } = options;
  const spoken = options.spoken ?? write;
  let stops = options.stops;
  let shown = NaN; // what the controls were last set to
  const range = make("input", { type: "range", class: "aw-range", min: 0, step: 1 });
  const name = make("span", { class: "aw-name" }, options.labelNode ?? label);
  const complaint = make("span", { class: "aw-complaint", role: "status" });
  const refused = (/** @type {boolean} */ is) => setText(complaint, is ? options.complaint ?? "" : "");
  const field = numberField({ ...options, refused, label: `${label}, exact value` });
  const node = make("div", { class: "aw-control" }, make("label", { class: "aw-label" }, name, range));
  if (options.field !== false) node.append(field.node);
  if (options.complaint) node.append(complaint);

  const nearest = (/** @type {number} */ value) => {
    let best = 0;
    for (let i = 1; i < stops.length; i++) {
      if (Math.abs(stops[i] - value) < Math.abs(stops[best] - value)) best = i;
    }
    return best;
  };
  range.addEventListener("input", () => ((shown = NaN), onInput(stops[Number(range.value)])), { signal });

  return {
    node,
    range,
    field: field.node,
    /** @param {number[]} values */
    setStops(values) {
      stops = values;
      shown = NaN;
    },
    /** @param {number} value */
    set(value) {
      const max = String(stops.length - 1);
      if (shown === value && range.max === max) return; // an untouched control costs nothing
      shown = value;
      refused(false);
      if (range.max !== max) range.max = max;
      const position = String(nearest(value));
      if (range.value !== position) range.value = position;
      setAttribute(range, "aria-valuetext", spoken(value));
      field.set(value);
    },
  };
}

/**
 * Call `draw` once in the next frame, however often `ask()` is called.
 * @param {() => void} draw
 */
export function batched(draw) {
  let frame = 0;
  return {
    ask() {
      if (!frame) frame = requestAnimationFrame(() => ((frame = 0), draw()));
    },
    cancel() {
      cancelAnimationFrame(frame);
      frame = 0;
    },
  };
}

const SAID = 20_000; // ms that a message stays in the page: read there once more, it would be a repetition

/**
 * A polite live region that speaks when the reader pauses, and not at the start. All that it says
 * stands elsewhere in the widget too, so it is empty before and some time after.
 * @param {number} [pause] milliseconds
 * @param {boolean} [first] whether the first that it is given is how the widget stands at the start
 */
export function announcer(pause = 700, first = true) {
  const node = make("p", { class: "aw-live", "aria-live": "polite", "aria-atomic": "true" });
  let timer = 0;
  return {
    node,
    /** Made when it is spoken, not at every move. Nodes keep the language of a word.
     * @param {() => string | (string | Node)[]} text */
    say(text) {
      const speak = () => {
        const said = text();
        node.replaceChildren(...(typeof said === "string" ? [said] : said));
        timer = window.setTimeout(() => node.replaceChildren(), SAID);
      };
      clearTimeout(timer);
      if (!first) timer = window.setTimeout(speak, pause);
      first = false;
    },
    cancel() {
      clearTimeout(timer);
    },
  };
}

/** `count` values from `from` to `to`, each `step` further, free of rounding noise.
 * @param {number} from @param {number} to @param {number} step */
export function steps(from, to, step) {
  const count = Math.round((to - from) / step) + 1;
  return Array.from({ length: count }, (_, i) => Number((from + i * step).toPrecision(12)));
}

/** Temperatures of the sliders: 0.05 … 10, 231 stops evenly apart on a log scale; 1 is one of them. */
export const TEMPERATURES = steps(-1.3, 1, 0.01).map((exponent) =>
  exponent === -1.3 ? 0.05 : Number((10 ** exponent).toPrecision(3)),
);

/**
 * Listen to several traits of an AFM model; returns the function that stops listening.
 * @param {any} model
 * @param {string[]} names
 * @param {() => void} changed
 */
export function watch(model, names, changed) {
  for (const name of names) model.on(`change:${name}`, changed);
  return () => {
    for (const name of names) model.off(`change:${name}`, changed);
  };
}

/** Set traits and hand them to Python. @param {any} model @param {Record<string, any>} values */
export function commit(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

/**
 * Puts a widget in its place. Returns the function that takes it away again, with all it started.
 * @param {HTMLElement} el @param {HTMLElement} root
 * @param {...(() => void)} ends  each ends one thing that would go on without it
 */
export function mounted(el, root, ...ends) {
  // JupyterLab would take an arrow key for a move to another cell, and an x to cut this one. It looks
  // for this attribute from the control that has the focus, and does not get as far as the root.
  root.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element) target.setAttribute("data-lm-suppress-shortcuts", "true");
  });
  el.append(root);
  return () => {
    for (const end of ends) end();
    root.remove();
  };
}
