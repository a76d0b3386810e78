/** The part of the page that measures this browser. */

import { load } from "../engine/dist/index.js";
import { button, element } from "../page/elements.js";
import { digits, size, time } from "../page/text.js";
import { barChart } from "./bar_chart.js";

const WARM_UP = 3; // runs whose times do not count
// Browsers round times to 0.1 ms, so short runs are timed together.
const TOGETHER = 20; // milliseconds
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
        results.replaceChildren(...shown(rows, results.clientWidth));
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

/** Returns the milliseconds of a run, a median over what fits into the time, and its products. */
async function measure({ file, kind }) {
  const wanted = Number(new URLSearchParams(location.search).get("ms") ?? MILLISECONDS);
  const model = await load(file);
  try {
    const rowsOf = async (runs) =>
      (await model.profile({ runs })).filter(({ name }) => !kind || name === kind);
    const sum = (rows, what) => rows.reduce((all, row) => all + row[what], 0);
    const first = await rowsOf(WARM_UP);
    const products = sum(first, "products");
    const runs = Math.ceil(TOGETHER / Math.max(sum(first, "ms"), 0.1));
    const times = [];
    const start = performance.now();
    do times.push(sum(await rowsOf(runs), "ms"));
    while (performance.now() - start < wanted);
    times.sort((a, b) => a - b);
    return { ms: times[Math.floor(times.length / 2)], products };
  } finally {
    model.close();
  }
}

/** Returns a picture, which has so much room, and a table of what was measured so far. */
function shown(rows, room) {
  const bars = rows.map(({ name, products, ms }) => ({ name, value: products / ms / 1e6 }));
  const cells = rows.map(({ name, about, ms, products }) => [
    element("th", { scope: "row" }, name, element("span", { class: "note" }, about)),
    element("td", { class: "number" }, time(ms)),
    element("td", { class: "number" }, digits(products / ms / 1e6)),
  ]);
  const titles = ["Network", "Time", "Products a ns"].map((title, n) =>
    element("th", { class: n ? "number" : "", scope: "col" }, title),
  );
  const table = element(
    "table",
    {},
    element("caption", {}, "Median times, and how many products of bits a nanosecond has"),
    element("thead", {}, element("tr", {}, ...titles)),
    element("tbody", {}, ...cells.map((row) => element("tr", {}, ...row))),
  );
  return [
    barChart("Products of bits in a nanosecond, by network", bars, digits, room),
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Times" }, table),
  ];
}
