/** Takes a model's inputs as numbers. */

import { button, element } from "./elements.js";

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
};

/**
 * Returns a form with a field for each input.
 * @param {{ name: string, dtype: string, shape: number[] }[]} inputs
 * @param {(arrays: any[]) => Promise<void>} answer Runs the model.
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
      await answer(fields.map(({ area, input }) => parse(area.value, input)));
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

const count = ({ shape }) => shape.reduce((all, size) => all * Math.abs(size), 1);

/** Returns numbers from 0 to 1, or small whole ones, of which every type has those that are here. */
function randomNumbers(input) {
  const isFloat = input.dtype.startsWith("float");
  return Array.from({ length: count(input) }, () =>
    isFloat ? Math.random().toFixed(3) : Math.floor(2 * Math.random()),
  );
}

/**
 * Returns a typed array of the numbers in a text.
 * @param {string} text
 * @param {{ name: string, dtype: string, shape: number[] }} input
 */
function parse(text, input) {
  const { name, dtype } = input;
  const words = text.split(/[\s,;[\]]+/).filter(Boolean);
  const Type = ARRAYS[dtype];
  if (!Type) throw new Error(`${name}: expected a type of numbers, got ${dtype}`);
  const isBig = dtype === "int64" || dtype === "uint64";
  const numbers = words.map((word) => {
    if (!Number.isFinite(Number(word))) throw new Error(`${name}: expected a number, got ${word}`);
    return isBig ? BigInt(word) : Number(word);
  });
  const one = count(input);
  if (!numbers.length || numbers.length % one) {
    throw new Error(`${name}: expected ${one} numbers, got ${numbers.length}`);
  }
  return Type.from(numbers);
}
