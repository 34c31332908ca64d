// A time as people say it, with the exact one behind it.

import { el } from "./dom.js";

const text = (at) => new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

export const when = (at) => el("time", { datetime: at }, text(at));
