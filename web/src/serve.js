/** Lets a worker answer the requests that come as messages. */

import { Server } from "./server.js";

/**
 * Returns what handles the worker's messages.
 * @param {(message: any, transfer: ArrayBuffer[]) => void} post Sends an answer.
 */
export function serve(post) {
  const server = new Server();
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
