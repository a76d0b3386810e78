/** ONNX Runtime Web on the CPU: its smallest build, without WebGPU. */

import * as ort from "onnxruntime-web/wasm";

/** @param {number} threads */
export async function start(threads) {
  ort.env.wasm.numThreads = threads;
  return async (/** @type {string} */ address) => {
    const session = await ort.InferenceSession.create(address, { executionProviders: ["wasm"] });
    const [name] = session.inputNames;
    const { shape } = session.inputMetadata[0];
    return {
      async run(/** @type {any} */ data) {
        const outputs = await session.run({ [name]: new ort.Tensor(data, shape) });
        return session.outputNames.map((output) => {
          const { data, dims } = outputs[output];
          return { data, shape: [...dims] };
        });
      },
    };
  };
}
