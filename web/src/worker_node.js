/** The worker of a model in Node. */

import { parentPort } from "node:worker_threads";

import { startHelper } from "./node_workers.js";
import { serve } from "./serve.js";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
port.on(
  "message",
  serve((message, transfer) => port.postMessage(message, transfer), startHelper),
);
