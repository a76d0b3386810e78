/** Reads the numbers of a model's input from a text. */

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

/** @typedef {{ name: string, dtype: string, shape: number[] }} Input */

/**
 * Tells whether an input has a size that follows from how many numbers there are.
 * @param {Input} input
 */
export const hasOpenSize = ({ shape }) => shape.slice(1).includes(-1);

/**
 * Returns how many numbers a sample has where open sizes are 1.
 * @param {Input} input
 */
export const leastCount = ({ shape }) => shape.reduce((all, size) => all * Math.abs(size), 1);

/**
 * Returns the sizes of an input for so many numbers; if the batch and one more are open, it is 1.
 * @param {Input} input
 * @param {number} count
 */
export function sizesFor(input, count) {
  const open = count / leastCount(input);
  return input.shape.map((size, axis) => (size !== -1 ? size : axis ? open : 1));
}

/**
 * Returns a typed array of the numbers in a text, each of which its type holds.
 * @param {string} text
 * @param {Input} input
 */
export function readNumbers(text, input) {
  const { name, dtype } = input;
  const Type = ARRAYS[dtype];
  if (!Type) throw new Error(`${name}: expected a type of numbers, got ${dtype}`);
  const words = text.split(/[\s,;[\]]+/).filter(Boolean);
  const numbers = words.map((word) => numberOf(word, input));
  const array = Type.from(numbers);
  // A typed array cuts off what its type does not hold. Fractions of floats are rounded.
  const isHeld = dtype.startsWith("float") ? Number.isFinite : (kept, n) => kept === numbers[n];
  const lost = array.findIndex((kept, n) => !isHeld(kept, n));
  if (lost >= 0) {
    throw new Error(`${name}: expected numbers that ${dtype} holds, got ${words[lost]}`);
  }
  checkCount(text, numbers.length, input);
  return array;
}

/**
 * Refuses all but one sample: the scores of several would be ranked as those of one.
 * @param {string} text
 * @param {number} count The numbers in it.
 * @param {Input} input
 */
function checkCount(text, count, input) {
  const one = leastCount(input);
  const isOpen = hasOpenSize(input);
  if (count === one || (isOpen && count && count % one === 0)) return;
  const hint = /\d,\d/.test(text) ? "; write fractions with a point, as in 0.5" : "";
  const expected = isOpen ? `a multiple of ${one} numbers` : `${one} numbers`;
  throw new Error(`${input.name}: expected ${expected}, got ${count}${hint}`);
}

/**
 * Returns the number that a word is.
 * @param {string} word
 * @param {Input} input
 */
function numberOf(word, { name, dtype }) {
  if (!Number.isFinite(Number(word))) throw new Error(`${name}: expected a number, got ${word}`);
  if (!dtype.endsWith("int64")) return Number(word);
  // A double does not have all numbers of 64 bits, so that the digits are read as they are.
  if (/^[+-]?\d+$/.test(word)) return BigInt(word);
  throw new Error(`${name}: expected whole numbers in digits for ${dtype}, got ${word}`);
}
