/**
 * The types of elements: their numbers in .tflite files, their names, and the arrays of JavaScript
 * that hold them.
 */

/**
 * @typedef {object} Dtype
 * @property {string} name The name, as NumPy has it.
 * @property {Function} array The typed array of such elements. JavaScript has none for float16,
 *   whose arrays hold the bits of each number, nor for bool, whose arrays hold 0 and 1.
 * @property {string[]} holds Names of other types of which each value is a value of this one.
 */

/** @type {Map<number, Dtype>} */
const DTYPES = new Map([
  [0, { name: "float32", array: Float32Array, holds: ["int8", "uint8", "int16", "uint16"] }],
  [1, { name: "float16", array: Uint16Array, holds: [] }],
  [2, { name: "int32", array: Int32Array, holds: ["int8", "uint8", "int16", "uint16"] }],
  [3, { name: "uint8", array: Uint8Array, holds: [] }],
  [4, { name: "int64", array: BigInt64Array, holds: [] }],
  [6, { name: "bool", array: Uint8Array, holds: [] }],
  [7, { name: "int16", array: Int16Array, holds: ["int8", "uint8"] }],
  [9, { name: "int8", array: Int8Array, holds: [] }],
  [
    10,
    {
      name: "float64",
      array: Float64Array,
      holds: ["float32", "int8", "uint8", "int16", "uint16", "int32", "uint32"],
    },
  ],
  [12, { name: "uint64", array: BigUint64Array, holds: [] }],
  [15, { name: "uint32", array: Uint32Array, holds: ["uint8", "uint16"] }],
  [16, { name: "uint16", array: Uint16Array, holds: ["uint8"] }],
]);

/** The names of types by the names of JavaScript's arrays of them. */
const NAMES_OF_ARRAYS = new Map([
  ["Uint8ClampedArray", "uint8"],
  ...[...DTYPES.values()]
    .filter(({ name }) => name !== "float16" && name !== "bool")
    .map(({ name, array }) => /** @type {[string, string]} */ ([array.name, name])),
]);

const BY_NAME = new Map([...DTYPES.values()].map((dtype) => [dtype.name, dtype]));

/** @param {number} number The type's number in .tflite files. */
export const dtypeOfNumber = (number) => DTYPES.get(number);

/** @param {string} name */
export const dtypeOfName = (name) => BY_NAME.get(name);

/**
 * Returns the name of the type of an array's elements; undefined if it is no typed array.
 * @param {unknown} array
 */
export function elementsOf(array) {
  if (!ArrayBuffer.isView(array) || array instanceof DataView) return undefined;
  return NAMES_OF_ARRAYS.get(Object.prototype.toString.call(array).slice(8, -1));
}
