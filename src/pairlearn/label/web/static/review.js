// Answers worth a second look: those that the model doubts, and those that contradict each
// other, side by side. Each can be changed on the spot.

import { get } from "./api.js";
import { compare, label } from "./compare.js";
import { button, count, el } from "./dom.js";
import { choices, commentButton } from "./history.js";
import { name } from "./plain.js";

const FIRST = 5;

export class Review {
  constructor({ outbox, setting }) {
    Object.assign(this, { outbox, setting, known: null });
    this.body = el("div", { class: "review" });
  }

  show({ suspicious = [], contradictions = [], agreement = null }) {
    const divided = agreement?.disagreements ?? [];
    const key = JSON.stringify([suspicious, contradictions, divided]);
    // What somebody is just reading stays where it is until there is something new.
    if (key === this.known || (this.known !== null && this.body.contains(document.activeElement))) return;
    this.known = key;
    this.body.replaceChildren();
    if (suspicious.length + contradictions.length + divided.length === 0) {
      this.body.append(el("p", { class: "soft" }, "Nothing to review: no answer stands out, and no answers contradict each other."));
      return;
    }
    if (divided.length > 0) {
      this.body.append(el("h3", {}, "Pairs that people answered differently"));
      this.batch(divided, (numbers) => el("div", { class: "knot" }, numbers.map((number) => this.one(number, ""))));
    }
    if (contradictions.length > 0) {
      this.body.append(el("h3", {}, "Answers that contradict each other"),
        el("p", { class: "soft" }, "If A is the same as B, and B the same as C, then A is the same as C. At least one answer of each box breaks this."));
      this.batch(contradictions, (numbers) => el("div", { class: "knot" }, numbers.map((number) => this.one(number, ""))));
    }
    if (suspicious.length > 0) {
      this.body.append(el("h3", {}, "Answers in doubt"));
      this.batch(suspicious, ({ question, why }) => el("div", { class: "knot" }, this.one(question, why)));
    }
  }

  // The first few, and the rest on demand.
  batch(list, make) {
    const box = el("div", { class: "knots" }, list.slice(0, FIRST).map(make));
    this.body.append(box);
    if (list.length <= FIRST) return;
    const more = button(`Show ${count(list.length - FIRST, "more", "more")}`, () => {
      box.append(...list.slice(FIRST).map(make));
      more.remove();
    }, { class: "quiet framed" });
    this.body.append(el("p", {}, more));
  }

  one(number, why) {
    const place = el("div", { class: "doubt" }, el("p", { class: "soft" }, "Loading …"));
    this.fetch(number, why, place);
    return place;
  }

  async fetch(number, why, place) {
    let item;
    try {
      item = await get(`/api/question/${number}`);
    } catch (error) {
      place.replaceChildren(el("p", { class: "soft" }, `This answer could not be fetched: ${error.message} `,
        button("Try again", () => this.fetch(number, why, place), { class: "link" })));
      return;
    }
    const comment = el("p", { class: "comment", dir: "auto" });
    const pair = el("div", { class: "pair", id: `review-${number}` , hidden: true });
    const show = button("Show the pair", () => {
      if (!pair.hasChildNodes()) pair.append(compare(item, this.setting()));
      pair.hidden = !pair.hidden;
      show.setAttribute("aria-expanded", String(!pair.hidden));
      show.textContent = pair.hidden ? "Show the pair" : "Hide the pair";
    }, { class: "quiet", "aria-expanded": "false", "aria-controls": pair.id });
    place.replaceChildren(
      el("div", { class: "entry-line" },
        el("div", { class: "entry-what" },
          el("p", { class: "entry-pair" }, label(item.left), el("span", { class: "soft" }, " and "), label(item.right)),
          el("p", { class: "soft" }, item.who ? ["answered by ", name(item.who), why && " · "] : null, why && sentence(why))),
        choices(item, this.outbox)),
      comment, el("p", { class: "entry-tools" }, show, commentButton(item, this.outbox, comment)), pair);
  }
}

const sentence = (text) => text.charAt(0).toLowerCase() + text.slice(1);
