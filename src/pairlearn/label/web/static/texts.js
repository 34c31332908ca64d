// Long texts in two readable columns, with the words that both share underlined and tinted. A
// text that the server has cut is fetched whole on demand.

import { get } from "./api.js";
import { button, el, unseen } from "./dom.js";
import { name, plain, plainString } from "./plain.js";
import { change, settings } from "./settings.js";

// Longer texts are shown without marks: finding them would stop the page for a while.
const MOST_MARKED = 40_000;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}-]*/gu;
// The words of a text that everybody uses say nothing about both.
const SHORTEST = 4;

const wordsOf = (text) => new Set([...text.matchAll(WORD)].map((match) => match[0].toLowerCase()));

function marked(text, shared) {
  const pieces = [];
  let from = 0;
  for (const match of text.matchAll(WORD)) {
    if (!shared.has(match[0].toLowerCase())) continue;
    pieces.push(plain(text.slice(from, match.index)), el("mark", {}, match[0]));
    from = match.index + match[0].length;
  }
  pieces.push(plain(text.slice(from)));
  return pieces;
}

export function longTexts(left, right, column, number) {
  const sides = [left, right].map((thing) => {
    const cell = thing.cells[number];
    return { thing, text: typeof cell === "string" ? cell : cell?.text ?? "", cut: cell?.cut === true };
  });
  const toggle = button("Mark shared words", () => change("shared", !settings.shared),
    { class: "quiet toggle shared-toggle", "aria-pressed": String(settings.shared) });
  const boxes = sides.map((side, place) => {
    const where = place === 0 ? "Left" : "Right";
    side.box = el("div", {
      class: "long", dir: "auto", tabindex: "0", role: "region",
      "aria-label": `${where}: ${plainString(side.thing.id)}, ${plainString(column.name)}`,
    });
    side.more = side.cut && button("Show the whole text", () => fetchWhole(side, number, show), { class: "quiet" });
    return el("div", { class: `side ${where.toLowerCase()}` }, el("p", { class: "side-name" }, name(String(side.thing.id), 60)), side.box, side.more);
  });
  function show() {
    const [a, b] = sides.map((side) => side.text);
    const small = a.length + b.length <= MOST_MARKED;
    const words = small ? wordsOf(a) : new Set();
    const shared = new Set([...(words.size ? wordsOf(b) : [])].filter((word) => word.length >= SHORTEST && words.has(word)));
    for (const side of sides) {
      side.box.replaceChildren(...(side.text ? marked(side.text, shared).flat(Infinity) : [el("span", { class: "empty" }, "empty")]), side.cut ? " …" : "");
    }
    toggle.hidden = shared.size === 0;
  }
  show();
  return el("div", { class: "texts" },
    el("p", { class: "texts-head" }, el("span", { class: "column" }, name(column.name), a11y(sides)), toggle), el("div", { class: "two" }, boxes));
}

const a11y = ([a, b]) => unseen(a.text === b.text ? ", the same" : ", differs");

async function fetchWhole(side, number, show) {
  side.more.disabled = true;
  try {
    const whole = await get(`/api/cell/${side.thing.row}/${number}`);
    Object.assign(side, { text: whole.text, cut: false });
    side.more.remove();
    show();
    side.box.focus({ preventScroll: true });
  } catch (error) {
    side.more.disabled = false;
    side.more.textContent = `The text could not be fetched (${error.message}). Try again`;
  }
}
