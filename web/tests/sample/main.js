import { load } from "larq-engine";

/** Runs a model when the test calls, in a page that was bundled. */
globalThis.run = async (address, worker) => {
  const model = await load(address, { worker });
  try {
    return [...(await model.predict(Float32Array.of(1, 2)))];
  } finally {
    model.close();
  }
};
