// The first start, and the help: what to do, which keys, and, once, the person's name.

import { Refused, post } from "./api.js";
import { button, el } from "./dom.js";
import { openDialog } from "./dialog.js";

const KEYS = [
  ["←", "Same"], ["→", "Different"], ["↓", "Unsure"], ["⌫", "Undo, as far back as you like"],
  ["c", "Comment", "letter"], ["h", "History", "letter"], ["z", "Enlarge a picture", "letter"], ["?", "This help", "letter"],
];

const explanation = () => [
  el("p", { class: "lead" }, "You see two things. Are they of the same kind, or of different kinds? What counts as the same kind is for you to decide; then keep to it."),
  el("p", {}, "Say “unsure” when you cannot tell: it is an honest answer and never counts against you. Every answer is saved at once, and you can take back any of them. Stop whenever you like: you go on later where you were."),
];

const keys = () => el("dl", { class: "keys" }, KEYS.map(([key, what, kind]) => el("div", { class: kind ?? "" },
  el("dt", {}, el("kbd", {}, key)), el("dd", {}, what))));

const signs = () => el("p", { class: "soft" },
  el("span", { class: "strong" }, "≠"), " differs, ", el("span", { class: "strong" }, "≈"), " nearly the same, ",
  el("span", { class: "strong" }, "="), " equal.");

export function openHelp() {
  return openDialog("How it works", [explanation(), keys(), signs()], { kind: "help" });
}

// Resolves with the new hello once the person has a name and wants to start.
export function welcome(hello, { rename = false } = {}) {
  return new Promise((started) => {
    const asks = rename || !hello.me.name;
    const trouble = el("p", { class: "trouble", role: "alert" });
    const field = el("input", { id: "your-name", name: "name", type: "text", maxlength: 80, autocomplete: "nickname", required: true });
    field.value = hello.me.name ?? "";
    const start = el("button", { type: "submit", form: "welcome", class: "primary" }, rename ? "Save the name" : "Start answering");
    const form = el("form", { id: "welcome", onsubmit: async (event) => {
      event.preventDefault();
      let known = hello;
      const wish = field.value.trim();
      if (asks && wish !== hello.me.name) {
        if (!wish) return field.focus();
        start.disabled = true;
        try {
          known = await post("/api/me", { name: wish });
        } catch (error) {
          trouble.textContent = error instanceof Refused ? error.message : "The server cannot be reached just now. Try again.";
          start.disabled = false;
          return field.focus();
        }
      }
      dialog.close();
      started(known);
    } }, asks && el("p", { class: "field" }, el("label", { for: "your-name" }, "Your name"), field,
      el("small", { class: "soft" }, "It is kept with your answers.")), trouble);
    const body = rename ? [form] : [explanation(), keys(), form];
    const actions = rename ? [button("Cancel", () => dialog.close()), start] : [start];
    const dialog = openDialog(rename ? "Change the name" : "Same kind, or different?", body, { actions, kind: "help", must: !rename });
    (asks ? field : start).focus();
  });
}
