// The questions that this tab holds: a few ahead, so that the next one is on screen at once and
// answering goes on while the connection is gone; and those it has answered, to go back to. Both
// are kept in sessionStorage over a reload.

import { Gone, Refused, Unreachable, post } from "./api.js";
import { newId } from "./ids.js";
import { session } from "./memory.js";

export const WANT = 4;
// Answered questions that are kept whole; older ones are fetched when they are taken back.
const MOST_PAST = 12;

export class Hand extends EventTarget {
  constructor({ project, page }) {
    super();
    Object.assign(this, { project, page, outbox: null });
    const kept = session.get(`${project}/hand`) ?? {};
    this.questions = kept.questions ?? [];
    this.past = kept.past ?? [];
    this.before = kept.before ?? {};
    this.comments = kept.comments ?? {};
    this.done = false;
    this.waiting = false;
    this.mine = null;
    this.asking = false;
    this.timer = null;
    this.undoing = Promise.resolve();
  }

  // The outbox brings new questions with every answer that it delivers.
  use(outbox) {
    this.outbox = outbox;
    const underway = new Set(outbox.underway());
    this.questions = this.questions.filter((one) => !underway.has(one.question));
    outbox.addEventListener("reply", ({ detail }) => this.take(detail));
  }

  get current() {
    return this.questions[0] ?? null;
  }

  // What to tell the server: answers on their way count as held, so that they are not handed
  // out again, and as many more are wanted.
  need(underway = this.outbox.underway()) {
    const have = [...new Set([...this.questions.map((one) => one.question), ...underway])];
    return { have, want: WANT + underway.length };
  }

  keep() {
    const { questions, past, before, comments } = this;
    session.set(`${this.project}/hand`, { questions, past, before, comments });
  }

  tell() {
    this.keep();
    this.dispatchEvent(new Event("change"));
  }

  take(reply) {
    const known = new Set(this.need().have);
    for (const one of reply.questions) {
      if (!known.has(one.question)) this.questions.push(one);
    }
    this.done = reply.done && this.questions.length === 0;
    this.waiting = !reply.done && this.questions.length === 0;
    this.mine = reply.mine ?? this.mine;
    this.tell();
    if (!reply.done && this.questions.length < WANT) this.later(reply.questions.length > 0 ? 50 : 700);
  }

  later(pause) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refill(), pause);
  }

  async refill() {
    if (this.asking || this.questions.length >= WANT) return;
    // Answers on their way bring questions back with them.
    if (this.outbox.entries.length > 0) return this.later(700);
    this.asking = true;
    let pause = 0;
    try {
      this.take(await post("/api/questions", { page: this.page, ...this.need() }));
      this.dispatchEvent(new Event("reached"));
    } catch (error) {
      pause = error instanceof Unreachable ? 1000 : 4000;
      this.dispatchEvent(new CustomEvent("trouble", { detail: error }));
      if (!(error instanceof Unreachable || error instanceof Gone || error instanceof Refused)) throw error;
    } finally {
      this.asking = false;
    }
    if (pause) this.later(pause);
  }

  answer(said, seconds) {
    const question = this.questions.shift();
    const number = question.question;
    // The rows, too: an older copy of the answers may have another pair under this number.
    const body = { question: number, said, seconds, rows: [question.left.row, question.right.row] };
    if (this.comments[number]) body.comment = this.comments[number];
    delete this.before[number];
    const id = this.outbox.add("answer", body);
    this.past.push({ question, id, said });
    this.past = this.past.slice(-MOST_PAST);
    if (this.mine !== null) this.mine += 1;
    this.waiting = this.questions.length === 0;
    this.tell();
    if (this.waiting) this.later(300);
    return id;
  }

  // Takes back the last answer: at once if the tab knows it, else the server looks it up.
  // Keys may come faster than replies, so one undo waits for the one before.
  undo() {
    const last = this.past.pop();
    if (last) {
      if (!this.outbox.cancel(last.id)) this.outbox.add("undo", { question: last.question.question });
      this.put(last.question, last.said);
      return Promise.resolve(last.said);
    }
    const work = async () => {
      await this.outbox.empty();
      const { question, said } = await post("/api/undo", { page: this.page, id: newId() });
      this.put(question, said);
      return said;
    };
    const result = this.undoing.then(work);
    this.undoing = result.catch(() => {});
    return result;
  }

  put(question, said) {
    this.questions = [question, ...this.questions.filter((one) => one.question !== question.question)];
    this.before[question.question] = said;
    this.done = this.waiting = false;
    if (this.mine !== null) this.mine -= 1;
    this.tell();
  }

  comment(text) {
    const number = this.current.question;
    if (text) this.comments[number] = text;
    else delete this.comments[number];
    this.keep();
  }
}
