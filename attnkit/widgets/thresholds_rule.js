/* The two rules that name a head, and the reason in words: pure functions, held to
 * attnkit.patterns.classify and thresholds_rule.py by tests/browser/test_widgets_thresholds_live.py.
 * A row holds what patterns.HeadRow holds: {queries, previous: {mean, baseline}, …}; NaN = undefined. */

/** @typedef {{mean: number, sd: number, baseline: number, lift: number}} Measure */

const PLACES = ["previous", "same", "next", "induction", "sink"];

/**
 * What a head has beyond the uniform head: 1 is all there can be, 0 the uniform head; NaN where the
 * uniform head has all of it.
 * @param {number} mean @param {number} baseline
 */
export function lift(mean, baseline) {
  const room = 1 - baseline;
  return room > 0 ? (mean - baseline) / room : NaN;
}

const limitOf = (/** @type {string} */ place, /** @type {any} */ t) => (place === "sink" ? t.sink : t.diagonal);

/**
 * The class of a head by the corrected rule.
 * @param {any} row @param {any} t thresholds: diagonal, sink, local, focused, broad, queries
 */
export function classify(row, t) {
  if (row.queries < t.queries) return "unclassified";
  let best = "";
  for (const place of PLACES) {
    if (row[place].lift >= limitOf(place, t) && !(best && row[best].lift >= row[place].lift)) best = place;
  }
  if (best) return best;
  if (row.local_focus.lift >= t.local) return "local";
  if (row.concentration.lift >= t.focused) return "focused";
  return row.normalized_entropy.mean >= t.broad ? "broad" : "unclassified";
}

/**
 * The class of a head by the simple rule.
 * @param {any} row @param {any} t thresholds: diagonal, local, focused, entropy, diffuse
 */
export function simpleKind(row, t) {
  if (row.same.mean > t.diagonal) return "self";
  if (row.local_focus.mean > t.local) return "local";
  if (row.concentration.mean > t.focused && row.entropy.mean < t.entropy) return "focused";
  return row.entropy.mean > t.diffuse ? "diffuse" : "mixed";
}

/** @param {any} row @param {string} rule @param {any} t */
export const kindOf = (row, rule, t) => (rule === "simple" ? simpleKind : classify)(row, t);

/**
 * What a measure must reach under a rule: [which of its numbers, how they are compared, the name of
 * the threshold], none where it decides nothing.
 * @type {Record<string, Record<string, [string, string, string][]>>}
 */
export const NEEDS = {
  corrected: {
    previous: [["lift", "≥", "diagonal"]], same: [["lift", "≥", "diagonal"]], next: [["lift", "≥", "diagonal"]],
    induction: [["lift", "≥", "diagonal"]], sink: [["lift", "≥", "sink"]], local_focus: [["lift", "≥", "local"]],
    concentration: [["lift", "≥", "focused"]], normalized_entropy: [["mean", "≥", "broad"]],
  },
  simple: {
    same: [["mean", ">", "diagonal"]], local_focus: [["mean", ">", "local"]], concentration: [["mean", ">", "focused"]],
    entropy: [["mean", "<", "entropy"], ["mean", ">", "diffuse"]],
  },
};

/** Does a number stand so to its limit? @param {number} value @param {string} how @param {number} limit */
export const meets = (value, how, limit) => (how === "≥" ? value >= limit : how === ">" ? value > limit : value < limit);

/**
 * A number in two decimals; in more of them where two would put it on the other side of `limit`.
 * @param {number} value @param {number} [limit]
 */
export function fixed(value, limit) {
  if (Number.isNaN(value)) return "–";
  let text = "";
  for (let digits = 2; digits < 8; digits++) {
    text = value.toFixed(digits);
    const near = Number(text);
    if (near === 0) text = text.replace("-", "");
    if (limit === undefined || (near >= limit === value >= limit && near > limit === value > limit)) break;
  }
  return text.replace("-", "−");
}

/**
 * Why a head has its class, in a sentence.
 * @param {any} row @param {string} rule @param {any} t @param {Record<string, string>} names of the measures
 */
export function why(row, rule, t, names) {
  const kind = kindOf(row, rule, t);
  const exact = (/** @type {number} */ limit) => fixed(limit, limit);
  const above = (/** @type {number} */ value, /** @type {number} */ limit, unit = "") => `${fixed(value, limit)}${unit}, above ${exact(limit)}`;
  const reaches = (/** @type {number} */ value, /** @type {number} */ limit) => `${fixed(value, limit)}, at least ${exact(limit)}`;
  if (rule === "simple") {
    const entropy = row.entropy.mean;
    return {
      self: `Weight on the same token: ${above(row.same.mean, t.diagonal)}.`,
      local: `Weight within 3 tokens: ${above(row.local_focus.mean, t.local)}.`,
      focused: `Largest weight: ${above(row.concentration.mean, t.focused)}; entropy: `
        + `${fixed(entropy, t.entropy)} nats, below ${exact(t.entropy)}.`,
      diffuse: `Entropy: ${above(entropy, t.diffuse, " nats")}.`,
      mixed: "None of the four conditions holds.",
    }[kind];
  }
  if (row.queries < t.queries) return `Only ${row.queries} query rows: ${t.queries} are asked for.`;
  if (PLACES.includes(kind)) {
    const several = PLACES.some((place) => place !== kind && row[place].lift >= limitOf(place, t));
    const best = several ? ", the largest of those that are high enough" : "";
    return `Lift of ${names[kind]}: ${reaches(row[kind].lift, limitOf(kind, t))}${best}.`;
  }
  return {
    local: `No position. Lift of the weight within 3: ${reaches(row.local_focus.lift, t.local)}.`,
    focused: `No position, not local. Lift of the largest weight: ${reaches(row.concentration.lift, t.focused)}.`,
    broad: `Nothing else. Entropy ÷ ln n: ${reaches(row.normalized_entropy.mean, t.broad)}.`,
    unclassified: "No measure reaches its threshold.",
  }[kind];
}

/**
 * The rows of a model as they travel (thresholds_data.py): each measure a column of means, of
 * spreads and of baselines; a column of one number holds for all heads; null is undefined.
 * @param {any} table @returns {any[][]} [layer][head]
 */
export function readRows(table) {
  const of = (/** @type {(number | null)[]} */ column, /** @type {number} */ i) => column[column.length > 1 ? i : 0] ?? NaN;
  return Array.from({ length: table.layers }, (_, layer) => Array.from({ length: table.heads }, (_, head) => {
    const i = layer * table.heads + head;
    const row = /** @type {any} */ ({ queries: of(table.queries, i), inputs: of(table.inputs, i) });
    for (const [name, [means, sds, baselines]] of Object.entries(table.measures)) {
      const [mean, baseline] = [of(means, i), of(baselines, i)];
      row[name] = { mean, sd: of(sds, i), baseline, lift: lift(mean, baseline) };
    }
    return row;
  }));
}
