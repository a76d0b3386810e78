/** Does for the package what Node does in its own way. */

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { download } from "./download.js";

/**
 * Starts a worker.
 * @returns {import("./runners.js").Thread}
 */
export function startThread() {
  // The flags of the program, such as one that says what its text is, are not for the worker.
  const worker = new Worker(new URL("./worker_node.js", import.meta.url), { execArgv: [] });
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

/** @param {URL} address */
export async function compile(address) {
  return WebAssembly.compile(await readFile(address));
}

/**
 * Returns the bytes of a file, by its path or address.
 * @param {string | URL} place
 * @param {AbortSignal | undefined} signal
 * @param {((progress: import("./download.js").Progress) => void) | undefined} onProgress
 */
export async function readModel(place, signal, onProgress) {
  const text = String(place);
  if (/^(https?|data):/.test(text)) return download(place, signal, onProgress);
  const path = text.startsWith("file:") ? fileURLToPath(text) : text;
  const bytes = new Uint8Array(await readFile(path, { signal }));
  onProgress?.({ loaded: bytes.length, total: bytes.length });
  return bytes;
}
