// Excerpts of Sphinx's search without the TeX that stands beside each formula.
(() => {
  const text = Search.htmlToText;
  Search.htmlToText = (html, anchor) =>
    text(html.replace(/<annotation[\s\S]*?<\/annotation>/g, ""), anchor);
  addEventListener("DOMContentLoaded", () => {
    const query = new URLSearchParams(location.search).get("q");
    const field = document.querySelector(".search-page input");
    if (query) field.value = query;
    else field.focus();
  });
})();
