import {
  announcer, batched, button, commit, make, mounted, number, setAttribute, setText, slider, softmax,
  steps, token, watch, wholePercent,
} from "./core.js";
import { codeToCopy } from "./copy_code.js";
import { maskGrid } from "./mask_grid.js";
import { elsewhere, maskCode, maskOf, maskShape, PRESETS, presetRule, rescaled, simplestRule } from "./mask_rules.js";

/** What the menu says of each preset. */
const MENU = {
  all: "all: no mask", causal: "causal: no keys ahead", window: "window: last keys only",
  "two-sided window": "two-sided window", padding: "padding: no 〈pad〉 keys",
  "causal + padding": "causal + padding", "window + padding": "window + padding", custom: "custom: drawn by hand",
};
const PADDING = "〈pad〉";
const KEPT = 100; // changes that can be taken back
const NAMED = 4; // keys that the summary of a row names

/** "3 keys" @param {number} count @param {string} thing */
const counted = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  const n = model.get("tokens").length;
  const scores = () => /** @type {number[][]} */ (model.get("scores"));

  /* ---- the state: a preset makes its mask here as in Python, for a page has no Python */
  /** @typedef {{preset: string, window: number, length: number, mask: boolean[][], _drawn: boolean[][]}} State */
  const ruleOf = (/** @type {State} */ s) =>
    s.preset === "custom" ? simplestRule(s.mask) : presetRule(s.preset, n, s.window, s.length);
  /** @returns {State} */
  function read() {
    const state = Object.fromEntries(["preset", "window", "length", "mask", "_drawn"].map((name) => [name, model.get(name)]));
    return withMask(/** @type {any} */ (state));
  }
  function withMask(/** @type {State} */ state) {
    if (state.preset === "custom") return state;
    return { ...state, mask: maskOf(presetRule(state.preset, n, state.window, state.length), n) };
  }
  const apply = (/** @type {Partial<State>} */ change) => commit(model, withMask({ ...read(), ...change }));

  /* ---- controls */
  const menu = make("select", { class: "aw-select", "aria-label": "Mask" },
    ...PRESETS.map((preset) => make("option", { value: preset }, MENU[/** @type {"all"} */ (preset)])));
  menu.addEventListener("change", () => {
    const { mask, _drawn } = read();
    const drawn = _drawn.length ? _drawn : mask;
    apply(menu.value === "custom" ? { preset: "custom", mask: drawn, _drawn: drawn } : { preset: menu.value });
  }, { signal });
  const windowSlider = slider({
    label: "Window", stops: steps(1, n, 1), write: String, spoken: (size) => counted(size, "key"), field: false, signal,
    onInput: (size) => {
      moving = "window";
      const { preset } = read();
      const padded = preset.includes("padding") ? "window + padding" : "window";
      apply({ window: size, preset: preset.includes("window") ? preset : padded });
    },
  });
  const lengthSlider = slider({
    label: "Valid length", stops: steps(0, n, 1), write: String, spoken: (size) => `${size} of ${n} tokens`,
    field: false, signal, onInput: (length) => ((moving = "length"), apply({ length })),
  });
  const windowText = make("span", { class: "aw-mask-value" }); // also where it is not in use
  const lengthText = make("span", { class: "aw-mask-value", "aria-hidden": "true" });
  windowSlider.node.append(windowText);
  lengthSlider.node.append(lengthText);

  const name = `view-${Math.random()}`; // radio buttons of one view belong together
  const [asWeights, asScores] = ["weights", "scores"].map((text, i) => {
    const input = make("input", { type: "radio", name, checked: i === 0 });
    input.addEventListener("change", () => frame.ask(), { signal });
    return { input, node: make("label", { class: "aw-check" }, input, make("span", {}, text)) };
  });
  const undo = button("Undo", () => back(past.pop(), true), signal);
  const reset = button("Reset", () => back(first, false), signal);

  /* ---- the grid and what it says */
  let looked = /** @type {[number, number] | null} */ (null);
  let news = /** @type {null | {query: number, key: number, before: number[]}} */ (null);
  const grid = maskGrid({
    n, signal,
    look(place) {
      looked = place;
      if (news && (news.query !== place?.[0] || news.key !== place?.[1])) news = null;
      describeLooked();
    },
    toggle(query, key) {
      const { mask } = read();
      const chosen = (/** @type {number} */ i, /** @type {number} */ j) => (query < 0 || i === query) && (key < 0 || j === key);
      const some = mask.some((row, i) => row.some((allowed, j) => allowed && chosen(i, j)));
      news = query < 0 || key < 0 ? null : { query, key, before: weights[query] };
      pressed = true;
      const drawn = mask.map((row, i) => row.map((allowed, j) => (chosen(i, j) ? !some : allowed)));
      apply({ preset: "custom", mask: drawn, _drawn: drawn });
    },
  });
  const cellText = make("p", { class: "aw-mask-said" });
  const rowText = make("p", { class: "aw-mask-said" });
  const remark = make("p", { class: "aw-small aw-mask-summary" });
  const code = codeToCopy("the mask as Python code", signal);
  const shape = make("p", { class: "aw-small" });
  const other = codeToCopy("the mask in PyTorch", signal);
  const live = announcer();
  const root = make(
    "div", { class: "aw-root aw-mask", role: "group", "aria-label": "Mask editor" },
    make("div", { class: "aw-controls" },
      make("label", { class: "aw-choice" }, make("span", { class: "aw-name" }, "Mask"), menu),
      windowSlider.node, lengthSlider.node),
    make("div", { class: "aw-mask-body" },
      make("div", { class: "aw-mask-left" },
        make("div", { class: "aw-switches" },
          make("fieldset", { class: "aw-mask-views" }, make("legend", { class: "aw-hidden" }, "Cells show"), asWeights.node, asScores.node),
          make("span", { class: "aw-mask-buttons" }, undo, reset)),
        grid.node,
        make("p", { class: "aw-legend" },
          make("span", { class: "aw-key aw-mask-key-blocked" }, "blocked"),
          make("span", { class: "aw-key aw-mask-key-scale" }, "weight in %: a row sums to 100 or sees nothing"))),
      make("div", { class: "aw-mask-side" },
        make("div", { class: "aw-mask-reading" }, cellText, rowText), remark,
        make("div", { class: "aw-code-head" }, make("span", { class: "aw-name" }, "As Python"), code.said, code.button),
        code.node, shape,
        make("details", { class: "aw-details" }, make("summary", {}, "What True means elsewhere"),
          make("div", { class: "aw-code-head" }, other.said, other.button), other.node))),
    live.node,
  );

  /* ---- taking back */
  let now = read();
  const first = now;
  const past = /** @type {State[]} */ ([]);
  let moving = ""; // the slider that is being moved: a whole drag is one change
  let moved = "";
  function back(/** @type {State | undefined} */ state, /** @type {boolean} */ undoing) {
    if (!state) return;
    moving = "";
    returning = undoing;
    commit(model, state);
  }
  let returning = false;
  let pressed = false; // the change comes from a cell: its row says what it did
  function remember(/** @type {State} */ state) {
    if (JSON.stringify(state) === JSON.stringify(now)) return;
    if (!pressed) news = null;
    if (!returning && !(moving && moving === moved)) past.push(now);
    if (past.length > KEPT) past.shift();
    moved = returning ? "" : moving;
    moving = "";
    returning = pressed = false;
    now = state;
  }

  let weights = /** @type {number[][]} */ ([]);
  let labels = /** @type {string[]} */ ([]);
  const share = (/** @type {number} */ weight) => wholePercent(weight).replaceAll(" ", "\u00a0");

  /** What a query sees. @param {number} query @returns {(string | Node)[]} */
  function rowSaid(query) {
    const seen = labels.map((_, key) => key).filter((key) => now.mask[query][key]);
    if (!seen.length) return ["It sees nothing: its weights are 0, and so is its output."];
    const order = [...seen].sort((a, b) => weights[query][b] - weights[query][a] || a - b);
    const named = order.slice(0, NAMED);
    return [
      `It sees ${seen.length} of ${counted(n, "key")}: `,
      ...named.flatMap((key, i) => [i ? ", " : "", token(labels[key]), ` ${share(weights[query][key])}`]),
      order.length > NAMED ? `, ${order.length - NAMED} more.` : ".",
    ];
  }

  /** What the last press did to the row. */
  function newsSaid() {
    if (!news) return "";
    const { query, key, before } = news;
    const after = weights[query];
    const allowed = now.mask[query][key];
    const factor = rescaled(before, after, key);
    const others = Number.isNaN(factor) ? "" : `, every other weight × ${number(factor, 3)}`;
    return allowed ? ` Now it takes ${share(after[key])}${others}.` : ` Before it had ${share(before[key])}${others}.`;
  }

  function describeLooked() {
    if (!looked) {
      setText(cellText, "Point at a cell to read it. Press it to block or to allow it, or the head of a row or column for all of it.");
      rowText.replaceChildren();
      return;
    }
    const [query, key] = looked;
    if (query < 0 || key < 0) {
      const count = query < 0 ? now.mask.filter((row) => row[key]).length : 0;
      cellText.replaceChildren(...(query < 0
        ? [make("strong", {}, `Key ${key + 1} `, token(labels[key])), `: seen by ${count} of ${n} queries.`]
        : [make("strong", {}, `Query ${query + 1} `, token(labels[query]))]));
      rowText.replaceChildren(...(query < 0 ? [] : rowSaid(query)));
    } else {
      const allowed = now.mask[query][key];
      cellText.replaceChildren(
        make("strong", {}, `Query ${query + 1} `, token(labels[query]), ` → key ${key + 1} `, token(labels[key])),
        `: score ${number(scores()[query][key])}, ${allowed ? `weight ${share(weights[query][key])}` : "blocked"}.${newsSaid()}`,
      );
      rowText.replaceChildren(...rowSaid(query));
    }
    cellText.__text = undefined;
  }

  /** How many are allowed, and who sees nothing. @returns {string} */
  function summary() {
    const allowed = now.mask.flat().filter(Boolean).length;
    const blind = now.mask.flatMap((row, i) => (row.includes(true) ? [] : [i + 1]));
    const who = blind.length === n ? "No query sees anything"
      : `Quer${blind.length > 1 ? "ies" : "y"} ${blind.join(", ").replace(/, (\d+)$/, " and $1")} see${blind.length > 1 ? "" : "s"} nothing`;
    return `${allowed} of ${n * n} cells allowed. `
      + (blind.length ? `${who}: weights 0 here, NaN where a softmax meets −∞ alone.` : "Every query sees something.");
  }

  function update() {
    remember(read());
    const { preset, mask, length } = now;
    weights = scores().map((row, i) => softmax(row, 1, mask[i]));
    labels = model.get("tokens").map((/** @type {string} */ text, /** @type {number} */ i) => (i < length ? text : PADDING));
    menu.value = preset;
    windowSlider.set(now.window);
    lengthSlider.set(length);
    setText(windowText, preset.includes("window") ? counted(now.window, "key") : "not in use");
    setText(lengthText, `${length} of ${n}`);
    grid.draw({ labels, padded: length, mask, weights, scores: scores(), asScores: asScores.input.checked });
    const rule = ruleOf(now);
    code.set(maskCode(mask, rule));
    setText(shape, `Shape ${maskShape(rule, n)}.`);
    other.set(elsewhere(rule));
    setText(remark, summary());
    setAttribute(undo, "aria-disabled", String(!past.length));
    setAttribute(reset, "aria-disabled", String(JSON.stringify(now) === JSON.stringify(first)));
    describeLooked();
    live.say(() => news
      ? [`Query ${news.query + 1}, key ${news.key + 1} ${now.mask[news.query][news.key] ? "allowed" : "blocked"}.${newsSaid()} `, ...rowSaid(news.query)]
      : `Mask ${preset}. ${summary()}`);
  }

  const frame = batched(update);
  const unwatch = watch(model, ["tokens", "scores", "preset", "window", "length", "mask", "_drawn"], frame.ask);
  update();
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, grid.cancel, live.cancel);
}

export default { render };
