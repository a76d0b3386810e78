/** Does for the package what browsers do in their own way. */

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
export const cores = () => navigator.hardwareConcurrency;

export { startHelper, startModel } from "./browser_workers.js";
export { download as readModel };
