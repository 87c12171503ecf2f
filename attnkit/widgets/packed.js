/* Weight maps as they travel (attnkit/widgets/packing.py): one base64 digit a cell, masks in bits. */

import { decodeUint8 } from "./core.js";

const OFFSET = 0.75; // of packing.py: code 1 stands for a quarter of a step

/** The value of each base64 digit. @param {string} text */
export function codesOf(text) {
  const value = new Uint8Array(128);
  for (let i = 0; i < 64; i++) {
    value["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".charCodeAt(i)] = i;
  }
  const codes = new Uint8Array(text.length);
  for (let i = 0; i < codes.length; i++) codes[i] = value[text.charCodeAt(i)];
  return codes;
}

/**
 * Weights of all rows: w ∝ ((code − ¾) ÷ (largest code of the row − ¾))², 0 for code 0; rows sum
 * to 1, or are all zeros.
 * @param {Uint8Array} codes @param {number} columns
 */
export function weightsOf(codes, columns) {
  const squares = Float32Array.from({ length: 64 }, (_, code) => (code ? (code - OFFSET) ** 2 : 0));
  const weights = new Float32Array(codes.length);
  for (let start = 0; start < codes.length; start += columns) {
    let total = 0;
    for (let i = start; i < start + columns; i++) total += squares[codes[i]];
    if (!total) continue;
    const factor = 1 / total;
    for (let i = start; i < start + columns; i++) weights[i] = squares[codes[i]] * factor;
  }
  return weights;
}

/** One map of each `size` cells. @param {Float32Array} weights @param {number} size */
export function mapsOf(weights, size) {
  return Array.from({ length: weights.length / size }, (_, i) => weights.subarray(i * size, (i + 1) * size));
}

/** 1 = blocked, a cell each. @param {string} text base64 of bits @param {number} size */
export function blockedOf(text, size) {
  const bytes = decodeUint8(text);
  return Uint8Array.from({ length: size }, (_, i) => (bytes[i >> 3] >> (7 - (i & 7))) & 1);
}

/**
 * Which cells of each row are the fewest, the largest first, that hold at least `mass` of it; of
 * equal weights the earlier. Cells without weight are none of them.
 * @param {ArrayLike<number>} weights @param {number} columns @param {number} mass
 */
export function largestUntil(weights, columns, mass) {
  const kept = new Uint8Array(weights.length);
  const order = Array.from({ length: columns }, (_, i) => i);
  for (let start = 0; start < weights.length; start += columns) {
    order.sort((a, b) => weights[start + b] - weights[start + a] || a - b);
    let left = mass - 1e-6; // what rounding took away must not ask for one more key
    for (const i of order) {
      if (left <= 0 || !(weights[start + i] > 0)) break;
      kept[start + i] = 1;
      left -= weights[start + i];
    }
  }
  return kept;
}

/**
 * The largest weight of a map, of the rows that have more than one key to choose from: the first
 * row of a causal map is always 100 %.
 * @param {ArrayLike<number>} weights @param {number} columns @param {ArrayLike<number> | null} blocked
 */
export function largest(weights, columns, blocked) {
  let [most, all] = [0, 0];
  for (let start = 0; start < weights.length; start += columns) {
    let [open, top] = [0, 0];
    for (let i = start; i < start + columns; i++) {
      if (!blocked || !blocked[i]) open++;
      if (weights[i] > top) top = weights[i];
    }
    all = Math.max(all, top);
    if (open > 1) most = Math.max(most, top);
  }
  return most || all;
}

/**
 * What Python packed: a map, its blocked cells and its largest weight for each (layer, head)
 * or (step, head).
 * @param {any} model
 */
export function readMaps(model) {
  const [outer, heads, rows, columns] = model.get("_shape");
  const flat = mapsOf(weightsOf(codesOf(model.get("_codes")), columns), rows * columns);
  const masks = model.get("_masks").map((/** @type {string} */ text) => blockedOf(text, rows * columns));
  const which = model.get("_mask_of");
  const hidden = (/** @type {number} */ i) => (masks.length ? masks[which[i]] : null);
  const table = (/** @type {(i: number) => any} */ of) =>
    Array.from({ length: outer }, (_, row) => Array.from({ length: heads }, (_, head) => of(row * heads + head)));
  return {
    outer, heads, rows, columns,
    maps: table((i) => flat[i]),
    blocked: table(hidden),
    tops: table((i) => largest(flat[i], columns, hidden(i))),
    masked: masks.length > 0,
  };
}
