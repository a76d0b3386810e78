/** The worker of a model in browsers. */

import { startHelper } from "./browser_workers.js";
import { serve } from "./serve.js";

const handle = serve(
  (message, transfer) => globalThis.postMessage(message, { transfer }),
  startHelper,
);
globalThis.addEventListener("message", ({ data }) => handle(data));
