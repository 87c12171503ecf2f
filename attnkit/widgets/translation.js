import {
  announcer, argmax, batched, commit, dataTable, decodeWeights, inkOn, languageOf, make, mounted,
  setAttribute, setText, token, visible, watch, weightColour, wholePercent,
} from "./core.js";

const NAMED = 3; // characters that the summary names; the others are added up
const THINNEST = 0.01; // a smaller weight has no line: it could not be seen
const LINE = 12; // pixels of a line of weight 1

/** "2nd" @param {number} n */
const ordinal = (n) =>
  `${n}${[11, 12, 13].includes(n % 100) ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;

/**
 * The character at a place; where it occurs more than once, which of them.
 * @param {string[]} source @param {number} place @returns {(string | Node)[]}
 */
function character(source, place) {
  const same = source.flatMap((other, i) => (other === source[place] ? [i] : []));
  const which = same.length > 1 ? ` (${ordinal(same.indexOf(place) + 1)})` : "";
  return [token(source[place]), which];
}

/**
 * What a word looks at: the largest weights by name, the rest together.
 * @param {string[]} source @param {number[]} row @returns {(string | Node)[]}
 */
function lookedAt(source, row) {
  const order = row.map((_, i) => i).sort((a, b) => row[b] - row[a] || a - b);
  const named = order.filter((place, rank) => rank < NAMED && row[place] >= 0.05);
  if (!named.length) named.push(order[0]);
  const others = order.slice(named.length);
  const rest = others.reduce((sum, place) => sum + row[place], 0);
  const share = (/** @type {number} */ weight) => wholePercent(weight).replaceAll(" ", "\u00a0");
  return [
    ...named.flatMap((place, i) => [
      `${i ? ", " : ""}${share(row[place])} on `, ...character(source, place),
    ]),
    others.length ? `, ${share(rest)} on ${others.length} other${others.length > 1 ? "s" : ""}` : "",
  ];
}

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  /** @type {{source: string[], name: string, words: string[], weights: string, wrong: number[]}[]} */
  const items = model.get("_items");
  const glosses = model.get("_glosses");
  const most = (/** @type {"source" | "words"} */ part) => Math.max(...items.map((item) => item[part].length));
  const longest = Math.max(4, ...items.flatMap((item) => item.words.map((word) => [...word].length)));

  /* ---- which translation */
  const names = items.map((item) => item.name || item.source.map(visible).join(""));
  const select = make(
    "select", { class: "aw-select" },
    ...names.map((name, i) => make("option", { value: i, lang: languageOf(name) || undefined }, name)),
  );
  const previous = make("button", { type: "button", class: "aw-button" }, "Previous");
  const next = make("button", { type: "button", class: "aw-button" }, "Next");
  const chooser = make(
    "div", { class: "aw-chooser" },
    make("label", { class: "aw-choice" }, make("span", { class: "aw-name" }, "Number"), select),
    make("div", { class: "aw-switches" }, previous, next),
  );
  const only = make("p", { class: "aw-only" }, items[0].name);
  chooser.hidden = items.length < 2;
  only.hidden = items.length > 1 || !items[0].name;
  const choose = (/** @type {number} */ example) => {
    const word = model.get("word");
    commit(model, { example, word: word < items[example].words.length ? word : 0 });
  };
  const step = (/** @type {number} */ by) => {
    const from = Math.min(model.get("example"), items.length - 1); // drawn or not yet
    choose((from + by + items.length) % items.length);
  };
  select.addEventListener("change", () => choose(Number(select.value)), { signal });
  previous.addEventListener("click", () => step(-1), { signal });
  next.addEventListener("click", () => step(1), { signal });

  /* ---- the characters */
  const tiles = Array.from({ length: most("source") }, () => {
    const share = make("span", { class: "aw-tile-share" });
    const bar = make("span", { class: "aw-tile-bar", "aria-hidden": "true" });
    const sign = make("bdi", { class: "aw-tile-sign aw-token" });
    const gloss = make("span", { class: "aw-tile-gloss" });
    return { node: make("li", { class: "aw-tile" }, share, bar, sign, gloss), share, bar, sign, gloss };
  });
  const tileList = make(
    "ol", { class: "aw-tiles", role: "list", "aria-label": "Characters, and how much the word looks at each" },
    ...tiles.map((tile) => tile.node),
  );

  /* ---- the words: one of them is chosen, as with radio buttons */
  const buttons = Array.from({ length: most("words") }, (_, i) => {
    const text = make("span", { class: "aw-word-text" });
    const note = make("span", { class: "aw-hidden" });
    const node = make("button", { type: "button", class: "aw-word", role: "radio" }, text, note);
    node.addEventListener("click", () => commit(model, { word: i }), { signal });
    return { node, text, note };
  });
  const wordList = make(
    "div", { class: "aw-words", role: "radiogroup", "aria-label": "English words" },
    ...buttons.map((button) => button.node),
  );
  wordList.addEventListener(
    "keydown",
    (/** @type {KeyboardEvent} */ event) => {
      const count = items[shown.example].words.length;
      const top = (/** @type {number} */ i) => buttons[i].node.offsetTop;
      let columns = 1;
      while (columns < count && top(columns) === top(0)) columns++;
      const to = {
        ArrowLeft: shown.word - 1, ArrowRight: shown.word + 1,
        ArrowUp: shown.word - columns, ArrowDown: shown.word + columns, Home: 0, End: count - 1,
      }[event.key];
      if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      if (to < 0 || to >= count) return;
      commit(model, { word: to });
      update();
      buttons[to].node.focus();
    },
    { signal },
  );

  /* ---- lines from the word to its characters, behind tiles and words */
  const lines = make("svg:svg", { class: "aw-lines", "aria-hidden": "true" });
  const stage = make("div", { class: "aw-stage" }, lines, tileList, wordList);
  const summary = make("p", { class: "aw-summary" });
  const wrongKey = make(
    "p", { class: "aw-small" }, make("span", { class: "aw-wrong-sample" }, "word"), " a wrong word",
  );
  wrongKey.hidden = items.every((item) => !item.wrong.length);
  const live = announcer();
  const shown = { example: 0, word: 0 };
  let weights = /** @type {number[][]} */ ([]);
  const table = dataTable(
    "All weights as a table",
    () => ["Word", ...items[shown.example].source.map(token)],
    () => items[shown.example].words.map((word, i) => [
      items[shown.example].wrong.includes(i) ? `${visible(word)} (wrong)` : visible(word),
      ...weights[i].map(wholePercent),
    ]),
    signal,
  );
  const root = make(
    "div", { class: "aw-root aw-translation", role: "group", "aria-label": "Which characters a word looks at" },
    chooser, only, stage, summary, wrongKey, live.node, table.node,
  );
  root.style.setProperty("--aw-letters", String(longest));

  function drawLines() {
    const { word, example } = shown;
    const count = items[example].source.length;
    // Lines through other rows of tiles could not be followed: there, bars and shades must do.
    if (tiles[0].node.offsetTop !== tiles[count - 1].node.offsetTop) return lines.replaceChildren();
    const button = buttons[word].node;
    const [x, y] = [button.offsetLeft + button.offsetWidth / 2, button.offsetTop + 2];
    const paths = weights[word].flatMap((weight, i) => {
      if (weight < THINNEST) return [];
      const tile = tiles[i].node;
      const [from, top] = [tile.offsetLeft + tile.offsetWidth / 2, tile.offsetTop + tile.offsetHeight - 2];
      const half = Math.max(8, (y - top) / 2);
      return [make("svg:path", {
        class: "aw-line",
        d: `M${from} ${top}C${from} ${top + half} ${x} ${y - half} ${x} ${y}`,
        "stroke-width": Math.max(1, LINE * weight).toFixed(1),
      })];
    });
    lines.replaceChildren(...paths);
  }

  let built = -1;
  function build(/** @type {number} */ example) {
    const { source, words, wrong, weights: packed } = items[example];
    weights = decodeWeights(packed, source.length);
    tiles.forEach(({ node, sign, gloss }, i) => {
      node.hidden = i >= source.length;
      setText(sign, i < source.length ? visible(source[i]) : "");
      setAttribute(sign, "lang", languageOf(source[i] ?? "") || "en");
      setText(gloss, glosses[source[i]] ?? "");
    });
    buttons.forEach(({ node, text, note }, i) => {
      node.hidden = i >= words.length;
      node.classList.toggle("aw-wrong", wrong.includes(i));
      setText(text, i < words.length ? visible(words[i]) : "");
      setText(note, wrong.includes(i) ? "(wrong)" : "");
    });
    select.value = String(example);
    built = example;
  }

  function update() {
    // A page has no Python that puts the word right when a shorter translation comes.
    shown.example = Math.min(model.get("example"), items.length - 1);
    const { source, words } = items[shown.example];
    shown.word = model.get("word") < words.length ? model.get("word") : 0;
    if (built !== shown.example) build(shown.example);
    const row = weights[shown.word];
    const best = argmax(row);
    source.forEach((_, i) => {
      const { node, share, bar, sign } = tiles[i];
      setText(share, wholePercent(row[i]).replace(/([<>]) /, "$1"));
      node.classList.toggle("aw-tile-top", i === best);
      bar.style.backgroundSize = `100% ${(100 * row[i]).toFixed(1)}%`;
      sign.style.background = `rgb(${weightColour(row[i]).join()})`;
      sign.style.color = inkOn(row[i]);
    });
    buttons.forEach(({ node }, i) => {
      setAttribute(node, "aria-checked", String(i === shown.word));
      setAttribute(node, "tabindex", i === shown.word ? "0" : "-1");
    });
    const said = () => [
      make("strong", {}, visible(words[shown.word])),
      items[shown.example].wrong.includes(shown.word) ? " (a wrong word): " : ": ",
      ...lookedAt(source, row),
    ];
    summary.replaceChildren(...said());
    drawLines();
    table.refresh();
    live.say(said);
  }

  const frame = batched(update);
  const unwatch = watch(model, ["example", "word"], frame.ask);
  const sized = new ResizeObserver(() => drawLines());
  update();
  sized.observe(stage);
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, () => sized.disconnect(), live.cancel);
}

export default { render };
