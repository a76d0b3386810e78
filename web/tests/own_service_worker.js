/** A page's service worker, which computes in its own thread. It may import nothing later. */

import { load } from "../dist/index.js";

addEventListener("message", ({ data, source }) => {
  const answer = async () => {
    const model = await load(data, { worker: false });
    return model.predict(Float32Array.of(1, 2));
  };
  answer().then(
    (y) => source.postMessage(y),
    ({ message }) => source.postMessage(message),
  );
});
