/** Opens models with the package larq-engine. */

import { load } from "larq-engine";

/**
 * Returns a function that opens models.
 * @param {import("larq-engine").LoadOptions} options
 */
export const opener = (options) => async (/** @type {string} */ address) => {
  const model = await load(address, options);
  const { outputs } = model;
  const shapes = outputs.map(({ shape }) => shape.map((size) => (size === -1 ? 1 : size)));
  return {
    async run(/** @type {any} */ data) {
      const result = await model.predict(data);
      const arrays = outputs.length === 1 ? [result] : outputs.map(({ name }) => result[name]);
      return arrays.map((array, number) => ({ data: array, shape: shapes[number] }));
    },
    async kernels() {
      const rows = await model.profile({ runs: 1 });
      return [...new Set(rows.map(({ kernel }) => kernel).filter(Boolean))];
    },
  };
};
