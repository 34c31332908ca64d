// The progress, for the owner: how many answers, how good the model is, what to do next, groups,
// answers to review, people, files. It looks again every few seconds while it is open.

import { Gone, get } from "./api.js";
import { Downloads } from "./downloads.js";
import { byId, count, el } from "./dom.js";
import { curve, interval, percent } from "./drawings.js";
import { Groups } from "./groups.js";
import { name } from "./plain.js";
import { Review } from "./review.js";

const PAUSE = 3000;
const MOST_NAMED = 6;

const section = (id, title, ...content) => el("section", { class: "card", "aria-labelledby": id }, el("h2", { id }, title), content);

// Pictures and names are there to be looked at; whoever answers by them should know that
// the model does not see them.
function unlearned(columns) {
  const names = columns.filter((column) => column.unlearned).map((column) => column.name);
  if (names.length === 0) return null;
  const shown = names.slice(0, MOST_NAMED).flatMap((each, i) => [i ? ", " : "", name(each, 40)]);
  return el("p", { class: "soft" }, "The model learns nothing from ", shown, names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "",
    ": it sees numbers, dates, categories and texts of several words only. For pictures or sounds, add columns of numbers that describe them to the table.");
}

// The small print, for whoever wants it.
function granted({ granted: sentences }, open) {
  if (!sentences?.length) return "";
  return el("details", { open }, el("summary", {}, "What this takes for granted"), el("ul", {}, sentences.map((each) => el("li", {}, each))));
}

export class ProgressView {
  constructor({ outbox, setting, onpanel }) {
    Object.assign(this, { outbox, onpanel, version: null, timer: null, isOpen: false });
    this.review = new Review({ outbox, setting });
    this.groups = new Groups({ setting });
    this.downloads = new Downloads({ outbox });
    this.numbers = el("dl", { class: "numbers" });
    this.advice = el("p", { class: "advice" });
    this.certificate = el("div", {});
    this.unlearned = unlearned(setting().columns);
    this.curve = el("div", {});
    this.people = el("tbody");
    this.agrees = el("th", { scope: "col" }, "Agrees with others");
    this.rights = [el("th", { scope: "col" }, "Right if same"), el("th", { scope: "col" }, "Right if different")];
    this.agreement = el("div", {});
    this.warnings = el("div", {});
    this.note = el("p", { class: "soft", role: "status" });
    byId("view-progress").append(
      el("div", { class: "view-head" }, el("h1", { id: "progress-title", tabindex: "-1" }, "Progress"), el("a", { class: "quiet framed", href: "#answer" }, "Back to the questions")),
      this.note, this.numbers,
      el("div", { class: "cards" },
        el("div", {},
          section("p-certificate", "How good is it?", this.certificate, this.advice,
            el("p", { class: "soft" }, "You can stop at any time, and go on later. Stop for good when this error is small enough for you: more answers make the model better, and the error better known."), this.unlearned),
          section("p-curve", "Learning curve", this.curve),
          section("p-review", "Worth a second look", this.review.body)),
        el("div", {},
          section("p-groups", "Groups", this.groups.body),
          section("p-files", "Take along", this.downloads.body),
          section("p-people", "People", el("table", { class: "figures" },
            el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Name"), el("th", { scope: "col" }, "Answers"), this.agrees, this.rights)), this.people), this.warnings, this.agreement,
            el("p", { class: "to-people" }, el("a", { class: "framed button", href: "#people" }, "Invite somebody, and see who has a link"))))));
  }

  open() {
    this.isOpen = true;
    this.downloads.look();
    this.look();
  }

  close() {
    this.isOpen = false;
    clearTimeout(this.timer);
  }

  async look() {
    clearTimeout(this.timer);
    try {
      this.show(await get("/api/progress"));
      this.note.textContent = "";
    } catch (error) {
      this.note.textContent = error instanceof Gone ? "Your session has ended. Open the link from the terminal again." : "The progress cannot be fetched just now. This page tries again by itself.";
    }
    if (this.isOpen) this.timer = setTimeout(() => this.look(), PAUSE);
  }

  show(panel) {
    this.onpanel(panel);
    const { same = 0, different = 0, unsure = 0 } = panel.answers ?? {};
    const fact = (what, value) => el("div", {}, el("dt", {}, what), el("dd", {}, value));
    this.numbers.replaceChildren(
      fact("Answers", (same + different + unsure).toLocaleString("en")), fact("Same", same.toLocaleString("en")),
      fact("Different", different.toLocaleString("en")), fact("Unsure", unsure.toLocaleString("en")),
      fact("Model", panel.learning ? "learning …" : panel.curve?.length ? "up to date" : "not yet"));
    this.showPeople(panel.people ?? [], panel.agreement, panel.warnings ?? []);
    const drawn = JSON.stringify([panel.curve, panel.certificate, panel.no_certificate, panel.advice, panel.trouble]);
    if (drawn !== this.drawn) {
      this.drawn = drawn;
      this.draw(panel);
    }
    this.groups.show(panel.groups ?? [], panel.things);
    this.review.show(panel);
  }

  // How often others gave the same answer is known from the pairs that two people answered.
  // How often each person is right, the model tells along with them: a rate and its interval.
  showPeople(people, agreement, warnings) {
    const rated = people.some((person) => person.right_same);
    const rate = (value) => el("td", {}, value ? `${percent(value.rate, 0)} (${percent(value.low, 0)} to ${percent(value.high, 0)})` : "not known yet");
    this.agrees.hidden = !agreement;
    this.rights.forEach((each) => { each.hidden = !rated; });
    this.warnings.replaceChildren(...warnings.map((each) => el("p", {}, el("strong", {}, each))));
    this.people.replaceChildren(...people.map((person) => {
      const share = agreement?.persons?.[person.name];
      return el("tr", {}, el("th", { scope: "row" }, name(person.name)), el("td", {}, person.n.toLocaleString("en")),
        agreement && el("td", {}, share === null || share === undefined ? "not known yet" : percent(share, 0)),
        rated && [rate(person.right_same), rate(person.right_different)]);
    }));
    this.agreement.replaceChildren(...(agreement?.sentences ?? []).map((each) => el("p", { class: "soft" }, each)));
  }

  // A bound of one half says no more than a guess does. Where answers may be wrong, what is
  // known if none is comes first, and says so.
  headline({ high, if_right: right, n_audits }) {
    const from = `by ${count(n_audits, "question that tested", "questions that tested")} the model`;
    const wrong = "of the points in the wrong group";
    if (right && right[1] < 0.5) {
      const otherwise = high >= 0.5 ? "If some answers are wrong, it is not known yet." : `If some answers are wrong: at most ${percent(high)}.`;
      return [el("span", { class: "value" }, `at most ${percent(right[1])}`), " ",
        el("span", { class: "soft" }, `${wrong} if every answer is right, ${from}. ${otherwise}`)];
    }
    if (high >= 0.5) return [el("span", { class: "value" }, "Not known yet")];
    return [el("span", { class: "value" }, `at most ${percent(high)}`), " ", el("span", { class: "soft" }, `${wrong}, ${from}`)];
  }

  draw(panel) {
    const open = this.curve.querySelector("details")?.open;
    this.curve.replaceChildren(curve(panel.curve ?? []));
    if (open) this.curve.querySelector("details").open = true;
    const { certificate } = panel;
    const wasOpen = this.certificate.querySelector("details")?.open ?? false;
    if (certificate) {
      this.certificate.replaceChildren(
        el("p", { class: "figure" }, this.headline(certificate)),
        interval(certificate), el("p", {}, certificate.sentence), granted(certificate, wasOpen));
    } else {
      this.certificate.replaceChildren(el("p", {}, panel.no_certificate ?? "How good the model is can be said later: some of the questions come only to test it, and they come by themselves."));
    }
    this.advice.textContent = panel.trouble ?? panel.advice ?? "";
  }
}
