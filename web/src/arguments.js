/**
 * Checks what users hand to a model. Nothing is guessed and nothing is lost: numbers are converted
 * only if every value of their type survives.
 */

import { elementsOf } from "./dtypes.js";
import { dtypeOfInput } from "./tensors.js";

/** @typedef {import("./tensors.js").Description} Description */

/**
 * Returns copies of the data for each input, in the inputs' types. Their lengths are not checked
 * here: a change of the sizes may be under way.
 * @param {unknown} x A typed array, a list of them, or an object by the inputs' names.
 * @param {Description[]} inputs
 */
export const parseData = (x, inputs) =>
  assign(x, inputs).map((array, number) => convert(array, inputs[number]));

/**
 * Returns valid sizes for every input; undefined for those that keep theirs.
 * @param {unknown} shapes A list of shapes, or an object by the inputs' names.
 * @param {Description[]} inputs
 */
export function parseShapes(shapes, inputs) {
  if (typeof shapes !== "object" || shapes === null) {
    throw new TypeError(
      "resize: expected a list of shapes, or an object from input name to shape, got " +
        `${kindOf(shapes)}; as in resize(${JSON.stringify(inputs.map(({ sizes }) => sizes))})`,
    );
  }
  if (Array.isArray(shapes)) {
    if (shapes.length !== inputs.length) {
      throw new Error(
        `resize: expected ${inputs.length} shape(s), one for each input, got ${shapes.length}; ` +
          `as in resize(${JSON.stringify(inputs.map(({ sizes }) => sizes))})`,
      );
    }
    return inputs.map((input, number) => checkShape(shapes[number], input));
  }
  const named = /** @type {Record<string, unknown>} */ (shapes);
  const names = inputs.map(({ info }) => info.name);
  const unknown = Object.keys(named).filter((name) => !names.includes(name));
  if (unknown.length) {
    throw new Error(
      `resize: expected names out of ${list(names)}, got ${list(unknown)}; see model.inputs`,
    );
  }
  return inputs.map((input) => {
    const { name } = input.info;
    return Object.hasOwn(named, name) ? checkShape(named[name], input) : undefined;
  });
}

/**
 * @param {unknown} shape
 * @param {Description} input
 */
function checkShape(shape, { sizes, label }) {
  const isValid =
    Array.isArray(shape) &&
    shape.length === sizes.length &&
    shape.every((size) => Number.isInteger(size) && size > 0 && size < 2 ** 31);
  if (!isValid) {
    throw new Error(
      `resize: input ${label}: expected ${sizes.length} positive 32-bit sizes, as in ` +
        `${JSON.stringify(sizes)}, got ${JSON.stringify(shape)}`,
    );
  }
  return [.../** @type {number[]} */ (shape)];
}

/**
 * Returns one value for each input, in the order of the inputs.
 * @param {unknown} x
 * @param {Description[]} inputs
 * @returns {unknown[]}
 */
function assign(x, inputs) {
  const labels = inputs.map(({ label }) => label).join(", ");
  if (elementsOf(x) === undefined && !Array.isArray(x)) {
    if (typeof x !== "object" || x === null || ArrayBuffer.isView(x) || x instanceof ArrayBuffer) {
      throw new TypeError(
        `predict: expected a typed array, a list of them, or an object by name, for ${labels}, ` +
          `got ${kindOf(x)}`,
      );
    }
    return assignByName(/** @type {Record<string, unknown>} */ (x), inputs);
  }
  const arrays = Array.isArray(x) ? x : [x];
  if (arrays.length !== inputs.length) {
    throw new Error(
      `inputs: expected ${inputs.length} array(s), for ${labels}, got ${arrays.length}; a list ` +
        "holds one array for each input: join samples in one typed array",
    );
  }
  return arrays;
}

/**
 * @param {Record<string, unknown>} x
 * @param {Description[]} inputs
 */
function assignByName(x, inputs) {
  const expected = inputs.map(({ info }) => info.name);
  const got = Object.keys(x);
  if (got.length !== expected.length || !expected.every((name) => Object.hasOwn(x, name))) {
    throw new Error(
      `inputs: expected the names ${list(expected)}, got ${list(got)}; see model.inputs`,
    );
  }
  return expected.map((name) => x[name]);
}

/**
 * Returns a copy of an array in the input's type, which no later change of the array reaches.
 * @param {unknown} x
 * @param {Description} input
 */
function convert(x, input) {
  const { info, label } = input;
  const { array: Type, holds } = dtypeOfInput(input);
  const advice = `make one of ${info.dtype} numbers: ${Type.name}.from(x)`;
  const elements = elementsOf(x);
  if (elements === undefined) {
    throw new TypeError(`input ${label}: expected a typed array, got ${kindOf(x)}; ${advice}`);
  }
  if (elements !== elementsOf(new Type()) && !holds.includes(elements)) {
    throw new TypeError(
      `input ${label}: expected ${info.dtype}, got ${elements}, which cannot be cast without ` +
        `loss; convert it on purpose: ${Type.name}.from(x)`,
    );
  }
  const copy = new Type(x);
  if (info.dtype === "bool" && copy.some((/** @type {number} */ value) => value > 1)) {
    throw new TypeError(`input ${label}: expected 0 and 1 for bool, got other numbers`);
  }
  return copy;
}

/** @param {unknown} x */
function kindOf(x) {
  if (x === null || x === undefined) return String(x);
  return typeof x === "object" ? (x.constructor?.name ?? "an object") : typeof x;
}

/** @param {string[]} names */
const list = (names) => `[${names.map((name) => `'${name}'`).join(", ")}]`;
