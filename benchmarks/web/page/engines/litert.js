/** LiteRT.js on the CPU, as its README has it: a tensor is made for each run, and deleted after. */

import { loadAndCompile, loadLiteRt, Tensor } from "@litertjs/core";

/** @param {number} threads More than one takes the build with threads, which counts the cores. */
export async function start(threads) {
  await loadLiteRt("/peers/@litertjs/core/wasm/", { threads: threads > 1 });
  return async (/** @type {string} */ address) => {
    const model = await loadAndCompile(address, { accelerator: "wasm" });
    const [{ shape }] = model.getInputDetails();
    return {
      async run(/** @type {any} */ data) {
        const input = new Tensor(data, shape);
        const outputs = await model.run(input);
        input.delete();
        return outputs.map((output) => {
          const result = { data: output.toTypedArray(), shape: shapeOf(output) };
          output.delete();
          return result;
        });
      },
    };
  };
}

/** @param {Tensor} tensor */
const shapeOf = ({ type }) => [...type.layout.dimensions];
