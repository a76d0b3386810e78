/** Takes a model's inputs as numbers. */

import { button, element } from "./elements.js";
import { hasOpenSize, leastCount, readNumbers, sizesFor } from "./number_text.js";

/**
 * Returns a form with a field for each input.
 * @param {import("./number_text.js").Input[]} inputs
 * @param {(arrays: any[], shapes?: number[][]) => Promise<void>} answer Runs the model, which takes
 *   these shapes first if there are some.
 * @param {(text: string) => void} say Shows an error.
 */
export function numberInput(inputs, answer, say) {
  const fields = inputs.map((input, place) => {
    const id = `numbers-${place}`;
    const area = element("textarea", { id, rows: 4, spellcheck: false });
    const shape = input.shape.map((size) => (size < 0 ? "any" : size)).join(" x ");
    const label = element("label", { for: id }, `${input.name}: ${shape} of ${input.dtype}`);
    return { area, input, element: element("div", {}, label, area) };
  });
  const run = button("Run", async () => {
    try {
      const arrays = fields.map(({ area, input }) => readNumbers(area.value, input));
      const shapes = inputs.map((input, place) => sizesFor(input, arrays[place].length));
      await answer(arrays, inputs.some(hasOpenSize) ? shapes : undefined);
    } catch (error) {
      say(error.message);
    }
  });
  const random = button("Random numbers", async () => {
    for (const { area, input } of fields) area.value = randomNumbers(input).join(" ");
  });
  const controls = element("div", { class: "controls" }, random, run);
  return element("div", { class: "input" }, ...fields.map((field) => field.element), controls);
}

/** Returns numbers from 0 to 1, or small whole ones, of which every type has those that are here. */
function randomNumbers(input) {
  const isFloat = input.dtype.startsWith("float");
  return Array.from({ length: leastCount(input) }, () =>
    isFloat ? Math.random().toFixed(3) : Math.floor(2 * Math.random()),
  );
}
