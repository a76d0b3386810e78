import { load } from "larq-engine";

/** Runs a model when the test calls, in a page that was bundled. */
globalThis.run = async (address, options) => {
  const model = await load(address, options);
  try {
    return [...(await model.predict(Float32Array.of(1, 2)))];
  } finally {
    model.close();
  }
};
