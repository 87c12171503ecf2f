/* A weight map: rows are queries, columns are keys. Widgets that draw one import from here as from
 * core.js; Python joins the files (attnkit/widgets/assets.py). The weights are one pixel a cell on a
 * canvas that the browser enlarges without smoothing; what a mask blocks is hatched grey on a
 * second canvas, which is drawn again only when the mask or the size changes. */

import { languageOf, make, setAttribute, setText, token, visible, weightColour, wholePercent } from "./core.js";

/* ---------------------------------------------------------------- colours */

/** The colour scale as 256 pixels: red is the lowest byte, opaque. */
const PIXELS = Uint32Array.from({ length: 256 }, (_, i) => {
  const [red, green, blue] = weightColour(i / 255);
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
});
const FADED = 0x1f000000; // alpha of a cell outside the asked share of its row
const HATCH = { ground: "#c3c8ce", line: "#6a727b", pixels: [0xffcec8c3, 0xff7b726a] };

/**
 * The pixels of a map, one a cell.
 * @param {Uint32Array} pixels  filled in place
 * @param {ArrayLike<number>} weights  row after row
 * @param {{top?: number, blocked?: ArrayLike<number> | null, kept?: ArrayLike<number> | null}} [how]
 *   top: the weight at the bright end of the scale; blocked: 1 = the mask forbids it, drawn
 *   transparent; kept: 0 = faded
 */
export function fillCells(pixels, weights, { top = 1, blocked = null, kept = null } = {}) {
  const factor = top > 0 ? 255 / top : 0;
  for (let i = 0; i < pixels.length; i++) {
    if (blocked && blocked[i]) pixels[i] = 0;
    else {
      const colour = PIXELS[Math.min(255, Math.round(factor * weights[i]))];
      pixels[i] = !kept || kept[i] ? colour : ((colour & 0xffffff) | FADED) >>> 0;
    }
  }
}

/** Which of n cells lie under each of `size` pixels: [first, end) of pixel i. Where there are more
 * pixels than cells, each pixel has one. @param {number} n @param {number} size */
export function spans(n, size) {
  return Array.from({ length: size }, (_, i) => {
    if (size >= n) return [Math.floor(((i + 0.5) * n) / size), Math.floor(((i + 0.5) * n) / size) + 1];
    return [Math.floor((i * n) / size), Math.max(Math.floor((i * n) / size) + 1, Math.floor(((i + 1) * n) / size))];
  });
}

/**
 * A map drawn small: a pixel shows the largest weight under it, so that a thin diagonal stays
 * bright; it is hatched where all of its cells are blocked.
 * @param {{data: Uint32Array, width: number}} image  filled in place from (left, top) on
 * @param {{left: number, top: number, across: number[][], down: number[][]}} place  from `spans`
 * @param {ArrayLike<number>} weights @param {number} columns
 * @param {{top?: number, blocked?: ArrayLike<number> | null}} [how]  as in `fillCells`
 */
export function shrinkInto(image, place, weights, columns, { top = 1, blocked = null } = {}) {
  const factor = top > 0 ? 255 / top : 0;
  const { left, across, down } = place;
  for (let y = 0; y < down.length; y++) {
    const start = (place.top + y) * image.width + left;
    for (let x = 0; x < across.length; x++) {
      let most = -1;
      for (let row = down[y][0]; row < down[y][1]; row++) {
        for (let cell = row * columns + across[x][0], end = row * columns + across[x][1]; cell < end; cell++) {
          if (weights[cell] > most && !(blocked && blocked[cell])) most = weights[cell];
        }
      }
      image.data[start + x] = most < 0
        ? HATCH.pixels[(x + y) % 5 < 2 ? 1 : 0]
        : PIXELS[Math.min(255, Math.round(factor * most))];
    }
  }
}

/* ---------------------------------------------------------------- words */

/** "2nd" @param {number} n */
const nth = (n) =>
  `${n}${[11, 12, 13].includes(n % 100) ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;

/** A label short enough for an axis. @param {string} text @param {number} [longest] */
export function shortened(text, longest = 12) {
  const shown = visible(text);
  const signs = [...new Intl.Segmenter().segment(shown.slice(0, 40 * longest))].map((part) => part.segment);
  return signs.length <= longest ? shown : `${signs.slice(0, longest - 1).join("")}…`;
}

/** A token in a sentence; where it occurs more than once, which of them.
 * @param {string[]} tokens @param {number} place @returns {(string | Node)[]} */
export function placed(tokens, place) {
  const same = tokens.flatMap((other, i) => (other === tokens[place] ? [i] : []));
  const node = token(tokens[place]);
  if (visible(tokens[place]).length > 40) node.textContent = shortened(tokens[place], 40);
  return [node, same.length > 1 ? ` (${nth(same.indexOf(place) + 1)})` : ""];
}

/**
 * A row read aloud: "query 中国: 62 % to 爱, 30 % to 我 (2nd), 8 % to 3 others".
 * @param {string[]} queries @param {number} query
 * @param {string[]} keys @param {ArrayLike<number>} row  the weights of the query
 * @param {{blocked?: ArrayLike<number> | null, named?: number}} [how]  blocked: of this row
 * @returns {(string | Node)[]}
 */
export function rowRead(queries, query, keys, row, { blocked = null, named = 3 } = {}) {
  const open = Array.from(keys.keys()).filter((i) => !(blocked && blocked[i]));
  const order = open.sort((a, b) => row[b] - row[a] || a - b);
  const start = ["query ", ...placed(queries, query)];
  if (!order.length || !(row[order[0]] > 0)) return [...start, " may attend to nothing"];
  const large = order.filter((key, rank) => rank < named && (row[key] >= 0.05 || rank === 0));
  const others = order.slice(large.length);
  const rest = others.reduce((sum, key) => sum + row[key], 0);
  const share = (/** @type {number} */ weight) => wholePercent(weight).replaceAll(" ", "\u00a0");
  return [
    ...start, ": ",
    ...large.flatMap((key, i) => [`${i ? ", " : ""}${share(row[key])} to `, ...placed(keys, key)]),
    others.length ? `, ${share(rest)} to ${others.length} other${others.length > 1 ? "s" : ""}` : "",
  ];
}

/* ---------------------------------------------------------------- moving */

/**
 * Where a key leads from a cell; null where it is none of the map's keys.
 * @param {string} key  KeyboardEvent.key
 * @param {{row: number, column: number}} at  column −1: none chosen yet
 * @param {number} rows @param {number} columns
 */
export function step(key, { row, column }, rows, columns) {
  const to = /** @type {Record<string, number[]>} */ ({
    ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
    Home: [row, 0], End: [row, columns - 1],
    PageUp: [0, column], PageDown: [rows - 1, column],
    Escape: [row, -1],
  })[key];
  if (!to) return null;
  const lowest = key === "Escape" || column < 0 ? -1 : 0;
  return {
    row: Math.min(rows - 1, Math.max(0, to[0])),
    column: Math.min(columns - 1, Math.max(lowest, to[1])),
  };
}

/* ---------------------------------------------------------------- the map */

/** Room for the longest label in rem (CJK signs count twice). @param {string[]} labels */
export const labelRoom = (labels) =>
  Math.min(6, 0.6 + 0.46 * Math.max(1, ...labels.map((text) =>
    [...text].reduce((sum, sign) => sum + (/[\u1100-\uffef]/.test(sign) ? 1.75 : 1), 0))));

/**
 * A large map with token labels. Pointer and keys say where the reader is; what is chosen and
 * drawn is the widget's to decide (`select`, `draw`).
 * @param {{label: string, signal: AbortSignal,
 *   onHover?: (at: {row: number, column: number} | null) => void,
 *   onPick?: (at: {row: number, column: number}) => void}} options
 *   onHover: the pointer is over a cell or a label (then the other one is −1), or has left;
 *   onPick: a click, a tap or a key
 */
export function mapView({ label, signal, onHover, onPick }) {
  const cells = make("canvas", { class: "aw-map-cells" });
  const hatch = make("canvas", { class: "aw-map-hatch" });
  const marks = ["row", "column", "cell"].map((kind) => make("div", { class: `aw-map-mark aw-map-${kind}` }));
  const area = make("div", {
    class: "aw-map-area", tabindex: 0, role: "application", "aria-roledescription": "weight map", "aria-label": label,
  }, cells, hatch, ...marks);
  const queryLabels = make("div", { class: "aw-map-labels aw-map-queries", "aria-hidden": "true" });
  const keyLabels = make("div", { class: "aw-map-labels aw-map-keys", "aria-hidden": "true" });
  const node = make("div", { class: "aw-map" },
    make("span", { class: "aw-map-corner", "aria-hidden": "true" }, make("span", {}, "key →"), make("span", {}, "query ↓")),
    keyLabels, queryLabels, area);
  const context = cells.getContext("2d");
  const axes = { row: /** @type {any[]} */ ([]), column: /** @type {any[]} */ ([]) };
  let [rows, columns] = [0, 0];
  let tokens = "";
  let image = /** @type {ImageData | null} */ (null);
  let pixels = new Uint32Array(0);
  let hidden = /** @type {ArrayLike<number> | null} */ (null);
  const at = { row: 0, column: -1 };
  const every = { row: 1, column: 1 };

  const named = (/** @type {string} */ text, /** @type {number} */ i, /** @type {number} */ n, /** @type {string} */ side) => {
    const short = shortened(text);
    const span = make("span", { class: `aw-map-label${[...short].length === 1 ? " aw-map-upright" : ""}` },
      make("bdi", { class: "aw-token", lang: languageOf(text) || undefined }, short));
    span.style[side] = `${((100 * (i + 0.5)) / n).toFixed(3)}%`;
    return span;
  };
  const thin = (/** @type {"row" | "column"} */ axis) => axes[axis].forEach((span, i) => {
    const chosen = i === at[axis];
    const near = at[axis] >= 0 && Math.abs(i - at[axis]) < every[axis]; // it would lie under the chosen one
    const hides = !chosen && (near || i % every[axis] !== 0);
    const visibility = hides ? "hidden" : ""; // unlike display, it costs no layout
    if (span.style.visibility !== visibility) span.style.visibility = visibility;
    span.classList.toggle("aw-map-chosen", chosen);
  });
  const size = (/** @type {number} */ width, /** @type {number} */ height) => {
    if (!width || !height) return;
    every.row = Math.ceil((15 * rows) / height);
    every.column = Math.ceil((15 * columns) / width);
    thin("row");
    thin("column");
    drawHatch(width, height);
  };
  let room = [0, 0];
  const sized = new ResizeObserver(([entry]) => {
    room = [entry.contentRect.width, entry.contentRect.height];
    size(room[0], room[1]);
  });
  sized.observe(area);
  signal.addEventListener("abort", () => sized.disconnect(), { once: true });

  function drawHatch(/** @type {number} */ width, /** @type {number} */ height) {
    hatch.hidden = !hidden;
    if (!hidden) return;
    const dense = window.devicePixelRatio || 1;
    [hatch.width, hatch.height] = [Math.round(width * dense), Math.round(height * dense)];
    const pen = hatch.getContext("2d");
    const [wide, tall] = [hatch.width / columns, hatch.height / rows];
    pen.beginPath();
    for (let row = 0; row < rows; row++) {
      for (let from = 0; from < columns; from++) {
        let to = from;
        while (to < columns && hidden[row * columns + to]) to++;
        if (to > from) pen.rect(from * wide, row * tall, (to - from) * wide, tall);
        from = to;
      }
    }
    pen.clip();
    pen.fillStyle = HATCH.ground;
    pen.fillRect(0, 0, hatch.width, hatch.height);
    pen.beginPath();
    for (let x = -hatch.height; x < hatch.width; x += 6 * dense) {
      pen.moveTo(x, hatch.height);
      pen.lineTo(x + hatch.height, 0);
    }
    pen.strokeStyle = HATCH.line;
    pen.lineWidth = 1.25 * dense;
    pen.stroke();
  }

  /** The cell at a point of the page; over the labels only one of the two. @param {PointerEvent | MouseEvent} event */
  function hit(event) {
    const box = area.getBoundingClientRect();
    const inside = (/** @type {number} */ share, /** @type {number} */ n) =>
      share < 0 ? -1 : Math.min(n, Math.floor(share * n));
    const column = inside((event.clientX - box.left) / box.width, columns);
    const row = inside((event.clientY - box.top) / box.height, rows);
    return (row < 0 && column < 0) || row >= rows || column >= columns ? null : { row, column };
  }
  node.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (event.pointerType !== "touch") onHover?.(hit(event));
  }, { signal });
  node.addEventListener("pointerleave", () => onHover?.(null), { signal });
  node.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const found = hit(event);
    if (found) onPick?.({ row: found.row < 0 ? at.row : found.row, column: found.column });
  }, { signal });
  area.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const to = step(event.key, at, rows, columns);
    if (!to) return;
    event.preventDefault();
    view.select(to.row, to.column); // a second key may come before the widget answers
    onPick?.(to);
  }, { signal });

  const view = {
    node, area,
    /** Which tokens stand at rows and columns. @param {string[]} queries @param {string[]} keys */
    setTokens(queries, keys) {
      const asked = JSON.stringify([queries, keys]);
      if (asked === tokens) return;
      tokens = asked;
      [rows, columns] = [queries.length, keys.length];
      [cells.width, cells.height] = [columns, rows];
      image = context.createImageData(columns, rows);
      pixels = new Uint32Array(image.data.buffer);
      axes.row = queries.map((text, i) => named(text, i, rows, "top"));
      axes.column = keys.map((text, i) => named(text, i, columns, "left"));
      queryLabels.replaceChildren(...axes.row);
      keyLabels.replaceChildren(...axes.column);
      node.style.setProperty("--aw-rows", String(rows));
      node.style.setProperty("--aw-columns", String(columns));
      node.style.setProperty("--aw-query-room", `${Math.max(2.75, labelRoom(queries.map((text) => shortened(text))))}rem`);
      node.style.setProperty("--aw-key-room", `${Math.max(1.6, labelRoom(keys.map((text) => shortened(text))))}rem`);
      hidden = null;
      size(room[0], room[1]);
    },
    /** @param {ArrayLike<number>} weights @param {Parameters<typeof fillCells>[2]} [how] as in `fillCells` */
    draw(weights, how = {}) {
      fillCells(pixels, weights, how);
      context.putImageData(image, 0, 0);
      const blocked = how.blocked ?? null;
      if (blocked === hidden) return;
      hidden = blocked;
      drawHatch(room[0], room[1]);
    },
    /** Mark a row, and a column or a cell of it; −1 marks none. @param {number} row @param {number} [column] */
    select(row, column = -1) {
      const moved = { row: row !== at.row, column: column !== at.column };
      [at.row, at.column] = [row, column];
      if (moved.row) thin("row");
      if (moved.column) thin("column");
      const place = (/** @type {any} */ mark, /** @type {boolean} */ is, /** @type {string} */ inset) => {
        mark.hidden = !is;
        if (is && mark.style.inset !== inset) mark.style.inset = inset;
      };
      const [top, bottom] = [(100 * row) / rows, 100 - (100 * (row + 1)) / rows];
      const [left, right] = [(100 * column) / columns, 100 - (100 * (column + 1)) / columns];
      place(marks[0], row >= 0, `${top}% 0% ${bottom}% 0%`);
      place(marks[1], column >= 0 && row < 0, `0% ${right}% 0% ${left}%`);
      place(marks[2], column >= 0 && row >= 0, `${top}% ${right}% ${bottom}% ${left}%`);
    },
  };
  return view;
}

/**
 * The legend of the colours: the scale from 0 to its top, and what hatched and faded mean.
 * @param {{blocked?: boolean, faded?: boolean}} [also]
 */
export function scaleKey({ blocked = false, faded = false } = {}) {
  const ends = [make("span", {}, "0\u00a0%"), make("span", {}, "100\u00a0%")];
  const bar = make("span", { class: "aw-map-scale", "aria-hidden": "true" });
  const colours = Array.from({ length: 17 }, (_, i) => `rgb(${weightColour(i / 16).join()})`);
  bar.style.backgroundImage = `linear-gradient(to right, ${colours.join()})`;
  const sample = (/** @type {string} */ kind, /** @type {string} */ text) =>
    make("span", { class: "aw-map-key" }, make("span", { class: `aw-map-sample aw-map-${kind}`, "aria-hidden": "true" }), text);
  const [hatched, pale] = [sample("blocked", "may not attend"), sample("faded", "outside the share")];
  const name = make("span", {}, "weight");
  const node = make("p", { class: "aw-map-legend" },
    make("span", { class: "aw-map-key" }, name, ends[0], bar, ends[1]), hatched, pale);
  hatched.hidden = !blocked;
  pale.hidden = !faded;
  return {
    node,
    /** @param {{top?: number, text?: string, blocked?: boolean, faded?: boolean}} values */
    set({ top, text, blocked, faded }) {
      if (top !== undefined) setText(ends[1], wholePercent(top).replaceAll(" ", "\u00a0"));
      if (text !== undefined) setText(name, text);
      if (blocked !== undefined) hatched.hidden = !blocked;
      if (faded !== undefined) pale.hidden = !faded;
      setAttribute(node, "data-top", String(top ?? ""));
    },
  };
}
