// The groups that the model has found: typical members of each, and a field for its name.

import { Refused, post } from "./api.js";
import { el } from "./dom.js";
import { percent } from "./drawings.js";
import { newId } from "./ids.js";
import { name, plain } from "./plain.js";
import { say } from "./status.js";

// Typical members that are shown, and columns beside their ids.
const COLUMNS = 3;
const MEMBERS = 4;

export class Groups {
  constructor({ setting }) {
    this.setting = setting;
    this.known = null;
    this.typed = new Set();
    this.fields = new Map();
    this.state = el("span", { class: "soft", role: "status" });
    this.list = el("div", { class: "groups" });
    this.save = el("button", { type: "submit", class: "primary" }, "Save the names");
    this.body = el("form", { onsubmit: (event) => {
      event.preventDefault();
      this.send();
    } }, this.list, el("p", { class: "form-foot" }, this.save, " ", this.state));
  }

  show(groups, things) {
    const key = JSON.stringify([groups.map((group) => [group.key, group.typical, group.name]), Object.keys(things ?? {}).length]);
    if (key === this.known || this.body.contains(document.activeElement)) return;
    this.known = key;
    const typed = new Map([...this.typed].map((group) => [group, this.fields.get(group)?.value]));
    this.fields.clear();
    this.save.hidden = groups.length === 0;
    this.list.replaceChildren(...(groups.length === 0
      ? [el("p", { class: "soft" }, "Groups appear when the model has learned for the first time.")]
      : groups.map((group, i) => this.group(group, i, things ?? {}, typed.get(group.key)))));
  }

  group(group, place, things, typed) {
    const id = `group-${place}`;
    const field = el("input", { type: "text", id, maxlength: 80, autocomplete: "off", placeholder: `Group ${place + 1}`, oninput: () => {
      this.typed.add(group.key);
      this.state.textContent = "";
    } });
    field.value = typed ?? group.name ?? "";
    this.fields.set(group.key, field);
    const members = (group.typical ?? []).map((row) => things[row]).filter(Boolean).slice(0, MEMBERS);
    return el("section", { class: "group", "aria-label": `Group ${place + 1}` },
      el("p", { class: "field" }, el("label", { for: id }, `Name of group ${place + 1}`), field),
      el("p", { class: "soft" }, group.share === null || group.share === undefined ? "" : `about ${percent(group.share, 0)} of the points. `, "Typical members:"),
      el("ul", { class: "members" }, members.map((thing) => this.member(thing))));
  }

  member(thing) {
    const { columns, order, idColumn } = this.setting();
    const numbers = (order ?? [...columns.keys()]).filter((number) => columns[number] && columns[number].name !== idColumn);
    const images = numbers.filter((number) => thing.cells[number]?.media === "image").slice(0, 1);
    const texts = numbers.filter((number) => {
      const cell = thing.cells[number];
      return cell !== null && cell !== undefined && !cell.media;
    }).slice(0, COLUMNS);
    const cut = (cell) => {
      const text = typeof cell === "string" ? cell : cell.text;
      return plain(text.length > 120 ? `${text.slice(0, 120)} …` : text);
    };
    return el("li", {}, name(String(thing.id), 40),
      images.map((number) => el("img", { src: thing.cells[number].url, alt: "", loading: "lazy" })),
      el("dl", {}, texts.map((number) => el("div", {}, el("dt", {}, name(columns[number].name, 40)), el("dd", {}, el("bdi", {}, cut(thing.cells[number])))))));
  }

  async send() {
    const names = [...this.fields].map(([key, field]) => ({ key, name: field.value.trim() }));
    this.state.textContent = "Saving …";
    this.save.disabled = true;
    try {
      await post("/api/names", { id: newId(), names });
      this.typed.clear();
      this.state.textContent = "The names are saved.";
      say("The names are saved.");
    } catch (error) {
      this.state.textContent = error instanceof Refused ? error.message : "The server cannot be reached just now. The names are still in the fields: save them again in a moment.";
    }
    this.save.disabled = false;
  }
}
