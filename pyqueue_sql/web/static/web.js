// The keys, and light or dark. All else is plain HTML, and htmx for what is looked at again.
"use strict";
const root = document.documentElement;
const chosen = localStorage.getItem("pyqueue-theme");
if (chosen) root.dataset.theme = chosen;

function turn() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = (root.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
  localStorage.setItem("pyqueue-theme", root.dataset.theme);
}

function step(by) {
  const links = [...document.querySelectorAll("table.rows td.open a")];
  const place = links.indexOf(document.activeElement);
  const next = links[Math.min(Math.max(place + by, 0), links.length - 1)];
  if (next) next.focus();
}

const pages = [...document.querySelectorAll("header nav a")];
const keys = {
  j: () => step(1),
  k: () => step(-1),
  t: turn,
  g: () => pages[0].click(),
  "/": () => (document.getElementById("key") || { focus: () => pages[1].click() }).focus(),
  d: () => pages[2].click(),
};

document.getElementById("theme").addEventListener("click", turn);
document.addEventListener("keydown", (event) => {
  const writes = event.target.matches("input, textarea, select");
  if (writes || event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});
// what is looked at again keeps the place of the keyboard, and a look that failed changes nothing
let place = null;
document.addEventListener("htmx:beforeSwap", (event) => {
  const active = document.activeElement;
  place = event.detail.target.contains(active) ? active.getAttribute("href") : null;
});
document.addEventListener("htmx:afterSettle", () => {
  if (place === null) return;
  const same = [...document.querySelectorAll("main a")].find((one) => one.getAttribute("href") === place);
  if (same) same.focus({ preventScroll: true });
});
