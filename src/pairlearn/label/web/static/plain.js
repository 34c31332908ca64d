// Text from a table as it should be seen: characters that cannot be seen, or that turn the text
// round them, are shown by their number; everything else is left as it is.

import { el } from "./dom.js";

// Controls except tab and line feed; marks, embeddings, overrides and isolates of direction;
// spaces of no width; line and paragraph separators; halves of characters.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const code = (character) => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

// Pieces to append: strings, and small boxes with the number of a hidden character.
export function plain(text) {
  const pieces = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) pieces.push(text.slice(from, match.index));
    pieces.push(el("span", { class: "control" }, code(match[0])));
    from = match.index + 1;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

// For places that take only a string: labels, announcements, options.
export function plainString(text, most = 80) {
  const shown = String(text).replace(HIDDEN, code).replace(/\s+/g, " ");
  return shown.length > most ? `${shown.slice(0, most)} …` : shown;
}

// A name or an id in a heading: isolated in its own direction, and cut if it is very long.
export function name(text, most = 120) {
  const cut = text.length > most;
  return el("bdi", { class: "name" }, plain(cut ? `${text.slice(0, most)} …` : text));
}
