// What a page does beyond reading: colours, chapters on phones, copying, scrolling boxes.
(() => {
  "use strict";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  // --- colours: as the system, light, dark
  const MODES = { auto: "as the system", light: "light", dark: "dark" };
  function paint(mode) {
    root.dataset.mode = mode;
    root.dataset.theme = mode === "auto" ? (system.matches ? "dark" : "light") : mode;
    document.querySelector(".theme-switch .unseen").textContent = `Colours: ${MODES[mode]}`;
  }
  function switchColours() {
    const order = system.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
    const mode = order[(order.indexOf(root.dataset.mode) + 1) % order.length];
    try {
      localStorage.setItem("mode", mode);
    } catch {
      // Storage is off: the choice holds for this page.
    }
    paint(mode);
  }

  // --- chapters: a list that opens below the bar where there is no room beside the text
  function chapters() {
    const toggle = document.querySelector(".nav-toggle");
    if (!toggle) return;
    const show = (open) => {
      toggle.setAttribute("aria-expanded", String(open));
      root.classList.toggle("nav-open", open);
    };
    toggle.addEventListener("click", () => show(toggle.getAttribute("aria-expanded") !== "true"));
    addEventListener("keydown", (event) => {
      if (event.key === "Escape" && root.classList.contains("nav-open")) {
        show(false);
        toggle.focus();
      }
    });
  }

  // --- copy buttons
  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  }
  // Of a dialogue with Python what was typed, without prompts and answers.
  function typed(code) {
    const lines = code.textContent.replace(/\n$/, "").split("\n");
    if (!code.querySelector(".gp")) return lines.join("\n");
    const asked = lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
    return asked.map((line) => line.slice(4)).join("\n");
  }
  function copyButtons() {
    const told = document.createElement("p");
    told.className = "unseen";
    told.setAttribute("role", "status");
    document.body.append(told);
    for (const code of document.querySelectorAll("article div.highlight > pre")) {
      if (code.closest(".cell_output")) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.innerHTML = '<span class="icon icon-copy" aria-hidden="true"></span>';
      const name = document.createElement("span");
      name.className = "unseen";
      // Told apart in a list of all buttons by its first line, whose Chinese is marked as elsewhere.
      const line = code.textContent.trim().split("\n")[0].slice(0, 50);
      const parts = line.split(/(\p{Script=Han}+)/u).map((part, i) => {
        return i % 2 ? Object.assign(document.createElement("span"), { lang: "zh-Hans", textContent: part }) : part;
      });
      name.append("Copy the code: ", ...parts);
      button.append(name);
      button.addEventListener("click", async () => {
        await copy(typed(code));
        button.classList.add("done");
        told.textContent = "Copied.";
        setTimeout(() => {
          button.classList.remove("done");
          told.textContent = "";
        }, 2000);
      });
      code.parentElement.append(button);
    }
  }

  // --- boxes wider than the page scroll by keyboard too
  const BOXES = {
    "article pre": "Code",
    ".math-scroll, span.math": "Formula",
    ".pst-scrollable-table-container": "Table",
    ".cell_output .text_html, .cell_output .output": "Output",
  };
  function scrollable() {
    for (const box of document.querySelectorAll(Object.keys(BOXES).join(", "))) {
      const wide = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible";
      if (wide && !box.hasAttribute("tabindex")) {
        box.tabIndex = 0;
        box.dataset.scrolls = "";
        if (box.hasAttribute("aria-label")) continue;
        const kind = Object.keys(BOXES).find((boxes) => box.matches(boxes));
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", `${BOXES[kind]}, scrolls sideways`);
        box.dataset.scrolls = "named";
      } else if (!wide && "scrolls" in box.dataset) {
        box.removeAttribute("tabindex");
        if (box.dataset.scrolls) ["role", "aria-label"].forEach((name) => box.removeAttribute(name));
        delete box.dataset.scrolls;
      }
    }
  }

  // --- where we are on the page
  function follow() {
    const links = new Map();
    for (const link of document.querySelectorAll(".here a[href^='#']")) {
      const part = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      if (part) links.set(part, link);
    }
    if (!links.size) return;
    const seen = new Set();
    const watch = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          if (isIntersecting) seen.add(target);
          else seen.delete(target);
        }
        const now = [...links.keys()].filter((part) => seen.has(part)).at(-1);
        for (const [part, link] of links) {
          if (part === now) link.setAttribute("aria-current", "true");
          else link.removeAttribute("aria-current");
        }
      },
      { rootMargin: "-10% 0px -60% 0px" },
    );
    for (const part of links.keys()) watch.observe(part);
  }

  // --- boxes that open by a link into them
  function unfold(target) {
    for (let box = target?.closest("details"); box; box = box.parentElement.closest("details")) {
      box.open = true;
    }
  }
  function unfoldHash() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.closest("details:not([open])")) {
      unfold(target);
      target.scrollIntoView();
    }
  }

  function start() {
    paint(root.dataset.mode in MODES ? root.dataset.mode : "auto");
    document.querySelector(".theme-switch").addEventListener("click", switchColours);
    system.addEventListener("change", () => paint(root.dataset.mode));
    chapters();
    copyButtons();
    scrollable();
    new ResizeObserver(scrollable).observe(document.body);
    document.addEventListener("toggle", scrollable, true);
    document.fonts?.ready.then(scrollable);
    follow();
    unfoldHash();
    addEventListener("hashchange", unfoldHash);
    addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key === "k") {
        event.preventDefault();
        const field = document.querySelector("header .search input");
        if (!field.getClientRects().length) return field.form.submit(); // a phone has no room for it
        field.focus();
        field.select();
      }
    });
  }
  start(); // the script is deferred: the page is there
})();
