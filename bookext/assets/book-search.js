// The search page: an index of the book's sections (search-sections.js), made here by MiniSearch.
// English words are stemmed, Chinese runs are cut into characters and pairs, formulas are in plain
// letters. The sections come with the first search, as a script: that works in pages opened as files too.
/** @typedef {{ u: string, s: Place[] }} Page a page's address and its places, the page itself first */
/** @typedef {{ t: string, x: string, n?: string, c?: string, g?: string, k?: string, ids: string[] }} Place */
(() => {
  "use strict";
  const WORD = /[\p{L}\p{M}\p{N}_]+(?:[-\u2010-\u2013'’][\p{L}\p{M}\p{N}_]+)*|√/gu;
  const HAN = /[\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3fffd}]+/gu;
  const SHOWN = 20;
  const LONGEST = 240;
  const BOOST = { title: 8, glossary: 8, names: 5, page: 2, text: 1, code: 0.4 };
  // A term's explanation comes before a mention of it, bibliography, changelog and exercises come last, and
  // functions come after the chapters, unless what is asked for is written as in code.
  const TERM = 1.4;
  const FUNCTION = 0.2;
  const LAST = /\/a(08|11)-/;
  const AS_IN_CODE = /[\p{L}\d]_\p{L}{2}|\p{Ll}\p{Lu}|\(\)/u;

  // --- words ----------------------------------------------------------------------------------

  const stemmer = new Stemmer();
  const ignored = new Set(stopwords);
  /** @type {Map<string, string>} */
  const stems = new Map();

  /** British and American spellings alike, then the stem. @param {string} word */
  function stem(word) {
    let found = stems.get(word);
    if (found === undefined) {
      const alike = word
        .replace(/(.{2}[iy])s(e[drs]?|ing|ations?|ers?)$/, "$1z$2")
        .replace(/(.{2})our(s|ed|ing|al)?$/, "$1or$2")
        .replace(/(.[aeiou])ll(ed|ing|er)$/, "$1l$2")
        .replace(/^(cent|met)re(s?)$/, "$1er$2");
      found = /^[a-z]{3,}$/.test(alike) ? stemmer.stemWord(alike) : alike;
      stems.set(word, found);
    }
    return found;
  }

  /** @type {Map<string, string>} traditional character -> simplified */
  const TRADITIONAL = new Map();
  /** @param {string} text */
  const simple = (text) => [...text].map((letter) => TRADITIONAL.get(letter) ?? letter).join("");
  const fold = (/** @type {string} */ text) =>
    text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  /**
   * The words of a text with their places, as they are looked for: [from, to, term].
   * @param {string} text @returns {Generator<[number, number, string]>}
   */
  function* terms(text) {
    for (const { 0: found, index } of text.matchAll(WORD)) {
      let end = 0;
      for (const run of found.matchAll(HAN)) {
        yield* latin(found.slice(end, run.index), index + end);
        const letters = [...run[0]];
        let at = index + run.index;
        letters.forEach((letter, i) => {
          yieldTo.push([at, at + letter.length, simple(letter)]);
          const next = letters[i + 1];
          if (next) yieldTo.push([at, at + letter.length + next.length, simple(letter + next)]);
          at += letter.length;
        });
        yield* yieldTo.splice(0);
        end = run.index + run[0].length;
      }
      yield* latin(found.slice(end), index + end);
    }
  }
  /** @type {[number, number, string][]} */
  const yieldTo = [];

  /** @param {string} word @param {number} at @returns {Generator<[number, number, string]>} */
  function* latin(word, at) {
    if (word === "√") yield [at, at + 1, "sqrt"];
    const whole = [at, at + word.length];
    const parts = word.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
    let end = 0;
    for (const part of parts) {
      const from = at + word.indexOf(part, end);
      end = from - at + part.length;
      const term = fold(part);
      if (parts.length === 1 || part.length > 1) yield [from, from + part.length, stem(term)];
      const smaller = part.match(/\p{Lu}{2,}(?![\p{Ll}])|\p{Lu}?[\p{Ll}\p{N}]+|\p{Lu}/gu) ?? [];
      if (smaller.length < 2) continue;
      for (const one of smaller) if (one.length > 1 || one > "z") yield [from, from + part.length, stem(fold(one))];
      if (part.includes("_")) yield [from, from + part.length, term.replaceAll("_", "")];
    }
    if (parts.length > 1) yield [whole[0], whole[1], stem(fold(parts.join("")))];
  }

  /** @param {string} text */
  const tokenize = (text) => Array.from(terms(text), ([, , term]) => term);

  // --- the index --------------------------------------------------------------------------------

  const search = new MiniSearch({
    fields: Object.keys(BOOST),
    tokenize,
    processTerm: (term) => (ignored.has(term) ? null : term),
    // What is asked for is taken apart before (`asked`).
    searchOptions: { boost: BOOST, tokenize: (term) => [term], processTerm: (term) => term },
  });
  /** @type {{ place: Place, page: Page, weight: number, title: string }[]} */
  const places = [];
  /** @type {Record<string, string>} */
  let same = {};

  /** Called by search-sections.js. @param {{ same: Record<string, string>, pages: Page[] }} book */
  window.bookSearch = (book) => {
    same = book.same;
    for (const [old, now] of book.traditional.split(" ")) TRADITIONAL.set(old, now);
    for (const page of book.pages) {
      page.s.forEach((place, number) => {
        const later = LAST.test(page.u) || place.t.startsWith("Exercise") ? 0.5 : 1;
        const weight = (place.k === "term" ? TERM : 1) * later * (number ? 1 : 1.2);
        places.push({ place, page, weight, title: squeeze(place.t) });
        search.add({
          id: places.length - 1,
          title: place.t,
          glossary: place.g ?? "",
          names: place.n ?? "",
          page: number ? page.s[0].t : "",
          text: place.x,
          code: place.c ?? "",
        });
      });
    }
  };

  const squeeze = (/** @type {string} */ text) => tokenize(text).join(" ");

  /** The words of a query: of a Chinese run its pairs alone. @param {string} query */
  function asked(query) {
    const words = [];
    for (const { 0: word } of query.matchAll(WORD)) {
      for (const part of word.split(/(?=[-\u2010-\u2013'’])|(?<=[-\u2010-\u2013'’])/u)) {
        let end = 0;
        const add = (/** @type {string} */ plain) => {
          if (plain === "√") words.push("sqrt");
          else if (/[\p{L}\p{N}]/u.test(plain)) words.push(stem(fold(plain)));
        };
        for (const run of part.matchAll(HAN)) {
          add(part.slice(end, run.index));
          const letters = [...simple(run[0])];
          if (letters.length === 1) words.push(letters[0]);
          for (let i = 1; i < letters.length; i++) words.push(letters[i - 1] + letters[i]);
          end = run.index + run[0].length;
        }
        add(part.slice(end));
      }
    }
    const telling = words.filter((word) => !ignored.has(word));
    return telling.length ? telling : words;
  }

  /**
   * One word with what means the same, and, where the book has it in no place, its two halves.
   * @param {string} word @param {object} how
   */
  function alternatives(word, how) {
    const either = [word];
    if (Object.hasOwn(same, word)) {
      either.push({ combineWith: "AND", queries: tokenize(same[word]), prefix: false });
    }
    if (/^[a-z]{6,}$/.test(word) && !search.search(word, { ...how, fuzzy: false }).length) {
      for (let cut = 3; cut <= word.length - 3; cut++) {
        const halves = [stem(word.slice(0, cut)), stem(word.slice(cut))];
        if (halves.every((half) => search.search(half, { prefix: false }).length)) {
          either.push({ combineWith: "AND", queries: halves, prefix: false });
        }
      }
    }
    return { combineWith: "OR", queries: either };
  }

  /**
   * All words in one place; else the same with a slip of the pen; else some of the words.
   * @param {string} query
   */
  function find(query) {
    const words = asked(query);
    if (!words.length) return { words, results: [], partly: false };
    const prefix = (/** @type {string} */ term) => /^[a-z]{3,}/.test(term);
    const fuzzy = (/** @type {string} */ term) => (/^[a-z]{5,}$/.test(term) ? 0.2 : false);
    const joined = words.length === 2 && words.every((word) => /^[a-z]+$/.test(word));
    const ways = [
      { combineWith: "AND", prefix, fuzzy: false },
      { combineWith: "AND", prefix, fuzzy },
      { combineWith: "OR", prefix, fuzzy: false },
    ];
    for (const way of ways) {
      const all = { combineWith: way.combineWith, queries: words.map((w) => alternatives(w, way)) };
      const tree = joined ? { combineWith: "OR", queries: [all, words.join("")] } : all;
      const code = AS_IN_CODE.test(query) ? 1 : FUNCTION;
      const boostDocument = (/** @type {number} */ id) =>
        places[id].weight * (places[id].place.k === "code" ? code : 1);
      const results = search.search(tree, { ...way, boostDocument });
      if (results.length) return { words, results: ranked(results, query), partly: way.combineWith === "OR" };
    }
    return { words, results: [], partly: false };
  }

  /** What is called so comes first, then what says it in one breath. */
  function ranked(results, query) {
    const words = squeeze(query);
    for (const result of results) {
      const { place, title } = places[result.id];
      const called = [place.g, place.k === "term" && place.t].filter(Boolean).join(" · ");
      const names = [title, squeeze(place.t.replaceAll("_", " ")), ...called.split(/ · |: /).map(squeeze)];
      if (names.includes(words)) result.score *= 3;
      else if (names.some((name) => ` ${name} `.includes(` ${words} `))) result.score *= 1.7;
      else if (words.includes(" ") && says(place.x, words)) result.score *= 1.4;
    }
    return results.sort((a, b) => b.score - a.score);
  }

  /** @param {string} text @param {string} words */
  const says = (text, words) => ` ${squeeze(text)} `.includes(` ${words} `);

  // --- what the reader sees ----------------------------------------------------------------------

  /** Text with the found words marked and Chinese called Chinese. */
  function written(/** @type {string} */ text, /** @type {Set<string>} */ found, from = 0, to = text.length) {
    const marks = new Uint8Array(text.length);
    for (const [start, end, term] of terms(text)) if (found.has(term)) marks.fill(1, start, end);
    const piece = document.createDocumentFragment();
    for (let at = from; at < to; ) {
      let end = at;
      while (end < to && marks[end] === marks[at]) end++;
      const part = marks[at] ? document.createElement("mark") : document.createDocumentFragment();
      if (marks[at]) part.className = "highlighted";
      speak(part, text.slice(at, end));
      piece.append(part);
      at = end;
    }
    return piece;
  }

  /** @param {Node} parent @param {string} text */
  function speak(parent, text) {
    let end = 0;
    for (const { 0: run, index } of text.matchAll(HAN)) {
      const chinese = Object.assign(document.createElement("span"), { lang: "zh-Hans", textContent: run });
      parent.append(text.slice(end, index), chinese);
      end = index + run.length;
    }
    parent.append(text.slice(end));
  }

  /** The stretch of a text that has most of the words. */
  function excerpt(/** @type {string} */ text, /** @type {Set<string>} */ found) {
    const hits = [...terms(text)].filter(([, , term]) => found.has(term));
    let [best, most] = [0, 0];
    for (const [start] of hits) {
      const within = hits.filter(([s, e]) => s >= start && e <= start + LONGEST * 0.75);
      const different = new Set(within.map(([, , term]) => term)).size;
      if (different > most) [best, most] = [start, different];
    }
    let from = Math.max(0, best - 60);
    if (from) from = text.indexOf(" ", from) + 1 || from;
    if (from > best) from = best;
    let to = Math.min(text.length, from + LONGEST);
    if (to < text.length) to = Math.max(text.lastIndexOf(" ", to), from + LONGEST / 2);
    const line = Object.assign(document.createElement("p"), { className: "context" });
    line.append(from ? "… " : "", written(text, found, from, to), to < text.length ? " …" : "");
    return line;
  }

  /** @param {any} result */
  function item(result) {
    const { place, page } = places[result.id];
    const found = new Set(result.terms);
    const first = page.s[0] === place;
    const entry = document.createElement("li");
    const link = document.createElement("a");
    link.href = document.documentElement.dataset.content_root + page.u + (first ? "" : `#${place.ids[0]}`);
    link.append(written(place.t, found));
    entry.append(link);
    if (!first) {
      const where = Object.assign(document.createElement("span"), { className: "where" });
      speak(where, ` in ${page.s[0].t}`);
      entry.append(where);
    }
    if (place.x) entry.append(excerpt(place.x, found));
    return entry;
  }

  /** The sections, fetched when something is first looked for. @type {Promise<void> | undefined} */
  let fetched;
  const sections = () => (fetched ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = document.querySelector(".search-page").dataset.sections;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`${script.src} cannot be read`));
    document.head.append(script);
  }));

  async function show(/** @type {string} */ query) {
    const list = document.getElementById("search-results");
    const told = document.getElementById("search-progress");
    if (!query.trim()) {
      list.replaceChildren();
      told.textContent = "";
      return;
    }
    try {
      await sections();
    } catch {
      fetched = undefined;
      told.textContent = "What can be found could not be loaded. Search once more, or use the index.";
      return;
    }
    if (query !== asking()) return; // something else is asked for by now
    const { results, partly } = find(query);
    const many = results.length === 1 ? "One place" : `${results.length} places`;
    told.replaceChildren();
    if (!results.length) {
      speak(told, `Nothing found for “${query}”. Fewer or shorter words may help, and so may the term in English.`);
    } else if (partly) {
      speak(told, `No place has all the words of “${query}”. ${many} with some of them:`);
    } else speak(told, `${many} found for “${query}”.`);
    const found = Object.assign(document.createElement("ul"), { className: "search" });
    found.append(...results.slice(0, SHOWN).map(item));
    list.replaceChildren(found);
    if (results.length <= SHOWN) return;
    const more = Object.assign(document.createElement("button"), {
      type: "button",
      className: "more-results",
      textContent: `Show ${results.length - SHOWN} more`,
    });
    more.addEventListener("click", () => {
      const added = results.slice(SHOWN).map(item);
      found.append(...added);
      more.remove();
      added[0].querySelector("a").focus();
    });
    list.append(more);
  }

  /** What the field holds. */
  const asking = () => document.querySelector(".search-page input").value;

  addEventListener("DOMContentLoaded", () => {
    const form = document.querySelector(".search-page");
    const field = form.querySelector("input");
    const query = new URLSearchParams(location.search).get("q") ?? "";
    field.value = query;
    if (query) show(query);
    else field.focus();
    let waiting = 0;
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => show(field.value), 250);
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(waiting);
      history.replaceState(null, "", `?q=${encodeURIComponent(field.value)}`);
      show(field.value);
    });
  });
  Object.assign(window, { bookFind: find, bookPlaces: places });
})();
