import {
  announcer, batched, button, commit, dataTable, languageOf, linePath, make, mounted, number, plot,
  setAttribute, setText, slider, token, visible, watch, wholePercent,
} from "./core.js";
import { mapView, placed, rowRead, scaleKey, shortened } from "./maps.js";
import { readMaps } from "./packed.js";
import { thumbnails } from "./thumbnails.js";

const PAUSE = 450; // milliseconds that a snapshot stands while the run plays

/** The loss of each snapshot as a curve over the training steps, the chosen one marked.
 * @param {number[]} steps @param {number[]} losses */
function lossCurve(steps, losses) {
  const chart = plot("aw-sn-loss");
  const [first, last] = [steps[0], steps[steps.length - 1]];
  const top = Math.max(...losses) || 1;
  const across = (/** @type {number} */ step) => (last > first ? (step - first) / (last - first) : 0.5);
  const line = chart.shape("aw-curve");
  line.style.stroke = "var(--aw-line-1)";
  setAttribute(line, "d", linePath(steps.map((step, i) => [across(step), losses[i] / top])));
  const [rule, dot] = ["rule", "dot"].map((kind) => make("span", { class: `aw-sn-${kind}`, "aria-hidden": "true" }));
  chart.area.append(rule, dot);
  chart.ticks("x", last > first ? [[0, String(first)], [1, String(last)]] : [[0.5, String(first)]]);
  chart.ticks("y", [[1, "0"], [0, number(top, 2)]]);
  return {
    node: make("div", {}, make("p", { class: "aw-small aw-sn-caption" }, "Loss against training step"), chart.node),
    /** @param {number} i */
    mark(i) {
      rule.style.left = dot.style.left = `${(100 * across(steps[i])).toFixed(2)}%`;
      dot.style.top = `${(100 * (1 - losses[i] / top)).toFixed(2)}%`;
      setAttribute(chart.node, "aria-label", `Loss curve; at step ${steps[i]} the loss is ${number(losses[i])}`);
    },
  };
}

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  const { heads, rows, columns, maps, blocked, masked } = readMaps(model);
  /** @type {number[]} */ const steps = model.get("_steps");
  /** @type {number[]} */ const losses = model.get("_losses");
  /** @type {string[]} */ const queries = model.get("_query_tokens");
  /** @type {string[]} */ const keys = model.get("_key_tokens");
  const shape = /** @type {[number, number]} */ ([rows, columns]);
  const last = steps.length - 1;
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const shown = { at: 0, head: 0, query: 0 };
  let key = -1;
  let hover = /** @type {{row: number, column: number} | null} */ (null);
  const nearest = (/** @type {number} */ step) => steps.reduce(
    (best, one, i) => (Math.abs(one - step) < Math.abs(steps[best] - step) ? i : best), 0);

  /* ---- time */
  let timer = 0;
  const player = button("", () => (timer ? pause() : still.matches ? advance() : play()), signal, "aw-sn-play");
  const name = () => setText(player, still.matches ? (shown.at === last ? "First step" : "Next step") : timer ? "Pause" : "Play");
  const advance = () => commit(model, { step: steps[shown.at === last ? 0 : shown.at + 1] });
  function play() {
    advance();
    timer = window.setTimeout(next, PAUSE);
    name();
  }
  function next() {
    timer = 0;
    if (shown.at < last && !still.matches && !document.hidden) play();
    else name();
  }
  function pause() {
    clearTimeout(timer);
    timer = 0;
    name();
  }
  still.addEventListener("change", pause, { signal });
  player.hidden = last === 0;
  const stepSlider = slider({
    label: "Step", stops: steps, whole: true, field: false, signal, write: String,
    spoken: (step) => `training step ${step}${losses.length ? `, loss ${number(losses[nearest(step)])}` : ""}`,
    onInput(step) {
      pause();
      commit(model, { step });
    },
  });
  const stepName = make("span", { class: "aw-sn-value", "aria-hidden": "true" });
  stepSlider.node.append(stepName);

  /* ---- what changes */
  const curve = losses.length ? lossCurve(steps, losses) : null;
  const table = thumbnails({
    label: "Heads", signal, onPick: (_, head) => commit(model, { head }), spoken: (_, head) => `head ${head}`,
  });
  if (heads > 1) table.build(["heads"], Array.from({ length: heads }, (_, i) => String(i)), shape);
  const title = make("strong", { class: "aw-sn-title" });
  const view = mapView({
    label: "Weights at this step. Arrow keys move between queries and keys.", signal,
    onHover(at) {
      hover = at;
      pointed.ask();
    },
    onPick(at) {
      hover = null;
      key = at.column;
      if (at.row === model.get("query")) pointed.ask();
      else commit(model, { query: at.row });
    },
  });
  view.setTokens(queries, keys);
  const legend = scaleKey({ blocked: masked });
  const querySlider = slider({
    label: "Query", stops: Array.from(queries.keys()), whole: true, field: false, signal, write: String,
    spoken: (row) => `${visible(queries[row])}, ${row + 1} of ${rows}`,
    onInput(query) {
      hover = null;
      commit(model, { query });
    },
  });
  const queryName = make("span", { class: "aw-sn-value", "aria-hidden": "true" });
  querySlider.node.append(queryName);
  querySlider.node.hidden = rows === 1;
  const reading = make("p", { class: "aw-sn-reading" });
  const live = announcer();
  const data = dataTable(
    "Weights at this step as a table", () => ["Query", ...keys.map(token)],
    () => queries.map((text, row) => [token(text), ...keys.map((_, column) => {
      const cell = row * columns + column;
      return blocked[shown.at][shown.head]?.[cell] ? "blocked" : wholePercent(maps[shown.at][shown.head][cell]);
    })]),
    signal,
  );
  const root = make(
    "div", { class: "aw-root aw-sn", role: "group", "aria-label": "Attention while training" },
    make("div", { class: "aw-sn-time" }, player, stepSlider.node),
    make("div", { class: "aw-sn-top" },
      make("div", { class: "aw-sn-left" }, curve ? curve.node : "", heads > 1 ? table.node : "", querySlider.node),
      make("div", { class: "aw-sn-right" }, title, view.node, legend.node, reading)),
    live.node, data.node,
  );

  /** @param {number} row @param {number} column */
  function said(row, column) {
    const [map, hidden] = [maps[shown.at][shown.head], blocked[shown.at][shown.head]];
    const [from, to] = [row * columns, (row + 1) * columns];
    const words = rowRead(queries, row, keys, map.subarray(from, to), { blocked: hidden?.subarray(from, to) });
    if (column >= 0) {
      words.push("; ", ...placed(keys, column), hidden?.[from + column] ? ": blocked" : `: ${wholePercent(map[from + column])}`);
    }
    return [...words, "."];
  }
  const heading = () => `Step ${steps[shown.at]}${heads > 1 ? `, head ${shown.head}` : ""}`
    + (losses.length ? `, loss ${number(losses[shown.at])}` : "");

  function point() {
    const row = hover && hover.row >= 0 ? hover.row : shown.query;
    const column = hover ? hover.column : key;
    view.select(row, column);
    reading.replaceChildren(...said(row, column));
    if (!hover) live.say(() => [`${heading()}: `, ...said(shown.query, key)]);
  }

  let later = 0;
  let drawn = -1;
  function update() {
    shown.at = nearest(model.get("step"));
    shown.head = Math.min(heads - 1, model.get("head"));
    shown.query = Math.min(rows - 1, model.get("query"));
    const { at, head, query } = shown;
    view.draw(maps[at][head], { blocked: blocked[at][head] });
    if (heads > 1) {
      if (drawn !== at) table.draw([maps[at]], shape, (_, one) => ({ blocked: blocked[at][one] }));
      table.select(0, head);
    }
    drawn = at;
    curve?.mark(at);
    stepSlider.set(steps[at]);
    setText(stepName, String(steps[at]));
    setText(title, heading());
    querySlider.set(query);
    setText(queryName, shortened(queries[query], 9));
    setAttribute(queryName, "lang", languageOf(queries[query]) || "en");
    name();
    point();
    clearTimeout(later); // a table of thousands of cells waits until the reader pauses
    if (data.node.open) later = window.setTimeout(data.refresh, 150);
  }
  legend.set({ top: 1 });

  const frame = batched(update);
  const pointed = batched(point);
  const unwatch = watch(model, ["step", "head", "query"], frame.ask);
  update();
  return mounted(
    el, root, unwatch, () => stop.abort(), frame.cancel, pointed.cancel, () => clearTimeout(later),
    () => clearTimeout(timer), live.cancel,
  );
}

export default { render };
