/* A table of small maps, one of them chosen: rows and columns have names (layers × heads, or one
 * row of heads). All maps are one picture on one canvas behind the cells, so that choosing another
 * map redraws none of them. One tab stop; arrow keys, Home and End move (roving focus). */

import { make, setAttribute } from "./core.js";
import { labelRoom, shrinkInto, shortened, spans } from "./maps.js";

/**
 * Where a key leads in a table of `rows` × `columns`; null where it leads nowhere.
 * @param {string} key  KeyboardEvent.key @param {boolean} all  with Ctrl: to the table's corners
 * @param {number} row @param {number} column @param {number} rows @param {number} columns
 */
export function thumbnailStep(key, all, row, column, rows, columns) {
  const to = /** @type {Record<string, number[]>} */ ({
    ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
    ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
    Home: [all ? 0 : row, 0], End: [all ? rows - 1 : row, columns - 1],
    PageUp: [0, column], PageDown: [rows - 1, column],
  })[key];
  if (!to) return null;
  return [Math.min(rows - 1, Math.max(0, to[0])), Math.min(columns - 1, Math.max(0, to[1]))];
}

/**
 * @param {{label: string, signal: AbortSignal, onPick: (row: number, column: number) => void,
 *   spoken: (row: number, column: number) => string}} options
 *   spoken: the name of one map, "layer 2, head 5"
 */
export function thumbnails({ label, signal, onPick, spoken }) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const node = make("div", { class: "aw-thumbs", role: "grid", "aria-label": label });
  const scroller = make("div", { class: "aw-thumbs-scroll" }, node);
  let cells = /** @type {HTMLElement[][]} */ ([]);
  let built = "";
  const at = { row: -1, column: -1 };
  /** @type {{weights: ArrayLike<number>[][], shape: [number, number], how: (row: number, column: number) => any} | null} */
  let shown = null;

  const paint = () => {
    if (!shown || !cells.length || !canvas.clientWidth) return;
    const dense = window.devicePixelRatio || 1;
    const { weights, shape, how } = shown;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const { columnGap } = getComputedStyle(node);
    const gap = Number.parseFloat(columnGap) || 0;
    const [rows, columns] = [cells.length, cells[0].length];
    const [wide, tall] = [(width - gap * (columns - 1)) / columns, (height - gap * (rows - 1)) / rows];
    [canvas.width, canvas.height] = [Math.round(width * dense), Math.round(height * dense)];
    const context = canvas.getContext("2d");
    const image = context.createImageData(canvas.width, canvas.height);
    const target = { data: new Uint32Array(image.data.buffer), width: canvas.width };
    const edge = (/** @type {number} */ i, /** @type {number} */ one) => Math.round(i * (one + gap) * dense);
    const across = spans(shape[1], Math.floor(wide * dense));
    const down = spans(shape[0], Math.floor(tall * dense));
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const place = { left: edge(column, wide), top: edge(row, tall), across, down };
        if (weights[row]?.[column]) shrinkInto(target, place, weights[row][column], shape[1], how(row, column));
      }
    }
    context.putImageData(image, 0, 0);
  };
  const reveal = () => {
    const cell = cells[at.row]?.[at.column];
    if (!cell || scroller.scrollWidth <= scroller.clientWidth) return;
    const stop = cell.offsetLeft + cell.offsetWidth + 8 - scroller.clientWidth;
    const start = cell.offsetLeft - cells[0][0].offsetLeft; // behind the names, which stay in place
    scroller.scrollLeft = Math.min(start, Math.max(stop, scroller.scrollLeft));
  };
  const sized = new ResizeObserver(() => (paint(), reveal()));
  sized.observe(canvas);
  signal.addEventListener("abort", () => sized.disconnect(), { once: true });

  const find = (/** @type {any} */ target) => {
    const cell = target.closest?.(".aw-thumb");
    return cell ? /** @type {[number, number]} */ (cell.__place) : null;
  };
  node.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const place = find(event.target);
    if (place) onPick(...place);
  }, { signal });
  node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const place = find(event.target);
    if (!place || event.altKey || event.metaKey) return;
    const to = thumbnailStep(event.key, event.ctrlKey, place[0], place[1], cells.length, cells[0].length);
    if (!to && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    const [row, column] = to ?? place;
    onPick(row, column);
    cells[row][column].focus({ preventScroll: false });
  }, { signal });

  return {
    node: scroller,
    grid: node,
    /** @param {number} row @param {number} column */
    cell: (row, column) => cells[row][column],
    /**
     * The names of rows and columns; the cells are made anew when they differ.
     * @param {string[]} rowNames @param {string[]} columnNames @param {[number, number]} shape of a map
     */
    build(rowNames, columnNames, shape) {
      const asked = JSON.stringify([rowNames, columnNames, shape]);
      if (asked === built) return;
      built = asked;
      node.style.setProperty("--aw-thumb-columns", String(columnNames.length));
      node.style.setProperty("--aw-thumb-shape", String(Math.min(2.5, Math.max(0.5, shape[1] / shape[0]))));
      const room = Math.min(3.5, labelRoom(rowNames.map((name) => shortened(name))));
      node.style.setProperty("--aw-name-room", `${room}rem`);
      node.style.gridTemplateRows = `auto repeat(${rowNames.length}, auto)`;
      const put = (/** @type {any} */ cell, /** @type {number} */ row, /** @type {number} */ column) => {
        cell.style.gridArea = `${row + 1} / ${column + 1}`;
        return cell;
      };
      cells = rowNames.map((_, row) => columnNames.map((_, column) => {
        const cell = put(make("div", {
          class: "aw-thumb", role: "gridcell", tabindex: -1, "aria-selected": "false", "aria-label": spoken(row, column),
        }), row + 1, column + 1);
        cell.__place = [row, column];
        return cell;
      }));
      node.replaceChildren(
        canvas,
        make("div", { class: "aw-thumbs-row", role: "row" },
          ...columnNames.map((name, column) =>
            put(make("span", { class: "aw-thumbs-head", role: "columnheader" }, shortened(name, 9)), 0, column + 1))),
        ...rowNames.map((name, row) => make("div", { class: "aw-thumbs-row", role: "row" },
          put(make("span", { class: "aw-thumbs-name", role: "rowheader" }, shortened(name)), row + 1, 0), ...cells[row])),
      );
      [at.row, at.column] = [-1, -1];
    },
    /**
     * @param {ArrayLike<number>[][]} weights  by row and column
     * @param {[number, number]} shape  queries, keys
     * @param {(row: number, column: number) => {top?: number, blocked?: ArrayLike<number> | null}} how
     */
    draw(weights, shape, how) {
      shown = { weights, shape, how };
      paint();
    },
    /** Choose one; the focus follows only where the reader moves it. @param {number} row @param {number} column */
    select(row, column) {
      if (row === at.row && column === at.column) return;
      const old = cells[at.row]?.[at.column];
      for (const [cell, is] of /** @type {[HTMLElement, boolean][]} */ ([[old ?? cells[0][0], false], [cells[row][column], true]])) {
        setAttribute(cell, "aria-selected", String(is));
        setAttribute(cell, "tabindex", is ? "0" : "-1");
      }
      [at.row, at.column] = [row, column];
      reveal();
    },
  };
}
