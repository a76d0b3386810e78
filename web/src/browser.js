/** Does for the package what browsers do in their own way. */

import { download, request } from "./download.js";

/**
 * Compiles a module while it is downloaded.
 * @param {URL} address
 */
export async function compile(address) {
  const response = await request(address, undefined);
  // Streaming needs the type that some servers do not send.
  const type = response.headers.get("Content-Type") ?? "";
  if (WebAssembly.compileStreaming && type.startsWith("application/wasm")) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

export { startHelper, startModel } from "./browser_workers.js";
export { download as readModel };
