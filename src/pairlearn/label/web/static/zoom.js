// A picture as large as the window; Escape, or a click, closes it.

import { button, el } from "./dom.js";
import { openDialog } from "./dialog.js";

export function zoom(url, label) {
  const image = el("img", { src: url, alt: label });
  const dialog = openDialog(label, button("", () => dialog.close(), { class: "zoomed", "aria-label": `${label}. Close` }), { kind: "zoom" });
  dialog.querySelector(".zoomed").append(image);
}

// The key z: the first picture of the question, then the second.
export function zoomFirst(root) {
  root.querySelector(".picture")?.click();
}
