// Two things side by side. Pictures, sounds and long texts come first, then one table of the
// short columns: name, left, right. What differs is marked by a sign and by weight, and said to
// screen readers; what is equal is quieter.

import { button, count, el, svg, unseen } from "./dom.js";
import { longTexts } from "./texts.js";
import { name, plain, plainString } from "./plain.js";
import { say } from "./status.js";
import { zoom } from "./zoom.js";

// Columns that are shown before somebody asks for all.
const FIRST = 12;
// Numbers closer than this share of the column's range are called close.
const CLOSE = 0.1;

const SIGNS = {
  differs: ["≠", "differs"],
  near: ["≈", "nearly the same"],
  equal: ["=", "the same"],
};

const text = (cell) => (cell === null || cell === undefined ? "" : typeof cell === "string" ? cell : cell.text ?? "");

// The numbers of the columns, most telling first; those that nobody ranked keep their place.
function ordered(columns, order) {
  const ranked = (order ?? []).filter((number) => number < columns.length);
  const rest = [...columns.keys()].filter((number) => !ranked.includes(number));
  return [...ranked, ...rest];
}

function compared(a, b, column) {
  if (text(a) === text(b)) return "equal";
  if (column.kind !== "number") return "differs";
  const [left, right] = [Number(text(a)), Number(text(b))];
  if (!text(a) || !text(b) || Number.isNaN(left) || Number.isNaN(right)) return "differs";
  if (left === right) return "equal";
  const range = column.range ? column.range[1] - column.range[0] : 0;
  return range > 0 && Math.abs(left - right) < CLOSE * range ? "near" : "differs";
}

// Where both numbers lie between the smallest and the largest of their column.
function track(a, b, column) {
  if (!column.range || column.range[1] <= column.range[0] || !text(a) || !text(b)) return null;
  const place = (cell) => {
    const share = (Number(text(cell)) - column.range[0]) / (column.range[1] - column.range[0]);
    return 5 + 90 * Math.min(1, Math.max(0, share));
  };
  const [left, right] = [place(a), place(b)];
  if (Number.isNaN(left) || Number.isNaN(right)) return null;
  return svg("svg", { class: "track", viewBox: "0 0 100 10", "aria-hidden": "true", focusable: "false" },
    svg("line", { class: "rail", x1: 2, x2: 98, y1: 5, y2: 5 }),
    svg("line", { class: "gap", x1: left, x2: right, y1: 5, y2: 5 }),
    svg("circle", { class: "dot-left", cx: left, cy: 5, r: 3.6 }),
    svg("path", { class: "dot-right", d: `M${right} .6l4.4 4.4-4.4 4.4-4.4-4.4z` }));
}

function value(cell, column) {
  if (cell === null || cell === undefined || text(cell) === "") return el("span", { class: "empty" }, "empty");
  if (cell.media === "link") {
    return el("a", { href: cell.url, target: "_blank", rel: "noopener noreferrer nofollow", dir: "auto" }, plain(text(cell)));
  }
  return el("bdi", { class: column.kind === "number" ? "number" : "word", dir: "auto" }, plain(text(cell)), cell.cut && " …");
}

function row(left, right, column, number) {
  const [a, b] = [left.cells[number], right.cells[number]];
  const how = compared(a, b, column);
  const [sign, said] = SIGNS[how];
  const tight = column.kind === "number" ? "number-cell" : "";
  return el("tr", { class: how },
    el("th", { scope: "row" }, el("span", { class: "column" },
      el("span", { class: "sign", "aria-hidden": "true" }, sign), name(column.name), unseen(`, ${said}`), track(a, b, column))),
    el("td", { class: tight }, value(a, column)),
    el("td", { class: tight }, value(b, column)));
}

function table(left, right, columns, numbers, all) {
  const body = el("tbody");
  const corner = el("td");
  const shown = all ? numbers.length : FIRST;
  const head = (thing, side, mark) => el("th", { scope: "col", class: side },
    svg("svg", { class: "mark", viewBox: "0 0 10 10", "aria-hidden": "true", focusable: "false" }, mark),
    unseen(`${side === "left" ? "Left" : "Right"}: `), name(String(thing.id), 60));
  body.append(...numbers.slice(0, shown).map((number) => row(left, right, columns[number], number)));
  const words = numbers.every((number) => columns[number].kind !== "number");
  const whole = el("table", { class: words ? "compare words" : "compare" },
    el("caption", { class: "unseen" }, "Both things, column by column"),
    el("thead", {}, el("tr", {}, corner,
      head(left, "left", svg("circle", { class: "dot-left", cx: 5, cy: 5, r: 4 })),
      head(right, "right", svg("path", { class: "dot-right", d: "M5 .3L9.7 5 5 9.7 .3 5z" })))),
    body);
  if (numbers.length <= shown) return whole;
  const more = button(`Show all ${count(numbers.length, "column")}`, () => {
    body.append(...numbers.slice(shown).map((number) => row(left, right, columns[number], number)));
    more.dispatchEvent(new CustomEvent("all", { bubbles: true }));
    more.remove();
    say(`All ${numbers.length} columns are shown.`);
    body.rows[shown].tabIndex = -1;
    body.rows[shown].focus({ preventScroll: true });
  }, { class: "quiet more" });
  corner.append(more);
  return whole;
}

function media(left, right, column, number) {
  const side = (thing, where) => {
    const cell = thing.cells[number];
    const label = `${where}: ${plainString(thing.id)}, ${plainString(column.name)}`;
    let shown;
    if (!cell?.media) shown = el("p", { class: "empty" }, text(cell) ? plain(text(cell)) : "empty");
    else if (cell.media === "audio") shown = el("audio", { controls: true, preload: "metadata", src: cell.url, "aria-label": label });
    else {
      const image = el("img", { src: cell.url, alt: "", decoding: "async" });
      shown = button("", () => zoom(cell.url, label), { class: "picture", "aria-label": `Enlarge. ${label}` });
      shown.append(image);
      image.addEventListener("error", () => shown.replaceWith(el("p", { class: "empty" }, "This picture cannot be shown: ", name(text(cell)))));
    }
    return el("figure", { class: `side ${where.toLowerCase()}` }, el("figcaption", {}, name(String(thing.id), 60)), shown);
  };
  return el("div", { class: `media ${column.kind}`, role: "group", "aria-label": plainString(column.name) }, side(left, "Left"), side(right, "Right"));
}

// `setting`: columns, order, idColumn, and all (whether every column is shown at once).
export function compare({ left, right }, setting) {
  const { columns, order, idColumn, all = false } = setting;
  const numbers = [...ordered(columns, order)].filter((number) => columns[number].name !== idColumn);
  const ofKind = (...kinds) => numbers.filter((number) => kinds.includes(columns[number].kind));
  const short = numbers.filter((number) => !["image", "audio", "text"].includes(columns[number].kind));
  return el("div", { class: "both" },
    ofKind("image").map((number) => media(left, right, columns[number], number)),
    ofKind("audio").map((number) => media(left, right, columns[number], number)),
    ofKind("text").map((number) => longTexts(left, right, columns[number], number)),
    short.length > 0 && table(left, right, columns, short, all));
}

// A line that stands for a thing where there is no room for it.
export const label = (thing) => name(String(thing.id), 40);
