/** Lets a worker answer the requests that come as messages. */

import { Server } from "./server.js";

/**
 * Returns what handles the worker's messages.
 * @param {(message: any, transfer: ArrayBuffer[]) => void} post Sends an answer.
 * @param {() => import("./runners.js").Thread} startHelper Starts a worker for a thread.
 */
export function serve(post, startHelper) {
  const server = new Server(startHelper);
  // Requests wait for each other: opening a model takes several turns of the event loop.
  let last = Promise.resolve();
  return (/** @type {{ id: number, action: string, args: any[] }} */ { id, action, args }) => {
    last = last.then(async () => {
      const answer = await server.answer(action, args);
      const arrays = action === "predict" && answer.result ? answer.result : [];
      const buffers = arrays.map((/** @type {ArrayBufferView} */ { buffer }) => buffer);
      post({ id, ...answer }, buffers);
    });
  };
}
