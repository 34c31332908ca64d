// Who did what, in sentences: the newest first, a part at a time, of everybody or of one person.

import { get, persist } from "./api.js";
import { button, el } from "./dom.js";
import { plain, plainString } from "./plain.js";
import { when } from "./when.js";

const PAGE = 30;

export class Trail {
  constructor() {
    this.turn = 0;
    this.list = el("ol", { class: "trail" });
    this.note = el("p", { class: "soft", role: "status" });
    this.more = button("Show earlier ones", () => this.load(this.last), { class: "quiet framed" });
    this.more.hidden = true;
    this.who = el("select", { id: "trail-who", onchange: () => this.load(null) }, el("option", { value: "" }, "Everybody"));
    this.body = el("div", {},
      el("p", { class: "field trail-filter" }, el("label", { for: "trail-who" }, "Show"), this.who),
      this.list, this.note, el("p", { class: "more-line" }, this.more));
  }

  // Loads from the newest, or what came before the line with the number `last`.
  async load(last) {
    this.turn += 1;
    const { turn } = this;
    const search = new URLSearchParams({ limit: PAGE, who: this.who.value });
    if (last) search.set("before", last);
    this.more.disabled = true;
    let found;
    try {
      found = await persist(() => get(`/api/trail?${search}`), () => {
        this.note.textContent = "The connection is gone. The list comes as soon as it is back.";
      });
    } catch (error) {
      this.note.textContent = error.message;
      return;
    }
    if (turn !== this.turn) return;
    this.choose(found.people);
    const lines = found.items.map((one) => el("li", {}, el("p", {}, plain(one.text)), el("p", { class: "soft" }, when(one.at))));
    if (last) this.list.append(...lines);
    else this.list.replaceChildren(...lines);
    this.last = found.items.at(-1)?.number;
    this.more.hidden = !found.more;
    this.more.disabled = false;
    this.note.textContent = this.list.hasChildNodes() ? "" : "Nothing has happened yet.";
    if (last && lines.length > 0) {
      lines[0].tabIndex = -1;
      lines[0].focus();
    }
  }

  choose(people) {
    const chosen = this.who.value;
    const options = ["", ...people].map((one) => el("option", { value: one }, one === "" ? "Everybody" : plainString(one, 60)));
    this.who.replaceChildren(...options);
    this.who.value = ["", ...people].includes(chosen) ? chosen : "";
  }
}
