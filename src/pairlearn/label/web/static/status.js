// What the page says about itself: one line in the header ("Saved"), notices below it, and
// sentences for screen readers. Nothing here interrupts.

import { button, byId, count, el } from "./dom.js";

export function say(text) {
  // The same sentence twice is said twice only if it changes in between.
  const said = byId("said");
  said.textContent = said.textContent === text ? `${text}\u00a0` : text;
}

export function showState(outbox) {
  const n = outbox.entries.length;
  const kept = outbox.kept ? "" : " This browser does not keep them: leave the page open.";
  let [kind, text] = ["saved", "Saved"];
  if (outbox.gone) [kind, text] = ["gone", n ? `Session ended: ${count(n, "answer is", "answers are")} kept here` : "Session ended"];
  else if (outbox.offline) [kind, text] = ["offline", `Offline: ${count(n, "answer is", "answers are")} kept here and will be sent.${kept}`];
  else if (n > 0) [kind, text] = ["saving", "Saving …"];
  byId("state").dataset.kind = kind;
  if (byId("state-text").textContent !== text) byId("state-text").textContent = text;
}

// A notice stays until it is closed or taken away; one of each key.
export function notice(key, content, { kind = "note", close = true } = {}) {
  unnotice(key);
  const box = el("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : "note", "data-key": key },
    el("p", {}, content),
    close && button("×", () => box.remove(), { class: "close", "aria-label": "Close this notice" }));
  byId("notices").append(box);
}

export function unnotice(key) {
  if (key === "gone") document.documentElement.classList.remove("ended");
  for (const box of byId("notices").querySelectorAll(`[data-key="${key}"]`)) box.remove();
}

// `error` is what the server said. Whose invitation was revoked is told so in its words, and
// sees no question any more; what had been answered before waits for a new link.
export function sessionGone(n, error) {
  const kept = n > 0 ? ` ${count(n, "answer is", "answers are")} kept in this browser` : "";
  if (error?.ended) {
    notice("gone", `${error.message}${kept && `${kept}, and will be sent when you open a new link.`}`, { kind: "bad", close: false });
    document.documentElement.classList.add("ended");
    return;
  }
  notice("gone", `Your session has ended. Open the link from the terminal, or your invitation, again: this page then goes on.${kept && `${kept} and will be sent then.`}`, { kind: "bad", close: false });
}
