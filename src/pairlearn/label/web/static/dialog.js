// Dialogs: the browser's own, which hold the focus, close with Escape, and give the focus back.

import { button, el } from "./dom.js";

let serial = 0;

// `actions` are buttons at the foot; without them there is one, "Close". A dialog that must be
// answered (`must`) has no other way out.
export function openDialog(title, content, { actions = null, kind = "", must = false, onclose = null } = {}) {
  serial += 1;
  const id = `dialog-${serial}`;
  const close = () => dialog.close();
  const dialog = el("dialog", { class: `dialog ${kind}`, "aria-labelledby": id },
    el("h2", { id, tabindex: "-1" }, title),
    el("div", { class: "dialog-body" }, content),
    el("p", { class: "dialog-foot" }, actions ?? button("Close", close, { class: "primary" })));
  if (must) dialog.addEventListener("cancel", (event) => event.preventDefault());
  else dialog.addEventListener("click", (event) => event.target === dialog && close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    onclose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// One text, asked for in a dialog: a comment. `save` gets the text.
export function askText({ title, label, text, hint, save }) {
  const area = el("textarea", { id: "asked-text", rows: 4, maxlength: 2000, onkeydown: (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep();
  } });
  area.value = text ?? "";
  const keep = () => {
    save(area.value.trim());
    dialog.close();
  };
  const dialog = openDialog(title, [
    el("label", { for: "asked-text" }, label), area, hint && el("p", { class: "soft" }, hint),
  ], { actions: [button("Cancel", () => dialog.close()), button("Keep the comment", keep, { class: "primary" })] });
  area.focus();
  return dialog;
}
