"use strict";

// ---- Light and dark ------------------------------------------------------------------------------

const root = document.documentElement;
const themeButton = document.getElementById("theme");
const systemIsDark = window.matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  return root.dataset.theme ? root.dataset.theme === "dark" : systemIsDark.matches;
}

function nameTheme() {
  themeButton.textContent = isDark() ? "Light colours" : "Dark colours";
}

themeButton.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
systemIsDark.addEventListener("change", nameTheme);
themeButton.hidden = false;
nameTheme();

// ---- The graph: arrow keys go from operator to operator, the panel tells what is known of one ----

const panel = document.getElementById("panel");
const nodes = Array.from(document.querySelectorAll(".node"));

function choose(node) {
  for (const other of nodes) {
    other.setAttribute("tabindex", other === node ? "0" : "-1");
    other.setAttribute("aria-pressed", String(other === node));
  }
  const known = document.querySelector(`#op-${node.dataset.op} > .body`);
  panel.replaceChildren(known.cloneNode(true));
  panel.hidden = false;
}

function neighbours(node, direction) {
  const numbers = node.dataset[direction].split(" ").filter((number) => number !== "");
  return numbers.map((number) => nodes[Number(number)]);
}

function goal(node, key) {
  const position = nodes.indexOf(node);
  switch (key) {
    case "ArrowDown":
      return neighbours(node, "down")[0];
    case "ArrowUp":
      return neighbours(node, "up")[0];
    case "ArrowRight":
      return nodes[position + 1];
    case "ArrowLeft":
      return nodes[position - 1];
    case "Home":
      return nodes[0];
    case "End":
      return nodes[nodes.length - 1];
    default:
      return undefined;
  }
}

const KEYS = ["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "Home", "End"];

for (const node of nodes) {
  node.addEventListener("focus", () => choose(node));
  node.addEventListener("click", () => node.focus());
  node.addEventListener("keydown", (event) => {
    if (KEYS.includes(event.key)) {
      event.preventDefault();
      (goal(node, event.key) || node).focus();
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      panel.focus();
    }
  });
}

panel.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    nodes.find((node) => node.getAttribute("tabindex") === "0").focus();
  }
});
