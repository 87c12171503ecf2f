import {
  announcer, batched, button, commit, dataTable, make, mounted, percent, readout, setText, slider,
  watch, wholePercent,
} from "./core.js";
import { headsChart } from "./heads_chart.js";
import { scaleKey } from "./maps.js";
import { pickedMap } from "./maps_pick.js";
import { codesOf, largest, mapsOf, weightsOf } from "./packed.js";
import { thumbnails } from "./thumbnails.js";

const NONE = 0; // the guess that no number of heads is enough

/** "1 head", "2 heads" @param {number} count */
const headsOf = (count) => `${count} head${count === 1 ? "" : "s"}`;

/** "16 features" @param {number} d_head */
const featuresOf = (d_head) => `${d_head} feature${d_head === 1 ? "" : "s"}`;

/** Rows and columns of the table of thumbnails, as in heads_runs.py. @param {number} heads */
function tableOf(heads) {
  const columns = heads > 8 ? [8, 7, 6, 5, 4].find((c) => heads % c === 0) ?? heads : heads;
  return [heads / columns, columns];
}

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  /** @type {{heads: number, d_head: number, accuracy: number[], codes: string}[]} */
  const runs = model.get("_runs");
  const numbers = runs.map((run) => run.heads);
  const [rows, columns] = model.get("_shape");
  const shape = /** @type {[number, number]} */ ([rows, columns]);
  /** @type {string[]} */ const queries = model.get("_query_tokens");
  /** @type {string[]} */ const keys = model.get("_key_tokens");
  const enough = model.get("_enough");
  const maps = runs.map((run) => mapsOf(weightsOf(codesOf(run.codes), columns), rows * columns));
  const tops = maps.map((heads) => heads.map((map) => largest(map, columns, null)));
  const shown = { run: 0, head: 0, query: 0 };

  /* ---- the number of heads, and the guess */
  const choose = (/** @type {number} */ num_heads) =>
    commit(model, { num_heads, head: model.get("head") < num_heads ? model.get("head") : 0 });
  const headSlider = slider({
    label: "Number of heads", stops: numbers, write: String, spoken: headsOf, field: false, signal, onInput: choose,
  });
  const chosen = make("span", { class: "aw-heads-chosen", "aria-hidden": "true" });
  headSlider.node.append(chosen);
  const name = `guess-${Math.random()}`; // radio buttons of one view belong together
  const guesses = [...numbers, NONE].map((heads) => {
    const input = make("input", { type: "radio", name });
    input.addEventListener("change", () => commit(model, { prediction: heads }), { signal });
    return { heads, input, node: make("label", { class: "aw-check" }, input, make("span", {}, heads === NONE ? "none of them" : String(heads))) };
  });
  const measure = button("Measure", () => reveal({}), signal, "aw-primary");
  const skip = button("Skip the guess", () => reveal({ prediction: null }), signal);
  const question = make("div", { class: "aw-heads-ask" },
    make("fieldset", { class: "aw-heads-guesses" },
      make("legend", {}, make("strong", {}, "Guess first. "),
        model.get("_question")),
      make("div", { class: "aw-switches" }, ...guesses.map((guess) => guess.node))),
    make("div", { class: "aw-switches" }, measure, skip));
  const verdict = make("p", { class: "aw-verdict", tabindex: -1 });
  const again = button("Guess again", () => {
    commit(model, { revealed: false });
    update();
    (guesses.find((guess) => guess.input.checked) ?? guesses[0]).input.focus({ preventScroll: true });
  }, signal);
  const answer = make("div", { class: "aw-heads-answer" }, verdict, again);
  function reveal(/** @type {Record<string, any>} */ values) {
    commit(model, { ...values, revealed: true });
    update();
    (verdict.hidden ? again : verdict).focus({ preventScroll: true });
  }

  /* ---- accuracy */
  const chart = headsChart({
    numbers, accuracy: runs.map((run) => run.accuracy), enough, signal,
    onPick: (place) => (model.get("revealed") ? choose(numbers[place]) : commit(model, { prediction: numbers[place] })),
  });
  chart.node.setAttribute("aria-label", "Right answers against the number of heads; the table has the numbers");
  const accuracyOut = readout("Right answers", false);
  const sizeOut = readout("d_head", false);
  const dotsKey = make("span", { class: "aw-key aw-heads-key-seeds" }, "one seed");
  const lineKey = make("span", { class: "aw-key aw-heads-key-line" }, "median");
  const chartPanel = make("div", { class: "aw-panel" },
    make("p", { class: "aw-panel-title" }, "Right answers, by number of heads"), chart.node,
    make("p", { class: "aw-legend" }, dotsKey, lineKey,
      make("span", { class: "aw-key aw-heads-key-enough" }, `${wholePercent(enough)}: enough`),
      make("span", { class: "aw-key aw-heads-key-now" }, "the number chosen")));

  /* ---- the heads of one model */
  /** A table of thumbnails for each model, made when it is first shown. */
  const tables = /** @type {ReturnType<typeof thumbnails>[]} */ ([]);
  const tableRoom = make("div");
  function tableOfRun(/** @type {number} */ run) {
    if (!tables[run]) {
      const [lines, across] = tableOf(numbers[run]);
      const table = thumbnails({
        label: "Heads of this model", signal,
        onPick: (row, column) => commit(model, { head: row * across + column }),
        spoken: (row, column) => `head ${row * across + column}`,
      });
      const names = Array.from({ length: lines }, (_, i) => (lines === 1 ? "head" : `${i * across} +`));
      table.build(names, Array.from({ length: across }, (_, i) => String(i)), shape);
      table.draw(names.map((_, i) => maps[run].slice(i * across, (i + 1) * across)), shape, () => ({ top: 1 }));
      tableRoom.append(table.node);
      tables[run] = table;
    }
    tables.forEach((table, i) => (table.node.hidden = i !== run));
    return tables[run];
  }
  const tableTitle = make("p", { class: "aw-panel-title" });
  const mapTitle = make("p", { class: "aw-panel-title" });
  const large = pickedMap({
    label: "Weights of the chosen head. Arrow keys move between queries and keys.",
    reading: "aw-heads-reading", table: "Weights of this head as a table", model, signal,
  });
  large.setTokens(queries, keys);
  const legend = scaleKey();
  const live = announcer();
  const rates = dataTable(
    "Right answers as a table", ["Heads", "d_head", "Median", "Lowest", "Highest", "Seeds"],
    () => runs.map((run, i) => [
      String(run.heads), String(run.d_head), percent(chart.medians[i]), percent(Math.min(...run.accuracy)),
      percent(Math.max(...run.accuracy)), String(run.accuracy.length),
    ]), signal,
  );
  const mapsPanel = make("div", { class: "aw-heads-maps" },
    make("div", { class: "aw-heads-left" }, tableTitle, tableRoom),
    make("div", { class: "aw-heads-right" }, mapTitle, large.node, legend.node, large.reading));
  const root = make(
    "div", { class: "aw-root aw-heads", role: "group", "aria-label": "How many heads" },
    make("div", { class: "aw-heads-top" },
      make("div", { class: "aw-heads-start" }, headSlider.node,
        make("dl", { class: "aw-readouts" }, sizeOut.node, accuracyOut.node), question, answer),
      chartPanel),
    mapsPanel, live.node, rates.node, large.data,
  );
  root.style.setProperty("--aw-most-rows", String(Math.max(...numbers.map((heads) => tableOf(heads)[0]))));

  /** How the guess and the measurement compare. */
  function judged(/** @type {number} */ prediction) {
    const first = chart.medians.findIndex((share) => share >= enough);
    const last = chart.medians.length - 1;
    const guess = `You guessed ${prediction === NONE ? "none of them" : prediction}`;
    if (first < 0) return `${guess}. No number is enough: the best median is ${percent(Math.max(...chart.medians))}.`;
    const said = `${headsOf(numbers[first])} ${numbers[first] === 1 ? "is" : "are"} enough (${spread(first)}).`;
    return `${guess}${prediction === numbers[first] ? ", and" : ". Measured:"} ${said}`
      + (chart.medians[last] < enough ? ` More is not always better: ${headsOf(numbers[last])} give ${percent(chart.medians[last])}.` : "");
  }
  /** "from 98 % to 100 % over 5 seeds" @param {number} i */
  function range(i) {
    const { accuracy } = runs[i];
    const [low, high] = [percent(Math.min(...accuracy)), percent(Math.max(...accuracy))];
    if (accuracy.length === 1) return "one seed";
    return low === high ? `the same with all ${accuracy.length} seeds` : `from ${low} to ${high} over ${accuracy.length} seeds`;
  }
  const spread = (/** @type {number} */ i) => `median ${percent(chart.medians[i])}, ${range(i)}`;

  function update() {
    shown.run = Math.max(0, numbers.indexOf(model.get("num_heads")));
    const { heads, d_head } = runs[shown.run];
    shown.head = model.get("head") < heads ? model.get("head") : 0;
    shown.query = Math.min(rows - 1, model.get("query"));
    const [prediction, revealed] = [model.get("prediction"), model.get("revealed")];
    headSlider.set(heads);
    setText(chosen, headsOf(heads));
    sizeOut.set(String(d_head), `features per head: ${heads} × ${d_head} = ${heads * d_head} in all`);
    if (revealed) {
      accuracyOut.set(percent(chart.medians[shown.run]), range(shown.run));
    } else accuracyOut.set("?", "after your guess");
    for (const guess of guesses) guess.input.checked = guess.heads === prediction;
    measure.disabled = prediction === null;
    chart.draw(shown.run, prediction ? numbers.indexOf(prediction) : -1, revealed);
    question.hidden = revealed;
    answer.hidden = mapsPanel.hidden = rates.node.hidden = large.data.hidden = !revealed;
    dotsKey.hidden = lineKey.hidden = !revealed;
    answer.classList.toggle("aw-plain", prediction === null);
    verdict.hidden = prediction === null;
    setText(verdict, revealed && prediction !== null ? judged(prediction).replaceAll(" %", "\u00a0%") : "");
    setText(again, prediction === null ? "Make a guess" : "Guess again");

    if (revealed) {
      const across = tableOf(heads)[1];
      tableOfRun(shown.run).select(Math.floor(shown.head / across), shown.head % across);
      setText(tableTitle, heads === 1 ? "The only head of this model" : `All ${heads} heads of this model, on one scale`);
      setText(mapTitle, `Head ${shown.head}: largest weight ${wholePercent(tops[shown.run][shown.head])}`);
      large.draw(maps[shown.run][shown.head], shown.query);
    }
    rates.refresh();
    live.say(() => revealed
      ? [`${headsOf(heads)} of ${featuresOf(d_head)}: ${spread(shown.run)}. Head ${shown.head}, `, ...large.said()]
      : `${headsOf(heads)} of ${featuresOf(d_head)}. Right answers: shown after your guess.`);
  }

  const frame = batched(update);
  const unwatch = watch(model, ["num_heads", "head", "query", "prediction", "revealed"], frame.ask);
  update();
  return mounted(el, root, unwatch, () => stop.abort(), frame.cancel, large.cancel, live.cancel);
}

export default { render };
