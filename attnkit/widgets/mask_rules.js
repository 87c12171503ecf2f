/* Masks that attnkit's functions make, and the code that makes a mask: as mask_rules.py does, to
 * which tests/browser/test_widgets_masks_live.py holds it, cell by cell and letter by letter. */

export const PRESETS = [
  "all", "causal", "window", "two-sided window", "padding", "causal + padding", "window + padding", "custom",
];

const SPACED = 8; // rows of more numbers are written without spaces, to fit

/**
 * A mask made by functions: lines that come first, an expression, its shape, and who may look.
 * @typedef {{setup: string, expression: string, shape: "square" | "keys" | "batch",
 *   allows: (query: number, key: number) => boolean}} Rule
 */

/** @param {number} n @returns {Rule} */
const everything = (n) => ({
  setup: "", expression: `torch.ones(${n}, ${n}, dtype=torch.bool)`, shape: "square", allows: () => true,
});

/** @param {number} n @returns {Rule} */
const causal = (n) => ({
  setup: "", expression: `causal_mask(${n})`, shape: "square", allows: (query, key) => key <= query,
});

/** @param {number} n @returns {Rule} */
const forward = (n) => ({
  setup: "", expression: `causal_mask(${n}).mT`, shape: "square", allows: (query, key) => key >= query,
});

/** @param {number} n @param {number} size @returns {Rule} */
const before = (n, size) => ({
  setup: "", expression: `sliding_window_mask(${n}, ${size})`, shape: "square",
  allows: (query, key) => key <= query && key > query - size,
});

/** @param {number} n @param {number} size @returns {Rule} */
const around = (n, size) => ({
  setup: `near = sliding_window_mask(${n}, ${size})\n`, expression: "near | near.mT", shape: "square",
  allows: (query, key) => Math.abs(query - key) < size,
});

/** @param {number} n @param {number} length @returns {Rule} */
const padding = (n, length) => ({
  setup: "", expression: `padding_mask([${length}], ${n})`, shape: "keys", allows: (_, key) => key < length,
});

/** @param {Rule} base @param {"&" | "|"} sign @param {Rule} keys @returns {Rule} */
function joined(base, sign, keys) {
  const left = base.expression.includes("|") ? `(${base.expression})` : base.expression;
  return {
    setup: base.setup, expression: `${left} ${sign} ${keys.expression}`, shape: "batch",
    allows: sign === "&"
      ? (query, key) => base.allows(query, key) && keys.allows(query, key)
      : (query, key) => base.allows(query, key) || keys.allows(query, key),
  };
}

/**
 * The rule of a preset other than "custom", for n tokens.
 * @param {string} preset @param {number} n @param {number} size @param {number} length
 */
export function presetRule(preset, n, size, length) {
  const [name, padded] = preset.split(" + ");
  if (name === "padding") return padding(n, length);
  const base = name === "all" ? everything(n) : name === "causal" ? causal(n)
    : name === "window" ? before(n, size) : around(n, size);
  return padded ? joined(base, "&", padding(n, length)) : base;
}

/** n rows of n booleans. @param {Rule} rule @param {number} n */
export function maskOf(rule, n) {
  return Array.from({ length: n }, (_, query) => Array.from({ length: n }, (_, key) => rule.allows(query, key)));
}

/** All rules, the simplest first. @param {number} n @returns {Generator<Rule>} */
function* rules(n) {
  const bases = [causal(n)];
  for (let size = 1; size < n; size++) bases.push(before(n, size));
  for (let size = 2; size < n; size++) bases.push(around(n, size));
  bases.push(forward(n));
  yield everything(n);
  for (let length = 0; length < n; length++) yield padding(n, length);
  yield* bases;
  for (const sign of /** @type {const} */ (["&", "|"])) {
    for (const base of bases) {
      for (let length = 1; length < n; length++) yield joined(base, sign, padding(n, length));
    }
  }
}

/** The simplest rule that gives the mask, or null. @param {boolean[][]} mask */
export function simplestRule(mask) {
  for (const rule of rules(mask.length)) {
    if (mask.every((row, query) => row.every((allowed, key) => allowed === rule.allows(query, key)))) return rule;
  }
  return null;
}

/** Python that makes the mask: by a rule, or number by number. @param {boolean[][]} mask @param {Rule | null} rule */
export function maskCode(mask, rule) {
  const meaning = "\n\n# True = may attend\n";
  if (!rule) {
    const comma = mask.length <= SPACED ? ", " : ",";
    const rows = mask.map((row) => `    [${row.map(Number).join(comma)}],\n`).join("");
    return `import torch${meaning}mask = torch.tensor([\n${rows}]).bool()`;
  }
  const lines = `${rule.setup}mask = ${rule.expression}`;
  const names = [...new Set(lines.match(/\w+_mask(?=\()/g) ?? [])].sort();
  return (names.length ? `from attnkit import ${names.join(", ")}` : "import torch") + meaning + lines;
}

/** The shape of what the code makes, in words. @param {Rule | null} rule @param {number} n */
export function maskShape(rule, n) {
  if (!rule || rule.shape === "square") return `(${n}, ${n}): queries, keys`;
  return `(1, 1, ${rule.shape === "keys" ? 1 : n}, ${n}): batch, heads, queries, keys`;
}

/** How the mask is handed to PyTorch, with what True means there. @param {Rule | null} rule */
export function elsewhere(rule) {
  const argument = {
    square: "attn_mask=~mask", batch: "attn_mask=~mask[0, 0]", keys: "key_padding_mask=~mask[:, 0, 0]",
  }[rule?.shape ?? "square"];
  return "# PyTorch's function: True = may attend\n"
    + "F.scaled_dot_product_attention(\n    query, key, value, attn_mask=mask)\n"
    + "# nn.MultiheadAttention: True = blocked\n"
    + `attention(x, x, x,\n    ${argument})\n`
    + "# by hand: −∞ where False\n"
    + 'scores = scores.masked_fill(\n    ~mask, float("-inf"))';
}

/**
 * What a change of one key does to the other weights of its row, as a factor; NaN where the row was
 * or becomes empty. @param {number[]} before @param {number[]} after @param {number} key
 */
export function rescaled(before, after, key) {
  const rest = (/** @type {number[]} */ row) => row.reduce((sum, w, i) => (i === key ? sum : sum + w), 0);
  const [old, now] = [rest(before), rest(after)];
  return old > 0 && now > 0 ? now / old : NaN;
}
