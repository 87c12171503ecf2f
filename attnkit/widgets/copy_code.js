import { button, make, setText } from "./core.js";

/**
 * Code to read and to copy. Where the clipboard is out of reach (a page from a disk, an old
 * browser) the code is selected, and the reader is told which keys copy it.
 * @param {string} label what the code is @param {AbortSignal} signal
 */
export function codeToCopy(label, signal) {
  const pre = make("pre", { class: "aw-scroll aw-code", tabindex: 0, role: "group", "aria-label": label, dir: "ltr", translate: "no" });
  const said = make("span", { class: "aw-copied", role: "status" });
  const copy = button("Copy", async () => {
    setText(said, "");
    const text = pre.textContent ?? "";
    const done = (await toClipboard(text)) || selected(pre);
    setText(said, done ? "Copied." : "Selected: press Ctrl+C (on a Mac ⌘C).");
  }, signal);
  copy.setAttribute("aria-label", `Copy: ${label}`);
  return {
    node: make("div", { class: "aw-code-frame" }, pre),
    button: copy,
    said,
    /** @param {string} text */
    set(text) {
      if (pre.textContent === text) return;
      setText(pre, text);
      setText(said, "");
    },
  };
}

/** Whether the browser took the text. @param {string} text */
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Select the code and try the old way; it stays selected where that fails. @param {Node} node */
function selected(node) {
  const selection = getSelection();
  selection?.selectAllChildren(node);
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  }
}
