import { linePath, make, median, plot, setAttribute, setText } from "./core.js";

const ROOM = 0.96; // of the height is 100 %: dots at the top are not cut
const BESIDE = 0.5; // of the room of a number of heads: its seeds stand side by side

/**
 * Accuracy against the number of heads: a dot for each seed, a line through the medians, the chosen
 * number marked, and the reader's guess as a dashed line.
 * @param {{numbers: number[], accuracy: number[][], enough: number, signal: AbortSignal,
 *   onPick: (place: number) => void}} options
 */
export function headsChart({ numbers, accuracy, enough, signal, onPick }) {
  const n = numbers.length;
  const x = (/** @type {number} */ place) => (place + 0.5) / n;
  const chart = plot("aw-heads-plot");
  const line = (/** @type {string} */ kind, /** @type {string} */ d) => {
    const shape = chart.shape(kind);
    shape.setAttribute("d", d);
    return shape;
  };
  line("aw-heads-enough", linePath([[0, ROOM * enough], [1, ROOM * enough]]));
  const now = chart.shape("aw-heads-now");
  const guess = chart.shape("aw-heads-guess");
  const medians = accuracy.map(median);
  const course = line("aw-curve aw-heads-course", linePath(medians.map((share, i) => [x(i), ROOM * share])));
  // A path of length 0 with round ends is a dot, whatever the shape of the chart.
  const dots = line("aw-heads-seeds", accuracy.map((seeds, i) => seeds.map((share, s) => {
    const across = 1000 * (x(i) + (BESIDE / n) * ((s + 0.5) / seeds.length - 0.5));
    return `M${across.toFixed(1)} ${(1000 * (1 - ROOM * share)).toFixed(1)}h0`;
  }).join("")).join(""));
  const dot = make("span", { class: "aw-heads-dot", "aria-hidden": "true" });
  const tag = make("span", { class: "aw-heads-tag" });
  chart.area.append(dot, tag);
  chart.ticks("y", [0, 0.5, 1].map((share) => [1 - ROOM * share, `${100 * share} %`]));
  chart.ticks("x", numbers.map((heads, i) => [x(i), String(heads)]));
  chart.area.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const box = chart.area.getBoundingClientRect();
    onPick(Math.min(n - 1, Math.max(0, Math.floor((n * (event.clientX - box.left)) / box.width))));
  }, { signal });
  const upright = (/** @type {number} */ place) => linePath([[x(place), 0], [x(place), 1]]);

  return {
    node: chart.node,
    medians,
    /** @param {number} place of the chosen number @param {number} guessed place of the guess, −1 = none
     * @param {boolean} revealed */
    draw(place, guessed, revealed) {
      for (const shape of [course, dots]) shape.style.display = revealed ? "" : "none";
      dot.hidden = !revealed;
      setAttribute(now, "d", upright(place));
      if (revealed) {
        dot.style.left = `${(100 * x(place)).toFixed(2)}%`;
        dot.style.top = `${(100 * (1 - ROOM * medians[place])).toFixed(2)}%`;
      }
      setAttribute(guess, "d", guessed < 0 ? "" : upright(guessed));
      tag.hidden = guessed < 0;
      if (guessed < 0) return;
      tag.style.left = `${(100 * x(guessed)).toFixed(2)}%`;
      tag.dataset.side = guessed < n / 2 ? "right" : "left";
      setText(tag, `your guess: ${numbers[guessed]}`);
    },
  };
}
