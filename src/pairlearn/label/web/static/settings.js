// What this browser remembers about its person: light or dark, letter keys, marked words.

import { button, el } from "./dom.js";
import { openDialog } from "./dialog.js";
import { local } from "./memory.js";

export const settings = { theme: "system", letters: true, shared: true };

export function change(name, value) {
  settings[name] = value;
  local.set(name, value);
  apply();
}

function apply() {
  globalThis.pairlearnTheme();
  document.documentElement.classList.toggle("no-letters", !settings.letters);
  document.documentElement.classList.toggle("no-shared", !settings.shared);
  for (const toggle of document.querySelectorAll(".shared-toggle")) toggle.setAttribute("aria-pressed", String(settings.shared));
}

// `letters` is what the server was started with; what a person chose here comes first.
export function loadSettings(letters) {
  settings.theme = local.get("theme") ?? "system";
  settings.letters = local.get("letters") ?? letters;
  settings.shared = local.get("shared") ?? true;
  apply();
}

function check(name, label, note) {
  const box = el("input", { type: "checkbox", id: `set-${name}`, onchange: () => change(name, box.checked) });
  box.checked = settings[name];
  return el("p", { class: "check" }, box, el("label", { for: box.id }, label, el("small", {}, note)));
}

export function openSettings({ name, rename }) {
  const themes = [["system", "As the system"], ["light", "Light"], ["dark", "Dark"]];
  const radios = themes.map(([value, label]) => {
    const radio = el("input", { type: "radio", name: "theme", id: `theme-${value}`, value, onchange: () => change("theme", value) });
    radio.checked = settings.theme === value;
    return el("span", { class: "choice" }, radio, el("label", { for: radio.id }, label));
  });
  const who = el("p", { class: "who" }, "You answer as ", el("bdi", { class: "strong" }, name ?? "nobody yet"), ". ",
    rename && button("Change the name", () => { dialog.close(); rename(); }, { class: "link" }));
  const dialog = openDialog("Settings", [
    el("fieldset", { class: "choices" }, el("legend", {}, "Colours"), radios),
    check("letters", "Letter keys", "c for a comment, h for the history, ? for help, z to enlarge a picture. Arrows and Backspace always work."),
    check("shared", "Mark shared words", "In long texts, words that both have are underlined."),
    who,
  ]);
}
