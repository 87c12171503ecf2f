/* Layers × heads, each cell a class: its letter and its colour. A table of thumbnails without maps. */

import { make, setAttribute, setText } from "./core.js";
import { thumbnails } from "./thumbnails.js";

/** How a class looks: letter, name, ground, ink. @typedef {[string, string, string, string]} Look */

/** The chip of a class. @param {Look} look */
export function chip([mark, , ground, ink]) {
  const node = make("span", { class: "aw-th-chip", "aria-hidden": "true" }, mark);
  Object.assign(node.style, { background: ground, color: ink });
  return node;
}

/**
 * @param {{looks: Record<string, Look>, signal: AbortSignal, onPick: (layer: number, head: number) => void}} options
 */
export function classGrid({ looks, signal, onPick }) {
  const table = thumbnails({ label: "Heads and their classes", signal, onPick, spoken: (layer, head) => `layer ${layer}, head ${head}` });
  return {
    node: table.node,
    select: table.select,
    /** @param {number} layers @param {number} heads */
    build(layers, heads) {
      const numbers = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => String(i));
      table.build(numbers(layers).map((layer) => `layer ${layer}`), numbers(heads), [1, 1]);
    },
    /** @param {string[][]} kinds @param {string[][] | null} before  what they were before the last move */
    draw(kinds, before) {
      kinds.forEach((row, layer) => row.forEach((kind, head) => {
        const cell = /** @type {any} */ (table.cell(layer, head));
        const was = before && before[layer][head] !== kind ? before[layer][head] : "";
        const asked = `${kind} ${was}`;
        if (cell.__asked === asked) return;
        cell.__asked = asked;
        const [mark, name, ground, ink] = looks[kind];
        cell.__mark ??= cell.appendChild(make("span", { class: "aw-th-mark" }));
        setText(cell.__mark, mark);
        Object.assign(cell.style, { backgroundColor: ground, color: ink });
        cell.classList.toggle("aw-th-changed", Boolean(was));
        setAttribute(cell, "aria-label", `layer ${layer}, head ${head}: ${name}${was ? `, was ${looks[was][1]}` : ""}`);
      }));
    },
  };
}

/**
 * How many heads each class has; also the legend of the grid.
 * @param {Record<string, Look>} looks
 */
export function classCounts(looks) {
  const node = make("ul", { class: "aw-th-counts", role: "list", "aria-label": "Heads of each class" });
  let built = "";
  let counts = /** @type {any[]} */ ([]);
  return {
    node,
    /** @param {string[]} names of the classes of a rule @param {string[]} kinds of all heads */
    set(names, kinds) {
      if (names.join() !== built) {
        built = names.join();
        counts = names.map(() => make("span", { class: "aw-th-count" }));
        node.replaceChildren(...names.map((kind, i) => make("li", {}, chip(looks[kind]), make("span", { class: "aw-th-kind" }, looks[kind][1]), counts[i])));
      }
      names.forEach((kind, i) => {
        const count = kinds.reduce((sum, one) => sum + Number(one === kind), 0);
        setText(counts[i], String(count));
        counts[i].parentNode.classList.toggle("aw-th-none", count === 0);
      });
    },
  };
}
