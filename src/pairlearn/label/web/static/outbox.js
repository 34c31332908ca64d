// Nothing is lost, nothing is doubled: whatever a person does is written to localStorage first,
// then sent, in order, again and again until the server says that it has it. The id of each
// entry stays the same, so the server knows a repeated one. Each entry has a key of its own, so
// that two tabs never overwrite each other's.

import { Gone, Refused, Unreachable, post } from "./api.js";
import { newId } from "./ids.js";
import { local } from "./memory.js";

const SHORTEST_PAUSE = 400;
const LONGEST_PAUSE = 8000;
// Answers that are sent with one request; the server takes 64 KB.
const BATCH = 16;
// What another tab has left for this long is sent by whichever tab is open.
const ORPHAN_AGE = 15_000;

export class Outbox extends EventTarget {
  // `have()` tells which questions the tab holds and how many it wants.
  constructor({ project, who, page, have }) {
    super();
    Object.assign(this, { project, who, page, have });
    this.start = `${project}/outbox/`;
    this.entries = [];
    this.pause = SHORTEST_PAUSE;
    this.offline = false;
    this.gone = false;
    this.kept = true;
    this.serial = 0;
    this.sending = null;
    this.timer = null;
    this.load(true);
    addEventListener("online", () => this.wake());
    document.addEventListener("visibilitychange", () => document.hidden || this.wake());
    addEventListener("focus", () => this.gone && this.wake());
    setInterval(() => this.load(false) && this.wake(), ORPHAN_AGE);
  }

  // Own entries after a reload, and those of tabs that were closed before they were sent.
  load(own) {
    const known = new Set(this.entries.map((entry) => entry.key));
    const found = [];
    for (const key of local.names(this.start)) {
      const entry = local.get(key);
      if (!entry || known.has(key) || entry.who !== this.who) continue;
      const mine = entry.page === this.page;
      if (mine ? own : Date.now() - entry.at > (own ? 0 : ORPHAN_AGE)) found.push({ ...entry, key, tried: true });
    }
    this.entries = [...found, ...this.entries];
    return found.length > 0;
  }

  // Keeps what was done, sends it soon, and returns its id.
  add(kind, body) {
    const id = newId();
    const at = Date.now();
    this.serial += 1;
    const key = `${this.start}${String(at).padStart(15, "0")}-${String(this.serial).padStart(6, "0")}-${id}`;
    const entry = { kind, id, at, page: this.page, who: this.who, body };
    this.kept = local.set(key, entry);
    this.entries.push({ ...entry, key, tried: false });
    this.tell();
    this.wake();
    return id;
  }

  // Takes back what has never been sent; otherwise says false.
  cancel(id) {
    const entry = this.entries.find((one) => one.id === id);
    if (!entry || entry.tried) return false;
    this.drop(entry);
    return true;
  }

  // Numbers of the questions whose answers are still on their way.
  underway() {
    return this.entries.filter((one) => one.kind === "answer" && one.page === this.page).map((one) => one.body.question);
  }

  drop(entry) {
    local.remove(entry.key);
    this.entries = this.entries.filter((one) => one !== entry);
    this.tell();
  }

  tell() {
    this.dispatchEvent(new Event("state"));
  }

  emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  // Sends now what is there, unless that is going on already.
  wake() {
    clearTimeout(this.timer);
    this.timer = null;
    this.sending ??= this.send().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  // Resolves when all that is in the box now has been taken; rejects when it cannot be.
  async empty() {
    while (this.entries.length > 0) {
      await this.wake();
      if (this.offline || this.gone) throw new Unreachable("The connection is gone.");
    }
  }

  async send() {
    while (this.entries.length > 0) {
      const batch = this.batch();
      for (const entry of batch) entry.tried = true;
      try {
        await this.deliver(batch);
      } catch (error) {
        if (error instanceof Refused && batch.length > 1) {
          this.singly = batch.length;
          continue;
        }
        if (error instanceof Refused && !(error.status === 403 && batch[0].kind === "answer")) {
          this.emit("refused", { entry: batch[0], reason: error.message });
          this.drop(batch[0]);
          continue;
        }
        this.later(error);
        return;
      }
      this.pause = SHORTEST_PAUSE;
      if (this.offline || this.gone) {
        this.offline = this.gone = false;
        this.emit("back");
      }
      this.tell();
    }
  }

  // The first entries that fit into one request: answers of one tab, or one of anything else.
  batch() {
    const [first] = this.entries;
    const most = this.singly > 0 ? 1 : BATCH;
    if (this.singly > 0) this.singly -= 1;
    if (first.kind !== "answer") return [first];
    const end = this.entries.findIndex((one) => one.kind !== "answer" || one.page !== first.page);
    return this.entries.slice(0, Math.min(end === -1 ? this.entries.length : end, most));
  }

  async deliver(batch) {
    const [{ kind, id, body, page }] = batch;
    if (kind === "answer") {
      const mine = page === this.page;
      const sent = new Set(batch.map((one) => one.id));
      const waiting = this.entries.filter((one) => one.kind === "answer" && one.page === this.page && !sent.has(one.id));
      const { have, want } = mine ? this.have(waiting.map((one) => one.body.question)) : { have: [], want: 0 };
      const answers = batch.map((one) => ({ id: one.id, ...one.body }));
      const reply = await post("/api/answers", { page, answers, have, want });
      const results = new Map(reply.results.map((result) => [result.id, result]));
      for (const entry of batch) {
        const result = results.get(entry.id);
        if (!result) continue;
        if (result.status === "refused") this.emit("refused", { entry, reason: result.reason });
        else this.emit("saved", entry);
        this.drop(entry);
      }
      if (mine) this.emit("reply", reply);
    } else {
      const reply = await post(`/api/${kind}`, kind === "undo" ? { page, id, ...body } : { id, ...body });
      this.emit("saved", { ...batch[0], reply });
      this.drop(batch[0]);
    }
  }

  later(error) {
    const before = this.offline || this.gone;
    this.gone = error instanceof Gone;
    this.offline = !this.gone;
    if (!this.gone && !(error instanceof Unreachable || error instanceof Refused)) console.error(error);
    this.timer = setTimeout(() => this.wake(), this.pause * (0.8 + 0.4 * Math.random()));
    this.pause = Math.min(this.pause * 1.7, LONGEST_PAUSE);
    if (!before) this.emit("lost", error);
    this.tell();
  }
}
