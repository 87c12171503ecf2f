import {
  announcer, argmax, batched, commit, dataTable, decodeDigits, decodeFloat16, dot, entropy,
  jacobianNorm, make, median, mounted, normalDensity, number, percent, plot, readout, setAttribute,
  setText, slider, softmax, steps, TEMPERATURES, watch,
} from "./core.js";

const D_MAX = 1024;
const QUERIES = 8;
const KEYS = 64;
const UNIT = 8; // components are multiples of 1/8
const BINS = 40;
const REACH = 4; // the histogram runs from −4 to 4 standard deviations
/** Half widths of the score axis: the first that holds three deviations is taken. */
const HALVES = [4, 8, 16, 32, 64, 128];
/** d_k of the slider: every whole number to 16, then eight to the octave. */
const D_STOPS = [
  ...steps(1, 16, 1),
  ...steps(1, 48, 1).map((k) => Math.round(16 * 2 ** (k / 8))),
];

/**
 * The scores of one query: exact, because components are multiples of 1/8.
 * @param {Int8Array[]} vectors 8 queries, then 64 keys
 * @param {number} sample
 * @param {number} d
 */
function rawScores(vectors, sample, d) {
  const scores = new Float64Array(KEYS);
  for (let j = 0; j < KEYS; j++) {
    scores[j] = dot(vectors[sample], vectors[QUERIES + j], d) / (UNIT * UNIT);
  }
  return scores;
}

/** A guess: a whole number of percent. @param {number} share */
const whole = (share) => `${Math.round(100 * share)} %`;
/** A tick of the weight axis. @param {number} share */
const tickText = (share) => `${number(100 * share, 2)} %`;

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;

  const digits = decodeDigits(model.get("_vectors")).map((digit) => digit - 32);
  const vectors = Array.from({ length: QUERIES + KEYS }, (_, i) =>
    digits.subarray(i * D_MAX, (i + 1) * D_MAX),
  );
  const density = decodeFloat16(model.get("_density"));
  const densityD = model.get("_density_d");
  const spread = decodeFloat16(model.get("_spread"));
  const askD = model.get("_ask_d_k");

  /* ---- controls */
  const dSlider = slider({
    label: "Key dimension d_k", stops: D_STOPS, write: String, whole: true, lowest: 1,
    highest: D_MAX, signal, onInput: (d_k) => commit(model, { d_k }),
  });
  const tSlider = slider({
    label: "Temperature", stops: TEMPERATURES, write: (t) => String(Number(t.toPrecision(6))),
    positive: true, complaint: "It must be above 0", signal, onInput: (temperature) => commit(model, { temperature }),
  });
  const scaleBox = make("input", { type: "checkbox" });
  const zoomBox = make("input", { type: "checkbox" });
  const sameBox = make("input", { type: "checkbox" });
  const another = make("button", { type: "button", class: "aw-button" }, "Another query");
  scaleBox.addEventListener("change", () => commit(model, { scale: scaleBox.checked }), { signal });
  for (const box of [zoomBox, sameBox]) box.addEventListener("change", () => frame.ask(), { signal });
  another.addEventListener(
    "click", () => commit(model, { sample: (model.get("sample") + 1) % QUERIES }), { signal },
  );
  const controls = make(
    "div", { class: "aw-controls" }, dSlider.node, tSlider.node,
    make(
      "div", { class: "aw-switches" },
      make("label", { class: "aw-check" }, scaleBox, make("span", {}, "Divide by √d_k")),
      make("label", { class: "aw-check" }, sameBox, make("span", {}, "One score axis for all d_k")),
      make("label", { class: "aw-check" }, zoomBox, make("span", {}, "Zoom the weights")),
      another,
    ),
  );

  /* ---- the scores */
  const scorePlot = plot("aw-score-plot");
  const bars = scorePlot.shape("aw-hist");
  const theory = scorePlot.shape("aw-theory");
  const rug = scorePlot.shape("aw-rug");
  const rugTop = scorePlot.shape("aw-rug-top");
  const scoreTitle = make("p", { class: "aw-panel-title" });
  const measuredKey = make("span", { class: "aw-key aw-key-hist" });
  const theoryKey = make("span", { class: "aw-key aw-key-theory" });
  const scorePanel = make(
    "div", { class: "aw-panel" }, scoreTitle, scorePlot.node,
    make(
      "p", { class: "aw-legend" }, measuredKey, theoryKey,
      make("span", { class: "aw-key aw-key-rug" }, "this query’s 64 scores"),
    ),
  );

  /* ---- the weights, or the question */
  const weightPlot = plot("aw-weight-plot");
  const weightBars = weightPlot.shape("aw-bars");
  const weightTop = weightPlot.shape("aw-bar-top");
  const guessLine = weightPlot.shape("aw-guess-line", "svg:line");
  guessLine.setAttribute("x1", "0");
  guessLine.setAttribute("x2", "1000");
  const guessTag = make("span", { class: "aw-guess-tag" });
  const topTag = make("span", { class: "aw-top-tag" });
  weightPlot.area.append(guessTag, topTag);
  weightPlot.ticks("x", [1, 16, 32, 48, 64].map((k) => [(k - 0.5) / KEYS, String(k)]));
  const guessSlider = slider({
    label: "Your guess", stops: steps(0, 1, 0.01), write: String, spoken: whole, field: false,
    signal, onInput: (prediction) => commit(model, { prediction }),
  });
  const measure = make("button", { type: "button", class: "aw-button aw-primary" }, "Measure");
  const skip = make("button", { type: "button", class: "aw-button" }, "Skip the guess");
  const question = make(
    "div", { class: "aw-question" },
    make(
      "p", {}, make("strong", {}, "Guess first. "),
      `Take d_k = ${askD}, scores not divided by √d_k, temperature 1. How much of the weight does `
        + `the best of the 64 keys get? (Equal shares: ${percent(1 / KEYS)} each.)`,
    ),
    make(
      "p", { class: "aw-small" },
      "The question is about this one setting, wherever the sliders stand, and Measure puts them "
        + "there. Until then they show how far apart the scores get; the weights stay hidden.",
    ),
    guessSlider.node,
    make("div", { class: "aw-switches" }, measure, skip),
  );
  const verdict = make("p", { class: "aw-verdict", tabindex: -1 });
  const again = make("button", { type: "button", class: "aw-button" }, "Guess again");
  const answer = make("div", { class: "aw-answer" }, verdict, again);
  const weightPanel = make(
    "div", { class: "aw-panel" },
    make("p", { class: "aw-panel-title" }, "Weights: the softmax of the scores"), weightPlot.node,
    make("p", { class: "aw-axis" }, "key number (all weights: 100 %)"),
  );
  const reveal = (/** @type {Record<string, any>} */ values) => {
    commit(model, { ...values, revealed: true });
    update();
    (verdict.hidden ? again : verdict).focus({ preventScroll: true });
  };
  measure.addEventListener(
    "click",
    () => reveal({ prediction: guess(), d_k: askD, scale: false, temperature: 1 }),
    { signal },
  );
  skip.addEventListener("click", () => reveal({ prediction: null }), { signal });
  again.addEventListener(
    "click",
    () => {
      commit(model, { revealed: false });
      update();
      guessSlider.range.focus({ preventScroll: true });
    },
    { signal },
  );
  const dragged = (/** @type {PointerEvent} */ event) => {
    if (model.get("revealed") || event.pointerType === "touch" || !(event.buttons & 1)) return;
    const box = weightPlot.area.getBoundingClientRect();
    const share = 1 - (event.clientY - box.top) / box.height;
    commit(model, { prediction: Math.round(100 * Math.min(1, Math.max(0, share))) / 100 });
    event.preventDefault();
  };
  for (const kind of ["pointerdown", "pointermove"]) {
    weightPlot.area.addEventListener(kind, dragged, { signal });
  }

  /* ---- numbers */
  const spreadOut = readout("Spread of the scores", false);
  const largestOut = readout("Largest weight");
  const entropyOut = readout("Entropy");
  const gradientOut = readout("Softmax gradient");
  const readouts = make(
    "dl", { class: "aw-readouts" },
    spreadOut.node, largestOut.node, entropyOut.node, gradientOut.node,
  );
  const live = announcer();
  let scores = /** @type {number[]} */ ([]);
  let weights = /** @type {number[]} */ ([]);
  const table = dataTable(
    "Scores and weights as a table", ["Key", "Score", "Weight"],
    () => scores.map((score, i) => [String(i + 1), number(score, 4), percent(weights[i])]),
    signal,
  );

  const root = make(
    "div",
    { class: "aw-root aw-scaling", role: "group", "aria-label": "Scores and weights as d_k grows" },
    controls, make("div", { class: "aw-panels" }, scorePanel, weightPanel), question, answer,
    readouts, live.node, table.node,
  );

  const guess = () => model.get("prediction") ?? 0.5;
  let known = "";
  let raw = new Float64Array(KEYS);

  function drawScores(/** @type {number} */ d, /** @type {boolean} */ scaled) {
    const deviation = scaled ? 1 : Math.sqrt(d);
    const half = HALVES.find((h) => h >= 3 * (sameBox.checked ? Math.sqrt(D_MAX) : deviation));
    const x = (/** @type {number} */ score) =>
      Math.round(Math.min(1000, Math.max(0, 500 + (500 * score) / half)));
    let nearest = 0;
    densityD.forEach((/** @type {number} */ at, /** @type {number} */ i) => {
      if (Math.abs(Math.log(at / d)) < Math.abs(Math.log(densityD[nearest] / d))) nearest = i;
    });
    const column = density.subarray(nearest * BINS, (nearest + 1) * BINS);
    const tallest = 1.05 * Math.max(normalDensity(0, 1), ...column);
    const y = (/** @type {number} */ value) => Math.round(930 * (1 - value / tallest));
    let path = `M${x(-REACH * deviation)} 930`;
    for (let b = 0; b < BINS; b++) {
      const right = (((b + 1) * 2 * REACH) / BINS - REACH) * deviation;
      path += `V${y(column[b])}H${x(right)}`;
    }
    setAttribute(bars, "d", `${path}V930Z`);
    let curve = "";
    for (let i = 0; i <= BINS; i++) {
      const z = -REACH + (i * 2 * REACH) / BINS;
      curve += `${i ? "L" : "M"}${x(z * deviation)} ${y(normalDensity(z, 1))}`;
    }
    setAttribute(theory, "d", curve);
    const best = argmax(scores);
    setAttribute(rug, "d", scores.map((score) => `M${x(score)} 950V990`).join(""));
    setAttribute(rugTop, "d", `M${x(scores[best])} 935V1000`);
    scorePlot.ticks("x", [-1, -0.5, 0, 0.5, 1].map((at) => [(at + 1) / 2, number(at * half)]));
    setText(scoreTitle, scaled ? "Scores q·k ÷ √d_k" : "Scores q·k");
    setText(measuredKey, `8,192 random pairs${densityD[nearest] === d ? "" : ` (d_k = ${densityD[nearest]})`}`);
    setText(theoryKey, scaled ? "theory: N(0, 1)" : "theory: N(0, d_k)");
    const measured = spread[d - 1] / (scaled ? Math.sqrt(d) : 1);
    spreadOut.set(
      measured.toPrecision(3),
      scaled ? "standard deviation; theory: 1" : `standard deviation; theory: √d_k = ${number(deviation)}`,
    );
    return `Scores: standard deviation ${measured.toPrecision(3)}, theory ${number(deviation)}.`;
  }

  function drawWeights(/** @type {boolean} */ revealed) {
    const best = argmax(weights);
    const top = revealed && zoomBox.checked ? Math.max(weights[best], 1e-6) : 1;
    const bar = (/** @type {number} */ i) => {
      const height = Math.round((1e4 * weights[i]) / top) / 10;
      // What is too low to be seen is not drawn.
      return height ? `M${((i + 0.1) * 1000) / KEYS} 1000v-${height}h${800 / KEYS}V1000Z` : "";
    };
    setAttribute(weightBars, "d", revealed ? weights.map((_, i) => (i === best ? "" : bar(i))).join("") : "");
    setAttribute(weightTop, "d", revealed ? bar(best) : "");
    weightPlot.ticks("y", [0, 0.5, 1].map((share) => [1 - share, tickText(share * top)]));
    topTag.hidden = !revealed;
    if (revealed) {
      const share = weights[best] / top;
      setText(topTag, percent(weights[best]));
      topTag.style.top = `${(100 * (1 - share)).toFixed(2)}%`;
      topTag.style.left = `${((100 * (best + 0.5)) / KEYS).toFixed(2)}%`;
      topTag.dataset.side = best > KEYS * 0.7 ? "left" : "right";
    }
    const prediction = revealed ? model.get("prediction") : guess();
    const line = prediction === null ? -1 : 1 - prediction / top;
    guessLine.style.display = guessTag.hidden = line < 0 || line > 1 ? "none" : "";
    guessTag.hidden = line < 0 || line > 1;
    if (!guessTag.hidden) {
      setAttribute(guessLine, "y1", (1000 * line).toFixed(1));
      setAttribute(guessLine, "y2", (1000 * line).toFixed(1));
      guessTag.style.top = `${(100 * line).toFixed(2)}%`;
      guessTag.dataset.side = line > 0.15 ? "above" : "below";
      guessTag.dataset.end = revealed && best < KEYS / 2 ? "right" : "left";
      setText(guessTag, `your guess: ${whole(prediction)}`);
    }
    if (!revealed) {
      for (const out of [largestOut, entropyOut, gradientOut]) out.set("?", "after your guess", 0);
      return "Weights: shown after your guess.";
    }
    const nats = entropy(weights);
    const gradient = jacobianNorm(weights);
    largestOut.set(percent(weights[best]), `equal shares would be ${percent(1 / KEYS)}`, weights[best]);
    entropyOut.set(
      `${nats.toFixed(2)} nats`, `${percent(nats / Math.log(KEYS))} of ln 64, equal shares`,
      nats / Math.log(KEYS),
    );
    gradientOut.set(number(gradient, 2), "size of ∂ weights / ∂ softmax input (Frobenius norm)", gradient / 0.5);
    return `Largest weight ${percent(weights[best])}, entropy ${nats.toFixed(2)} of 4.16 nats, `
      + `softmax gradient ${number(gradient, 2)}.`;
  }

  function drawVerdict(/** @type {boolean} */ revealed) {
    const prediction = model.get("prediction");
    question.hidden = revealed;
    answer.hidden = !revealed;
    answer.classList.toggle("aw-plain", prediction === null);
    verdict.hidden = prediction === null;
    setText(again, prediction === null ? "Make a guess" : "Guess again");
    if (!revealed || prediction === null) return;
    const found = Array.from({ length: QUERIES }, (_, q) => Math.max(...softmax(rawScores(vectors, q, askD))));
    setText(
      verdict,
      `d_k = ${askD}, not divided: you guessed ${whole(prediction)}, the measurement is `
        + `${percent(found[model.get("sample")])}. Over eight queries: median ${percent(median(found))}, `
        + `from ${percent(Math.min(...found))} to ${percent(Math.max(...found))}.`,
    );
  }

  let answered = "";
  function update() {
    const d = model.get("d_k");
    const sample = model.get("sample");
    const scaled = model.get("scale");
    const temperature = model.get("temperature");
    const revealed = model.get("revealed");
    if (known !== `${d} ${sample}`) {
      raw = rawScores(vectors, sample, d);
      known = `${d} ${sample}`;
    }
    const divisor = scaled ? Math.sqrt(d) : 1;
    scores = Array.from(raw, (score) => score / divisor);
    weights = softmax(scores, temperature);
    dSlider.set(d);
    tSlider.set(temperature);
    guessSlider.set(guess());
    scaleBox.checked = scaled;
    const said = drawScores(d, scaled) + " " + drawWeights(revealed);
    const asked = [revealed, sample, model.get("prediction")].join();
    if (asked !== answered) drawVerdict(revealed);
    answered = asked;
    table.node.hidden = !revealed;
    table.refresh();
    live.say(() =>
      `d_k ${d}, ${scaled ? "divided by root d_k" : "not divided"}, temperature ${number(temperature)}. ${said}`);
  }

  const frame = batched(update);
  const unwatch = watch(
    model, ["d_k", "scale", "temperature", "sample", "prediction", "revealed"], frame.ask,
  );
  scorePlot.node.setAttribute("aria-label", "Histogram of the scores with the normal curve of theory");
  weightPlot.node.setAttribute("aria-label", "Bar chart of the softmax weights of the 64 keys");
  update();
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, live.cancel);
}

export default { render };
