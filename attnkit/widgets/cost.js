import {
  announcer, batched, commit, dataTable, lineKey, make, mounted, plot, series, setAttribute, setText,
  slider, watch,
} from "./core.js";

const UNITS = /** @type {Record<string, string[]>} */ ({ time: ["ms", "s"], memory: ["MB", "GB"] });
const TITLES = /** @type {Record<string, string>} */ ({ time: "Median time", memory: "Peak memory" });
const HOLLOW = 4; // as many colours as core.js has
const TICKS = 4; // labels of n that a phone has room for

/** What was measured at one n. @typedef {{median: number, low: number, high: number, megabytes: number | null}} Cost */

/** A number in so many significant digits, without an exponent, as in cost.py. @param {number} value */
function significant(value, digits = 3) {
  const rounded = Number(value.toExponential(digits - 1));
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(rounded)));
  return rounded.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
}

/** @param {number} value milliseconds or megabytes @param {string} quantity */
function amount(value, quantity) {
  const [small, large] = UNITS[quantity];
  return value < 999.5 ? `${significant(value)} ${small}` : `${significant(value / 1000)} ${large}`;
}

/** Lowest to highest time in the unit of the highest. @param {number} low @param {number} high */
function span(low, high) {
  const top = amount(high, "time");
  return `${significant(top.endsWith("ms") ? low : low / 1000)}–${top}`;
}

/** 1, 10, 100 … inside a range; where it holds less than two, 1, 2, 5 of each. @param {number} low @param {number} high */
function logTicks(low, high) {
  const found = (/** @type {number[]} */ parts) => {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
      for (const part of parts) if (part * 10 ** power >= low && part * 10 ** power <= high) ticks.push(part * 10 ** power);
    }
    return ticks;
  };
  const tens = found([1]);
  return tens.length > 1 ? tens : found([1, 2, 5]);
}

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  /** @type {number[]} */ const sizes = model.get("_sizes");
  /** @type {string} */ const reference = model.get("_reference");
  const curves = model.get("_curves").map((/** @type {[string, number[][]]} */ [name, rows]) => ({
    name,
    costs: new Map(rows.map(([n, median, low, high, megabytes]) => [n, { median, low, high, megabytes }])),
  }));
  const full = curves.find((/** @type {any} */ curve) => curve.name === reference);
  const shown = { n: 0, quantity: "", drawn: "" };
  let drawn = /** @type {string[]} */ ([]);
  const valueOf = (/** @type {Cost | undefined} */ cost) => (cost && (shown.quantity === "time" ? cost.median : cost.megabytes)) ?? null;

  /* ---- controls */
  const count = make("span", { "aria-hidden": "true" }); // said as the value, not in the name
  const label = make("span", {}, "Tokens n", count);
  const nSlider = slider({
    label: "Tokens n", labelNode: label, stops: sizes, write: String, field: false, signal,
    spoken: (n) => `${n.toLocaleString("en")} tokens`, onInput: (n) => commit(model, { n }),
  });
  const group = `quantity-${Math.random()}`; // radio buttons of one view belong together
  const choices = Object.keys(UNITS).map((quantity) => {
    const input = make("input", { type: "radio", name: group });
    input.addEventListener("change", () => commit(model, { quantity }), { signal });
    return { quantity, input, node: make("label", { class: "aw-check" }, input, make("span", {}, quantity === "time" ? "time" : "peak memory")) };
  });
  const measured = (/** @type {any} */ curve) => [...curve.costs.values()].some(({ megabytes }) => megabytes !== null);
  const quantities = make("fieldset", { class: "aw-cost-quantities" }, make("legend", { class: "aw-hidden" }, "Quantity"), ...choices.map(({ node }) => node));
  quantities.hidden = !curves.some(measured);

  /* ---- the chart */
  const chart = plot("aw-cost-plot");
  const cursor = chart.shape("aw-cost-cursor");
  const first = Math.log(sizes[0]);
  const reach = Math.log(sizes[sizes.length - 1]) - first;
  const across = (/** @type {number} */ n) => (reach ? 0.02 + (0.96 * (Math.log(n) - first)) / reach : 0.5);
  let up = (/** @type {number} */ value) => value;
  const lines = curves.map((/** @type {any} */ _, /** @type {number} */ i) => ({
    range: chart.shape("aw-cost-range"), line: chart.shape("aw-curve"), dots: chart.shape("aw-cost-dots"), now: chart.shape("aw-cost-now"), hole: chart.shape("aw-cost-hole"), style: series(i),
  })); // from the fifth on colours come again: its dots are hollow
  for (const { range, line, dots, now, style } of lines) {
    const solid = style.replace(/stroke-dasharray.*/, "");
    for (const [shape, css] of [[range, solid], [line, style], [dots, solid], [now, solid]]) shape.setAttribute("style", css);
  }
  const apart = Math.ceil(sizes.length / TICKS);
  chart.ticks("x", sizes.flatMap((n, i) => ((sizes.length - 1 - i) % apart ? [] : [/** @type {[number, string]} */ ([across(n), n.toLocaleString("en")])])));
  const picked = (/** @type {PointerEvent} */ event) => {
    const dragged = event.pointerType !== "touch" && event.buttons & 1; // a finger scrolls the page
    if (event.type === "pointermove" && !dragged) return;
    const box = chart.area.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width;
    commit(model, { n: sizes.reduce((best, n) => (Math.abs(across(n) - x) < Math.abs(across(best) - x) ? n : best)) });
  };
  for (const kind of ["click", "pointermove"]) chart.area.addEventListener(kind, picked, { signal });
  const title = make("p", { class: "aw-panel-title" });
  const key = make("p", { class: "aw-small aw-cost-key" });

  /* ---- the numbers at n */
  const rows = curves.map((/** @type {any} */ { name }, /** @type {number} */ i) => {
    const input = make("input", { type: "checkbox" });
    input.addEventListener("change", () => {
      const now = model.get("drawn");
      commit(model, { drawn: curves.map((/** @type {any} */ curve) => curve.name).filter((/** @type {string} */ other) => (other === name ? input.checked : now.includes(other))) });
    }, { signal });
    const [value, range, ratio] = ["value", "range", "ratio"].map((kind) => make("span", { class: `aw-cost-${kind}` }));
    const node = make("li", { class: "aw-cost-row" },
      make("label", { class: "aw-check" }, input, lineKey(series(i), make("span", { class: "aw-cost-name" }, name))),
      value, make("span", { class: "aw-cost-numbers" }, range, ratio));
    return { node, input, value, range, ratio };
  });
  const list = make("ul", { class: "aw-cost-rows", role: "list", "aria-label": "Kinds of attention, and what each costs at n" }, ...rows.map((/** @type {any} */ row) => row.node));
  const live = announcer();
  const table = dataTable(
    "Measurements as a table", () => ["n", ...drawn],
    () => sizes.map((n) => [n.toLocaleString("en"), ...drawn.map((name) => {
      const cost = curves.find((/** @type {any} */ curve) => curve.name === name).costs.get(n);
      return written(cost) + (cost && shown.quantity === "time" ? ` (${span(cost.low, cost.high)})` : "");
    })]), signal,
  );
  const root = make(
    "div", { class: "aw-root aw-cost", role: "group", "aria-label": "What attention costs at n tokens" },
    make("div", { class: "aw-controls" }, nSlider.node, quantities),
    make("div", { class: "aw-panels" }, make("div", { class: "aw-panel" }, title, chart.node, make("p", { class: "aw-axis" }, "n, tokens (both axes are logarithmic)"), key), list),
    live.node, table.node,
  );

  const written = (/** @type {Cost | undefined} */ cost) => {
    const value = valueOf(cost);
    return value === null ? (cost ? "not measured" : "not run") : amount(value, shown.quantity);
  };
  /** "0.31 × full attention" @param {any} curve */
  const ratioOf = (curve) => {
    const [own, others] = [curve, full].map(({ costs }) => valueOf(costs.get(shown.n)));
    if (own === null) return "";
    if (curve === full) return "reference";
    return others === null ? `${reference}: not run` : `${significant(own / others, 2)} × ${reference}`;
  };

  function drawCurves() {
    const inTime = shown.quantity === "time";
    const every = curves.flatMap((/** @type {any} */ { costs }) => [...costs.values()].flatMap((cost) => (inTime ? [cost.low, cost.high] : cost.megabytes ?? [])));
    const [low, high] = [Math.min(...every), Math.max(...every)];
    const height = Math.log(high / low) || 1;
    up = (value) => 0.04 + (0.92 * Math.log(value / low)) / height;
    const at = (/** @type {number} */ n, /** @type {number} */ value) => `${(1000 * across(n)).toFixed(1)} ${(1000 * (1 - up(value))).toFixed(1)}`;
    curves.forEach((/** @type {any} */ { name, costs }, /** @type {number} */ i) => {
      const is = drawn.includes(name);
      let [path, dots, range, open] = ["", "", "", false];
      for (const n of is ? sizes : []) {
        const cost = costs.get(n);
        const value = valueOf(cost);
        if (value !== null) {
          path += `${open ? "L" : "M"}${at(n, value)}`; // a line does not cross what was not run
          dots += `M${at(n, value)}h0`;
          if (inTime) range += `M${at(n, cost.low)}L${at(n, cost.high)}`;
        }
        open = value !== null;
      }
      setAttribute(lines[i].line, "d", path);
      setAttribute(lines[i].dots, "d", dots);
      setAttribute(lines[i].hole, "d", i >= HOLLOW ? dots : "");
      setAttribute(lines[i].range, "d", range);
    });
    const ticks = logTicks(low, high);
    const every2 = Math.ceil(ticks.length / 6);
    chart.ticks("y", ticks.filter((_, i) => i % every2 === 0).map((value) => [1 - up(value), amount(value, shown.quantity).replace(/(\d)\.0+ /, "$1 ")]));
    setText(key, inTime ? "Dots: median of the runs; broad strokes: fastest to slowest." : "Dots: highest use of memory during a run.");
    return at;
  }
  let at = (/** @type {number} */ _n, /** @type {number} */ _value) => "";

  function update() {
    const last = { ...shown };
    shown.n = sizes.includes(model.get("n")) ? model.get("n") : sizes[0];
    shown.quantity = model.get("quantity");
    drawn = model.get("drawn");
    shown.drawn = JSON.stringify(drawn);
    const { n, quantity } = shown;
    const other = quantity !== last.quantity || shown.drawn !== last.drawn;
    if (other) {
      at = drawCurves();
      for (const choice of choices) choice.input.checked = choice.quantity === quantity;
      table.refresh();
    }
    nSlider.set(n);
    setText(count, ` = ${n.toLocaleString("en")}`);
    setText(title, `${TITLES[quantity]} at n = ${n.toLocaleString("en")}`);
    setAttribute(chart.node, "aria-label", `${TITLES[quantity]} against the number of tokens; the table has the numbers`);
    setAttribute(cursor, "d", `M${(1000 * across(n)).toFixed(1)} 0V1000`);
    curves.forEach((/** @type {any} */ curve, /** @type {number} */ i) => {
      const cost = curve.costs.get(n);
      const value = valueOf(cost);
      const is = drawn.includes(curve.name);
      const row = rows[i];
      if (row.input.checked !== is) row.input.checked = is;
      row.node.classList.toggle("aw-cost-off", !is);
      setText(row.value, written(cost));
      setText(row.range, cost && quantity === "time" ? span(cost.low, cost.high) : "");
      setText(row.ratio, ratioOf(curve));
      setAttribute(lines[i].now, "d", is && value !== null ? `M${at(n, value)}h0` : "");
    });
    live.say(() => `n = ${n.toLocaleString("en")}, ${TITLES[quantity].toLowerCase()}: ` + (curves.filter((/** @type {any} */ { name }) => drawn.includes(name)).map((/** @type {any} */ curve) => {
      const cost = curve.costs.get(n);
      const range = cost && quantity === "time" ? ` (${span(cost.low, cost.high)})` : "";
      const ratio = curve === full ? "" : ratioOf(curve).replace(" × ", " times ");
      return `${curve.name} ${written(cost)}${range}${ratio && `, ${ratio}`}`;
    }).join("; ") || "no curve is drawn") + ".");
  }

  const frame = batched(update);
  const unwatch = watch(model, ["n", "quantity", "drawn"], frame.ask);
  update();
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, live.cancel);
}

export default { render };
