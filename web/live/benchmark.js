/** The part of the page that measures this browser. */

import { load } from "../engine/src/index.js";
import { button, element } from "../page/elements.js";
import { digits, size, time } from "../page/text.js";
import { barChart } from "./bar_chart.js";

const WARM_UP = 3; // runs whose times do not count
const MILLISECONDS = 1000; // that each network runs for; `?ms=` in the page's address changes it

/**
 * Returns the part.
 * @param {{ name: string, about: string, file: string, bytes: number, kind: string }[]} networks
 */
export function benchmark(networks) {
  const state = element("p", { role: "status" });
  const results = element("div", {});
  const bytes = networks.reduce((all, network) => all + network.bytes, 0);
  const run = button("Measure", async () => {
    const rows = [];
    try {
      for (const network of networks) {
        state.textContent = `Measuring ${network.name}`;
        rows.push({ ...network, ...(await measure(network)) });
        results.replaceChildren(...shown(rows));
      }
      state.textContent = "Done";
    } catch (error) {
      state.textContent = error.message;
    }
  });
  const what = `One thread of this browser multiplies bits. Networks of random weights are loaded for
    it, ${size(bytes)} in all.`;
  return element(
    "div",
    {},
    element("p", {}, what),
    element("div", { class: "controls" }, run),
    state,
    results,
  );
}

/** Returns the milliseconds of a run, the median of as many as fit into the time, and its work. */
async function measure({ file, kind }) {
  const wanted = Number(new URLSearchParams(location.search).get("ms") ?? MILLISECONDS);
  const model = await load(file);
  try {
    const rowsOf = async (runs) =>
      (await model.profile({ runs })).filter(({ name }) => !kind || name === kind);
    const sum = (rows, what) => rows.reduce((all, row) => all + row[what], 0);
    const products = sum(await rowsOf(WARM_UP), "products");
    const times = [];
    const start = performance.now();
    do times.push(sum(await rowsOf(1), "ms"));
    while (performance.now() - start < wanted);
    times.sort((a, b) => a - b);
    return { ms: times[Math.floor(times.length / 2)], products };
  } finally {
    model.close();
  }
}

/** Returns a picture and a table of what was measured so far. */
function shown(rows) {
  const bars = rows.map(({ name, products, ms }) => ({ name, value: products / ms / 1e6 }));
  const head = ["Network", "", "Time", "Billion products a second"];
  const cells = rows.map(({ name, about, ms, products }) => [
    element("th", { scope: "row" }, name),
    element("td", {}, about),
    element("td", { class: "number" }, time(ms)),
    element("td", { class: "number" }, digits(products / ms / 1e6)),
  ]);
  const titles = head.map((title, n) =>
    element(title ? "th" : "td", { class: n > 1 ? "number" : "", scope: title && "col" }, title),
  );
  const table = element(
    "table",
    {},
    element("caption", {}, "Median times in this browser"),
    element("thead", {}, element("tr", {}, ...titles)),
    element("tbody", {}, ...cells.map((row) => element("tr", {}, ...row))),
  );
  return [
    barChart("Billion products of bits a second, by network", bars, digits),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Times" }, table),
  ];
}
