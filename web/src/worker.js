/** The worker of a model in browsers. */

import { serve } from "./serve.js";

const handle = serve((message, transfer) => globalThis.postMessage(message, { transfer }));
globalThis.addEventListener("message", ({ data }) => handle(data));
