// One key, one answer. Arrows and Backspace always work, except where somebody types or a dialog
// is open; letters can be switched off, for people who speak to their computer (WCAG 2.1.4). A
// key that is held down counts once.

import { settings } from "./settings.js";

const FIELDS = "input, textarea, select, [contenteditable]";
const typing = (node) => node instanceof Element && node.closest(FIELDS) !== null;

// `actions` maps keys to functions; `active(key)` says whether a key means something now.
export function listen(actions, active) {
  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const pressed = event.key === "Enter" || event.key === " ";
    if (event.repeat && pressed && event.target instanceof HTMLButtonElement) {
      event.preventDefault();
      return;
    }
    if (typing(event.target) || document.querySelector("dialog[open]")) return;
    const letter = event.key.length === 1;
    if (letter ? !settings.letters : event.shiftKey) return;
    const key = letter ? event.key.toLowerCase() : event.key;
    if (!Object.hasOwn(actions, key) || !active(key)) return;
    event.preventDefault();
    if (!event.repeat) actions[key]();
  });
}
