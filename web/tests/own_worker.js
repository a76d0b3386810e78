/** A page's own worker, which computes in its own thread. */

import { load } from "../dist/index.js";

addEventListener("message", async ({ data }) => {
  const model = await load(data, { worker: false });
  postMessage(await model.predict(Float32Array.of(1, 2)));
});
