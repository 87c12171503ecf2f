import { announcer, batched, commit, dataTable, make, mounted, setText, watch } from "./core.js";
import { scaleKey } from "./maps.js";
import { pickedMap } from "./maps_pick.js";
import { readMaps } from "./packed.js";
import { thresholdSliders } from "./thresholds_controls.js";
import { chip, classCounts, classGrid } from "./thresholds_grid.js";
import { measureTable } from "./thresholds_measures.js";
import { fixed, kindOf, readRows, why } from "./thresholds_rule.js";

const TRAITS = /** @type {Record<string, string>} */ ({ corrected: "thresholds", simple: "simple_thresholds" });
const TITLES = /** @type {Record<string, string>} */ ({ corrected: "corrected classes", simple: "simple rule" });
const NAMED = 2; // kinds of changes that are named after a move

/** "1 head", "2 heads" @param {number} count */
const headsOf = (count) => `${count} head${count === 1 ? "" : "s"}`;

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  /** @type {Record<string, any>} */ const tables = Object.fromEntries(model.get("_tables"));
  /** @type {Record<string, import("./thresholds_grid.js").Look>} */ const looks = model.get("_looks");
  /** @type {Record<string, string[]>} */ const rules = model.get("_rules");
  /** @type {Record<string, string>} */ const measures = Object.fromEntries(model.get("_measures"));
  const names = Object.keys(tables);
  const rowsOf = Object.fromEntries(names.map((name) => [name, readRows(tables[name])]));
  const mapsOfModel = /** @type {Record<string, ReturnType<typeof readMaps>>} */ ({});
  const shown = { model: "", rule: "", layer: 0, head: 0, query: 0, limits: "" };
  let kinds = /** @type {string[][]} */ ([]);
  let before = /** @type {string[][] | null} */ (null); // the classes before the last move
  let ended = true; // what moves next begins a move: a whole drag is one
  let started = false;
  let own = false; // the change comes from a slider of this view

  /* ---- which model, which rule */
  const menu = make("select", { class: "aw-select" }, ...names.map((name) => make("option", { value: name }, name)));
  const menuBox = make("label", { class: "aw-th-model" }, make("span", { class: "aw-name" }, "Model"), menu);
  menuBox.hidden = names.length === 1;
  menu.addEventListener("change", () => {
    const { layers, heads, map } = tables[menu.value];
    const last = (/** @type {string} */ trait, /** @type {number} */ n) => Math.min(model.get(trait), n - 1);
    commit(model, { model: menu.value, layer: last("layer", layers), head: last("head", heads), query: last("query", map?._shape[2] ?? 1) });
  }, { signal });
  const group = `rule-${Math.random()}`; // radio buttons of one view belong together
  const choices = Object.keys(rules).map((rule) => {
    const input = make("input", { type: "radio", name: group });
    input.addEventListener("change", () => commit(model, { rule }), { signal });
    return { rule, input, node: make("label", { class: "aw-check" }, input, make("span", {}, TITLES[rule])) };
  });
  const ruleBox = make("fieldset", { class: "aw-th-rules" }, make("legend", { class: "aw-hidden" }, "Rule"), ...choices.map((choice) => choice.node));

  /* ---- the heads, and the thresholds */
  const grid = classGrid({ looks, signal, onPick: (layer, head) => commit(model, { layer, head }) });
  const counts = classCounts(looks);
  const news = make("p", { class: "aw-small aw-th-news" });
  const most = Math.max(...names.flatMap((name) => rowsOf[name].flat().map((row) => row.queries)));
  const sliders = Object.fromEntries(Object.keys(rules).map((rule) => [rule, thresholdSliders({
    rule, limits: model.get("_limits")[rule], most, signal,
    onMove: (field, value) => moved({ ...model.get(TRAITS[rule]), [field]: value }),
    onReset() {
      ended = true;
      moved(Object.fromEntries(model.get("_limits")[rule].map((/** @type {any[]} */ limit) => limit.slice(0, 2))));
      ended = true;
    },
  })]));
  const limitBox = make("div", {}, ...Object.values(sliders).map((one) => one.node));
  limitBox.addEventListener("change", () => (ended = true), { signal });
  function moved(/** @type {Record<string, number>} */ limits) {
    if (ended) before = kinds;
    ended = false;
    own = true;
    commit(model, { [TRAITS[shown.rule]]: limits });
  }

  /* ---- one head */
  const title = make("strong", { class: "aw-th-title" });
  const reason = make("p", { class: "aw-th-why" });
  const basis = make("p", { class: "aw-small" });
  const table = measureTable(measures);
  const live = announcer();
  const large = pickedMap({
    label: "Weights of the chosen head. Arrow keys move between queries and keys.",
    reading: "aw-th-reading", table: "Weights of this head as a table", model, signal,
    pointed(_, hovering) {
      if (!hovering && started) live.say(() => [headSaid(), " ", ...large.said()]);
    },
  });
  const legend = scaleKey();
  const mapBox = make("div", { class: "aw-th-map" },
    make("p", { class: "aw-small" }, "Its weights in one example"), large.node, legend.node, large.reading);
  const data = dataTable(
    "All heads as a table", () => ["Head", "Class", ...Object.values(measures)],
    () => rowsOf[shown.model].flatMap((row, layer) => row.map((head, i) => [
      `layer ${layer}, head ${i}`, looks[kinds[layer][i]][1],
      ...Object.keys(measures).map((name) => `${fixed(head[name].mean)}${Number.isNaN(head[name].sd) ? "" : ` ± ${fixed(head[name].sd)}`}`),
    ])),
    signal,
  );
  const root = make(
    "div", { class: "aw-root aw-th", role: "group", "aria-label": "Classes of heads" },
    make("div", { class: "aw-th-head" }, menuBox, ruleBox),
    make("div", { class: "aw-th-columns" },
      make("div", { class: "aw-th-left" }, grid.node, counts.node, news), limitBox),
    make("div", { class: "aw-th-columns aw-th-one" },
      make("div", { class: "aw-th-left" }, title, reason, table.node, basis), mapBox),
    live.node, data.node, large.data,
  );

  const rowOf = () => rowsOf[shown.model][shown.layer][shown.head];
  const limitsOf = () => model.get(TRAITS[shown.rule]);
  const headSaid = () => `layer ${shown.layer}, head ${shown.head}: ${looks[kinds[shown.layer][shown.head]][1]}. `
    + why(rowOf(), shown.rule, limitsOf(), measures);

  /** How many heads the last move changed, and from what to what. */
  function change() {
    if (!before) return "A head whose class a slider changes is marked with a corner.";
    const moves = new Map();
    before.forEach((row, layer) => row.forEach((was, head) => {
      const is = kinds[layer][head];
      const name = `${looks[was][1]} → ${looks[is][1]}`;
      if (was !== is) moves.set(name, (moves.get(name) ?? 0) + 1);
    }));
    const sorted = [...moves].sort((a, b) => b[1] - a[1]);
    const total = sorted.reduce((sum, [, count]) => sum + count, 0);
    if (!total) return "The last move changed no head.";
    const end = sorted.length > NAMED ? ", …" : ".";
    return `The last move changed ${headsOf(total)}: ${sorted.slice(0, NAMED).map(([name, count]) => `${count} ${name}`).join(", ")}${end}`;
  }
  function summary() {
    const all = kinds.flat();
    const parts = rules[shown.rule].map((kind) => ({ name: looks[kind][1], count: all.filter((one) => one === kind).length }));
    const some = parts.filter(({ count }) => count);
    return `${TITLES[shown.rule]}: ${some.map(({ name, count }, i) => `${count}${i ? "" : ` of ${headsOf(all.length)}`} ${name}`).join(", ")}.`
      + (before ? ` ${change()}` : "");
  }

  function update() {
    const last = { ...shown };
    for (const name of ["model", "rule", "layer", "head", "query"]) /** @type {any} */ (shown)[name] = model.get(name);
    const rows = rowsOf[shown.model];
    shown.layer = Math.min(shown.layer, rows.length - 1);
    shown.head = Math.min(shown.head, rows[0].length - 1);
    const limits = limitsOf();
    shown.limits = JSON.stringify(limits);
    const other = shown.model !== last.model || shown.rule !== last.rule;
    const reclassed = other || shown.limits !== last.limits;
    if (other) [before, ended] = [null, true];
    else if (reclassed && !own) [before, ended] = [kinds, true]; // Python, or another view
    own = false;
    if (shown.model !== last.model) {
      menu.value = shown.model;
      grid.build(rows.length, rows[0].length);
    }
    if (shown.rule !== last.rule) {
      for (const { rule, input } of choices) {
        input.checked = rule === shown.rule;
        sliders[rule].node.hidden = rule !== shown.rule;
      }
    }
    if (reclassed) {
      kinds = rows.map((row) => row.map((head) => kindOf(head, shown.rule, limits)));
      grid.draw(kinds, before);
      counts.set(rules[shown.rule], kinds.flat());
      setText(news, change());
      sliders[shown.rule].set(limits);
    }
    grid.select(shown.layer, shown.head);
    const row = rowOf();
    const kind = kinds[shown.layer][shown.head];
    const name = `Layer ${shown.layer}, head ${shown.head}: ${looks[kind][1]}`;
    if (title.__name !== name) title.replaceChildren(chip(looks[kind]), name);
    title.__name = name;
    setText(reason, why(row, shown.rule, limits, measures) ?? "");
    table.set(row, shown.rule, limits);
    setText(basis, `${row.queries.toLocaleString("en")} queries in ${row.inputs.toLocaleString("en")} input${row.inputs === 1 ? "" : "s"}`);
    if (shown.model !== last.model || shown.layer !== last.layer || shown.head !== last.head || shown.query !== last.query) drawMap();
    if (reclassed) live.say(summary);
    started = true;
    if (reclassed) data.refreshSoon();
  }
  function drawMap() {
    const { map } = tables[shown.model];
    mapBox.hidden = large.data.hidden = !map;
    if (!map && started) live.say(headSaid);
    if (!map) return;
    const maps = (mapsOfModel[shown.model] ??= readMaps({ get: (/** @type {string} */ name) => map[name] }));
    large.setTokens(map._query_tokens, map._key_tokens);
    legend.set({ top: 1, blocked: maps.masked });
    const query = Math.min(shown.query, maps.rows - 1);
    large.draw(maps.maps[shown.layer][shown.head], query, { blocked: maps.blocked[shown.layer][shown.head] });
  }

  const frame = batched(update);
  const unwatch = watch(model, ["model", "rule", "layer", "head", "query", "thresholds", "simple_thresholds"], frame.ask);
  update();
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, large.cancel, live.cancel);
}

export default { render };
