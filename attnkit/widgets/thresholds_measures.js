/* The measures of one head: what the uniform head has, what this one has beyond it, and what is asked. */

import { make, setText } from "./core.js";
import { fixed, meets, NEEDS } from "./thresholds_rule.js";

const NO_SHARE = ["entropy", "effective_keys", "mean_distance"]; // not at most 1: there is no lift

/** @param {Record<string, string>} names of the measures, in the order in which they are listed */
export function measureTable(names) {
  const rows = Object.entries(names).map(([measure, name]) => {
    const [mean, baseline, lift] = Array.from({ length: 3 }, () => make("td"));
    const sd = make("span", { class: "aw-th-sd" });
    const value = make("span");
    mean.append(value, sd);
    const needs = ["", ""].map(() => ({ text: make("span"), tick: make("span", { class: "aw-th-tick-met" }) }));
    const asked = make("td", {}, ...needs.map(({ text, tick }) => make("div", { class: "aw-th-needs" }, text, tick)));
    const node = make("tr", {}, make("th", { scope: "row" }, name), mean, baseline, lift, asked);
    return { measure, node, value, sd, baseline, lift, needs };
  });
  const heads = ["Measure", "Mean", "Uniform\nhead", "Lift", "Asked"];
  const node = make("table", { class: "aw-table aw-th-measures" },
    make("caption", { class: "aw-hidden" }, "Measures of the chosen head"),
    make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)))),
    make("tbody", {}, ...rows.map((row) => row.node)));
  return {
    node,
    /** @param {any} head a row of `readRows` @param {string} rule @param {Record<string, number>} limits */
    set(head, rule, limits) {
      for (const row of rows) {
        const { mean, sd, baseline, lift } = head[row.measure];
        const needs = NEEDS[rule][row.measure] ?? [];
        const near = (/** @type {string} */ which) => needs.find((need) => need[0] === which)?.[2] ?? "";
        setText(row.value, fixed(mean, limits[near("mean")]));
        setText(row.sd, Number.isNaN(sd) ? "" : ` ± ${fixed(sd)}`);
        setText(row.baseline, fixed(baseline));
        setText(row.lift, NO_SHARE.includes(row.measure) ? "" : fixed(lift, limits[near("lift")]));
        const met = needs.map(([which, how, limit]) => meets(head[row.measure][which], how, limits[limit]));
        row.needs.forEach(({ text, tick }, i) => {
          setText(text, needs[i] ? `${needs[i][1]} ${fixed(limits[needs[i][2]], limits[needs[i][2]])}` : "");
          setText(tick, met[i] ? " ✓" : "");
        });
        row.node.classList.toggle("aw-th-met", met.includes(true));
      }
    },
  };
}
