/** Does for the package what Node does in its own way. */

import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";

import { download } from "./download.js";

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

/** Returns how many threads can run at once. */
export const cores = availableParallelism;

/** Tells whether this thread may wait for others. */
export const mayWait = () => true;

export { startHelper, startModel } from "./node_workers.js";
