/** Describes a model's inputs and outputs as users see them. */

import { dtypeOfName, dtypeOfNumber } from "./dtypes.js";

/** @typedef {import("./engine.js").Tensor} Tensor */

/**
 * @typedef {object} TensorInfo
 * @property {string} name
 * @property {string} dtype
 * @property {number[]} shape The sizes as the file declares them, -1 for open ones.
 * @property {number | number[] | null} scale
 * @property {number | number[] | null} zeroPoint
 */

/**
 * @typedef {object} Description An input or output of a model.
 * @property {TensorInfo} info
 * @property {number[]} sizes The sizes that `predict` takes, with a batch of the file's.
 * @property {string} label What errors call it.
 */

/** @typedef {Record<string, number>} Names Numbers of tensors by their names in a signature. */

/**
 * Describes tensors. Their names are those of the signature if it names each of them, else their
 * own if these are all different, else "tensor_0", "tensor_1" and so on.
 * @param {Tensor[]} tensors
 * @param {Names | undefined} signature
 * @returns {Description[]}
 */
export function describe(tensors, signature) {
  const inSignature = new Map(Object.entries(signature ?? {}).map(([name, n]) => [n, name]));
  let names = tensors.map(({ name }) => name);
  if (tensors.every(({ tensor }) => inSignature.has(tensor))) {
    names = tensors.map(({ tensor }) => /** @type {string} */ (inSignature.get(tensor)));
  }
  if (new Set(names).size < names.length || !names.every(Boolean)) {
    names = tensors.map((_, position) => `tensor_${position}`);
  }
  return tensors.map((tensor, position) => ({
    info: {
      name: names[position],
      dtype: dtypeOfNumber(tensor.type)?.name ?? `type ${tensor.type}`,
      shape: tensor.openDims,
      scale: oneOrAll(tensor.scales),
      zeroPoint: oneOrAll(shared(tensor.zeroPoints)),
    },
    sizes: tensor.dims,
    label: `'${names[position]}' (#${position})`,
  }));
}

/**
 * Returns the type of an input's elements.
 * @param {Description} input
 * @returns {any}
 */
export function dtypeOfInput({ info, label }) {
  const dtype = dtypeOfName(info.dtype);
  if (dtype) return dtype;
  throw new TypeError(
    `input ${label}: expected a type that JavaScript's arrays hold, got ${info.dtype}; give the ` +
      "model inputs of numbers",
  );
}

/** @param {number[]} values */
function oneOrAll(values) {
  if (!values.length) return null;
  return values.length === 1 ? values[0] : values;
}

/** @param {number[]} values */
const shared = (values) => (new Set(values).size === 1 ? [values[0]] : values);

/** @param {number[]} sizes */
export const product = (sizes) => sizes.reduce((all, size) => all * size, 1);

/**
 * Tells whether axis 0 is a batch: all inputs have this axis, with the same length.
 * @param {Description[]} inputs
 */
export const haveBatch = (inputs) =>
  inputs.length > 0 &&
  inputs.every(({ sizes }) => sizes.length > 0 && sizes[0] === inputs[0].sizes[0]);
