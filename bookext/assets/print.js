// What paper needs and a style sheet cannot do. The answers in boxes that open go to the end of their
// article, so that a question can be thought about; the page's title runs along the top of each sheet.
(() => {
  "use strict";
  /** Undoes what was done for the printer. @type {(() => void)[]} */
  let undo = [];

  /** @param {string} tag @param {string} className @param {(Node | string)[]} inside */
  function make(tag, className, ...inside) {
    const made = Object.assign(document.createElement(tag), { className });
    made.append(...inside);
    return made;
  }
  function link(/** @type {string} */ to, /** @type {string} */ text) {
    return Object.assign(document.createElement("a"), { href: `#${to}`, textContent: text });
  }

  /** Move the answers of an article to its end, numbered as their questions are. */
  function gather(/** @type {Element} */ article) {
    const boxes = [...article.querySelectorAll("details.admonition:not(.hide)")].filter(
      (box) => !box.parentElement?.closest("details"),
    );
    if (!boxes.length) return;
    const name = article.id && `${article.id}--`;
    const list = make("section", "answers", make("h2", "", "Answers and hints"));
    boxes.forEach((box, index) => {
      const asked = `${name}asked-${index + 1}`;
      const answered = `${name}answer-${index + 1}`;
      const summary = /** @type {HTMLElement} */ (box.querySelector(":scope > summary"));
      const title = make("p", "answer-title", link(asked, `${index + 1}`));
      title.append(...[...summary.cloneNode(true).childNodes]);
      for (const inner of title.querySelectorAll("[id]")) inner.removeAttribute("id");
      const moved = [...box.childNodes].filter((node) => node !== summary);
      const answer = make("div", "answer", title, ...moved);
      answer.id = answered;
      const mark = make("span", "answer-link", " → ", link(answered, `answer ${index + 1}`));
      mark.id = asked;
      summary.append(mark);
      box.classList.add("gathered");
      list.append(answer);
      undo.push(() => {
        mark.remove();
        box.classList.remove("gathered");
        box.append(...moved);
      });
    });
    article.append(list);
    undo.push(() => list.remove());
  }

  /** The page's title and the book's, at the top of each sheet. A whole book has its own. */
  function runningTitles() {
    const [page, book] = document.title.split(" · ").map((text) => JSON.stringify(text));
    if (!document.querySelector(".frame")) return;
    const font = 'color: #585d63; font: 9pt "Source Serif 4", Georgia, "DejaVu Serif", serif';
    const boxes = `@top-left { content: ${page}; ${font} } @top-right { content: ${book ?? '""'}; ${font} }`;
    const style = make("style", "", `@page { ${boxes} }`);
    document.head.append(style);
    undo.push(() => style.remove());
  }

  function restore() {
    for (const step of undo.splice(0).reverse()) step();
  }
  addEventListener("beforeprint", () => {
    restore();
    document.querySelectorAll("article.text").forEach(gather);
    runningTitles();
  });
  addEventListener("afterprint", restore);
})();
