/** Starts workers in Node. */

import { Worker } from "node:worker_threads";

/** Starts a worker that computes a model. */
export const startModel = () => threadOf(new URL("./worker_node.js", import.meta.url));

/** Starts a worker that helps to compute a model. */
export const startHelper = () => threadOf(new URL("./helper_node.js", import.meta.url));

/**
 * @param {URL} script
 * @returns {import("./runners.js").Thread}
 */
function threadOf(script) {
  // The flags of the program, such as one that says what its text is, are not for the worker.
  const worker = new Worker(script, { execArgv: [] });
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    onMessage: (handle) => worker.on("message", handle),
    onFailure(handle) {
      worker.on("error", (/** @type {any} */ error) => handle(error.message));
      worker.on("exit", (status) => handle(`status ${status}`));
    },
    end: () => worker.terminate(),
    // A program ends although it leaves a model open, but not while it waits for a result.
    keepAlive: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
  };
}
