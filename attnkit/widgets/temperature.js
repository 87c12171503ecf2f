import {
  announcer, argmax, batched, button, commit, dataTable, hardSelection, languageOf, linePath,
  lineKey, listed, make, number, numberField, percent, plot, ratioTemperature, series, setAttribute,
  setText, slider, softmax, softmaxSlopes, TEMPERATURES, token, visible, watch, mounted,
} from "./core.js";

const SAME = 1e-6; // temperatures that differ by less than this share of themselves are the same
const FEW = 4; // up to so many tokens every pair has a row; beyond, the pairs with one token
const LOWEST = TEMPERATURES[0];
const LEAST = 1e-4; // a present weight below is wanted as this much: 0.01 % is the least that the fields show
const NEAR = 0.03; // curves that are nowhere further apart look like one
const HIGHEST = TEMPERATURES[TEMPERATURES.length - 1];

/** Place of a temperature on the charts, 0 to 1. @param {number} t */
const place = (t) => Math.log(t / LOWEST) / Math.log(HIGHEST / LOWEST);

/**
 * Every pair of tokens (the larger wanted share first; if equal, the larger score) with the
 * temperature that its wanted ratio needs.
 * @param {number[]} scores @param {number[]} wanted
 */
function wantedPairs(scores, wanted) {
  const pairs = [];
  for (let i = 0; i < scores.length; i++) {
    for (let j = 0; j < i; j++) {
      const ahead = wanted[i] === wanted[j] ? scores[i] > scores[j] : wanted[i] > wanted[j];
      const [first, second] = ahead ? [i, j] : [j, i];
      pairs.push({
        first, second,
        ...ratioTemperature(scores[first], scores[second], wanted[first], wanted[second]),
      });
    }
  }
  return pairs;
}

/** The temperature that serves all pairs; "none" where they need different ones.
 * @param {{kind: string, temperature: number}[]} pairs */
function commonTemperature(pairs) {
  const rest = pairs.filter(({ kind }) => kind !== "any" && kind !== "undefined");
  if (!rest.length) return { kind: "any", temperature: NaN };
  const needed = rest.map(({ temperature }) => temperature);
  const [low, high] = [Math.min(...needed), Math.max(...needed)];
  const [{ kind, temperature }] = rest;
  const differ = rest.some((pair) => pair.kind !== kind) || (kind === "one" && high - low > SAME * low);
  return differ || kind === "none" ? { kind: "none", temperature: NaN } : { kind, temperature };
}

/** Two temperatures in as few digits as tell them apart. @param {number[]} two */
function apart(two) {
  for (let digits = 3; digits < 9; digits++) {
    const [a, b] = two.map((value) => number(value, digits));
    if (a !== b) return [a, b];
  }
  return two.map((value) => number(value, 9));
}

/** A ratio of two shares, for reading. @param {number} a @param {number} b */
function ratioText(a, b) {
  if (a === 0 && b === 0) return "0 : 0";
  return number(b === 0 ? Infinity : a / b);
}

/** Wanted shares up to 1 are shown in percent, others (5, 10, 80) as they are. @param {number[]} wanted */
const unitOf = (wanted) => (Math.max(...wanted) <= 1 ? 100 : 1);

/** The wanted shares in a sentence: "5 : 10 : 80". @param {number[]} wanted @param {number} unit */
function sharesText(wanted, unit) {
  return wanted.length > FEW ? "the wanted shares" : wanted.map((share) => number(unit * share)).join("\u00a0:\u00a0");
}

/** Height of a share on the charts: a little room above and below. @param {number} share */
const height = (share) => 0.02 + 0.95 * share;

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  const plain = (/** @type {number} */ value) => String(Number(value.toPrecision(8)));
  const first = { scores: model.get("scores").length, wanted: model.get("wanted") };

  let scores = /** @type {number[]} */ ([]);
  let labels = /** @type {string[]} */ ([]);
  let wanted = /** @type {number[]} */ ([]);
  let weights = /** @type {number[]} */ ([]);
  let slopes = /** @type {number[]} */ ([]);
  let pairs = /** @type {ReturnType<typeof wantedPairs>} */ ([]);
  let taken = /** @type {number[]} */ ([]); // wanted shares that were the weights
  let unit = 100;
  let common = { kind: "any", temperature: NaN };

  /* ---- controls */
  const tSlider = slider({
    label: "Temperature T", stops: TEMPERATURES, write: plain, positive: true,
    complaint: "T must be above 0", signal,
    onInput: (temperature) => commit(model, { temperature, revealed: true }),
  });
  const take = button("Take the present weights as wanted", () => {
    taken = weights.map((weight) => Math.max(weight, LEAST));
    commit(model, { wanted: taken });
  }, signal);
  const back = button(`Want ${sharesText(first.wanted, unitOf(first.wanted))}`, () => commit(model, { wanted: first.wanted }), signal);

  /* ---- the tokens */
  const tokenRows = make("tbody");
  const slopeHead = make("span", {}, "Slope ", make("span", { class: "aw-formula" }, "w(1−w)/T"));
  const wantedHead = make("span");
  const columns = ["Token, score", "Weight", slopeHead, wantedHead];
  const tokenTable = make(
    "table", { class: "aw-tokens", "aria-label": "Weights now, and the wanted shares" },
    make("thead", {}, make("tr", {}, ...columns.map((name) => make("th", { scope: "col" }, name)))),
    tokenRows,
  );
  const sum = make("p", { class: "aw-small" });

  /* ---- the curves */
  const weightPlot = plot("aw-curve-plot");
  const slopePlot = plot("aw-slope-plot");
  const plots = [weightPlot, slopePlot];
  const needs = weightPlot.shape("aw-needs");
  const curves = plots.map((chart) => {
    const group = chart.shape("aw-curves", "svg:g");
    return group;
  });
  const cursors = plots.map((chart) => {
    const line = chart.shape("aw-cursor", "svg:line");
    line.setAttribute("y1", "0");
    line.setAttribute("y2", "1000");
    return line;
  });
  for (const chart of plots) {
    chart.ticks("x", [0.05, 0.2, 1, 2, 5, 10].map((t) => [place(t), String(t)]));
    const dragged = (/** @type {PointerEvent} */ event) => {
      if (event.pointerType === "touch" || !(event.buttons & 1)) return;
      const box = chart.area.getBoundingClientRect();
      const at = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      commit(model, { temperature: TEMPERATURES[Math.round(at * (TEMPERATURES.length - 1))], revealed: true });
      event.preventDefault();
    };
    for (const kind of ["pointerdown", "pointermove"]) chart.area.addEventListener(kind, dragged, { signal });
  }
  weightPlot.ticks("y", [1, 0.5, 0].map((share) => [1 - height(share), `${100 * share} %`]));
  const legend = make("p", { class: "aw-legend" });
  const needsKey = make("span", { class: "aw-line-key" }, make("span", { class: "aw-needs-key" }), "T that a pair needs");
  const near = make("p", { class: "aw-small aw-near" });

  /* ---- the pairs */
  const verdict = make("p", { class: "aw-judgement" });
  const picker = make("select", { "aria-label": "Show the pairs with" });
  const pick = make("label", { class: "aw-pick" }, make("span", {}, "Pairs with"), picker);
  picker.addEventListener("change", () => (buildPairs(), frame.ask()), { signal });
  const pairRows = make("tbody");
  const pairTable = make(
    "table", { class: "aw-pairs", "aria-label": "Temperature that each pair needs" },
    make("thead", {}, make("tr", {}, ...["Pair", "Now", "Wanted", "Needs T ="].map(
      (name) => make("th", { scope: "col" }, name)))),
    pairRows,
  );
  const show = button("Show what each pair needs", () => {
    commit(model, { revealed: true });
    update();
    answer.focus();
  }, signal);
  const ask = make(
    "div", { class: "aw-ask" },
    make("p", {}, "Which temperature gives the wanted shares? Move T, and compare."), show,
  );
  // Hidden, it keeps its place: what stands below does not move when it is shown.
  const answer = make("div", { class: "aw-needed aw-verdict", tabindex: -1 }, verdict, pick, pairTable);

  /* ---- the limits */
  const coldLimit = make("p", { class: "aw-remark" });
  const hotLimit = make("p", { class: "aw-remark" });
  const live = announcer();
  const table = dataTable(
    "The curves as a table", ["T", "Token", "Weight", "Slope"],
    () => [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].flatMap((t) => {
      const w = softmax(scores, t);
      const s = softmaxSlopes(w, t);
      return labels.map((label, i) => [String(t), token(label), percent(w[i]), number(s[i], 3)]);
    }),
    signal,
  );

  const root = make(
    "div", { class: "aw-root aw-temperature", role: "group", "aria-label": "One temperature, many ratios" },
    make("div", { class: "aw-controls" }, tSlider.node, make("div", { class: "aw-switches" }, take, back)),
    make("div", { class: "aw-panels" },
      make("div", { class: "aw-panel" },
        make("p", { class: "aw-panel-title" }, "Weights now, and the wanted shares"), tokenTable,
        make("p", { class: "aw-legend" }, make("span", { class: "aw-key aw-key-wanted" }, "wanted share")), sum),
      make("div", { class: "aw-panel" },
        make("p", { class: "aw-panel-title" }, "Weight against temperature"), weightPlot.node,
        make("p", { class: "aw-panel-title" }, "Slope of the weight against temperature"), slopePlot.node,
        legend, near)),
    make("div", { class: "aw-verdict-box" }, ask, answer),
    make("div", { class: "aw-limits" }, coldLimit, hotLimit),
    live.node, table.node,
  );

  /** @type {{weight: any, fill: any, mark: any, slope: any, field: ReturnType<typeof numberField>}[]} */
  let rows = [];
  let rowsStop = new AbortController();
  let pairsStop = new AbortController();
  signal.addEventListener("abort", () => (rowsStop.abort(), pairsStop.abort()));

  function buildTokens() {
    rowsStop.abort();
    rowsStop = new AbortController();
    rows = labels.map((label, i) => {
      const fill = make("span", { class: "aw-weight-fill" });
      const mark = make("span", { class: "aw-wanted-mark" });
      const field = numberField({
        label: `Wanted share of ${visible(label)}`, lowest: 0, signal: rowsStop.signal,
        write: (value) => String(Number(value.toPrecision(4))),
        allow: (value) => value > 0 || wanted.some((share, j) => j !== i && share > 0),
        onInput: (value) =>
          commit(model, { wanted: wanted.map((share, j) => (j === i ? value / unit : share)) }),
      });
      field.node.setAttribute("lang", languageOf(label) || "en");
      const weight = make("span", { class: "aw-weight-cell" });
      const slope = make("td");
      tokenRows.append(make("tr"));
      return { fill, mark, field, weight, slope };
    });
    tokenRows.replaceChildren(...rows.map((row, i) => make(
      "tr", {},
      make("th", { scope: "row" }, make("span", { class: "aw-who" }, token(labels[i])),
        make("span", { class: "aw-small" }, number(scores[i], 4))),
      make("td", {}, row.weight,
        make("span", { class: "aw-weight-bar", "aria-hidden": "true" }, row.fill, row.mark)),
      row.slope, make("td", {}, row.field.node),
    )));
    legend.replaceChildren(
      ...labels.map((label, i) => lineKey(series(i), token(label))),
      needsKey,
    );
    picker.replaceChildren(...labels.map((label, i) =>
      make("option", { value: i, lang: languageOf(label) || undefined }, visible(label))));
    picker.value = String(argmax(scores));
  }

  function drawCurves() {
    const points = scores.map(() => [[], []]);
    let steepest = 0;
    for (let k = 0; k < TEMPERATURES.length; k += 2) {
      const at = place(TEMPERATURES[k]);
      const w = softmax(scores, TEMPERATURES[k]);
      softmaxSlopes(w, TEMPERATURES[k]).forEach((slope, i) => {
        points[i][0].push([at, w[i]]);
        points[i][1].push([at, slope]);
        steepest = Math.max(steepest, slope);
      });
    }
    const top = steepest || 1;
    curves.forEach((group, which) => {
      group.replaceChildren(...points.map((both, i) => make("svg:path", {
        class: "aw-curve", style: series(i), "vector-effect": "non-scaling-stroke",
        d: linePath(both[which].map(([x, y]) => [x, height(which ? y / top : y)])),
      })));
    });
    const apart = (/** @type {number} */ i, /** @type {number} */ j) =>
      Math.max(...points[i][0].map(([, y], k) => Math.abs(y - points[j][0][k][1])));
    const close = points.flatMap((_, i) => points.slice(0, i).map((_, j) => [j, i])).filter(([j, i]) => apart(i, j) < NEAR);
    near.replaceChildren(...(close.length
      ? [...listed(close[0].map((i) => labels[i])), ` nearly coincide${close.length > 1 ? ", and others too" : ""}`] : []));
    slopePlot.ticks("y", [[1 - height(0), "0"], [1 - height(1), number(steepest, 2)]]);
  }

  /** @type {{now: any, a: number, b: number}[]} */
  let shownPairs = [];
  function buildPairs() {
    pairsStop.abort();
    pairsStop = new AbortController();
    const many = labels.length > FEW;
    pick.hidden = !many;
    const chosen = Number(picker.value);
    const listedPairs = pairs.filter(({ first, second }) => !many || first === chosen || second === chosen);
    shownPairs = [];
    pairRows.replaceChildren(...listedPairs.map(({ first: a, second: b, kind, temperature }) => {
      const now = make("td");
      shownPairs.push({ now, a, b });
      const answer = kind === "one"
        ? button(number(temperature), () => commit(model, { temperature }), pairsStop.signal)
        : { any: "any T", zero: "only T\u00a0→\u00a00", infinite: "only T\u00a0→\u00a0∞", none: "no T", undefined: "no ratio" }[kind];
      if (kind === "one") answer.prepend(make("span", { class: "aw-hidden" }, "Set T = "));
      return make("tr", {},
        make("th", { scope: "row" }, ...listedPair(a, b)),
        now, make("td", {}, ratioText(wanted[a], wanted[b])), make("td", {}, answer));
    }));
    const inside = shownPairs.map(({ a, b }) => pairs.find(({ first, second }) => first === a && second === b))
      .filter((pair) => pair?.kind === "one" && pair.temperature >= LOWEST && pair.temperature <= HIGHEST);
    setAttribute(needs, "d", inside.map((pair) => `M${Math.round(1e4 * place(pair?.temperature ?? 1)) / 10} 0V1000`).join(""));
  }

  function judge() {
    const whole = sharesText(wanted, unit);
    const names = (/** @type {{first: number, second: number}} */ { first: a, second: b }) =>
      [...listedPair(a, b), ` = ${ratioText(wanted[a], wanted[b])}`];
    verdict.replaceChildren(...say(), ".");

    function say() {
      if (common.kind === "one") return [strong(`T = ${number(common.temperature)} gives ${whole}`)];
      if (common.kind === "any") return [strong(`Every temperature gives ${whole}`), ": the scores are equal"];
      if (common.kind === "zero") return [strong(`Only the limit T → 0 gives ${whole}`), ": a weight is never quite 0"];
      if (common.kind === "infinite") return [strong(`Only the limit T → ∞ gives ${whole}`)];
      const none = pairs.find(({ kind }) => kind === "none");
      if (none) {
        const { first: a, second: b } = none;
        const why = scores[a] === scores[b]
          ? ": equal scores get equal weights"
          : [": at every T the larger score, that of ", token(labels[b]), ", has the larger weight"];
        return [...names(none), " is out of reach", ...[why].flat(), ". ", strong(`No temperature gives ${whole}`)];
      }
      const limit = pairs.find(({ kind }) => kind === "zero" || kind === "infinite");
      const ones = pairs.filter(({ kind }) => kind === "one");
      const by = (/** @type {(a: number, b: number) => boolean} */ better) =>
        ones.reduce((best, pair) => (better(pair.temperature, best.temperature) ? pair : best));
      if (limit) {
        const other = ones[0] ?? pairs.find(({ kind }) => kind !== limit.kind && /zero|infinite/.test(kind));
        const want = (/** @type {any} */ { kind, temperature }) =>
          ({ zero: " needs T → 0, ", infinite: " needs T → ∞, " })[kind] ?? ` needs T = ${number(temperature)}, `;
        return [...names(limit), want(limit), ...names(other), want(other).slice(0, -2), ": ",
          strong(`no temperature gives ${whole}`)];
      }
      const [low, high] = [by((a, b) => a < b), by((a, b) => a > b)];
      const [cold, warm] = apart([low.temperature, high.temperature]);
      return [...names(low), ` needs T = ${cold}, `, ...names(high), ` needs T = ${warm}: `,
        strong(`no temperature gives ${whole}`)];
    }
  }
  const strong = (/** @type {string} */ text) => make("strong", {}, text);
  const listedPair = (/** @type {number} */ a, /** @type {number} */ b) =>
    [token(labels[a]), "\u00a0:\u00a0", token(labels[b])];

  function limits() {
    const n = scores.length;
    const top = Math.max(...scores);
    const winners = labels.filter((_, i) => scores[i] === top);
    coldLimit.replaceChildren(
      strong("T → 0, hard selection: "), ...hardSelection(winners),
      winners.length === 1
        ? ", and every slope goes to 0: a small change of a score changes nothing, and no gradient "
          + "is left to learn the choice."
        : " (equal scores), and their slopes grow like 1 ÷ T: the smallest difference decides.",
    );
    hotLimit.replaceChildren(
      strong("T → ∞: "),
      "equal shares, ", make("span", { class: "aw-formula" }, percent(1 / n)), " each, whatever the scores. The slopes go to 0 here too: a "
        + "large T makes every score matter less.",
    );
  }

  /** @type {any} */
  let built = {};
  function update() {
    const before = built;
    built = Object.fromEntries(["scores", "labels", "wanted"].map((name) => [name, model.get(name)]));
    if (new Set(Object.values(built).map(({ length }) => length)).size > 1) {
      built = before; // one of three lists has come; the others follow
      return;
    }
    ({ scores, labels, wanted } = built);
    const changed = (/** @type {string} */ name) =>
      before[name] !== built[name] && JSON.stringify(before[name]) !== JSON.stringify(built[name]);
    const [newScores, newLabels, newWanted] = ["scores", "labels", "wanted"].map(changed);
    const temperature = model.get("temperature");
    if (newScores || newLabels) {
      buildTokens();
      drawCurves();
      limits();
    }
    if (newScores || newLabels || newWanted) {
      if (!tokenRows.contains(document.activeElement)) unit = unitOf(wanted);
      setText(wantedHead, unit === 100 ? "Wanted, %" : "Wanted");
      pairs = wantedPairs(scores, wanted);
      common = commonTemperature(pairs);
      buildPairs();
      judge();
      const largest = Math.max(...wanted);
      const total = wanted.reduce((all, share) => all + share / largest, 0);
      rows.forEach((row, i) => {
        row.field.set(unit * wanted[i]);
        row.mark.style.left = `${((100 * wanted[i]) / largest / total).toFixed(2)}%`;
      });
      const raised = wanted.includes(LEAST) && JSON.stringify(wanted) === JSON.stringify(taken);
      const whole = `${number(unit * total * largest)}${unit === 100 ? " %" : ""}`;
      setText(sum, (raised
        ? `The weights were taken, those below 0.01 % as 0.01 %. They sum to ${whole}; only ratios count.`
        : `The wanted shares sum to ${whole}. Only their ratios count: the marks stand where they `
          + "would if the sum were 100 %.").replaceAll(" %", "\u00a0%"));
    }
    weights = softmax(scores, temperature);
    slopes = softmaxSlopes(weights, temperature);
    tSlider.set(temperature);
    const revealed = model.get("revealed");
    ask.hidden = revealed;
    for (const node of [answer, needs, needsKey]) node.style.visibility = revealed ? "" : "hidden";
    back.disabled = first.scores !== scores.length;
    rows.forEach((row, i) => {
      setText(row.weight, percent(weights[i]));
      setText(row.slope, number(slopes[i], 2));
      const size = `${(100 * weights[i]).toFixed(1)}% 100%`;
      if (row.fill.style.backgroundSize !== size) row.fill.style.backgroundSize = size;
    });
    const x = place(temperature) * 1000;
    for (const cursor of cursors) {
      setAttribute(cursor, "x1", x.toFixed(1));
      setAttribute(cursor, "x2", x.toFixed(1));
    }
    for (const { now, a, b } of shownPairs) {
      const text = ratioNow(a, b, temperature);
      const met = text === ratioText(wanted[a], wanted[b]);
      setText(now, met ? `${text} ✓` : text);
      if (now.classList.contains("aw-met") !== met) now.classList.toggle("aw-met", met);
    }
    table.refresh();
    live.say(() => [
      `Temperature ${number(temperature)}. `,
      ...labels.slice(0, 6).flatMap((label, i) => [
        i ? "; " : "", token(label), `: ${percent(weights[i])}, slope ${number(slopes[i], 2)}`,
      ]),
      (labels.length > 6 ? `; and ${labels.length - 6} more` : "") + ". ",
      ...(model.get("revealed") ? verdict.cloneNode(true).childNodes : []),
    ]);
  }

  /** The ratio of two weights, from the scores: it has its digits where the weights round to 0.
   * @param {number} a @param {number} b @param {number} temperature */
  function ratioNow(a, b, temperature) {
    return number(Math.exp((scores[a] - scores[b]) / temperature));
  }

  const frame = batched(update);
  const unwatch = watch(model, ["scores", "labels", "wanted", "temperature", "revealed"], frame.ask);
  weightPlot.node.setAttribute("aria-label", "Weight of each token against the temperature, logarithmic axis");
  slopePlot.node.setAttribute("aria-label", "Slope of each weight against the temperature, logarithmic axis");
  update();
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, live.cancel);
}

export default { render };
