// What has been answered: scroll, search, look at the pair again, change the answer, comment.

import { get, persist } from "./api.js";
import { compare, label } from "./compare.js";
import { WORDS, button, byId, count, el } from "./dom.js";
import { askText } from "./dialog.js";
import { plain, plainString } from "./plain.js";
import { say } from "./status.js";
import { when } from "./when.js";

const PAGE = 50;
const PATIENCE = 250;

// Three buttons of which one is pressed; shared with the answers to review.
export function choices(item, outbox, { onchange } = {}) {
  const pair = `${plainString(item.left.id, 40)} and ${plainString(item.right.id, 40)}`;
  const buttons = Object.entries(WORDS).map(([said, text]) => button(text, () => {
    if (item.said === said) return;
    item.said = said;
    outbox.add("edit", { question: item.question, said });
    mark();
    say(`${pair}: ${text.toLowerCase()}.`);
    onchange?.();
  }, { class: `choice-button ${said}`, "data-said": said }));
  const mark = () => buttons.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.said === item.said)));
  mark();
  return el("div", { class: "segments", role: "group", "aria-label": `Answer for ${pair}` }, buttons);
}

export function commentButton(item, outbox, place) {
  const show = () => {
    place.replaceChildren(...(item.comment ? ["“", ...plain(item.comment), "”"] : []));
    open.textContent = item.comment ? "Change the comment" : "Comment";
  };
  const open = button("", () => askText({
    title: "Comment", label: `A comment on ${plainString(item.left.id, 40)} and ${plainString(item.right.id, 40)}`, text: item.comment,
    save: (text) => {
      if (text === (item.comment ?? "")) return;
      item.comment = text;
      outbox.add("comment", { question: item.question, text });
      show();
    },
  }), { class: "quiet" });
  show();
  return open;
}

export class HistoryView {
  constructor({ outbox, setting, owner }) {
    Object.assign(this, { outbox, setting, owner });
    this.turn = 0;
    this.list = el("ol", { class: "history" });
    this.note = el("p", { class: "soft", role: "status" });
    this.more = button("Show earlier answers", () => this.load(this.items.at(-1)), { class: "quiet framed" });
    this.search = el("input", { type: "search", id: "history-search", placeholder: "An id, a value, or a comment", oninput: () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.load(null), PATIENCE);
    } });
    this.everyone = el("input", { type: "checkbox", id: "history-everyone", onchange: () => this.load(null) });
    byId("view-history").append(
      el("div", { class: "view-head" }, el("h1", { id: "history-title", tabindex: "-1" }, "Your answers"), el("a", { class: "quiet framed", href: "#answer" }, "Back to the questions")),
      el("div", { class: "filters" },
        el("p", { class: "field" }, el("label", { for: "history-search" }, "Search"), this.search),
        owner && el("p", { class: "check" }, this.everyone, el("label", { for: "history-everyone" }, "Everyone’s answers"))),
      this.note, this.list, el("p", { class: "more-line" }, this.more));
  }

  async open() {
    await this.load(null);
  }

  // Loads from the newest, or what came before `last`.
  async load(last) {
    this.turn += 1;
    const { turn } = this;
    const search = new URLSearchParams({ search: this.search.value.trim(), limit: PAGE, everyone: this.everyone.checked ? 1 : 0 });
    if (last) search.set("before", last.number ?? last.question);
    this.more.disabled = true;
    let found;
    try {
      // What is still on its way is part of the history.
      if (!last) await this.outbox.empty().catch(() => {});
      found = await persist(() => get(`/api/history?${search}`), () => {
        this.note.textContent = "The connection is gone. The list comes as soon as it is back.";
      });
    } catch (error) {
      this.note.textContent = error.message;
      return;
    }
    if (turn !== this.turn) return;
    if (!last) {
      this.items = [];
      this.list.replaceChildren();
    }
    this.items.push(...found.items);
    this.list.append(...found.items.map((item) => this.item(item)));
    this.more.hidden = !found.more;
    this.more.disabled = false;
    this.note.textContent = this.items.length === 0
      ? this.search.value ? "No answer fits this search." : "There are no answers yet."
      : `${count(this.items.length, "answer")}${found.more ? ", and earlier ones" : ""}, newest first.`;
    if (last) this.list.children[this.items.length - found.items.length]?.querySelector("button")?.focus();
  }

  item(item) {
    const comment = el("p", { class: "comment", dir: "auto" });
    const pair = el("div", { class: "pair", id: `pair-${item.question}`, hidden: true });
    const show = button("Show the pair", () => {
      if (!pair.hasChildNodes()) pair.append(compare(item, this.setting()));
      pair.hidden = !pair.hidden;
      show.setAttribute("aria-expanded", String(!pair.hidden));
      show.textContent = pair.hidden ? "Show the pair" : "Hide the pair";
    }, { class: "quiet", "aria-expanded": "false", "aria-controls": pair.id });
    const edited = el("span", { hidden: !item.edited }, " · changed");
    const segments = choices(item, this.outbox, { onchange: () => { edited.hidden = false; } });
    return el("li", { class: "entry" },
      el("div", { class: "entry-line" },
        el("div", { class: "entry-what" },
          el("p", { class: "entry-pair" }, label(item.left), el("span", { class: "soft" }, " and "), label(item.right)),
          el("p", { class: "soft entry-when" }, when(item.at), this.everyone.checked && item.who ? [" · ", el("bdi", {}, item.who)] : null, edited)),
        segments),
      comment, el("p", { class: "entry-tools" }, show, commentButton(item, this.outbox, comment)), pair);
  }
}
