import {
  announcer, batched, commit, dataTable, decodeWeights, languageOf, make, mounted, plot,
  setAttribute, setText, slider, token, visible, watch, weightColour, wholePercent,
} from "./core.js";

/** What a screen reader is told of a word, beside the word. */
const NOTES = { "=": "", x: " (wrong)", "-": " (missing)", "+": " (extra)", " ": "" };
const MARKS = { x: "aw-is-wrong", "-": "aw-is-missing", "+": "aw-is-extra" };

const [CELL, CELL_LARGEST] = [1.125, 2.5]; // rem: height of a row of the longest map, and of any

/** "37 % (30–44)" @param {number[]} spread median, low, high */
function range([median, low, high]) {
  const [m, l, h] = [median, low, high].map(wholePercent);
  const text = l === h ? m : `${m} (${l.replace(" %", "")}–${h.replace(" %", "")})`;
  return text.replaceAll(" ", "\u00a0");
}

/**
 * Words at tab stops, one place each: a text, not a grid of boxes, because a slider move writes
 * three of them. Places that an example does not need are filled, so that nothing below moves.
 * @param {number} count @param {string} kind @param {string} label
 */
function wordRow(count, kind, label) {
  const node = make("p", { class: `aw-places ${kind}`, role: "group", "aria-label": label });
  let written = "";
  return {
    node,
    /** @param {string} kinds @param {string[]} words */
    set(kinds, words) {
      const asked = kinds + words.join();
      if (asked === written) return;
      written = asked;
      /** @type {(string | Node)[]} */
      const parts = [];
      let plain = "";
      for (let i = 0; i < count; i++) {
        const kind = /** @type {keyof typeof NOTES} */ (kinds[i] ?? " ");
        if (NOTES[kind]) {
          parts.push(plain, ...marked(kind, words[i]));
          plain = "";
        } else plain += kind === " " ? "\u00a0" : visible(words[i]);
        if (i < count - 1) plain += "\t";
      }
      node.replaceChildren(...parts, plain);
    },
  };
}

/** A word that is not right, with a note for those who do not see how it is drawn.
 * @param {"x" | "-" | "+"} kind @param {string} word */
function marked(kind, word) {
  const [text, note] = kind === "-" ? ["–", `${visible(word)}${NOTES[kind]}`] : [visible(word), NOTES[kind]];
  return [
    make("span", { class: MARKS[kind], "aria-hidden": kind === "-" && "true" }, text),
    make("span", { class: "aw-hidden" }, note),
  ];
}

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  /** @type {number[]} */
  const lengths = model.get("_lengths");
  /** @type {string[]} */
  const models = model.get("_names");
  /** @type {string[]} */
  const mapped = model.get("_mapped");
  const examples = model.get("_examples");
  const accuracy = model.get("_accuracy");
  const [fresh, seeds] = model.get("_over");
  const glosses = model.get("_glosses");
  const every = examples.flat();
  const own = (/** @type {any} */ answer) => answer.words.filter((_, i) => !"- ".includes(answer.kinds[i]));
  const longest = Math.max(
    4, ...every.flatMap((item) => [item.right, ...item.answers.map((a) => a.words)].flat().map((w) => [...w].length)),
  );

  /* ---- controls */
  const figures = make("span", { "aria-hidden": "true" }); // said as the value, not in the name
  const name = make("span", {}, "Digits", figures);
  const lengthSlider = slider({
    label: "Digits", labelNode: name, stops: lengths, write: String, field: false, signal,
    spoken: (length) => `${length} digits`,
    onInput: (length) => {
      const count = examples[lengths.indexOf(length)].length;
      commit(model, { length, example: model.get("example") < count ? model.get("example") : 0 });
    },
  });
  const another = make("button", { type: "button", class: "aw-button" });
  another.addEventListener(
    "click",
    () => {
      update(); // a press before the last one is drawn
      commit(model, { example: (shown.example + 1) % examples[shown.at].length });
    },
    { signal },
  );
  const which = make("select", { class: "aw-select" }, ...mapped.map((m) => make("option", { value: m }, m)));
  const whose = make("label", { class: "aw-whose" }, make("span", {}, "Weights of"), which);
  whose.hidden = mapped.length < 2;
  which.addEventListener("change", () => commit(model, { model: which.value }), { signal });

  /* ---- the numeral */
  const figure = make("p", { class: "aw-figure" });
  const tiles = Array.from({ length: Math.max(...every.map((item) => item.source.length)) }, () => {
    const sign = make("bdi", { class: "aw-token aw-mark-sign" });
    const gloss = make("span", { class: "aw-mark-gloss" });
    return { node: make("li", { class: "aw-mark" }, sign, gloss), sign, gloss };
  });
  const numeral = make(
    "ol", { class: "aw-marks", role: "list", "aria-label": "Chinese characters with their meaning" },
    ...tiles.map((tile) => tile.node),
  );

  /* ---- the answers, place by place below the right words */
  const places = Math.max(...every.map((item) => item.right.length));
  const rightRow = wordRow(places, "aw-right", "Right words");
  const answers = models.map((who, i) => {
    const verdict = make("span", { class: "aw-judged" });
    const rate = make("p", { class: "aw-rate" });
    const row = wordRow(places, "", `Words of ${who}`);
    const node = make(
      "div", { class: "aw-model", role: "group", "aria-label": who },
      make("p", { class: "aw-model-head" }, make("span", { class: `aw-series aw-series-${i}`, "aria-hidden": "true" }),
        make("strong", {}, who), " ", verdict),
      rate, row.node,
    );
    return { node, verdict, rate, row };
  });
  const key = make(
    "p", { class: "aw-small aw-kinds" },
    make("span", {}, make("span", { class: MARKS.x }, "word"), " wrong"),
    make("span", {}, make("span", { class: MARKS["-"] }, "–"), " a word is missing"),
    make("span", {}, make("span", { class: MARKS["+"] }, "word"), " one too many"),
  );

  /* ---- the map: one pixel for each weight, enlarged by the browser */
  const most = Math.max(0, ...every.flatMap((item) => item.answers.map((a) => (a.weights ? own(a).length : 0))));
  const canvas = make("canvas", { class: "aw-length-map-cells", role: "img" });
  const across = tiles.map(() => make("span", { class: "aw-length-map-sign aw-token" }));
  const signs = make("div", { class: "aw-length-map-signs", "aria-hidden": "true" }, ...across);
  const down = make("div", { class: "aw-length-map-words", "aria-hidden": "true" }); // one text, a line for each word
  const map = make("div", { class: "aw-length-map" }, signs, down, canvas);
  // In the processor's memory: a few hundred pixels are not worth the way to a graphics card.
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  /** Red, green, blue and alpha of 256 weights. */
  const palette = Uint8Array.from({ length: 1024 }, (_, i) => (i % 4 === 3 ? 255 : weightColour((i >> 2) / 255)[i % 4]));
  const mapTitle = make("p", { class: "aw-panel-title" });
  const scale = make("span", { class: "aw-scale", "aria-hidden": "true" });
  const ramp = Array.from({ length: 33 }, (_, i) => `rgb(${weightColour(i / 32).join()})`);
  scale.style.background = `linear-gradient(to right, ${ramp.join()})`;
  const mapPanel = make(
    "div", { class: "aw-panel aw-looks" }, mapTitle, whose,
    make("div", { class: "aw-scroll aw-length-map-scroll", tabindex: 0, role: "group", "aria-label": "Map of the weights" }, map),
    make("p", { class: "aw-small aw-scale-line" }, make("span", {}, "0 %"), scale, make("span", {}, "100 % of a word’s weight")),
  );
  mapPanel.hidden = !mapped.length;

  /* ---- accuracy against length */
  const chart = plot("aw-length-plot");
  const reach = lengths[lengths.length - 1] - lengths[0];
  const x = (/** @type {number} */ i) => (reach ? (lengths[i] - lengths[0]) / reach : 0.5);
  const y = (/** @type {number} */ share) => 1 - share;
  const at = (/** @type {number} */ i, /** @type {number} */ share) => `${(1000 * x(i)).toFixed(1)} ${(1000 * y(share)).toFixed(1)}`;
  const marker = make("span", { class: "aw-chosen" });
  chart.area.append(marker);
  accuracy.forEach((/** @type {number[][]} */ spreads, /** @type {number} */ m) => {
    const low = spreads.map((s, i) => at(i, s[1]));
    const high = spreads.map((s, i) => at(i, s[2]));
    chart.shape(`aw-band aw-band-${m}`).setAttribute("d", `M${low.join("L")}L${high.reverse().join("L")}Z`);
    chart.shape(`aw-course aw-course-${m}`).setAttribute("d", `M${spreads.map((s, i) => at(i, s[0])).join("L")}`);
  });
  const dots = models.map((_, m) => {
    const dot = make("span", { class: `aw-dot aw-series-${m}`, "aria-hidden": "true" });
    chart.area.append(dot);
    return dot;
  });
  chart.ticks("y", [0, 0.5, 1].map((share) => [y(share), `${100 * share} %`]));
  const apart = Math.ceil(lengths.length / 6);
  const ticked = lengths.flatMap((n, i) => ((lengths.length - 1 - i) % apart ? [] : [[x(i), String(n)]]));
  chart.ticks("x", /** @type {[number, string][]} */ (ticked));
  chart.node.setAttribute("aria-label", "Share of right answers against the number of digits; the table has the numbers");
  const numbers = `${fresh ? `${fresh.toLocaleString("en")} ` : ""}fresh numbers of this length`;
  const over = seeds > 1 ? `Line: median of ${seeds} trained models; band: lowest to highest.` : "";
  const chartPanel = make(
    "div", { class: "aw-panel aw-rates" }, make("p", { class: "aw-panel-title" }, "Right, by number of digits"), chart.node,
    make("p", { class: "aw-legend aw-models" }, ...models.map((who, m) =>
      make("span", { class: "aw-entry" }, make("span", { class: `aw-series aw-series-${m}`, "aria-hidden": "true" }), who))),
    ...(over ? [make("p", { class: "aw-small" }, over)] : []),
  );

  /* ---- tables and summary */
  const live = announcer();
  const shown = { at: 0, example: 0, model: mapped[0] ?? "" };
  let weights = /** @type {number[][]} */ ([]);
  const rates = dataTable(
    "Accuracy as a table", ["Digits", ...models],
    () => lengths.map((n, i) => [String(n), ...models.map((_, m) => range(accuracy[m][i]))]), signal,
  );
  const current = () => examples[shown.at][shown.example];
  const mapAnswer = () => current().answers[models.indexOf(shown.model)];
  const cells = dataTable(
    "Weights as a table", () => ["Word", ...current().source.map(token)],
    () => own(mapAnswer()).map((word, i) => [visible(word), ...weights[i].map(wholePercent)]), signal,
  );
  cells.node.hidden = !mapped.length;
  const root = make(
    "div", { class: "aw-root aw-length", role: "group", "aria-label": "Answers and accuracy by number of digits" },
    make(
      "div", { class: "aw-start" },
      make("div", { class: "aw-controls" }, lengthSlider.node, another), chartPanel,
      make("div", { class: "aw-numeral" }, figure, numeral),
    ),
    make("div", { class: "aw-model" }, make("p", { class: "aw-model-head" }, make("strong", {}, "Right words")), rightRow.node),
    ...answers.map((answer) => answer.node), key, mapPanel, live.node, rates.node, cells.node,
  );
  root.style.setProperty("--aw-letters", String(longest));
  root.style.setProperty("--aw-most", String(Math.max(1, most)));

  function drawMap() {
    const { source } = current();
    const words = own(mapAnswer());
    weights = mapAnswer().weights ? decodeWeights(mapAnswer().weights, source.length) : [];
    setText(mapTitle, `Where “${shown.model}” looks: a row for each of its words`);
    const rows = Math.max(1, words.length);
    const tall = Math.min(CELL_LARGEST, (CELL * Math.max(1, most)) / rows);
    // Set on the few nodes concerned: a variable on the map would restyle everything in it.
    map.style.gridTemplateColumns = `max-content minmax(0, ${CELL_LARGEST * source.length}rem)`;
    map.style.minWidth = `${5 + 0.875 * source.length}rem`;
    signs.style.gridTemplateColumns = `repeat(${source.length}, minmax(0, 1fr))`;
    down.style.lineHeight = `${tall}rem`;
    canvas.style.height = `${tall * rows}rem`;
    across.forEach((sign, i) => {
      if (sign.hidden !== i >= source.length) sign.hidden = i >= source.length;
      if (sign.hidden) return;
      setText(sign, visible(source[i]));
      setAttribute(sign, "lang", languageOf(source[i]) || "en");
    });
    setText(down, words.map(visible).join("\n"));
    setAttribute(canvas, "aria-label", `Map of the weights of ${words.length} words on ${source.length} characters; the table below has the numbers`);
    if (canvas.width !== source.length) canvas.width = source.length;
    if (canvas.height !== rows) canvas.height = rows;
    const pixels = new ImageData(canvas.width, rows);
    const { data } = pixels;
    weights.flat().forEach((weight, i) => {
      const from = 4 * Math.round(255 * weight);
      for (let part = 0; part < 4; part++) data[4 * i + part] = palette[from + part];
    });
    pen.putImageData(pixels, 0, 0);
  }

  function update() {
    shown.at = Math.max(0, lengths.indexOf(model.get("length")));
    const group = examples[shown.at];
    shown.example = model.get("example") < group.length ? model.get("example") : 0;
    shown.model = model.get("model");
    const length = lengths[shown.at];
    const item = current();
    lengthSlider.set(length);
    setText(figures, `: ${length}`);
    setText(another, group.length > 1 ? `Another number (${shown.example + 1} of ${group.length})` : "Another number (1 of 1)");
    another.disabled = group.length < 2;
    setText(figure, item.name);
    tiles.forEach(({ node, sign, gloss }, i) => {
      node.classList.toggle("aw-is-blank", i >= item.source.length);
      setText(sign, i < item.source.length ? visible(item.source[i]) : "");
      setAttribute(sign, "lang", languageOf(item.source[i] ?? "") || "en");
      setText(gloss, glosses[item.source[i]] ?? "");
    });
    rightRow.set(item.right.map((word) => (word ? "=" : " ")).join(""), item.right);
    const count = item.right.filter(Boolean).length;
    const said = models.map((who, m) => {
      const { kinds, words } = item.answers[m];
      const wrong = [...kinds].filter((kind) => "x-+".includes(kind)).length;
      answers[m].row.set(kinds, words);
      const verdict = wrong ? `✗ ${wrong} of ${count} words not right` : "✓ right";
      setText(answers[m].verdict, verdict);
      setText(answers[m].rate, `Of ${numbers} right: ${range(accuracy[m][shown.at])}`);
      return `${who}: ${wrong ? `${wrong} words not right` : "right"}, accuracy ${range(accuracy[m][shown.at])}`;
    });
    if (mapped.length) {
      which.value = shown.model;
      drawMap();
    }
    marker.style.left = `${(100 * x(shown.at)).toFixed(2)}%`;
    dots.forEach((dot, m) => {
      dot.style.left = `${(100 * x(shown.at)).toFixed(2)}%`;
      dot.style.top = `${(100 * y(accuracy[m][shown.at][0])).toFixed(2)}%`;
    });
    cells.refresh();
    live.say(() => [`${length} digits. `, token(item.source.join("")), ` ${item.name}. ${said.join(". ")}.`]);
  }

  const frame = batched(update);
  const unwatch = watch(model, ["length", "example", "model"], frame.ask);
  update();
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, live.cancel);
}

export default { render };
