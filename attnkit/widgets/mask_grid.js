import { inkOn, make, number, setAttribute, setText, token, visible, weightColour, wholePercent } from "./core.js";

const PAUSE = 150; // ms: names that only a screen reader hears are written when a move pauses

/**
 * The grid of queries (rows) and keys (columns), one cell or header of which can have the focus.
 * `toggle` hears which cell was pressed, with −1 for "all": (−1, 2) is the whole column of key 2.
 * `look` hears which cell is pointed at or has the focus, and null when none is.
 * @param {{n: number, signal: AbortSignal, toggle: (query: number, key: number) => void,
 *   look: (place: [number, number] | null) => void}} options
 * @typedef {{labels: string[], padded: number, mask: boolean[][], weights: number[][],
 *   scores: number[][], asScores: boolean}} Drawn  `padded`: tokens from this place on are padding
 */
export function maskGrid({ n, signal, toggle, look }) {
  const corner = make("div", { class: "aw-mask-corner", role: "columnheader" },
    make("span", { "aria-hidden": "true" }, "key →"), make("span", { "aria-hidden": "true" }, "query ↓"),
    make("span", { class: "aw-hidden" }, "query"));
  const header = (/** @type {string} */ kind, /** @type {string} */ role, /** @type {number} */ i) =>
    make("div", { class: `aw-mask-head ${kind}`, role, tabindex: -1 },
      make("span", { class: "aw-mask-place" }, String(i + 1)), make("span", { class: "aw-mask-of" }));
  const all = Array.from({ length: n }, (_, i) => i);
  const keys = all.map((i) => header("aw-mask-key", "columnheader", i));
  const queries = all.map((i) => header("aw-mask-query", "rowheader", i));
  const cells = all.map(() => all.map(() => make("div", { class: "aw-mask-cell", role: "gridcell", tabindex: -1 })));
  const nothing = all.map(() => make("span", { class: "aw-mask-nothing", "aria-hidden": "true" }, "sees nothing"));
  const grid = make(
    "div", { class: "aw-mask-grid", role: "grid", "aria-label": "The mask: queries in rows, keys in columns. Arrow keys move, Space blocks or allows." },
    make("div", { class: "aw-mask-row aw-mask-keys", role: "row" }, corner, ...keys),
    ...all.map((i) => make("div", { class: "aw-mask-row", role: "row" }, queries[i], ...cells[i], nothing[i])),
  );
  grid.style.setProperty("--aw-n", String(n));
  const node = make("div", { class: "aw-scroll aw-mask-scroll" }, grid);

  /* ---- who is where: −1 stands for the headers */
  const at = (/** @type {number} */ query, /** @type {number} */ key) =>
    query < 0 ? keys[key] : key < 0 ? queries[query] : cells[query][key];
  const places = new Map();
  for (let query = -1; query < n; query++) {
    for (let key = query < 0 ? 0 : -1; key < n; key++) places.set(at(query, key), [query, key]);
  }
  const placeOf = (/** @type {any} */ target) => places.get(target.closest?.(".aw-mask-cell, .aw-mask-head"));

  let focus = /** @type {[number, number]} */ ([0, 0]);
  cells[0][0].tabIndex = 0;
  function moveTo(/** @type {number} */ query, /** @type {number} */ key) {
    at(...focus).tabIndex = -1;
    focus = [query, key];
    at(query, key).tabIndex = 0;
  }

  let pointed = /** @type {[number, number] | null} */ (null);
  function point(/** @type {[number, number] | null} */ place) {
    if (pointed?.[0] === place?.[0] && pointed?.[1] === place?.[1]) return;
    if (pointed) for (const head of [queries[pointed[0]], keys[pointed[1]]]) head?.classList.remove("aw-mask-pointed");
    pointed = place;
    if (pointed) for (const head of [queries[pointed[0]], keys[pointed[1]]]) head?.classList.add("aw-mask-pointed");
    look(pointed);
  }

  grid.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const place = placeOf(event.target);
    if (!place) return;
    moveTo(place[0], place[1]);
    point(place);
    toggle(place[0], place[1]);
  }, { signal });
  grid.addEventListener("focusin", (/** @type {FocusEvent} */ event) => {
    const place = placeOf(event.target);
    if (!place) return;
    moveTo(place[0], place[1]);
    writeName(place[0], place[1]);
    point(place);
  }, { signal });
  grid.addEventListener("pointerover", (/** @type {PointerEvent} */ event) => {
    if (event.pointerType !== "touch") point(placeOf(event.target) ?? pointed);
  }, { signal });
  grid.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.altKey || event.metaKey) return;
    const [query, key] = focus;
    if ([" ", "Enter"].includes(event.key) && !event.ctrlKey) {
      event.preventDefault();
      if (!event.repeat) toggle(query, key);
      return;
    }
    const far = event.ctrlKey;
    const to = {
      ArrowUp: [far ? 0 : query - 1, key], ArrowDown: [far ? n - 1 : query + 1, key],
      ArrowLeft: [query, far ? 0 : key - 1], ArrowRight: [query, far ? n - 1 : key + 1],
      Home: [far ? 0 : query, 0], End: [far ? n - 1 : query, n - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    const [row, column] = to;
    if (row < -1 || column < -1 || row >= n || column >= n || (row < 0 && column < 0)) return;
    at(row, column).focus();
  }, { signal });

  /* ---- drawing */
  let drawn = /** @type {Drawn} */ (/** @type {unknown} */ (null));
  const called = (/** @type {number} */ i) => `${i + 1} ${visible(drawn.labels[i])}`;

  function writeName(/** @type {number} */ query, /** @type {number} */ key) {
    const { mask, weights, scores } = drawn;
    let name;
    if (query < 0 || key < 0) {
      const count = query < 0 ? mask.filter((row) => row[key]).length : mask[query].filter(Boolean).length;
      name = (query < 0 ? `key ${called(key)}: seen by ${count} of ${n} queries; ` : `query ${called(query)}: sees ${count} of ${n} keys; `)
        + `press to ${count ? "block" : "allow"} all`;
    } else {
      const state = !mask[query][key] ? "blocked" : drawn.asScores
        ? `allowed, score ${number(scores[query][key])}` : `allowed, ${wholePercent(weights[query][key])}`;
      name = `query ${called(query)}, key ${called(key)}: ${state}`
        + (mask[query].includes(true) ? "" : "; this query sees nothing");
    }
    setAttribute(at(query, key), "aria-label", name);
  }

  let later = 0;
  function writeNames() {
    for (const [query, key] of places.values()) writeName(query, key);
  }

  function drawCell(/** @type {number} */ query, /** @type {number} */ key) {
    const cell = cells[query][key];
    const allowed = drawn.mask[query][key];
    const weight = drawn.weights[query][key];
    const text = drawn.asScores
      ? number(allowed ? drawn.scores[query][key] : -Infinity, 3)
      : allowed ? wholePercent(weight).replace(/[ %]/g, "") : "";
    const look = !allowed ? "blocked" : drawn.asScores ? "plain" : weightColour(weight).join();
    setText(cell, text);
    if (cell.__look === look) return;
    cell.__look = look;
    cell.classList.toggle("aw-mask-blocked", !allowed);
    const coloured = allowed && !drawn.asScores;
    cell.style.background = coloured ? `rgb(${look})` : "";
    cell.style.color = coloured ? inkOn(weight) : "";
  }

  let named = "";
  return {
    node,
    /** @param {Drawn} state */
    draw(state) {
      drawn = state;
      const names = JSON.stringify([state.labels, state.padded]);
      if (names !== named) {
        named = names;
        all.forEach((i) => {
          for (const head of [keys[i], queries[i]]) {
            head.lastChild.replaceChildren(token(state.labels[i]));
            head.classList.toggle("aw-mask-pad", i >= state.padded);
          }
        });
      }
      all.forEach((i) => {
        all.forEach((j) => drawCell(i, j));
        nothing[i].hidden = state.mask[i].includes(true);
      });
      clearTimeout(later);
      if (later) {
        writeName(focus[0], focus[1]);
        later = window.setTimeout(writeNames, PAUSE);
      } else {
        writeNames();
        later = -1;
      }
    },
    cancel() {
      clearTimeout(later);
    },
  };
}
