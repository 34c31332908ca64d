// Ids that the page makes: one per answer, so that a repeated request is told from a new one,
// and one per tab, so that the server knows which questions this tab holds.

import { session } from "./memory.js";

export function newId() {
  // crypto.randomUUID is there only on 127.0.0.1 and https; with --host the page has neither.
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

// The id of this tab. It is kept over a reload. A tab that is duplicated gets a copy of
// sessionStorage without the mark that a page leaves when it goes: it takes a new id.
export function pageId() {
  const known = session.get("page");
  const returned = known !== null && session.get("left") === true;
  const page = returned ? known : newId();
  if (!returned) session.clear();
  session.set("page", page);
  session.remove("left");
  addEventListener("pagehide", () => session.set("left", true));
  addEventListener("pageshow", () => session.remove("left"));
  return page;
}
