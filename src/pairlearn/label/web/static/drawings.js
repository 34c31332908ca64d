// The two drawings of the progress: the learning curve, and the certificate as a bar. Both are
// plain SVG; beside each stands the same in words or as a table.

import { el, svg } from "./dom.js";

export const percent = (share, digits = 1) => `${(100 * share).toFixed(digits).replace(/\.0$/, "")} %`;

// The next round number above: 0.034 -> 0.05.
function ceiling(value) {
  for (const step of [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5]) if (value <= step) return step;
  return 1;
}

// Round numbers from 0 to `top`: steps of 1, 2 or 5 times a power of ten, at most six.
function ticks(top) {
  const power = 10 ** Math.floor(Math.log10(top / 5));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => top / size <= 5 + 1e-9);
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, i) => i * step);
}

// Drawn for the width that there is, so that the figures keep their size on a phone.
const width = () => Math.max(280, Math.min(640, innerWidth - 70));
const H = 240;
const BOX = { left: 52, right: 16, top: 12, bottom: 34 };

export function curve(points) {
  const known = points.filter((point) => point.expected_error !== null && point.expected_error !== undefined);
  if (known.length === 0) return el("p", { class: "soft" }, "The curve begins when the model has learned for the first time.");
  const W = width();
  const most = Math.max(...known.map((point) => point.n_answers), 10);
  const top = ceiling(Math.max(...known.map((point) => point.expected_error), 0.01));
  const x = (n) => BOX.left + ((W - BOX.left - BOX.right) * n) / most;
  const y = (error) => H - BOX.bottom - ((H - BOX.top - BOX.bottom) * error) / top;
  const path = known.map((point, i) => `${i ? "L" : "M"}${x(point.n_answers).toFixed(1)} ${y(point.expected_error).toFixed(1)}`).join("");
  const last = known.at(-1);
  const area = `${path}L${x(last.n_answers).toFixed(1)} ${y(0)}L${x(known[0].n_answers).toFixed(1)} ${y(0)}Z`;
  const title = `Expected error: ${percent(known[0].expected_error)} after ${known[0].n_answers} answers, ${percent(last.expected_error)} after ${last.n_answers}.`;
  const drawing = svg("svg", { class: "curve", viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `Learning curve. ${title}` },
    ticks(top).map((tick) => [
      svg("line", { class: "grid", x1: BOX.left, x2: W - BOX.right, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "tick end", x: BOX.left - 8, y: y(tick) + 4 }, percent(tick))]),
    ticks(most).map((tick) => svg("text", { class: "tick middle", x: x(tick), y: H - 12 }, String(Math.round(tick)))),
    svg("path", { class: "area", d: area }), svg("path", { class: "line", d: path }),
    known.length < 40 && known.map((point) => svg("circle", { class: "dot", cx: x(point.n_answers), cy: y(point.expected_error), r: 3 })),
    svg("circle", { class: "dot now", cx: x(last.n_answers), cy: y(last.expected_error), r: 5 }));
  const rows = known.map((point) => el("tr", {},
    el("th", { scope: "row" }, String(point.n_answers)), el("td", {}, percent(point.expected_error)),
    el("td", {}, String(point.n_audits ?? 0)), el("td", {}, String(point.n_wrong ?? 0))));
  return el("div", {},
    el("p", { class: "axis soft" }, "The error that the model expects of itself, by number of answers learned from"),
    drawing,
    el("details", {}, el("summary", {}, "The curve as a table"),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The curve as a table" }, el("table", { class: "figures" },
        el("thead", {}, el("tr", {}, ["Answers learned from", "Expected error", "Questions that tested it", "Of these wrong"].map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", {}, rows)))));
}

export function interval({ error, low, high, if_right: right, confidence }) {
  const top = Math.max(0.1, Math.ceil(high * 10) / 10);
  const W = width();
  const x = (share) => 8 + ((W - 16) * share) / top;
  const middle = right ? Math.min(error ?? right[0], right[1]) : error ?? (low + high) / 2;
  const words = `Error ${percent(middle)}; between ${percent(low)} and ${percent(high)}${confidence ? ` with ${percent(confidence, 0)} confidence` : ""}${right ? `; if every answer is right, between ${percent(right[0])} and ${percent(right[1])}` : ""}.`;
  return svg("svg", { class: "interval", viewBox: `0 0 ${W} 64`, role: "img", "aria-label": words },
    svg("line", { class: "rail", x1: 8, x2: W - 8, y1: 20, y2: 20 }),
    svg("rect", { class: right ? "band pale" : "band", x: x(low), y: 11, width: Math.max(2, x(high) - x(low)), height: 18, rx: 4 }),
    right && svg("rect", { class: "band", x: x(right[0]), y: 11, width: Math.max(2, x(right[1]) - x(right[0])), height: 18, rx: 4 }),
    svg("line", { class: "ends", x1: x(low), x2: x(low), y1: 7, y2: 33 }),
    svg("line", { class: "ends", x1: x(high), x2: x(high), y1: 7, y2: 33 }),
    svg("circle", { class: "dot now", cx: x(middle), cy: 20, r: 6 }),
    ticks(top).map((tick) => {
      const [first, last] = [tick === 0, x(tick) > W - 30];
      return svg("text", { class: `tick ${first ? "start" : last ? "end" : "middle"}`, x: x(tick) + (first ? -8 : last ? 8 : 0), y: 56 }, percent(tick));
    }));
}
