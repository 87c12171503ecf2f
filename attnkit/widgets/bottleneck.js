import {
  announcer, batched, button, commit, dataTable, linePath, lineKey, make, modelCurve, percent, plot,
  readout, setAttribute, setText, slider, steps, watch, mounted,
} from "./core.js";

const SHOWN = 4; // seconds, when the reader turns the clock on again
const MEMORY = "you, from memory";
const LOOKING = "you, looking allowed";

/** The digits of an answer; null where there is anything but digits, spaces and separators.
 * @param {string} text */
function readDigits(text) {
  const digits = text.normalize("NFKC").replace(/[\s,.'’_·、-]/g, "");
  return /^[0-9]+$/.test(digits) ? digits : null;
}

/** Groups of three from the right, as numbers are written. @param {string} digits */
const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");

/** Digits of `typed` that stand where `asked` has them. @param {string} asked @param {string} typed */
const inPlace = (asked, typed) => [...asked].filter((digit, i) => digit === typed[i]).length;

/** Whole numbers below n: repeatable from a seed, else from the browser's own source.
 * @param {number | null} seed @returns {(n: number) => number} */
function randomSource(seed) {
  if (seed === null) {
    return (n) => {
      const [word] = crypto.getRandomValues(new Uint32Array(1));
      return Math.floor((word / 2 ** 32) * n);
    };
  }
  let state = (2 * seed + 1) ^ 0x2545f490; // odd, and another one for each seed
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  for (let i = 0; i < 20; i++) next(); // small seeds differ in few bits at first
  return (n) => Math.floor((next() / 2 ** 32) * n);
}

/** A number with so many digits, the first not 0. @param {number} length @param {(n: number) => number} below */
const draw = (length, below) =>
  Array.from({ length }, (_, i) => (i ? below(10) : 1 + below(9))).join("");

/** The reader's rounds by number of digits.
 * @param {any[]} rounds @param {boolean} looking */
function trialsOf(rounds, looking) {
  const own = rounds.filter((round) => round.looking === looking);
  return [...new Set(own.map(({ length }) => length))].sort((a, b) => a - b).map((length) => {
    const here = own.filter((round) => round.length === length);
    return { length, trials: here.length, right: here.filter(({ right }) => right).length };
  });
}

/** @param {{model: any, el: HTMLElement}} context */
function render({ model, el }) {
  const stop = new AbortController();
  const { signal } = stop;
  let below = randomSource(model.get("seed"));

  /* ---- the chart */
  const chart = plot("aw-game-plot");
  chart.node.setAttribute("aria-label", "Share of numbers right as a whole against the number of digits");
  const models = chart.shape("aw-models", "svg:g");
  const yours = ["looking", "memory"].map((kind) => ({
    looking: kind === "looking",
    line: chart.shape(`aw-you aw-${kind}`),
    dots: chart.shape(`aw-you-dots aw-${kind}`),
  }));
  const height = (/** @type {number} */ share) => 0.06 + 0.87 * share;
  chart.ticks("y", [1, 0.5, 0].map((share) => [1 - height(share), `${100 * share} %`]));
  const later = make("p", { class: "aw-later" }, "The models’ curves appear with your first round.");
  chart.area.append(later);
  const legend = make("p", { class: "aw-legend" });

  /* ---- numbers and tables */
  const memoryOut = readout("From memory");
  const lookingOut = readout("Looking allowed");
  const live = announcer(150, false);
  const curvesTable = dataTable(
    "The curves as a table", ["Digits", "Curve", "Right", "Lowest to highest"],
    () => lengthsShown().flatMap((length) => [
      ...model.get("accuracy").flatMap(([name, curve]) => curve
        .filter(([at]) => at === length)
        .map(([, median, low, high]) => [String(length), name, percent(median), `${percent(low)} to ${percent(high)}`])),
      ...[false, true].flatMap((looking) => trialsOf(model.get("rounds"), looking)
        .filter((trials) => trials.length === length)
        .map(({ trials, right }) => [String(length), looking ? LOOKING : MEMORY, `${right} of ${trials}`, "–"])),
    ]),
    signal,
  );
  const roundsTable = dataTable(
    "Your rounds as a table", ["Round", "Digits", "Looking", "Shown", "Typed", "Right", "Digits in place"],
    () => model.get("rounds").map((round, i) => [
      String(i + 1), String(round.length), round.looking ? "yes" : "no", grouped(round.asked),
      grouped(round.typed), round.right ? "yes" : "no", percent(round.digits_right),
    ]),
    signal,
  );

  /* ---- the stage: one step of the game at a time */
  const step = make("p", { class: "aw-step" });
  const round = make("p", { class: "aw-round" });
  const stage = make("div", { class: "aw-stage" });
  // A key held down must not run through the game.
  stage.addEventListener("keydown", (event) => {
    if (event.repeat && (event.key === "Enter" || (event.key === " " && event.target?.tagName === "BUTTON"))) {
      event.preventDefault();
    }
  }, { signal });
  const showing = slider({
    label: "Seconds to look", stops: steps(1, 10, 0.5), write: String, lowest: 1, highest: 60, signal,
    onInput: (seconds) => commit(model, { seconds }),
  });
  const untilHide = make("input", { type: "checkbox" });
  untilHide.addEventListener("change", () => {
    commit(model, { seconds: untilHide.checked ? null : SHOWN });
    update();
  }, { signal });
  const reveal = button("Show me the models’ curves", () => {
    commit(model, { revealed: true });
    update();
    curvesTable.node.firstChild.focus({ preventScroll: true }); // the button is gone
    live.say(() => "The models’ curves are drawn; the table below has their numbers.");
    chart.node.scrollIntoView?.({ block: "nearest" });
  }, signal);

  const root = make(
    "div", { class: "aw-root aw-bottleneck", role: "group", "aria-label": "Beat the bottleneck" },
    make("div", { class: "aw-panels" }, stage,
      make("div", { class: "aw-panel" },
        make("p", { class: "aw-panel-title" }, "Numbers right as a whole"), chart.node,
        make("p", { class: "aw-axis" }, "number of digits"), legend)),
    make("dl", { class: "aw-readouts" }, memoryOut.node, lookingOut.node),
    make("p", { class: "aw-small aw-caution" },
      "Your points: one number per length is one trial, right or wrong, so a point stands at 0\u00a0% or "
        + "100\u00a0%; play again and it becomes a share of several trials. The models’ lines: the share of "
        + "numbers without a single wrong word, median over training runs, with a band from the lowest "
        + "to the highest. The models translate Chinese numerals into English and never see digits: "
        + "this is an analogy, not a contest. Your answers stay in this widget and are stored nowhere."),
    live.node, curvesTable.node, roundsTable.node,
  );

  let plan = /** @type {{looking: boolean, length: number}[]} */ ([]);
  let at = 0;
  let asked = "";
  let timers = /** @type {number[]} */ ([]);
  let stepStop = new AbortController();
  signal.addEventListener("abort", () => stepStop.abort());

  /** Leave the present step and put the next one in its place. */
  function enter(/** @type {string} */ title, /** @type {string} */ note, /** @type {(Node | string)[]} */ ...nodes) {
    setText(step, title);
    setText(round, note);
    round.hidden = !note;
    stage.replaceChildren(step, round, ...nodes);
  }
  function leave() {
    timers.forEach((timer) => clearTimeout(timer));
    timers = [];
    stepStop.abort();
    stepStop = new AbortController();
  }
  const press = (/** @type {string} */ text, /** @type {() => void} */ pressed, kind = "") =>
    button(text, pressed, stepStop.signal, kind);
  const switches = (/** @type {Node[]} */ ...nodes) => make("div", { class: "aw-switches" }, ...nodes);
  /** The focus goes along unless the reader is somewhere else on the page. */
  function focus(/** @type {HTMLElement} */ node, /** @type {boolean} */ asked) {
    const here = document.activeElement;
    if (asked || !here || here === document.body || root.contains(here)) node.focus({ preventScroll: true });
  }
  const place = () => {
    const { looking, length } = plan[at];
    const block = plan.filter((one) => one.looking === looking);
    return `Round ${block.indexOf(plan[at]) + 1} of ${block.length} · ${digits(length)}`;
  };
  const digits = (/** @type {number} */ n) => `${n} ${n === 1 ? "digit" : "digits"}`;

  function intro(/** @type {boolean} */ asked) {
    leave();
    at = 0;
    const [first, last] = [plan[0].length, plan[plan.length - 1].length];
    const start = press("Start", () => show(), "aw-primary");
    enter(
      "Beat the bottleneck", "",
      make("p", {},
        `A number with ${first === last ? digits(first) : `${first}, then up to ${digits(last)}`} is shown, hidden and asked for. `
          + "You carry it in your head, as a decoder does that gets one fixed vector. Then the same again "
          + "with looking allowed, as attention allows it."),
      make("div", {}, showing.node, make("label", { class: "aw-check" }, untilHide, make("span", {}, "No clock: until I press Hide"))),
      switches(start, reveal),
    );
    if (asked) focus(start, true);
  }

  /** The number, for the eye in groups, for the ear digit by digit. */
  function numberNode() {
    const node = make(
      "p", { class: "aw-number", tabindex: -1, style: `--aw-digits: ${asked.length}` },
      make("span", { class: "aw-number-digits", "aria-hidden": "true" }, grouped(asked)),
      make("span", { class: "aw-hidden" }, [...asked].join(" ")),
    );
    return node;
  }

  function show() {
    leave();
    const { looking, length } = plan[at];
    asked = draw(length, below);
    if (looking) return ask();
    const seconds = model.get("seconds");
    const number = numberNode();
    const clock = make("p", { class: "aw-clock" });
    const untilPressed = "It stays until you press Hide now.";
    const hide = press("Hide now", () => ask(), "aw-primary");
    const stopClock = press("Stop the clock", () => {
      timers.forEach((timer) => clearTimeout(timer));
      timers = [];
      setText(clock, untilPressed);
      stopClock.hidden = true;
      focus(hide, true);
      live.say(() => untilPressed);
    });
    enter("From memory", place(), number, clock, switches(hide, stopClock, press("Stop the game", () => stopped())));
    if (seconds === null) {
      setText(clock, untilPressed);
      stopClock.hidden = true;
    } else {
      const end = performance.now() + 1000 * seconds;
      const tick = () => setText(clock, `Hidden in ${Math.max(1, Math.ceil((end - performance.now()) / 1000 - 0.05))} s`);
      tick();
      timers = [window.setInterval(tick, 1000), window.setTimeout(() => ask(false), 1000 * seconds)];
    }
    focus(number, true);
    live.say(() => `${place()}, from memory. The number is shown ${seconds === null ? "until you press Hide now" : `for ${seconds} seconds`}.`);
  }

  function ask(byReader = true) {
    leave();
    const { looking, length } = plan[at];
    const field = make("input", {
      type: "text", class: "aw-field", inputmode: "numeric", autocomplete: "off", spellcheck: "false",
      enterkeyhint: "done",
    });
    const error = make("p", { class: "aw-error", hidden: true });
    const form = make(
      "form", { novalidate: true },
      make("label", { class: "aw-answer-label" },
        looking ? `Type the ${digits(length)}; you may look` : `Type the ${digits(length)} you saw`, field),
      error,
      switches(make("button", { type: "submit", class: "aw-button aw-primary" }, "Check"),
        press("Skip this round", () => next()), press("Stop the game", () => stopped())),
    );
    form.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      const typed = readDigits(field.value);
      if (typed !== null) return check(typed);
      const text = field.value.trim() ? "Only digits count here, with spaces or commas if you like." : "Type the digits, or skip this round.";
      field.setAttribute("aria-invalid", "true");
      error.hidden = false;
      setText(error, text);
      focus(field, true);
      live.say(() => text);
    }, { signal: stepStop.signal });
    const shown = looking
      ? numberNode()
      : make("p", { class: "aw-number aw-covered", "aria-hidden": "true", style: `--aw-digits: ${length}` },
          grouped("0".repeat(length)).replaceAll("0", "•"));
    enter(looking ? "Looking allowed" : "From memory", place(), shown, form);
    focus(looking ? shown : field, byReader);
    live.say(() => looking ? `${place()}, looking allowed. The number stays while you type.` : `Hidden. Type the ${digits(length)}.`);
  }

  function check(/** @type {string} */ typed) {
    const { looking, length } = plan[at];
    const right = typed === asked;
    const share = inPlace(asked, typed) / length;
    commit(model, {
      rounds: [...model.get("rounds"), { looking, length, asked, typed, right, digits_right: share }],
      revealed: true,
    });
    update();
    const verdict = right
      ? `Right: all ${digits(length)}.`
      : `Not right: ${inPlace(asked, typed)} of ${digits(length)} in their place.`;
    feedback(verdict, typed);
  }

  function feedback(/** @type {string} */ verdict, /** @type {string} */ typed) {
    leave();
    const { looking } = plan[at];
    const last = at === plan.length - 1;
    const onward = press(last ? "See the result" : "Next round", () => next(), "aw-primary");
    const marked = [...grouped(typed)];
    let seen = 0;
    const written = marked.map((sign) => {
      if (!/\d/.test(sign)) return sign;
      return asked[seen++] === sign ? sign : make("span", { class: "aw-slip" }, sign);
    });
    const width = { class: "aw-compare", style: `--aw-digits: ${Math.max(asked.length, typed.length)}` };
    enter(
      looking ? "Looking allowed" : "From memory", place(),
      make("p", { class: "aw-outcome" }, verdict),
      make("dl", width, make("dt", {}, "Shown"), make("dd", {}, grouped(asked)), make("dt", {}, "Typed"), make("dd", {}, ...written)),
      switches(onward, ...(last ? [] : [press("Stop the game", () => stopped())])),
    );
    focus(onward, true);
    live.say(() => verdict);
  }

  function next() {
    at += 1;
    if (at >= plan.length) return result("That was the last round");
    if (plan[at].looking && !plan[at - 1].looking) return between();
    show();
  }

  function between() {
    leave();
    const start = press("Start looking", () => show(), "aw-primary");
    enter(
      "Now with looking allowed", "",
      make("p", {}, "The same lengths with new numbers, and each number stays while you type. Nothing has "
        + "to be carried: you fetch each digit when you need it, which is what attention lets a decoder do."),
      switches(start, press("Stop the game", () => stopped())),
    );
    focus(start, true);
    live.say(() => "Now with looking allowed. The number stays while you type.");
  }

  function stopped() {
    result("Stopped");
  }

  function result(/** @type {string} */ title) {
    leave();
    asked = "";
    const rounds = model.get("rounds");
    const goOn = at < plan.length ? press("Go on", () => show(), "aw-primary") : null;
    const again = press("Play again", () => { at = 0; show(); }, goOn ? "" : "aw-primary");
    const over = press("Start over", () => {
      commit(model, { rounds: [], revealed: false });
      update();
      intro(true);
    });
    const said = [false, true].map((looking) => spoken(rounds, looking)).join(" ");
    enter(
      title, "", make("p", {}, said),
      make("p", { class: "aw-small" }, "Play again adds a trial to each length. Start over forgets your rounds and brings back the settings."),
      switches(...(goOn ? [goOn] : []), again, over, reveal),
    );
    focus(goOn ?? again, true);
    live.say(() => `${title}. ${said}`);
  }

  function spoken(/** @type {any[]} */ rounds, /** @type {boolean} */ looking) {
    const { right, trials, share } = total(rounds, looking);
    const name = looking ? "Looking allowed" : "From memory";
    return trials ? `${name}: ${right} of ${trials} numbers right, ${percent(share)} of the digits in their place.` : `${name}: no number tried.`;
  }
  function total(/** @type {any[]} */ rounds, /** @type {boolean} */ looking) {
    const own = rounds.filter((one) => one.looking === looking);
    const asked = own.reduce((sum, { length }) => sum + length, 0);
    const kept = own.reduce((sum, one) => sum + inPlace(one.asked, one.typed), 0);
    return { trials: own.length, right: own.filter(({ right }) => right).length, share: asked ? kept / asked : 0 };
  }

  /* ---- drawing */
  const lengthsShown = () => [...new Set([
    ...model.get("lengths"),
    ...model.get("accuracy").flatMap(([, curve]) => curve.map(([length]) => length)),
    ...model.get("rounds").map(({ length }) => length),
  ])].sort((a, b) => a - b);

  let drawn = { models: "", lengths: "", seed: model.get("seed") };
  function update() {
    const rounds = model.get("rounds");
    const revealed = model.get("revealed");
    const accuracy = model.get("accuracy");
    const seconds = model.get("seconds");
    const shown = lengthsShown();
    const [low, high] = [shown[0], shown[shown.length - 1]];
    const x = (/** @type {number} */ length) => (length - low + 0.6) / (high - low + 1.2);
    const asked = JSON.stringify([accuracy, shown, revealed]);
    if (asked !== drawn.models) {
      chart.ticks("x", shown.filter((n) => shown.length <= 9 || model.get("lengths").includes(n)).map((n) => [x(n), String(n)]));
      models.replaceChildren(...(revealed ? accuracy.flatMap(([, curve], i) => {
        const style = modelCurve(i);
        const band = linePath([
          ...curve.map(([length, , , top]) => [x(length), height(top)]),
          ...curve.map(([length, , bottom]) => [x(length), height(bottom)]).reverse(),
        ]);
        return [
          make("svg:path", { class: "aw-band", style: style.replace("stroke:", "fill:"), d: `${band}Z` }),
          make("svg:path", {
            class: "aw-curve", style, "vector-effect": "non-scaling-stroke",
            d: linePath(curve.map(([length, median]) => [x(length), height(median)])),
          }),
        ];
      }) : []));
      legend.replaceChildren(
        ...accuracy.map(([name], i) => lineKey(modelCurve(i), name)),
        yourKey("memory", MEMORY), yourKey("looking", LOOKING),
      );
      later.hidden = revealed || !accuracy.length;
      reveal.hidden = revealed || !accuracy.length;
      curvesTable.node.hidden = !revealed;
      drawn.models = asked;
    }
    for (const { looking, line, dots } of yours) {
      const points = trialsOf(rounds, looking).map(({ length, trials, right }) => [x(length), height(right / trials)]);
      setAttribute(line, "d", linePath(points));
      setAttribute(dots, "d", points.map((point) => `${linePath([point])}h0.1`).join(""));
    }
    for (const [out, looking] of [[memoryOut, false], [lookingOut, true]]) {
      const { trials, right, share } = total(rounds, looking);
      out.set(
        trials ? `${right} of ${trials} right` : "–",
        trials ? `${percent(share)} of the digits in their place` : "not played yet",
        trials ? right / trials : 0,
      );
    }
    roundsTable.node.hidden = !rounds.length;
    curvesTable.refresh();
    roundsTable.refresh();
    untilHide.checked = seconds === null;
    showing.range.disabled = showing.field.disabled = seconds === null;
    showing.set(seconds ?? SHOWN);
    if (model.get("seed") !== drawn.seed) {
      drawn.seed = model.get("seed");
      below = randomSource(drawn.seed);
    }
    const lengths = JSON.stringify(model.get("lengths"));
    if (lengths !== drawn.lengths) {
      drawn.lengths = lengths;
      plan = [false, true].flatMap((looking) =>
        model.get("lengths").map((/** @type {number} */ length) => ({ looking, length })));
      intro(false);
    }
  }

  function yourKey(/** @type {string} */ kind, /** @type {string} */ name) {
    const key = lineKey("", name, `aw-you aw-${kind}`);
    key.firstChild?.append(make("svg:path", { class: `aw-you-dots aw-${kind}`, d: "M14 6h0.1" }));
    return key;
  }

  const frame = batched(update);
  const unwatch = watch(model, ["accuracy", "lengths", "seconds", "seed", "revealed", "rounds"], frame.ask);
  update();
  return mounted(el, root, unwatch, leave, () => stop.abort(), frame.cancel, live.cancel);
}

export default { render };
