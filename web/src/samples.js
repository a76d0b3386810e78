/** Counts the samples in data for a model. */

import { haveBatch, product } from "./tensors.js";

/** @typedef {import("./tensors.js").Description} Description */

/**
 * Returns the number of samples in data of the inputs' sizes.
 * @param {{ length: number }[]} arrays One for each input.
 * @param {Description[]} inputs
 */
export function countSamples(arrays, inputs) {
  const counts = arrays.map((array, number) => countIn(array, inputs[number], inputs));
  if (new Set(counts).size > 1) {
    const pairs = inputs.map(({ info }, number) => `${info.name}: ${counts[number]}`);
    throw new Error(
      `inputs: expected the same number of samples for each, got ${pairs.join(", ")}; give every ` +
        "input one row per sample",
    );
  }
  return counts[0] ?? 1;
}

/**
 * @param {{ length: number }} array
 * @param {Description} input
 * @param {Description[]} inputs
 */
function countIn({ length }, { sizes, label }, inputs) {
  const isBatched = haveBatch(inputs);
  const one = product(isBatched ? sizes.slice(1) : sizes);
  const count = length / one;
  if (length > 0 && (isBatched ? Number.isInteger(count) : count === 1)) return count;
  const shape = isBatched ? ["N", ...sizes.slice(1)] : sizes;
  const wanted = isBatched ? `${one} for each of N samples` : `${one}`;
  throw new Error(
    `input ${label}: expected shape (${shape.join(", ")}), so ${wanted}, got ${length} numbers; ` +
      "give data of that shape, or let the model take this one with model.resize",
  );
}
