// Files to take along. A file is made when it is asked for; its line says how far it is.

import { Refused, get, post } from "./api.js";
import { button, el } from "./dom.js";
import { say } from "./status.js";

const FILES = [
  ["predictions", "predictions.csv", "The group of every point"],
  ["model", "model.skops", "The model, for pairlearn predict"],
  ["report", "report.html", "A page about the model, to read and to pass on"],
];
const PAUSE = 900;

export class Downloads {
  constructor({ outbox }) {
    this.outbox = outbox;
    this.lines = new Map(FILES.map(([what, file, about]) => [what, this.line(what, file, about)]));
    this.body = el("ul", { class: "files" }, [...this.lines.values()].map((line) => line.item),
      el("li", {}, el("div", {}, el("span", { class: "file" }, "pairs.csv"), el("small", { class: "soft" }, "All answers: who, when, why asked, and which tested the model (audits)")),
        el("span", { class: "file-state" }), el("a", { class: "framed button", href: "/files/pairs.csv", download: "pairs.csv" }, "Download pairs.csv")));
  }

  line(what, file, about) {
    const state = el("span", { class: "file-state", role: "status" });
    const make = button(`Make ${file}`, () => this.make(what), { class: "framed" });
    const link = el("a", { class: "primary button", download: file, hidden: true }, `Download ${file}`);
    const item = el("li", {}, el("div", {}, el("span", { class: "file" }, file), el("small", { class: "soft" }, about)), state, el("span", { class: "file-tools" }, link, make));
    return { what, file, state, make, link, item };
  }

  set(what, { state, message, url }) {
    const line = this.lines.get(what);
    if (!line) return;
    const before = line.now;
    line.now = state;
    line.make.disabled = state === "working";
    line.link.hidden = state !== "ready";
    if (state === "ready") line.link.href = url ?? `/files/${line.file}`;
    line.make.textContent = state === "ready" || state === "failed" ? "Make again" : `Make ${line.file}`;
    line.make.setAttribute("aria-label", state === "ready" || state === "failed" ? `Make ${line.file} again` : `Make ${line.file}`);
    line.item.dataset.state = state;
    const text = { working: "Working …", ready: "Ready", failed: message ?? "This has failed." }[state] ?? "";
    line.state.textContent = state === "ready" && message ? message : text;
    if (before === "working" && state === "ready") {
      say(`${line.file} is ready.`);
      if (line.asked) line.link.focus();
    }
    if (state === "working") this.later();
  }

  async make(what) {
    const line = this.lines.get(what);
    line.asked = true;
    this.set(what, { state: "working" });
    try {
      // What is still on its way belongs into the file.
      await this.outbox.empty();
      this.set(what, await post("/api/files", { what }));
    } catch (error) {
      this.set(what, { state: "failed", message: error instanceof Refused ? error.message : "The server cannot be reached just now." });
    }
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), PAUSE);
  }

  async look() {
    try {
      const states = await get("/api/files");
      for (const [what, state] of Object.entries(states)) if (state?.state) this.set(what, state);
    } catch {
      if ([...this.lines.values()].some((line) => line.now === "working")) this.later();
    }
  }
}
