import {
  announcer, batched, button, commit, languageOf, linePath, make, mounted, number, plot, setAttribute,
  setText, slider, visible, watch,
} from "./core.js";
import { scaleKey, shortened } from "./maps.js";
import { pickedMap } from "./maps_pick.js";
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
  const nearest = (/** @type {number} */ step) => steps.reduce(
    (best, one, i) => (Math.abs(one - step) < Math.abs(steps[best] - step) ? i : best), 0);

  /* ---- time */
  let timer = 0;
  const player = button("", () => (timer ? pause() : still.matches ? advance() : play()), signal, "aw-sn-play");
  const name = () => setText(player, still.matches ? (shown.at === last ? "First step" : "Next step") : timer ? "Pause" : "Play");
  const advance = () => {
    const at = nearest(model.get("step")); // drawn or not yet
    commit(model, { step: steps[at === last ? 0 : at + 1] });
  };
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
  const large = pickedMap({
    label: "Weights at this step. Arrow keys move between queries and keys.",
    reading: "aw-sn-reading", table: "Weights at this step as a table", model, signal,
    pointed(_, hovering) {
      if (!hovering) live.say(() => [`${heading()}: `, ...large.said()]);
    },
  });
  large.setTokens(queries, keys);
  const legend = scaleKey({ blocked: masked });
  const querySlider = slider({
    label: "Query", stops: Array.from(queries.keys()), whole: true, field: false, signal, write: String,
    spoken: (row) => `${visible(queries[row])}, ${row + 1} of ${rows}`,
    onInput(query) {
      large.leave();
      commit(model, { query });
    },
  });
  const queryName = make("span", { class: "aw-sn-value", "aria-hidden": "true" });
  querySlider.node.append(queryName);
  querySlider.node.hidden = rows === 1;
  const live = announcer();
  const root = make(
    "div", { class: "aw-root aw-sn", role: "group", "aria-label": "Attention while training" },
    make("div", { class: "aw-sn-time" }, player, stepSlider.node),
    make("div", { class: "aw-sn-top" },
      make("div", { class: "aw-sn-left" }, curve ? curve.node : "", heads > 1 ? table.node : "", querySlider.node),
      make("div", { class: "aw-sn-right" }, title, large.node, legend.node, large.reading)),
    live.node, large.data,
  );

  const heading = () => `Step ${steps[shown.at]}${heads > 1 ? `, head ${shown.head}` : ""}`
    + (losses.length ? `, loss ${number(losses[shown.at])}` : "");

  let drawn = -1;
  function update() {
    shown.at = nearest(model.get("step"));
    shown.head = Math.min(heads - 1, model.get("head"));
    shown.query = Math.min(rows - 1, model.get("query"));
    const { at, head, query } = shown;
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
    large.draw(maps[at][head], query, { blocked: blocked[at][head] });
  }
  legend.set({ top: 1 });

  const frame = batched(update);
  const unwatch = watch(model, ["step", "head", "query"], frame.ask);
  update();
  return mounted(
    el, root, unwatch, () => stop.abort(), frame.cancel, large.cancel, () => clearTimeout(timer),
    live.cancel,
  );
}

export default { render };
