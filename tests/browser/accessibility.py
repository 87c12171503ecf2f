"""What axe has to say about a page, in the time that its answers are worth.

Nine tenths of axe's time are the contrast of text, and most of a page's text looks like other text
on it: the spans of a cell, the cells of a table. Contrast follows from the styles of an element and
of all that it stands in. Elements in which all of these agree are one case, and axe judges three of
each: the first, the middle and the last. Every other rule sees the whole page.
"""

from axe_playwright_python.base import AXE_SCRIPT

#: The rules whose answer depends on colours; the others need no second look in dark ones.
OF_COLOURS = ["color-contrast", "link-in-text-block"]

#: Marks what stands for the text of its kind, and has axe look at the marked for contrast.
MARK = """() => {
  const kinds = new Map(), known = new WeakMap();
  const styles = ["color", "backgroundColor", "backgroundImage", "opacity", "visibility",
    "fontSize", "fontWeight", "textShadow", "webkitTextStrokeColor", "position", "mixBlendMode",
    "filter"];
  const kindOf = (node) => {
    if (!node) return 0;
    if (!known.has(node)) {
      const style = getComputedStyle(node);
      const exempt = node.matches(":disabled, [aria-disabled=true]");
      const own = styles.map((name) => style[name]);
      const key = [kindOf(node.parentElement), exempt, ...own].join("|");
      if (!kinds.has(key)) kinds.set(key, kinds.size + 1);
      known.set(node, kinds.get(key));
    }
    return known.get(node);
  };
  const groups = new Map();
  for (const node of document.body.querySelectorAll("*")) {
    node.removeAttribute("data-judged");
    const written = [...node.childNodes].some((part) => part.nodeType === 3 && part.data.trim());
    if (!(written || node.value || node.placeholder) || !node.getClientRects().length) continue;
    const kind = kindOf(node);
    if (!groups.has(kind)) groups.set(kind, []);
    groups.get(kind).push(node);
  }
  for (const group of groups.values())
    for (const node of [group[0], group[group.length >> 1], group.at(-1)])
      node.setAttribute("data-judged", "");
  axe.configure({ rules: [{ id: "color-contrast", selector: "[data-judged]" }] });
}"""


def violations(page, options: dict) -> list[dict]:
    """What axe finds on the page as it stands; ``options`` are those of ``axe.run``."""
    page.evaluate(AXE_SCRIPT)
    page.evaluate(MARK)
    options = {"resultTypes": ["violations"]} | options
    return page.evaluate("(options) => axe.run(options).then((found) => found.violations)", options)


def described(found: list[dict], where: str) -> list[str]:
    """A line for each of the first three elements of a violation."""
    return [
        f"{where}: {violation['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
        for violation in found
        for node in violation["nodes"][:3]
    ]
