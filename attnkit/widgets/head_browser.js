import {
  announcer, batched, commit, languageOf, make, mounted, setAttribute, setText, slider, visible, watch,
  wholePercent,
} from "./core.js";
import { placed, scaleKey, shortened } from "./maps.js";
import { pickedMap } from "./maps_pick.js";
import { largestUntil, readMaps } from "./packed.js";
import { thumbnails } from "./thumbnails.js";

const BARS = 6; // keys of the row that have a bar; the others are added up

/**
 * The largest keys of a row as bars; the rest in one line.
 * @param {number} columns
 */
function barList(columns) {
  const rows = Array.from({ length: Math.min(BARS, columns) }, () => {
    const [name, fill, share] = ["name", "fill", "share"].map((part) => make("span", { class: `aw-hb-bar-${part}` }));
    const node = make("li", { class: "aw-hb-bar" }, name, make("span", { class: "aw-hb-bar-track", "aria-hidden": "true" }, fill), share);
    return { node, name, fill, share, of: "" };
  });
  const rest = make("p", { class: "aw-small aw-hb-rest" });
  const list = make("ol", { class: "aw-hb-bars", role: "list", "aria-label": "Largest keys of the query" }, ...rows.map((row) => row.node));
  return {
    node: make("div", { class: "aw-hb-foot" }, list, rest),
    /** @param {string[]} keys @param {ArrayLike<number>} row @param {ArrayLike<number> | null} blocked
     * @param {ArrayLike<number> | null} kept */
    set(keys, row, blocked, kept) {
      const order = Array.from(keys.keys()).filter((i) => !(blocked && blocked[i]));
      order.sort((a, b) => row[b] - row[a] || a - b);
      rows.forEach((bar, rank) => {
        const key = order[rank];
        bar.node.style.visibility = key === undefined ? "hidden" : "visible";
        if (key === undefined) return;
        const of = `${key} ${keys[key]}`;
        if (bar.of !== of) {
          bar.name.replaceChildren(...placed(keys, key));
          bar.of = of;
        }
        setText(bar.share, wholePercent(row[key]));
        bar.fill.style.backgroundSize = `${(100 * row[key]).toFixed(1)}% 100%`;
        bar.node.classList.toggle("aw-hb-out", Boolean(kept) && !kept?.[key]);
      });
      const others = order.slice(rows.length);
      const sum = others.reduce((total, key) => total + row[key], 0);
      setText(rest, others.length ? `${others.length} other key${others.length > 1 ? "s" : ""}: ${wholePercent(sum)} together` : "");
    },
  };
}

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  const { outer: layers, heads, rows, columns, maps, blocked, tops, masked } = readMaps(model);
  /** @type {string[]} */ const queries = model.get("_query_tokens");
  /** @type {string[]} */ const keys = model.get("_key_tokens");
  /** @type {string[]} */ const names = model.get("_names");
  const shape = /** @type {[number, number]} */ ([rows, columns]);
  const only = layers * heads === 1;
  const within = (/** @type {number} */ value, /** @type {number} */ n) => Math.min(n - 1, Math.max(0, value));
  const shown = { layer: 0, head: 0, query: 0 };
  let kept = /** @type {Uint8Array | null} */ (null);

  /* ---- the heads */
  const headName = (/** @type {number} */ layer, /** @type {number} */ head) => `${visible(names[layer])}, head ${head}`;
  const table = thumbnails({
    label: "Heads", signal,
    onPick: (layer, head) => commit(model, { layer, head }),
    spoken: (layer, head) => `${headName(layer, head)}, largest weight ${wholePercent(tops[layer][head])}`,
  });
  table.build(names, Array.from({ length: heads }, (_, i) => String(i)), shape);
  const scales = ["shared", "head"].map((value) => {
    const input = make("input", { type: "radio", value });
    input.addEventListener("change", () => commit(model, { scale: value }), { signal });
    return { value, input, node: make("label", { class: "aw-check" }, input, value === "shared" ? "shared scale" : "own scales") };
  });
  const scaleBox = make("div", { class: "aw-switches aw-hb-scales", role: "radiogroup", "aria-label": "Colour scale" }, ...scales.map((choice) => choice.node));
  scaleBox.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (!event.key.startsWith("Arrow")) return; // radio buttons without a name do not know each other
    event.preventDefault();
    const other = scales.find((choice) => choice.value !== model.get("scale"));
    commit(model, { scale: other?.value });
    other?.input.focus();
  }, { signal });
  const caption = make("p", { class: "aw-hb-caption aw-small" });
  const chooser = make("div", { class: "aw-hb-chooser" }, caption, table.node, scaleBox);

  /* ---- the large map */
  const title = make("strong", { class: "aw-hb-name" });
  const badge = make("span", { class: "aw-hb-badge" });
  const large = pickedMap({
    label: "Weights of the chosen head. Arrow keys move between queries and keys.",
    reading: "aw-hb-reading", table: "Weights of this head as a table", model, signal,
    more(row) {
      if (!kept || !tops[shown.layer][shown.head]) return [];
      const count = large.rowOf(kept, row).reduce((/** @type {number} */ sum, /** @type {number} */ one) => sum + one, 0);
      return [`. ${count} key${count === 1 ? " holds" : "s hold"} at least ${wholePercent(model.get("mass"))}`];
    },
    pointed(row, hovering) {
      const [map, hidden] = [maps[shown.layer][shown.head], blocked[shown.layer][shown.head]];
      bars.set(keys, large.rowOf(map, row), large.rowOf(hidden, row), large.rowOf(kept, row));
      if (!hovering) live.say(() => [`${headName(shown.layer, shown.head)}, `, ...large.said()]);
    },
  });
  large.setTokens(queries, keys);
  const legend = scaleKey({ blocked: masked, faded: true });

  /* ---- query and mass */
  const querySlider = slider({
    label: "Query", stops: Array.from(queries.keys()), whole: true, field: false, signal,
    write: String, spoken: (row) => `${visible(queries[row])}, ${row + 1} of ${rows}`,
    onInput(query) {
      large.leave();
      commit(model, { query });
    },
  });
  const queryName = make("span", { class: "aw-hb-query", "aria-hidden": "true" });
  querySlider.node.append(queryName);
  querySlider.node.hidden = rows === 1;
  const massSlider = slider({
    label: "Share shown, %", stops: Array.from({ length: 100 }, (_, i) => i + 1),
    whole: true, lowest: 1, highest: 100, write: String, spoken: (share) => `the largest weights up to ${share} % of each row`, signal,
    onInput: (share) => commit(model, { mass: share / 100 }),
  });
  const bars = barList(columns);
  const live = announcer();
  const root = make(
    "div", { class: `aw-root aw-hb${heads > 8 ? " aw-hb-many" : ""}`, role: "group", "aria-label": "Attention heads" },
    make("div", { class: "aw-hb-top" },
      make("div", { class: "aw-hb-left" }, only ? "" : chooser,
        make("div", { class: "aw-hb-controls" }, querySlider.node, massSlider.node)),
      make("div", { class: "aw-hb-right" },
        make("p", { class: "aw-hb-title" }, title, badge), large.node, legend.node, large.reading)),
    bars.node, live.node, large.data,
  );

  let thumbScale = "";
  function update() {
    shown.layer = within(model.get("layer"), layers);
    shown.head = within(model.get("head"), heads);
    shown.query = within(model.get("query"), rows);
    const { layer, head, query } = shown;
    const [scale, mass] = [model.get("scale"), model.get("mass")];
    const own = scale === "head";
    const top = own ? tops[layer][head] : 1;
    kept = mass < 1 ? largestUntil(maps[layer][head], columns, mass) : null;
    table.select(layer, head);
    if (scale !== thumbScale) {
      thumbScale = scale;
      table.draw(maps, shape, (row, column) => ({ top: own ? tops[row][column] : 1, blocked: blocked[row][column] }));
      for (const choice of scales) {
        choice.input.checked = choice.value === scale;
        choice.input.tabIndex = choice.value === scale ? 0 : -1;
      }
      root.classList.toggle("aw-hb-own", own);
      setText(caption, own ? "Each map up to its own largest weight" : "All maps on one scale, 0 to 100 %");
    }
    setText(title, headName(layer, head));
    setText(badge, own ? `own: 0 to ${wholePercent(top)}` : `largest ${wholePercent(tops[layer][head])}`);
    legend.set({ top });
    querySlider.set(query);
    if (queryName.__of !== queries[query]) {
      queryName.__of = queries[query];
      setText(queryName, shortened(queries[query], 9));
      setAttribute(queryName, "lang", languageOf(queries[query]) || "en");
    }
    massSlider.set(Math.round(100 * mass));
    large.draw(maps[layer][head], query, { top, blocked: blocked[layer][head], kept });
  }

  const frame = batched(update);
  const unwatch = watch(model, ["layer", "head", "query", "scale", "mass"], frame.ask);
  update();
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, large.cancel, live.cancel);
}

export default { render };
