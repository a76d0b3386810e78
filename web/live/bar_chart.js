/** Draws bars, with their values beside them. */

import { drawn } from "../page/elements.js";

const WIDTH = 640; // the most
const LINE = 34; // from one bar to the next
const NAME = 90; // room for names
const VALUE = 60; // room for values

/**
 * Returns a drawing.
 * @param {string} title What it shows, for those who do not see it; the values follow.
 * @param {{ name: string, value: number }[]} bars
 * @param {(value: number) => string} write
 * @param {number} room The width of the place for it, so that texts keep their size.
 */
export function barChart(title, bars, write, room) {
  const width = Math.min(WIDTH, room);
  const most = Math.max(...bars.map(({ value }) => value));
  const height = LINE * bars.length + 4;
  const said = bars.map(({ name, value }) => `${name} ${write(value)}`).join(", ");
  const parts = bars.flatMap(({ name, value }, n) => {
    const y = LINE * n + 4;
    const length = ((width - NAME - VALUE) * value) / most;
    const middle = y + LINE / 2 + 2;
    return [
      drawn("text", { class: "fill-ink", x: NAME - 10, y: middle, "text-anchor": "end" }, name),
      drawn("rect", { class: "fill-accent", x: NAME, y, width: length, height: LINE - 10, rx: 4 }),
      drawn("text", { class: "fill-ink", x: NAME + length + 8, y: middle }, write(value)),
    ];
  });
  const attributes = {
    class: "bars",
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
  };
  return drawn("svg", { ...attributes, "aria-label": `${title}: ${said}` }, ...parts);
}
