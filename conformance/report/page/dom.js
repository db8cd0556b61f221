"use strict";

// el("p", {class: "note", onclick: f}, "text", node, [nodes], null): an element. Children are nodes
// or text, never markup: what a target has said cannot become part of the page.
function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
  return element;
}

const plural = (count, one, many) => `${count} ${count === 1 ? one : many || one + "s"}`;

const cssName = text => text.replace(/[^a-z]+/gi, "-").toLowerCase();

// The verdict of a case or the result of a requirement, as a coloured word.
const badge = (result, text) => el("span", {class: `badge r-${cssName(result)}`}, text || result);

function timeText(us) {
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${(us / 1000).toFixed(us < 1e4 ? 2 : us < 1e5 ? 1 : 0)} ms`;
  return us < 12e7 ? `${(us / 1e6).toFixed(2)} s` : `${Math.round(us / 6e7)} min`;
}
