// The view in which people answer: the pair in hand, three buttons, undo and comment. It shows
// no score and no reason for the question: both would lead the answer.

import { Gone, Refused, Unreachable } from "./api.js";
import { askText } from "./dialog.js";
import { WORDS, button, byId, count, el } from "./dom.js";
import { compare } from "./compare.js";
import { plainString } from "./plain.js";
import { say } from "./status.js";

export class QuestionView {
  // `setting()` gives what compare needs; `finish()` the next steps for the end.
  constructor({ hand, outbox, setting, finish }) {
    Object.assign(this, { hand, outbox, setting, finish });
    this.shown = null;
    this.last = null;
    this.all = false;
    this.clock = { since: 0, spent: 0 };
    for (const said of Object.keys(WORDS)) byId(`say-${said}`).addEventListener("click", () => this.answer(said));
    byId("undo").addEventListener("click", () => this.undo());
    byId("comment").addEventListener("click", () => this.comment());
    byId("pair").addEventListener("all", () => { this.all = true; });
    hand.addEventListener("change", () => this.show());
    outbox.addEventListener("saved", ({ detail }) => this.saved(detail));
    document.addEventListener("visibilitychange", () => this.tick());
  }

  // Time that the page is hidden is not time spent on the question.
  tick() {
    const now = performance.now();
    if (document.hidden) this.clock.spent += now - this.clock.since;
    this.clock.since = now;
  }

  show() {
    const { current, done } = this.hand;
    byId("answers").hidden = current === null && this.hand.past.length === 0 && !this.hand.mine;
    for (const said of Object.keys(WORDS)) byId(`say-${said}`).disabled = current === null;
    byId("comment").disabled = current === null;
    byId("view-answer").classList.toggle("no-question", current === null);
    if (current === null) this.showNone(done);
    else if (this.shown !== current.question) this.showPair(current);
  }

  showPair(current) {
    this.shown = current.question;
    this.clock = { since: performance.now(), spent: 0 };
    byId("ask").textContent = "Same kind, or different?";
    byId("pair").dataset.question = current.question;
    byId("pair").replaceChildren(compare(current, { ...this.setting(), all: this.all }));
    scrollTo({ top: 0, behavior: "instant" });
    const before = this.hand.before[current.question];
    if (before) this.flash(`You had said: ${WORDS[before]}`, "back");
    this.markComment();
  }

  showNone(done) {
    this.shown = done ? "end" : "wait";
    const title = byId("ask");
    delete byId("pair").dataset.question;
    if (done) {
      if (title.textContent !== "Nothing is left to ask") say("Nothing is left to ask.");
      title.textContent = "Nothing is left to ask";
      byId("pair").replaceChildren(this.finish());
    } else {
      const offline = this.outbox.offline || this.outbox.gone;
      title.textContent = offline ? "Waiting for the connection" : "One moment";
      byId("pair").replaceChildren(el("p", { class: "wait", role: "status" }, offline
        ? "You have answered every question that this page had in hand. Your answers are kept here; the next question comes as soon as the connection is back."
        : "The next questions are being chosen …"));
    }
  }

  answer(said) {
    const { current } = this.hand;
    if (current === null) return;
    const spent = this.clock.spent + (document.hidden ? 0 : performance.now() - this.clock.since);
    const id = this.hand.answer(said, Math.round(spent) / 1000);
    this.last = { id, said };
    if (this.outbox.entries.some((entry) => entry.id === id)) this.flash(`${WORDS[said]} · ${this.outbox.offline ? "kept here" : "saving …"}`, said);
    this.announce(`${WORDS[said]}.`);
  }

  saved(entry) {
    if (entry.id !== this.last?.id) return;
    this.last = null;
    this.flash(`${WORDS[entry.body.said]} · saved`, entry.body.said);
    this.announce(`${WORDS[entry.body.said]}, saved.`);
  }

  announce(what) {
    const { current } = this.hand;
    const next = current ? ` Now ${plainString(current.left.id, 40)} and ${plainString(current.right.id, 40)}.` : "";
    say(`${what}${next}`);
  }

  async undo() {
    try {
      const said = await this.hand.undo();
      this.last = null;
      this.announce(`Taken back. You had said ${WORDS[said].toLowerCase()}.`);
    } catch (error) {
      let text = "Undo has to wait: the connection is gone.";
      if (error instanceof Gone) text = "Undo has to wait: your session has ended.";
      else if (error instanceof Refused) text = error.message;
      else if (!(error instanceof Unreachable)) throw error;
      this.flash(text, "back");
      say(text);
    }
  }

  comment() {
    const { current } = this.hand;
    if (current === null) return;
    askText({
      title: "Comment",
      label: "A comment on this pair",
      text: this.hand.comments[current.question],
      hint: "It is saved together with your answer.",
      save: (text) => {
        this.hand.comment(text);
        this.markComment();
        say(text ? "The comment is kept and goes with your answer." : "No comment.");
      },
    });
  }

  markComment() {
    const kept = this.hand.current && this.hand.comments[this.hand.current.question];
    byId("comment").firstElementChild.textContent = kept ? "Comment ✓" : "Comment";
    byId("comment").setAttribute("aria-label", kept ? "Comment (one is kept)" : "Comment");
  }

  flash(text, kind) {
    const place = byId("flash");
    place.textContent = text;
    place.dataset.kind = kind;
    // Starts the short animation again, where motion is welcome.
    place.classList.remove("fresh");
    void place.offsetWidth;
    place.classList.add("fresh");
  }
}

// The end: what to do when no question is left.
export function ending({ owner, mine, again }) {
  const thanks = mine ? `Thank you: you have answered ${count(mine, "question")}. Everything is saved.` : "Everything is saved.";
  return el("div", { class: "end" },
    el("p", { class: "lead" }, thanks),
    owner
      ? el("ol", { class: "steps" },
          el("li", {}, el("a", { href: "#progress" }, "Open the progress"), " to see how good the model is and which answers are worth a second look."),
          el("li", {}, "Give the groups names, then download the model and the predictions there."),
          el("li", {}, "You can close this page. ", el("code", {}, "pairlearn fit"), " reads the file with the answers directly."))
      : el("ul", { class: "steps" },
          el("li", {}, el("a", { href: "#history" }, "Look through your answers"), " and change any of them."),
          el("li", {}, "You can close this page.")),
    el("p", {}, button("Look for more questions", again, { class: "quiet framed" })));
}
