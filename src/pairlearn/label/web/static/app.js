// Starts the page: who is here, what is asked about, which view is shown, what each key does.

import { Gone, get, persist } from "./api.js";
import { byId, count, el } from "./dom.js";
import { Hand } from "./hand.js";
import { HistoryView } from "./history.js";
import { pageId } from "./ids.js";
import { listen } from "./keys.js";
import { local } from "./memory.js";
import { Outbox } from "./outbox.js";
import { PeopleView } from "./people.js";
import { plainString } from "./plain.js";
import { ProgressView } from "./progress.js";
import { QuestionView, ending } from "./question.js";
import { loadSettings, openSettings } from "./settings.js";
import { notice, say, sessionGone, showState, unnotice } from "./status.js";
import { openHelp, welcome } from "./welcome.js";
import { zoomFirst } from "./zoom.js";

// After so many saved answers the page asks which columns tell most, and the owner's page
// looks whether the goal is reached.
const LOOK = 20;
const VIEWS = ["answer", "history", "progress", "people"];
const OWNERS = ["progress", "people"];
const page = pageId();

function currentView(owner) {
  const wish = location.hash.slice(1);
  return VIEWS.includes(wish) && (owner || !OWNERS.includes(wish)) ? wish : "answer";
}

async function hello() {
  for (;;) {
    try {
      return await persist(() => get("/api/hello"), () => {
        byId("state-text").textContent = "The server cannot be reached. Trying again …";
      });
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
      sessionGone(0, error);
      byId("state-text").textContent = "Session ended";
      await new Promise((go) => setTimeout(go, 3000));
    }
  }
}

async function start() {
  let known = await hello();
  unnotice("gone");
  loadSettings(known.letters ?? true);
  // Answers that wait in this browser belong to one project and one person.
  const project = known.project ?? `${known.points}/${known.n_points}`;
  byId("points").textContent = plainString(known.points, 60);
  if (!known.me.name || !local.get(`${project}/welcomed`)) {
    known = await welcome(known);
    local.set(`${project}/welcomed`, true);
    // Whoever reads with the keyboard or by ear begins at the question.
    byId("ask").focus({ preventScroll: true });
  }
  const { owner } = known.me;
  const columns = known.columns;
  let order = known.order?.length ? known.order : null;
  const setting = () => ({ columns, order, idColumn: known.id_column });
  // Once it is known which columns tell most, they stay where they are until a reload.
  const learn = (panel) => { order ??= panel.columns?.length ? panel.columns : null; };

  const hand = new Hand({ project, page });
  hand.mine = known.mine;
  const outbox = new Outbox({ project, page, who: known.me.name, have: (underway) => hand.need(underway) });
  hand.use(outbox);

  const finish = () => ending({ owner, mine: hand.mine, again: () => { hand.done = false; hand.tell(); hand.refill(); } });
  const question = new QuestionView({ hand, outbox, setting, finish });
  const history = new HistoryView({ outbox, setting, owner });
  const people = owner ? new PeopleView() : null;
  const progress = owner ? new ProgressView({ outbox, setting, onpanel: learn }) : null;

  function show() {
    const view = currentView(owner);
    for (const one of VIEWS) {
      byId(`view-${one}`).hidden = one !== view;
      if (one === view) byId(`to-${one}`)?.setAttribute("aria-current", "page");
      else byId(`to-${one}`)?.removeAttribute("aria-current");
    }
    for (const one of OWNERS) byId(`to-${one}`).hidden = !owner;
    const title = { answer: "Same or different?", history: "Your answers", progress: "Progress", people: "People" }[view];
    document.title = `${title} · ${plainString(known.points, 60)} · pairlearn`;
    document.documentElement.dataset.view = view;
    scrollTo({ top: 0, behavior: "instant" });
    progress?.close();
    if (view === "history") history.open();
    if (view === "progress") progress.open();
    if (view === "people") people.open();
    if (view === "answer") question.show();
  }
  addEventListener("hashchange", () => {
    show();
    byId(`view-${currentView(owner)}`).querySelector("h1")?.focus({ preventScroll: true });
  });

  const rename = async () => {
    // Answers that wait go under the name they were given with.
    const sent = await outbox.empty().then(() => true, () => false);
    if (!sent) return notice("rename", "The name can be changed when your answers have been sent.");
    const renamed = await welcome(known, { rename: true });
    if (renamed.me.name !== known.me.name) location.reload();
  };
  byId("to-help").addEventListener("click", openHelp);
  byId("to-settings").addEventListener("click", () => openSettings({ name: known.me.name, rename: known.me.fixed ? null : rename }));

  watch({ outbox, hand, owner, project, question, onpanel: learn, onlook: async () => learn({ columns: order ?? (await get("/api/hello")).order }) });
  const inView = (...views) => views.includes(currentView(owner)) && !document.documentElement.classList.contains("ended");
  listen({
    ArrowLeft: () => question.answer("same"),
    ArrowRight: () => question.answer("different"),
    ArrowDown: () => question.answer("unsure"),
    Backspace: () => question.undo(),
    Escape: () => { location.hash = "answer"; },
    c: () => question.comment(),
    z: () => zoomFirst(byId("pair")),
    h: () => { location.hash = inView("history") ? "answer" : "history"; },
    "?": () => openHelp(),
  }, (key) => (key === "h" || key === "?" ? true : key === "Escape" ? !inView("answer") : inView("answer")));

  show();
  showState(outbox);
  outbox.wake();
  hand.refill();
}

// The line in the header, notices, and the warning before leaving.
function watch({ outbox, hand, owner, project, question, onpanel, onlook }) {
  let saved = 0;
  outbox.addEventListener("state", () => showState(outbox));
  hand.addEventListener("change", () => {
    byId("mine").textContent = hand.mine ? count(hand.mine, "answer") : "";
  });
  outbox.addEventListener("lost", ({ detail }) => {
    if (outbox.gone) sessionGone(outbox.entries.length, detail);
    else say("The connection is gone. Your answers are kept here and will be sent.");
    question.show();
  });
  outbox.addEventListener("back", () => {
    unnotice("gone");
    say("The connection is back.");
    hand.refill();
  });
  hand.addEventListener("trouble", ({ detail }) => {
    if (detail instanceof Gone) sessionGone(outbox.entries.length, detail);
    else if (hand.current === null) notice("reach", detail.message.startsWith("TypeError") || detail.message.startsWith("AbortError") ? "The server cannot be reached. This page tries again by itself." : detail.message);
  });
  hand.addEventListener("reached", () => {
    unnotice("gone");
    unnotice("reach");
  });
  outbox.addEventListener("refused", ({ detail: { entry, reason } }) => {
    const what = { answer: "An answer was", undo: "An undo was", edit: "A change was", comment: "A comment was" }[entry.kind];
    notice(`refused-${entry.id}`, `${what} not taken: ${reason ?? "the server gave no reason."}`, { kind: "bad" });
  });
  outbox.addEventListener("saved", async ({ detail }) => {
    if (detail.kind !== "answer") return;
    saved += 1;
    if (saved % LOOK !== 0) return;
    // Neither is needed for answering, so a failure waits for the next time.
    await onlook().catch(() => {});
    if (owner) await lookForGoal(project, onpanel).catch(() => {});
  });
  addEventListener("beforeunload", (event) => {
    if (outbox.entries.length > 0) event.preventDefault();
  });
}

// A hint that does not interrupt: the goal is reached, go on or stop.
async function lookForGoal(project, onpanel) {
  const panel = await get("/api/progress");
  onpanel(panel);
  const high = panel.certificate?.high;
  const goal = panel.goal ?? 0.05;
  if (!(panel.goal_reached ?? (high !== undefined && high !== null && high <= goal)) || local.get(`${project}/told-goal`) === goal) return;
  local.set(`${project}/told-goal`, goal);
  const total = Object.values(panel.answers ?? {}).reduce((sum, n) => sum + n, 0);
  const assumed = panel.certificate?.if_right ? ", if every answer is right" : "";
  notice("goal", ["The goal is reached after ", count(total, "answer"), assumed, ". You may stop here or go on: ", el("a", { href: "#progress" }, "see the progress"), "."], { kind: "good" });
  say("The goal is reached. You may stop here or go on.");
}

start().catch((error) => {
  console.error(error);
  notice("broken", `The page could not start: ${error.message} Reload it, or open the link from the terminal again.`, { kind: "bad", close: false });
});
