/* A large map and what is read below it: how pointer and keys choose a row or a cell. */

import { batched, commit, dataTable, make, setAttribute, token, wholePercent } from "./core.js";
import { mapView, placed, rowRead } from "./maps.js";

/**
 * A large map, one of its rows read aloud, and its weights as a table. The pointer reads another row,
 * or a cell of it, for as long as it is there; a press or a key sets the trait `query`, and stays on a key.
 * @param {{model: any, label: string, reading: string, table: string, signal: AbortSignal,
 *   more?: (row: number) => (string | Node)[], pointed?: (row: number, hovering: boolean) => void}} options
 *   reading: class of the paragraph; table: summary of the table; more: what else is read of a row;
 *   pointed: hears which row is read
 */
export function pickedMap({ model, label, reading: kind, table, signal, more = () => [], pointed = () => {} }) {
  let hover = /** @type {{row: number, column: number} | null} */ (null);
  let key = -1; // the key that the reader stands on, if any
  let queries = /** @type {string[]} */ ([]);
  let keys = /** @type {string[]} */ ([]);
  const shown = { query: 0, map: new Float32Array(0), blocked: /** @type {Uint8Array | null} */ (null) };
  const view = mapView({
    label, signal,
    onHover(at) {
      hover = at;
      frame.ask();
    },
    onPick(at) {
      hover = null;
      key = at.column;
      if (at.row === model.get("query")) frame.ask();
      else commit(model, { query: at.row });
    },
  });
  const reading = make("p", { class: kind });
  const data = dataTable(
    table, () => ["Query", ...keys.map(token)],
    () => queries.map((text, row) => [token(text), ...keys.map((_, column) => weightAt(row * keys.length + column))]),
    signal,
  );
  const weightAt = (/** @type {number} */ cell) => (shown.blocked?.[cell] ? "blocked" : wholePercent(shown.map[cell]));
  const rowOf = (/** @type {any} */ cells, /** @type {number} */ row) =>
    cells?.subarray(row * keys.length, (row + 1) * keys.length) ?? null;

  /** @param {number} row @param {number} column @returns {(string | Node)[]} */
  function said(row, column) {
    const words = rowRead(queries, row, keys, rowOf(shown.map, row), { blocked: rowOf(shown.blocked, row) });
    if (column >= 0) words.push("; ", ...placed(keys, column), `: ${weightAt(row * keys.length + column)}`);
    return [...words, ...more(row), "."];
  }
  function point() {
    const row = hover && hover.row >= 0 ? hover.row : shown.query;
    const column = hover ? hover.column : key;
    view.select(row, column);
    reading.replaceChildren(...said(row, column));
    describe();
    pointed(row, hover !== null);
  }
  /** Whoever comes to the map hears where it stands; who is there hears the widget's own news. */
  function describe() {
    if (document.activeElement !== view.area) setAttribute(view.area, "aria-description", reading.textContent ?? "");
  }
  view.area.addEventListener("blur", () => queueMicrotask(describe), { signal });
  const frame = batched(point);

  return {
    node: view.node,
    reading,
    data: data.node,
    rowOf,
    /** @param {string[]} rows @param {string[]} columns */
    setTokens(rows, columns) {
      [queries, keys] = [rows, columns];
      key = Math.min(key, keys.length - 1);
      view.setTokens(rows, columns);
    },
    /** @param {Float32Array} map @param {number} query
     * @param {{top?: number, blocked?: Uint8Array | null, kept?: Uint8Array | null}} [how] as in `fillCells` */
    draw(map, query, how = {}) {
      Object.assign(shown, { query, map, blocked: how.blocked ?? null });
      view.draw(map, how);
      point();
      data.refreshSoon();
    },
    /** The pointer counts no more: a slider has moved. */
    leave() {
      hover = null;
    },
    /** The chosen row, read aloud. */
    said: () => said(shown.query, key),
    cancel: frame.cancel,
  };
}
