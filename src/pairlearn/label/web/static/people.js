// People, for owners: who has which link, new links, links that end, and who did what.

import { Gone, Refused, get, post } from "./api.js";
import { button, byId, count, el } from "./dom.js";
import { openDialog } from "./dialog.js";
import { newId } from "./ids.js";
import { name, plainString } from "./plain.js";
import { say } from "./status.js";
import { Trail } from "./trail.js";
import { when } from "./when.js";

const ROLES = { annotator: "Annotator", owner: "Owner" };
const unreached = (error) => (error instanceof Refused || error instanceof Gone ? error.message : "The server cannot be reached just now. Try again.");

export class PeopleView {
  constructor() {
    this.links = el("ul", { class: "people" });
    this.ended = el("ul", { class: "people" });
    this.endedBox = el("details", { hidden: true }, el("summary", {}, "Links that were revoked"), this.ended);
    this.note = el("p", { class: "soft", role: "status" });
    this.here = el("p", { class: "soft", hidden: true }, "These links work on this computer only. For people on other computers, stop the server, and start it again with --host; its help says how.");
    this.trail = new Trail();
    byId("view-people").append(
      el("div", { class: "view-head" }, el("h1", { id: "people-title", tabindex: "-1" }, "People"), el("a", { class: "quiet framed", href: "#answer" }, "Back to the questions")),
      el("div", { class: "cards" },
        el("section", { class: "card", "aria-labelledby": "p-links" }, el("h2", { id: "p-links" }, "Who has a link"),
          this.note, this.links, this.endedBox, el("h3", {}, "Invite somebody"), this.form(), this.here),
        el("section", { class: "card", "aria-labelledby": "p-trail" }, el("h2", { id: "p-trail" }, "Who did what"), this.trail.body)));
  }

  open() {
    this.look();
    this.trail.load(null);
  }

  async look() {
    try {
      const found = await get("/api/people");
      this.here.hidden = !found.here_only || found.links.length === 0;
      this.show(found.links);
    } catch (error) {
      this.note.textContent = unreached(error);
    }
  }

  show(links) {
    const standing = links.filter((one) => one.stands);
    const ended = links.filter((one) => !one.stands);
    // What somebody is just copying stays where it is.
    const shown = new Map([...this.links.querySelectorAll("[data-link]")].map((line) => [line.dataset.link, line]));
    this.links.replaceChildren(...standing.map((one) => this.line(one, shown.get(one.id))));
    this.ended.replaceChildren(...ended.map((one) => this.endedLine(one)));
    this.endedBox.hidden = ended.length === 0;
    this.note.textContent = standing.length === 0 ? "Nobody has been invited yet. You came with the link of the terminal, which is for you alone." : "";
  }

  facts(one) {
    const made = one.id === null
      ? ["First seen ", when(one.at), ", with a link of an earlier version"]
      : ["Made ", when(one.at), one.by ? [" by ", name(one.by, 60)] : null];
    const answers = [" · ", count(one.n, "answer")];
    return [made, answers, one.seen ? [" · last active ", when(one.seen)] : " · has not taken part yet"];
  }

  head(one) {
    return el("p", { class: "person" }, name(one.name), " ", el("span", { class: `role ${one.role}` }, ROLES[one.role] ?? one.role), one.mine && el("span", { class: "soft" }, " (you)"));
  }

  line(one, before) {
    const place = before?.querySelector(".link-line") ?? el("span", { class: "link-line", hidden: true });
    const who = plainString(one.name, 60);
    const tools = [
      one.id !== null && button("Show the link", () => this.showLink(one, place), { class: "quiet", "aria-label": `Show the link of ${who}` }),
      !one.mine && button("Revoke", () => this.askRevoke(one), { class: "quiet danger", "aria-label": `Revoke the link of ${who}` }),
    ];
    return el("li", { "data-link": one.id ?? `name/${one.name}` },
      el("div", { class: "person-line" }, this.head(one), el("span", { class: "person-tools" }, tools)),
      el("p", { class: "soft person-facts" }, this.facts(one)), place);
  }

  endedLine(one) {
    return el("li", {}, this.head(one), el("p", { class: "soft person-facts" },
      "Revoked ", one.ended_at ? when(one.ended_at) : "", one.ended_by ? [" by ", name(one.ended_by, 60)] : null, " · ", count(one.n, "answer"), " kept"));
  }

  async showLink(one, place) {
    try {
      const { link } = await post("/api/link", { invitation: one.id });
      fillLink(place, one.name, link);
      place.querySelector("input").focus();
      this.trail.load(null);
    } catch (error) {
      this.note.textContent = unreached(error);
    }
  }

  // One click, and one to confirm it. Whoever has lost a link, or passed it on, gets another.
  askRevoke(one) {
    const who = plainString(one.name, 60);
    const trouble = el("p", { class: "trouble", role: "alert" });
    const act = (again) => async () => {
      for (const each of buttons) each.disabled = true;
      try {
        await post("/api/revoke", { id: newId(), invitation: one.id, name: one.name });
        const made = again ? await post("/api/invite", { id: newId(), name: one.name, role: one.role }) : null;
        dialog.close();
        await this.look();
        this.trail.load(null);
        if (made) this.showNew(made);
        else byId("people-title").focus({ preventScroll: true });
        say(`The link of ${who} is revoked.`);
      } catch (error) {
        trouble.textContent = unreached(error);
        for (const each of buttons) each.disabled = false;
      }
    };
    const buttons = [
      button("Cancel", () => dialog.close()),
      button("Revoke, and make a new link", act(true)),
      button("Revoke the link", act(false), { class: "primary" }),
    ];
    const dialog = openDialog(`Revoke the link of ${who}?`, [
      el("p", {}, "It stops working at once, also on pages that are open. ", name(one.name), " is told so."),
      el("p", {}, one.n === 0 ? "No answers have been given with this name yet." : [el("strong", {}, count(one.n, "answer")), ` of this person ${one.n === 1 ? "is" : "are"} kept and still ${one.n === 1 ? "counts" : "count"}.`]),
      trouble,
    ], { actions: buttons });
    buttons[0].focus();
  }

  // A link that was just made, ready to be copied.
  showNew({ invitation, name: who, link }) {
    const line = [...this.links.children].find((one) => one.dataset.link === invitation);
    if (!line) return;
    fillLink(line.querySelector(".link-line"), who, link);
    line.querySelector("input").focus();
  }

  form() {
    const field = el("input", { type: "text", id: "invite-name", maxlength: 80, autocomplete: "off", required: true });
    const trouble = el("p", { class: "trouble", role: "alert" });
    const radios = Object.keys(ROLES).map((role) => {
      const radio = el("input", { type: "radio", name: "invite-role", id: `invite-${role}`, value: role });
      radio.checked = role === "annotator";
      return radio;
    });
    const about = ["answers questions, and sees their own answers only", "sees and does all that you can, on this page"];
    const form = el("form", { class: "invite", onsubmit: async (event) => {
      event.preventDefault();
      const person = field.value.trim();
      if (!person) return;
      trouble.textContent = "";
      try {
        const role = radios.find((one) => one.checked).value;
        const made = await post("/api/invite", { id: newId(), name: person, role });
        field.value = "";
        radios[0].checked = true;
        await this.look();
        this.trail.load(null);
        this.showNew(made);
        say(`The link for ${plainString(made.name, 60)} is ready to be copied.`);
      } catch (error) {
        trouble.textContent = unreached(error);
      }
    } },
    el("p", { class: "field" }, el("label", { for: "invite-name" }, "Name of the person"), field),
    el("fieldset", { class: "roles" }, el("legend", {}, "Role"), radios.map((radio, i) => el("p", { class: "check" }, radio,
      el("label", { for: radio.id }, ROLES[radio.value], el("small", {}, about[i]))))),
    el("button", { type: "submit", class: "primary" }, "Make a link"));
    return el("div", {}, el("p", { class: "soft" }, "Each person gets a link of their own and other questions; a small random part is asked twice. Send the link as you would send a password."), form, trouble);
  }
}

function fillLink(place, who, link) {
  const person = plainString(who, 60);
  const shown = el("input", { type: "text", readonly: true, "aria-label": `Link for ${person}`, onfocus: () => shown.select() });
  shown.value = link;
  const copy = button("Copy", async () => {
    shown.select();
    try {
      await navigator.clipboard.writeText(link);
    } catch {
      // Without https the clipboard is closed to scripts; the old way still works.
      document.execCommand("copy");
    }
    copy.textContent = "Copied";
  }, { class: "framed", "aria-label": `Copy the link for ${person}` });
  place.replaceChildren(shown, copy);
  place.hidden = false;
}
