/** Does for the package what browsers do in their own way. */

import { startHelper, threadOf } from "./browser_workers.js";
import { download, request } from "./download.js";

/**
 * Compiles a module while it is downloaded.
 * @param {URL} address
 */
export async function compile(address) {
  const response = await request(address, undefined);
  // Streaming needs this type, which some servers do not send, and refuses it with a charset.
  const type = (response.headers.get("Content-Type") ?? "").trim().toLowerCase();
  if (WebAssembly.compileStreaming && type === "application/wasm") {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Returns how many threads can run at once. */
export const cores = () => navigator.hardwareConcurrency || 1; // some browsers do not tell

/** Tells whether this thread may wait for others. */
export const mayWait = () => !("document" in globalThis);

/** Starts a worker that computes a model. */
export const startModel = () =>
  // Bundlers look for this form.
  threadOf(new Worker(new URL("./worker.js", import.meta.url), { type: "module" }));

export { startHelper };
export { download as readModel };
