/** A thread of a model in Node. */

import { parentPort } from "node:worker_threads";

import { help } from "./help.js";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
port.on("message", (message) => help(message, (answer) => port.postMessage(answer)));
