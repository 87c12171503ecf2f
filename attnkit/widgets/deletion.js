import {
  announcer, argmax, batched, button, commit, dataTable, decodeUint8, inkOn, languageOf, make,
  mounted, setAttribute, setText, token, visible, watch, weightColour, wholePercent,
} from "./core.js";
import { codesOf, mapsOf, weightsOf } from "./packed.js";

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const BESIDE = 2; // characters that a sentence names

/** The row of an example's tables: one bit for each deleted character. @param {number[]} places */
const subsetOf = (places) => places.reduce((sum, place) => sum + 2 ** place, 0);

/** What Python packed of a name. @param {any} item */
function readItem({ text, label, best, shares, right, weights }) {
  const [places, bytes] = [decodeUint8(best), decodeUint8(shares)];
  const columns = places.length / 2 ** text.length;
  const share = (/** @type {number} */ byte) => byte / 255;
  return {
    text, label,
    /** The best languages of a subset: places in the list, and probabilities. @param {number} subset */
    best: (subset) => Array.from({ length: subset === 2 ** text.length - 1 ? 0 : columns }, (_, i) => ({
      language: places[subset * columns + i], share: share(bytes[subset * columns + i]),
    })),
    right: Array.from(decodeUint8(right), share),
    weights: mapsOf(weightsOf(codesOf(weights), text.length), text.length),
  };
}

/** "2nd" of several same characters, or nothing. @param {string[]} text @param {number} place */
function whichOf(text, place) {
  const same = text.flatMap((other, i) => (other === text[place] ? [i] : []));
  const n = same.indexOf(place) + 1;
  return same.length > 1 ? `${n}${["th", "st", "nd", "rd"][n] ?? "th"}` : "";
}

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  /** @type {string[]} */ const languages = model.get("_languages");
  /** @type {ReturnType<typeof readItem>[]} */ const items = model.get("_items").map(readItem);
  const most = Math.max(...items.map((item) => item.text.length));
  const shown = { name: -1, deleted: /** @type {number[]} */ ([]), subset: 0 };
  let item = items[0];
  let weights = /** @type {ArrayLike<number>} */ ([]);

  /* ---- which name */
  const select = make("select", { class: "aw-select" }, ...items.map(({ text, label }, i) =>
    make("option", { value: i, lang: languageOf(text.join("")) || undefined }, `${visible(text.join(""))} (${languages[label]})`)));
  select.addEventListener("change", () => commit(model, { name: Number(select.value), deleted: [] }), { signal });
  const chooser = make("label", { class: "aw-del-choice" }, make("span", { class: "aw-name" }, "Name"), select);

  /* ---- its characters: a button each, which deletes or restores it */
  const signs = Array.from({ length: most }, (_, place) => {
    const [does, which] = [make("span", { class: "aw-hidden" }), make("span", { class: "aw-hidden" })];
    const sign = make("bdi", { class: "aw-del-letter aw-token" });
    const share = make("span", { class: "aw-del-share" });
    const node = make("button", { type: "button", class: "aw-del-sign" }, does, sign, which, share);
    node.addEventListener("click", () => turn(place), { signal });
    return { node, does, sign, which, share };
  });
  const signRow = make("div", { class: "aw-del-signs", role: "group", "aria-label": "Characters and their weights: press one to delete or restore it" },
    ...signs.map(({ node }) => node));
  signRow.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const at = signs.findIndex(({ node }) => node === document.activeElement);
    if (at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const on = signRow.getAttribute("dir") === "rtl" ? -1 : 1;
    const to = { ArrowRight: at + on, ArrowLeft: at - on, Home: 0, End: item.text.length - 1 }[event.key];
    const away = event.key === "Delete" || event.key === "Backspace";
    if (to === undefined && !away) return;
    event.preventDefault();
    if (away && !model.get("deleted").includes(at)) turn(at);
    if (to !== undefined && to >= 0 && to < item.text.length) signs[to].node.focus();
  }, { signal });
  const turn = (/** @type {number} */ place) => {
    const now = model.get("deleted");
    const deleted = now.includes(place) ? now.filter((/** @type {number} */ other) => other !== place) : [...now, place].sort((a, b) => a - b);
    commit(model, { deleted });
  };
  // Not `disabled`: the focus would be lost.
  const offered = (/** @type {Element} */ node, /** @type {boolean} */ is) =>
    (is ? node.removeAttribute("aria-disabled") : setAttribute(node, "aria-disabled", "true"));
  const top = button("Delete the most attended", () => {
    update(); // a press before the last one is drawn
    if (isLeft()) turn(argmax(weights));
  }, signal);
  const restore = button("Restore all", () => commit(model, { deleted: [] }), signal);

  /* ---- the answer */
  const left = make("bdi", { class: "aw-del-left aw-token" });
  const verdict = make("p", { class: "aw-del-verdict" });
  const bars = Array.from({ length: 3 }, () => {
    const [name, note, share] = [make("span", { class: "aw-del-language" }), make("span", { class: "aw-del-note" }), make("span", { class: "aw-del-percent" })];
    const fill = make("span", { class: "aw-del-fill", "aria-hidden": "true" });
    return { node: make("li", { class: "aw-del-bar" }, make("span", { class: "aw-del-who" }, name, note), share, fill), name, note, share, fill };
  });
  const right = make("p", { class: "aw-small aw-del-right" });
  const live = announcer();
  const table = dataTable(
    "Next deletions as a table", ["Character", "Weight", "Answer without it", "Probability", "Flips"],
    () => item.text.flatMap((sign, place) => {
      if (shown.deleted.includes(place)) return [];
      const [best] = item.best(shown.subset + 2 ** place);
      const name = make("span", {}, token(sign), whichOf(item.text, place) && ` (${whichOf(item.text, place)})`);
      if (!best) return [[name, wholePercent(weights[place]), "nothing left", "–", "–"]];
      return [[name, wholePercent(weights[place]), languages[best.language], wholePercent(best.share), best.language === whole().language ? "no" : "yes"]];
    }), signal,
  );
  const root = make(
    "div", { class: "aw-root aw-deletion", role: "group", "aria-label": "Delete characters of a name" },
    chooser, signRow, make("div", { class: "aw-switches" }, top, restore),
    make("div", { class: "aw-del-answer" },
      make("div", {}, make("p", { class: "aw-del-read" }, make("span", { class: "aw-small" }, "The model reads "), left), verdict),
      make("div", {}, make("ol", { class: "aw-del-bars", role: "list", "aria-label": "The most probable languages" }, ...bars.map(({ node }) => node)), right)),
    live.node, table.node,
  );

  const whole = () => item.best(0)[0];
  const isLeft = () => shown.deleted.length < item.text.length;
  const share = (/** @type {number} */ value) => wholePercent(value).replaceAll(" ", "\u00a0");
  const flips = () => isLeft() && item.best(shown.subset)[0].language !== whole().language;

  /** The answer in a sentence. */
  function judged() {
    const was = `${languages[whole().language]} (${share(whole().share)})`;
    if (!isLeft()) return ["Nothing is left: the model is not asked. ", `The whole name is ${was} for it.`];
    const [best] = item.best(shown.subset);
    const answer = `${languages[best.language]}, ${share(best.share)}`;
    if (!shown.deleted.length) return [`${answer}. `, best.language === item.label ? "The answer is right." : `The answer is wrong: it is ${languages[item.label]}.`];
    return [`${flips() ? "Flipped: " : ""}${answer}. `, flips() ? `The whole name is ${was} for the model.` : `As for the whole name (${share(whole().share)}).`];
  }
  function said() {
    const gone = shown.deleted.map((place) => item.text[place]);
    const order = item.text.map((_, i) => i).filter((i) => weights[i] > 0).sort((a, b) => weights[b] - weights[a] || a - b);
    return [
      ...(gone.length ? ["Without ", ...gone.flatMap((sign, i) => [i ? ", " : "", token(sign)]), ": "] : [token(item.text.join("")), ": "]),
      judged().join(""),
      ...(order.length ? [" Most weight: ", ...order.slice(0, BESIDE).flatMap((i, n) => [n ? ", " : "", token(item.text[i]), ` ${share(weights[i])}`]), "."] : []),
    ];
  }

  function build() {
    item = items[shown.name];
    select.value = String(shown.name);
    signRow.setAttribute("dir", RIGHT_TO_LEFT.test(item.text.join("")) ? "rtl" : "ltr");
    signs.forEach(({ node, sign, which }, place) => {
      const is = place < item.text.length;
      node.classList.toggle("aw-del-blank", !is); // keeps its place: nothing below moves
      setText(sign, is ? visible(item.text[place]) : "");
      setAttribute(sign, "lang", languageOf(item.text[place] ?? "") || "en");
      setText(which, is && whichOf(item.text, place) ? ` (${whichOf(item.text, place)}), ` : ", ");
    });
  }

  function update() {
    const name = Math.min(model.get("name"), items.length - 1);
    if (name !== shown.name) {
      shown.name = name;
      build();
    }
    shown.deleted = model.get("deleted").filter((/** @type {number} */ place) => place < item.text.length);
    shown.subset = subsetOf(shown.deleted);
    weights = item.weights[shown.subset];
    item.text.forEach((_, place) => {
      const { node, does, sign, share: written } = signs[place];
      const gone = shown.deleted.includes(place);
      node.classList.toggle("aw-del-gone", gone);
      setText(does, gone ? "Restore " : "Delete ");
      setText(written, gone ? "deleted" : wholePercent(weights[place]).replace(/([<>]) /, "$1"));
      sign.style.background = gone ? "" : `rgb(${weightColour(weights[place]).join()})`;
      sign.style.color = gone ? "" : inkOn(weights[place]);
    });
    offered(top, isLeft());
    offered(restore, shown.deleted.length > 0);
    const rest = item.text.filter((_, place) => !shown.deleted.includes(place)).join("");
    setText(left, rest ? visible(rest) : "(nothing)");
    setAttribute(left, "lang", languageOf(rest) || "en");
    const [strong, plain] = judged();
    verdict.classList.toggle("aw-del-flipped", flips());
    verdict.replaceChildren(make("strong", {}, strong), plain);
    const best = item.best(shown.subset);
    bars.forEach(({ node, name: language, note, share: written, fill }, i) => {
      node.classList.toggle("aw-del-blank", i >= best.length);
      if (i >= best.length) return;
      setText(language, languages[best[i].language]);
      setText(note, best[i].language === item.label ? " ✓ right" : best[i].language === whole().language ? " as the whole name" : "");
      setText(written, wholePercent(best[i].share));
      fill.style.backgroundSize = `${(100 * best[i].share).toFixed(1)}% 100%`;
    });
    setText(right, isLeft() ? `Right is ${languages[item.label]}: ${share(item.right[shown.subset])}` : "");
    table.refresh();
    live.say(said);
  }

  const frame = batched(update);
  const unwatch = watch(model, ["name", "deleted"], frame.ask);
  update();
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, live.cancel);
}

export default { render };
