// Makes elements. Everything that comes from a table, a person or the server goes in as text,
// never as markup: there is no innerHTML in this page.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// el("button", {type: "button", onclick: f}, "Save")
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export const byId = (id) => document.getElementById(id);

// Words for screen readers only.
export const unseen = (text) => el("span", { class: "unseen" }, text);

export function button(text, onclick, attributes) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

// "1 answer", "2 answers"
export const count = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

export const WORDS = { same: "Same", unsure: "Unsure", different: "Different" };

