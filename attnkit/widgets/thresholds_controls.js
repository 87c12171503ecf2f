/* The thresholds of a rule as sliders, each with a tick at its default. */

import { button, make, setText, slider, steps } from "./core.js";
import { fixed } from "./thresholds_rule.js";

/** @type {Record<string, Record<string, string>>} */
const LABELS = {
  corrected: {
    diagonal: "Positions: lift", sink: "Sink: lift", local: "Local: lift", focused: "Focused: lift",
    broad: "Broad: entropy ÷ ln n", queries: "Query rows at least", inputs: "Inputs at least",
  },
  simple: {
    diagonal: "Self: weight above", local: "Local: weight above", focused: "Focused: weight above",
    entropy: "Focused: nats below", diffuse: "Diffuse: nats above",
  },
};
const ROWS = [1, 2, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000];

/**
 * @param {{rule: string, limits: [string, number, boolean, number, number][], most: number, signal: AbortSignal,
 *   onMove: (field: string, value: number) => void, onReset: () => void}} options
 *   limits: field, default, whether it is whole, least, most; most: query rows that a head has
 */
export function thresholdSliders({ rule, limits, most, signal, onMove, onReset }) {
  const controls = limits.map(([field, usual, whole, least, largest]) => {
    const stops = whole ? ROWS.slice(0, 1 + Math.max(6, ROWS.findIndex((rows) => rows > most)))
      : steps(least, Math.min(6, largest), largest > 1 ? 0.05 : 0.01);
    const write = (/** @type {number} */ value) => (whole ? String(value) : fixed(value, value));
    const control = slider({
      label: LABELS[rule][field] ?? field, stops, write, field: false, signal,
      spoken: (value) => write(value) + (value === usual ? ", the default" : ""),
      onInput: (value) => onMove(field, value),
    });
    const tick = make("span", { class: "aw-th-tick", "aria-hidden": "true" });
    tick.style.setProperty("--aw-th-at", String(stops.indexOf(usual) / (stops.length - 1)));
    const text = make("span", { class: "aw-th-value", "aria-hidden": "true" });
    control.node.append(text, tick);
    return { field, usual, node: control.node, set: control.set, text, write };
  });
  const reset = button("Back to the defaults", () => {
    if (!reset.hasAttribute("aria-disabled")) onReset();
  }, signal);
  const node = make("div", { class: "aw-th-limits", role: "group", "aria-label": `Thresholds of the ${rule} rule` },
    ...controls.map((control) => control.node),
    make("p", { class: "aw-th-reset" }, reset, make("span", { class: "aw-small aw-th-tick-key" }, "default")));
  return {
    node,
    /** @param {Record<string, number>} values */
    set(values) {
      for (const { field, set, text, write } of controls) {
        set(values[field]);
        setText(text, write(values[field]));
      }
      // Not `disabled`: the focus would be lost.
      if (controls.every(({ field, usual }) => values[field] === usual)) reset.setAttribute("aria-disabled", "true");
      else reset.removeAttribute("aria-disabled");
    },
  };
}
